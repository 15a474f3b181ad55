#pragma once

#include "curve/fr.hpp"
#include "hash/poseidon_constants.hpp"

#include <array>
#include <span>

namespace cuzk::hash {

/// One Poseidon hash, in the form that PoseidonConstants describes. ProductSum is one of the two of
/// product_sum.hpp. Not for use but by poseidon() and its test.
template <unsigned kWidth, class ProductSum>
class PoseidonPermutation {
 public:
  /// `constants` of width kWidth, `inputs` of one less.
  PoseidonPermutation(const PoseidonConstants& constants, std::span<const curve::Fr> inputs)
      : constants_(constants), next_(constants.compressed_round_constants.data()) {
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
    for (curve::Fr& element : state_) element = quintic(element);
    return row_times_column(constants_.mds, 1);
  }

 private:
  static curve::Fr quintic(const curve::Fr& x) { return x.square().square() * x; }

  curve::Fr row_times_column(const Matrix& matrix, unsigned column) const {
    ProductSum sum;
    for (unsigned i = 0; i < kWidth; ++i) sum.add(state_[i], matrix[i][column]);
    return sum.sum();
  }

  void full_round(const Matrix& matrix) {
    for (curve::Fr& element : state_) element = quintic(element) + *next_++;
    std::array<curve::Fr, kWidth> out;
    for (unsigned j = 0; j < kWidth; ++j) out[j] = row_times_column(matrix, j);
    state_ = out;
  }

  void partial_round(const SparseMatrix& sparse) {
    const curve::Fr first = quintic(state_[0]) + *next_++;
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
  std::array<curve::Fr, kWidth> state_;
};

}  // namespace cuzk::hash
