#include "groth16/ops/msm.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <random>

namespace cuzk::groth16 {
namespace {

using curve::Fr;
using curve::G1Affine;
using curve::G1Jacobian;

TEST(Msm, Smoke) {
  std::mt19937_64 rng(1);
  for (std::size_t n : {0, 1, 2, 3, 100, 1000, 20000}) {
    std::vector<G1Affine> bases;
    std::vector<Fr> scalars;
    Fr expected = Fr::zero();
    G1Jacobian p = G1Jacobian::identity();
    std::vector<G1Jacobian> js;
    for (std::size_t i = 0; i < n; ++i) {
      p += G1Affine::generator();
      js.push_back(p);
      Fr s = Fr::from_bytes_le_reduced(std::array<std::uint8_t, 32>{});
      std::array<std::uint8_t, 32> b;
      for (auto& x : b) x = static_cast<std::uint8_t>(rng());
      s = Fr::from_bytes_le_reduced(b);
      scalars.push_back(s);
      expected += s * Fr::from_u64(i + 1);
    }
    bases = curve::normalize<curve::Fp>(js);
    auto t = std::chrono::steady_clock::now();
    const auto got = msm<curve::Fp>(bases, scalars);
    fprintf(stderr, "n=%zu %.3f ms\n", n, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - t).count());
    EXPECT_EQ(got, G1Affine::generator() * expected);
  }
}

}  // namespace
}  // namespace cuzk::groth16
