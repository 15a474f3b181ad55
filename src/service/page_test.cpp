// The status page in a browser: what an operator sees, not what the server sends.
#include "service/http_server.hpp"
#include "service/testing/test_server.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>

namespace cuzk::service {

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class PageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("command -v chromium >/dev/null") != 0) GTEST_SKIP() << "no chromium here";
    engine_.picture = testing::sample_status();
  }

  /// Runs the browser on the page until its scripts have had two seconds of their own time.
  std::string browse(const std::string& options) {
    const HttpServer server(engine_, "127.0.0.1:0");
    const std::string out = (folder_ / "out").string();
    const std::string command = fmt::format(
        "timeout 60 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage "
        "--user-data-dir={} --virtual-time-budget=2000 {} http://{}/ >{} 2>{}.log",
        (folder_ / "profile").string(), options, server.address().grpc_target(), out, out);
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    std::ifstream file(out);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string dom() { return browse("--dump-dom"); }

  static std::size_t count(const std::string& text, const std::string& pattern) {
    const std::regex regex(pattern);
    return static_cast<std::size_t>(
        std::distance(std::sregex_iterator(text.begin(), text.end(), regex), {}));
  }

  testing::TempFolder folder_;
  testing::FakeEngine engine_;
};

TEST_F(PageTest, ShowsJobsPartitionsDevicesAndTroubles) {
  const std::string page = dom();
  ASSERT_THAT(page, HasSubstr("data-polled=\"yes\""));
  // Ids are text, never markup.
  EXPECT_THAT(page, HasSubstr("wdpost-1000-3-[1 2 \"&lt;b&gt;\"]"));
  EXPECT_THAT(page, Not(HasSubstr("\"<b>")));
  // One cell a partition: 6, 16 and 1, each with its stage.
  EXPECT_EQ(count(page, "class=\"cell "), 23u);
  for (const char* stage : {"done", "verify", "gpu", "synth_done", "synthesizing", "failed"})
    EXPECT_EQ(count(page, fmt::format("class=\"cell {}\"", stage)), 1u) << stage;
  EXPECT_THAT(page, HasSubstr("partition 2: gpu, cuda:0, witness 300 ms, device 450 ms"));
  EXPECT_THAT(page, HasSubstr("waits for host memory: needs 3.1 GiB, 0.4 GiB free"));
  EXPECT_THAT(page, HasSubstr("GPU-FAULT: job winpost-1000-0011223344556677"));
  // What needs attention comes first.
  EXPECT_THAT(page, HasSubstr("Device cuda:1 is out of service: 3 bad proofs in a row"));
  EXPECT_LT(page.find("out of service"), page.find("wdpost-1000"));
  EXPECT_THAT(page, HasSubstr("worker 0: wdpost-1000-3"));
  EXPECT_THAT(page, HasSubstr("msm_h"));
  EXPECT_THAT(page, HasSubstr("porep-32g"));
  EXPECT_THAT(page, HasSubstr("fetch them with 'curio fetch-params'"));
  EXPECT_THAT(page, HasSubstr("BAD-INPUT"));
}

TEST_F(PageTest, AnIdleDaemonHasNothingToComplainAbout) {
  engine::Status& status = engine_.picture;
  status.jobs.clear();
  status.devices.pop_back();
  status.counters.self_check_failures = 0;
  const std::string page = dom();
  EXPECT_THAT(page, HasSubstr("id=\"attention\" hidden"));
  EXPECT_THAT(page, HasSubstr("No jobs."));
  EXPECT_THAT(page, HasSubstr("<span id=\"state\" class=\"badge good\">ready</span>"));
}

TEST_F(PageTest, SaysWhyItIsNotReady) {
  engine_.picture.ready = false;
  engine_.picture.not_ready_because = "starting: checking the files of porep-32g, then 2 more";
  EXPECT_THAT(dom(), HasSubstr("not ready yet: starting: checking the files of porep-32g, then 2"));
}

TEST_F(PageTest, SaysThatTheDaemonDoesNotAnswer) {
  engine_.refusal.emplace(engine::ErrorCode::kInternal, "broken");
  const std::string page = dom();
  EXPECT_THAT(page, HasSubstr("no answer"));
  EXPECT_THAT(page, HasSubstr("The daemon does not answer (HTTP 500)."));
}

TEST_F(PageTest, CanBePictured) {
  const std::string picture = (folder_ / "page.png").string();
  browse("--window-size=1200,1400 --screenshot=" + picture);
  ASSERT_TRUE(std::filesystem::exists(picture));
  EXPECT_GT(std::filesystem::file_size(picture), 20'000u);
  if (const char* keep = std::getenv("CUZK_PICTURE"))
    std::filesystem::copy_file(picture, keep, std::filesystem::copy_options::overwrite_existing);
}

}  // namespace

}  // namespace cuzk::service
