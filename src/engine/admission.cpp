#include "engine/admission.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/random.hpp"
#include "engine/pipeline.hpp"
#include "engine/priority.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>

namespace cuzk::engine {

namespace {

constexpr std::size_t kMaxRequestId = 1024;

/// "porep-1000-42: ", or nothing.
std::string about(const JobRequest& request) {
  return request.request_id.empty() ? std::string() : request.request_id + ": ";
}

/// A place among those who check payloads, if there is a limit.
class CheckPlace {
 public:
  explicit CheckPlace(std::counting_semaphore<>* places) : places_(places) {
    if (places_ != nullptr) places_->acquire();
  }
  ~CheckPlace() {
    if (places_ != nullptr) places_->release();
  }
  CheckPlace(const CheckPlace&) = delete;
  CheckPlace& operator=(const CheckPlace&) = delete;

 private:
  std::counting_semaphore<>* places_;
};

std::string random_hex(std::size_t bytes) {
  base::Bytes random(bytes);
  base::random_bytes(random);
  return base::to_hex(random);
}

}  // namespace

class Admission::Turn {
 public:
  Turn(Admission& admission, std::string request_id)
      : admission_(admission), id_(std::move(request_id)) {
    if (id_.empty()) return;
    std::unique_lock lock(admission_.mutex_);
    admission_.turn_over_.wait(lock, [&] { return !admission_.under_way_.contains(id_); });
    admission_.under_way_.insert(id_);
  }
  ~Turn() {
    if (id_.empty()) return;
    {
      const std::lock_guard lock(admission_.mutex_);
      admission_.under_way_.erase(id_);
    }
    admission_.turn_over_.notify_all();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  Admission& admission_;
  const std::string id_;
};

Admission::Admission(const Parts& parts, Options options) : parts_(parts), options_(options) {}

void Admission::refuse(const std::string& digest) {
  const std::lock_guard lock(mutex_);
  refused_.insert(digest);
}

void Admission::set_options(Options options) {
  const std::lock_guard lock(mutex_);
  options_ = options;
}

Engine::Submitted Admission::submit(JobRequest request) {
  try {
    return take(request);
  } catch (const EngineError& error) {
    parts_.metrics.refused(request.kind, error.code());
    base::process_log().warn(
        {.job = request.request_id, .kind = label(request.kind), .code = to_string(error.code())},
        "refused: {}", text_without_code(error));
    throw;
  }
}

Engine::Submitted Admission::take(const JobRequest& request) {
  if (parts_.scheduler.mode() != Scheduler::Mode::kRunning)
    throw EngineError(ErrorCode::kShuttingDown, about(request) + "no new jobs are taken");
  if (request.request_id.size() > kMaxRequestId) {
    throw EngineError(ErrorCode::kBadInput, fmt::format("request_id has {} bytes, {} are allowed",
                                                        request.request_id.size(), kMaxRequestId));
  }
  const std::string digest = payload_digest(request);
  const Turn turn(*this, request.request_id);
  try {
    if (auto submitted = known(request, digest)) return *submitted;
    return admit(request, digest);
  } catch (const base::ResourceExhausted& error) {
    throw EngineError(ErrorCode::kQueueFull, about(request) + error.what());
  } catch (const base::CorruptData& error) {
    // The files of parameters have an error of their own.
    throw EngineError(ErrorCode::kInternal, about(request) + "the journal: " + error.what());
  }
}

// The job, if the same request was submitted before and is being worked on or has succeeded. One
// that has failed is tried again.
std::optional<Engine::Submitted> Admission::known(const JobRequest& request,
                                                  const std::string& digest) {
  if (request.request_id.empty()) return std::nullopt;
  {
    JobTable::Lock lock = parts_.table.lock();
    auto job = parts_.table.find_request(lock, request.request_id);
    // How one ends that is about to is not known here yet.
    while (job && job->digest == digest && job->ending && !is_final(job->state)) {
      job->ended.wait_for(lock, std::chrono::milliseconds(200));
      job = parts_.table.find_request(lock, request.request_id);
    }
    if (job && job->digest == digest) {
      const bool finished = job->state == JobState::kCompleted;
      if (finished || !is_final(job->state)) {
        ++job->submits;
        finished ? parts_.metrics.replayed() : parts_.metrics.joined();
        return Engine::Submitted{
            job->id, static_cast<std::uint32_t>(finished ? 0 : parts_.table.position(lock, *job)),
            device_with(job->circuit), true};
      }
    }
  }
  const auto finished = parts_.journal.find(request.request_id, digest);
  if (!finished || finished->result.state != JobState::kCompleted) return std::nullopt;
  parts_.metrics.replayed();
  return Engine::Submitted{finished->result.job_id, 0, {}, true};
}

Engine::Submitted Admission::admit(const JobRequest& request, const std::string& digest) {
  {
    const std::lock_guard lock(mutex_);
    if (refused_.contains(digest)) {
      throw EngineError(
          ErrorCode::kRefused,
          about(request) +
              "the program died twice while it worked on this input, which is refused "
              "from now on. If something else was the cause (dmesg | grep -i oom), "
              "stop the daemon, run `cuzk journal forgive` on its journal.sqlite, "
              "start it");
    }
  }
  const CircuitId circuit = parts_.preparation.examine(request);
  require_parameters(circuit, about(request));
  require_device(about(request));
  require_memory(circuit, about(request));
  require_place(request);
  const bool bulk = !is_urgent(request.kind);
  Lifecycle::NewJob made{{}, digest, circuit, {}, {}};
  try {
    const CheckPlace place(bulk ? &bulk_checks_ : nullptr);
    made.prepared = run_with_priority(bulk ? WorkPriority::kLow : WorkPriority::kHigh,
                                      [&] { return parts_.preparation.check(request); });
  } catch (const std::bad_alloc&) {
    throw EngineError(ErrorCode::kHostMemory,
                      about(request) + "no memory is left to decode the payload");
  }
  if (auto memory = parts_.decoded.try_reserve(made.prepared.bytes, Lane::kNormal))
    made.memory = std::move(*memory);
  made.id = new_job_id(request.request_id);
  const std::shared_ptr<Job> old = superseded_by(request, digest);
  const auto job = parts_.lifecycle.accept(request, std::move(made));
  if (old) supersede(old, digest);
  const JobTable::Lock lock = parts_.table.lock();
  return {job->id, static_cast<std::uint32_t>(parts_.table.position(lock, *job)),
          device_with(circuit), false};
}

void Admission::require_parameters(const CircuitId& circuit, const std::string& about) const {
  const ParameterStore::State state = parts_.parameters.state(circuit);
  if (has_files(state.readiness)) return;
  throw EngineError(state.readiness == CircuitStatus::Readiness::kCorrupt
                        ? ErrorCode::kParamsCorrupt
                        : ErrorCode::kParamsMissing,
                    about + state.detail);
}

void Admission::require_device(const std::string& about) const {
  if (!all_are_quarantined(parts_.devices)) return;
  std::string reasons;
  for (const auto& slot : parts_.devices)
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", slot->name(),
                           slot->status().quarantine_reason);
  throw EngineError(ErrorCode::kNoGpu, about + "no usable device: " + reasons);
}

void Admission::require_memory(const CircuitId& circuit, const std::string& about) const {
  const Lane lane = circuit.is_post() ? Lane::kUrgent : Lane::kNormal;
  std::string why;
  ErrorCode code = ErrorCode::kHostMemory;
  for (const auto& slot : parts_.devices) {
    ProvingDevice::Needs needs;
    try {
      needs = parts_.keys.needs(circuit, slot->index());
    } catch (const base::CorruptData& error) {
      parts_.parameters.mark_corrupt(circuit, error.what());
      throw EngineError(ErrorCode::kParamsCorrupt, about + error.what());
    } catch (const base::InvalidInput& error) {
      throw EngineError(ErrorCode::kParamsMissing, about + error.what());
    }
    const BudgetStatus device = slot->memory().status();
    if (needs.device > device.total) {
      code = ErrorCode::kGpuMemory;
      why = fmt::format("{} needs {} of device memory; {} has {} for it (gpus.vram_budget)",
                        circuit.to_string(), format_bytes(needs.device), slot->name(),
                        format_bytes(device.total));
      continue;
    }
    const std::uint64_t host = needs.host_key + needs.host_partition;
    const std::uint64_t kept = parts_.keys.kept(circuit, slot->index()).host;
    if (parts_.host.can_ever(host + kept, lane)) return;
    const BudgetStatus budget = parts_.host.status();
    code = ErrorCode::kHostMemory;
    why = fmt::format(
        "{} needs {} of host memory (key {}, partition {}) beside {} of keys that always stay; the "
        "budget is {} (from {}), of which a share is kept for PoSt",
        circuit.to_string(), format_bytes(host), format_bytes(needs.host_key),
        format_bytes(needs.host_partition), format_bytes(kept), format_bytes(budget.total),
        budget.source);
  }
  throw EngineError(code, about + why);
}

void Admission::require_place(const JobRequest& request) const {
  const bool urgent = is_urgent(request.kind);
  const bool low = effective_priority(request.kind, request.priority) == Priority::kLow;
  Options options;
  {
    const std::lock_guard lock(mutex_);
    options = options_;
  }
  const std::uint32_t limit = low ? options.max_queued_low : options.max_queued_jobs;
  const JobTable::Lock lock = parts_.table.lock();
  const std::size_t waiting = parts_.table.unfinished(lock, [&](const Job& job) {
    return job.is_urgent() == urgent && (job.priority == Priority::kLow) == low;
  });
  if (waiting < limit) return;
  throw EngineError(
      ErrorCode::kQueueFull,
      fmt::format("{}{} jobs wait already, which is the limit (scheduler.{}); try "
                  "again later",
                  about(request), waiting, low ? "max_queued_low" : "max_queued_jobs"));
}

// The request's own id where it is free, as clients may expect.
std::string Admission::new_job_id(const std::string& request_id) const {
  if (request_id.empty()) return random_hex(16);
  bool taken = false;
  {
    const JobTable::Lock lock = parts_.table.lock();
    taken = parts_.table.find(lock, request_id) != nullptr;
  }
  if (!taken && !parts_.journal.find_job(request_id)) return request_id;
  return request_id + "~" + random_hex(4);
}

std::shared_ptr<Job> Admission::superseded_by(const JobRequest& request,
                                              const std::string& digest) const {
  if (request.request_id.empty()) return nullptr;
  const JobTable::Lock lock = parts_.table.lock();
  const auto old = parts_.table.find_request(lock, request.request_id);
  return old && !is_final(old->state) && old->digest != digest ? old : nullptr;
}

void Admission::supersede(const std::shared_ptr<Job>& old, const std::string& digest) {
  const std::string text = superseded_text(digest, old->digest);
  if (parts_.lifecycle.cancel(old, ErrorCode::kSuperseded, text)) parts_.metrics.superseded();
}

std::string Admission::superseded_text(std::string_view digest, std::string_view previous) {
  return fmt::format("new input digest {}..., previous {}... dropped", digest.substr(0, 8),
                     previous.substr(0, 8));
}

std::string Admission::device_with(const CircuitId& circuit) const {
  for (const auto& slot : parts_.devices) {
    if (parts_.keys.is_loaded(circuit, slot->index())) return slot->name();
  }
  return {};
}

}  // namespace cuzk::engine
