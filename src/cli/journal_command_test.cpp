#include "cli/testing.hpp"
#include "engine/journal.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>
#include <unistd.h>
#include <vector>

namespace cuzk::cli {
namespace {

using engine::Journal;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class JournalCommand : public ::testing::Test {
 protected:
  JournalCommand()
      : folder(std::filesystem::temp_directory_path() /
               fmt::format("cuzk_journal_command_{}", ::getpid())),
        file(folder / "journal.sqlite") {
    std::filesystem::create_directories(folder);
  }
  ~JournalCommand() override { std::filesystem::remove_all(folder); }

  /// A daemon that died twice while it worked on these jobs.
  void die_twice_of(const std::vector<std::string>& jobs) {
    for (int death = 0; death < 2; ++death) {
      Journal journal(file, {});
      for (const std::string& job : jobs) {
        engine::JobRequest request;
        request.request_id = job;
        request.miner_id = std::hash<std::string>()(job);
        if (death == 0) journal.add(job, request, payload_digest(request));
        journal.mark_started(job);
      }
    }
  }

  std::filesystem::path folder, file;
};

TEST_F(JournalCommand, ForgivesTheInputOfAJob) {
  die_twice_of({"a", "b"});
  const Outcome outcome = run_cuzk({"journal", "forgive", file, "a"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("forgiven: input "));
  Journal journal(file, {});
  EXPECT_THAT(journal.crashers(1), SizeIs(1));
  EXPECT_EQ(journal.unfinished()[0].crashes, 0U);
  EXPECT_EQ(journal.unfinished()[1].crashes, 2U);
}

TEST_F(JournalCommand, ForgivesEveryInput) {
  die_twice_of({"a", "b"});
  EXPECT_EQ(run_cuzk({"journal", "forgive", file}).status, 0);
  EXPECT_THAT(Journal(file, {}).crashers(1), IsEmpty());
  EXPECT_THAT(run_cuzk({"journal", "forgive", file}).out, HasSubstr("nothing to forgive"));
}

TEST_F(JournalCommand, NamesWhatItDoesNotFind) {
  const Outcome missing = run_cuzk({"journal", "forgive", file});
  EXPECT_EQ(missing.status, 1);
  EXPECT_THAT(missing.err, HasSubstr("there is no such file"));
  EXPECT_FALSE(std::filesystem::exists(file));
  die_twice_of({"a"});
  const Outcome unknown = run_cuzk({"journal", "forgive", file, "b"});
  EXPECT_EQ(unknown.status, 1);
  EXPECT_THAT(unknown.err, HasSubstr("knows no job 'b'"));
}

TEST_F(JournalCommand, LeavesARunningDaemonsJournalAlone) {
  const Journal running(file, {});
  const Outcome outcome = run_cuzk({"journal", "forgive", file});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("ALREADY-RUNNING"));
}

}  // namespace
}  // namespace cuzk::cli
