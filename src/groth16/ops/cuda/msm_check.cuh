#pragma once

#include "groth16/ops/cuda/check.hpp"
#include "groth16/ops/cuda/msm.cuh"
#include "groth16/ops/cuda/msm_finish.hpp"

#include <string>
#include <vector>

namespace cuzk::groth16::cuda::checks {

/// How the scalars of a case are drawn.
enum class Scalars {
  kRandom,
  kEdges,     // 0, 1, 2, r-1, r-2, powers of two and their neighbours, and r + small (loose)
  kAllEqual,  // one value: every window has one bucket
  kAllOne,
  kAllZero,
  kSmall,  // below 16: only the lowest window has digits
};

struct MsmCase {
  std::size_t n;
  Bases bases;
  Scalars scalars;
  int windows = 0;  // 0: as planned
  bool affine = false;
  unsigned batch = 0;
  std::uint32_t heavy_limit = 0;
  bool listed = false;  // every third scalar is skipped through a list
};

inline const char* name(Scalars s) {
  constexpr const char* names[] = {"random", "edges", "all equal", "all one", "all zero", "small"};
  return names[static_cast<int>(s)];
}

/// Sizes around a warp and a block, every kind of scalar and base, both ways of accumulation, heavy
/// buckets of one and of several pieces, several numbers of windows.
inline std::vector<MsmCase> msm_cases(std::size_t scale) {
  std::vector<MsmCase> cases;
  for (const std::size_t n : {0, 1, 2, 31, 32, 33})
    cases.push_back({n, Bases::kDistinct, Scalars::kRandom, 40});
  for (const std::size_t n : {127, 128, 129})
    cases.push_back({n, Bases::kDistinct, Scalars::kEdges, 40, true, 3});
  for (const bool affine : {false, true}) {
    for (const Bases bases :
         {Bases::kDistinct, Bases::kFewPoints, Bases::kAllEqual, Bases::kAllIdentity}) {
      cases.push_back({300 * scale, bases, Scalars::kRandom, 40, affine, 2});
    }
    for (const Scalars scalars : {Scalars::kEdges, Scalars::kAllEqual, Scalars::kAllOne,
                                  Scalars::kAllZero, Scalars::kSmall}) {
      cases.push_back({200 * scale, Bases::kFewPoints, scalars, 40, affine, 5, 30});
    }
    cases.push_back({333 * scale, Bases::kFewPoints, Scalars::kRandom, 37, affine, 0, 0, true});
  }
  cases.push_back({9000 * scale, Bases::kAllEqual, Scalars::kSmall, 40, false, 0, 40});
  cases.push_back({9000 * scale, Bases::kFewPoints, Scalars::kAllOne, 40, true, 4, 40});
  return cases;
}

inline Fr test_scalar(Scalars kind, std::size_t i) {
  using curve::device::testing::random_fr;
  Fr r_minus_one;
  for (int j = 0; j < 8; ++j)
    r_minus_one.limbs[j] = curve::device::fr_constants::modulus_limb<false>(j);
  r_minus_one.limbs[0] -= 1;
  switch (kind) {
    case Scalars::kRandom:
      return random_fr(1000003 + i);
    case Scalars::kAllEqual:
      return random_fr(5);
    case Scalars::kAllOne:
      return Fr::from_u32(1);
    case Scalars::kAllZero:
      return Fr::zero();
    case Scalars::kSmall:
      return Fr::from_u32(static_cast<std::uint32_t>(mix(i) % 16));
    case Scalars::kEdges:
      break;
  }
  switch (i % 8) {
    case 0:
      return Fr::from_u32(static_cast<std::uint32_t>(i / 8 % 3));
    case 1:
      return r_minus_one;
    case 2: {
      Fr x = r_minus_one;
      x.limbs[0] = 0;
      x.limbs[1] -= static_cast<std::uint32_t>(i / 8 % 2);
      return x;
    }
    case 3: {  // r + small, not canonical
      Fr x = r_minus_one;
      x.limbs[0] += static_cast<std::uint32_t>(i);
      return x;
    }
    default: {
      const int bit = static_cast<int>(i * 7 % 254);
      Fr x = Fr::zero();
      x.limbs[bit / 32] = 1u << (bit % 32);
      if (i % 8 == 5) x.limbs[0] += 1;
      if (i % 8 >= 6) return sub(Fr::zero(), x);  // loose negative
      return x;
    }
  }
}

/// The sum by blst: each scalar times its base's multiple, modulo r, times the generator.
template <class G>
HostPoint<G> wanted_msm(const MsmCase& c, const TestBases<G>& bases,
                        const std::vector<Fr>& scalars) {
  using namespace curve::device;
  Fr total = Fr::zero();
  for (std::size_t i = 0; i < c.n; ++i) {
    if (c.listed && i % 3 == 1) continue;
    const std::int64_t m = bases.multiples[i];
    const Fr product =
        mul_plain(scalars[i], Fr::from_u32(static_cast<std::uint32_t>(m < 0 ? -m : m)));
    total = m < 0 ? sub(total, product) : add(total, product);
  }
  return curve::device::testing::multiple_of_generator(HostPoint<G>{}, canonical(total).limbs);
}

template <class G>
std::string check_msm(const MsmCase& c, unsigned sm_count, base::cuda::StreamRef stream) {
  const TestBases<G> bases(c.bases, c.n, 23);
  std::vector<Fr> scalars(c.n);
  std::vector<std::uint32_t> list;
  for (std::size_t i = 0; i < c.n; ++i) {
    scalars[i] = test_scalar(c.scalars, i);
    if (c.listed && i % 3 != 1) list.push_back(static_cast<std::uint32_t>(i));
  }
  MsmPlan plan = make_msm_plan<G>(c.listed ? list.size() : c.n, sm_count);
  if (c.windows != 0) plan.set_windows(c.windows, msm_buckets_at_once<G>(sm_count));
  plan.accumulation = c.affine ? Accumulation::kAffine : Accumulation::kXyzz;
  if (c.batch != 0) plan.batch = c.batch;
  if (c.heavy_limit != 0) plan.heavy_limit = c.heavy_limit;
  const auto device_bases = uploaded(bases.points, "bases", stream);
  const auto device_scalars = uploaded(scalars, "scalars", stream);
  const auto device_list = uploaded(list, "list", stream);
  const Guarded<std::byte> workspace(msm_workspace<G>(plan), "workspace", stream);
  const Guarded<StoredXyzz<G>> out(2 * plan.final_sums(), "sums", stream);
  msm<G>(plan, device_bases.const_span(), device_scalars.const_span(),
         c.listed ? device_list.data() : nullptr, workspace.span(), out.span(), stream);
  const std::vector<StoredXyzz<G>> sums = out.download();
  if (workspace.broken() || out.broken()) return "wrote beyond its workspace or result";
  const HostPoint<G> got = finish_msm(plan, sums), wanted = wanted_msm(c, bases, scalars);
  if (!curve::device::testing::same(got, wanted)) {
    return "sum of " + std::to_string(c.n) + " products is wrong (bases " +
           std::to_string(static_cast<int>(c.bases)) + ", scalars " + name(c.scalars) +
           ", windows " + std::to_string(plan.windows.count) + (c.affine ? ", affine" : ", XYZZ") +
           (c.listed ? ", listed)" : ")");
  }
  return {};
}

}  // namespace cuzk::groth16::cuda::checks
