#include "service/grpc_server.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "service/tls.hpp"

#include <grpc/compression.h>
#include <grpc/support/log.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <sys/stat.h>
#include <utility>

namespace cuzk::service {

namespace {

constexpr const char* kServiceName = "cuzk.v1.ProvingEngine";

/// Narrows the rights of new files for as long as it lives.
class Umask {
 public:
  explicit Umask(mode_t mask) : before_(::umask(mask)) {}
  ~Umask() { ::umask(before_); }
  Umask(const Umask&) = delete;
  Umask& operator=(const Umask&) = delete;

 private:
  mode_t before_;
};

void log_of_grpc(gpr_log_func_args* args) {
  const bool is_error = args->severity == GPR_LOG_SEVERITY_ERROR;
  base::process_log().log(is_error ? base::LogLevel::kWarn : base::LogLevel::kDebug, {}, "gRPC: {}",
                          args->message);
}

/// What must be so before the process can have a server at all.
void set_up_grpc() {
  static const bool done = [] {
    gpr_set_log_function(log_of_grpc);
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    return true;
  }();
  static_cast<void>(done);
}

Access access_of(const engine::Config::Daemon& config) {
  return config.token_file.empty() ? Access() : Access::from_token_file(config.token_file);
}

/// Whether strangers are kept out, or let in on purpose.
bool is_protected(const ListenAddress& address, const engine::Config::Daemon& config) {
  return address.is_local() || !config.tls_cert.empty() || !config.token_file.empty() ||
         config.allow_insecure;
}

ListenAddress address_of(const engine::Config::Daemon& config) {
  ListenAddress address = parse_listen_address(config.listen, "daemon.listen");
  base::require(
      is_protected(address, config),
      "daemon.listen: {} can be reached from other machines and anybody there could use "
      "this daemon; set daemon.tls_cert and tls_key, or daemon.token_file, or listen on a "
      "unix socket or 127.0.0.1; daemon.allow_insecure = true accepts the risk",
      config.listen);
  return address;
}

std::string protection_of(const engine::Config::Daemon& config) {
  std::string text;
  if (!config.tls_client_ca.empty()) {
    text = "TLS with client certificates";
  } else if (!config.tls_cert.empty()) {
    text = "TLS";
  }
  if (!config.token_file.empty()) text += text.empty() ? "token" : ", token";
  return text.empty() ? "no protection" : text;
}

/// What gRPC may hold of messages that are under way, which nothing else counts: several of the
/// largest at once.
std::size_t transport_memory(const engine::Config::Daemon& config) {
  constexpr std::uint64_t kLeast = std::uint64_t{4} << 30;
  return std::max(kLeast, 4 * config.max_message_bytes);
}

/// A message of a few hundred kilobytes can be hundreds of megabytes unpacked, before any limit
/// sees it. Curio compresses nothing.
void refuse_compressed_messages(grpc::ServerBuilder& builder) {
  for (const auto algorithm : {GRPC_COMPRESS_DEFLATE, GRPC_COMPRESS_GZIP})
    builder.SetCompressionAlgorithmSupportStatus(algorithm, false);
  // The status is sent once the call is looked at, which may be after its message was unpacked.
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
}

void configure(grpc::ServerBuilder& builder, const engine::Config::Daemon& config) {
  constexpr std::uint64_t kMax = std::numeric_limits<int>::max();
  builder.SetMaxReceiveMessageSize(static_cast<int>(std::min(config.max_message_bytes, kMax)));
  builder.SetMaxSendMessageSize(-1);
  refuse_compressed_messages(builder);
  builder.SetResourceQuota(grpc::ResourceQuota("daemon").Resize(transport_memory(config)));
  // A second daemon on the same port must fail, not share it.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  // Calls wait for half an hour: a client that is gone is found, and one that pings is let ping.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 30'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 5'000);
}

}  // namespace

void check_listening(const engine::Config::Daemon& config) {
  address_of(config);
  access_of(config);
  server_credentials(config);
}

GrpcServer::GrpcServer(EngineApi& api, const engine::Config::Daemon& config,
                       const ProvingService::Limits& limits)
    : started_with_(config),
      address_(address_of(config)),
      protection_(protection_of(config)),
      service_(api, access_of(config), limits) {
  set_up_grpc();
  grpc::ServerBuilder builder;
  configure(builder, config);
  int port = 0;
  builder.AddListeningPort(address_.grpc_target(), server_credentials(config), &port);
  builder.RegisterService(&service_);
  if (address_.is_unix) {
    claim_.emplace(address_.path);
    const Umask nobody_yet(0177);
    server_ = builder.BuildAndStart();
  } else {
    server_ = builder.BuildAndStart();
  }
  base::require(
      server_ != nullptr && port != 0,
      "daemon.listen: cannot listen on {}: the address is taken by another program, or is "
      "none of this machine's",
      config.listen);
  if (address_.is_unix) {
    base::require(::chmod(address_.path.c_str(), config.socket_mode) == 0,
                  "daemon.socket_mode: cannot set the mode of {}: {}", address_.path,
                  std::strerror(errno));
  } else {
    address_.port = static_cast<std::uint16_t>(port);
  }
  set_serving(false);
}

GrpcServer::~GrpcServer() { shut_down(std::chrono::milliseconds::zero()); }

void GrpcServer::set_serving(bool serving) {
  grpc::HealthCheckServiceInterface* health = server_->GetHealthCheckService();
  health->SetServingStatus(serving);
  health->SetServingStatus(kServiceName, serving);
}

void GrpcServer::reconfigure(const engine::Config::Daemon& config) {
  engine::Config::Daemon effective = started_with_;
  effective.token_file = config.token_file;
  base::require(is_protected(address_, effective),
                "daemon.token_file: without one anybody who reaches {}, where this daemon listens "
                "until its next start, could use it; set a token file, or restart the daemon to "
                "listen elsewhere",
                started_with_.listen);
  service_.set_access(access_of(effective));
}

void GrpcServer::shut_down(std::chrono::milliseconds grace) {
  if (!server_) return;
  server_->Shutdown(std::chrono::system_clock::now() + grace);
  server_.reset();
}

}  // namespace cuzk::service
