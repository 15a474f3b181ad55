#include "cli/load/daemon_target.hpp"
#include "cli/load/report.hpp"
#include "cli/load/runner.hpp"
#include "daemon/server_process.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <iterator>
#include <set>
#include <thread>

namespace cuzk::daemon_test {
namespace {

using cli::load::Answer;
using cli::load::MetricsText;
using cli::load::Sample;
using engine::ProofKind;
using ::testing::IsEmpty;

constexpr std::uint64_t kJobs = 1000;

std::shared_ptr<const cli::load::Payload> payload(engine::JobRequest request) {
  return std::make_shared<const cli::load::Payload>(
      cli::load::Payload{std::move(request), engine::CircuitId::parse("porep-2k"), {}});
}

/// PoRep of two partitions, WinningPoSt, WindowPoSt, and requests that do not hold.
cli::load::Load make_load() {
  cli::load::Load load;
  const auto item = [](ProofKind kind, double weight, unsigned partitions) {
    cli::load::MixItem mix{.weight = weight, .payloads = {}};
    for (std::uint64_t i = 0; i < 64; ++i)
      mix.payloads.push_back(payload(toy_job(kind, i, partitions)));
    return mix;
  };
  engine::JobRequest bad = toy_job(ProofKind::kSnap, 1, 1);
  base::store_u64_le(666, bad.vanilla_proofs[0].data());
  load.mix = {item(ProofKind::kPorep, 5, 3),
              item(ProofKind::kWinningPost, 3, 1),
              item(ProofKind::kWindowPost, 1, 1),
              {.weight = 1, .payloads = {payload(bad)}}};
  load.jobs = kJobs;
  load.clients = 24;
  load.vanishing = 0.1;
  load.vanish_after = std::chrono::milliseconds(15);
  load.twins = 0.1;
  return load;
}

bool holds(const cli::load::Payload& payload, base::ByteView proof) {
  return toy_verifies(payload.request, proof);
}

std::size_t open_files(pid_t pid) {
  const std::filesystem::directory_iterator entries("/proc/" + std::to_string(pid) + "/fd");
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

/// Jobs of clients that went away end a little later than their calls.
std::vector<std::string> unaccounted_at_rest(cli::load::Target& target, const MetricsText& before) {
  std::vector<std::string> complaints;
  for (int i = 0; i < 200; ++i) {
    complaints = cli::load::unaccounted(before, target.metrics());
    if (complaints.empty()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return complaints;
}

/// Every fault ends in a proof or in one of the errors that are meant for it.
void expect_sound(const std::vector<Sample>& samples) {
  const std::set<std::string> faults{"GPU-FAULT", "GPU-OOM", "SELF-CHECK-FAILED"};
  std::size_t valid = 0;
  for (const Sample& sample : samples) {
    const Answer& answer = sample.answer;
    const std::string about = std::string(to_string(answer.outcome)) + ": " + answer.error;
    EXPECT_FALSE(sample.differs);
    switch (answer.outcome) {
      case Answer::Outcome::kCompleted:
        EXPECT_TRUE(sample.valid);
        EXPECT_NE(sample.kind, ProofKind::kSnap);
        ++valid;
        break;
      case Answer::Outcome::kFailed:
        EXPECT_TRUE(faults.contains(answer.code)) << about;
        break;
      case Answer::Outcome::kRefused:
        EXPECT_EQ(answer.code, "BAD-VANILLA") << about;
        EXPECT_EQ(sample.kind, ProofKind::kSnap);
        break;
      case Answer::Outcome::kGaveUp:
        break;
      case Answer::Outcome::kCancelled:
      case Answer::Outcome::kUnreachable:
        ADD_FAILURE() << about;
    }
  }
  EXPECT_GE(valid, kJobs * 6 / 10);
}

TEST(Faults, AThousandJobsAmongFaultsOfEveryKind) {
  const ServerFolder folder;
  folder.configure(
      "[memory]\ntotal_budget = \"1GiB\"\n[gpus]\nquarantine_after = 100\n"
      "[reliability]\npartition_attempts = 4\n[logging]\nlevel = \"error\"\n");
  ServerProcess server(
      folder, {"--devices", "2", "--workers", "2", "--device-fault", "0.02", "--out-of-memory",
               "0.03", "--wrong-proof", "0.03", "--unknown", "0.01", "--slow-disk-ms", "30"});
  ASSERT_TRUE(ServerClient(folder).until_ready()) << folder.log();
  service::ClientOptions address;
  address.address = folder.address();
  auto target = cli::load::make_daemon_target(address);
  const MetricsText before = target->metrics();
  const std::size_t files_before = open_files(server.pid());

  const std::vector<Sample> samples = cli::load::run(*target, make_load(), holds);
  EXPECT_EQ(samples.size(), kJobs);
  expect_sound(samples);
  EXPECT_FALSE(server.exit_within(std::chrono::milliseconds(0))) << folder.log();

  EXPECT_THAT(unaccounted_at_rest(*target, before), IsEmpty());
  const MetricsText after = target->metrics();
  EXPECT_EQ(after.sum("cuzk_jobs_in_progress") + after.sum("cuzk_jobs_pending"), 0);
  EXPECT_EQ(after.sum("cuzk_witness_active"), 0);
  EXPECT_EQ(after.sum("cuzk_host_memory_waiters"), 0);
  // Each fault is seen: a wrong proof, a fault of the device, another try.
  EXPECT_GT(after.sum("cuzk_self_check_failures_total"), 10);
  EXPECT_EQ(after.sum("cuzk_device_bad_proofs_total"), after.sum("cuzk_self_check_failures_total"));
  EXPECT_GT(after.sum("cuzk_device_faults_total"), 10);
  EXPECT_GT(after.sum("cuzk_partition_retries_total"), 50);
  EXPECT_GT(after.sum("cuzk_jobs_cancelled_total"), 0);
  EXPECT_GT(after.sum("cuzk_requests_joined_total") + after.sum("cuzk_requests_replayed_total"), 0);
  std::size_t refused = 0;
  for (const Sample& sample : samples)
    refused += sample.answer.outcome == Answer::Outcome::kRefused;
  EXPECT_GE(after.sum("cuzk_requests_refused_total", {{"code", "BAD-VANILLA"}}),
            static_cast<double>(refused));
  EXPECT_LE(open_files(server.pid()), files_before + 30);

  target.reset();
  server.signal(SIGTERM);
  EXPECT_EQ(server.exit_within(std::chrono::seconds(60)), 0) << folder.log();
}

}  // namespace
}  // namespace cuzk::daemon_test
