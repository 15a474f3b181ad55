#pragma once

#include "curve/device/testing.hpp"
#include "curve/fr.hpp"
#include "groth16/ops/cuda/residue.hpp"
#include "r1cs/shape.hpp"
#include "r1cs/variable.hpp"
#include "r1cs/witness.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

/// Circuits of no meaning with rows of every kind, for checks of what reads a Shape.
namespace cuzk::groth16::cuda::checks {

/// Three blocks of `rows` rows: one before, one of `copies` copies with inputs, bits, field
/// elements and ports of its own, one after. Rows have 0 to 1,200 terms over columns of all kinds
/// with coefficients small, powers of two and of any size, at lengths around the limits of
/// circuit_rows.hpp; the witness has edge values. It satisfies nothing.
class TestCircuit {
 public:
  TestCircuit(std::uint32_t rows, std::uint32_t copies, std::uint64_t seed)
      : TestCircuit(Maker(rows, copies, seed)) {}

  r1cs::Shape shape;
  r1cs::Witness witness;

 private:
  using Column = r1cs::Column;

  struct BlockStorage {
    std::array<std::vector<std::uint32_t>, 3> offsets, columns;
    std::array<std::vector<std::uint16_t>, 3> coefficients;
    std::vector<std::uint64_t> bit_mask;
    std::vector<std::uint32_t> port_keys;
  };
  struct Storage {
    std::array<BlockStorage, 3> blocks;
  };

  class Maker {
   public:
    Maker(std::uint32_t rows, std::uint32_t copies, std::uint64_t seed)
        : rows_(rows), state_(seed * 1000003) {
      make_palette();
      counts_.inputs = 4;
      witness_.inputs = {curve::Fr::one()};
      for (std::uint32_t i = 1; i < counts_.inputs; ++i) witness_.inputs.push_back(edge_value());
      make_block(0, 1, 70, 0, 0);
      make_block(1, copies, 45, 2, 3);
      make_block(2, 1, 5, 0, 0);
      witness_.bits.resize((counts_.aux + 63) / 64);
    }

    r1cs::Shape shape() const { return {counts_, blocks_, palette_, storage_}; }
    const r1cs::Witness& witness() const { return witness_; }

   private:
    std::uint64_t draw(std::uint64_t below) {
      return curve::device::testing::mix(state_++) % below;
    }
    curve::Fr any_value() { return residue(curve::device::testing::random_fr(draw(1u << 30))); }
    curve::Fr edge_value() {
      const curve::Fr edges[4] = {curve::Fr::zero(), curve::Fr::one(), -curve::Fr::one(),
                                  curve::Fr::from_montgomery({1, 0, 0, 0})};
      const std::uint64_t which = draw(8);
      return which < 4 ? edges[which] : any_value();
    }

    void make_palette() {
      for (const std::uint64_t small : {2, 1, 3, 4, 5}) {
        palette_.push_back(curve::Fr::from_u64(small));
        palette_.push_back(-curve::Fr::from_u64(small));
      }
      small_coefficients_ = 7;  // 4 and ±5 are not small: put them last
      std::swap(palette_[6], palette_[7]);
      for (unsigned k = 3; k < 255; k += 4) {
        palette_.push_back(curve::Fr::power_of_two(k));
        palette_.push_back(-curve::Fr::power_of_two(k));
      }
      for (int i = 0; i < 10; ++i) palette_.push_back(any_value());
    }

    void make_block(std::size_t number, std::uint32_t copies, std::uint32_t aux,
                    std::uint32_t inputs, std::uint32_t ports) {
      r1cs::Block block;
      block.copies = copies;
      block.first_input = counts_.inputs;
      block.inputs = inputs;
      block.first_aux = counts_.aux;
      block.aux = aux;
      block.first_field = counts_.fields;
      block.first_constraint = counts_.constraints;
      block.constraints = rows_;
      block.ports = ports;
      BlockStorage& storage = storage_->blocks[number];
      make_variables(block, storage);
      for (std::uint32_t i = 0; i < copies * ports; ++i)
        storage.port_keys.push_back(
            r1cs::Variable::aux(static_cast<std::uint32_t>(draw(block.first_aux))).key());
      for (unsigned m = 0; m < 3; ++m) make_rows(block, m, storage);
      block.bit_mask = storage.bit_mask;
      block.port_keys = storage.port_keys;
      blocks_.push_back(block);
      counts_.constraints += std::uint64_t{copies} * rows_;
    }

    // Bits and field elements, in the shape and in the witness.
    void make_variables(r1cs::Block& block, BlockStorage& storage) {
      storage.bit_mask.resize((block.aux + 63) / 64);
      for (std::uint32_t j = 0; j < block.aux; ++j) {
        const bool is_bit = draw(3) != 0;
        storage.bit_mask[j / 64] |= std::uint64_t{is_bit} << j % 64;
        block.fields += is_bit ? 0 : 1;
      }
      for (std::uint32_t copy = 0; copy < block.copies; ++copy) {
        for (std::uint32_t i = 0; i < block.inputs; ++i) witness_.inputs.push_back(edge_value());
        for (std::uint32_t j = 0; j < block.aux; ++j, ++counts_.aux) {
          const bool is_bit = (storage.bit_mask[j / 64] >> j % 64 & 1) != 0;
          is_bit_.push_back(is_bit);
          if (counts_.aux % 64 == 0) witness_.bits.push_back(0);
          if (!is_bit) {
            witness_.fields.push_back(edge_value());
          } else if (draw(2) == 0) {
            witness_.bits.back() |= std::uint64_t{1} << counts_.aux % 64;
          }
        }
      }
      counts_.inputs += block.copies * block.inputs;
      counts_.fields += block.copies * block.fields;
    }

    void make_rows(r1cs::Block& block, unsigned m, BlockStorage& storage) {
      storage.offsets[m] = {0};
      for (std::uint32_t row = 0; row < block.constraints; ++row) {
        constexpr std::uint32_t kLengths[] = {1, 2, 3, 4, 23, 24, 25, 31, 32, 33, 64, 65};
        const std::uint64_t kind = draw(12);
        const bool only_bits = kind < 8, only_small = kind < 6;
        std::uint64_t terms = kind < 6 ? draw(4) : kLengths[draw(std::size(kLengths))];
        if (draw(97) == 0) terms = 100 + draw(1100);
        for (std::uint64_t k = 0; k < terms; ++k) {
          storage.columns[m].push_back(column(block, only_bits).word());
          storage.coefficients[m].push_back(
              static_cast<std::uint16_t>(draw(only_small ? small_coefficients_ : palette_.size())));
        }
        storage.offsets[m].push_back(static_cast<std::uint32_t>(storage.columns[m].size()));
      }
      block.matrices[m] = {storage.offsets[m], storage.columns[m], storage.coefficients[m]};
    }

    Column column(const r1cs::Block& block, bool only_bits) {
      const bool repeated = block.inputs != 0;
      const std::uint32_t known_aux = repeated ? block.first_aux : counts_.aux;
      while (true) {
        switch (only_bits ? draw(4) : draw(6)) {
          case 0:
            return {Column::Kind::kInput, 0};
          case 1: {
            const auto aux = static_cast<std::uint32_t>(draw(known_aux));
            if (only_bits && !is_bit_[aux]) break;
            return {Column::Kind::kAux, aux};
          }
          case 2:
          case 3: {
            if (!repeated) break;
            const auto local = static_cast<std::uint32_t>(draw(block.aux));
            if (only_bits && (storage_->blocks[1].bit_mask[local / 64] >> local % 64 & 1) == 0)
              break;
            return {Column::Kind::kLocalAux, local};
          }
          case 4:
            if (repeated && draw(2) == 0)
              return {Column::Kind::kLocalInput, static_cast<std::uint32_t>(draw(block.inputs))};
            return {Column::Kind::kInput, static_cast<std::uint32_t>(draw(4))};
          default:
            if (!repeated) break;
            return {Column::Kind::kPort, static_cast<std::uint32_t>(draw(block.ports))};
        }
      }
    }

    std::uint32_t rows_;
    std::uint64_t state_;
    r1cs::Shape::Counts counts_;
    std::vector<r1cs::Block> blocks_;
    std::vector<curve::Fr> palette_;
    std::size_t small_coefficients_ = 0;
    std::vector<bool> is_bit_;
    std::shared_ptr<Storage> storage_ = std::make_shared<Storage>();
    r1cs::Witness witness_;
  };

  explicit TestCircuit(const Maker& maker) : shape(maker.shape()), witness(maker.witness()) {}
};

}  // namespace cuzk::groth16::cuda::checks
