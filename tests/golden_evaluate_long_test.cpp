#include "evaluate_cases.hpp"

#include <gtest/gtest.h>

#include <string>

// The CUDA backend's evaluation, emulated, of the larger circuits.
namespace cuzk {
namespace {

class GoldenEvaluateLarge : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenEvaluateLarge, EqualsReference) {
  testing::expect_device_circuit("sectors/2KiB-v1_1/", GetParam());
}

INSTANTIATE_TEST_SUITE_P(Artefacts, GoldenEvaluateLarge,
                         ::testing::Values("winning", "porep", "update"),
                         [](const auto& artefact) { return artefact.param; });

}  // namespace
}  // namespace cuzk
