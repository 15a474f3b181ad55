#include "engine/engine.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "engine/config_file.hpp"
#include "engine/config_settings.hpp"
#include "engine/device_memory_plan.hpp"
#include "engine/engine_impl.hpp"
#include "engine/thread_name.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

namespace cuzk::engine {

namespace {

constexpr std::chrono::milliseconds kPoll(200);
/// How long a preload waits for room that only the end of jobs can make.
constexpr std::chrono::seconds kPreloadPatience(5);
constexpr std::size_t kRecentJobs = 100;

CircuitId parse_circuit(std::string_view id) {
  try {
    return CircuitId::parse(id);
  } catch (const base::InvalidInput& error) {
    throw EngineError(ErrorCode::kNotFound, error.what());
  }
}

}  // namespace

// A job id is looked for here, then among the finished ones of the journal. Only one that neither
// knows may be the request id of a job that was given another: the request's id may have been that
// of an earlier job with other content.
std::shared_ptr<Job> Engine::Impl::find(std::string_view id) const {
  {
    const JobTable::Lock lock = table_.lock();
    if (auto job = table_.find(lock, id)) return job;
  }
  if (journal_->find_job(id)) return nullptr;
  const JobTable::Lock lock = table_.lock();
  return table_.find_request(lock, id);
}

std::optional<JobResult> Engine::Impl::await(std::string_view job_id,
                                             std::chrono::milliseconds timeout,
                                             const std::function<bool()>& abandoned) {
  const Clock::time_point end =
      timeout.count() == 0 ? Clock::time_point::max() : Clock::now() + timeout;
  const std::shared_ptr<Job> job = find(job_id);
  if (!job) {
    if (auto finished = journal_->find_job(job_id)) return std::move(finished->result);
    throw EngineError(ErrorCode::kNotFound, fmt::format("no job \"{}\" is known", job_id));
  }
  JobTable::Lock lock = table_.lock();
  ++job->waiters;
  bool gone = false, left = false;  // the wait is over; the client has gone away
  // How one ends that is about to is said also while the engine stops.
  while (!is_final(job->state) && !gone && (!stopping_ || job->ending)) {
    job->ended.wait_until(lock, std::min(end, Clock::now() + kPoll));
    gone = Clock::now() >= end;
    if (abandoned && !gone && !is_final(job->state)) {
      lock.unlock();
      gone = left = abandoned();
      lock.lock();
    }
  }
  --job->waiters;
  if (is_final(job->state)) return job->result;
  if (!gone) {
    throw EngineError(ErrorCode::kShuttingDown,
                      fmt::format("{}: the job is kept and goes on after the restart", job_id));
  }
  if (!left) return std::nullopt;
  lock.unlock();
  // Decided at the moment of the end: another client may have joined meanwhile.
  lifecycle_.cancel(job, ErrorCode::kCancelled, "its last client has gone away",
                    [&] { return job->waiters == 0 && job->tied_submits >= job->submits; });
  return std::nullopt;
}

void Engine::Impl::cancel_with_waiters(std::string_view job_id) {
  const JobTable::Lock lock = table_.lock();
  if (const auto job = table_.find(lock, job_id)) ++job->tied_submits;
}

bool Engine::Impl::cancel(std::string_view job_id) {
  std::shared_ptr<Job> job = find(job_id);
  if (job) {
    // A request that failed and was sent again is known to its client by its own id.
    const JobTable::Lock lock = table_.lock();
    const auto again = table_.find_request(lock, job_id);
    if (is_final(job->state) && again && again->digest == job->digest) job = again;
  }
  if (job) return lifecycle_.cancel(job, ErrorCode::kCancelled, "cancelled by a client");
  if (journal_->find_job(job_id)) return false;
  throw EngineError(ErrorCode::kNotFound, fmt::format("no job \"{}\" is known", job_id));
}

// Keys

bool Engine::Impl::is_loaded(const CircuitId& circuit) const {
  return std::ranges::any_of(devices_, [&](const auto& slot) {
    return slot->usable() && keys_.is_loaded(circuit, slot->index());
  });
}

std::optional<EngineError> Engine::Impl::try_start_load(const CircuitId& circuit) {
  const auto may_drop = scheduler_.unwanted();
  std::optional<EngineError> lack;
  bool any = false;
  for (const auto& slot : devices_) {
    any |= slot->health() != DeviceSlot::Health::kQuarantined;
    if (!slot->usable()) continue;
    const ProvingDevice::Needs needs = keys_.needs(circuit, slot->index());
    if (!host_.can_ever(needs.host_key, Lane::kNormal)) {
      throw EngineError(
          ErrorCode::kHostMemory,
          fmt::format("{} needs {} of host memory, the budget is {}", circuit.to_string(),
                      format_bytes(needs.host_key), format_bytes(host_.status().total)));
    }
    constexpr std::string_view kRemedy =
        "free beside the keys that jobs want or that always stay; preload it when they are done, "
        "or evict one";
    if (!keys_.make_device_room(slot->index(), needs.device, Lane::kNormal, may_drop,
                                std::chrono::seconds(0))) {
      lack.emplace(ErrorCode::kGpuMemory,
                   fmt::format("{} needs {} of the memory of {}, {} are {}", circuit.to_string(),
                               format_bytes(needs.device), slot->name(),
                               format_bytes(slot->memory().available(Lane::kNormal)), kRemedy));
      continue;
    }
    // Without a place in line: jobs go first.
    auto host = host_.try_reserve(needs.host_key, Lane::kNormal);
    while (!host && keys_.drop_one(std::nullopt, may_drop, std::chrono::seconds(0)))
      host = host_.try_reserve(needs.host_key, Lane::kNormal);
    if (!host) {
      lack.emplace(ErrorCode::kHostMemory,
                   fmt::format("{} needs {} of host memory, {} are {}", circuit.to_string(),
                               format_bytes(needs.host_key),
                               format_bytes(host_.available(Lane::kNormal)), kRemedy));
      continue;
    }
    if (keys_.start_load(circuit, slot->index(), Lane::kNormal, std::move(*host)))
      return std::nullopt;
  }
  if (!any) throw EngineError(ErrorCode::kNoGpu, "every device has been taken out of service");
  return lack;
}

Engine::Preloaded Engine::Impl::preload(std::string_view circuit_id) {
  const CircuitId circuit = parse_circuit(circuit_id);
  admission_.require_parameters(circuit, {});
  if (is_loaded(circuit)) return {true, std::chrono::milliseconds(0)};
  const Clock::time_point begin = Clock::now();
  const auto failures = [&] {
    const std::lock_guard lock(failures_mutex_);
    return failures_[circuit];
  };
  const std::uint64_t before = failures().failures;
  Clock::time_point lacking_since = begin;
  for (;;) {
    const std::uint64_t seen = changed_.generation();
    if (stopping_) throw EngineError(ErrorCode::kShuttingDown, "no keys are loaded any more");
    if (is_loaded(circuit)) {
      return {false, std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin)};
    }
    const Strikes now = failures();
    const ParameterStore::State files = parameters_->known(circuit);
    if (files.readiness == CircuitStatus::Readiness::kChecking) {
      lacking_since = Clock::now();
      changed_.wait(seen, kPoll);
      continue;
    }
    if (files.readiness == CircuitStatus::Readiness::kCorrupt)
      throw EngineError(ErrorCode::kParamsCorrupt, files.detail);
    if (now.failures != before)
      throw EngineError(now.code, fmt::format("{}: {}", circuit_id, now.text));
    const bool loading = std::ranges::any_of(devices_, [&](const auto& slot) {
      return keys_.loading_since(circuit, slot->index()).has_value();
    });
    std::optional<EngineError> lack;
    if (!loading) {
      try {
        lack = try_start_load(circuit);
      } catch (const base::CorruptData& error) {
        throw EngineError(ErrorCode::kParamsCorrupt, error.what());
      } catch (const base::InvalidInput& error) {
        throw EngineError(ErrorCode::kParamsMissing, error.what());
      }
    }
    if (!lack) lacking_since = Clock::now();
    if (lack && Clock::now() - lacking_since >= kPreloadPatience) throw EngineError(*lack);
    changed_.wait(seen, kPoll);
  }
}

Engine::Evicted Engine::Impl::evict(std::string_view circuit_id) {
  const KeyCache::Evicted evicted = keys_.evict(parse_circuit(circuit_id));
  if (evicted.in_use) {
    throw EngineError(
        ErrorCode::kBadInput,
        fmt::format("{} is in use or being loaded; wait for its jobs, or cancel them", circuit_id));
  }
  changed_.raise();
  return {evicted.was_loaded, evicted.bytes};
}

void Engine::Impl::on_load_failure(const KeyCache::Failure& failure) {
  const bool fault = failure.device_fault && failure.code == ErrorCode::kGpuFault;
  if (fault) devices_[failure.device]->record_fault(failure.text);
  bool fatal = !failure.device_fault;
  {
    const std::lock_guard lock(failures_mutex_);
    Strikes& strikes = failures_[failure.circuit];
    ++strikes.failures;
    strikes.code = failure.code;
    strikes.text = failure.text;
    const std::uint32_t limit = config_.reliability.partition_attempts;
    const std::uint64_t loads = keys_.loads(failure.circuit);
    if (std::exchange(strikes.loads, loads) != loads) strikes.in_a_row = 0;
    if (failure.device_fault && ++strikes.in_a_row >= limit) fatal = true;
    if (fatal) strikes.in_a_row = 0;
  }
  if (!fatal || is_loaded(failure.circuit)) return;
  std::vector<std::shared_ptr<Job>> jobs;
  {
    const JobTable::Lock lock = table_.lock();
    table_.for_each_in_order(lock, [&](const std::shared_ptr<Job>& job) {
      if (job->circuit == failure.circuit) jobs.push_back(job);
      return true;
    });
  }
  for (const auto& job : jobs) {
    lifecycle_.fail(job, failure.code,
                    fmt::format("loading key {} on {}: {}", failure.circuit.to_string(),
                                devices_[failure.device]->name(), failure.text));
  }
}

// Status

Status Engine::Impl::status() const {
  Status out;
  out.version = CUZK_VERSION;
  out.uptime_secs = std::chrono::duration<double>(Clock::now() - started_at_).count();
  out.ready = ready();
  out.draining = scheduler_.mode() != Scheduler::Mode::kRunning;
  if (!out.ready) out.not_ready_because = not_ready_because();
  out.restart_because = scheduler_.restart_because();
  out.host = host_.status();
  const BudgetStatus decoded = decoded_.status();
  out.host.total += decoded.total;
  out.host.used += decoded.used;
  {
    const std::lock_guard lock(config_mutex_);
    out.cpu_proving = config_.gpus.allow_cpu;
    out.pinned.total = pinned_total_;
    out.pinned.source = pinned_source_;
  }
  out.pinned.used = keys_.pinned_bytes();
  out.witness_slots = scheduler_.options().witness_slots;
  out.witness_active = scheduler_.witness_active();
  out.counters = metrics_.counters();
  {
    const JobTable::Lock lock = table_.lock();
    out.jobs = table_.snapshot(lock, kRecentJobs);
  }
  for (const JobStatus& job : out.jobs) {
    if (is_final(job.state)) continue;
    Counters::ByKind& kind = out.counters.kinds[job.kind];
    ++(job.state == JobState::kQueued ? kind.pending : kind.in_progress);
    for (const PartitionStatus& partition : job.partitions) {
      using enum PartitionStatus::State;
      out.queue_depth += partition.state == kPending || partition.state == kWitnessDone;
    }
  }
  for (const auto& slot : devices_) out.devices.push_back(slot->status());
  out.circuits = keys_.status();
  return out;
}

// End

void Engine::Impl::drain(std::chrono::milliseconds limit) {
  if (stopping_) return;
  scheduler_.set_mode(Scheduler::Mode::kDraining);
  start_stop_.request_stop();
  const Clock::time_point end = Clock::now() + limit;
  for (;;) {
    const std::uint64_t seen = changed_.generation();
    {
      const JobTable::Lock lock = table_.lock();
      const std::size_t running =
          table_.unfinished(lock, [](const Job& job) { return job.state == JobState::kRunning; });
      if (running + table_.ending(lock) == 0) break;
    }
    if (Clock::now() >= end || stopping_) break;
    changed_.wait(
        seen,
        std::min(kPoll, std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()) +
                            std::chrono::milliseconds(1)));
  }
  stop_now();
}

void Engine::Impl::stop_now() {
  std::call_once(stopped_, [&] {
    scheduler_.set_mode(Scheduler::Mode::kStopped);
    stopping_ = true;
    start_stop_.request_stop();
    changed_.raise();
    {
      const std::lock_guard lock(watch_mutex_);
      watch_stop_.notify_all();
    }
    pipeline_.stop();
    start_thread_ = {};
    watch_thread_ = {};
    lifecycle_.journal_results();
    write_timeline_or_log();
  });
}

// What is set

void Engine::Impl::tell_devices() {
  const ExpectedCircuits expected = expected_circuits(config_.srs, *parameters_);
  for (const auto& slot : devices_) slot->device().expect(expected.circuits, expected.stays);
}

void Engine::Impl::report_gpu_settings() const {
  if (std::ranges::any_of(devices_, [](const auto& slot) { return !slot->device().info().is_cpu; }))
    return;
  for (const ConfigChange& change : config_changes(Config{}, config_)) {
    if (std::ranges::find(gpu_settings(), change.setting) == gpu_settings().end()) continue;
    base::process_log().warn({},
                             "{} = {}: accepted, without effect: it is for GPUs, and there is none",
                             change.setting, change.after);
  }
}

void Engine::Impl::write_timeline() {
  const std::filesystem::path path = config_.logging.timeline;  // not reloadable
  if (path.empty()) return;
  std::uint64_t jobs = 0;
  for (const auto& [kind, counts] : metrics_.counters().kinds)
    jobs += counts.completed + counts.failed + counts.cancelled;
  if (timeline_jobs_ == jobs) return;
  std::filesystem::path unfinished = path;
  unfinished += ".new";
  std::ofstream file(unfinished, std::ios::binary | std::ios::trunc);
  file << trace_.json() << '\n';
  file.close();
  std::error_code error;
  if (file) std::filesystem::rename(unfinished, path, error);
  base::require(file && !error,
                "logging.timeline: {} cannot be written: let the daemon's user "
                "write in {}, or name another file",
                path.string(), path.parent_path().string());
  timeline_jobs_ = jobs;
}

void Engine::Impl::write_timeline_or_log() {
  try {
    write_timeline();
  } catch (const base::InvalidInput& error) {
    base::process_log().error({}, "{}", error.what());
  }
}

bool Engine::Impl::ready() const {
  return started_ && scheduler_.mode() == Scheduler::Mode::kRunning &&
         std::ranges::any_of(devices_, [](const auto& slot) { return slot->usable(); });
}

std::string Engine::Impl::not_ready_because() const {
  if (scheduler_.mode() != Scheduler::Mode::kRunning) return "draining";
  if (!started_) {
    const std::lock_guard lock(config_mutex_);
    return "starting: " + start_step_;
  }
  return "no device is usable: all are being tested, or out of service";
}

// The face

Engine::Engine(Config config, std::vector<std::unique_ptr<ProvingDevice>> devices,
               std::unique_ptr<Journal> journal)
    : Engine(config, std::move(devices), std::move(journal), make_filecoin_preparation(),
             make_parameter_store(config.srs, config.pipeline.quotient)) {}

Engine::Engine(Config config, std::vector<std::unique_ptr<ProvingDevice>> devices,
               std::unique_ptr<Journal> journal, std::unique_ptr<Preparation> preparation,
               std::unique_ptr<ParameterStore> parameters)
    : impl_(std::make_unique<Impl>(std::move(config), std::move(devices), std::move(journal),
                                   std::move(preparation), std::move(parameters))) {}

Engine::~Engine() = default;

Engine::Submitted Engine::submit(JobRequest request) {
  return impl_->admission().submit(std::move(request));
}
std::optional<JobResult> Engine::await(std::string_view job_id, std::chrono::milliseconds timeout,
                                       const std::function<bool()>& abandoned) {
  return impl_->await(job_id, timeout, abandoned);
}
void Engine::cancel_with_waiters(std::string_view job_id) { impl_->cancel_with_waiters(job_id); }
bool Engine::cancel(std::string_view job_id) { return impl_->cancel(job_id); }
Engine::Preloaded Engine::preload(std::string_view circuit_id) {
  return impl_->preload(circuit_id);
}
Engine::Evicted Engine::evict(std::string_view circuit_id) { return impl_->evict(circuit_id); }
Status Engine::status() const { return impl_->status(); }
std::string Engine::trace_json() const { return impl_->trace().json(); }
std::vector<std::string> Engine::reconfigure(const Config& config) {
  return impl_->reconfigure(config);
}
void Engine::drain(std::chrono::milliseconds limit) { impl_->drain(limit); }
void Engine::stop_now() { impl_->stop_now(); }
bool Engine::ready() const { return impl_->ready(); }

}  // namespace cuzk::engine
