#include "base/log.hpp"
#include "filecoin/sector.hpp"
#include "service/errors.hpp"
#include "service/testing/test_server.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <fstream>
#include <future>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace cuzk::service {

namespace {

using engine::ErrorCode;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ProvingServiceTest : public testing::ServerTest {
 protected:
  void SetUp() override { start(); }

  struct Answer {
    grpc::Status status;
    v1::AwaitProofResponse result;
  };
  Answer prove(grpc::ClientContext& call, const v1::ProveRequest& request) {
    v1::ProveResponse response;
    Answer answer{stub_->Prove(&call, request, &response), {}};
    answer.result = response.result();
    return answer;
  }
  Answer await(const std::string& job_id, std::uint64_t timeout_ms = 0) {
    Call call;
    v1::AwaitProofRequest request;
    request.set_job_id(job_id);
    request.set_timeout_ms(timeout_ms);
    Answer answer;
    answer.status = stub_->AwaitProof(&call, request, &answer.result);
    return answer;
  }
  void submit(const std::string& id) {
    Call call;
    v1::SubmitProofResponse response;
    ASSERT_TRUE(stub_->SubmitProof(&call, winning_request(id).submit(), &response).ok());
  }
};

std::size_t threads_of_process() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("Threads:")) return std::stoul(line.substr(8));
  }
  return 0;
}

TEST_F(ProvingServiceTest, SubmitHandsOnEveryField) {
  v1::SubmitProofRequest request;
  request.set_request_id("wdpost-1000-3-[1 2 3]");
  request.set_proof_kind(v1::WINDOW_POST_PARTITION);
  request.set_sector_size(2048);
  request.set_registered_proof(10);
  request.set_priority(v1::HIGH);
  request.set_vanilla_proof(std::string("\0c1", 3));
  request.add_vanilla_proofs(std::string("\0a", 2));
  request.add_vanilla_proofs("b");
  request.set_sector_number(7);
  request.set_miner_id(1000);
  request.set_randomness("r");
  request.set_partition_index(4);
  request.set_comm_r_old("o");
  request.set_comm_r_new("n");
  request.set_comm_d_new("d");
  Call call;
  v1::SubmitProofResponse response;
  ASSERT_TRUE(stub_->SubmitProof(&call, request, &response).ok());
  EXPECT_EQ(response.job_id(), "wdpost-1000-3-[1 2 3]");
  EXPECT_EQ(response.queue_position(), 3u);
  EXPECT_EQ(response.assigned_gpu(), "cuda:0");
  EXPECT_FALSE(response.joined());

  ASSERT_EQ(engine_.requests().size(), 1u);
  const engine::JobRequest got = engine_.requests()[0];
  EXPECT_EQ(got.kind, engine::ProofKind::kWindowPost);
  EXPECT_EQ(got.sector_size, 2048u);
  EXPECT_EQ(got.registered_proof, 10u);
  EXPECT_EQ(got.priority, engine::Priority::kHigh);
  EXPECT_EQ(got.vanilla_proof, (base::Bytes{0, 'c', '1'}));
  EXPECT_EQ(got.vanilla_proofs, (std::vector<base::Bytes>{{0, 'a'}, {'b'}}));
  EXPECT_EQ(got.sector_number, 7u);
  EXPECT_EQ(got.miner_id, 1000u);
  EXPECT_EQ(got.randomness, base::Bytes{'r'});
  EXPECT_EQ(got.partition_index, 4u);
  EXPECT_EQ(got.comm_r_old, base::Bytes{'o'});
  EXPECT_EQ(got.comm_r_new, base::Bytes{'n'});
  EXPECT_EQ(got.comm_d_new, base::Bytes{'d'});
}

TEST_F(ProvingServiceTest, ProveWaitsForTheAnswer) {
  std::thread prover([&] {
    ASSERT_TRUE(engine_.until_waiters("a", 1));
    engine_.finish("a", testing::FakeEngine::completed());
  });
  Call call;
  const Answer answer = prove(call, winning_request("a"));
  prover.join();
  ASSERT_TRUE(answer.status.ok()) << answer.status.error_message();
  EXPECT_EQ(answer.result.job_id(), "a");
  EXPECT_EQ(answer.result.status(), v1::AwaitProofResponse::COMPLETED);
  EXPECT_EQ(answer.result.proof(), std::string(192, '\xab'));
  EXPECT_EQ(answer.result.error_message(), "");
  EXPECT_EQ(answer.result.queue_wait_ms(), 1u);
  EXPECT_EQ(answer.result.srs_load_ms(), 2u);
  EXPECT_EQ(answer.result.synthesis_ms(), 3u);
  EXPECT_EQ(answer.result.gpu_compute_ms(), 4u);
  EXPECT_EQ(answer.result.total_ms(), 5u);
  EXPECT_EQ(answer.result.attempts(), 2u);
  EXPECT_EQ(answer.result.backend(), "cpu");
}

TEST_F(ProvingServiceTest, AFailedJobIsAnAnswerNotAnError) {
  submit("a");
  engine_.finish("a", testing::FakeEngine::failed(ErrorCode::kGpuFault, "job a: lost"));
  const Answer answer = await("a");
  ASSERT_TRUE(answer.status.ok());
  EXPECT_EQ(answer.result.status(), v1::AwaitProofResponse::FAILED);
  EXPECT_EQ(answer.result.error_message(), "GPU-FAULT: job a: lost");
  EXPECT_EQ(answer.result.error_code(), "GPU-FAULT");
  EXPECT_TRUE(answer.result.retryable());
  EXPECT_EQ(answer.result.proof(), "");
}

// What gRPC calls each of the engine's refusals, and what a program can read of it.
TEST_F(ProvingServiceTest, EveryRefusalHasItsStatusCode) {
  using grpc::StatusCode;
  const std::vector<std::pair<ErrorCode, StatusCode>> expected = {
      {ErrorCode::kBadInput, StatusCode::INVALID_ARGUMENT},
      {ErrorCode::kBadVanilla, StatusCode::INVALID_ARGUMENT},
      {ErrorCode::kUnsupported, StatusCode::INVALID_ARGUMENT},
      {ErrorCode::kRefused, StatusCode::INVALID_ARGUMENT},
      {ErrorCode::kParamsMissing, StatusCode::FAILED_PRECONDITION},
      {ErrorCode::kParamsCorrupt, StatusCode::FAILED_PRECONDITION},
      {ErrorCode::kHostMemory, StatusCode::RESOURCE_EXHAUSTED},
      {ErrorCode::kGpuMemory, StatusCode::RESOURCE_EXHAUSTED},
      {ErrorCode::kQueueFull, StatusCode::RESOURCE_EXHAUSTED},
      {ErrorCode::kNoGpu, StatusCode::UNAVAILABLE},
      {ErrorCode::kShuttingDown, StatusCode::UNAVAILABLE},
      {ErrorCode::kNotFound, StatusCode::NOT_FOUND},
      {ErrorCode::kCancelled, StatusCode::CANCELLED},
      {ErrorCode::kStalled, StatusCode::DEADLINE_EXCEEDED},
      {ErrorCode::kSuperseded, StatusCode::ABORTED},
      {ErrorCode::kGpuFault, StatusCode::INTERNAL},
      {ErrorCode::kSelfCheckFailed, StatusCode::INTERNAL},
      {ErrorCode::kInternal, StatusCode::INTERNAL},
  };
  EXPECT_EQ(expected.size(), static_cast<std::size_t>(ErrorCode::kInternal));  // all but kNone
  for (const auto& [code, wanted] : expected) {
    engine_.refusal.emplace(code, "a: the reason");
    const std::string text = engine_.refusal->what();
    Call prove_call, submit_call;
    const Answer answer = prove(prove_call, winning_request("a"));
    v1::SubmitProofResponse response;
    const grpc::Status submitted =
        stub_->SubmitProof(&submit_call, winning_request("a").submit(), &response);
    for (const auto& [status, call] :
         {std::pair(answer.status, &prove_call), std::pair(submitted, &submit_call)}) {
      EXPECT_EQ(status.error_code(), wanted) << text;
      EXPECT_EQ(status.error_message(), text);
      EXPECT_EQ(trailing(*call, kCodeMetadata), engine::to_string(code));
      EXPECT_EQ(trailing(*call, kRetryableMetadata), engine::is_retryable(code) ? "true" : "false");
    }
  }
}

TEST_F(ProvingServiceTest, WhatTheWireAllowsAndTheEngineDoesNot) {
  Call missing_call;
  const Answer missing = prove(missing_call, {});
  EXPECT_EQ(missing.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(missing.status.error_message(), HasSubstr("'submit'"));

  for (const int kind : {0, 5, 260}) {
    v1::ProveRequest request = winning_request("a");
    request.mutable_submit()->set_proof_kind(static_cast<v1::ProofKind>(kind));
    Call call;
    const Answer answer = prove(call, request);
    EXPECT_EQ(answer.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << kind;
    EXPECT_THAT(answer.status.error_message(),
                StartsWith("BAD-INPUT: a: proof_kind " + std::to_string(kind)));
  }
  EXPECT_TRUE(engine_.requests().empty());

  Call call;
  v1::SubmitProofRequest request = winning_request("a").submit();
  request.set_priority(static_cast<v1::Priority>(257));
  v1::SubmitProofResponse response;
  ASSERT_TRUE(stub_->SubmitProof(&call, request, &response).ok());
  EXPECT_EQ(engine_.requests().at(0).priority, engine::Priority::kNormal);
}

TEST_F(ProvingServiceTest, VanillaProofsAreAsManyAsSectorsInAPartition) {
  v1::ProveRequest request = winning_request("a");
  request.mutable_submit()->set_proof_kind(v1::WINDOW_POST_PARTITION);
  const auto most = filecoin::window_post_sector_count(filecoin::SectorSize::parse("32GiB"));
  for (unsigned i = 0; i <= most; ++i) request.mutable_submit()->add_vanilla_proofs();
  Call many_call;
  const Answer many = prove(many_call, request);
  EXPECT_EQ(many.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(many.status.error_message(),
              StartsWith("BAD-INPUT: a: 2350 vanilla proofs, at most 2349"));
  EXPECT_TRUE(engine_.requests().empty());

  request.mutable_submit()->mutable_vanilla_proofs()->RemoveLast();
  Call call;
  v1::SubmitProofResponse response;
  EXPECT_TRUE(stub_->SubmitProof(&call, request.submit(), &response).ok());
  EXPECT_EQ(engine_.requests().at(0).vanilla_proofs.size(), most);
}

// The engine logs those that it refuses itself.
TEST_F(ProvingServiceTest, RefusalsThatTheEngineDoesNotLogAreLogged) {
  std::mutex mutex;
  std::string log;
  base::LogOptions options;
  options.sink = [&](std::string_view line) {
    const std::lock_guard lock(mutex);
    log += line;
  };
  base::process_log().configure(options);
  Call missing_call, kind_call, broken_call, engine_call;
  prove(missing_call, {});
  v1::ProveRequest request = winning_request("of no kind");
  request.mutable_submit()->set_proof_kind(static_cast<v1::ProofKind>(77));
  prove(kind_call, request);
  engine_.on_request = [](engine::JobRequest& taken) {
    if (taken.request_id == "broken") throw std::logic_error("a bug");
  };
  EXPECT_EQ(prove(broken_call, winning_request("broken")).status.error_code(),
            grpc::StatusCode::INTERNAL);
  engine_.refusal.emplace(ErrorCode::kQueueFull, "50 jobs");
  prove(engine_call, winning_request("a"));
  base::process_log().configure({});

  const std::lock_guard lock(mutex);
  EXPECT_THAT(log, HasSubstr("'submit' of ProveRequest is missing"));
  EXPECT_THAT(log, HasSubstr("job=\"of no kind\""));
  EXPECT_THAT(log, HasSubstr("proof_kind 77"));
  EXPECT_THAT(log, HasSubstr("refused: INTERNAL: a bug"));
  EXPECT_THAT(log, ::testing::Not(HasSubstr("50 jobs")));
}

TEST_F(ProvingServiceTest, ALongRefusalStillArrives) {
  engine_.refusal.emplace(ErrorCode::kBadVanilla, std::string(50'000, 'x'));
  Call call;
  const Answer answer = prove(call, winning_request("a"));
  EXPECT_EQ(answer.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(answer.status.error_message(), StartsWith("BAD-VANILLA: xxx"));
  EXPECT_THAT(answer.status.error_message(), HasSubstr("bytes more in the daemon's log"));
}

TEST_F(ProvingServiceTest, AwaitOfAnUnknownJob) {
  const Answer answer = await("nobody");
  EXPECT_EQ(answer.status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(answer.status.error_message(), StartsWith("NOT-FOUND: "));
}

TEST_F(ProvingServiceTest, AwaitTimesOutAndTheJobGoesOn) {
  submit("a");
  const auto before = std::chrono::steady_clock::now();
  const Answer late = await("a", 200);
  const auto took = std::chrono::steady_clock::now() - before;
  ASSERT_TRUE(late.status.ok());
  EXPECT_EQ(late.result.status(), v1::AwaitProofResponse::TIMEOUT);
  EXPECT_THAT(late.result.error_message(), HasSubstr("200 ms"));
  EXPECT_GE(took, std::chrono::milliseconds(190));
  EXPECT_LT(took, std::chrono::seconds(5));
  EXPECT_FALSE(engine_.result("a").has_value());

  engine_.finish("a", testing::FakeEngine::completed());
  EXPECT_EQ(await("a", 200).result.status(), v1::AwaitProofResponse::COMPLETED);
}

TEST_F(ProvingServiceTest, AClientThatGoesAwayCancelsItsJob) {
  Call call;
  std::thread client([&] { prove(call, winning_request("a")); });
  ASSERT_TRUE(engine_.until_waiters("a", 1));
  call.TryCancel();
  client.join();
  ASSERT_TRUE(engine_.until_ended("a"));
  EXPECT_EQ(engine_.result("a")->state, engine::JobState::kCancelled);
}

TEST_F(ProvingServiceTest, AClientsDeadlineCancelsItsJob) {
  grpc::ClientContext call;
  call.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(300));
  const Answer answer = prove(call, winning_request("a"));
  EXPECT_EQ(answer.status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  ASSERT_TRUE(engine_.until_ended("a"));
  EXPECT_EQ(engine_.result("a")->state, engine::JobState::kCancelled);
}

TEST_F(ProvingServiceTest, AnotherWaiterKeepsTheJobAlive) {
  Call first, second;
  Answer kept;
  std::thread leaving([&] { prove(first, winning_request("a")); });
  std::thread staying([&] { kept = prove(second, winning_request("a")); });
  ASSERT_TRUE(engine_.until_waiters("a", 2));
  first.TryCancel();
  leaving.join();
  ASSERT_TRUE(engine_.until_waiters("a", 1));
  EXPECT_FALSE(engine_.result("a").has_value());
  engine_.finish("a", testing::FakeEngine::completed());
  staying.join();
  EXPECT_EQ(kept.result.status(), v1::AwaitProofResponse::COMPLETED);
}

TEST_F(ProvingServiceTest, AJobSubmittedOnItsOwnOutlivesItsWaiters) {
  submit("a");
  Call call;
  std::thread client([&] { prove(call, winning_request("a")); });
  ASSERT_TRUE(engine_.until_waiters("a", 1));
  call.TryCancel();
  client.join();
  ASSERT_TRUE(engine_.until_waiters("a", 0));
  EXPECT_FALSE(engine_.result("a").has_value());
}

TEST_F(ProvingServiceTest, Cancel) {
  submit("a");
  v1::CancelProofRequest request;
  v1::CancelProofResponse response;
  request.set_job_id("a");
  Call running, again, unknown;
  ASSERT_TRUE(stub_->CancelProof(&running, request, &response).ok());
  EXPECT_TRUE(response.was_running());
  EXPECT_EQ(await("a").result.status(), v1::AwaitProofResponse::CANCELLED);
  ASSERT_TRUE(stub_->CancelProof(&again, request, &response).ok());
  EXPECT_FALSE(response.was_running());
  request.set_job_id("nobody");
  EXPECT_EQ(stub_->CancelProof(&unknown, request, &response).error_code(),
            grpc::StatusCode::NOT_FOUND);
}

TEST_F(ProvingServiceTest, TwoHundredWaitersNeedNoThreads) {
  constexpr std::size_t kWaiters = 200;
  struct Pending {
    grpc::ClientContext context;
    v1::ProveResponse response;
    grpc::Status status;
    std::unique_ptr<grpc::ClientAsyncResponseReader<v1::ProveResponse>> reader;
  };
  Call warm_up;
  engine_.refusal.emplace(ErrorCode::kBadInput, "starts gRPC's own threads");
  prove(warm_up, winning_request("warm-up"));
  engine_.refusal.reset();

  const std::size_t threads = threads_of_process();
  grpc::CompletionQueue queue;
  std::vector<Pending> calls(kWaiters);
  for (std::size_t i = 0; i < kWaiters; ++i) {
    calls[i].reader =
        stub_->AsyncProve(&calls[i].context, winning_request("job " + std::to_string(i)), &queue);
    calls[i].reader->Finish(&calls[i].response, &calls[i].status, &calls[i]);
  }
  ASSERT_TRUE(engine_.until_total_waiters(kWaiters));
  EXPECT_LT(threads_of_process(), threads + 40);
  Call status_call;
  v1::GetStatusResponse status;
  EXPECT_TRUE(stub_->GetStatus(&status_call, {}, &status).ok());

  for (std::size_t i = 0; i < kWaiters; ++i)
    engine_.finish("job " + std::to_string(i), testing::FakeEngine::completed());
  for (std::size_t i = 0; i < kWaiters; ++i) {
    void* tag = nullptr;
    bool ok = false;
    ASSERT_TRUE(queue.Next(&tag, &ok));
    const auto& call = *static_cast<Pending*>(tag);
    EXPECT_TRUE(call.status.ok()) << call.status.error_message();
    EXPECT_EQ(call.response.result().status(), v1::AwaitProofResponse::COMPLETED);
  }
  queue.Shutdown();
}

TEST_F(ProvingServiceTest, WaitsEndWhenTheDaemonStops) {
  Answer answer;
  std::thread client([&] {
    Call call;
    answer = prove(call, winning_request("a"));
  });
  ASSERT_TRUE(engine_.until_waiters("a", 1));
  server_->service().end_waits();
  client.join();
  EXPECT_EQ(answer.status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(answer.status.error_message(), StartsWith("SHUTTING-DOWN: "));
  EXPECT_EQ(server_->service().waiting(), 0u);
}

TEST_F(ProvingServiceTest, PreloadAndEvict) {
  v1::PreloadSrsRequest preload;
  v1::PreloadSrsResponse preloaded;
  preload.set_circuit_id("porep-2k");
  Call first, second;
  ASSERT_TRUE(stub_->PreloadSRS(&first, preload, &preloaded).ok());
  EXPECT_FALSE(preloaded.already_loaded());
  EXPECT_EQ(preloaded.load_time_ms(), 1234u);
  ASSERT_TRUE(stub_->PreloadSRS(&second, preload, &preloaded).ok());
  EXPECT_TRUE(preloaded.already_loaded());
  EXPECT_EQ(preloaded.load_time_ms(), 0u);

  v1::EvictSrsRequest evict;
  v1::EvictSrsResponse evicted;
  evict.set_circuit_id("porep-2k");
  Call third, fourth, fifth;
  ASSERT_TRUE(stub_->EvictSRS(&third, evict, &evicted).ok());
  EXPECT_TRUE(evicted.was_loaded());
  EXPECT_EQ(evicted.freed_bytes(), 5678u);
  ASSERT_TRUE(stub_->EvictSRS(&fourth, evict, &evicted).ok());
  EXPECT_FALSE(evicted.was_loaded());

  engine_.refusal.emplace(ErrorCode::kNotFound, "no circuit");
  EXPECT_EQ(stub_->PreloadSRS(&fifth, preload, &preloaded).error_code(),
            grpc::StatusCode::NOT_FOUND);
}

// A load takes minutes, and whoever asked for it may be gone.
TEST_F(ProvingServiceTest, KeysCanBeDroppedWhileOthersAreLoaded) {
  std::promise<void> go_on;
  const std::shared_future<void> loaded = go_on.get_future().share();
  std::atomic<unsigned> loads = 0;
  engine_.on_preload = [&] {
    ++loads;
    loaded.wait();
  };
  std::vector<std::thread> clients;
  for (unsigned i = 0; i < limits_.loaders; ++i) {
    clients.emplace_back([&] {
      Call call;
      v1::PreloadSrsRequest request;
      request.set_circuit_id("porep-2k");
      v1::PreloadSrsResponse response;
      EXPECT_TRUE(stub_->PreloadSRS(&call, request, &response).ok());
    });
  }
  while (loads < limits_.loaders) std::this_thread::yield();
  grpc::ClientContext call;
  call.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
  v1::EvictSrsRequest request;
  request.set_circuit_id("snap-2k");
  v1::EvictSrsResponse response;
  EXPECT_TRUE(stub_->EvictSRS(&call, request, &response).ok());
  go_on.set_value();
  for (std::thread& client : clients) client.join();
}

TEST_F(ProvingServiceTest, StatusFillsEveryField) {
  engine_.picture = testing::sample_status();
  Call call;
  v1::GetStatusResponse status;
  ASSERT_TRUE(stub_->GetStatus(&call, {}, &status).ok());
  ASSERT_EQ(status.gpus_size(), 2);
  EXPECT_EQ(status.gpus(0).name(), "NVIDIA \"H200\"\n");
  EXPECT_EQ(status.gpus(0).vram_total_bytes(), 2000u);
  EXPECT_EQ(status.gpus(0).vram_free_bytes(), 1500u);
  EXPECT_EQ(status.gpus(0).current_job_id(), "wdpost-1000-3-[1 2 \"<b>\"]");
  EXPECT_EQ(status.gpus(0).current_proof_kind(), "porep-c2");
  EXPECT_EQ(status.gpus(1).ordinal(), 1u);
  EXPECT_EQ(status.gpus(1).current_job_id(), "");
  EXPECT_TRUE(status.gpus(1).quarantined());
  ASSERT_EQ(status.loaded_srs_size(), 1);
  EXPECT_EQ(status.loaded_srs(0).circuit_id(), "porep-32g");
  EXPECT_EQ(status.loaded_srs(0).tier(), v1::SRSStatus::HOT);
  EXPECT_EQ(status.loaded_srs(0).size_bytes(), 777u);
  EXPECT_EQ(status.loaded_srs(0).ref_count(), 2u);
  ASSERT_EQ(status.queues_size(), 4);
  EXPECT_EQ(status.queues(0).proof_kind(), "porep-c2");
  EXPECT_EQ(status.queues(0).pending(), 1u);
  EXPECT_EQ(status.queues(0).in_progress(), 1u);
  EXPECT_EQ(status.total_proofs_completed(), 20u);
  EXPECT_EQ(status.total_proofs_failed(), 4u);
  EXPECT_EQ(status.uptime_seconds(), 61u);
  EXPECT_EQ(status.pinned_memory_bytes(), 100u);
  EXPECT_EQ(status.pinned_memory_limit_bytes(), 500u);
  EXPECT_EQ(status.version(), "0.1.0");
  EXPECT_TRUE(status.ready());
  ASSERT_EQ(status.jobs_size(), 3);
  EXPECT_EQ(status.jobs(0).partitions_total(), 6u);
  EXPECT_EQ(status.jobs(0).partitions_done(), 1u);
  EXPECT_EQ(status.jobs(0).phase(), "verify");
  EXPECT_EQ(status.jobs(1).waiting_for(), "host memory: needs 3.1 GiB, 0.4 GiB free");
  EXPECT_THAT(status.jobs(2).error_message(), StartsWith("GPU-FAULT: "));
  ASSERT_EQ(status.circuits_size(), 2);
  EXPECT_EQ(status.circuits(1).readiness(), "missing");
  EXPECT_EQ(status.host_memory_bytes(), 400u);
}

TEST_F(ProvingServiceTest, TheCpuIsNoGpu) {
  engine_.picture = testing::sample_status();
  for (auto& device : engine_.picture.devices) device.name = "cpu";
  engine_.picture.cpu_proving = true;
  Call call;
  v1::GetStatusResponse status;
  ASSERT_TRUE(stub_->GetStatus(&call, {}, &status).ok());
  EXPECT_EQ(status.gpus_size(), 0);
  EXPECT_TRUE(status.cpu_proving());
}

TEST_F(ProvingServiceTest, MetricsAreTheSameText) {
  engine_.picture = testing::sample_status();
  Call call;
  v1::GetMetricsResponse metrics;
  ASSERT_TRUE(stub_->GetMetrics(&call, {}, &metrics).ok());
  EXPECT_THAT(metrics.prometheus_text(), HasSubstr("cuzk_proofs_completed_total 20\n"));
}

class UncheckedLimitTest : public testing::ServerTest {};

// A request larger than the limit is let through when it is alone; one that comes meanwhile is not.
TEST_F(UncheckedLimitTest, PayloadsThatWaitForTheirCheckAreBounded) {
  limits_.unchecked_bytes = 1000;
  std::promise<void> begun, go_on;
  std::atomic<bool> is_first = true;
  engine_.on_request = [&](engine::JobRequest&) {
    if (!is_first.exchange(false)) return;
    begun.set_value();
    go_on.get_future().wait();
  };
  start();
  v1::SubmitProofRequest large = winning_request("a").submit();
  large.set_proof_kind(v1::POREP_SEAL_COMMIT);
  large.set_vanilla_proof(std::string(5000, 'x'));
  v1::SubmitProofResponse response, other_response;
  Call call, refused_call, later_call;
  grpc::Status accepted;
  std::thread client([&] { accepted = stub_->SubmitProof(&call, large, &response); });
  begun.get_future().wait();
  const grpc::Status refused = stub_->SubmitProof(&refused_call, large, &other_response);
  // Not one whose time is counted.
  for (const auto kind : {v1::WINNING_POST, v1::WINDOW_POST_PARTITION}) {
    v1::SubmitProofRequest urgent = large;
    urgent.set_request_id(v1::ProofKind_Name(kind));
    urgent.set_proof_kind(kind);
    Call urgent_call;
    EXPECT_TRUE(stub_->SubmitProof(&urgent_call, urgent, &other_response).ok());
  }
  go_on.set_value();
  client.join();
  EXPECT_TRUE(accepted.ok());
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(refused.error_message(), StartsWith("QUEUE-FULL: "));
  EXPECT_EQ(trailing(refused_call, kRetryableMetadata), "true");
  EXPECT_TRUE(stub_->SubmitProof(&later_call, large, &other_response).ok());
}

}  // namespace

}  // namespace cuzk::service
