#pragma once

#include "cuzk/v1/proving.grpc.pb.h"
#include "service/grpc_server.hpp"
#include "service/testing/fake_engine.hpp"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

namespace cuzk::service::testing {

/// A folder that is empty at first and gone afterwards.
class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "cuzk-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// Without the process-wide pool of connections, in which a new server's client would find an old
/// server's.
inline std::shared_ptr<grpc::Channel> connect(
    const std::string& target, const std::shared_ptr<grpc::ChannelCredentials>& credentials =
                                   grpc::InsecureChannelCredentials()) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(target, credentials, arguments);
}

/// A server on a unix socket over a fake engine, and a client of it.
class ServerTest : public ::testing::Test {
 protected:
  void start() {
    if (config_.listen == engine::Config::Daemon().listen)
      config_.listen = "unix://" + (folder_ / "cuzk.sock").string();
    server_ = std::make_unique<GrpcServer>(engine_, config_, limits_);
    stub_ = v1::ProvingEngine::NewStub(connect(server_->address().grpc_target()));
  }

  /// Context of a call that does not hang if the server does.
  class Call : public grpc::ClientContext {
   public:
    Call() { set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60)); }
  };
  /// A field of the metadata after the call; empty: there is none.
  static std::string trailing(const grpc::ClientContext& call, const char* name) {
    const auto& metadata = call.GetServerTrailingMetadata();
    const auto found = metadata.find(name);
    return found == metadata.end() ? "" : std::string(found->second.data(), found->second.size());
  }

  static v1::ProveRequest winning_request(const std::string& id) {
    v1::ProveRequest request;
    request.mutable_submit()->set_request_id(id);
    request.mutable_submit()->set_proof_kind(v1::WINNING_POST);
    return request;
  }

  TempFolder folder_;
  FakeEngine engine_;
  engine::Config::Daemon config_;
  ProvingService::Limits limits_;
  std::unique_ptr<GrpcServer> server_;
  std::unique_ptr<v1::ProvingEngine::Stub> stub_;
};

}  // namespace cuzk::service::testing
