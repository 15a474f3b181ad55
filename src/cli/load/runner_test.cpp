#include "cli/load/runner.hpp"

#include "base/error.hpp"
#include "cli/load/report.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <mutex>
#include <set>
#include <thread>

namespace cuzk::cli::load {
namespace {

using engine::ProofKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Answers at once, with a proof that says which payload it is of.
class FakeTarget : public Target {
 public:
  std::string name() const override { return "fake"; }
  Answer prove(const engine::JobRequest& request, std::chrono::milliseconds limit) override {
    const int now = ++at_once_;
    {
      const std::lock_guard lock(mutex_);
      ids_.insert(request.request_id);
      most_at_once_ = std::max(most_at_once_, now);
    }
    std::this_thread::sleep_for(work_);
    --at_once_;
    Answer answer;
    if (refuses_empty_ && request.vanilla_proof.empty()) {
      answer.outcome = Answer::Outcome::kRefused;
      answer.code = "BAD-INPUT";
      return answer;
    }
    if (limit.count() > 0) {
      answer.outcome = Answer::Outcome::kGaveUp;
      return answer;
    }
    answer.outcome = Answer::Outcome::kCompleted;
    answer.proof = request.vanilla_proof;
    if (forge_.contains(request.request_id)) answer.proof.push_back(std::uint8_t(++calls_));
    answer.attempts = 1;
    answer.timings.total = std::chrono::milliseconds(7);
    return answer;
  }
  MetricsText metrics() override { return {}; }

  std::chrono::microseconds work_{0};
  bool refuses_empty_ = true;
  std::set<std::string> forge_;  ///< ids with a wrong proof, another one each time
  std::atomic<int> at_once_ = 0, calls_ = 0;
  std::mutex mutex_;
  std::multiset<std::string> ids_;
  int most_at_once_ = 0;
};

Load make_load(std::uint64_t jobs) {
  const auto item = [](ProofKind kind, double weight, std::uint8_t first) {
    MixItem mix{.weight = weight, .payloads = {}};
    for (std::uint8_t i = 0; i < 3; ++i) {
      Payload payload{
          .request = {}, .circuit = engine::CircuitId::parse("porep-2k"), .public_inputs = {}};
      payload.request.kind = kind;
      payload.request.vanilla_proof = {std::uint8_t(first + i)};
      mix.payloads.push_back(std::make_shared<const Payload>(std::move(payload)));
    }
    return mix;
  };
  Load load;
  load.mix = {item(ProofKind::kPorep, 1, 10), item(ProofKind::kWinningPost, 3, 20)};
  load.jobs = jobs;
  return load;
}

bool same(const Payload& payload, base::ByteView proof) {
  return std::ranges::equal(payload.request.vanilla_proof, proof);
}

TEST(LoadRunner, EveryJobOnceByWeightAndVerified) {
  FakeTarget target;
  target.work_ = std::chrono::microseconds(200);
  Load load = make_load(400);
  load.clients = 8;
  const std::vector<Sample> samples = run(target, load, same);
  ASSERT_EQ(samples.size(), 400u);
  for (std::uint64_t i = 0; i < 400; ++i) {
    EXPECT_EQ(samples[i].job, i);
    EXPECT_TRUE(samples[i].valid);
    EXPECT_GT(samples[i].seconds, 0.0001);
  }
  EXPECT_EQ(std::set(target.ids_.begin(), target.ids_.end()).size(), 400u);
  EXPECT_LE(target.most_at_once_, 8);
  const Report report = make_report(samples);
  EXPECT_NEAR(static_cast<double>(report.kinds.at(ProofKind::kWinningPost).sent), 300, 45);
  EXPECT_EQ(report.valid(), 400u);
  EXPECT_THAT(report.faults(), ElementsAre());
  EXPECT_EQ(report.kinds.at(ProofKind::kPorep).total_ms.p99, 7);
}

TEST(LoadRunner, ForgedAndDifferingAnswersAreFaults) {
  FakeTarget target;
  Load load = make_load(20);
  load.twins = 1;
  target.forge_ = {"bench-3", "bench-4"};
  const Report report = make_report(run(target, load, same));
  EXPECT_EQ(report.valid(), 18u);
  EXPECT_EQ(target.ids_.size(), 40u);
  std::uint64_t invalid = 0, differing = 0;
  for (const auto& [kind, one] : report.kinds) {
    invalid += one.invalid;
    differing += one.differing;
  }
  EXPECT_EQ(invalid, 2u);
  EXPECT_EQ(differing, 2u);
  EXPECT_GE(report.faults().size(), 2u);
  EXPECT_THAT(to_text(report), HasSubstr("INVALID"));
  const nlohmann::json json = to_json(report);
  EXPECT_EQ(json["valid"], 18);
}

TEST(LoadRunner, VanishingClientsAreNoFault) {
  FakeTarget target;
  Load load = make_load(200);
  load.vanishing = 0.25;
  const Report report = make_report(run(target, load, same));
  std::uint64_t gave_up = 0;
  for (const auto& [kind, one] : report.kinds) gave_up += one.others.at("gave up");
  EXPECT_EQ(report.valid() + gave_up, 200u);
  EXPECT_NEAR(static_cast<double>(gave_up), 50, 25);
  EXPECT_THAT(report.faults(), ElementsAre());
}

TEST(LoadRunner, DamagedRequestsMustBeRefused) {
  FakeTarget target;
  Load load = make_load(200);
  load.damaged = 0.5;
  Report report = make_report(run(target, load, same));
  EXPECT_THAT(report.faults(), ElementsAre());
  EXPECT_GT(report.kinds.at(ProofKind::kWinningPost).others.at("refused BAD-INPUT"), 40u);
  target.refuses_empty_ = false;
  report = make_report(run(target, load, same));
  EXPECT_FALSE(report.faults().empty());
}

// A job that finds every client busy was late already when it was sent.
TEST(LoadRunner, LatenessOfAnOpenLoadCounts) {
  FakeTarget target;
  target.work_ = std::chrono::milliseconds(5);
  Load load = make_load(40);
  load.rate = 2000;
  load.clients = 1;
  const std::vector<Sample> samples = run(target, load, same);
  EXPECT_LT(samples.front().seconds, 0.05);
  EXPECT_GT(samples.back().seconds, 0.1);
}

TEST(LoadRunner, EndsWithItsDuration) {
  FakeTarget target;
  target.work_ = std::chrono::milliseconds(1);
  Load load = make_load(0);
  load.duration = std::chrono::milliseconds(60);
  const std::vector<Sample> samples = run(target, load, same);
  EXPECT_GE(samples.size(), 5u);
  EXPECT_LE(samples.back().start, 0.06);
}

TEST(LoadRunner, ErrorsOfTheCheckEndTheRun) {
  FakeTarget target;
  EXPECT_THROW(run(target, make_load(1000000),
                   [](const Payload&, base::ByteView) -> bool { throw base::CorruptData("key"); }),
               base::CorruptData);
  EXPECT_THROW(run(target, make_load(0), same), base::InvalidInput);
  EXPECT_THROW(run(target, Load{.mix = {}, .jobs = 1}, same), base::InvalidInput);
}

TEST(LoadReport, UnaccountedJobsAreNamed) {
  const auto metrics = [](int accepted, int completed, int failed, int cancelled, int pending) {
    return MetricsText(
        fmt::format("cuzk_jobs_accepted_total{{proof_kind=\"porep_c2\"}} {}\n"
                    "cuzk_proofs_completed{{proof_kind=\"porep_c2\"}} {}\n"
                    "cuzk_proofs_failed{{proof_kind=\"porep_c2\"}} {}\n"
                    "cuzk_jobs_cancelled_total{{proof_kind=\"porep_c2\"}} {}\n"
                    "cuzk_jobs_pending{{proof_kind=\"porep_c2\"}} {}\n",
                    accepted, completed, failed, cancelled, pending));
  };
  EXPECT_THAT(unaccounted(metrics(5, 3, 1, 0, 1), metrics(25, 18, 3, 4, 0)), ElementsAre());
  EXPECT_THAT(unaccounted(metrics(5, 3, 1, 0, 1), metrics(25, 18, 3, 3, 0)),
              ElementsAre(HasSubstr("porep_c2: 20 jobs accepted")));
}

}  // namespace
}  // namespace cuzk::cli::load
