#pragma once

#include "engine/engine.hpp"
#include "engine/parameter_store.hpp"
#include "engine/preparation.hpp"
#include "engine/testing/fake_device.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace cuzk::engine::testing {

/// Requests of toy jobs: each of vanilla_proofs is a root, 8 bytes little-endian, and a partition.
/// A root of 666 is a vanilla proof that does not hold.
class ToyPreparation final : public Preparation {
 public:
  static constexpr std::uint64_t kBadRoot = 666;

  using OnWitness = std::shared_ptr<std::function<void(std::uint64_t root)>>;
  using OnDecode = std::shared_ptr<std::function<void(const JobRequest& request)>>;

  explicit ToyPreparation(OnWitness on_witness, OnDecode on_decode = {})
      : on_witness_(std::move(on_witness)), on_decode_(std::move(on_decode)) {}

  CircuitId examine(const JobRequest& request) override {
    if (request.vanilla_proofs.empty())
      throw EngineError(ErrorCode::kBadInput, request.request_id + ": no vanilla proofs");
    static const std::map<ProofKind, filecoin::CircuitKind> kinds = {
        {ProofKind::kPorep, filecoin::CircuitKind::kPorep},
        {ProofKind::kSnap, filecoin::CircuitKind::kUpdate},
        {ProofKind::kWindowPost, filecoin::CircuitKind::kWindowPost},
        {ProofKind::kWinningPost, filecoin::CircuitKind::kWinningPost}};
    return {kinds.at(request.kind),
            filecoin::SectorSize(request.sector_size == 0 ? 2048 : request.sector_size)};
  }
  PreparedJob check(const JobRequest& request) override {
    PreparedJob out = decode(request);
    for (const base::Bytes& blob : request.vanilla_proofs) {
      if (base::load_u64_le(blob.data()) == kBadRoot)
        throw EngineError(ErrorCode::kBadVanilla, request.request_id + ": a bad root");
    }
    return out;
  }
  PreparedJob decode(const JobRequest& request) override {
    if (on_decode_ && *on_decode_) (*on_decode_)(request);
    PreparedJob out;
    std::vector<std::uint64_t> roots;
    for (const base::Bytes& blob : request.vanilla_proofs) {
      roots.push_back(base::load_u64_le(blob.data()));
      out.public_inputs.push_back(square_inputs(roots.back()));
    }
    out.witness = [roots, on_witness = on_witness_](const r1cs::Shape& shape, std::size_t k) {
      if (*on_witness) (*on_witness)(roots.at(k));
      return SquareKey::witness(shape, roots.at(k));
    };
    out.bytes = 8 * roots.size();
    return out;
  }

 private:
  OnWitness on_witness_;
  OnDecode on_decode_;
};

/// Says of each circuit what a test wants; at first the 2 KiB ones are there.
class ToyParameters final : public ParameterStore {
 public:
  ToyParameters() {
    for (const char* name : {"porep-2k", "snap-2k", "wpost-2k", "winning-2k"})
      set(name, {CircuitStatus::Readiness::kReady, {}});
  }
  void set(std::string_view circuit, State state) {
    const std::lock_guard lock(mutex_);
    states_[std::string(circuit)] = std::move(state);
  }

  /// What a circuit's check finds; before the engine is made.
  std::function<State(const CircuitId& circuit, const std::stop_token& stop)> on_inspect;

  const std::filesystem::path& folder() const override { return folder_; }
  State state(const CircuitId& circuit) override {
    const std::lock_guard lock(mutex_);
    const auto found = states_.find(circuit.to_string());
    if (found != states_.end()) return found->second;
    return {CircuitStatus::Readiness::kMissing, circuit.to_string() + ": no such file"};
  }
  State known(const CircuitId& circuit) const override {
    const std::lock_guard lock(mutex_);
    const auto found = states_.find(circuit.to_string());
    return found == states_.end() ? State{} : found->second;
  }
  std::vector<CircuitId> unchecked() const override {
    std::vector<CircuitId> out;
    const std::lock_guard lock(mutex_);
    for (const auto& [circuit, state] : states_) {
      if (state.readiness == CircuitStatus::Readiness::kChecking)
        out.push_back(CircuitId::parse(circuit));
    }
    return out;
  }
  void inspect(const CircuitId& circuit, const std::stop_token& stop) override {
    if (on_inspect) set(circuit.to_string(), on_inspect(circuit, stop));
  }
  void mark_corrupt(const CircuitId& circuit, const std::string& detail) override {
    set(circuit.to_string(), {CircuitStatus::Readiness::kCorrupt, detail});
  }

 private:
  std::filesystem::path folder_ = "/nowhere";
  mutable std::mutex mutex_;
  std::map<std::string, State> states_;
};

inline JobRequest toy_request(ProofKind kind, std::string id, std::vector<std::uint64_t> roots,
                              Priority priority = Priority::kDefault) {
  JobRequest out;
  out.request_id = std::move(id);
  out.kind = kind;
  out.priority = priority;
  for (const std::uint64_t root : roots) {
    base::Bytes blob(8);
    base::store_u64_le(root, blob.data());
    out.vanilla_proofs.push_back(std::move(blob));
  }
  return out;
}

/// An engine over fake devices, and what tests do with it.
class ToyEngine : public ::testing::Test {
 protected:
  ToyEngine() {
    config.memory.total_budget.bytes = 1'000'000;
    config.reliability.partition_attempts = 2;
    config.reliability.stall_warning = std::chrono::seconds(60);
    add_device();
  }
  ~ToyEngine() override {
    engine.reset();
    if (!folder.empty()) std::filesystem::remove_all(folder);
  }

  /// Before start(); the first one is there from the beginning.
  FakeHooks& add_device(unsigned workers = 1) {
    FakeDevice::Options options;
    options.name = "fake:" + std::to_string(hooks.size());
    options.workers = workers;
    options_of_devices.push_back(options);
    hooks.push_back(std::make_shared<FakeHooks>());
    return *hooks.back();
  }
  void start() {
    std::vector<std::unique_ptr<ProvingDevice>> devices;
    for (std::size_t i = 0; i < hooks.size(); ++i)
      devices.push_back(std::make_unique<FakeDevice>(options_of_devices[i], hooks[i]));
    auto store = std::make_unique<ToyParameters>();
    parameters = store.get();
    if (on_parameters) on_parameters(*store);
    engine = std::make_unique<Engine>(config, std::move(devices), journal(),
                                      std::make_unique<ToyPreparation>(on_witness, on_decode),
                                      std::move(store));
  }
  void start_and_wait() {
    start();
    wait_until([&] { return engine->ready(); }, "the engine is ready");
  }
  /// A file instead of memory.
  std::filesystem::path journal_path() {
    if (folder.empty()) {
      static std::atomic<int> count = 0;
      folder = std::filesystem::temp_directory_path() /
               ("cuzk-engine-" + std::to_string(::getpid()) + "-" + std::to_string(count++));
      std::filesystem::create_directories(folder);
    }
    return folder / "journal.sqlite";
  }
  std::unique_ptr<Journal> journal() {
    return std::make_unique<Journal>(
        folder.empty() ? std::filesystem::path(":memory:") : journal_path(), Journal::Options{});
  }

  static void wait_until(const std::function<bool()>& condition, const std::string& what) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!condition()) {
      ASSERT_LT(std::chrono::steady_clock::now(), end) << "not within a minute: " << what;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  JobResult await(const std::string& job_id) {
    const auto result = engine->await(job_id, std::chrono::minutes(1));
    EXPECT_TRUE(result.has_value()) << job_id;
    return result.value_or(JobResult{});
  }
  JobResult prove(const JobRequest& request) { return await(engine->submit(request).job_id); }

  static void expect_proofs(const JobResult& result, const std::vector<std::uint64_t>& roots) {
    ASSERT_EQ(result.state, JobState::kCompleted) << result.error;
    ASSERT_EQ(result.proof.size(), roots.size() * groth16::Proof::kBytes);
    const auto proofs = groth16::decode_proofs(result.proof, roots.size(), "result");
    for (std::size_t k = 0; k < roots.size(); ++k)
      EXPECT_TRUE(SquareKey::get().verifies(proofs[k], roots[k])) << "partition " << k;
  }
  ErrorCode refusal(const JobRequest& request, std::string* text = nullptr) {
    try {
      engine->submit(request);
    } catch (const EngineError& error) {
      if (text != nullptr) *text = error.what();
      return error.code();
    }
    return ErrorCode::kNone;
  }
  JobStatus job_status(const std::string& id) {
    for (JobStatus& job : engine->status().jobs) {
      if (job.job_id == id) return job;
    }
    ADD_FAILURE() << "status has no job " << id;
    return {};
  }

  Config config;
  std::vector<FakeDevice::Options> options_of_devices;
  std::vector<std::shared_ptr<FakeHooks>> hooks;
  std::function<void(ToyParameters&)> on_parameters;  ///< before the engine is made
  ToyPreparation::OnWitness on_witness = std::make_shared<std::function<void(std::uint64_t)>>();
  /// Of each request that is checked, or decoded again.
  ToyPreparation::OnDecode on_decode = std::make_shared<std::function<void(const JobRequest&)>>();
  ToyParameters* parameters = nullptr;
  std::filesystem::path folder;
  std::unique_ptr<Engine> engine;
};

}  // namespace cuzk::engine::testing
