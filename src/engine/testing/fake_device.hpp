#pragma once

#include "engine/proving_device.hpp"
#include "engine/testing/toy_circuit.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace cuzk::engine::testing {

/// What can go wrong with a partition on a fake device.
enum class Fault : std::uint8_t {
  kNone,
  kAtStart,      ///< the device fails when the work is enqueued
  kAtFinish,     ///< ... when it is waited for
  kLost,         ///< likewise, and nothing works on it any more
  kOutOfMemory,  ///< its memory is exhausted
  kUnknown,      ///< an exception that says nothing of its kind
  kHostMemory,   ///< the host's memory is exhausted
  kWrongProof,   ///< a proof comes out that does not verify
};

/// Stops threads at a place until they are let through.
class Gate {
 public:
  void close() {
    const std::lock_guard lock(mutex_);
    open_ = false;
  }
  void open() {
    {
      const std::lock_guard lock(mutex_);
      open_ = true;
    }
    changed_.notify_all();
  }
  /// Lets so many through a closed gate.
  void let_through(std::uint64_t count) {
    {
      const std::lock_guard lock(mutex_);
      passes_ += count;
    }
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_ || passes_ > 0; });
    --waiting_;
    if (!open_) --passes_;
  }
  /// Waits until so many stand at it.
  void await_waiting(std::uint64_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = true;
  std::uint64_t passes_ = 0, waiting_ = 0;
};

/// What a test does to a fake device and sees of it, while the engine owns the device. The
/// functions are set before the engine starts, and called from several threads.
struct FakeHooks {
  /// Of each partition, by its root and how often it was started on this device.
  std::function<Fault(std::uint64_t root, unsigned start)> fault;
  std::function<void(const ProvingDevice::Circuit&)> on_load;  ///< may throw
  std::function<void()> on_self_test;                          ///< may throw
  std::function<void()> on_unload;
  std::function<ProvingDevice::Needs(const ProvingDevice::Circuit&)> needs;
  std::atomic<groth16::Prestage> prestage = groth16::Prestage::kOff;  ///< of every partition
  Gate start_gate, load_gate;
  std::atomic<int> delay_us = 0;
  std::atomic<bool> is_lost = false;  ///< as after Fault::kLost

  std::atomic<unsigned> loads = 0, self_tests = 0, resets = 0, loaded_now = 0, running = 0,
                        most_running = 0, resets_with_keys = 0;

  std::vector<std::uint64_t> started() const {
    const std::lock_guard lock(mutex);
    return order;
  }
  std::vector<groth16::Ticket> tickets_seen() const {
    const std::lock_guard lock(mutex);
    return tickets;
  }
  unsigned note_start(std::uint64_t root) {
    const std::lock_guard lock(mutex);
    order.push_back(root);
    return ++starts[root];
  }

  mutable std::mutex mutex;
  // Guarded by mutex.
  std::vector<std::string> expected, staying;  // circuits, as the device was told
  std::vector<groth16::Ticket> tickets;        // as they were started
  std::vector<std::uint64_t> order;            // roots likewise
  std::map<std::uint64_t, unsigned> starts;
};

/// A device that proves the square circuit, whatever circuit it is asked for, with faults as a test
/// wants them. For tests only.
class FakeDevice final : public ProvingDevice {
 public:
  struct Options {
    std::string name = "fake:0";
    unsigned workers = 1;
    unsigned urgent_workers = 0;  ///< of these, for PoSt alone
    std::uint64_t memory = 1'000'000;
    bool is_cpu = false;
  };

  FakeDevice(Options options, std::shared_ptr<FakeHooks> hooks)
      : options_(std::move(options)), hooks_(std::move(hooks)) {
    info_ = {options_.name, "fake", "FAKE-" + options_.name, 0, options_.is_cpu};
  }

  const Info& info() const override { return info_; }
  std::uint64_t memory_total() const override { return options_.memory; }
  std::uint64_t memory_free() const noexcept override { return options_.memory; }
  unsigned workers() const override { return options_.workers; }
  unsigned bulk_workers() const override { return options_.workers - options_.urgent_workers; }
  void expect(std::span<const Circuit> circuits, std::span<const Circuit> stays) override {
    const auto name = [](const Circuit& circuit) {
      return CircuitId{circuit.kind, circuit.size}.to_string();
    };
    const std::lock_guard lock(hooks_->mutex);
    for (const Circuit& circuit : circuits) hooks_->expected.push_back(name(circuit));
    for (const Circuit& circuit : stays) hooks_->staying.push_back(name(circuit));
  }
  Needs needs(const Circuit& circuit) const override {
    return hooks_->needs ? hooks_->needs(circuit) : Needs{1000, 100, 1000};
  }
  std::unique_ptr<LoadedCircuit> load(const Circuit& circuit) override {
    ++hooks_->loads;
    hooks_->load_gate.pass();
    if (hooks_->on_load) hooks_->on_load(circuit);
    return std::make_unique<Loaded>(hooks_, needs(circuit));
  }
  void self_test() override {
    ++hooks_->self_tests;
    if (hooks_->is_lost) fail_lost();
    if (hooks_->on_self_test) hooks_->on_self_test();
  }
  void reset() override {
    ++hooks_->resets;
    if (hooks_->is_lost) fail_lost();
    if (hooks_->loaded_now != 0) ++hooks_->resets_with_keys;
  }

 private:
  [[noreturn]] static void fail_lost() {
    throw DeviceFault("the device is gone", DeviceFault::Kind::kLost);
  }

  class Pending final : public groth16::Prover::Pending {
   public:
    Pending(std::shared_ptr<FakeHooks> hooks, std::unique_ptr<groth16::Prover::Pending> real,
            Fault fault)
        : hooks_(std::move(hooks)), real_(std::move(real)), fault_(fault) {}
    ~Pending() override { --hooks_->running; }

    groth16::Proof finish(const groth16::Blinding& blinding, base::StageTimer& timer) override {
      if (fault_ == Fault::kAtFinish)
        throw DeviceFault("illegal memory access", DeviceFault::Kind::kWork);
      if (fault_ == Fault::kLost) hooks_->is_lost = true;
      if (hooks_->is_lost) fail_lost();
      groth16::Proof proof = real_->finish(blinding, timer);
      if (fault_ == Fault::kWrongProof) proof.a = -proof.a;
      return proof;
    }

   private:
    std::shared_ptr<FakeHooks> hooks_;
    std::unique_ptr<groth16::Prover::Pending> real_;
    Fault fault_;
  };

  class Loaded final : public LoadedCircuit {
   public:
    Loaded(std::shared_ptr<FakeHooks> hooks, const Needs& needs)
        : hooks_(std::move(hooks)),
          needs_(needs),
          prover_(groth16::make_cpu_prover(
              {SquareKey::get().shape, SquareKey::get().layout, SquareKey::get().key})) {
      ++hooks_->loaded_now;
    }
    ~Loaded() override {
      if (hooks_->on_unload) hooks_->on_unload();
      --hooks_->loaded_now;
    }

    const r1cs::Shape& shape() const override { return SquareKey::get().shape; }
    const groth16::VerifyingKey& verifying_key() const override {
      return SquareKey::get().key.verifying_key;
    }
    std::uint64_t host_bytes() const override { return needs_.host_key; }
    std::uint64_t device_bytes() const override { return needs_.device; }

    Started start_for(const groth16::Ticket& ticket, const r1cs::Witness& witness,
                      base::StageTimer& timer) override {
      {
        const std::lock_guard lock(hooks_->mutex);
        hooks_->tickets.push_back(ticket);
      }
      return {start(witness, timer), hooks_->prestage};
    }
    std::unique_ptr<groth16::Prover::Pending> start(const r1cs::Witness& witness,
                                                    base::StageTimer& timer) override {
      const std::uint64_t root = witness.fields.at(0).to_canonical()[0];
      const unsigned start = hooks_->note_start(root);
      hooks_->start_gate.pass();
      if (hooks_->delay_us > 0)
        std::this_thread::sleep_for(std::chrono::microseconds(hooks_->delay_us));
      const Fault fault = hooks_->fault ? hooks_->fault(root, start) : Fault::kNone;
      if (fault == Fault::kAtStart) throw DeviceFault("launch failed", DeviceFault::Kind::kWork);
      if (fault == Fault::kOutOfMemory)
        throw DeviceFault("out of device memory", DeviceFault::Kind::kMemory);
      if (fault == Fault::kUnknown) throw std::runtime_error("something unknown");
      if (fault == Fault::kHostMemory) throw std::bad_alloc();
      auto real = prover_->start(witness, timer);
      const unsigned now = ++hooks_->running;
      unsigned most = hooks_->most_running;
      while (most < now && !hooks_->most_running.compare_exchange_weak(most, now)) {
      }
      return std::make_unique<Pending>(hooks_, std::move(real), fault);
    }

   private:
    std::shared_ptr<FakeHooks> hooks_;
    Needs needs_;
    std::unique_ptr<groth16::Prover> prover_;
  };

  Options options_;
  std::shared_ptr<FakeHooks> hooks_;
  Info info_;
};

}  // namespace cuzk::engine::testing
