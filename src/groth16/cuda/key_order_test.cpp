#include "groth16/cuda/key_order.hpp"

#include "groth16/testing.hpp"

#include <gtest/gtest.h>

#include <random>

namespace cuzk::groth16::cuda {
namespace {

struct Expected {
  bool is_aux, is_bit;
  std::uint32_t index;
};

bool bit(std::span<const std::uint64_t> words, std::size_t i) {
  return (words[i / 64] >> i % 64 & 1) != 0;
}

// The order read off the masks one variable at a time.
std::vector<Expected> points_of(const QueryLayout& layout) {
  std::vector<Expected> out;
  for (const std::uint32_t input : layout.inputs) out.push_back({false, false, input});
  for (std::size_t j = 0; j < 64 * layout.aux_mask.size(); ++j) {
    if (bit(layout.aux_mask, j))
      out.push_back({true, bit(layout.bit_mask, j), static_cast<std::uint32_t>(j)});
  }
  return out;
}

void expect_order(const QueryLayout& layout) {
  const KeyOrder order(layout);
  const std::vector<Expected> points = points_of(layout);
  ASSERT_EQ(order.size(), points.size());
  std::size_t bits = 0;
  for (std::size_t p = 0; p < points.size(); ++p) {
    EXPECT_EQ(order.bits_before(p), bits) << p;
    EXPECT_EQ((order.kinds()[p / 32] >> p % 32 & 1) != 0, points[p].is_bit) << p;
    if (p % 32 == 0) {
      EXPECT_EQ(order.bits_before_word()[p / 32], bits) << p;
    }
    bits += points[p].is_bit;
  }
  EXPECT_EQ(order.bits_before(points.size()), bits);
  EXPECT_EQ(order.bit_count(), bits);
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, std::size_t{64}, points.size()}) {
    for (std::size_t first = 0; first < points.size(); first += std::max<std::size_t>(step, 1)) {
      std::size_t next = first;
      const std::size_t last = std::min(first + step, points.size());
      order.for_each(first, last, [&](std::size_t point, bool is_aux, std::uint32_t index) {
        EXPECT_EQ(point, next++);
        EXPECT_EQ(is_aux, points[point].is_aux);
        EXPECT_EQ(index, points[point].index);
      });
      EXPECT_EQ(next, last);
    }
  }
}

TEST(KeyOrder, FollowsRandomMasks) {
  std::mt19937_64 random(5);
  for (const std::size_t inputs : {0, 1, 31, 40}) {
    QueryLayout layout;
    for (std::size_t i = 0; i < inputs; ++i)
      layout.inputs.push_back(static_cast<std::uint32_t>(3 * i));
    for (int word = 0; word < 12; ++word) {
      std::uint64_t mask = random();
      if (word % 4 == 1) mask = 0;
      if (word % 4 == 2) mask = ~std::uint64_t{0};
      layout.aux_mask.push_back(mask);
      layout.bit_mask.push_back(mask & random());
      layout.bit_count += static_cast<std::size_t>(std::popcount(layout.bit_mask.back()));
      const auto others = static_cast<std::size_t>(std::popcount(mask & ~layout.bit_mask.back()));
      layout.fields.resize(layout.fields.size() + others);
    }
    expect_order(layout);
  }
}

TEST(KeyOrder, FollowsTheQueriesOfACircuit) {
  const testing::ToyCircuit toy(7);
  for (const QuotientForm form : {QuotientForm::kTextbook, QuotientForm::kDerivative}) {
    const KeyLayout layout(toy.shape, form);
    expect_order(layout.l);
    expect_order(layout.a);
    expect_order(layout.b);
  }
}

TEST(KeyOrder, EmptyQuery) { expect_order(QueryLayout{}); }

}  // namespace
}  // namespace cuzk::groth16::cuda
