#include "groth16/fold_terms.hpp"

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "r1cs/variable.hpp"

#include <tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace cuzk::groth16 {

using curve::Fr;
using curve::G1Affine;
using curve::G1Jacobian;

namespace {

/// ± 2^exponent, where a coefficient is that.
struct PowerOfTwo {
  unsigned exponent = 0;
  bool negative = false;
};

std::vector<std::optional<PowerOfTwo>> powers_of_two(std::span<const Fr> palette) {
  constexpr unsigned kExponents = 254;  // so that no power is another's negative
  std::map<base::Bytes32, PowerOfTwo> known;
  Fr power = Fr::one();
  for (unsigned exponent = 0; exponent < kExponents; ++exponent, power += power) {
    known.emplace(power.to_bytes_le(), PowerOfTwo{exponent, false});
    known.emplace((-power).to_bytes_le(), PowerOfTwo{exponent, true});
  }
  std::vector<std::optional<PowerOfTwo>> out;
  for (const Fr& coefficient : palette) {
    const auto found = known.find(coefficient.to_bytes_le());
    out.push_back(found == known.end() ? std::nullopt : std::optional(found->second));
  }
  return out;
}

/// 2^e·P; cheap for exponents that rise.
class Doublings {
 public:
  explicit Doublings(const G1Affine& point) : point_(G1Jacobian::from(point)), current_(point_) {}

  const G1Jacobian& at(unsigned exponent) {
    if (exponent < exponent_) {
      current_ = point_;
      exponent_ = 0;
    }
    for (; exponent_ < exponent; ++exponent_) current_ = current_.doubled();
    return current_;
  }

 private:
  G1Jacobian point_, current_;
  unsigned exponent_ = 0;
};

/// Sums that many threads add to. ONE is in a great many rows: each thread has a sum of its own for
/// it.
class SharedSums {
 public:
  explicit SharedSums(std::span<G1Jacobian> sums) : sums_(sums), locks_(kLocks) {}
  ~SharedSums() {
    for (const G1Jacobian& one : ones_) sums_[0] += one;
  }
  SharedSums(const SharedSums&) = delete;
  SharedSums& operator=(const SharedSums&) = delete;

  template <class Point>
  void add(std::size_t variable, const Point& point) {
    if (variable == 0) {
      ones_.local() += point;
      return;
    }
    std::atomic_flag& lock = locks_[variable / kVariablesALock % kLocks];
    while (lock.test_and_set(std::memory_order_acquire)) lock.wait(true, std::memory_order_relaxed);
    sums_[variable] += point;
    lock.clear(std::memory_order_release);
    lock.notify_one();
  }

 private:
  static constexpr std::size_t kLocks = std::size_t{1} << 14, kVariablesALock = 16;

  std::span<G1Jacobian> sums_;
  std::vector<std::atomic_flag> locks_;
  tbb::enumerable_thread_specific<G1Jacobian> ones_{G1Jacobian::identity()};
};

/// Rows of one copy of a block.
struct Task {
  const r1cs::Block* block;
  std::uint32_t copy, first_row, last_row;
};

std::vector<Task> split(const r1cs::Shape& shape) {
  constexpr std::uint32_t kRows = 4096;
  std::vector<Task> out;
  for (const r1cs::Block& block : shape.blocks()) {
    for (std::uint32_t copy = 0; copy < block.copies; ++copy) {
      for (std::uint32_t row = 0; row < block.constraints; row += kRows)
        out.push_back({&block, copy, row, std::min(row + kRows, block.constraints)});
    }
  }
  return out;
}

}  // namespace

void fold_terms(const r1cs::Shape& shape, Matrix matrix, Sign sign, std::span<const G1Affine> rows,
                std::span<G1Jacobian> sums) {
  base::require(rows.size() >= shape.num_constraints() &&
                    sums.size() == std::size_t{shape.num_inputs()} + shape.num_aux(),
                "folding terms: {} rows and {} sums given, the circuit has {} constraints and {} "
                "variables",
                rows.size(), sums.size(), shape.num_constraints(),
                std::size_t{shape.num_inputs()} + shape.num_aux());
  const std::vector<std::optional<PowerOfTwo>> powers = powers_of_two(shape.palette());
  const bool minus = sign == Sign::kMinus;
  SharedSums shared(sums);

  const auto add_row = [&](const Task& task, std::uint32_t row, const G1Affine& point) {
    const r1cs::Rows& terms = task.block->matrices[static_cast<unsigned>(matrix)];
    Doublings doublings(point);
    const G1Affine negative{point.x, -point.y};
    for (std::uint32_t at = terms.offsets[row]; at < terms.offsets[row + 1]; ++at) {
      const r1cs::Variable variable = r1cs::Variable::from_key(
          task.block->key(r1cs::Column::from_word(terms.columns[at]), task.copy));
      const std::size_t place =
          variable.is_aux() ? shape.num_inputs() + variable.index() : variable.index();
      const std::uint16_t coefficient = terms.coefficients[at];
      const std::optional<PowerOfTwo>& power = powers[coefficient];
      if (!power) {
        const G1Jacobian product = point * shape.palette()[coefficient];
        shared.add(place, minus ? -product : product);
      } else if (power->exponent == 0) {
        shared.add(place, power->negative != minus ? negative : point);
      } else {
        const G1Jacobian& product = doublings.at(power->exponent);
        shared.add(place, power->negative != minus ? -product : product);
      }
    }
  };
  const std::vector<Task> tasks = split(shape);
  base::parallel_for(tasks.size(), [&](std::size_t i) {
    const Task& task = tasks[i];
    const std::uint64_t first =
        task.block->first_constraint + std::uint64_t{task.copy} * task.block->constraints;
    for (std::uint32_t row = task.first_row; row < task.last_row; ++row) {
      const G1Affine& point = rows[first + row];
      if (!point.is_identity()) add_row(task, row, point);
    }
  });
}

}  // namespace cuzk::groth16
