#pragma once

#include "groth16/ops/cuda/gpu_check/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cuzk::groth16::cuda::gpu_check {

/// What a measurement could have taken at best.
struct Ceiling {
  double milliseconds = 0;
  std::string what;  ///< which rate of the suite `field`, and how often
};

namespace ceilings_detail {

inline constexpr const char* kFactorProduct = "Fr product by a factor";
inline constexpr const char* kAffineAddition = "G1 affine, shared inversion";
inline constexpr const char* kMixedAddition = "G1 XYZZ += affine";
inline constexpr const char* kFpProduct = "Fp product";

/// How often an operation does another.
struct Need {
  const char* operation;
  double count;
};

inline double parameter(const Timing& timing, const char* name) {
  const auto found = timing.parameters.find(name);
  return found == timing.parameters.end() ? 0 : found->second;
}

inline std::optional<Need> need_of(const Timing& timing) {
  const double n = parameter(timing, "n"), windows = parameter(timing, "windows");
  const double rows = parameter(timing, "log_n") > 0
                          ? static_cast<double>(std::uint64_t{1} << static_cast<unsigned>(
                                                    parameter(timing, "log_n")))
                          : 0;
  // A transform in passes of 9 stages: 3.5 products an element a pass, and one between two passes.
  constexpr double kTransform = 12.5;
  if (timing.suite == "ntt") {
    if (timing.name == "intt_unscaled" || timing.name == "ntt_from_bit_reversed")
      return Need{kFactorProduct, kTransform * rows};
    if (timing.name == "derivative") return Need{kFactorProduct, 2 * kTransform * rows};
    if (timing.name == "derivative quotient") return Need{kFactorProduct, 4 * kTransform * rows};
    if (timing.name == "textbook quotient") return Need{kFactorProduct, 7 * kTransform * rows};
  }
  // An addition for each digit that is not zero; of the points of bits, half are added.
  if (timing.name == "msm (affine)" && timing.suite == "msm_g1")
    return Need{kAffineAddition, n * windows};
  if (timing.name == "msm (xyzz)" && timing.suite == "msm_g1")
    return Need{kMixedAddition, n * windows};
  if (timing.suite == "batch_add_g1" && timing.name == "batch_add")
    return Need{kAffineAddition, n / 2};
  // A lookup for four points.
  if (timing.suite == "batch_add_g1" && timing.name == "batch_add_grouped")
    return Need{kAffineAddition, n / 4};
  // In wide multiply-adds, of which a product has 288: 128 doublings of 1,674, 60 additions of
  // 2,826.
  if (timing.suite == "point_transform" && timing.unit == "point" &&
      timing.name == "product by a scalar")
    return Need{kFpProduct, n * (128 * 1674.0 + 60 * 2826.0) / 288};
  return std::nullopt;
}

}  // namespace ceilings_detail

/// The ceiling of `timing` by the rates that the suite `field` measured in the same run (the
/// operations alone, from registers): the products or additions that the operation cannot do
/// without. Empty where none is known or the suite did not run.
inline std::optional<Ceiling> ceiling_of(const Timing& timing, const std::vector<Timing>& all) {
  const std::optional<ceilings_detail::Need> need = ceilings_detail::need_of(timing);
  if (!need) return std::nullopt;
  double best = 0;  // operations a millisecond
  for (const Timing& other : all) {
    if (other.suite == "field" && other.name == need->operation && other.median() > 0)
      best = std::max(best, other.amount / other.median());
  }
  if (best == 0) return std::nullopt;
  return Ceiling{need->count / best, fmt::format("{:.4g} x {}", need->count, need->operation)};
}

}  // namespace cuzk::groth16::cuda::gpu_check
