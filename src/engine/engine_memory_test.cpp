#include "engine/testing/log_capture.hpp"
#include "engine/testing/toy_engine.hpp"

#include <gmock/gmock.h>
#include <malloc.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <thread>

// Memory: what fits, what does not, and that it is all given back.
namespace cuzk::engine {
namespace {

using filecoin::CircuitKind;
using testing::Fault;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using testing::toy_request;
using Needs = ProvingDevice::Needs;

class EngineMemoryTest : public testing::ToyEngine {
 protected:
  /// Host memory of the keys that are loaded now.
  std::uint64_t bytes_of_keys() {
    std::uint64_t bytes = 0;
    for (const CircuitStatus& circuit : engine->status().circuits) {
      if (!circuit.loaded) continue;
      const CircuitId id = CircuitId::parse(circuit.circuit_id);
      bytes += hooks[0]->needs ? hooks[0]->needs({id.kind, id.size, {}}).host_key : 1000;
    }
    return bytes;
  }
  void expect_only_keys_use_memory() {
    wait_until(
        [&] {
          const Status now = engine->status();
          return now.witness_active == 0 && now.host.used == bytes_of_keys();
        },
        "only keys use memory");
  }
};

// A card with less memory than some circuits need, by configuration.
TEST_F(EngineMemoryTest, ACapOnDeviceMemoryRefusesWhatDoesNotFitAndServesTheRest) {
  config.gpus.vram_budget.bytes = 300'000;
  hooks[0]->needs = [](const ProvingDevice::Circuit& circuit) {
    return Needs{1000, 100, circuit.kind == CircuitKind::kPorep ? 400'000U : 1000U};
  };
  const testing::LogCapture log;
  start_and_wait();
  // Said at start, before anybody asks.
  EXPECT_THAT(log.text(),
              HasSubstr("does not fit: porep-2k needs 390.6 KiB of device memory; fake:0 has 293.0 "
                        "KiB for it (gpus.vram_budget)\n"));
  EXPECT_THAT(log.text(), HasSubstr("circuits that fit: winning-2k, wpost-2k, snap-2k\n"));
  std::string text;
  EXPECT_EQ(refusal(toy_request(ProofKind::kPorep, "a", {1}), &text), ErrorCode::kGpuMemory);
  EXPECT_THAT(text, StartsWith("GPU-OOM: a: porep-2k needs 390.6 KiB of device memory"));
  expect_proofs(prove(toy_request(ProofKind::kSnap, "b", {2})), {2});
  EXPECT_EQ(hooks[0]->started(), (std::vector<std::uint64_t>{2}));
}

TEST_F(EngineMemoryTest, WithRoomForAllNothingIsSaidNotToFit) {
  const testing::LogCapture log;
  start_and_wait();
  EXPECT_THAT(log.text(), Not(HasSubstr("does not fit")));
  EXPECT_THAT(log.text(), HasSubstr("porep-2k"));
}

// PoRep and Snap of different sizes whose keys do not fit side by side, several at once: never more
// than the budget, no proof wrong, nothing left.
TEST_F(EngineMemoryTest, AMixOfSizesStaysWithinTheBudget) {
  config.memory.total_budget.bytes = 16'000;
  options_of_devices[0].workers = 2;
  hooks[0]->needs = [](const ProvingDevice::Circuit& circuit) {
    if (circuit.kind == CircuitKind::kPorep) return Needs{5000, 900, 500'000};
    if (circuit.kind == CircuitKind::kUpdate) return Needs{8000, 2700, 600'000};
    return Needs{100, 50, 1000};
  };
  start_and_wait();
  std::atomic<std::uint64_t> most = 0;
  std::jthread watcher([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      most = std::max(most.load(), engine->status().host.used);
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  std::mt19937_64 random(11);
  std::map<std::string, std::vector<std::uint64_t>> sent;
  for (std::uint64_t i = 0; i < 30; ++i) {
    std::vector<std::uint64_t> roots(1 + random() % 4);
    for (std::uint64_t& root : roots) root = 1000 + random() % 100'000;
    const ProofKind kind = random() % 2 == 0 ? ProofKind::kPorep : ProofKind::kSnap;
    sent[engine->submit(toy_request(kind, "", roots)).job_id] = roots;
  }
  for (const auto& [id, roots] : sent) expect_proofs(await(id), roots);
  watcher.request_stop();
  watcher.join();
  const BudgetStatus host = engine->status().host;
  EXPECT_EQ(host.total, 16'000U);
  EXPECT_LE(most, host.total);
  EXPECT_GT(most, 8000U) << "it was looked at while jobs ran";
  EXPECT_GE(hooks[0]->loads, 3U) << "one key had to make way for the other";
  expect_only_keys_use_memory();
}

TEST_F(EngineMemoryTest, OutOfDeviceMemoryRepeatsThatPartitionOnly) {
  hooks[0]->fault = [](std::uint64_t root, unsigned start) {
    return root == 3 && start == 1 ? Fault::kOutOfMemory : Fault::kNone;
  };
  start_and_wait();
  const JobResult result = prove(toy_request(ProofKind::kPorep, "a", {1, 2, 3, 4}));
  expect_proofs(result, {1, 2, 3, 4});
  EXPECT_EQ(result.attempts, 2U);
  const auto started = hooks[0]->started();
  EXPECT_EQ(started.size(), 5U);
  EXPECT_EQ(std::ranges::count(started, 3U), 2);
  EXPECT_EQ(hooks[0]->resets, 0U);
  EXPECT_EQ(engine->status().counters.partition_retries, 1U);
  expect_only_keys_use_memory();
}

// What the C library has given out. 0 where a sanitizer has put its own in the place.
std::size_t heap_in_use() {
  const auto info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

TEST_F(EngineMemoryTest, CheckingProofsLeaksNothing) {
  constexpr std::size_t kTolerated = 2048;
  start_and_wait();
  const JobResult result = prove(toy_request(ProofKind::kPorep, "a", {5}));
  engine.reset();
  const groth16::VerifyingKey& key = testing::SquareKey::get().key.verifying_key;
  const auto check = [&] {
    const groth16::Verifier verifier(key);
    const auto proofs = groth16::decode_proofs(result.proof, 1, "result");
    EXPECT_TRUE(verifier.verify(proofs[0], testing::square_inputs(5)));
    EXPECT_FALSE(verifier.verify(proofs[0], testing::square_inputs(6)));
  };
  for (int i = 0; i < 10; ++i) check();
  // What a thread makes once may come at any time; a leak comes with every batch.
  std::size_t least_growth = std::numeric_limits<std::size_t>::max();
  for (int batch = 0; batch < 5 && least_growth > kTolerated; ++batch) {
    const std::size_t before = heap_in_use();
    for (int i = 0; i < 60; ++i) check();
    const std::size_t after = heap_in_use();
    least_growth = std::min(least_growth, after > before ? after - before : 0);
  }
  EXPECT_LE(least_growth, kTolerated) << "40 bytes a check would be too much";
}

}  // namespace
}  // namespace cuzk::engine
