#pragma once

#include "cuzk/v1/proving.grpc.pb.h"
#include "engine/job.hpp"

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

/// Tests of the daemon from outside: as a process that is started, talked to over its socket, and
/// killed.
namespace cuzk::daemon_test {

/// A folder with socket, journal, configuration and log of a server; gone afterwards.
class ServerFolder {
 public:
  ServerFolder();
  ~ServerFolder();
  ServerFolder(const ServerFolder&) = delete;
  ServerFolder& operator=(const ServerFolder&) = delete;

  std::filesystem::path path(const std::string& name) const { return path_ / name; }
  std::string address() const { return "unix://" + path("cuzk.sock").string(); }
  std::filesystem::path journal() const { return path("journal.sqlite"); }
  /// Writes the configuration: socket and state here, and `more`, TOML lines of [daemon] first.
  void configure(const std::string& more) const;
  /// What the servers have logged.
  std::string log() const;

 private:
  std::filesystem::path path_;
};

/// A running fault server. Killed by the destructor.
class ServerProcess {
 public:
  /// Starts it with the folder's configuration (`config`, if another) and these arguments.
  explicit ServerProcess(const ServerFolder& folder, const std::vector<std::string>& arguments = {},
                         const std::string& config = "cuzk.toml");
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const;
  /// SIGKILL, and waits until it is dead.
  void kill();
  /// Exit status, or minus the signal; empty if it still runs then.
  std::optional<int> exit_within(std::chrono::milliseconds limit);

 private:
  pid_t pid_ = 0;
  std::optional<int> status_;
};

/// A client of its own connection. Every call waits for a server to be there. A server that stops
/// waits up to five seconds for clients that are idle: they had better be gone before.
class ServerClient {
 public:
  explicit ServerClient(const ServerFolder& folder);

  /// Waits until the server is ready; false if it is not within a time.
  bool until_ready();
  grpc::Status submit(const engine::JobRequest& request, std::string& job_id,
                      grpc_compression_algorithm compression = GRPC_COMPRESS_NONE);
  grpc::Status await(const std::string& job_id, std::chrono::milliseconds timeout,
                     v1::AwaitProofResponse& result);
  grpc::Status prove(const engine::JobRequest& request, v1::AwaitProofResponse& result);
  /// Goes away after `limit`.
  grpc::Status prove_for(const engine::JobRequest& request, std::chrono::milliseconds limit);
  grpc::Status status(v1::GetStatusResponse& result);
  std::string metrics();

 private:
  std::unique_ptr<v1::ProvingEngine::Stub> stub_;
};

/// A toy job with so many partitions; other numbers, other statements.
engine::JobRequest toy_job(engine::ProofKind kind, std::uint64_t number, unsigned partitions);
/// Whether the proof is one of that job's statement, all partitions in order.
bool toy_verifies(const engine::JobRequest& request, base::ByteView proof);
bool toy_verifies(const engine::JobRequest& request, const std::string& proof);

}  // namespace cuzk::daemon_test
