#include "service/grpc_server.hpp"

#include "base/error.hpp"
#include "engine/host_memory.hpp"
#include "service/testing/test_server.hpp"
#include "service/tls.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>

#include <chrono>
#include <fstream>
#include <optional>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace cuzk::service {

namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

void write_file(const std::filesystem::path& path, std::string_view text) {
  std::ofstream(path) << text;
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const base::InvalidInput& error) {
    return error.what();
  }
  return "no error";
}

/// A socket file with somebody behind it.
class ForeignSocket {
 public:
  ForeignSocket(const std::filesystem::path& path, int type) : fd_(::socket(AF_UNIX, type, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.native().copy(static_cast<char*>(address.sun_path), sizeof(address.sun_path) - 1);
    EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    if (type == SOCK_STREAM) {
      EXPECT_EQ(::listen(fd_, 1), 0);
    }
  }
  ~ForeignSocket() { ::close(fd_); }
  ForeignSocket(const ForeignSocket&) = delete;
  ForeignSocket& operator=(const ForeignSocket&) = delete;

 private:
  int fd_;
};

class GrpcServerTest : public testing::ServerTest {
 protected:
  std::string start_error() {
    return error_of([&] { start(); });
  }
  grpc::Status get_status(const std::shared_ptr<grpc::ChannelCredentials>& credentials,
                          std::optional<std::string> authorization = std::nullopt) {
    const auto stub =
        v1::ProvingEngine::NewStub(testing::connect(server_->address().grpc_target(), credentials));
    Call call;
    if (authorization) call.AddMetadata("authorization", *authorization);
    v1::GetStatusResponse response;
    return stub->GetStatus(&call, {}, &response);
  }
  grpc::Status get_status(std::optional<std::string> authorization = std::nullopt) {
    return get_status(grpc::InsecureChannelCredentials(), std::move(authorization));
  }
  /// A PoRep request with so large a payload.
  grpc::Status submit_large(std::size_t mebibytes) {
    v1::SubmitProofRequest request;
    request.set_proof_kind(v1::POREP_SEAL_COMMIT);
    request.mutable_vanilla_proof()->resize(mebibytes << 20, ' ');
    Call call;
    v1::SubmitProofResponse response;
    return stub_->SubmitProof(&call, request, &response);
  }
};

// ---- addresses
// -----------------------------------------------------------------------------------

TEST_F(GrpcServerTest, ListensOnTcpOfBothFamilies) {
  for (const char* address : {"127.0.0.1:0", "[::1]:0", "localhost:0"}) {
    config_.listen = address;
    start();
    EXPECT_NE(server_->address().port, 0);
    EXPECT_TRUE(get_status().ok()) << address;
  }
}

TEST_F(GrpcServerTest, OtherMachinesNeedProtectionOrConsent) {
  config_.listen = "0.0.0.0:0";
  EXPECT_THAT(start_error(), HasSubstr("allow_insecure"));
  config_.listen = "[::]:0";
  EXPECT_THAT(start_error(), HasSubstr("allow_insecure"));
  config_.allow_insecure = true;
  EXPECT_EQ(start_error(), "no error");
  EXPECT_EQ(server_->protection(), "no protection");

  config_.allow_insecure = false;
  write_file(folder_ / "tokens", "0123456789abcdef\n");
  config_.token_file = (folder_ / "tokens").string();
  EXPECT_EQ(start_error(), "no error");
  EXPECT_EQ(server_->protection(), "token");
}

TEST_F(GrpcServerTest, ASecondServerOnThePortFails) {
  config_.listen = "127.0.0.1:0";
  start();
  engine::Config::Daemon second = config_;
  second.listen = server_->address().grpc_target();
  EXPECT_THAT(error_of([&] { GrpcServer(engine_, second, limits_); }),
              HasSubstr("taken by another program"));
  EXPECT_TRUE(get_status().ok());
}

TEST_F(GrpcServerTest, TheSocketHasItsModeAndGoesWithTheServer) {
  config_.socket_mode = 0600;
  start();
  struct stat info {};
  ASSERT_EQ(::stat(server_->address().path.c_str(), &info), 0);
  EXPECT_TRUE(S_ISSOCK(info.st_mode));
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  const std::string path = server_->address().path;
  server_.reset();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(GrpcServerTest, ASecondServerOnTheSocketFailsAndNamesTheFirst) {
  start();
  const std::string text = error_of([&] { GrpcServer(engine_, config_, limits_); });
  EXPECT_THAT(text, StartsWith("ALREADY-RUNNING: pid " + std::to_string(::getpid()) + " "));
  EXPECT_TRUE(get_status().ok());
}

TEST_F(GrpcServerTest, AForeignProgramOnTheSocketIsLeftAlone) {
  const std::filesystem::path path = folder_ / "foreign.sock";
  std::optional<ForeignSocket> socket(std::in_place, path, SOCK_STREAM);
  config_.listen = "unix://" + path.string();
  EXPECT_THAT(start_error(),
              StartsWith("ALREADY-RUNNING: pid " + std::to_string(::getpid()) + " "));

  // Once it is dead, its socket is in nobody's way.
  socket.reset();
  ASSERT_TRUE(std::filesystem::exists(path));
  EXPECT_EQ(start_error(), "no error");
  EXPECT_TRUE(get_status().ok());
}

TEST_F(GrpcServerTest, ASocketThatCannotBeAskedIsLeftAlone) {
  const std::filesystem::path path = folder_ / "other.sock";
  const ForeignSocket socket(path, SOCK_DGRAM);
  EXPECT_THAT(error_of([&] { SocketClaim claim(path); }),
              HasSubstr("cannot tell whether somebody serves on " + path.string()));
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST_F(GrpcServerTest, ASocketThatMayNotBeOpenedIsLeftAlone) {
  const std::filesystem::path path = folder_ / "private.sock";
  const ForeignSocket socket(path, SOCK_STREAM);
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  std::filesystem::permissions(path.parent_path(), std::filesystem::perms::all);
  std::string text;
  // Root may open everything: this thread alone becomes nobody.
  std::thread([&] {
    constexpr uid_t kNobody = 65534;
    if (::geteuid() == 0) {
      ASSERT_EQ(::syscall(SYS_setresuid, kNobody, kNobody, kNobody), 0);
    }
    text = error_of([&] { SocketClaim claim(path); });
  }).join();
  EXPECT_THAT(text, HasSubstr("cannot tell whether somebody serves on " + path.string()));
  EXPECT_THAT(text, HasSubstr("Permission denied"));
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST_F(GrpcServerTest, AFileThatIsNoSocketIsNotRemoved) {
  write_file(folder_ / "precious", "data");
  config_.listen = "unix:" + (folder_ / "precious").string();
  EXPECT_THAT(start_error(), HasSubstr("is no socket"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "precious"));
  config_.listen = "unix:" + (folder_ / "nowhere").string() + "/cuzk.sock";
  EXPECT_THAT(start_error(), HasSubstr("folder must exist"));
}

// ---- tokens
// --------------------------------------------------------------------------------------

TEST_F(GrpcServerTest, CallsNeedAToken) {
  write_file(folder_ / "tokens",
             "# of the proving node\n0123456789abcdef\n\n  fedcba9876543210  \n");
  config_.token_file = (folder_ / "tokens").string();
  start();
  EXPECT_TRUE(get_status("Bearer 0123456789abcdef").ok());
  EXPECT_TRUE(get_status("bearer fedcba9876543210").ok());
  for (const char* wrong :
       {"", "0123456789abcdef", "Bearer ", "Bearer 0123456789abcde", "Bearer 0123456789abcdef0",
        "Basic 0123456789abcdef", "Bearer # of the proving node"}) {
    EXPECT_EQ(get_status(wrong).error_code(), grpc::StatusCode::UNAUTHENTICATED) << wrong;
  }
  const grpc::Status none = get_status();
  EXPECT_EQ(none.error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_THAT(none.error_message(), HasSubstr("authorization: Bearer"));
}

TEST_F(GrpcServerTest, EveryMethodAsksForTheToken) {
  write_file(folder_ / "tokens", "0123456789abcdef\n");
  config_.token_file = (folder_ / "tokens").string();
  start();
  const auto check = [&](auto method, const auto& request, auto response) {
    Call call;
    EXPECT_EQ((stub_.get()->*method)(&call, request, &response).error_code(),
              grpc::StatusCode::UNAUTHENTICATED);
    EXPECT_EQ(trailing(call, "cuzk-code"), "UNAUTHENTICATED");
  };
  using Stub = v1::ProvingEngine::Stub;
  check(&Stub::SubmitProof, winning_request("a").submit(), v1::SubmitProofResponse());
  check(&Stub::AwaitProof, v1::AwaitProofRequest(), v1::AwaitProofResponse());
  check(&Stub::Prove, winning_request("a"), v1::ProveResponse());
  check(&Stub::CancelProof, v1::CancelProofRequest(), v1::CancelProofResponse());
  check(&Stub::GetStatus, v1::GetStatusRequest(), v1::GetStatusResponse());
  check(&Stub::GetMetrics, v1::GetMetricsRequest(), v1::GetMetricsResponse());
  check(&Stub::PreloadSRS, v1::PreloadSrsRequest(), v1::PreloadSrsResponse());
  check(&Stub::EvictSRS, v1::EvictSrsRequest(), v1::EvictSrsResponse());
  EXPECT_TRUE(engine_.requests().empty());
}

TEST_F(GrpcServerTest, TokensCanBeReplacedWhileRunning) {
  start();
  EXPECT_TRUE(get_status().ok());
  write_file(folder_ / "tokens", "0123456789abcdef\n");
  server_->service().set_access(Access::from_token_file((folder_ / "tokens").string()));
  EXPECT_EQ(get_status().error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_TRUE(get_status("Bearer 0123456789abcdef").ok());
}

TEST_F(GrpcServerTest, AnOpenAddressKeepsItsTokens) {
  write_file(folder_ / "tokens", "0123456789abcdef\n");
  config_.listen = "0.0.0.0:0";
  config_.token_file = (folder_ / "tokens").string();
  start();
  // Where the next start would listen is of no use to the port that is open now.
  engine::Config::Daemon changed = config_;
  changed.listen = "127.0.0.1:0";
  changed.token_file.clear();
  changed.allow_insecure = true;
  EXPECT_THAT(error_of([&] { server_->reconfigure(changed); }),
              HasSubstr("daemon.token_file: without one anybody who reaches 0.0.0.0:0"));
  changed.token_file = (folder_ / "absent").string();
  EXPECT_THAT(error_of([&] { server_->reconfigure(changed); }), HasSubstr("absent"));
  const std::string target = fmt::format("127.0.0.1:{}", server_->address().port);
  const auto status = [&](const char* authorization) {
    const auto stub = v1::ProvingEngine::NewStub(testing::connect(target));
    Call call;
    if (authorization != nullptr) call.AddMetadata("authorization", authorization);
    v1::GetStatusResponse response;
    return stub->GetStatus(&call, {}, &response).error_code();
  };
  EXPECT_EQ(status(nullptr), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(status("Bearer 0123456789abcdef"), grpc::StatusCode::OK);

  write_file(folder_ / "others", "fedcba9876543210\n");
  changed.token_file = (folder_ / "others").string();
  EXPECT_EQ(error_of([&] { server_->reconfigure(changed); }), "no error");
  EXPECT_EQ(status("Bearer 0123456789abcdef"), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(status("Bearer fedcba9876543210"), grpc::StatusCode::OK);
}

TEST_F(GrpcServerTest, ALocalAddressCanLoseItsTokens) {
  write_file(folder_ / "tokens", "0123456789abcdef\n");
  config_.token_file = (folder_ / "tokens").string();
  start();
  EXPECT_EQ(get_status().error_code(), grpc::StatusCode::UNAUTHENTICATED);
  config_.token_file.clear();
  server_->reconfigure(config_);
  EXPECT_TRUE(get_status().ok());
}

// ---- TLS
// -----------------------------------------------------------------------------------------

/// Certificates as an operator would make them: a CA, a server's and a client's.
class TlsTest : public GrpcServerTest {
 protected:
  void SetUp() override {
    make_ca("ca", 1);
    make_certificate("server", "ca", "subjectAltName=IP:127.0.0.1");
    make_certificate("client", "ca", "subjectAltName=DNS:client");
    config_.listen = "127.0.0.1:0";
    config_.tls_cert = file("server.pem");
    config_.tls_key = file("server.key");
  }

  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  void openssl(const std::string& arguments) const {
    const std::string command = "openssl " + arguments + " >" + file("openssl.log") + " 2>&1";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }
  void make_key(const std::string& name) const {
    openssl(fmt::format("ecparam -genkey -name prime256v1 -noout -out {}", file(name + ".key")));
  }
  void make_ca(const std::string& name, int days) const {
    make_key(name);
    openssl(fmt::format("req -x509 -new -key {} -days {} -subj /CN={} -out {}", file(name + ".key"),
                        days, name, file(name + ".pem")));
  }
  void make_certificate(const std::string& name, const std::string& ca,
                        const std::string& extension) {
    make_key(name);
    write_file(folder_ / "extension", extension);
    openssl(fmt::format("req -new -key {} -subj /CN={} -out {}", file(name + ".key"), name,
                        file(name + ".csr")));
    openssl(
        fmt::format("x509 -req -in {} -CA {} -CAkey {} -CAcreateserial -days 1 -extfile {} -out {}",
                    file(name + ".csr"), file(ca + ".pem"), file(ca + ".key"), file("extension"),
                    file(name + ".pem")));
  }
};

TEST_F(TlsTest, AServerCertificateIsEnough) {
  start();
  EXPECT_EQ(server_->protection(), "TLS");
  EXPECT_TRUE(get_status(client_credentials({.ca = file("ca.pem"), .cert = {}, .key = {}})).ok());
  EXPECT_EQ(get_status().error_code(), grpc::StatusCode::UNAVAILABLE);
  make_ca("other", 1);
  EXPECT_EQ(
      get_status(client_credentials({.ca = file("other.pem"), .cert = {}, .key = {}})).error_code(),
      grpc::StatusCode::UNAVAILABLE);
}

TEST_F(TlsTest, ClientsNeedACertificateOfTheClientCa) {
  config_.tls_client_ca = file("ca.pem");
  config_.listen = "0.0.0.0:0";  // protected, so allowed
  start();
  EXPECT_EQ(server_->protection(), "TLS with client certificates");
  const auto call = [&](const ClientTls& tls) {
    const auto stub = v1::ProvingEngine::NewStub(testing::connect(
        fmt::format("127.0.0.1:{}", server_->address().port), client_credentials(tls)));
    Call context;
    v1::GetStatusResponse response;
    return stub->GetStatus(&context, {}, &response).error_code();
  };
  EXPECT_EQ(call({.ca = file("ca.pem"), .cert = file("client.pem"), .key = file("client.key")}),
            grpc::StatusCode::OK);
  EXPECT_EQ(call({.ca = file("ca.pem"), .cert = {}, .key = {}}), grpc::StatusCode::UNAVAILABLE);
  make_ca("other", 1);
  make_certificate("stranger", "other", "subjectAltName=DNS:stranger");
  EXPECT_EQ(call({.ca = file("ca.pem"), .cert = file("stranger.pem"), .key = file("stranger.key")}),
            grpc::StatusCode::UNAVAILABLE);
}

TEST_F(TlsTest, UnfitFilesAreStartErrorsThatNameThem) {
  const auto with = [&](const auto& change) {
    engine::Config::Daemon config = config_;
    change(config);
    return error_of([&] { check_listening(config); });
  };
  EXPECT_EQ(with([](auto&) {}), "no error");
  EXPECT_THAT(with([](auto& c) { c.tls_key.clear(); }), HasSubstr("both or neither"));
  EXPECT_THAT(with([&](auto& c) { c.tls_key = file("client.key"); }),
              HasSubstr("client.key does not belong to the certificate"));
  EXPECT_THAT(with([&](auto& c) { c.tls_cert = file("absent.pem"); }), HasSubstr("absent.pem"));
  EXPECT_THAT(with([&](auto& c) { c.tls_cert = file("server.key"); }),
              HasSubstr("daemon.tls_cert: " + file("server.key") + " holds no certificate"));
  EXPECT_THAT(with([&](auto& c) { c.tls_client_ca = file("openssl.log"); }),
              HasSubstr("daemon.tls_client_ca"));
  EXPECT_THAT(with([](auto& c) {
                c.tls_client_ca = c.tls_cert;
                c.tls_cert.clear();
                c.tls_key.clear();
              }),
              HasSubstr("server certificate too"));
}

// ---- limits, health, reflection
// ------------------------------------------------------------------

TEST_F(GrpcServerTest, MessagesAreTakenUpToTheLimitAndNoLarger) {
  start();
  std::size_t arrived = 0;
  engine_.on_request = [&](engine::JobRequest& request) {
    arrived = request.vanilla_proof.size();
    request.vanilla_proof = base::Bytes();
  };
  EXPECT_TRUE(submit_large(255).ok());
  EXPECT_EQ(arrived, std::size_t{255} << 20);
  const grpc::Status refused = submit_large(257);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(refused.error_message(), HasSubstr(std::to_string(256 << 20)));
  EXPECT_EQ(engine_.requests().size(), 1u);
}

// The process's resident memory, here client and server.
TEST_F(GrpcServerTest, LargeMessagesLeaveNoMemoryBehind) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers keep memory that was given back";
#endif
  start();
  // The engine keeps what it was asked; `= {}` would leave the vector its memory.
  engine_.on_request = [](engine::JobRequest& request) { request.vanilla_proof = base::Bytes(); };
  EXPECT_TRUE(submit_large(1).ok());
  const auto resident = [] { return engine::read_process_usage().resident; };
  const std::uint64_t limit = resident() + (std::uint64_t{48} << 20);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(submit_large(200).ok());
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (resident() > limit && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_LE(resident(), limit);
}

TEST_F(GrpcServerTest, CompressedMessagesAreRefused) {
  start();
  const auto submit = [&](std::size_t mebibytes, grpc_compression_algorithm algorithm) {
    v1::SubmitProofRequest request;
    request.set_proof_kind(v1::POREP_SEAL_COMMIT);
    request.mutable_vanilla_proof()->resize(mebibytes << 20, ' ');
    Call call;
    call.set_compression_algorithm(algorithm);
    v1::SubmitProofResponse response;
    return stub_->SubmitProof(&call, request, &response);
  };
  for (const auto algorithm : {GRPC_COMPRESS_GZIP, GRPC_COMPRESS_DEFLATE})
    EXPECT_EQ(submit(1, algorithm).error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_TRUE(engine_.requests().empty());
  EXPECT_TRUE(submit(1, GRPC_COMPRESS_NONE).ok());
}

/// Calls a unary method by name, with messages as bytes: no generated client is linked for it.
std::string call_bytes(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                       const std::string& request) {
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
  grpc::CompletionQueue queue;
  const grpc::Slice slice(request);
  const grpc::ByteBuffer message(&slice, 1);
  const auto reader = stub.PrepareUnaryCall(&context, method, message, &queue);
  grpc::ByteBuffer answer;
  grpc::Status status;
  reader->StartCall();
  reader->Finish(&answer, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  queue.Shutdown();
  if (!status.ok()) return "error: " + status.error_message();
  grpc::Slice whole;
  return answer.DumpToSingleSlice(&whole).ok()
             ? std::string(reinterpret_cast<const char*>(whole.begin()), whole.size())
             : "";
}

TEST_F(GrpcServerTest, HealthFollowsTheEngineAndNeedsNoToken) {
  write_file(folder_ / "tokens", "0123456789abcdef\n");
  config_.token_file = (folder_ / "tokens").string();
  start();
  const auto channel = testing::connect(server_->address().grpc_target());
  const std::string name = "cuzk.v1.ProvingEngine";
  const std::string request = "\x0a" + std::string(1, static_cast<char>(name.size())) + name;
  constexpr const char* kCheck = "/grpc.health.v1.Health/Check";
  // HealthCheckResponse{status = 1}: SERVING is 1, NOT_SERVING 2.
  EXPECT_EQ(call_bytes(channel, kCheck, request), "\x08\x02");
  server_->set_serving(true);
  EXPECT_EQ(call_bytes(channel, kCheck, request), "\x08\x01");
  EXPECT_EQ(call_bytes(channel, kCheck, ""), "\x08\x01");
}

TEST_F(GrpcServerTest, ReflectionNamesTheService) {
  start();
  grpc::GenericStub stub(testing::connect(server_->address().grpc_target()));
  Call context;
  grpc::CompletionQueue queue;
  const auto stream = stub.PrepareCall(
      &context, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", &queue);
  void* tag = nullptr;
  bool ok = false;
  const auto step = [&] { return queue.Next(&tag, &ok) && ok; };
  stream->StartCall(nullptr);
  ASSERT_TRUE(step());
  // ServerReflectionRequest{list_services = 7: "*"}
  const grpc::Slice slice(std::string("\x3a\x01*"));
  stream->Write(grpc::ByteBuffer(&slice, 1), nullptr);
  ASSERT_TRUE(step());
  grpc::ByteBuffer answer;
  stream->Read(&answer, nullptr);
  ASSERT_TRUE(step());
  grpc::Slice whole;
  ASSERT_TRUE(answer.DumpToSingleSlice(&whole).ok());
  EXPECT_THAT(std::string(reinterpret_cast<const char*>(whole.begin()), whole.size()),
              HasSubstr("cuzk.v1.ProvingEngine"));
  context.TryCancel();
  grpc::Status status;
  stream->Finish(&status, nullptr);
  queue.Next(&tag, &ok);
  queue.Shutdown();
}

}  // namespace

}  // namespace cuzk::service
