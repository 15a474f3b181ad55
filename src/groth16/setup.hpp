#pragma once

#include "base/large_array.hpp"
#include "curve/fr.hpp"
#include "curve/g1.hpp"
#include "curve/g2.hpp"
#include "groth16/verifying_key.hpp"
#include "r1cs/shape.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

/// Makes keys from a known trapdoor: for development only. Whoever knows the trapdoor can prove
/// anything. [Groth16, ePrint 2016/260, section 3.2; bellperson groth16/generator.rs]
namespace cuzk::groth16 {

/// What a setup must forget: generators of both groups, and the scalars.
struct Trapdoor {
  curve::G1Affine g1;
  curve::G2Affine g2;
  curve::Fr alpha, beta, gamma, delta, tau;

  /// The same for the same seed on every machine; not bellperson's draws.
  static Trapdoor from_seed(std::uint64_t seed);
  /// A JSON object with g1, g2 (uncompressed, hex) and alpha, beta, gamma, delta, tau (32 bytes
  /// little-endian, hex). Throws InvalidInput that names `name` and the member.
  static Trapdoor from_json(std::string_view text, std::string_view name);
};

/// Discrete logarithms of a key's queries, to base g1 (b_g2: g2). With u_k, v_k, w_k the
/// polynomials that take column k of A (with the consistency rows), B, C over the domain, t its
/// vanishing polynomial:
///   h_j = τ^j t(τ)/δ, j < n - 1;  a_k = u_k(τ);  b_k = v_k(τ);
///   ic_k, l_k = (β u_k(τ) + α v_k(τ) + w_k(τ)) divided by γ for the inputs, by δ for the aux
///   variables.
/// a and b have all variables, inputs first.
struct QueryLogarithms {
  base::LargeArray<curve::Fr> h, l, a, b, ic;
};

/// In parallel; takes 32 bytes for each row of the domain and for each element of the result, and
/// as much again as `a` has for a while. Throws InvalidInput if the trapdoor is degenerate (γ or δ
/// zero, τ in the domain) or a variable occurs nowhere.
QueryLogarithms query_logarithms(const r1cs::Shape& shape, const Trapdoor& trapdoor);

/// Discrete logarithms of the derivative form's Q (one for each row) and L' (inputs, then aux
/// variables), see derived_key.hpp.
struct DerivedLogarithms {
  base::LargeArray<curve::Fr> q, l;
};

/// With the trapdoor Q and R need no transform (V does, four). For y = τω^-i, s = 1/(y - 1) and g =
/// t(τ)/(δn²), sums of geometric series give (y^(n-1) = τ^(n-1) ω^i and ys = s + 1)
///   Q_i = g·(Σ_(j<n) y^j   - y^(n-1))        = g·(t(τ)·s - τ^(n-1) ω^i)
///   R_i = g·(Σ_(j<n) j·y^j - (n - 1) y^(n-1)) = g·(s·(nτ^n - t(τ)(1 + s)) - (n - 1) τ^(n-1) ω^i).
/// `l`: query_logarithms()'s, which the trapdoor must have passed. In parallel; takes 64 bytes for
/// each element of the domain and 32 for each of the result.
DerivedLogarithms derived_logarithms(const r1cs::Shape& shape, const Trapdoor& trapdoor,
                                     std::span<const curve::Fr> l);

/// The verifying key, from the logarithms of its points ic. In parallel.
VerifyingKey make_verifying_key(const Trapdoor& trapdoor, std::span<const curve::Fr> ic);

struct SetupFiles {
  std::filesystem::path params;
  std::filesystem::path verifying_key;
  std::filesystem::path derived;  ///< empty: none
};

/// Writes the key's files; a and b without the variables whose polynomial is zero. In parallel,
/// with the points in pieces: memory is about 32 bytes for each logarithm. Throws InvalidInput or
/// ResourceExhausted.
void write_keys(const r1cs::Shape& shape, const Trapdoor& trapdoor, const SetupFiles& files);

}  // namespace cuzk::groth16
