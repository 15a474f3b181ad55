#include "engine/key_cache.hpp"

#include "base/error.hpp"
#include "engine/testing/toy_engine.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>

namespace cuzk::engine {
namespace {

using namespace std::chrono_literals;

class KeyCacheTest : public ::testing::Test {
 protected:
  KeyCacheTest() {
    for (std::size_t i = 0; i < 2; ++i) {
      hooks.push_back(std::make_shared<testing::FakeHooks>());
      devices.push_back(std::make_unique<DeviceSlot>(
          std::make_unique<testing::FakeDevice>(
              testing::FakeDevice::Options{"fake:" + std::to_string(i), 1, 2500}, hooks[i]),
          i, 3, 2500, changed));
    }
    cache = std::make_unique<KeyCache>(
        devices, parameters, host, KeyCache::Options{.resident = {snap}, .eviction_min_idle = 0s},
        changed, [this](const KeyCache::Failure& failure) { failures.push_back(failure.text); });
  }
  void load(const CircuitId& circuit, std::size_t device = 0) {
    ASSERT_TRUE(cache->start_load(circuit, device, Lane::kNormal,
                                  host.try_reserve(1000, Lane::kNormal).value()));
    wait_until([&] { return !cache->loading_since(circuit, device); });
  }
  static void wait_until(const std::function<bool()>& condition) {
    for (int i = 0; i < 10'000 && !condition(); ++i) std::this_thread::sleep_for(1ms);
    ASSERT_TRUE(condition());
  }

  const CircuitId porep = CircuitId::parse("porep-2k"), snap = CircuitId::parse("snap-2k"),
                  window = CircuitId::parse("wpost-2k"), winning = CircuitId::parse("winning-2k");
  const KeyCache::MayDrop any = [](const CircuitId&) { return true; };
  Signal changed;
  MemoryBudget host{10'000, "config", changed};
  testing::ToyParameters parameters;
  std::vector<std::shared_ptr<testing::FakeHooks>> hooks;
  std::vector<std::unique_ptr<DeviceSlot>> devices;
  std::vector<std::string> failures;
  std::unique_ptr<KeyCache> cache;
};

TEST_F(KeyCacheTest, LoadsOnceAndLeases) {
  EXPECT_FALSE(cache->lease(porep, 0));
  hooks[0]->load_gate.close();
  ASSERT_TRUE(
      cache->start_load(porep, 0, Lane::kNormal, host.try_reserve(1000, Lane::kNormal).value()));
  EXPECT_TRUE(cache->loading_since(porep, 0));
  EXPECT_TRUE(
      cache->start_load(porep, 0, Lane::kNormal, host.try_reserve(1000, Lane::kNormal).value()));
  EXPECT_EQ(host.status().used, 1000U) << "the second one gave its memory back";
  hooks[0]->load_gate.open();
  wait_until([&] { return cache->is_loaded(porep, 0); });
  EXPECT_EQ(hooks[0]->loads, 1U);
  EXPECT_FALSE(cache->is_loaded(porep, 1));
  KeyLease lease = cache->lease(porep, 0);
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease.device(), 0U);
  EXPECT_EQ(lease.circuit().shape().num_inputs(), 2U);
  EXPECT_TRUE(cache->evict(porep).in_use);
  lease.release();
  const auto evicted = cache->evict(porep);
  EXPECT_TRUE(evicted.was_loaded);
  EXPECT_EQ(evicted.bytes, 2000U);
  EXPECT_EQ(host.status().used, 0U);
  EXPECT_EQ(devices[0]->memory().status().used, 0U);
  EXPECT_EQ(hooks[0]->loaded_now, 0U);
}

TEST_F(KeyCacheTest, DropsTheOneUsedLongestAgo) {
  load(porep);
  load(window);
  { const KeyLease used = cache->lease(porep, 0); }
  EXPECT_TRUE(cache->drop_one(std::nullopt, any, 0s));
  EXPECT_FALSE(cache->is_loaded(window, 0));
  EXPECT_TRUE(cache->is_loaded(porep, 0));
  EXPECT_FALSE(cache->drop_one(1, any, 0s)) << "it is on the other device";
  EXPECT_FALSE(cache->drop_one(0, any, 60s)) << "not idle for long";
  EXPECT_FALSE(cache->drop_one(
      0, [](const CircuitId&) { return false; }, 0s));
  KeyLease lease = cache->lease(porep, 0);
  EXPECT_FALSE(cache->drop_one(0, any, 0s)) << "in use";
  lease.release();
  EXPECT_TRUE(cache->drop_one(0, any, 0s));
}

TEST_F(KeyCacheTest, ResidentOnesStay) {
  load(snap);
  load(winning);
  EXPECT_FALSE(cache->drop_one(std::nullopt, any, 0s));
  EXPECT_TRUE(cache->evict(winning).was_loaded) << "unless told";
}

TEST_F(KeyCacheTest, MakesRoomOnTheDevice) {
  load(porep);
  load(window);
  EXPECT_TRUE(cache->make_device_room(0, 500, Lane::kNormal, any, 0s));
  EXPECT_TRUE(cache->is_loaded(porep, 0));
  EXPECT_TRUE(cache->make_device_room(0, 1000, Lane::kNormal, any, 0s));
  EXPECT_FALSE(cache->is_loaded(porep, 0));
  const KeyLease lease = cache->lease(window, 0);
  EXPECT_FALSE(cache->make_device_room(0, 2000, Lane::kNormal, any, 0s));
  EXPECT_FALSE(cache->start_load(porep, 0, Lane::kNormal, Reservation()) &&
               cache->start_load(snap, 0, Lane::kNormal, Reservation()))
      << "two more do not fit";
}

TEST_F(KeyCacheTest, ADiscardedKeyGoesWithItsLastLease) {
  load(porep);
  KeyLease old = cache->lease(porep, 0);
  EXPECT_TRUE(cache->is_current(old));
  EXPECT_FALSE(cache->has_discarded());
  cache->discard(porep, 0);
  EXPECT_FALSE(cache->is_current(old));
  EXPECT_TRUE(cache->has_discarded());
  EXPECT_FALSE(cache->lease(porep, 0));
  EXPECT_EQ(hooks[0]->loaded_now, 1U);
  EXPECT_FALSE(cache->drop_device(0));
  EXPECT_FALSE(cache->drop_discarded());
  old.release();
  EXPECT_TRUE(cache->drop_discarded());
  EXPECT_EQ(hooks[0]->loaded_now, 0U);
  EXPECT_EQ(host.status().used, 0U) << "or memory would be lost until somebody else wants it";
  EXPECT_TRUE(cache->drop_device(0));
}

TEST_F(KeyCacheTest, ADeviceIsDroppedAsAWhole) {
  load(porep);
  load(porep, 1);
  load(winning);
  KeyLease lease = cache->lease(winning, 0);
  EXPECT_FALSE(cache->drop_device(0));
  EXPECT_TRUE(cache->is_loaded(porep, 0)) << "all or nothing";
  lease.release();
  EXPECT_TRUE(cache->drop_device(0));
  EXPECT_FALSE(cache->is_loaded(porep, 0) || cache->is_loaded(winning, 0));
  EXPECT_TRUE(cache->is_loaded(porep, 1));
  // While the device is reset nothing may be allocated there.
  const auto start = [&] {
    return cache->start_load(porep, 0, Lane::kNormal,
                             host.try_reserve(1000, Lane::kNormal).value());
  };
  const std::uint64_t used = host.status().used;
  EXPECT_FALSE(start());
  EXPECT_EQ(host.status().used, used);
  cache->admit_loads(0);
  EXPECT_TRUE(start());
}

TEST_F(KeyCacheTest, MemoryIsGivenBackAfterItIsFree) {
  load(porep);
  std::uint64_t used_before_the_end = 0;
  hooks[0]->on_unload = [&] { used_before_the_end = host.status().used; };
  const std::uint64_t used = host.status().used;
  EXPECT_TRUE(cache->evict(porep).was_loaded);
  EXPECT_EQ(used_before_the_end, used);
  EXPECT_EQ(host.status().used, 0U);
  hooks[0]->on_unload = nullptr;
}

TEST_F(KeyCacheTest, AFailedLoadLeavesNothing) {
  hooks[0]->on_load = [](const ProvingDevice::Circuit&) {
    throw base::CorruptData("porep.params: too short");
  };
  load(porep);
  EXPECT_FALSE(cache->is_loaded(porep, 0));
  wait_until([&] { return failures == std::vector<std::string>{"porep.params: too short"}; });
  EXPECT_EQ(parameters.state(porep).readiness, CircuitStatus::Readiness::kCorrupt);
  hooks[0]->on_load = nullptr;
  load(porep);
  EXPECT_TRUE(cache->is_loaded(porep, 0));
  EXPECT_EQ(host.status().used, 1000U);
}

// The report may need locks that the one who starts the next load holds.
TEST_F(KeyCacheTest, NoLoadStartsBeforeAFailureIsReported) {
  std::mutex callers;
  std::atomic<unsigned> reports = 0;
  cache = std::make_unique<KeyCache>(devices, parameters, host, KeyCache::Options{}, changed,
                                     [&](const KeyCache::Failure&) {
                                       const std::lock_guard lock(callers);
                                       ++reports;
                                     });
  hooks[0]->on_load = [](const ProvingDevice::Circuit&) {
    throw base::CorruptData("porep.params: too short");
  };
  for (unsigned i = 0; i < 200; ++i) {
    {
      const std::lock_guard lock(callers);
      cache->start_load(porep, 0, Lane::kNormal, host.try_reserve(10, Lane::kNormal).value());
    }
    wait_until([&] { return !cache->loading_since(porep, 0); });
    EXPECT_EQ(reports, i + 1);
  }
}

TEST_F(KeyCacheTest, StatusTellsTheTruth) {
  load(porep);
  const KeyLease a = cache->lease(porep, 0), b = cache->lease(porep, 0);
  hooks[1]->load_gate.close();
  ASSERT_TRUE(
      cache->start_load(window, 1, Lane::kNormal, host.try_reserve(1000, Lane::kNormal).value()));
  for (const CircuitStatus& status : cache->status()) {
    SCOPED_TRACE(status.circuit_id);
    const bool is_porep = status.circuit_id == "porep-2k";
    EXPECT_EQ(status.loaded, is_porep);
    EXPECT_EQ(status.references, is_porep ? 2U : 0U);
    EXPECT_EQ(status.bytes, is_porep ? 2000U : 0U);
    EXPECT_EQ(status.tier, is_porep ? KeyTier::kHot : KeyTier::kCold);
    EXPECT_EQ(status.loading, status.circuit_id == "wpost-2k");
  }
  hooks[1]->load_gate.open();
}

}  // namespace
}  // namespace cuzk::engine
