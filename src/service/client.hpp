#pragma once

#include "cuzk/v1/proving.grpc.pb.h"
#include "service/tls.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace cuzk::service {

/// How a program reaches a daemon.
struct ClientOptions {
  std::string address;  ///< as daemon.listen; any other scheme is gRPC's own ("dns:///host:port")
  std::string token_file;  ///< its first token is shown; empty: none
  ClientTls tls;
};

/// A connection to a daemon, made when it is first used. Any thread may call.
class Client {
 public:
  /// Throws base::InvalidInput for an address or a file that is unfit.
  explicit Client(const ClientOptions& options);

  v1::ProvingEngine::Stub& stub() const { return *stub_; }
  /// Sets the call's time limit, and shows the token. Zero: no limit.
  void prepare(grpc::ClientContext& call, std::chrono::milliseconds timeout) const;

 private:
  std::string authorization_;
  std::unique_ptr<v1::ProvingEngine::Stub> stub_;
};

/// Throws what a failed call means to the caller: base::ResourceExhausted where trying again later
/// may help (RESOURCE_EXHAUSTED, UNAVAILABLE, DEADLINE_EXCEEDED, ABORTED), std::runtime_error for a
/// bug of the daemon (INTERNAL, UNKNOWN, DATA_LOSS), else base::InvalidInput. `address` is named in
/// the text, and the call's time limit where that was reached (zero: not known).
void require_ok(const grpc::Status& status, std::string_view address,
                std::chrono::milliseconds timeout = {});

}  // namespace cuzk::service
