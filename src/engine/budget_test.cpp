#include "engine/budget.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <atomic>
#include <list>
#include <thread>
#include <vector>

namespace cuzk::engine {
namespace {

TEST(Budget, GivesWhatIsFreeAndTakesItBack) {
  Signal changed;
  MemoryBudget budget(100, "config", changed);
  auto a = budget.try_reserve(60, Lane::kNormal);
  ASSERT_TRUE(a);
  EXPECT_FALSE(budget.try_reserve(41, Lane::kNormal));
  auto b = budget.try_reserve(40, Lane::kNormal);
  ASSERT_TRUE(b);
  EXPECT_EQ(budget.status().used, 100U);
  const auto before = changed.generation();
  a->shrink(10);
  EXPECT_GT(changed.generation(), before);
  EXPECT_EQ(budget.available(Lane::kNormal), 50U);
  Reservation moved = std::move(*a);
  a.reset();
  EXPECT_EQ(budget.status().used, 50U);
  moved = Reservation();
  b.reset();
  EXPECT_EQ(budget.status().used, 0U);
  EXPECT_EQ(budget.status().source, "config");
}

TEST(Budget, KeepsTheUrgentShare) {
  Signal changed;
  MemoryBudget budget(100, "config", changed);
  budget.set_urgent_share(30);
  EXPECT_FALSE(budget.can_ever(71, Lane::kNormal));
  EXPECT_TRUE(budget.can_ever(100, Lane::kUrgent));
  auto normal = budget.try_reserve(70, Lane::kNormal);
  ASSERT_TRUE(normal);
  EXPECT_FALSE(budget.try_reserve(1, Lane::kNormal));
  auto urgent = budget.try_reserve(30, Lane::kUrgent);
  ASSERT_TRUE(urgent);
  // What the urgent lane uses of its share is not kept a second time.
  normal->shrink(50);
  EXPECT_EQ(budget.available(Lane::kNormal), 20U);
  urgent->shrink(10);
  EXPECT_EQ(budget.available(Lane::kNormal), 20U);
  budget.set_urgent_share(1000);
  EXPECT_TRUE(budget.can_ever(50, Lane::kNormal)) << "at most half is kept";
}

TEST(Budget, TicketsAreServedInOrder) {
  Signal changed;
  MemoryBudget budget(100, "config", changed);
  auto all = budget.try_reserve(100, Lane::kNormal);
  auto large = budget.enqueue(80, Lane::kNormal);
  auto small = budget.enqueue(10, Lane::kNormal);
  all->shrink(50);
  EXPECT_FALSE(budget.try_take(small)) << "it fits, but the large one was first";
  EXPECT_FALSE(budget.try_reserve(1, Lane::kNormal)) << "nor does a newcomer pass";
  EXPECT_EQ(budget.status().waiting, 2U);
  auto urgent = budget.enqueue(20, Lane::kUrgent);
  EXPECT_FALSE(budget.try_take(large));
  EXPECT_TRUE(budget.try_take(urgent));
  all->release();
  EXPECT_TRUE(budget.try_take(large));
  EXPECT_TRUE(budget.try_take(small));
  EXPECT_FALSE(small);
  EXPECT_EQ(budget.status().waiting, 0U);
}

TEST(Budget, AnUrgentTicketStopsTheOthers) {
  Signal changed;
  MemoryBudget budget(100, "config", changed);
  auto half = budget.try_reserve(50, Lane::kNormal);
  auto urgent = budget.enqueue(60, Lane::kUrgent);
  EXPECT_FALSE(budget.try_take(urgent));
  EXPECT_FALSE(budget.try_reserve(10, Lane::kNormal));
  urgent.leave();
  EXPECT_TRUE(budget.try_reserve(10, Lane::kNormal));
}

TEST(Budget, WhatCanNeverFitIsRefusedAtOnce) {
  Signal changed;
  MemoryBudget budget(std::uint64_t{3} << 30, "cgroup", changed);
  try {
    budget.reserve(std::uint64_t{4} << 30, Lane::kNormal, {});
    FAIL();
  } catch (const base::ResourceExhausted& error) {
    EXPECT_STREQ(error.what(), "4.0 GiB asked for; the budget is 3.0 GiB (cgroup)");
  }
  EXPECT_EQ(budget.status().waiting, 0U);
}

TEST(Budget, GivesUpWhenAsked) {
  Signal changed;
  MemoryBudget budget(10, "config", changed);
  auto all = budget.try_reserve(10, Lane::kNormal);
  EXPECT_EQ(budget.reserve(5, Lane::kNormal, [] { return true; }), std::nullopt);
  EXPECT_EQ(budget.status().waiting, 0U);
}

TEST(Budget, NoWakeUpIsLostAmongThreads) {
  Signal changed;
  MemoryBudget budget(10, "config", changed);
  std::atomic<std::uint64_t> in_use = 0, served = 0;
  std::atomic<bool> too_much = false;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (unsigned i = 0; i < 200; ++i) {
        const std::uint64_t bytes = 1 + (t * 7 + i) % 10;
        auto held = budget.reserve(bytes, t % 4 == 0 ? Lane::kUrgent : Lane::kNormal, {});
        if ((in_use += bytes) > 10) too_much = true;
        in_use -= bytes;
        ++served;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(served, 1600U);
  EXPECT_FALSE(too_much);
  EXPECT_EQ(budget.status().used, 0U);
}

TEST(Budget, FormatsBytes) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1.0 KiB");
  EXPECT_EQ(format_bytes(std::uint64_t{47} << 30), "47.0 GiB");
}

// Any sequence of steps against a model that keeps the books by hand.
RC_GTEST_PROP(BudgetProperty, KeepsItsPromises, ()) {
  Signal changed;
  const auto total = *rc::gen::inRange<std::uint64_t>(1, 200);
  const auto share = *rc::gen::inRange<std::uint64_t>(0, 200);
  MemoryBudget budget(total, "config", changed);
  budget.set_urgent_share(share);
  const std::uint64_t kept = std::min(share, total / 2);
  struct Held {
    Reservation reservation;
    Lane lane;
  };
  struct Waiting {
    MemoryBudget::Ticket ticket;
    Lane lane;
  };
  std::vector<Held> held;
  std::list<Waiting> waiting;
  const auto used = [&](Lane lane) {
    std::uint64_t sum = 0;
    for (const Held& h : held) sum += h.lane == lane ? h.reservation.bytes() : 0;
    return sum;
  };
  const auto first_of = [&](Lane lane) { return std::ranges::find(waiting, lane, &Waiting::lane); };
  const auto fits = [&](std::uint64_t bytes, Lane lane) {
    const std::uint64_t urgent = used(Lane::kUrgent), normal = used(Lane::kNormal);
    const std::uint64_t limit =
        lane == Lane::kUrgent ? total : total - (kept - std::min(kept, urgent));
    return urgent + normal + bytes <= limit;
  };
  const auto steps = *rc::gen::inRange(1, 120);
  for (int step = 0; step < steps; ++step) {
    const Lane lane = *rc::gen::arbitrary<bool>() ? Lane::kUrgent : Lane::kNormal;
    const auto bytes = *rc::gen::inRange<std::uint64_t>(0, total + 10);
    switch (*rc::gen::inRange(0, 5)) {
      case 0: {
        const bool nobody_before = first_of(Lane::kUrgent) == waiting.end() &&
                                   (lane == Lane::kUrgent || first_of(lane) == waiting.end());
        const bool expected = nobody_before && fits(bytes, lane);
        auto taken = budget.try_reserve(bytes, lane);
        RC_ASSERT(taken.has_value() == expected);
        if (taken) held.push_back({std::move(*taken), lane});
        break;
      }
      case 1:
        waiting.push_back({budget.enqueue(bytes, lane), lane});
        break;
      case 2: {
        if (waiting.empty()) break;
        auto it = std::next(waiting.begin(),
                            *rc::gen::inRange<long>(0, static_cast<long>(waiting.size())));
        const bool first = it == first_of(it->lane) &&
                           (it->lane == Lane::kUrgent || first_of(Lane::kUrgent) == waiting.end());
        const bool expected = first && fits(it->ticket.bytes(), it->lane);
        auto taken = budget.try_take(it->ticket);
        RC_ASSERT(taken.has_value() == expected);
        if (taken) {
          held.push_back({std::move(*taken), it->lane});
          waiting.erase(it);
        }
        break;
      }
      case 3:
        if (!held.empty()) {
          const auto i = *rc::gen::inRange<std::size_t>(0, held.size());
          const auto to = *rc::gen::inRange<std::uint64_t>(0, total + 10);
          held[i].reservation.shrink(to);
          if (held[i].reservation.bytes() == 0)
            held.erase(held.begin() + static_cast<std::ptrdiff_t>(i));
        }
        break;
      case 4:
        if (!waiting.empty()) waiting.pop_back();
        break;
    }
    RC_ASSERT(budget.status().used == used(Lane::kUrgent) + used(Lane::kNormal));
    RC_ASSERT(budget.status().used <= total);
    RC_ASSERT(used(Lane::kNormal) <= total - std::min(kept, total));
    RC_ASSERT(budget.status().waiting == waiting.size());
  }
  held.clear();
  waiting.clear();
  RC_ASSERT(budget.status().used == 0U);
}

}  // namespace
}  // namespace cuzk::engine
