#pragma once

#include "engine/config.hpp"
#include "service/listen_address.hpp"
#include "service/proving_service.hpp"
#include "service/socket_claim.hpp"

#include <grpcpp/server.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace cuzk::service {

/// The gRPC server: the proving service, the standard health service (which asks for no token) and
/// reflection, on one address, with what the configuration says of TLS and tokens.
class GrpcServer {
 public:
  /// Listens when this returns. Throws base::InvalidInput if it may not (a TCP address that other
  /// machines reach, without TLS or token, unless allow_insecure), if a file of the settings is
  /// unfit, if the address is taken: "ALREADY-RUNNING" for a unix socket.
  GrpcServer(EngineApi& api, const engine::Config::Daemon& config,
             const ProvingService::Limits& limits);
  /// As shut_down with no grace.
  ~GrpcServer();
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  /// Where it listens, with the port that was chosen if the configuration's is 0.
  const ListenAddress& address() const { return address_; }
  /// "TLS with client certificates, token", "no protection".
  const std::string& protection() const { return protection_; }
  /// What the health service answers.
  void set_serving(bool serving);
  ProvingService& service() { return service_; }
  /// Takes over the tokens of a configuration that was read again; address and TLS stay those of
  /// the start. Throws base::InvalidInput, and changes nothing, if the token file is unfit or if
  /// nothing would protect the address that is served.
  void reconfigure(const engine::Config::Daemon& config);
  /// Takes no new call, waits for those under way, at most so long, and cancels the rest.
  void shut_down(std::chrono::milliseconds grace);

 private:
  const engine::Config::Daemon started_with_;
  ListenAddress address_;
  std::string protection_;
  std::optional<SocketClaim> claim_;
  ProvingService service_;
  std::unique_ptr<grpc::Server> server_;
};

/// As far as it can be known without starting: throws what the constructor would throw.
void check_listening(const engine::Config::Daemon& config);

}  // namespace cuzk::service
