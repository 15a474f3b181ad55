#pragma once

#include "curve/arithmetic.hpp"
#include "curve/fr.hpp"
#include "groth16/ops/domain.hpp"

#include <span>

/// Number-theoretic transforms over a Domain, in place, in parallel. Vectors hold n elements in
/// Montgomery form; any other size throws InvalidInput. With x_k the element at index k:
///   ntt    y_i = Σ_k x_k ω^(ik)         coefficients to evaluations on D
///   intt   x_k = (1/n) Σ_i y_i ω^(-ik)  its inverse
///   coset_ntt, coset_intt               the same on g·D
/// in natural order. The two halves below leave out the permutation: index k of a bit-reversed
/// vector holds element reverse_bits(k, log_n). intt_unscaled is n times too large, so that the
/// factor 1/n can join another one. An arithmetic that is not available throws InvalidInput from
/// transforms of 64 points on.
namespace cuzk::groth16 {

void ntt(const Domain& domain, std::span<curve::Fr> values);
void intt(const Domain& domain, std::span<curve::Fr> values);
void coset_ntt(const Domain& domain, std::span<curve::Fr> values);
void coset_intt(const Domain& domain, std::span<curve::Fr> values);

/// Natural order to bit-reversed order: n · intt.
void intt_unscaled(const Domain& domain, std::span<curve::Fr> values,
                   curve::Arithmetic arithmetic = curve::Arithmetic::kBest);
/// Bit-reversed order to natural order.
void ntt_from_bit_reversed(const Domain& domain, std::span<curve::Fr> values,
                           curve::Arithmetic arithmetic = curve::Arithmetic::kBest);

/// Multiplies the element with natural index k by first·ratio^k, for a vector in bit-reversed
/// order.
void scale_by_powers_bit_reversed(const Domain& domain, std::span<curve::Fr> values,
                                  const curve::Fr& first, const curve::Fr& ratio);
/// Swaps every element with the one at the bit-reversed index.
void permute_bit_reversed(const Domain& domain, std::span<curve::Fr> values);

}  // namespace cuzk::groth16
