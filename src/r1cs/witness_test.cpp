#include "r1cs/witness.hpp"

#include "r1cs/checked_system.hpp"
#include "r1cs/shape_builder.hpp"
#include "r1cs/toy_circuit.hpp"
#include "r1cs/witness_builder.hpp"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

namespace cuzk::r1cs {
namespace {

using curve::Fr;

Shape shape_of_copies(std::size_t copies, unsigned bits) {
  ShapeBuilder builder;
  toy::circuit<SymbolicSystem>(builder, copies, bits);
  return builder.finish();
}

// Bits per copy around the word size, so that copies begin and end anywhere in a word.
class WitnessOfCopies : public ::testing::TestWithParam<std::tuple<std::size_t, unsigned>> {};

TEST_P(WitnessOfCopies, EqualsTheCheckedSystemsValues) {
  const auto [copies, bits] = GetParam();
  const Shape shape = shape_of_copies(copies, bits);
  WitnessBuilder builder(shape);
  toy::circuit(builder, copies, bits);
  const Witness witness = builder.finish();
  CheckedSystem checked;
  toy::circuit(checked, copies, bits);
  EXPECT_EQ(witness.inputs, checked.inputs());
  EXPECT_EQ(expand_aux(shape, witness), checked.aux());
  ASSERT_EQ(witness.fields.size(), shape.num_fields());
  for (std::uint32_t i = 0; i < shape.num_aux(); ++i) {
    EXPECT_TRUE(checked.aux_is_bit()[i] || !witness.bit(i)) << "a field element's bit must be zero";
  }
}

INSTANTIATE_TEST_SUITE_P(Copies, WitnessOfCopies,
                         ::testing::Combine(::testing::Values(0, 1, 2, 3, 64, 1000),
                                            ::testing::Values(0, 1, 5, 61, 62, 63, 64, 65, 130)));

TEST(WitnessBuilder, AllocBitsIsManyAllocBits) {
  std::mt19937_64 random(17);
  std::vector<std::pair<std::uint64_t, unsigned>> runs;
  std::uint32_t total = 0;
  for (int i = 0; i < 500; ++i) {
    const unsigned count = static_cast<unsigned>(random() % 65);
    const std::uint64_t bits = count == 0 ? 0 : random() >> (64 - count);
    runs.emplace_back(bits, count);
    total += count;
  }
  ShapeBuilder shape_builder;
  for (std::uint32_t i = 0; i < total; ++i) shape_builder.alloc_bit({});
  const Shape shape = shape_builder.finish();
  WitnessBuilder packed(shape), single(shape);
  for (const auto& [bits, count] : runs) {
    packed.alloc_bits(bits, count);
    for (unsigned i = 0; i < count; ++i) single.alloc_bit(Known<bool, true>((bits >> i & 1) != 0));
  }
  EXPECT_EQ(packed.finish().bits, single.finish().bits);
}

TEST(WitnessBuilder, RefusesACircuitThatIsNotTheShape) {
  const Shape shape = shape_of_copies(3, 5);
  for (const std::size_t copies : {2, 4}) {
    WitnessBuilder builder(shape);
    EXPECT_THROW(toy::circuit(builder, copies, 5), std::logic_error) << copies;
  }
  for (const unsigned bits : {4u, 6u}) {
    WitnessBuilder builder(shape);
    EXPECT_THROW(toy::circuit(builder, 3, bits), std::logic_error) << bits;
  }
  WitnessBuilder unfinished(shape);
  EXPECT_THROW(unfinished.finish(), std::logic_error);
}

}  // namespace
}  // namespace cuzk::r1cs
