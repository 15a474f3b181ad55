#pragma once

namespace cuzk::groth16 {

/// The sums over a key's queries: h·H, and Σ w_k X_k for the others. G is written additively and
/// multiplied by scalars.
template <class G1, class G2>
struct QuerySums {
  G1 h, l, a, b_g1;
  G2 b_g2;
};

template <class G1, class G2>
struct ProofElements {
  G1 a;
  G2 b;
  G1 c;
};

/// A = α + a + rδ, B = β + b + sδ, C = h + l + sA + rB - rsδ, where the B in C is the one in G1.
/// [Groth16, ePrint 2016/260, section 3.2] `Key` has the members of VerifyingKey.
template <class G1, class G2, class Key, class Scalar>
ProofElements<G1, G2> assemble(const Key& key, const QuerySums<G1, G2>& sums, const Scalar& r,
                               const Scalar& s) {
  const G1 delta_r = key.delta_g1 * r;
  const G1 a = sums.a + delta_r + key.alpha_g1;
  const G1 b_g1 = sums.b_g1 + key.delta_g1 * s + key.beta_g1;
  const G2 b = sums.b_g2 + key.delta_g2 * s + key.beta_g2;
  return {a, b, sums.h + sums.l + a * s + b_g1 * r + delta_r * -s};
}

}  // namespace cuzk::groth16
