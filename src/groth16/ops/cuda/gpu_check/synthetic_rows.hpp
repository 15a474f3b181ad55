#pragma once

#include "curve/device/testing.hpp"
#include "curve/fr.hpp"
#include "r1cs/shape.hpp"
#include "r1cs/witness.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

/// A circuit with the counts and proportions of a 32 GiB PoRep partition, at any size: one block of
/// repeated rows. Rows of SHA-256 gadgets over bits lie around runs of rows over field elements,
/// which stand for Poseidon. Columns lie near their row. It satisfies nothing.
///
/// What the real circuit has in each of its 18 copies: 7,237,665 rows, 7,231,629 aux variables,
/// 94,377 of them field elements; in A 4.2 M rows of one bit, 2.3 M of two, 0.6 M of three, 7,000
/// of 830 on the average, and 94,000 over elements, two thirds of them of one term and 2 % of 65 to
/// 256.
namespace cuzk::groth16::cuda::gpu_check {

class SyntheticRows {
 public:
  static constexpr std::uint32_t kPorepRows = 7'237'665, kPorepCopies = 18;

  SyntheticRows(std::uint32_t rows, std::uint32_t copies)
      : rows_(rows), storage_(std::make_shared<Storage>()), shape_(make_shape(copies)) {
    make_witness();
  }

  const r1cs::Shape& shape() const { return shape_; }
  const r1cs::Witness& witness() const { return witness_; }

  /// Row `row` of matrix m, by the definition.
  curve::Fr value(unsigned m, std::size_t row) const {
    const r1cs::Block& block = shape_.blocks()[0];
    const auto copy = static_cast<std::uint32_t>(row / block.constraints);
    const std::size_t local = row % block.constraints;
    const r1cs::Rows& rows = block.matrices[m];
    curve::Fr sum;
    for (std::uint32_t term = rows.offsets[local]; term < rows.offsets[local + 1]; ++term) {
      const curve::Fr& coefficient = shape_.palette()[rows.coefficients[term]];
      const r1cs::Column column = r1cs::Column::from_word(rows.columns[term]);
      if (column.kind() == r1cs::Column::Kind::kInput) {
        sum += coefficient * witness_.inputs[column.index()];
      } else if (is_field(column.index())) {
        sum += coefficient * witness_.fields[copy * block.fields + field_index(column.index())];
      } else if (witness_.bit(copy * block.aux + column.index())) {
        sum += coefficient;
      }
    }
    return sum;
  }
  /// Whether a row of a copy is over field elements, and whether it is one of many bits.
  bool is_field(std::uint32_t local) const { return local % kPeriod < kRun; }
  bool is_packing(std::uint32_t local) const { return !is_field(local) && local % 1028 == 1000; }

 private:
  static constexpr std::uint32_t kPeriod = 38'092, kRun = 497;
  static constexpr std::uint16_t kOne = 0, kMinusOne = 1, kTwo = 2, kPowers = 3, kOthers = 511;

  struct Storage {
    std::array<std::vector<std::uint32_t>, 3> offsets, columns;
    std::array<std::vector<std::uint16_t>, 3> coefficients;
    std::vector<std::uint64_t> bit_mask;
  };

  std::uint32_t field_index(std::uint32_t local) const {
    return local / kPeriod * kRun + local % kPeriod;
  }
  std::uint64_t draw() { return curve::device::testing::mix(state_++); }

  static std::vector<curve::Fr> make_palette() {
    std::vector<curve::Fr> palette = {curve::Fr::one(), -curve::Fr::one(), curve::Fr::from_u64(2)};
    for (unsigned k = 0; palette.size() < kOthers; ++k) {
      palette.push_back(curve::Fr::power_of_two(k));
      palette.push_back(-curve::Fr::power_of_two(k));
    }
    for (std::uint64_t i = 0; palette.size() < 2466; ++i)
      palette.push_back(curve::Fr::from_u64(curve::device::testing::mix(i)).square().square());
    return palette;
  }

  void add(unsigned m, r1cs::Column column, std::uint16_t coefficient) {
    storage_->columns[m].push_back(column.word());
    storage_->coefficients[m].push_back(coefficient);
  }
  // A variable some way before the row's own, of the wanted kind.
  r1cs::Column near(std::uint32_t row, bool field) {
    const std::uint64_t z = draw();
    if (!field && z % 100 == 0) return {r1cs::Column::Kind::kInput, 0};
    const std::uint32_t back = field ? static_cast<std::uint32_t>(z >> 32) % kRun
                                     : static_cast<std::uint32_t>(z >> 32) % 3000;
    std::uint32_t local = row > back ? row - back : row;
    while (is_field(local) != field)
      local = field ? row : local + kRun < rows_ ? local + kRun : 500;
    return {r1cs::Column::Kind::kLocalAux, local};
  }

  void add_field_row(std::uint32_t row) {
    const std::uint64_t kind = draw() % 100;
    const unsigned terms = kind < 70   ? 1
                           : kind < 77 ? 2
                           : kind < 89 ? 11
                           : kind < 92 ? 24
                           : kind < 98 ? 45
                                       : 150;
    for (unsigned k = 0; k < terms; ++k) {
      const auto random = static_cast<std::uint16_t>(kOthers + draw() % 1900);
      add(0, near(row, true), terms == 1 ? kOne : terms == 2 ? kMinusOne : random);
    }
    add(1, near(row, true), kOne);
    add(2, near(row, true), kOne);
    if (kind % 4 == 0) add(2, near(row, true), static_cast<std::uint16_t>(kOthers + kind));
  }
  // Words of 32 consecutive bits, as packed equalities have them.
  void add_packing_row(std::uint32_t row) {
    for (unsigned m = 0; m < 3; m += 2) {
      const unsigned terms = m == 0 ? 830 : 250;
      for (unsigned word = 0; 32 * word < terms; ++word) {
        const std::uint32_t first = near(row > 4000 ? row - 64 : row, false).index();
        for (unsigned k = 0; k < 32 && 32 * word + k < terms; ++k) {
          const auto exponent = static_cast<std::uint16_t>((32 * word / 5 + k) % 250);
          const std::uint32_t local = is_field(first + k) ? 500 + k : first + k;
          add(m, {r1cs::Column::Kind::kLocalAux, local},
              static_cast<std::uint16_t>(kPowers + 2 * exponent + (word % 8 == 7 ? 1 : 0)));
        }
      }
    }
    add(1, {r1cs::Column::Kind::kInput, 0}, kOne);
  }
  // One to three bits in A, one in B, none to three in C; alike in runs, as a gadget does the same
  // for each bit of a word.
  void add_bit_row(std::uint32_t row) {
    const std::uint64_t kind = curve::device::testing::mix(row / 40 + 3) % 1000;
    const unsigned terms = kind < 592 ? 1 : kind < 920 ? 2 : 3;
    for (unsigned k = 0; k < terms; ++k)
      add(0, near(row, false), k > 0 ? kMinusOne : kind % 2 == 0 ? kTwo : kOne);
    add(1, near(row, false), kOne);
    const std::uint64_t c_kind = curve::device::testing::mix(row / 40 + 1000003) % 1000;
    const unsigned c_terms = c_kind < 248 ? 0 : c_kind < 328 ? 1 : c_kind < 488 ? 2 : 3;
    for (unsigned k = 0; k < c_terms; ++k) add(2, near(row, false), k == 0 ? kMinusOne : kOne);
  }

  r1cs::Shape make_shape(std::uint32_t copies) {
    r1cs::Block block;
    block.copies = copies;
    block.first_input = 1;
    block.aux = rows_;
    block.constraints = rows_;
    storage_->bit_mask.resize((rows_ + 63) / 64);
    for (unsigned m = 0; m < 3; ++m) storage_->offsets[m].push_back(0);
    for (std::uint32_t row = 0; row < rows_; ++row) {
      if (is_field(row)) {
        ++block.fields;
        add_field_row(row);
      } else {
        storage_->bit_mask[row / 64] |= std::uint64_t{1} << row % 64;
        is_packing(row) ? add_packing_row(row) : add_bit_row(row);
      }
      for (unsigned m = 0; m < 3; ++m)
        storage_->offsets[m].push_back(static_cast<std::uint32_t>(storage_->columns[m].size()));
    }
    for (unsigned m = 0; m < 3; ++m)
      block.matrices[m] = {storage_->offsets[m], storage_->columns[m], storage_->coefficients[m]};
    block.bit_mask = storage_->bit_mask;
    r1cs::Shape::Counts counts;
    counts.inputs = 328;
    counts.aux = copies * block.aux;
    counts.fields = copies * block.fields;
    counts.constraints = std::uint64_t{copies} * block.constraints;
    return {counts, {block}, make_palette(), storage_};
  }

  void make_witness() {
    const auto any = [&] { return curve::Fr::from_u64(draw()).square().square(); };
    witness_.inputs = {curve::Fr::one()};
    while (witness_.inputs.size() < shape_.num_inputs()) witness_.inputs.push_back(any());
    while (witness_.fields.size() < shape_.num_fields()) witness_.fields.push_back(any());
    witness_.bits.resize((shape_.num_aux() + 63) / 64);
    for (std::uint64_t& word : witness_.bits) word = draw();
    for (std::uint32_t aux = 0; aux < shape_.num_aux(); ++aux) {
      if (is_field(aux % rows_)) witness_.bits[aux / 64] &= ~(std::uint64_t{1} << aux % 64);
    }
  }

  std::uint32_t rows_;
  std::uint64_t state_ = 0;
  std::shared_ptr<Storage> storage_;
  r1cs::Shape shape_;
  r1cs::Witness witness_;
};

}  // namespace cuzk::groth16::cuda::gpu_check
