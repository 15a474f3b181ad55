#include "r1cs/implied_fields.hpp"

#include "base/error.hpp"
#include "r1cs/evaluate.hpp"
#include "r1cs/shape_builder.hpp"
#include "r1cs/witness_builder.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace cuzk::r1cs {
namespace {

using curve::Fr;

template <class CS, class F>
VariableOf<CS> field(CS& cs, Fr& value, F&& compute) {
  if constexpr (requires { cs.leave_out(1); }) {
    if (cs.leave_out(1)) return {};
  }
  value = compute();
  return cs.alloc_aux(known<CS>([&] { return value; }));
}

/// Repeated: an input and a bit b; given are x, which the input is made from, y and z; implied are
/// p = x·y, q with (y - z)·b = z - q, s = p·q + 5 and, in a chain of its own, t = z²; 2u = t is not
/// solved for.
template <class CS>
void copy_body(CS& cs, std::size_t i) {
  Fr x, y, z, p, q, s, t, u;
  const bool b = i % 2 == 0;
  const auto vx = field(cs, x, [&] { return Fr::from_u64(3 + i); });
  const auto input = cs.alloc_input(known<CS>([&] { return x; }));
  cs.enforce(
      "input", [&](auto& lc) { lc.add(input); }, [](auto& lc) { lc.add(Variable::one()); },
      [&](auto& lc) { lc.add(vx); });
  const auto vb = cs.alloc_bit(known<CS>([&] { return b; }));
  const auto vy = field(cs, y, [&] { return Fr::from_u64(100 + i); });
  const auto vz = field(cs, z, [&] { return -Fr::from_u64(7 + i); });
  const auto vp = field(cs, p, [&] { return x * y; });
  cs.enforce(
      "p", [&](auto& lc) { lc.add(vx); }, [&](auto& lc) { lc.add(vy); },
      [&](auto& lc) { lc.add(vp); });
  const auto vq = field(cs, q, [&] { return b ? y : z; });
  cs.enforce(
      "q", [&](auto& lc) { lc.add(vz).sub(vy); }, [&](auto& lc) { lc.add(vb); },
      [&](auto& lc) { lc.add(vz).sub(vq); });
  const auto vs = field(cs, s, [&] { return p * q + Fr::from_u64(5); });
  cs.enforce(
      "s", [&](auto& lc) { lc.add(vp); }, [&](auto& lc) { lc.add(vq); },
      [&](auto& lc) { lc.add(vs).sub(Variable::one(), Fr::from_u64(5)); });
  const auto vt = field(cs, t, [&] { return z.square(); });
  cs.enforce(
      "t", [&](auto& lc) { lc.add(vz); }, [&](auto& lc) { lc.add(vz); },
      [&](auto& lc) { lc.add(vt); });
  const auto vu =
      field(cs, u, [&] { return (-Fr::from_u64(7 + i)).square() * Fr::from_u64(2).inverse(); });
  cs.enforce(
      "u", [&](auto& lc) { lc.add(vt); }, [](auto& lc) { lc.add(Variable::one()); },
      [&](auto& lc) { lc.add(vu, Fr::from_u64(2)); });
}

template <class CS>
void circuit(CS& cs, std::size_t copies) {
  Fr before, after;
  field(cs, before, [] { return Fr::from_u64(11); });
  cs.repeat(copies, [](CS& copy, std::size_t i) { copy_body(copy, i); });
  field(cs, after, [] { return Fr::from_u64(12); });
}

Shape shape_of(std::size_t copies) {
  ShapeBuilder builder;
  circuit<SymbolicSystem>(builder, copies);
  return builder.finish();
}
Witness witness_of(const Shape& shape, std::size_t copies, const ImpliedFields* left_out) {
  WitnessBuilder builder(shape, left_out);
  circuit(builder, copies);
  return builder.finish();
}
void expect_equal(const Witness& a, const Witness& b) {
  EXPECT_EQ(a.inputs, b.inputs);
  EXPECT_EQ(a.bits, b.bits);
  EXPECT_TRUE(std::ranges::equal(a.fields, b.fields));
}

TEST(ImpliedFields, FindsWhatConstraintsImply) {
  const Shape shape = shape_of(3);
  const ImpliedFields implied(shape);
  EXPECT_EQ(implied.num_fields(), shape.num_fields());
  EXPECT_EQ(implied.num_given(), 2 + 3 * 4U);
  ASSERT_EQ(implied.blocks().size(), shape.blocks().size());
  std::size_t repeated = 0;
  for (std::size_t b = 0; b < implied.blocks().size(); ++b) {
    const ImpliedFields::Block& block = implied.blocks()[b];
    if (shape.blocks()[b].copies == 1) {
      EXPECT_TRUE(block.steps.empty());
      EXPECT_EQ(block.given, shape.blocks()[b].fields);
      continue;
    }
    ++repeated;
    // In the order of allocation: x, y, z, p, q, s, t, u.
    EXPECT_EQ(block.given_fields(8), (std::vector<std::uint32_t>{0, 1, 2, 7}));
    EXPECT_EQ(block.count_implied(0, 8), 4U);
    EXPECT_EQ(block.count_implied(3, 2), 2U);
    ASSERT_EQ(block.steps.size(), 4U);
    EXPECT_EQ(block.chains, (std::vector<std::uint32_t>{0, 3, 4}));
    EXPECT_EQ(block.steps[1].field, 4U);
    EXPECT_TRUE(block.steps[1].negative);
    EXPECT_EQ(block.steps[3].field, 6U);
  }
  EXPECT_EQ(repeated, 1U);
}

TEST(ImpliedFields, CompletesWhatWasLeftOut) {
  for (const std::size_t copies : {0, 1, 2, 3, 64, 65, 1000}) {
    SCOPED_TRACE(copies);
    const Shape shape = shape_of(copies);
    const ImpliedFields implied(shape);
    const Witness whole = witness_of(shape, copies, nullptr);
    const Witness given = witness_of(shape, copies, &implied);
    EXPECT_EQ(given.fields.size(), implied.num_given());
    EXPECT_EQ(is_incomplete(shape, given), copies >= 2);
    EXPECT_FALSE(is_incomplete(shape, whole));
    expect_equal(complete(shape, implied, given), whole);
    expect_equal(leave_out_implied(shape, implied, whole), given);
  }
}

// What is used before a constraint implies it is given, and so is what two constraints share.
TEST(ImpliedFields, WhatIsUsedBeforeIsGiven) {
  ShapeBuilder builder;
  SymbolicSystem& system = builder;
  system.repeat(2, [](SymbolicSystem& cs, std::size_t) {
    const auto x = cs.alloc_aux({}), y = cs.alloc_aux({}), sum = cs.alloc_aux({});
    const auto one = [](auto& lc) { lc.add(Variable::one()); };
    cs.enforce(
        "sum of two", [&](auto& lc) { lc.add(x); }, one, [&](auto& lc) { lc.add(y).add(sum); });
    cs.enforce(
        "too late", [&](auto& lc) { lc.add(x); }, one, [&](auto& lc) { lc.add(y); });
  });
  const Shape shape = builder.finish();
  EXPECT_EQ(ImpliedFields(shape).num_given(), shape.num_fields());
}

// The variables of other blocks are not looked at, so what depends on them is given.
TEST(ImpliedFields, OnlyTheCopysOwn) {
  ShapeBuilder builder;
  SymbolicSystem& system = builder;
  const auto shared = system.alloc_aux({});
  system.repeat(2, [&](SymbolicSystem& cs, std::size_t) {
    const auto x = cs.alloc_aux({});
    cs.enforce(
        "x", [&](auto& lc) { lc.add(shared); }, [](auto& lc) { lc.add(Variable::one()); },
        [&](auto& lc) { lc.add(x); });
  });
  const Shape shape = builder.finish();
  EXPECT_EQ(ImpliedFields(shape).num_given(), shape.num_fields());
}

TEST(ImpliedFields, RefusesOtherWitnesses) {
  const Shape shape = shape_of(3), other = shape_of(4);
  const ImpliedFields implied(shape);
  const Witness whole = witness_of(shape, 3, nullptr);
  EXPECT_THROW(complete(shape, implied, whole), base::InvalidInput);
  EXPECT_THROW(leave_out_implied(shape, implied, witness_of(other, 4, nullptr)),
               base::InvalidInput);
}

TEST(ImpliedFields, ARunThatIsPartlyLeftOutIsAMistake) {
  const Shape shape = shape_of(2);
  const ImpliedFields implied(shape);
  WitnessBuilder builder(shape, &implied);
  builder.alloc_aux(Known<Fr, true>(Fr::one()));
  EXPECT_THROW(builder.repeat(2,
                              [](WitnessBuilder& copy, std::size_t) {
                                copy.alloc_input(Known<Fr, true>(Fr::one()));
                                copy.alloc_bit(Known<bool, true>(true));
                                EXPECT_FALSE(copy.leave_out(3));
                                copy.leave_out(5);  // x, y, z, p, q
                              }),
               std::logic_error);
}

}  // namespace
}  // namespace cuzk::r1cs
