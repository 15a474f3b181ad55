#include "r1cs_cases.hpp"

#include <gtest/gtest.h>

// The circuits of production size against the reference's constraint stream.
namespace cuzk {
namespace {

class GoldenR1csLarge : public ::testing::TestWithParam<testing::R1csCase> {};

TEST_P(GoldenR1csLarge, ShapeEqualsReference) { testing::expect_reference_circuit(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Circuits, GoldenR1csLarge, ::testing::ValuesIn(testing::r1cs_cases(true)),
                         testing::r1cs_case_name);

}  // namespace
}  // namespace cuzk
