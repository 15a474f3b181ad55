#include "service/client.hpp"

#include "base/error.hpp"
#include "engine/job.hpp"
#include "service/listen_address.hpp"

#include <grpcpp/create_channel.h>
#include <grpcpp/support/channel_arguments.h>

#include <array>
#include <fstream>
#include <stdexcept>

namespace cuzk::service {

namespace {

std::string target_of(const std::string& address) {
  const bool is_ours = address.starts_with("unix:") || address.starts_with("http://") ||
                       address.starts_with("tcp://") || address.find("://") == std::string::npos;
  return is_ours ? parse_listen_address(address, "--addr").grpc_target() : address;
}

std::string first_token(const std::string& path) {
  std::ifstream file(path);
  base::require(file.is_open(), "--token-file: cannot read {}", path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#') continue;
    return line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
  }
  base::fail<base::InvalidInput>("--token-file: {} holds no token", path);
}

}  // namespace

Client::Client(const ClientOptions& options) {
  if (!options.token_file.empty()) authorization_ = "Bearer " + first_token(options.token_file);
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  stub_ = v1::ProvingEngine::NewStub(grpc::CreateCustomChannel(
      target_of(options.address), client_credentials(options.tls), arguments));
}

void Client::prepare(grpc::ClientContext& call, std::chrono::milliseconds timeout) const {
  if (timeout != std::chrono::milliseconds::zero())
    call.set_deadline(std::chrono::system_clock::now() + timeout);
  if (!authorization_.empty()) call.AddMetadata("authorization", authorization_);
}

namespace {

constexpr std::array<std::string_view, 17> kStatusNames = {
    "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED"};

/// What the daemon said, or what gRPC says where the daemon did not answer, with what to look at.
std::string text_of(const grpc::Status& status, std::chrono::milliseconds timeout) {
  const std::string& said = status.error_message();
  const auto number = static_cast<std::size_t>(status.error_code());
  const auto is_code = [&](engine::ErrorCode code) {
    return said.starts_with(fmt::format("{}:", engine::to_string(code)));
  };
  if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED &&
      !is_code(engine::ErrorCode::kStalled) && timeout.count() > 0) {
    return fmt::format("no answer within --timeout {} s", timeout.count() / 1000);
  }
  std::string text = said;
  if (text.empty())
    text = number < kStatusNames.size() ? std::string(kStatusNames[number])
                                        : fmt::format("status {}", number);
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE && !is_code(engine::ErrorCode::kNoGpu) &&
      !is_code(engine::ErrorCode::kShuttingDown)) {
    text +=
        "; does the daemon run (systemctl status cuzk), is this its daemon.listen, is this user in "
        "group cuzk, does it want --tls-ca?";
  }
  return text;
}

}  // namespace

void require_ok(const grpc::Status& status, std::string_view address,
                std::chrono::milliseconds timeout) {
  if (status.ok()) return;
  const std::string text = text_of(status, timeout);
  switch (status.error_code()) {
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::DEADLINE_EXCEEDED:
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
    case grpc::StatusCode::ABORTED:
      base::fail<base::ResourceExhausted>("{}: {}", address, text);
    case grpc::StatusCode::INTERNAL:
    case grpc::StatusCode::UNKNOWN:
    case grpc::StatusCode::DATA_LOSS:
      throw std::runtime_error(fmt::format("{}: {}", address, text));
    default:
      base::fail<base::InvalidInput>("{}: {}", address, text);
  }
}

}  // namespace cuzk::service
