#pragma once

#include "curve/g1.hpp"
#include "curve/g2.hpp"
#include "groth16/ops/cuda/msm_finish.hpp"
#include "groth16/variables.hpp"

#include <bit>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

/// The host's last steps of a proof's sums, from the bytes that came back from the device.
namespace cuzk::groth16::cuda {

inline curve::G1Jacobian from_blst(const blst_p1& point) {
  return std::bit_cast<curve::G1Jacobian>(point);
}
inline curve::G2Jacobian from_blst(const blst_p2& point) {
  return std::bit_cast<curve::G2Jacobian>(point);
}

/// `count` objects at a byte offset.
template <class T>
std::vector<T> read_results(std::span<const std::byte> results, std::size_t offset,
                            std::size_t count) {
  std::vector<T> out(count);
  if (count > 0)
    std::memcpy(out.data(), results.subspan(offset, count * sizeof(T)).data(), count * sizeof(T));
  return out;
}

/// The result of a dense sum of points Sum = StoredXyzz<G>.
template <class Sum>
auto read_msm(const MsmPlan& plan, std::span<const std::byte> results, std::size_t offset) {
  return finish_msm(plan, read_results<Sum>(results, offset, 2 * plan.final_sums()));
}

/// From the sum over h that the device gives: the derivative form's scalars are s_i·n/2^64.
inline curve::G1Jacobian scale_h(const curve::G1Jacobian& sum, QuotientForm form, unsigned log_n) {
  return form == QuotientForm::kTextbook ? sum : sum * curve::Fr::power_of_two(64 - log_n);
}

}  // namespace cuzk::groth16::cuda
