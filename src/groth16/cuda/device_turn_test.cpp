#include "groth16/cuda/device_turn.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <thread>
#include <vector>

namespace cuzk::groth16::cuda {
namespace {

TEST(DeviceTurnTest, OneAtATimeInTheOrderOfAsking) {
  DeviceTurn turn;
  std::optional<DeviceTurn::Holder> first(turn.take());
  std::vector<int> order;  // guarded by the turn
  std::vector<std::jthread> others;
  for (const int number : {1, 2, 3}) {
    others.emplace_back([&turn, &order, number] {
      const DeviceTurn::Holder mine = turn.take();
      order.push_back(number);
    });
    while (turn.waiting() != static_cast<std::uint64_t>(number) + 1) std::this_thread::yield();
  }
  EXPECT_TRUE(order.empty());
  first.reset();
  others.clear();
  EXPECT_EQ(turn.waiting(), 0U);
  EXPECT_THAT(order, ::testing::ElementsAre(1, 2, 3));
}

TEST(DeviceTurnTest, AMovedTurnIsGivenBackOnce) {
  DeviceTurn turn;
  DeviceTurn::Holder held = turn.take();
  DeviceTurn::Holder other = std::move(held);
  held.end();
  other.end();
  other.end();
  turn.take();  // would wait for ever otherwise
  turn.take();
}

}  // namespace
}  // namespace cuzk::groth16::cuda
