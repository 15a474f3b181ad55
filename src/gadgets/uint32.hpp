#pragma once

#include "gadgets/multieq.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

/// 32-bit words in a circuit, as SHA-256 needs them. [bellman src/gadgets/uint32.rs]
///
/// Two implementations with the same interface: bit by bit where constraints are recorded, and
/// packed into machine words where only values are wanted, which is what makes a witness cheap.
/// Bits are allocated in the same order by both; bit 0 is the least significant and comes first.
namespace cuzk::gadgets {

/// Result bits of a sum of `operands` words, carries included.
constexpr unsigned sum_bits(std::size_t operands) {
  return static_cast<unsigned>(std::bit_width(std::uint64_t{operands} * 0xffffffff));
}

template <class CS>
class BitwiseUInt32 {
 public:
  using Bits = std::array<Boolean<CS>, 32>;

  BitwiseUInt32() = default;
  explicit BitwiseUInt32(const Bits& bits) : bits_(bits) {}

  static BitwiseUInt32 constant(std::uint32_t value) {
    BitwiseUInt32 out;
    for (unsigned i = 0; i < 32; ++i) out.bits_[i] = Boolean<CS>::constant((value >> i & 1) != 0);
    return out;
  }

  const Boolean<CS>& bit(unsigned i) const { return bits_[i]; }
  BitwiseUInt32 rotr(unsigned by) const {
    BitwiseUInt32 out;
    for (unsigned i = 0; i < 32; ++i) out.bits_[i] = bits_[(i + by) % 32];
    return out;
  }
  BitwiseUInt32 shr(unsigned by) const {
    BitwiseUInt32 out;
    for (unsigned i = 0; i + by < 32; ++i) out.bits_[i] = bits_[i + by];
    return out;
  }
  bool is_constant() const {
    bool all = true;
    for (const Boolean<CS>& bit : bits_) all = all && bit.is_constant();
    return all;
  }
  std::uint32_t value() const {
    std::uint32_t out = 0;
    for (unsigned i = 0; i < 32; ++i) out |= std::uint32_t{bits_[i].value()} << i;
    return out;
  }

  static BitwiseUInt32 bitwise_xor(CS& cs, const BitwiseUInt32& a, const BitwiseUInt32& b) {
    return map(cs, "xor of bit {}",
               [&](unsigned i) { return boolean_xor(cs, a.bits_[i], b.bits_[i]); });
  }
  static BitwiseUInt32 ch(CS& cs, const BitwiseUInt32& a, const BitwiseUInt32& b,
                          const BitwiseUInt32& c) {
    return map(cs, "ch {}",
               [&](unsigned i) { return sha256_ch(cs, a.bits_[i], b.bits_[i], c.bits_[i]); });
  }
  static BitwiseUInt32 maj(CS& cs, const BitwiseUInt32& a, const BitwiseUInt32& b,
                           const BitwiseUInt32& c) {
    return map(cs, "maj {}",
               [&](unsigned i) { return sha256_maj(cs, a.bits_[i], b.bits_[i], c.bits_[i]); });
  }
  /// `sum` is the sum of the operands; read only where there are values or all operands are
  /// constant.
  static BitwiseUInt32 allocate_sum(MultiEq<CS>& multieq, std::span<const BitwiseUInt32> operands,
                                    std::uint64_t sum) {
    const unsigned num_bits = sum_bits(operands.size());
    std::array<AllocatedBit<CS>, 40> result;
    for (unsigned i = 0; i < num_bits; ++i) {
      const auto scope = multieq.cs().scope("result bit {}", i);
      result[i] = alloc_bit(multieq.cs(), [&] { return (sum >> i & 1) != 0; });
    }
    multieq.enforce_equal(
        num_bits,
        [&](auto& lc, unsigned shift) {
          for (const BitwiseUInt32& operand : operands) {
            for (unsigned i = 0; i < 32; ++i)
              operand.bits_[i].add_to(lc, powers_of_two()[shift + i]);
          }
        },
        [&](auto& lc, unsigned shift) {
          for (unsigned i = 0; i < num_bits; ++i)
            lc.add(result[i].variable, powers_of_two()[shift + i]);
        });
    BitwiseUInt32 out;
    for (unsigned i = 0; i < 32; ++i) out.bits_[i] = result[i];
    return out;
  }

 private:
  template <class F>
  static BitwiseUInt32 map(CS& cs, const char* name, F&& f) {
    BitwiseUInt32 out;
    for (unsigned i = 0; i < 32; ++i) {
      const auto scope = cs.scope(name, i);
      out.bits_[i] = f(i);
    }
    return out;
  }

  Bits bits_;
};

/// For systems with values only. A bit is what is allocated (value_), or its negation, or a
/// constant (value_ too).
template <class CS>
class PackedUInt32 {
 public:
  using Bits = std::array<Boolean<CS>, 32>;

  PackedUInt32() = default;
  explicit PackedUInt32(const Bits& bits) {
    for (unsigned i = 0; i < 32; ++i) set_bit(i, bits[i]);
  }

  static PackedUInt32 constant(std::uint32_t value) { return PackedUInt32(value, 0xffffffff, 0); }

  Boolean<CS> bit(unsigned i) const {
    const bool value = (value_ >> i & 1) != 0;
    if ((constant_ >> i & 1) != 0) return Boolean<CS>::constant(value);
    const Boolean<CS> bit = AllocatedBit<CS>{{}, KnownBit<CS>(value)};
    return (negated_ >> i & 1) != 0 ? !bit : bit;
  }
  PackedUInt32 rotr(unsigned by) const {
    const int n = static_cast<int>(by);
    return {std::rotr(value_, n), std::rotr(constant_, n), std::rotr(negated_, n)};
  }
  PackedUInt32 shr(unsigned by) const {
    return {value_ >> by, constant_ >> by | ~(0xffffffffu >> by), negated_ >> by};
  }
  bool is_constant() const { return constant_ == 0xffffffff; }
  std::uint32_t value() const { return value_ ^ negated_; }

  static PackedUInt32 bitwise_xor(CS& cs, const PackedUInt32& a, const PackedUInt32& b) {
    if (((a.constant_ | b.constant_) == 0)) {
      const std::uint32_t value = a.value_ ^ b.value_;
      cs.alloc_bits(value, 32);
      return {value, 0, a.negated_ ^ b.negated_};
    }
    return map([&](unsigned i) { return boolean_xor(cs, a.bit(i), b.bit(i)); });
  }
  static PackedUInt32 ch(CS& cs, const PackedUInt32& a, const PackedUInt32& b,
                         const PackedUInt32& c) {
    if (all_plain(a, b, c)) {
      const std::uint32_t value = (a.value_ & b.value_) | (~a.value_ & c.value_);
      cs.alloc_bits(value, 32);
      return {value, 0, 0};
    }
    return map([&](unsigned i) { return sha256_ch(cs, a.bit(i), b.bit(i), c.bit(i)); });
  }
  static PackedUInt32 maj(CS& cs, const PackedUInt32& a, const PackedUInt32& b,
                          const PackedUInt32& c) {
    if (all_plain(a, b, c)) {
      const std::uint32_t bc = b.value_ & c.value_;
      const std::uint32_t value = (a.value_ & (b.value_ | c.value_)) | bc;
      cs.alloc_bits(spread(value) | spread(bc) << 1, 64);  // maj 0, bc 0, maj 1, bc 1, ...
      return {value, 0, 0};
    }
    return map([&](unsigned i) { return sha256_maj(cs, a.bit(i), b.bit(i), c.bit(i)); });
  }
  static PackedUInt32 allocate_sum(MultiEq<CS>& multieq, std::span<const PackedUInt32> operands,
                                   std::uint64_t sum) {
    multieq.cs().alloc_bits(sum, sum_bits(operands.size()));
    return {static_cast<std::uint32_t>(sum), 0, 0};
  }

 private:
  PackedUInt32(std::uint32_t value, std::uint32_t constant, std::uint32_t negated)
      : value_(value), constant_(constant), negated_(negated) {}

  static bool all_plain(const PackedUInt32& a, const PackedUInt32& b, const PackedUInt32& c) {
    return (a.constant_ | b.constant_ | c.constant_ | a.negated_ | b.negated_ | c.negated_) == 0;
  }
  void set_bit(unsigned i, const Boolean<CS>& bit) {
    const bool value = bit.is_constant() ? bit.value() : bit.bit().value();
    value_ |= std::uint32_t{value} << i;
    constant_ |= std::uint32_t{bit.is_constant()} << i;
    negated_ |= std::uint32_t{bit.is_negated()} << i;
  }
  template <class F>
  static PackedUInt32 map(F&& f) {
    PackedUInt32 out;
    for (unsigned i = 0; i < 32; ++i) out.set_bit(i, f(i));
    return out;
  }
  // Bit i to bit 2i.
  static std::uint64_t spread(std::uint32_t word) {
    std::uint64_t x = word;
    x = (x | x << 16) & 0x0000ffff0000ffff;
    x = (x | x << 8) & 0x00ff00ff00ff00ff;
    x = (x | x << 4) & 0x0f0f0f0f0f0f0f0f;
    x = (x | x << 2) & 0x3333333333333333;
    return (x | x << 1) & 0x5555555555555555;
  }

  std::uint32_t value_ = 0, constant_ = 0, negated_ = 0;
};

template <class CS>
using UInt32 = std::conditional_t<CS::kHasConstraints, BitwiseUInt32<CS>, PackedUInt32<CS>>;

/// 32 bits, the most significant first.
template <class CS>
UInt32<CS> uint32_from_bits_be(std::span<const Boolean<CS>> bits) {
  typename UInt32<CS>::Bits le;
  for (unsigned i = 0; i < 32; ++i) le[i] = bits[31 - i];
  return UInt32<CS>(le);
}

template <class CS, class Word>
void append_bits_be(const Word& word, std::vector<Boolean<CS>>& out) {
  for (unsigned i = 32; i-- > 0;) out.push_back(word.bit(i));
}

/// Sum modulo 2^32. Constant operands give a constant; otherwise the sum's bits are allocated,
/// carries included, and the equality goes to `multieq`.
template <class CS>
UInt32<CS> add_many(MultiEq<CS>& multieq, std::span<const UInt32<CS>> operands) {
  bool all_constant = true;
  for (const auto& operand : operands) all_constant = all_constant && operand.is_constant();
  std::uint64_t sum = 0;
  if (CS::kHasValues || all_constant) {
    for (const auto& operand : operands) sum += operand.value();
  }
  if (all_constant) return UInt32<CS>::constant(static_cast<std::uint32_t>(sum));
  return UInt32<CS>::allocate_sum(multieq, operands, sum);
}

/// 64 allocated bits of a number, lowest first.
template <class CS, class F>
std::vector<Boolean<CS>> alloc_uint64(CS& cs, F&& value) {
  std::uint64_t bits = 0;
  if constexpr (CS::kHasValues) bits = value();
  std::vector<Boolean<CS>> out;
  for (unsigned i = 0; i < 64; ++i) {
    const auto scope = cs.scope("allocated bit {}", i);
    out.push_back(alloc_bit(cs, [&] { return (bits >> i & 1) != 0; }));
  }
  return out;
}

}  // namespace cuzk::gadgets
