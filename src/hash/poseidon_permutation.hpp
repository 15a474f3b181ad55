#pragma once

#include "curve/fr.hpp"
#include "hash/poseidon_constants.hpp"

#include <array>
#include <span>
#include <utility>

namespace cuzk::hash {

/// Is told nothing about S-boxes.
struct IgnoreSBoxes {
  void operator()(const curve::Fr&, const curve::Fr&, const curve::Fr&, const curve::Fr&) {}
};

/// One Poseidon hash, in the form that PoseidonConstants describes. ProductSum is one of the two of
/// product_sum.hpp. OnSBox is called with x, x², x⁴ and x⁵ + key of each S-box in order. Not for
/// use but by poseidon.cpp and its test.
template <unsigned kWidth, class ProductSum, class OnSBox = IgnoreSBoxes>
class PoseidonPermutation {
 public:
  /// `constants` of width kWidth, `inputs` of one less.
  PoseidonPermutation(const PoseidonConstants& constants, std::span<const curve::Fr> inputs,
                      OnSBox on_s_box = {})
      : constants_(constants),
        next_(constants.compressed_round_constants.data()),
        on_s_box_(std::move(on_s_box)) {
    state_[0] = constants.domain_tag;
    for (unsigned i = 1; i < kWidth; ++i) state_[i] = inputs[i - 1];
  }

  curve::Fr run() {
    const unsigned half = constants_.full_rounds / 2;
    for (curve::Fr& element : state_) element += *next_++;
    for (unsigned round = 0; round + 1 < half; ++round) full_round(constants_.mds);
    full_round(constants_.pre_sparse);
    for (const SparseMatrix& sparse : constants_.sparse) partial_round(sparse);
    for (unsigned round = 0; round + 1 < half; ++round) full_round(constants_.mds);
    // Of the last round only element 1 is wanted.
    for (curve::Fr& element : state_) element = s_box(element, curve::Fr::zero());
    return row_times_column(constants_.mds, 1);
  }

 private:
  curve::Fr s_box(const curve::Fr& x, const curve::Fr& key) {
    const curve::Fr x2 = x.square();
    const curve::Fr x4 = x2.square();
    const curve::Fr result = x4 * x + key;
    on_s_box_(x, x2, x4, result);
    return result;
  }

  curve::Fr row_times_column(const Matrix& matrix, unsigned column) const {
    ProductSum sum;
    for (unsigned i = 0; i < kWidth; ++i) sum.add(state_[i], matrix[i][column]);
    return sum.sum();
  }

  void full_round(const Matrix& matrix) {
    for (curve::Fr& element : state_) element = s_box(element, *next_++);
    std::array<curve::Fr, kWidth> out;
    for (unsigned j = 0; j < kWidth; ++j) out[j] = row_times_column(matrix, j);
    state_ = out;
  }

  void partial_round(const SparseMatrix& sparse) {
    const curve::Fr first = s_box(state_[0], *next_++);
    ProductSum sum;
    sum.add(first, sparse.w_hat[0]);
    for (unsigned i = 1; i < kWidth; ++i) {
      sum.add(state_[i], sparse.w_hat[i]);
      state_[i] += first * sparse.v_rest[i - 1];
    }
    state_[0] = sum.sum();
  }

  const PoseidonConstants& constants_;
  const curve::Fr* next_;  // in compressed_round_constants
  [[no_unique_address]] OnSBox on_s_box_;
  std::array<curve::Fr, kWidth> state_;
};

}  // namespace cuzk::hash
