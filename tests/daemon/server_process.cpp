#include "daemon/server_process.hpp"

#include "base/error.hpp"
#include "cli/load/daemon_target.hpp"
#include "engine/testing/toy_engine.hpp"
#include "groth16/proof.hpp"

#include <spawn.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace cuzk::daemon_test {

namespace {

constexpr std::chrono::seconds kReadyLimit{60};

/// A call that waits for the connection. One that failed for want of it would leave nobody to look
/// after the next connection's progress but gRPC's own poll, every five seconds.
class Call : public grpc::ClientContext {
 public:
  explicit Call(std::chrono::milliseconds limit = std::chrono::seconds(60)) {
    set_deadline(std::chrono::system_clock::now() + limit);
    set_wait_for_ready(true);
  }
};

}  // namespace

// In memory where that is possible: processes die here, not the machine, and a disk would only be
// slow.
ServerFolder::ServerFolder() {
  const std::filesystem::path memory = "/dev/shm";
  const bool usable = ::access(memory.c_str(), W_OK | X_OK) == 0;
  std::string name =
      ((usable ? memory : std::filesystem::temp_directory_path()) / "cuzk-daemon-XXXXXX").string();
  base::require(::mkdtemp(name.data()) != nullptr, "{}: {}", name, std::strerror(errno));
  path_ = name;
  configure("");
}

ServerFolder::~ServerFolder() {
  std::error_code none;
  std::filesystem::remove_all(path_, none);
}

void ServerFolder::configure(const std::string& more) const {
  std::ofstream(path("cuzk.toml"))
      << "[daemon]\nlisten = \"" << address() << "\"\nstate_dir = \"" << path_.string() << "\"\n"
      << more;
}

std::string ServerFolder::log() const {
  std::ifstream file(path("log"));
  return {std::istreambuf_iterator<char>(file), {}};
}

ServerProcess::ServerProcess(const ServerFolder& folder, const std::vector<std::string>& arguments,
                             const std::string& config) {
  std::vector<std::string> words{CUZK_FAULT_SERVER, "--config", folder.path(config)};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const std::string log = folder.path("log");
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0644);
  const int error =
      ::posix_spawn(&pid_, CUZK_FAULT_SERVER, &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  base::require(error == 0, "{}: {}", CUZK_FAULT_SERVER, std::strerror(error));
}

ServerProcess::~ServerProcess() { kill(); }

void ServerProcess::signal(int number) const {
  if (!status_) ::kill(pid_, number);
}

void ServerProcess::kill() {
  signal(SIGKILL);
  exit_within(std::chrono::hours(1));
}

std::optional<int> ServerProcess::exit_within(std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!status_) {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == pid_) {
      status_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    } else if (std::chrono::steady_clock::now() >= end) {
      return std::nullopt;
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  return status_;
}

ServerClient::ServerClient(const ServerFolder& folder) {
  grpc::ChannelArguments arguments;
  // Not the process-wide pool of connections, in which one that failed waits before the next try.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 5);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 5);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 10);
  arguments.SetMaxSendMessageSize(-1);
  stub_ = v1::ProvingEngine::NewStub(grpc::CreateCustomChannel(
      "unix:" + folder.path("cuzk.sock").string(), grpc::InsecureChannelCredentials(), arguments));
}

bool ServerClient::until_ready() {
  const auto end = std::chrono::steady_clock::now() + kReadyLimit;
  while (std::chrono::steady_clock::now() < end) {
    v1::GetStatusResponse answer;
    if (status(answer).ok() && answer.ready()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return false;
}

grpc::Status ServerClient::submit(const engine::JobRequest& request, std::string& job_id,
                                  grpc_compression_algorithm compression) {
  Call call;
  call.set_compression_algorithm(compression);
  v1::SubmitProofResponse response;
  const grpc::Status status = stub_->SubmitProof(&call, cli::load::to_message(request), &response);
  job_id = response.job_id();
  return status;
}

grpc::Status ServerClient::await(const std::string& job_id, std::chrono::milliseconds timeout,
                                 v1::AwaitProofResponse& result) {
  Call call(timeout + std::chrono::seconds(60));
  v1::AwaitProofRequest request;
  request.set_job_id(job_id);
  request.set_timeout_ms(static_cast<std::uint64_t>(timeout.count()));
  return stub_->AwaitProof(&call, request, &result);
}

grpc::Status ServerClient::prove(const engine::JobRequest& request,
                                 v1::AwaitProofResponse& result) {
  Call call;
  v1::ProveRequest message;
  *message.mutable_submit() = cli::load::to_message(request);
  v1::ProveResponse response;
  const grpc::Status status = stub_->Prove(&call, message, &response);
  result = response.result();
  return status;
}

grpc::Status ServerClient::prove_for(const engine::JobRequest& request,
                                     std::chrono::milliseconds limit) {
  Call call(limit);
  v1::ProveRequest message;
  *message.mutable_submit() = cli::load::to_message(request);
  v1::ProveResponse response;
  return stub_->Prove(&call, message, &response);
}

grpc::Status ServerClient::status(v1::GetStatusResponse& result) {
  Call call;
  return stub_->GetStatus(&call, {}, &result);
}

std::string ServerClient::metrics() {
  Call call;
  v1::GetMetricsResponse response;
  const grpc::Status status = stub_->GetMetrics(&call, {}, &response);
  base::require(status.ok(), "GetMetrics: {}", status.error_message());
  return response.prometheus_text();
}

engine::JobRequest toy_job(engine::ProofKind kind, std::uint64_t number, unsigned partitions) {
  std::vector<std::uint64_t> roots;
  for (unsigned k = 0; k < partitions; ++k) roots.push_back(1000 + number * 100 + k);
  return engine::testing::toy_request(
      kind, "job-" + std::string(engine::label(kind)) + "-" + std::to_string(number), roots);
}

bool toy_verifies(const engine::JobRequest& request, base::ByteView bytes) {
  const std::size_t count = request.vanilla_proofs.size();
  if (bytes.size() != count * groth16::Proof::kBytes) return false;
  std::vector<std::vector<curve::Fr>> inputs;
  for (const base::Bytes& blob : request.vanilla_proofs)
    inputs.push_back(engine::testing::square_inputs(base::load_u64_le(blob.data())));
  return engine::testing::SquareKey::get().verifier.verify_batch(
      groth16::decode_proofs(bytes, count, "answer"), inputs);
}

bool toy_verifies(const engine::JobRequest& request, const std::string& proof) {
  return toy_verifies(request, base::as_bytes(proof));
}

}  // namespace cuzk::daemon_test
