#include "r1cs_cases.hpp"

#include <gtest/gtest.h>

// Every small circuit of every sector size against the reference's constraint stream.
namespace cuzk {
namespace {

class GoldenR1cs : public ::testing::TestWithParam<testing::R1csCase> {};

TEST_P(GoldenR1cs, ShapeEqualsReference) { testing::expect_reference_circuit(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Circuits, GoldenR1cs, ::testing::ValuesIn(testing::r1cs_cases(false)),
                         testing::r1cs_case_name);

}  // namespace
}  // namespace cuzk
