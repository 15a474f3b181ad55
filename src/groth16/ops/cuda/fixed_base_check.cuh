#pragma once

#include "groth16/ops/cuda/check.hpp"
#include "groth16/ops/cuda/fixed_base.cuh"

#include <algorithm>
#include <string>
#include <vector>

namespace cuzk::groth16::cuda::checks {

/// Scalars whose digits are extreme in some window, special ones, and random ones: canonical,
/// plain.
inline std::vector<Fr> fixed_base_scalars(std::size_t count, std::uint64_t seed) {
  std::vector<Fr> special = {Fr::zero(), Fr::from_u32(1), Fr::from_u32(2)};
  Fr top;  // r - 1
  for (int i = 0; i < 8; ++i) top.limbs[i] = curve::device::fr_constants::modulus_limb<false>(i);
  top.limbs[0] -= 1;
  special.push_back(top);
  for (unsigned bit = 1; bit < 255; bit += 7) {
    Fr power = Fr::zero();
    power.limbs[bit / 32] = 1u << (bit % 32);
    special.push_back(canonical(power));
    special.push_back(canonical(sub(power, Fr::from_u32(1))));  // ones below the bit
    special.push_back(canonical(sub(Fr::zero(), power)));
  }
  Fr halves;  // every digit half a window, for 8- and 16-bit windows
  for (std::uint32_t& limb : halves.limbs) limb = 0x80008000u;
  halves.limbs[7] = 0x00008000u;
  special.push_back(halves);
  std::vector<Fr> out;
  for (std::size_t i = 0; i < count; ++i)
    out.push_back(i < special.size() ? special[i] : curve::device::testing::random_fr(seed + i));
  return out;
}

/// Multiples of a point that is not the generator, compared with blst one by one and byte by byte.
template <class G>
std::string check_fixed_base(unsigned window_bits, std::size_t count,
                             base::cuda::StreamRef stream) {
  using curve::device::testing::affine;
  using curve::device::testing::times;
  const FixedBasePlan plan = FixedBasePlan::make(window_bits);
  const HostPoint<G> base = small_multiple<G>(0x123456789abcdefLL);
  const std::vector<Fr> scalars = fixed_base_scalars(count, 77);
  std::vector<Fr> montgomery;
  for (const Fr& k : scalars) montgomery.push_back(canonical(mul(Fr::montgomery_two(), k)));
  const auto bases = uploaded(window_bases<G>(plan, curve::device::from_blst(affine(base))),
                              "window bases", stream);
  const Guarded<StoredAffine<G>> table(plan.table_points(), "table", stream);
  const Guarded<StoredAffine<G>> out(count, "multiples", stream);
  const auto device_scalars = uploaded(montgomery, "scalars", stream);
  make_fixed_base_table<G>(plan, bases.const_span(), table.span(), stream);
  multiply_fixed_base<G>(plan, table.span(), device_scalars.const_span(), count, out.span(),
                         stream);
  const auto got = out.download();
  const std::string what =
      "windows of " + std::to_string(window_bits) + " bits, " + std::to_string(count) + " scalars";
  if (table.broken() || out.broken()) return what + ": wrote beyond table or output";
  for (std::size_t i = 0; i < count; ++i) {
    StoredAffine<G> wanted = StoredAffine<G>::identity();
    if (!is_zero_limbs(scalars[i]))
      wanted = curve::device::from_blst(affine(times(base, scalars[i].limbs)));
    if (std::memcmp(&got[i], &wanted, sizeof(wanted)) != 0)
      return what + ": multiple " + std::to_string(i) + " is wrong";
  }
  return {};
}

}  // namespace cuzk::groth16::cuda::checks
