#include "service/daemon.hpp"

#include "base/log.hpp"
#include "engine/host_memory.hpp"
#include "service/memory_trim.hpp"
#include "service/status_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <thread>

namespace cuzk::service {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kAnswerGrace{5};  // for answers that are ready when the engine stops
// For all that stop_now() waits for, once no device is left to wait for.
constexpr std::chrono::seconds kRestartGrace{60};

sigset_t our_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  return signals;
}

/// The next of our signals; 0 if none came in time.
int wait_for_signal(std::chrono::milliseconds limit) {
  const sigset_t signals = our_signals();
  const timespec time{limit.count() / 1000, (limit.count() % 1000) * 1'000'000};
  const int signal = ::sigtimedwait(&signals, nullptr, &time);
  return signal > 0 ? signal : 0;
}

std::string upper(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return out;
}

std::string gibibytes(std::uint64_t bytes) {
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (std::uint64_t{1} << 30));
}

std::size_t checker_threads() {
  return std::clamp<std::size_t>(std::thread::hardware_concurrency() / 4, 2, 8);
}

ProvingService::Limits limits_of(const engine::Config& config) {
  ProvingService::Limits limits;
  limits.unchecked_bytes = std::max(limits.unchecked_bytes, config.daemon.max_message_bytes);
  limits.checkers = static_cast<unsigned>(checker_threads());
  return limits;
}

}  // namespace

void Daemon::block_signals() {
  const sigset_t signals = our_signals();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  // A client that goes away must not end the process.
  std::signal(SIGPIPE, SIG_IGN);
}

Daemon::Daemon(EngineApi& api, const engine::Config& config, Options options)
    : api_(api),
      drain_timeout_(config.daemon.drain_timeout),
      options_(std::move(options)),
      server_(api, config.daemon, limits_of(config)),
      next_health_(Clock::now() + options_.health_interval) {
  if (!config.daemon.status_listen.empty()) http_.emplace(api, config.daemon.status_listen);
  auto& log = base::process_log();
  log.info({}, "gRPC on {} ({}), messages up to {} MiB", server_.address().grpc_target(),
           server_.protection(), config.daemon.max_message_bytes >> 20);
  if (!server_.address().is_local() && server_.protection() == "no protection")
    log.warn({}, "anybody who reaches {} can use this daemon", server_.address().grpc_target());
  if (http_) {
    log.info({}, "status page on http://{}/", http_->address().grpc_target());
    if (!http_->address().is_local())
      log.warn({}, "job ids and errors can be read by anybody who reaches {}",
               http_->address().grpc_target());
  }
}

std::string Daemon::run() {
  auto& log = base::process_log();
  // The check of large files takes longer than a manager waits for a start.
  manager_.tell("READY=1");
  std::atomic<bool> drained = false, stopping = false;
  std::jthread drainer, stopper;  // so that this thread hears the next signal meanwhile
  int asked = 0;                  // signals that end the daemon
  std::string restart;
  Clock::time_point restart_limit = Clock::time_point::max();
  while (!drained || stopping) {
    const std::string restart_because = tick();
    if (asked == 0 && restart.empty() && !restart_because.empty()) {
      restart = restart_because;
      restart_limit = Clock::now() + kRestartGrace;
      log.error(
          {.code = "GPU-LOST"},
          "{}. Stopping, so that a new process can use it; unfinished jobs stay in the journal",
          restart);
      manager_.tell("STOPPING=1");
      drainer = std::jthread([this, &drained] {
        api_.stop_now();
        drained = true;
      });
    }
    if (Clock::now() >= restart_limit) {
      log.error({}, "still not stopped; ending at once");
      log.flush();
      std::_Exit(EXIT_FAILURE);
    }
    // While ending, the loop also looks whether it is over.
    const int signal =
        wait_for_signal(std::chrono::milliseconds(asked == 0 && restart.empty() ? 1000 : 50));
    if (signal == SIGHUP) {
      if (!options_.reload) continue;
      manager_.tell("RELOADING=1");
      try {
        options_.reload(*this);
      } catch (const std::exception& error) {
        log.error({}, "the configuration was not taken over: {}", error.what());
      }
      manager_.tell("READY=1");
    } else if (signal == SIGTERM || signal == SIGINT) {
      ++asked;
      if (asked == 1 && !restart.empty()) continue;  // it stops already
      if (asked == 1) {
        log.info({}, "draining: running jobs have {} s; a second signal stops at once",
                 std::chrono::duration_cast<std::chrono::seconds>(drain_timeout_).count());
        manager_.tell("STOPPING=1");
        drainer = std::jthread([this, &drained, limit = drain_timeout_] {
          api_.drain(limit);
          drained = true;
        });
      } else if (asked == 2) {
        log.warn({},
                 "stopping now, after the partitions under way; unfinished jobs stay in the "
                 "journal; a third signal ends the process");
        stopping = true;
        stopper = std::jthread([this, &stopping] {
          api_.stop_now();
          stopping = false;
        });
      } else {
        log.warn({}, "ending at once; unfinished jobs stay in the journal");
        log.flush();
        std::_Exit(128 + signal);
      }
    }
  }
  drainer.join();
  if (stopper.joinable()) stopper.join();
  server_.set_serving(false);
  // Jobs that ended with the drain are answered for; the rest is told to come again.
  api_.settle(kAnswerGrace);
  server_.service().end_waits();
  server_.shut_down(kAnswerGrace);
  log.info({}, "stopped");
  return asked == 0 ? restart : std::string();
}

void Daemon::reconfigure(const engine::Config& config) {
  server_.reconfigure(config.daemon);
  drain_timeout_ = config.daemon.drain_timeout;
}

std::string Daemon::tick() {
  const engine::Status status = api_.status();
  log_circuits(status);
  log_readiness(status);
  manager_.tell("WATCHDOG=1");
  trim(status);
  if (Clock::now() >= next_health_) {
    log_health(status);
    next_health_ += options_.health_interval;
  }
  return status.restart_because;
}

void Daemon::log_readiness(const engine::Status& status) {
  if (status.ready != serving_) {
    serving_ = status.ready;
    server_.set_serving(serving_);
  }
  const std::string now = status.ready ? "ready" : status.not_ready_because;
  if (now == told_) return;
  told_ = now;
  base::process_log().info({}, "{}{}", status.ready ? "" : "not ready: ", now);
  manager_.tell("STATUS=" + now);
}

// Says of each circuit what it is, once, and again when that changes.
void Daemon::log_circuits(const engine::Status& status) {
  using Readiness = engine::CircuitStatus::Readiness;
  for (const engine::CircuitStatus& circuit : status.circuits) {
    const auto known = logged_circuits_.find(circuit.circuit_id);
    if (known != logged_circuits_.end() && known->second == circuit.readiness) continue;
    logged_circuits_[circuit.circuit_id] = circuit.readiness;
    const bool is_bad = circuit.readiness == Readiness::kCorrupt;
    base::process_log().log(is_bad ? base::LogLevel::kError : base::LogLevel::kInfo, {},
                            "circuit {}: {}{}{}", circuit.circuit_id,
                            upper(readiness_name(circuit.readiness)),
                            circuit.detail.empty() ? "" : ": ", circuit.detail);
  }
}

// What jobs held is given back when there are none any more.
void Daemon::trim(const engine::Status& status) {
  constexpr std::chrono::seconds kInterval(10);
  std::uint64_t ended = 0;
  for (const auto& [kind, counters] : status.counters.kinds) {
    if (counters.pending + counters.in_progress != 0) return;
    ended += counters.completed + counters.failed + counters.cancelled;
  }
  if (ended == trimmed_after_ || Clock::now() < next_trim_) return;
  trimmed_after_ = ended;
  next_trim_ = Clock::now() + kInterval;
  trim_memory();
}

void Daemon::log_health(const engine::Status& status) {
  std::uint64_t proofs = 0, failed = 0, device_used = 0;
  for (const auto& [kind, counters] : status.counters.kinds) {
    proofs += counters.completed;
    failed += counters.failed;
  }
  for (const engine::DeviceStatus& device : status.devices)
    device_used += device.memory_total - std::min(device.memory_free, device.memory_total);
  const engine::ProcessUsage use = engine::read_process_usage();
  base::process_log().info({},
                           "HEALTH: up {:.1f} h, {} proofs, {} failed, {} invalid and dropped, rss "
                           "{}, device memory {}, "
                           "{} threads, {} open files",
                           status.uptime_secs / 3600, proofs, failed,
                           status.counters.self_check_failures, gibibytes(use.resident),
                           gibibytes(device_used), use.threads, use.descriptors);
}

}  // namespace cuzk::service
