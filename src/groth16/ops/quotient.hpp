#pragma once

#include "base/large_array.hpp"
#include "curve/fr.hpp"
#include "groth16/ops/domain.hpp"
#include "groth16/ops/ntt.hpp"

#include <span>

/// The quotient of the QAP, h(X) = (a(X)·b(X) - c(X)) / t(X), t(X) = X^n - 1, for the evaluations
/// a, b, c of A·w, B·w, C·w over the domain D. The proof needs [h(τ)t(τ)/δ]; both forms below give
/// scalars for it, and the same proof bytes. [Groth16, ePrint 2016/260; bellperson
/// groth16/prover/native.rs, execute_fft]
namespace cuzk::groth16 {

/// In:  a, b, c: n evaluations each over D, Montgomery form, natural order. b and c are scratch
/// afterwards. Out: a holds h_0 ... h_(n-2), then one zero: the scalars of the key's points H_j =
/// [τ^j t(τ)/δ]. How: interpolate all three, evaluate on the coset g·D, where t is the constant g^n
/// - 1, divide, interpolate back:
///      7 transforms.
/// Throws InvalidInput if a size differs from n.
void quotient_textbook(const Domain& domain, std::span<curve::Fr> a, std::span<curve::Fr> b,
                       std::span<curve::Fr> c);

/// In:  a, b: the first `rows` evaluations over D, the same number; all others are zero. Montgomery
/// form, natural order. Out: s_i = b_i·A*_i + a_i·B*_i, i < rows, where X*_i = (x·X'(x))(ω^i): the
/// scalars of the points Q_i (derived_key.hpp). How: differentiate AB - C = t·h at ω^i, where t
/// vanishes and x·t' = n: n·h(ω^i) = b_i A*_i + a_i B*_i - C*_i.
///      C*·Q is linear in the witness and folded into the key's L. The derivative multiplies
///      coefficient k by k: 4 transforms, no c.
/// Takes 64 bytes for each element of the domain besides. Throws InvalidInput if the sizes differ
/// or exceed n.
base::LargeArray<curve::Fr> quotient_derivative(
    const Domain& domain, std::span<const curve::Fr> a, std::span<const curve::Fr> b,
    curve::Arithmetic arithmetic = curve::Arithmetic::kBest);

}  // namespace cuzk::groth16
