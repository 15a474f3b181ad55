#include "cli/load/ab.hpp"

#include "base/error.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <random>
#include <thread>

namespace cuzk::cli::load {
namespace {

using ::testing::HasSubstr;
using Verdict = Comparison::Verdict;

/// Whose metrics say what its stages took. `witness` is slower by a share; `msm_h` only varies.
class StagedTarget : public Target {
 public:
  StagedTarget(std::string name, double witness, std::string& order)
      : name_(std::move(name)), witness_(witness), order_(order) {}

  std::string name() const override { return name_; }
  Answer prove(const engine::JobRequest& request, std::chrono::milliseconds) override {
    order_ += name_;
    std::normal_distribution<double> noise(0, 0.01);
    witness_sum_ += witness_ + noise(random_) * 0.1;
    msm_sum_ += 1 + noise(random_);
    Answer answer;
    answer.outcome = Answer::Outcome::kCompleted;
    answer.proof = request.vanilla_proof;
    return answer;
  }
  MetricsText metrics() override {
    const char* const form = "cuzk_stage_seconds_sum{{proof_kind=\"{}\",stage=\"{}\"}} {}\n";
    return MetricsText(fmt::format(fmt::runtime(form), "winning_post", "witness", witness_sum_) +
                       fmt::format(fmt::runtime(form), "winning_post", "msm_h", msm_sum_) +
                       fmt::format(fmt::runtime(form), "porep_c2", "msm_l", 100.0));
  }

 private:
  const std::string name_;
  const double witness_;
  std::string& order_;
  std::mt19937_64 random_{7};
  double witness_sum_ = 50, msm_sum_ = 60;
};

AbPlan make_plan() {
  AbPlan plan;
  Payload payload{
      .request = {}, .circuit = engine::CircuitId::parse("winning-2k"), .public_inputs = {}};
  payload.request.kind = engine::ProofKind::kWinningPost;
  payload.request.vanilla_proof = {1};
  plan.payloads = {std::make_shared<const Payload>(std::move(payload))};
  plan.pairs = 12;
  plan.jobs = 2;
  plan.id_prefix = "t";
  return plan;
}

AbResult run(const AbPlan& plan, double witness_b, std::string& order, bool valid = true) {
  return run_ab(
      plan,
      {[&] { return std::make_unique<StagedTarget>("A", 0.5, order); },
       [&] { return std::make_unique<StagedTarget>("B", witness_b, order); }},
      [valid](const Payload&, base::ByteView) { return valid; }, [](const std::string&) {});
}

const AbRow& row(const AbResult& result, const std::string& name) {
  for (const AbRow& one : result.rows) {
    if (one.name == name) return one;
  }
  throw base::InvalidInput("no row " + name);
}

TEST(LoadAb, TellsTheStageThatDiffersFromThoseThatDoNot) {
  std::string order;
  const AbResult result = run(make_plan(), 0.45, order);
  EXPECT_EQ(result.names[0], "A");
  EXPECT_EQ(row(result, "witness").comparison.verdict, Verdict::kSmaller);
  EXPECT_NEAR(row(result, "witness").comparison.difference, -0.05, 0.002);
  EXPECT_EQ(row(result, "msm_h").comparison.verdict, Verdict::kNoDifference);
  EXPECT_NEAR(row(result, "msm_h").comparison.a, 1, 0.02);
  for (const AbRow& one : result.rows) EXPECT_NE(one.name, "msm_l");
  EXPECT_THAT(to_text(result), HasSubstr("B smaller"));
  EXPECT_EQ(to_json(result)["rows"]["witness"]["verdict"], "B smaller");
}

TEST(LoadAb, TurnsAlternateAndTheFirstJobIsNotMeasured) {
  std::string order;
  AbPlan plan = make_plan();
  plan.pairs = 3;
  const AbResult result = run(plan, 0.5, order);
  EXPECT_EQ(order, "AAABBBBBAAAABB");
  EXPECT_EQ(row(result, "witness").comparison.verdict, Verdict::kTooFewRuns);
  EXPECT_THAT(to_text(result), HasSubstr("a verdict on 4 rows needs 8 runs"));
  order.clear();
  plan.keep_targets = false;
  plan.jobs = 1;
  run(plan, 0.5, order);
  EXPECT_EQ(order, "AABBBBAAAABB");
}

TEST(LoadAb, AnInvalidProofEndsIt) {
  std::string order;
  EXPECT_THROW(run(make_plan(), 0.5, order, false), base::InvalidInput);
}

}  // namespace
}  // namespace cuzk::cli::load
