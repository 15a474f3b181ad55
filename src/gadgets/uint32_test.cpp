#include "gadgets/uint32.hpp"

#include "gadgets/sha256.hpp"
#include "hash/sha256.hpp"
#include "r1cs/checked_system.hpp"
#include "r1cs/shape_builder.hpp"
#include "r1cs/witness_builder.hpp"

#include <gtest/gtest.h>

#include <random>

namespace cuzk::gadgets {
namespace {

// A bit as a test wants it: a constant, or an allocated bit, negated or not.
struct BitSpec {
  bool constant, negated, value;
};
using WordSpec = std::array<BitSpec, 32>;

// How much of a word is constant or negated: words of SHA-256's first block are mixed, later ones
// plain.
enum class Mix { kPlain, kNegated, kConstant, kAll };

WordSpec random_word(std::mt19937& random, Mix mix) {
  WordSpec word;
  for (BitSpec& bit : word) {
    const auto draw = random();
    bit.value = (draw & 1) != 0;
    bit.constant = mix == Mix::kConstant || (mix == Mix::kAll && (draw & 6) == 0);
    bit.negated = (mix == Mix::kNegated || mix == Mix::kAll) && (draw & 8) != 0;
  }
  return word;
}

template <class CS>
UInt32<CS> make_word(CS& cs, const WordSpec& spec) {
  typename UInt32<CS>::Bits bits;
  for (unsigned i = 0; i < 32; ++i) {
    if (spec[i].constant) {
      bits[i] = Boolean<CS>::constant(spec[i].value);
    } else {
      const Boolean<CS> bit = alloc_bit(cs, [&] { return spec[i].value; });
      bits[i] = spec[i].negated ? !bit : bit;
    }
  }
  return UInt32<CS>(bits);
}

struct WordResults {
  std::uint32_t difference = 0, choice = 0, majority = 0, shifted = 0, sum = 0;
  friend bool operator==(const WordResults&, const WordResults&) = default;
};

template <class CS>
WordResults run_words(CS& cs, const std::array<WordSpec, 3>& specs) {
  using Word = UInt32<CS>;
  const Word a = make_word(cs, specs[0]), b = make_word(cs, specs[1]), c = make_word(cs, specs[2]);
  const Word difference = Word::bitwise_xor(cs, a.rotr(11), b);
  const Word choice = Word::ch(cs, a, b, c);
  const Word majority = Word::maj(cs, a, b, c);
  const Word shifted = Word::bitwise_xor(cs, c.shr(3), difference);
  MultiEq<CS> multieq(cs);
  const Word sum =
      add_many<CS>(multieq, std::array{a, choice, majority, Word::constant(0xdeadbeef), shifted});
  multieq.finish();
  if constexpr (CS::kHasValues)
    return {difference.value(), choice.value(), majority.value(), shifted.value(), sum.value()};
  return {};
}

std::uint32_t word_value(const WordSpec& spec) {
  std::uint32_t value = 0;
  for (unsigned i = 0; i < 32; ++i)
    value |= std::uint32_t{spec[i].value != (!spec[i].constant && spec[i].negated)} << i;
  return value;
}

class UInt32Words : public ::testing::TestWithParam<std::array<Mix, 3>> {};

TEST_P(UInt32Words, PackedAndBitwiseAgreeWithMachineWords) {
  std::mt19937 random(99);
  for (int round = 0; round < 50; ++round) {
    std::array<WordSpec, 3> specs;
    for (unsigned i = 0; i < 3; ++i) specs[i] = random_word(random, GetParam()[i]);
    r1cs::ShapeBuilder builder;
    run_words<r1cs::SymbolicSystem>(builder, specs);
    const r1cs::Shape shape = builder.finish();
    r1cs::CheckedSystem checked;
    const WordResults bitwise = run_words(checked, specs);
    EXPECT_EQ(checked.first_unsatisfied(), std::nullopt);
    r1cs::WitnessBuilder witness_builder(shape);
    const WordResults packed = run_words(witness_builder, specs);
    const r1cs::Witness witness = witness_builder.finish();
    ASSERT_EQ(r1cs::expand_aux(shape, witness), checked.aux());

    const std::uint32_t a = word_value(specs[0]), b = word_value(specs[1]),
                        c = word_value(specs[2]);
    WordResults expected;
    expected.difference = std::rotr(a, 11) ^ b;
    expected.choice = (a & b) | (~a & c);
    expected.majority = (a & b) | (a & c) | (b & c);
    expected.shifted = c >> 3 ^ expected.difference;
    expected.sum = a + expected.choice + expected.majority + 0xdeadbeef + expected.shifted;
    ASSERT_EQ(bitwise, expected);
    ASSERT_EQ(packed, expected);
  }
}

std::vector<std::array<Mix, 3>> all_mixes() {
  const std::array mixes = {Mix::kPlain, Mix::kNegated, Mix::kConstant, Mix::kAll};
  std::vector<std::array<Mix, 3>> out;
  for (const Mix a : mixes) {
    for (const Mix b : mixes) {
      for (const Mix c : mixes) out.push_back({a, b, c});
    }
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(Mixes, UInt32Words, ::testing::ValuesIn(all_mixes()));

template <class CS>
base::Bytes run_sha256(CS& cs, const base::Bytes& message) {
  std::vector<Boolean<CS>> bits;
  for (std::size_t i = 0; i < 8 * message.size(); ++i) {
    bits.push_back(alloc_bit(cs, [&] { return (message[i / 8] >> (7 - i % 8) & 1) != 0; }));
  }
  const auto digest = sha256(cs, bits);
  base::Bytes out(32);
  if constexpr (CS::kHasValues) {
    for (std::size_t i = 0; i < 256; ++i)
      out[i / 8] = static_cast<std::uint8_t>(out[i / 8] | digest[i].value() << (7 - i % 8));
  }
  return out;
}

// Lengths around the padding's and the blocks' ends.
class Sha256OfLength : public ::testing::TestWithParam<std::size_t> {};

TEST_P(Sha256OfLength, IsSha256) {
  base::Bytes message(GetParam());
  for (std::size_t i = 0; i < message.size(); ++i)
    message[i] = static_cast<std::uint8_t>(37 * i + 1);
  const base::Bytes32 expected = hash::sha256(message);
  r1cs::ShapeBuilder builder;
  run_sha256<r1cs::SymbolicSystem>(builder, message);
  const r1cs::Shape shape = builder.finish();
  r1cs::CheckedSystem checked;
  EXPECT_EQ(base::to_hex(run_sha256(checked, message)), base::to_hex(expected));
  EXPECT_EQ(checked.first_unsatisfied(), std::nullopt);
  EXPECT_EQ(checked.num_constraints(), shape.num_constraints());
  r1cs::WitnessBuilder witness_builder(shape);
  EXPECT_EQ(base::to_hex(run_sha256(witness_builder, message)), base::to_hex(expected));
  EXPECT_EQ(r1cs::expand_aux(shape, witness_builder.finish()), checked.aux());
}

INSTANTIATE_TEST_SUITE_P(Lengths, Sha256OfLength,
                         ::testing::Values(0, 1, 31, 55, 56, 63, 64, 65, 119, 120, 128));

TEST(Sha256, ConstantsAreTheStandards) {
  // FIPS 180-4, sections 4.2.2 and 5.3.3, a few of each.
  EXPECT_EQ(sha256_round_constants()[1], 0x71374491u);
  EXPECT_EQ(sha256_round_constants()[31], 0x14292967u);
  EXPECT_EQ(sha256_initial_state()[3], 0xa54ff53au);
}

TEST(MultiEq, FlushesBeforeTheFieldOverflows) {
  r1cs::CheckedSystem cs({.record = true});
  MultiEq<r1cs::CheckedSystem> multieq(cs);
  const auto nothing = [](auto&, unsigned) {};
  multieq.enforce_equal(100, nothing, nothing);
  multieq.enforce_equal(100, nothing, nothing);
  EXPECT_EQ(cs.num_constraints(), 0u);
  multieq.enforce_equal(54, nothing, nothing);  // 254 bits are one too many
  EXPECT_EQ(cs.num_constraints(), 1u);
  multieq.finish();
  EXPECT_EQ(cs.num_constraints(), 2u);
  multieq.finish();
  EXPECT_EQ(cs.num_constraints(), 2u);
}

}  // namespace
}  // namespace cuzk::gadgets
