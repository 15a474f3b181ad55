#include "base/large_array.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>

namespace cuzk::base {
namespace {

TEST(LargeArray, StartsAsZerosAndMoves) {
  LargeArray<std::uint64_t> array((std::size_t{1} << 19) + 3);
  EXPECT_TRUE(std::ranges::all_of(array, [](std::uint64_t x) { return x == 0; }));
  array[0] = 1;
  array[array.size() - 1] = 2;
  const std::uint64_t* data = array.data();
  LargeArray<std::uint64_t> moved = std::move(array);
  EXPECT_EQ(moved.data(), data);
  EXPECT_EQ(moved[moved.size() - 1], 2U);
  const std::span<const std::uint64_t> view = moved;
  EXPECT_EQ(view.front(), 1U);
  moved = LargeArray<std::uint64_t>();
  EXPECT_EQ(moved.size(), 0U);
  EXPECT_EQ(moved.begin(), moved.end());
}

TEST(LargeArray, SaysWhenMemoryIsNotToBeHad) {
  EXPECT_THROW(LargeArray<std::uint8_t>(std::size_t{1} << 60), ResourceExhausted);
}

}  // namespace
}  // namespace cuzk::base
