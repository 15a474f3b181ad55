#include "service/client.hpp"

#include "base/error.hpp"
#include "service/listen_address.hpp"

#include <grpcpp/create_channel.h>
#include <grpcpp/support/channel_arguments.h>

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

void require_ok(const grpc::Status& status, std::string_view address) {
  switch (status.error_code()) {
    case grpc::StatusCode::OK:
      return;
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::DEADLINE_EXCEEDED:
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
    case grpc::StatusCode::ABORTED:
      base::fail<base::ResourceExhausted>("{}: {}", address, status.error_message());
    case grpc::StatusCode::INTERNAL:
    case grpc::StatusCode::UNKNOWN:
    case grpc::StatusCode::DATA_LOSS:
      throw std::runtime_error(fmt::format("{}: {}", address, status.error_message()));
    default:
      base::fail<base::InvalidInput>("{}: {}", address, status.error_message());
  }
}

}  // namespace cuzk::service
