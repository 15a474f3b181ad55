#include "hash/poseidon.hpp"

#include "base/error.hpp"

#include <array>

namespace cuzk::hash {

using curve::Fr;

namespace {

template <unsigned kWidth>
class Permutation {
 public:
  Permutation(const PoseidonConstants& constants, std::span<const Fr> inputs)
      : constants_(constants), next_(constants.compressed_round_constants.data()) {
    state_[0] = constants.domain_tag;
    for (unsigned i = 1; i < kWidth; ++i) state_[i] = inputs[i - 1];
  }

  Fr run() {
    const unsigned half = constants_.full_rounds / 2;
    for (Fr& element : state_) element += *next_++;
    for (unsigned round = 0; round + 1 < half; ++round) full_round(constants_.mds);
    full_round(constants_.pre_sparse);
    for (const SparseMatrix& sparse : constants_.sparse) partial_round(sparse);
    for (unsigned round = 0; round + 1 < half; ++round) full_round(constants_.mds);
    // Of the last round only element 1 is wanted.
    Fr out;
    for (unsigned i = 0; i < kWidth; ++i) out += quintic(state_[i]) * constants_.mds[i][1];
    return out;
  }

 private:
  static Fr quintic(const Fr& x) { return x.square().square() * x; }

  void full_round(const Matrix& matrix) {
    for (Fr& element : state_) element = quintic(element) + *next_++;
    std::array<Fr, kWidth> out;
    for (unsigned i = 0; i < kWidth; ++i) {
      for (unsigned j = 0; j < kWidth; ++j) out[j] += state_[i] * matrix[i][j];
    }
    state_ = out;
  }

  void partial_round(const SparseMatrix& sparse) {
    const Fr first = quintic(state_[0]) + *next_++;
    Fr out = first * sparse.w_hat[0];
    for (unsigned i = 1; i < kWidth; ++i) {
      out += state_[i] * sparse.w_hat[i];
      state_[i] += first * sparse.v_rest[i - 1];
    }
    state_[0] = out;
  }

  const PoseidonConstants& constants_;
  const Fr* next_;  // in compressed_round_constants
  std::array<Fr, kWidth> state_;
};

}  // namespace

Fr poseidon(PoseidonDomain domain, std::span<const Fr> inputs) {
  const PoseidonConstants& constants = poseidon_constants(domain);
  base::require(inputs.size() == constants.arity,
                "Poseidon hash of {} elements: this domain takes {}", inputs.size(),
                constants.arity);
  switch (constants.width) {
    case 3:
      return Permutation<3>(constants, inputs).run();
    case 5:
      return Permutation<5>(constants, inputs).run();
    case 9:
      return Permutation<9>(constants, inputs).run();
    default:
      return Permutation<12>(constants, inputs).run();
  }
}

}  // namespace cuzk::hash
