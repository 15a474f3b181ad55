#include "evaluate_cases.hpp"

#include <gtest/gtest.h>

#include <string>

// The CUDA backend's evaluation, emulated, of a real circuit. Larger ones, among them those with
// SHA-256 gadgets, are in the long set.
namespace cuzk {
namespace {

class GoldenEvaluate : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenEvaluate, EqualsReference) {
  testing::expect_device_circuit("sectors/2KiB-v1_1/", GetParam());
}

INSTANTIATE_TEST_SUITE_P(Artefacts, GoldenEvaluate, ::testing::Values("window"),
                         [](const auto& artefact) { return artefact.param; });

}  // namespace
}  // namespace cuzk
