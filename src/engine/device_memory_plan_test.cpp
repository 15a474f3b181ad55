#include "engine/device_memory_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>

namespace cuzk::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Gibibytes, as they are for 32 GiB sectors.
constexpr CircuitMemory kWinning{.least = 1, .streamed = 1, .lanes = 1, .tables = 1, .stays = true};
constexpr CircuitMemory kPorep{.least = 63, .streamed = 19, .lanes = 18, .tables = 60};
constexpr CircuitMemory kSnap{.least = 52, .streamed = 19, .lanes = 18, .tables = 49};
constexpr CircuitMemory kWindow{.least = 97, .streamed = 37, .lanes = 36, .tables = 73};

CircuitMemory staying(CircuitMemory circuit) {
  circuit.stays = true;
  return circuit;
}

std::vector<std::uint64_t> share(std::uint64_t total, const std::vector<CircuitMemory>& circuits) {
  return share_device_memory(total, circuits);
}

TEST(DeviceMemoryPlan, OneCircuitAloneHasAllThatItCanUse) {
  EXPECT_THAT(share(138, {kPorep}), ElementsAre(138));
  EXPECT_THAT(share(200, {kPorep}), ElementsAre(141));
  EXPECT_THAT(share(138, {}), IsEmpty());
}

TEST(DeviceMemoryPlan, PorepAndUpdateStayTogether) {
  // Of the 22 that are left, one more lane each as far as there is room; then tables.
  EXPECT_THAT(share(138, {kWinning, kPorep, kSnap}), ElementsAre(2 + 1, 63 + 18 + 2, 52));
  EXPECT_THAT(share(160, {kWinning, kPorep, kSnap}), ElementsAre(3, 63 + 18 + 6, 52 + 18));
  EXPECT_THAT(share(300, {kWinning, kPorep, kSnap}), ElementsAre(3, 141, 119));
}

TEST(DeviceMemoryPlan, WhoDoesNotFitBesideThemTakesTheirPlaceForAWhile) {
  const auto shares = share(138, {kWinning, kPorep, kSnap, kWindow});
  EXPECT_THAT(shares, ElementsAre(3, 83, 52, 97));
  // The more important stays where only one of two fits; a smaller one after it may still fit.
  EXPECT_THAT(share(100, {kWinning, kPorep, kSnap, kWinning}), ElementsAre(3, 63 + 18 + 14, 52, 2));
}

TEST(DeviceMemoryPlan, AKeyThatFitsNowhereIsStreamedBesideThoseThatStay) {
  EXPECT_THAT(share(23, {kWinning, kPorep, kSnap}), ElementsAre(3, 20, 20));
  // With less they could not work: they do not fit, and whoever asks for one is told so.
  EXPECT_THAT(share(0, {kWinning, kPorep}), ElementsAre(1, 19));
  EXPECT_THAT(share(18, {kWinning, kPorep}), ElementsAre(1, 19));
}

// However fast those that stay could be with all of it, the others can be proved, too.
TEST(DeviceMemoryPlan, WhatStaysLeavesTheOthersWhatTheyNeed) {
  EXPECT_THAT(share(138, {kWinning, staying(kWindow), kPorep, kSnap}),
              ElementsAre(3, 97 + 19, 19, 19));
  EXPECT_THAT(share(79, {kWinning, staying(kPorep), kSnap}), ElementsAre(1, 63, 19));
  EXPECT_THAT(share(180, {kWinning, staying(kPorep), kWindow}), ElementsAre(2, 63 + 18, 97));
  for (std::uint64_t total = 0; total < 320; ++total) {
    const std::vector<CircuitMemory> circuits = {kWinning, staying(kWindow), kPorep, kSnap};
    const auto shares = share(total, circuits);
    for (std::size_t i = 0; i < circuits.size(); ++i) {
      EXPECT_GE(shares[i], circuits[i].streamed);
      if (total >= 98 + 19) {
        const std::uint64_t stay = shares[0] + shares[1];
        EXPECT_LE(stay + (i < 2 ? 0 : shares[i]), total) << i << " of " << total;
      }
    }
  }
}

TEST(DeviceMemoryPlan, SharesOfThoseTogetherNeverExceedTheWhole) {
  for (std::uint64_t total = 0; total < 320; ++total) {
    const std::vector<CircuitMemory> circuits = {kWinning, kPorep, kSnap};
    const auto shares = share(total, circuits);
    std::uint64_t together = 0;
    bool all_fit = true;
    for (std::size_t i = 0; i < circuits.size(); ++i) {
      EXPECT_LE(shares[i], std::max(std::min(total, circuits[i].all()), circuits[i].streamed));
      together += shares[i];
      all_fit = all_fit && shares[i] >= circuits[i].least;
    }
    if (total >= 116) {
      EXPECT_TRUE(all_fit) << total;
      EXPECT_LE(together, total);
    }
  }
}

TEST(DeviceMemoryPlan, OrderOfImportance) {
  std::vector<CircuitId> circuits = CircuitId::of_network();
  std::vector<std::string> names;
  const std::vector<CircuitId> first = {CircuitId::parse("wpost-32g"),
                                        CircuitId::parse("snap-64g")};
  for (const CircuitId& circuit : memory_order(circuits, first)) {
    if (circuit.size.bytes() >= std::uint64_t{32} << 30) names.push_back(circuit.to_string());
  }
  EXPECT_THAT(names, ElementsAre("winning-32g", "winning-64g", "wpost-32g", "snap-64g", "porep-32g",
                                 "porep-64g", "snap-32g", "wpost-64g"));
}

}  // namespace
}  // namespace cuzk::engine
