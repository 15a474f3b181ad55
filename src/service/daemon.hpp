#pragma once

#include "engine/config.hpp"
#include "service/engine_api.hpp"
#include "service/grpc_server.hpp"
#include "service/http_server.hpp"
#include "service/supervisor.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace cuzk::service {

/// Serves an engine, over gRPC and HTTP, until a signal ends it.
///   SIGTERM, SIGINT  drain: no new jobs, those that run may end within daemon.drain_timeout; what
///                    is left stays in the journal. A second one stops at the next partition
///                    boundary, a third ends the process at once with 128 plus its number.
///   SIGHUP           the configuration is read again
/// Tells the service manager when it listens (READY: jobs are taken from then on), what it does,
/// and that it lives. Whether devices are tested, parameter files checked and keys loaded is said
/// by the health service, /readyz and the log.
class Daemon {
 public:
  struct Options {
    /// Called on SIGHUP, by the thread that runs run(). What it throws is logged.
    std::function<void(Daemon& daemon)> reload;
    std::chrono::minutes health_interval{60};  ///< between two HEALTH lines in the log
  };

  /// Blocks the signals above for the calling thread and all that it starts later: to be called
  /// before any thread is started.
  static void block_signals();

  /// Listens when this returns. Throws what the servers' constructors throw. `api` outlives the
  /// daemon.
  Daemon(EngineApi& api, const engine::Config& config, Options options);

  /// Serves until a signal has ended the engine, which has stopped when this returns. Not empty: no
  /// signal came, but the engine's Status::restart_because.
  std::string run();
  /// Takes over what may change while running: tokens and the time to drain. For `reload` to call.
  /// Throws what GrpcServer::reconfigure throws, and changes nothing then.
  void reconfigure(const engine::Config& config);
  GrpcServer& server() { return server_; }
  const std::optional<HttpServer>& http() const { return http_; }

 private:
  // Returns the engine's restart_because.
  std::string tick();
  void log_readiness(const engine::Status& status);
  void log_circuits(const engine::Status& status);
  void trim(const engine::Status& status);
  void log_health(const engine::Status& status);

  EngineApi& api_;
  std::chrono::milliseconds drain_timeout_;
  Options options_;
  ServiceManager manager_;
  GrpcServer server_;
  std::optional<HttpServer> http_;

  bool serving_ = false;
  std::uint64_t trimmed_after_ = 0;  ///< jobs ended
  std::chrono::steady_clock::time_point next_trim_;
  std::string told_;  ///< the service manager, as STATUS
  std::chrono::steady_clock::time_point next_health_;
  std::map<std::string, engine::CircuitStatus::Readiness> logged_circuits_;
};

}  // namespace cuzk::service
