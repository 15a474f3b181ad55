#pragma once

#include "gadgets/num.hpp"
#include "hash/poseidon.hpp"

#include <span>
#include <utility>
#include <vector>

/// Poseidon in a circuit, in the optimised form of hash/poseidon_constants.hpp. [neptune
/// src/circuit.rs]
namespace cuzk::gadgets {

/// The state between S-boxes: each element a linear combination of the variables that S-boxes have
/// put in. Where constraints are recorded an element is a row of coefficients over those variables;
/// where there are values it has one.
template <class CS>
class PoseidonState {
 public:
  explicit PoseidonState(std::size_t width) : width_(width), values_(width), rows_(width) {}

  std::size_t width() const { return width_; }
  Fr value(std::size_t i) const { return values_[i].get(); }

  /// Forgets all elements; the next ones to set are the basis of those that follow. To be called
  /// before a full round's.
  void start_basis() {
    basis_.clear();
    for (auto& row : rows_) row.clear();
  }
  void set(std::size_t i, const AllocatedNum<CS>& num) {
    set(i, num.variable, num.known_value, Fr::one());
  }
  void set_constant(std::size_t i, const Fr& value) {
    VariableOf<CS> one{};
    if constexpr (CS::kHasConstraints) one = Variable::one();
    set(i, one, known<CS>([&] { return value; }), value);
  }

  /// state · m.
  void multiply(const hash::Matrix& m) {
    const auto values = values_;
    const auto rows = rows_;
    for (std::size_t j = 0; j < width_; ++j) {
      clear(j);
      for (std::size_t i = 0; i < width_; ++i) add_scaled(j, values[i], rows[i], m[i][j]);
    }
  }
  /// state · (the sparse matrix).
  void multiply(const hash::SparseMatrix& m) {
    const auto value_0 = values_[0];
    const auto row_0 = rows_[0];
    clear(0);
    add_scaled(0, value_0, row_0, m.w_hat[0]);
    for (std::size_t j = 1; j < width_; ++j) {
      add_scaled(0, values_[j], rows_[j], m.w_hat[j]);
      add_scaled(j, value_0, row_0, m.v_rest[j - 1]);
    }
  }

  /// A variable for element i: (the element)·1 = result.
  AllocatedNum<CS> allocate(CS& cs, std::size_t i) const {
    const auto result = alloc_num(cs, [&] { return value(i); });
    cs.enforce(
        "enforce num allocation preserves lc",
        [&](auto& lc) {
          for (std::size_t k = 0; k < rows_[i].size(); ++k) lc.add(basis_[k], rows_[i][k]);
        },
        [](auto& lc) { lc.add(Variable::one()); }, [&](auto& lc) { lc.add(result.variable); });
    return result;
  }

 private:
  void set(std::size_t i, const VariableOf<CS>& variable, const KnownFr<CS>& value,
           const Fr& coefficient) {
    values_[i] = value;
    if constexpr (CS::kHasConstraints) {
      basis_.push_back(variable);
      rows_[i].assign(basis_.size(), Fr::zero());
      rows_[i].back() = coefficient;
    }
  }
  void clear(std::size_t j) {
    if constexpr (CS::kHasValues) values_[j] = KnownFr<CS>(Fr::zero());
    rows_[j].clear();
  }
  void add_scaled(std::size_t j, const KnownFr<CS>& value, const std::vector<Fr>& row,
                  const Fr& factor) {
    if constexpr (CS::kHasValues) values_[j] = KnownFr<CS>(values_[j].get() + value.get() * factor);
    if constexpr (CS::kHasConstraints) {
      if (rows_[j].size() < row.size()) rows_[j].resize(row.size());
      for (std::size_t k = 0; k < row.size(); ++k) {
        if (!row[k].is_zero()) rows_[j][k] += row[k] * factor;
      }
    }
  }

  std::size_t width_;
  std::vector<KnownFr<CS>> values_;
  std::vector<VariableOf<CS>> basis_;
  std::vector<std::vector<Fr>> rows_;
};

/// x^5 + post_key: x²; x⁴; x·x⁴ = result - post_key.
template <class CS>
AllocatedNum<CS> quintic_s_box(CS& cs, const AllocatedNum<CS>& x, const Fr& post_key) {
  const auto x2 = square(cs, x);
  const auto x4 = square(cs, x2);
  const auto result = alloc_num(cs, [&] { return x.value() * x4.value() + post_key; });
  cs.enforce(
      "mul sum constraint post-add", [&](auto& lc) { lc.add(x.variable); },
      [&](auto& lc) { lc.add(x4.variable); },
      [&](auto& lc) { lc.add(result.variable).sub(Variable::one(), post_key); });
  return result;
}

/// (x + pre_key)^5 + post_key, likewise, with the sum written into the constraints.
template <class CS>
AllocatedNum<CS> quintic_s_box_pre_add(CS& cs, const AllocatedNum<CS>& x, const Fr& pre_key,
                                       const Fr& post_key) {
  const auto sum = [&](auto& lc) { lc.add(x.variable).add(Variable::one(), pre_key); };
  const auto x2 = alloc_num(cs, [&] { return (x.value() + pre_key).square(); });
  cs.enforce("squared sum constraint", sum, sum, [&](auto& lc) { lc.add(x2.variable); });
  const auto x4 = square(cs, x2);
  const auto result = alloc_num(cs, [&] { return (x.value() + pre_key) * x4.value() + post_key; });
  cs.enforce(
      "mul sum constraint pre-post-add", sum, [&](auto& lc) { lc.add(x4.variable); },
      [&](auto& lc) { lc.add(result.variable).sub(Variable::one(), post_key); });
  return result;
}

/// The hash where there are values alone: they need no linear combinations.
template <class CS>
AllocatedNum<CS> poseidon_values(CS& cs, hash::PoseidonDomain domain,
                                 std::span<const AllocatedNum<CS>> inputs) {
  const std::size_t count = hash::poseidon_variable_count(domain);
  if (cs.leave_out(count)) return {};
  std::vector<Fr> values;
  values.reserve(inputs.size());
  for (const AllocatedNum<CS>& input : inputs) values.push_back(input.value());
  const std::span<Fr> variables = cs.alloc_fields(count);
  hash::poseidon_variables(domain, values, variables);
  return {{}, KnownFr<CS>(variables.back())};
}

/// The hash of a domain's full number of inputs. Every S-box's input and output is a variable,
/// except in the first round, whose inputs are, and whose first element is the constant tag.
template <class CS>
AllocatedNum<CS> poseidon(CS& cs, hash::PoseidonDomain domain,
                          std::span<const AllocatedNum<CS>> inputs) {
  if constexpr (!CS::kHasConstraints) return poseidon_values<CS>(cs, domain, inputs);
  const hash::PoseidonConstants& constants = hash::poseidon_constants(domain);
  const std::size_t width = constants.width;
  const unsigned half = constants.full_rounds / 2;
  const Fr* key = constants.compressed_round_constants.data();
  PoseidonState<CS> state(width);

  {
    const auto scope = cs.scope("first round");
    const Fr* post_key = key + width;
    const Fr tag = constants.domain_tag + key[0];
    state.set_constant(0, tag.square().square() * tag + post_key[0]);
    for (std::size_t i = 1; i < width; ++i) {
      const auto box = cs.scope("quintic s-box {}", i);
      state.set(i, quintic_s_box_pre_add(cs, inputs[i - 1], key[i], post_key[i]));
    }
    key += 2 * width;
    state.multiply(constants.mds);
  }
  const auto full_round = [&](const hash::Matrix& m, bool last) {
    std::vector<AllocatedNum<CS>> outputs;
    outputs.reserve(width);
    for (std::size_t i = 0; i < width; ++i) {
      const auto box = cs.scope("quintic s-box {}", i);
      outputs.push_back(quintic_s_box(cs, state.allocate(cs, i), last ? Fr::zero() : *key++));
    }
    state.start_basis();
    for (std::size_t i = 0; i < width; ++i) state.set(i, outputs[i]);
    state.multiply(m);
  };
  for (unsigned round = 1; round < half; ++round) {
    const auto scope = cs.scope("initial full round {}", round);
    full_round(round + 1 == half ? constants.pre_sparse : constants.mds, false);
  }
  for (unsigned round = 0; round < constants.partial_rounds; ++round) {
    const auto scope = cs.scope("partial round {}", round);
    state.set(0, quintic_s_box(cs, state.allocate(cs, 0), *key++));
    state.multiply(constants.sparse[round]);
  }
  for (unsigned round = 0; round + 1 < half; ++round) {
    const auto scope = cs.scope("final full round {}", round);
    full_round(constants.mds, false);
  }
  {
    const auto scope = cs.scope("terminal full round");
    full_round(constants.mds, true);
  }
  return state.allocate(cs, 1);
}

/// Poseidon of two numbers, as in a Merkle tree: comm_r of comm_c and comm_r_last.
template <class CS>
AllocatedNum<CS> poseidon_2(CS& cs, hash::PoseidonDomain domain, const AllocatedNum<CS>& a,
                            const AllocatedNum<CS>& b) {
  const std::array<AllocatedNum<CS>, 2> inputs{a, b};
  return poseidon<CS>(cs, domain, inputs);
}

}  // namespace cuzk::gadgets
