#pragma once

#include "r1cs/shape.hpp"
#include "r1cs/symbolic_system.hpp"

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace cuzk::r1cs {

/// Records a circuit's constraints as a Shape. Of a repeat it runs the first copy and the second,
/// checks that they agree after shifting (a circuit whose copies differ is a bug: throws
/// std::logic_error with the row), and skips the others. A repeat within a repeat is run in line.
class ShapeBuilder final : public SymbolicSystem {
 public:
  ShapeBuilder();
  ~ShapeBuilder() override;

  /// The shape of everything recorded. The builder is spent afterwards.
  Shape finish();

 private:
  struct Storage;
  struct OpenBlock;
  enum class Mode { kStraight, kFirstCopy, kSecondCopy };

  void on_constraint(const LinearCombination& a, const LinearCombination& b,
                     const LinearCombination& c) override;
  void on_aux(std::uint32_t index, bool is_bit) override;
  void on_repeat(std::size_t n, const PortsFunction& ports, const CopyFunction& copy) override;

  void open_block();
  void close_block(std::uint32_t copies);
  void set_ports(const std::vector<Variable>& ports);
  Column column_of(Variable variable) const;
  std::uint16_t palette_index(const curve::Fr& coefficient);
  void compare_row(unsigned matrix, const LinearCombination& lc);
  void encode_row(const LinearCombination& lc);

  struct FrHash {
    std::size_t operator()(const curve::Fr& value) const {
      return static_cast<std::size_t>(value.limbs()[0] ^ value.limbs()[3] * 0x9e3779b97f4a7c15);
    }
  };

  Mode mode_ = Mode::kStraight;
  std::unique_ptr<Storage> storage_;
  std::unique_ptr<OpenBlock> open_;
  std::vector<curve::Fr> palette_;
  std::unordered_map<curve::Fr, std::uint16_t, FrHash> palette_indices_;
  std::unordered_map<std::uint32_t, std::uint32_t>
      port_numbers_;  // variable key -> number, of the running copy
  std::uint32_t copy_first_input_ = 0, copy_first_aux_ = 0;  // of the running copy
  std::uint32_t second_copy_aux_ = 0;
  std::array<std::uint32_t, 3> cursor_{};  // next stored term to compare, by matrix
  std::uint32_t compared_rows_ = 0;
  std::vector<std::pair<std::uint32_t, std::uint16_t>> row_;  // scratch: column word, palette index
  std::uint32_t num_fields_ = 0;
};

}  // namespace cuzk::r1cs
