#include "base/large_array.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

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

TEST(LargeAllocator, VectorsOfAnySizeGrowCopyAndMove) {
  using Numbers = std::vector<std::uint64_t, LargeAllocator<std::uint64_t>>;
  for (const std::size_t size :
       {std::size_t{3}, std::size_t{1} << 17, (std::size_t{1} << 18) + 5}) {
    Numbers numbers;
    for (std::size_t i = 0; i < 2; ++i) numbers.push_back(i);
    numbers.resize(size);
    EXPECT_EQ(numbers[1], 1U);
    for (std::size_t i = 0; i < size; ++i) numbers[i] = i;
    numbers.push_back(size);
    const Numbers copy = numbers;
    const Numbers moved = std::move(numbers);
    EXPECT_EQ(copy, moved);
    EXPECT_EQ(moved.size(), size + 1);
    EXPECT_EQ(moved.back(), size);
  }
}

}  // namespace
}  // namespace cuzk::base
