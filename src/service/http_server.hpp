#pragma once

#include "service/engine_api.hpp"
#include "service/listen_address.hpp"

#include <cstdint>
#include <memory>
#include <string_view>

namespace cuzk::service {

/// Reads only: GET and HEAD, anything else is 405. Every answer closes its connection; a client
/// that is too slow is given up.
///   /status    JSON (status_json.hpp), readable from any origin
///   /metrics   Prometheus text
///   /healthz   200 while the process answers
///   /readyz    200 when the start is over and while it accepts jobs, else 503 with the reason
///   /trace     Chrome trace-event JSON; 503 while another one is being made
///   /          the status page, built into the program, and what it refers to
/// Anything else is 404 with {"error": ...}.
class HttpServer {
 public:
  /// Listens when this returns. `api` outlives it. Throws base::InvalidInput if `address` is no TCP
  /// address or is taken.
  HttpServer(EngineApi& api, std::string_view address);
  /// Ends connections that are open.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// With the port that was chosen if the one asked for was 0.
  const ListenAddress& address() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cuzk::service
