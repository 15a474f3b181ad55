#include "base/error.hpp"
#include "base/log.hpp"
#include "engine/config_file.hpp"
#include "engine/engine_impl.hpp"
#include "engine/host_memory.hpp"
#include "engine/priority.hpp"
#include "engine/thread_name.hpp"

#include <algorithm>
#include <unistd.h>
#include <utility>

/// How an engine begins, and what it takes over from a changed configuration.
namespace cuzk::engine {

namespace {

/// Of the host's budget, what decoded payloads of waiting jobs may take: one part in so many. What
/// is beyond is decoded again from the journal when it is its turn.
constexpr std::uint64_t kDecodedShare = 16;
/// An input that was worked on so often when the process died is refused.
constexpr std::uint32_t kMaxCrashes = 2;

std::vector<std::unique_ptr<ProvingDevice>> with_cpu(
    const Config& config, std::vector<std::unique_ptr<ProvingDevice>> devices) {
  if (devices.empty()) {
    base::require(config.gpus.allow_cpu,
                  "NO-GPU: no usable device. Set gpus.allow_cpu = true to run slowly on the CPU");
    devices.push_back(make_cpu_device(config.pipeline));
  }
  return devices;
}

std::vector<CircuitId> parse_all(const std::vector<std::string>& names) {
  std::vector<CircuitId> out;
  for (const std::string& name : names) out.push_back(CircuitId::parse(name));
  return out;
}

Lifecycle::Options lifecycle_options(const Config& config) {
  return {.partition_attempts = std::max(config.reliability.partition_attempts, 1U)};
}

JobTable::Retention retention(const Config& config) {
  return {.keep = config.reliability.keep_results,
          .count = std::min<std::uint64_t>(config.reliability.max_results, 1000)};
}

Admission::Options admission_options(const Config& config) {
  return {.max_queued_jobs = config.scheduler.max_queued_jobs,
          .max_queued_low = config.scheduler.max_queued_low};
}

}  // namespace

std::vector<std::unique_ptr<DeviceSlot>> Engine::Impl::make_slots(
    const Config& config, std::vector<std::unique_ptr<ProvingDevice>> devices, Signal& changed) {
  std::vector<std::unique_ptr<DeviceSlot>> out;
  for (auto& device : with_cpu(config, std::move(devices))) {
    const std::uint64_t total = device->memory_total();
    const std::uint64_t memory = std::min(config.gpus.vram_budget.bytes.value_or(total), total);
    out.push_back(std::make_unique<DeviceSlot>(std::move(device), out.size(),
                                               config.gpus.quarantine_after, memory, changed));
  }
  return out;
}

KeyCache::Options Engine::Impl::key_options(const Config& config) {
  return {.resident = parse_all(config.srs.resident_keys),
          .eviction_min_idle = config.memory.eviction_min_idle};
}

// One slot more than witnesses may wait, so that PoSt finds one.
Scheduler::Options Engine::Impl::scheduler_options(
    const Config& config, const std::vector<std::unique_ptr<DeviceSlot>>& devices) {
  std::uint32_t workers = 0;
  for (const auto& slot : devices) workers += slot->device().workers();
  const std::uint32_t depth = std::max(config.pipeline.queue_depth, 1U);
  const std::uint32_t lane = config.scheduler.reserved_lane ? 1 : 0;
  const std::uint32_t useful = std::max(workers, 1U) * depth + lane;
  return {.witness_slots = std::clamp(config.pipeline.max_parallel_synthesis, 1U, useful),
          .queue_depth = depth,
          .overlap = config.pipeline.overlap,
          .reserved_lane = config.scheduler.reserved_lane,
          .eviction_min_idle = config.memory.eviction_min_idle};
}

Engine::Impl::Impl(Config config, std::vector<std::unique_ptr<ProvingDevice>> devices,
                   std::unique_ptr<Journal> journal, std::unique_ptr<Preparation> preparation,
                   std::unique_ptr<ParameterStore> parameters)
    : config_(std::move(config)),
      devices_(make_slots(config_, std::move(devices), changed_)),
      journal_(std::move(journal)),
      preparation_(std::move(preparation)),
      parameters_(std::move(parameters)),
      host_(0, "", changed_),
      decoded_(0, "", changed_),
      table_(retention(config_)),
      lifecycle_(table_, *journal_, metrics_, changed_, lifecycle_options(config_)),
      keys_(devices_, *parameters_, host_, key_options(config_), changed_,
            [this](const KeyCache::Failure& failure) { on_load_failure(failure); }),
      scheduler_(table_, devices_, keys_, *parameters_, host_, changed_,
                 scheduler_options(config_, devices_)),
      admission_({table_, lifecycle_, *journal_, *preparation_, *parameters_, keys_, scheduler_,
                  host_, decoded_, metrics_, devices_},
                 admission_options(config_)),
      pipeline_({scheduler_, lifecycle_, keys_, *journal_, *preparation_, decoded_, metrics_,
                 trace_, changed_, devices_, config_.gpus.gpu_threads}),
      watchdog_(table_, lifecycle_, keys_, devices_) {
  if (config_.synthesis.threads != 0) {
    threads_.emplace(tbb::global_control::max_allowed_parallelism, config_.synthesis.threads);
  }
  parse_all(config_.srs.preload);  // complains before anything runs
  set_host_budget(config_.memory);
  // What is not checked yet is known to be so before jobs ask for it.
  for (const CircuitId& circuit : CircuitId::of_network()) parameters_->state(circuit);
  tell_devices();
  report_gpu_settings();
  write_timeline();  // complains before anything runs
  resume_jobs();
  pipeline_.start();
  start_thread_ = std::jthread([this, stop = start_stop_.get_token()] { start_up(stop); });
  watch_thread_ = std::jthread([this] { watch(); });
}

void Engine::Impl::set_host_budget(const Config::Memory& config) {
  const HostMemory memory = read_host_memory();
  const HostBudget host = host_budget(config, memory);
  const HostBudget pinned = pinned_budget(config, memory, host);
  const std::uint64_t decoded = host.bytes / kDecodedShare;
  host_.set_total(host.bytes - decoded, host.source);
  decoded_.set_total(decoded, host.source);
  const std::lock_guard lock(config_mutex_);
  pinned_total_ = pinned.bytes;
  pinned_source_ = pinned.source;
}

void Engine::Impl::resume_jobs() {
  for (const std::string& digest : journal_->crashers(kMaxCrashes)) admission_.refuse(digest);
  std::vector<Journal::UnfinishedJob> jobs = journal_->unfinished();
  // The process may have died between taking a request's new content and dropping the job of the
  // old one.
  std::map<std::string, std::string> newest;  // digests by request id
  for (const Journal::UnfinishedJob& job : jobs) {
    if (!job.request.request_id.empty()) newest[job.request.request_id] = job.payload_digest;
  }
  for (Journal::UnfinishedJob& unfinished : jobs) {
    const std::string id = unfinished.job_id;
    const auto give_up = [&](ErrorCode code, std::string_view text) {
      JobResult result;
      result.job_id = id;
      if (code == ErrorCode::kSuperseded) result.state = JobState::kCancelled;
      result.code = code;
      result.error = fmt::format("{}: {}: {}", to_string(code), id, text);
      journal_->finish(result);
      base::process_log().warn({.job = id, .code = to_string(code)}, "not resumed: {}", text);
    };
    try {
      const auto content = newest.find(unfinished.request.request_id);
      if (content != newest.end() && content->second != unfinished.payload_digest) {
        give_up(ErrorCode::kSuperseded,
                Admission::superseded_text(content->second, unfinished.payload_digest));
        metrics_.superseded();
        continue;
      }
      if (unfinished.crashes >= kMaxCrashes) {
        give_up(ErrorCode::kRefused, "the program died twice while it worked on this input");
        continue;
      }
      // One payload in memory at a time; it is read again when it is decoded.
      const std::optional<JobRequest> request = journal_->request(id);
      if (request) lifecycle_.resume(std::move(unfinished), preparation_->examine(*request));
    } catch (const EngineError& error) {
      give_up(error.code(), text_without_code(error));
    } catch (const base::CorruptData& error) {
      give_up(ErrorCode::kInternal, error.what());
    }
  }
}

void Engine::Impl::start_up(const std::stop_token& stop) {
  set_thread_name("start");
  set_start_step("testing the devices");
  test_devices();
  // WinningPoSt first: its keys are there before anything long begins.
  check_parameters(stop, true);
  reserve_for_post();
  preload_winning_post();
  check_parameters(stop, false);
  if (stop.stop_requested()) return;
  log_what_fits();
  started_ = true;
  changed_.raise();
  keep_checked(stop);
}

void Engine::Impl::test_devices() {
  for (const auto& slot : devices_) {
    DeviceSlot::Trial trial = DeviceSlot::attempt([&] { slot->device().self_test(); });
    if (!trial.fault.empty() && !stopping_) {
      base::process_log().warn({.device = slot->name(), .code = "GPU-RESET"},
                               "{}: the self-test failed: {}; it is reset and tested again",
                               slot->name(), trial.fault);
      trial = DeviceSlot::attempt([&] {
        slot->device().reset();
        slot->device().self_test();
      });
    }
    slot->tested(trial.fault);
  }
}

// What waits for a check: what jobs wait for first, then what is to be loaded.
std::vector<CircuitId> Engine::Impl::to_check(bool winning_post_only) const {
  std::vector<CircuitId> wanted, preloaded, rest;
  for (const CircuitId& circuit : parameters_->unchecked()) {
    const bool winning = circuit.kind == filecoin::CircuitKind::kWinningPost;
    if (winning_post_only && !winning) continue;
    if (!scheduler_.is_unwanted(circuit)) {
      wanted.push_back(circuit);
    } else {
      (is_preloaded(circuit) ? preloaded : rest).push_back(circuit);
    }
  }
  wanted.insert(wanted.end(), preloaded.begin(), preloaded.end());
  wanted.insert(wanted.end(), rest.begin(), rest.end());
  return wanted;
}

// Each circuit that waits for its check once. Configured keys are loaded as soon as their own files
// are checked.
void Engine::Impl::check_parameters(const std::stop_token& stop, bool winning_post_only) {
  std::vector<CircuitId> done;
  const auto is_done = [&](const CircuitId& circuit) {
    return std::ranges::find(done, circuit) != done.end();
  };
  for (;;) {
    std::vector<CircuitId> waiting = to_check(winning_post_only);
    std::erase_if(waiting, is_done);
    if (waiting.empty() || stop.stop_requested()) break;
    const CircuitId circuit = waiting.front();
    done.push_back(circuit);
    set_start_step(fmt::format(
        "checking the files of {}{}", circuit.to_string(),
        waiting.size() == 1 ? std::string() : fmt::format(", then {} more", waiting.size() - 1)));
    inspect(circuit, stop);
    if (!started_ && !stop.stop_requested() && is_preloaded(circuit) && is_ready(circuit))
      preload_or_log(circuit.to_string());
  }
  if (winning_post_only || started_) return;
  for (const std::string& name : preload_names()) {
    if (!stop.stop_requested() && !is_done(CircuitId::parse(name))) preload_or_log(name);
  }
}

void Engine::Impl::inspect(const CircuitId& circuit, const std::stop_token& stop) {
  const Clock::time_point begin = Clock::now();
  run_with_priority(WorkPriority::kLow, [&] { parameters_->inspect(circuit, stop); });
  changed_.raise();
  if (stop.stop_requested()) return;
  const ParameterStore::State state = parameters_->known(circuit);
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  if (state.readiness == CircuitStatus::Readiness::kCorrupt) {
    base::process_log().error({.code = to_string(ErrorCode::kParamsCorrupt)}, "{}: {}",
                              circuit.to_string(), state.detail);
  } else if (state.readiness == CircuitStatus::Readiness::kChecking) {
    base::process_log().info({}, "{}", state.detail);
  } else {
    base::process_log().info({}, "{}: files checked in {:.1f} s", circuit.to_string(), seconds);
  }
}

// Files that are added or replaced later. Whoever asks for a circuit's state, as the daemon does
// every second and each request does, finds them.
void Engine::Impl::keep_checked(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const std::uint64_t seen = changed_.generation();
    check_parameters(stop, false);
    changed_.wait(seen, std::chrono::milliseconds(1000));
  }
}

void Engine::Impl::set_start_step(std::string text) {
  const std::lock_guard lock(config_mutex_);
  start_step_ = std::move(text);
}

bool Engine::Impl::is_ready(const CircuitId& circuit) const {
  return parameters_->state(circuit).readiness == CircuitStatus::Readiness::kReady;
}

// Memory for one partition of each PoSt that can come, if it is no large part of all.
void Engine::Impl::reserve_for_post() {
  bool reserved_lane = false;
  {
    const std::lock_guard lock(config_mutex_);
    reserved_lane = config_.scheduler.reserved_lane;
  }
  if (!reserved_lane) return;
  std::uint64_t share = 0;
  const std::uint64_t most = host_.status().total / 8;
  for (const CircuitId& circuit : CircuitId::of_network()) {
    if (!circuit.is_post() || !has_files(parameters_->known(circuit).readiness)) continue;
    for (const auto& slot : devices_) {
      try {
        const std::uint64_t bytes = keys_.needs(circuit, slot->index()).host_partition;
        if (bytes <= most) share = std::max(share, bytes);
      } catch (const std::exception&) {
        continue;  // said when the circuit is wanted
      }
    }
  }
  host_.set_urgent_share(share);
}

// Of the circuits whose parameters are there. Who asks for one that does not fit is refused.
void Engine::Impl::log_what_fits() {
  std::string fitting;
  for (const CircuitId& circuit : CircuitId::of_network()) {
    if (stopping_) return;
    if (!is_ready(circuit)) continue;
    try {
      admission_.require_memory(circuit, {});
      fitting += (fitting.empty() ? "" : ", ") + circuit.to_string();
    } catch (const EngineError& error) {
      const base::LogFields about{.code = to_string(error.code())};
      const std::string text = text_without_code(error);
      if (error.code() == ErrorCode::kHostMemory || error.code() == ErrorCode::kGpuMemory) {
        base::process_log().warn(about, "does not fit: {}", text);
      } else {
        base::process_log().error(about, "{}: {}", circuit.to_string(), text);
      }
    }
  }
  base::process_log().info({}, "circuits that fit: {}", fitting.empty() ? "none" : fitting);
}

void Engine::Impl::preload_winning_post() {
  for (const CircuitId& circuit : CircuitId::of_network()) {
    const bool winning = circuit.kind == filecoin::CircuitKind::kWinningPost;
    if (winning && is_ready(circuit)) preload_or_log(circuit.to_string());
  }
}

std::vector<std::string> Engine::Impl::preload_names() const {
  const std::lock_guard lock(config_mutex_);
  return config_.srs.preload;
}

bool Engine::Impl::is_preloaded(const CircuitId& circuit) const {
  return std::ranges::any_of(
      preload_names(), [&](const std::string& name) { return CircuitId::parse(name) == circuit; });
}

void Engine::Impl::preload_or_log(const std::string& circuit) {
  if (stopping_) return;
  set_start_step("loading key " + circuit);
  try {
    preload(circuit);
  } catch (const EngineError& error) {
    base::process_log().error({.code = to_string(error.code())}, "preloading {}: {}", circuit,
                              text_without_code(error));
  }
}

void Engine::Impl::watch() {
  set_thread_name("watchdog");
  constexpr std::chrono::minutes kTrimInterval(10);
  constexpr std::chrono::seconds kTimelineInterval(10), kResultsInterval(2);
  Clock::time_point next_trim = Clock::now() + kTrimInterval;
  Clock::time_point next_timeline = Clock::now(), next_results = next_timeline;
  while (!stopping_) {
    Watchdog::Options options;
    {
      const std::lock_guard lock(config_mutex_);
      options = {.warning = config_.reliability.stall_warning,
                 .limit = config_.reliability.stall_limit};
    }
    watchdog_.look(options);
    if (Clock::now() >= next_timeline) {
      next_timeline = Clock::now() + kTimelineInterval;
      write_timeline_or_log();
    }
    if (Clock::now() >= next_results) {
      next_results = Clock::now() + kResultsInterval;
      lifecycle_.journal_results();
    }
    if (Clock::now() >= next_trim) {
      next_trim = Clock::now() + kTrimInterval;
      try {
        journal_->trim();
      } catch (const std::exception& error) {
        base::process_log().error({}, "the journal's retention failed: {}", error.what());
      }
    }
    // Not woken by every change: what it looks for takes seconds.
    std::unique_lock lock(watch_mutex_);
    watch_stop_.wait_for(lock, std::chrono::milliseconds(250), [&] { return stopping_.load(); });
  }
}

std::vector<std::string> Engine::Impl::reconfigure(const Config& config) {
  std::vector<std::string> need_restart;
  Config::Memory memory;
  {
    const std::lock_guard lock(config_mutex_);
    for (const ConfigChange& change : config_changes(config_, config)) {
      if (!change.reloadable) need_restart.push_back(change.setting);
    }
    // The reloadable ones that are the engine's.
    memory = config_.memory;
    memory.total_budget = config.memory.total_budget;
    memory.safety_margin = config.memory.safety_margin;
    config_.memory = memory;
    config_.scheduler.max_queued_jobs = config.scheduler.max_queued_jobs;
    config_.scheduler.max_queued_low = config.scheduler.max_queued_low;
    config_.reliability.stall_warning = config.reliability.stall_warning;
    config_.reliability.stall_limit = config.reliability.stall_limit;
    config_.reliability.keep_results = config.reliability.keep_results;
    config_.reliability.max_results = config.reliability.max_results;
    config_.logging.level = config.logging.level;
  }
  set_host_budget(memory);
  journal_->set_retention(config.reliability.keep_results, config.reliability.max_results);
  admission_.set_options(admission_options(config));
  {
    const JobTable::Lock lock = table_.lock();
    table_.set_retention(lock, retention(config));
  }
  if (const auto level = base::parse_log_level(config.logging.level))
    base::process_log().set_level(*level);
  return need_restart;
}

}  // namespace cuzk::engine
