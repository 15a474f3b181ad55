#include "engine/pipeline.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "engine/priority.hpp"
#include "engine/seed_stages.hpp"
#include "engine/thread_name.hpp"

#include <fmt/format.h>

#include <functional>
#include <new>
#include <utility>

namespace cuzk::engine {

namespace {

constexpr std::size_t kVerifyThreads = 2;
/// Idle workers look again at least so often, whatever the signal.
constexpr std::chrono::milliseconds kLongestSleep(1000);

std::chrono::nanoseconds waiting_time(const base::StageTimer& timer) {
  std::chrono::nanoseconds sum{0};
  for (const base::StageTimer::Entry& entry : timer.entries()) {
    if (entry.stage == "device_lock_wait") sum += entry.time;
  }
  return sum;
}

WorkPriority priority_of(const Job& job) {
  return job.is_urgent() ? WorkPriority::kHigh : WorkPriority::kNormal;
}

/// How the device's part of an attempt ended, if not with a proof.
struct DeviceFailure {
  ErrorCode code;
  std::string text;
  bool fault;  ///< the device's own: it is reset
};

}  // namespace

std::string text_without_code(const EngineError& error) {
  const std::string text = error.what();
  const std::size_t prefix = to_string(error.code()).size() + 2;
  return text.size() > prefix ? text.substr(prefix) : text;
}

void Pipeline::start() {
  for (std::size_t i = 0; i < parts_.scheduler.options().witness_slots; ++i)
    threads_.emplace_back([this, i] { host_worker(i); });
  for (const auto& slot : parts_.devices) {
    for (std::size_t w = 0; w < slot->device().workers(); ++w)
      threads_.emplace_back([this, place = slot.get(), w] { device_worker(*place, w); });
  }
  for (std::size_t i = 0; i < kVerifyThreads; ++i)
    threads_.emplace_back([this, i] { verify_worker(i); });
}

void Pipeline::stop() {
  stopping_ = true;
  parts_.changed.raise();
  threads_.clear();  // joins
}

void Pipeline::host_worker(std::size_t number) {
  const std::string track = fmt::format("witness {}", number);
  set_thread_name(track);
  while (!stopping_) {
    const std::uint64_t seen = parts_.changed.generation();
    parts_.keys.drop_discarded();
    std::optional<HostTask> task = parts_.scheduler.take_host_task();
    if (!task) {
      parts_.changed.wait(seen, kLongestSleep);
    } else if (auto* to_decode = std::get_if<DecodeTask>(&*task)) {
      decode(to_decode->job);
    } else if (auto* to_make = std::get_if<WitnessTask>(&*task)) {
      make_witness(std::move(*to_make), track);
    } else if (auto* to_fail = std::get_if<FailTask>(&*task)) {
      parts_.lifecycle.fail(to_fail->job, to_fail->code, to_fail->text);
    }
  }
}

void Pipeline::decode(const std::shared_ptr<Job>& job) {
  const Lifecycle::WorkMark mark(parts_.lifecycle, job);
  try {
    const std::optional<JobRequest> request = parts_.journal.request(job->id);
    if (!request) throw std::logic_error("the journal has no payload of the job");
    PreparedJob prepared = parts_.preparation.decode(*request);
    // Beyond its budget it is kept all the same: the job is about to be proved.
    auto memory = parts_.decoded.try_reserve(prepared.bytes, Lane::kNormal);
    parts_.lifecycle.decoded(job, std::move(prepared), memory ? std::move(*memory) : Reservation());
  } catch (const EngineError& error) {
    parts_.lifecycle.fail(job, error.code(), text_without_code(error));
  } catch (const std::bad_alloc&) {
    parts_.lifecycle.fail(job, ErrorCode::kHostMemory, "decoding: the machine has no memory left");
  } catch (const std::exception& error) {
    parts_.lifecycle.fail(job, ErrorCode::kInternal, fmt::format("decoding: {}", error.what()));
  }
}

void Pipeline::make_witness(WitnessTask task, const std::string& track) {
  const Attempt& attempt = task.attempt;
  // Ends after the witness is handed on: a device that waits for it goes on under the same mark.
  const Lifecycle::WorkMark mark(parts_.lifecycle, attempt.job);
  const Clock::time_point begin = Clock::now();
  try {
    auto witness =
        std::make_shared<const r1cs::Witness>(run_with_priority(priority_of(*attempt.job), [&] {
          return task.prepared->witness(task.key.circuit().shape(), attempt.index);
        }));
    const auto time = Clock::now() - begin;
    parts_.trace.add({track, "witness", attempt.job->id, attempt.index, {}, begin, time});
    parts_.lifecycle.witness_done(attempt, std::move(witness), std::move(task.key),
                                  std::move(task.memory), time);
  } catch (const std::bad_alloc&) {
    parts_.lifecycle.fail(
        attempt.job, ErrorCode::kHostMemory,
        fmt::format("witness of partition {}: the machine has no memory left", attempt.index));
  } catch (const std::exception& error) {
    parts_.lifecycle.fail(attempt.job, ErrorCode::kInternal,
                          fmt::format("witness of partition {}: {}", attempt.index, error.what()));
  }
}

void Pipeline::device_worker(DeviceSlot& slot, std::size_t worker) {
  set_thread_name(fmt::format("{} w{}", slot.name(), worker));
  while (!stopping_) {
    const std::uint64_t seen = parts_.changed.generation();
    if (slot.begin_recovery()) {
      recover(slot);
    } else if (auto task = parts_.scheduler.take_device_task(slot.index(), worker)) {
      prove(slot, worker, std::move(*task));
    } else {
      parts_.changed.wait(seen, kLongestSleep);
    }
  }
}

void Pipeline::prove(DeviceSlot& slot, std::size_t worker, DeviceTask task) {
  const Attempt& attempt = task.attempt;
  const ProofKind kind = attempt.job->kind;
  std::optional<groth16::Proof> proof;
  std::optional<DeviceFailure> failure;
  bool lost = false;
  auto prestage = groth16::Prestage::kOff;
  std::chrono::nanoseconds time{0};
  {
    Lifecycle::WorkMark mark(parts_.lifecycle, attempt.job);
    base::StageTimer timer;
    const Clock::time_point begin = Clock::now();
    try {
      const groth16::Ticket ticket{.job = std::hash<std::string>()(attempt.job->id),
                                   .urgent = attempt.job->is_urgent()};
      // Each call has an arena of its own: it may wait in there for the device without keeping
      // another one out.
      const unsigned threads = slot.device().info().is_cpu ? 0 : parts_.gpu_threads;
      const auto on_host = [&](auto&& work) {
        return run_with_priority(priority_of(*attempt.job), work, threads);
      };
      const LoadedCircuit::Started started =
          on_host([&] { return task.key.circuit().start_for(ticket, *task.witness, timer); });
      task.witness.reset();
      prestage = started.prestage;
      proof = on_host([&] { return started.pending->finish(groth16::Blinding::random(), timer); });
    } catch (const DeviceFault& error) {
      const bool memory = error.kind() == DeviceFault::Kind::kMemory;
      failure = {memory ? ErrorCode::kGpuMemory : ErrorCode::kGpuFault, error.what(), !memory};
      // The process may have to end for it, as if the job had ended it.
      lost = error.kind() == DeviceFault::Kind::kLost;
      if (lost) mark.keep();
    } catch (const base::ResourceExhausted& error) {
      failure = {ErrorCode::kHostMemory, error.what(), false};
    } catch (const std::bad_alloc&) {
      failure = {ErrorCode::kHostMemory, "the machine has no memory left", false};
    } catch (const base::InvalidInput& error) {
      failure = {ErrorCode::kInternal, error.what(), false};
    } catch (const std::exception& error) {
      failure = {ErrorCode::kGpuFault, error.what(), true};
    }
    const auto elapsed = Clock::now() - begin;
    time = elapsed - waiting_time(timer);
    parts_.trace.add({fmt::format("{} worker {}", slot.name(), worker), "device", attempt.job->id,
                      attempt.index, slot.name(), begin, elapsed},
                     timer);
    if (proof) {
      parts_.metrics.stages(kind, timer);
      parts_.metrics.stage(kind, "device", time);
      if (prestage != groth16::Prestage::kOff) parts_.metrics.prestaged(to_string(prestage));
      base::process_log().info({.job = attempt.job->id,
                                .partition = attempt.index,
                                .device = slot.name(),
                                .kind = label(kind)},
                               "proved: {}", seed_stage_text(timer, time, prestage));
    }
  }
  task.witness.reset();
  task.memory.release();
  if (proof) {
    parts_.lifecycle.device_done(attempt, *proof, std::move(task.key), time);
    slot.end(worker);
    return;
  }
  task.key.release();
  if (failure->fault) slot.record_fault(failure->text, lost);
  slot.end(worker);
  parts_.lifecycle.attempt_failed(attempt, failure->code,
                                  fmt::format("{}: {}", slot.name(), failure->text), slot.index());
}

void Pipeline::verify_worker(std::size_t number) {
  const std::string track = fmt::format("verify {}", number);
  set_thread_name(track);
  while (!stopping_) {
    const std::uint64_t seen = parts_.changed.generation();
    if (auto task = parts_.scheduler.take_verify_task()) {
      verify(std::move(*task), track);
    } else {
      parts_.changed.wait(seen, kLongestSleep);
    }
  }
}

void Pipeline::verify(VerifyTask task, const std::string& track) {
  const Attempt& attempt = task.attempt;
  DeviceSlot& slot = *parts_.devices[task.device];
  const Clock::time_point begin = Clock::now();
  bool valid = false;
  try {
    valid = task.key.verifier().verify(task.proof, task.prepared->public_inputs[attempt.index]);
  } catch (const std::exception& error) {
    parts_.lifecycle.fail(attempt.job, ErrorCode::kInternal,
                          fmt::format("verifying partition {}: {}", attempt.index, error.what()));
    return;
  }
  const auto time = Clock::now() - begin;
  parts_.metrics.stage(attempt.job->kind, "verify", time);
  parts_.trace.add({track, "verify", attempt.job->id, attempt.index, slot.name(), begin, time});
  if (valid) {
    slot.record_good();
    task.key.release();
    parts_.lifecycle.verified(attempt, task.proof);
    return;
  }
  parts_.metrics.self_check_failed();
  const bool is_sound = parts_.lifecycle.has_verified(*attempt.job);
  slot.record_bad(
      fmt::format("{}, partition {}: the proof does not verify", attempt.job->id, attempt.index),
      is_sound ? std::string() : attempt.job->id);
  // Where no other device can try, the next attempt at least has a freshly loaded key.
  parts_.keys.discard(attempt.job->circuit, task.device);
  task.key.release();
  parts_.lifecycle.attempt_failed(
      attempt, ErrorCode::kSelfCheckFailed,
      fmt::format("the proof made on {} does not verify and is not returned. Check the input, then "
                  "the health of {} and of the memory",
                  slot.name(), slot.name()),
      task.device);
}

void Pipeline::recover(DeviceSlot& slot) {
  const Clock::time_point begin = Clock::now();
  for (;;) {
    const std::uint64_t seen = parts_.changed.generation();
    if (stopping_) return;
    if (parts_.keys.drop_device(slot.index())) break;
    parts_.changed.wait(seen, std::chrono::milliseconds(100));
  }
  const DeviceSlot::Trial trial = DeviceSlot::attempt([&] {
    slot.device().reset();
    slot.device().self_test();
  });
  parts_.keys.admit_loads(slot.index());
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  base::process_log().warn({.device = slot.name(), .code = "GPU-RESET"},
                           "{}: rebuilt in {:.1f} s, self-test {}", slot.name(), seconds,
                           trial.fault.empty() ? "passed" : "failed: " + trial.fault);
  slot.end_recovery(trial);
}

}  // namespace cuzk::engine
