#pragma once

#include <compare>
#include <cstdint>

namespace cuzk::r1cs {

/// A variable of a constraint system: a public input or an auxiliary (private) one, numbered in the
/// order of allocation. Input 0 is the constant ONE. The key of input i is i, that of aux j is 2^31
/// + j; ascending keys are the canonical order of the terms of a linear combination.
class Variable {
 public:
  static constexpr std::uint32_t kAuxBit = std::uint32_t{1} << 31;

  constexpr Variable() = default;
  static constexpr Variable one() { return Variable(0); }
  static constexpr Variable input(std::uint32_t index) { return Variable(index); }
  static constexpr Variable aux(std::uint32_t index) { return Variable(kAuxBit | index); }
  static constexpr Variable from_key(std::uint32_t key) { return Variable(key); }

  constexpr std::uint32_t key() const { return key_; }
  constexpr bool is_aux() const { return (key_ & kAuxBit) != 0; }
  constexpr std::uint32_t index() const { return key_ & ~kAuxBit; }

  friend constexpr auto operator<=>(Variable, Variable) = default;

 private:
  constexpr explicit Variable(std::uint32_t key) : key_(key) {}
  std::uint32_t key_ = 0;
};

}  // namespace cuzk::r1cs
