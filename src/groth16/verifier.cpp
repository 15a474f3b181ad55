#include "groth16/verifier.hpp"

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "base/random.hpp"
#include "groth16/ops/msm.hpp"

#include <blst.h>

#include <array>
#include <cstring>

namespace cuzk::groth16 {

using curve::Fr;
using curve::G1Affine;
using curve::G1Jacobian;
using curve::G2Affine;

namespace {

struct Pair {
  G1Affine p;
  G2Affine q;
};

// Whether Π e(p, q) = 1. A pair with a point at infinity contributes 1.
bool product_is_one(std::span<const Pair> pairs) {
  std::vector<blst_fp12> loops(pairs.size(), *blst_fp12_one());
  base::parallel_for(pairs.size(), [&](std::size_t i) {
    if (pairs[i].p.is_identity() || pairs[i].q.is_identity()) return;
    blst_miller_loop(&loops[i], reinterpret_cast<const blst_p2_affine*>(&pairs[i].q),
                     reinterpret_cast<const blst_p1_affine*>(&pairs[i].p));
  });
  blst_fp12 product = *blst_fp12_one();
  for (const blst_fp12& loop : loops) blst_fp12_mul(&product, &product, &loop);
  blst_final_exp(&product, &product);
  return blst_fp12_is_one(&product);
}

Fr random_factor() {
  std::array<std::uint8_t, Fr::kBytes> bytes{};
  base::random_bytes(std::span(bytes).first(16));
  return Fr::from_bytes_le_reduced(bytes);
}

}  // namespace

Verifier::Verifier(VerifyingKey key) : key_(std::move(key)) {
  base::require(!key_.ic.empty(),
                "verifying key without ic points: every circuit has the input ONE");
}

bool Verifier::verify(const Proof& proof, std::span<const Fr> inputs) const {
  base::require(inputs.size() == num_inputs(), "verify: {} public inputs, but the circuit has {}",
                inputs.size(), num_inputs());
  const G1Jacobian sum = msm<curve::Fp>(std::span(key_.ic).subspan(1), inputs) + key_.ic[0];
  const std::array<Pair, 4> pairs = {Pair{-proof.a, proof.b},
                                     {key_.alpha_g1, key_.beta_g2},
                                     {sum.to_affine(), key_.gamma_g2},
                                     {proof.c, key_.delta_g2}};
  return product_is_one(pairs);
}

bool Verifier::verify_batch(std::span<const Proof> proofs,
                            std::span<const std::vector<Fr>> inputs) const {
  base::require(proofs.size() == inputs.size(), "verify: {} proofs and {} lists of inputs",
                proofs.size(), inputs.size());
  if (proofs.empty()) return true;
  std::vector<Fr> ic_scalars(key_.ic.size()), factors;
  std::vector<Pair> pairs;
  std::vector<G1Affine> c_points;
  for (std::size_t i = 0; i < proofs.size(); ++i) {
    base::require(inputs[i].size() == num_inputs(),
                  "verify: {} public inputs for proof {}, but the circuit has {}", inputs[i].size(),
                  i, num_inputs());
    const Fr factor = random_factor();
    factors.push_back(factor);
    c_points.push_back(proofs[i].c);
    ic_scalars[0] += factor;
    for (std::size_t k = 0; k < num_inputs(); ++k) ic_scalars[k + 1] += factor * inputs[i][k];
    pairs.push_back({(proofs[i].a * -factor).to_affine(), proofs[i].b});
  }
  pairs.push_back({(key_.alpha_g1 * ic_scalars[0]).to_affine(), key_.beta_g2});
  pairs.push_back({msm<curve::Fp>(key_.ic, ic_scalars).to_affine(), key_.gamma_g2});
  pairs.push_back({msm<curve::Fp>(c_points, factors).to_affine(), key_.delta_g2});
  return product_is_one(pairs);
}

}  // namespace cuzk::groth16
