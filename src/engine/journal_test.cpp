#include "engine/journal.hpp"

#include "base/error.hpp"
#include "engine/sqlite.hpp"
#include "engine/testing/faulty_disk.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace cuzk::engine {
namespace {

using base::Bytes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Bytes that depend on everything in `seed`, so that exchanged parts are noticed.
Bytes pattern(std::size_t size, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; i += 8) {
    const std::uint64_t word = generator();
    std::memcpy(bytes.data() + i, &word, std::min<std::size_t>(8, size - i));
  }
  return bytes;
}

JobRequest request_of(std::uint64_t seed, std::size_t bytes = 300) {
  JobRequest request;
  request.request_id = "request-" + std::to_string(seed);
  request.kind = seed % 2 == 0 ? ProofKind::kSnap : ProofKind::kWindowPost;
  request.sector_size = 2048;
  request.registered_proof = UINT64_MAX - seed;
  request.priority = Priority::kHigh;
  request.vanilla_proofs = {pattern(bytes, seed), {}, pattern(bytes / 2, seed + 1)};
  request.sector_number = UINT64_MAX;
  request.miner_id = seed;
  request.randomness = pattern(32, seed + 2);
  request.partition_index = UINT32_MAX;
  request.comm_r_old = pattern(32, seed + 3);
  request.comm_d_new = pattern(32, seed + 4);
  return request;
}

std::string digest_of(std::uint64_t seed) { return payload_digest(request_of(seed)); }

void add(Journal& journal, std::string_view job_id, const JobRequest& request) {
  journal.add(job_id, request, payload_digest(request));
}

void expect_equal(const JobRequest& a, const JobRequest& b) {
  EXPECT_EQ(a.request_id, b.request_id);
  EXPECT_EQ(a.priority, b.priority);
  EXPECT_EQ(payload_digest(a), payload_digest(b));  // every other field
  EXPECT_EQ(a.vanilla_proofs, b.vanilla_proofs);
}

JobResult completed(std::string_view job_id, std::uint64_t seed) {
  JobResult result;
  result.job_id = job_id;
  result.state = JobState::kCompleted;
  result.proof = pattern(384, seed);
  using Ms = std::chrono::milliseconds;
  result.timings = {Ms(1), Ms(2), Ms(3), Ms(4), Ms(5 + static_cast<int>(seed % 1000))};
  result.attempts = 2;
  result.backend = "cuda:0";
  return result;
}

JobResult failed(std::string_view job_id, ErrorCode code) {
  JobResult result;
  result.job_id = job_id;
  result.state = JobState::kFailed;
  result.code = code;
  result.error = std::string(to_string(code)) + ": because";
  return result;
}

void expect_equal(const JobResult& a, const JobResult& b) {
  EXPECT_EQ(a.job_id, b.job_id);
  EXPECT_EQ(a.state, b.state);
  EXPECT_EQ(a.proof, b.proof);
  EXPECT_EQ(a.code, b.code);
  EXPECT_EQ(a.error, b.error);
  EXPECT_EQ(a.timings.queue_wait, b.timings.queue_wait);
  EXPECT_EQ(a.timings.srs_load, b.timings.srs_load);
  EXPECT_EQ(a.timings.synthesis, b.timings.synthesis);
  EXPECT_EQ(a.timings.gpu_compute, b.timings.gpu_compute);
  EXPECT_EQ(a.timings.total, b.timings.total);
  EXPECT_EQ(a.attempts, b.attempts);
  EXPECT_EQ(a.backend, b.backend);
}

std::vector<std::string> ids(const std::vector<Journal::UnfinishedJob>& jobs) {
  std::vector<std::string> ids;
  for (const Journal::UnfinishedJob& job : jobs) ids.push_back(job.job_id);
  return ids;
}

class JournalTest : public ::testing::Test {
 protected:
  JournalTest() {
    // Memory, where there is such a folder: what a process leaves there when it is killed is the
    // same as on a disk, and the many syncs cost nothing.
    const std::filesystem::path memory = "/dev/shm";
    const bool has_memory = ::access(memory.c_str(), W_OK) == 0;
    std::string name =
        ((has_memory ? memory : std::filesystem::temp_directory_path()) / "cuzk-journal-XXXXXX")
            .string();
    folder_ = ::mkdtemp(name.data());
    path_ = folder_ / "state" / "journal.db";
  }
  ~JournalTest() override { std::filesystem::remove_all(folder_); }

  void overwrite(std::uint64_t offset, std::string_view bytes) {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(offset));
    file << bytes;
  }

  std::filesystem::path folder_, path_;
};

TEST_F(JournalTest, EverythingComesBackAfterReopening) {
  const auto before = std::chrono::system_clock::now() - std::chrono::milliseconds(1);
  {
    Journal journal(path_, {});
    EXPECT_EQ(journal.recovered(), "");
    add(journal, "a", request_of(1));
    add(journal, "b", request_of(2));
    add(journal, "c", request_of(3));
    journal.add_partition("a", 1, pattern(192, 11));
    journal.add_partition("a", 0, pattern(192, 10));
    journal.add_partition("b", 0, pattern(192, 12));
    journal.finish(completed("b", 7));
    journal.finish(failed("c", ErrorCode::kBadVanilla));
  }
  Journal journal(path_, {});
  EXPECT_EQ(journal.recovered(), "");
  const std::vector<Journal::UnfinishedJob> jobs = journal.unfinished();
  ASSERT_THAT(ids(jobs), ElementsAre("a"));
  EXPECT_EQ(jobs[0].payload_digest, digest_of(1));
  EXPECT_EQ(jobs[0].request.request_id, "request-1");
  EXPECT_THAT(jobs[0].request.vanilla_proofs, IsEmpty()) << "the payloads stay on disk";
  expect_equal(journal.request("a").value(), request_of(1));
  EXPECT_FALSE(journal.request("b"));  // finished
  EXPECT_GE(jobs[0].accepted, before);
  EXPECT_LE(jobs[0].accepted, std::chrono::system_clock::now());
  EXPECT_EQ(jobs[0].crashes, 0U);
  EXPECT_THAT(jobs[0].partitions,
              ElementsAre(std::pair(0U, pattern(192, 10)), std::pair(1U, pattern(192, 11))));
  const auto done = journal.find("request-2", digest_of(2));
  ASSERT_TRUE(done);
  EXPECT_EQ(done->request_id, "request-2");
  EXPECT_EQ(done->payload_digest, digest_of(2));
  expect_equal(done->result, completed("b", 7));
  expect_equal(journal.find_job("c")->result, failed("c", ErrorCode::kBadVanilla));
  EXPECT_FALSE(journal.find("request-2", digest_of(1)));
  EXPECT_FALSE(journal.find("request-1", digest_of(1)));  // not finished
  EXPECT_FALSE(journal.find_job("a"));
}

TEST_F(JournalTest, EveryErrorCodeAndStateComesBack) {
  Journal journal(":memory:", {});
  for (int i = 1; i <= static_cast<int>(ErrorCode::kInternal); ++i) {
    const std::string id = std::to_string(i);
    JobResult result = failed(id, static_cast<ErrorCode>(i));
    if (result.code == ErrorCode::kCancelled) result.state = JobState::kCancelled;
    add(journal, id, request_of(1));
    journal.finish(result);
    expect_equal(journal.find_job(id)->result, result);
  }
}

// 256 MiB is the largest message; what matters is that a payload has many pieces.
TEST_F(JournalTest, LargePayloadsComeBackWhole) {
  JobRequest request = request_of(1);
  request.vanilla_proof = pattern((std::size_t{9} << 20) + 1, 5);
  request.vanilla_proofs = {pattern(std::size_t{4} << 20, 6),
                            pattern((std::size_t{4} << 20) + 1, 7)};
  {
    Journal journal(path_, {});
    add(journal, "a", request);
  }
  const auto read = Journal(path_, {}).request("a");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->vanilla_proof, request.vanilla_proof);
  EXPECT_EQ(read->vanilla_proofs, request.vanilla_proofs);
}

TEST_F(JournalTest, AnIdMayBeUsedAgainOnceItsJobHasEnded) {
  Journal journal(path_, {});
  add(journal, "porep-1000-42", request_of(1));
  EXPECT_THROW(add(journal, "porep-1000-42", request_of(2)), base::InvalidInput);
  journal.finish(failed("porep-1000-42", ErrorCode::kSuperseded));
  add(journal, "porep-1000-42", request_of(2));
  EXPECT_EQ(journal.unfinished().size(), 1U);
  journal.finish(completed("porep-1000-42", 9));
  expect_equal(journal.find_job("porep-1000-42")->result, completed("porep-1000-42", 9));
  EXPECT_EQ(journal.find("request-1", digest_of(1))->result.code, ErrorCode::kSuperseded);
  EXPECT_EQ(journal.find("request-2", digest_of(2))->result.state, JobState::kCompleted);
}

TEST_F(JournalTest, TheNewestResultOfARequestIsFound) {
  Journal journal(path_, {});
  for (std::uint64_t i = 0; i < 3; ++i) {
    const std::string id = "job-" + std::to_string(i);
    add(journal, id, request_of(1));
    journal.finish(completed(id, i));
  }
  EXPECT_EQ(journal.find("request-1", digest_of(1))->result.job_id, "job-2");
}

TEST_F(JournalTest, AJobEndsOnce) {
  Journal journal(":memory:", {});
  add(journal, "a", request_of(1));
  JobResult running = completed("a", 1);
  running.state = JobState::kRunning;
  EXPECT_THROW(journal.finish(running), base::InvalidInput);
  journal.finish(completed("a", 1));
  EXPECT_THROW(journal.finish(failed("a", ErrorCode::kInternal)), base::InvalidInput);
  EXPECT_THROW(journal.finish(completed("unknown", 1)), base::InvalidInput);
  EXPECT_THROW(journal.add_partition("a", 0, pattern(192, 1)), base::InvalidInput);
  EXPECT_THROW(journal.mark_started("a"), base::InvalidInput);
  EXPECT_NO_THROW(journal.mark_stopped("a"));
  expect_equal(journal.find_job("a")->result, completed("a", 1));
}

TEST_F(JournalTest, APartitionProvedAgainReplacesTheOld) {
  Journal journal(":memory:", {});
  add(journal, "a", request_of(1));
  journal.add_partition("a", 4, pattern(192, 1));
  journal.add_partition("a", 4, pattern(192, 2));
  EXPECT_THAT(journal.unfinished()[0].partitions, ElementsAre(std::pair(4U, pattern(192, 2))));
}

TEST_F(JournalTest, CrashesAreCountedForJobsThatWereBeingProved) {
  for (std::uint32_t round = 0; round < 3; ++round) {
    Journal journal(path_, {});
    if (round == 0) {
      add(journal, "killer", request_of(1));
      add(journal, "waiting", request_of(2));
      add(journal, "stopped", request_of(3));
    }
    const auto jobs = journal.unfinished();
    EXPECT_EQ(jobs[0].crashes, round);
    EXPECT_EQ(jobs[1].crashes, 0U);
    EXPECT_EQ(jobs[2].crashes, 0U);
    journal.mark_started("killer");
    journal.mark_started("stopped");
    journal.mark_stopped("stopped");
  }
  Journal journal(path_, {});
  EXPECT_THAT(journal.crashers(2), ElementsAre(digest_of(1)));
  EXPECT_THAT(journal.crashers(3), ElementsAre(digest_of(1)));
  EXPECT_THAT(journal.crashers(4), IsEmpty());
  // The payload is known after the job has gone, until somebody forgives it.
  journal.finish(failed("killer", ErrorCode::kRefused));
  EXPECT_THAT(journal.crashers(2), ElementsAre(digest_of(1)));
  journal.forgive(digest_of(1));
  EXPECT_THAT(journal.crashers(1), IsEmpty());
}

TEST_F(JournalTest, APayloadThatIsProvedInTheEndIsNoCrasher) {
  for (int round = 0; round < 2; ++round) {
    Journal journal(path_, {});
    if (round == 0) add(journal, "a", request_of(1));
    journal.mark_started("a");
  }
  Journal journal(path_, {});
  EXPECT_THAT(journal.crashers(2), ElementsAre(digest_of(1)));
  journal.finish(completed("a", 1));
  EXPECT_THAT(journal.crashers(1), IsEmpty());
}

TEST_F(JournalTest, ForgivingResetsTheCountOfWaitingJobs) {
  {
    Journal journal(path_, {});
    add(journal, "a", request_of(1));
    journal.mark_started("a");
  }
  Journal journal(path_, {});
  EXPECT_EQ(journal.unfinished()[0].crashes, 1U);
  journal.forgive(digest_of(1));
  EXPECT_EQ(journal.unfinished()[0].crashes, 0U);
}

TEST_F(JournalTest, ResultsAreKeptForATimeAndANumber) {
  Journal::Options options;
  options.max_results = 3;
  {
    Journal journal(path_, options);
    for (int i = 0; i < 6; ++i) {
      const std::string id = std::to_string(i);
      add(journal, id, request_of(1));
      journal.finish(completed(id, 1));
    }
    add(journal, "open", request_of(1));
    journal.trim();
    for (int i = 0; i < 6; ++i) EXPECT_EQ(journal.find_job(std::to_string(i)).has_value(), i >= 3);
  }
  {
    sqlite::Database database(path_);
    database.run("UPDATE job SET finished_ms = finished_ms - 24 * 3600 * 1000 WHERE job_id = '4'",
                 {});
  }
  Journal journal(path_, options);
  journal.trim();
  EXPECT_TRUE(journal.find_job("3"));
  EXPECT_FALSE(journal.find_job("4"));
  EXPECT_TRUE(journal.find_job("5"));
  EXPECT_THAT(ids(journal.unfinished()), ElementsAre("open"));
}

TEST_F(JournalTest, TheRetentionCanBeChanged) {
  Journal journal(path_, {});
  for (const char* id : {"0", "1", "2"}) {
    add(journal, id, request_of(1));
    journal.finish(completed(id, 1));
  }
  journal.trim();
  EXPECT_TRUE(journal.find_job("0"));
  journal.set_retention(std::chrono::hours(24), 2);
  journal.trim();
  EXPECT_FALSE(journal.find_job("0"));
  EXPECT_TRUE(journal.find_job("1"));
  journal.set_retention(std::chrono::hours(0), 10);
  journal.trim();
  EXPECT_FALSE(journal.find_job("2"));
}

TEST_F(JournalTest, AClockThatIsSetForwardMakesNoResultOld) {
  auto now = std::chrono::system_clock::now();
  Journal::Options options;
  options.clock = [&] { return now; };
  {
    Journal journal(path_, options);
    add(journal, "a", request_of(1));
    journal.finish(completed("a", 1));
    now += std::chrono::hours(26);
    for (int i = 0; i < 2; ++i) {
      journal.trim();
      EXPECT_TRUE(journal.find_job("a"));
    }
    add(journal, "b", request_of(2));
    journal.finish(completed("b", 2));
    journal.set_retention(std::chrono::hours(0), 10);  // that time is over at once
    journal.trim();
    EXPECT_FALSE(journal.find_job("a"));
    EXPECT_FALSE(journal.find_job("b"));
    add(journal, "c", request_of(3));
    journal.finish(completed("c", 3));
  }
  now += std::chrono::hours(26);
  Journal journal(path_, options);
  journal.trim();
  EXPECT_FALSE(journal.find_job("c")) << "the time while it was closed counts";
}

TEST_F(JournalTest, AClockThatIsSetBackHidesNoResult) {
  auto now = std::chrono::system_clock::now();
  Journal::Options options;
  options.max_results = 1;
  options.clock = [&] { return now; };
  Journal journal(path_, options);
  add(journal, "a", request_of(1));
  journal.finish(completed("a", 1));
  now -= std::chrono::hours(1);
  add(journal, "b", request_of(1));
  journal.finish(completed("b", 2));
  EXPECT_EQ(journal.find("request-1", digest_of(1))->result.job_id, "b");
  journal.trim();
  EXPECT_FALSE(journal.find_job("a"));
  EXPECT_TRUE(journal.find_job("b"));
}

TEST_F(JournalTest, OfOneRequestACompletedJobIsFoundFirst) {
  Journal journal(":memory:", {});
  add(journal, "a", request_of(1));
  journal.finish(failed("a", ErrorCode::kGpuFault));
  EXPECT_EQ(journal.find("request-1", digest_of(1))->result.job_id, "a");
  add(journal, "b", request_of(1));
  journal.finish(completed("b", 1));
  add(journal, "c", request_of(1));
  journal.finish(failed("c", ErrorCode::kCancelled));
  EXPECT_EQ(journal.find("request-1", digest_of(1))->result.job_id, "b");
}

TEST_F(JournalTest, FinishedJobsTakeLittleRoom) {
  Journal journal(path_, {});
  const JobRequest request = request_of(1, std::size_t{1} << 20);
  for (int i = 0; i < 40; ++i) {
    add(journal, "a", request);
    journal.finish(completed("a", 1));
  }
  EXPECT_LT(std::filesystem::file_size(path_), std::size_t{8} << 20);
  sqlite::Database database(path_);
  EXPECT_EQ(database.integer("SELECT count(*) FROM payload"), 0);
}

// What a backlog took is given back once it has been worked off.
TEST_F(JournalTest, TheFileShrinksAgain) {
  Journal::Options options;
  options.free_bytes = std::uint64_t{4} << 20;
  Journal journal(path_, options);
  for (int i = 0; i < 32; ++i) add(journal, std::to_string(i), request_of(1, std::size_t{1} << 20));
  const auto size = [&] {
    return std::filesystem::file_size(path_) + std::filesystem::file_size(path_.string() + "-wal");
  };
  EXPECT_GT(size(), std::uintmax_t{32} << 20);
  for (int i = 0; i < 32; ++i) journal.finish(completed(std::to_string(i), 1));
  journal.trim();
  {
    const sqlite::Database reader(path_);  // so that the log is still there afterwards
  }
  add(journal, "next", request_of(1));
  EXPECT_LT(std::filesystem::file_size(path_), std::uintmax_t{8} << 20);
}

TEST_F(JournalTest, PayloadsBeyondTheLimitAreRefused) {
  Journal::Options options;
  options.max_bytes = 1000;
  Journal journal(":memory:", options);
  add(journal, "a", request_of(1, 400));  // 600 bytes
  try {
    add(journal, "b", request_of(2, 400));
    FAIL();
  } catch (const base::ResourceExhausted& error) {
    EXPECT_THAT(error.what(), HasSubstr("holds 600 bytes of unfinished jobs and may hold 1000; 600 "
                                        "more"));
  }
  journal.finish(completed("a", 1));
  add(journal, "b", request_of(2, 400));
  EXPECT_THROW(add(journal, "c", request_of(3, std::size_t{1} << 20)), base::ResourceExhausted);
}

TEST_F(JournalTest, OneProcessAtATime) {
  {
    Journal journal(path_, {});
    try {
      Journal second(path_, {});
      FAIL();
    } catch (const base::InvalidInput& error) {
      EXPECT_THAT(error.what(),
                  HasSubstr("ALREADY-RUNNING: pid " + std::to_string(::getpid()) + " holds"));
    }
    add(journal, "a", request_of(1));
  }
  EXPECT_EQ(Journal(path_, {}).unfinished().size(), 1U);
}

TEST_F(JournalTest, OnlyTheOwnerMayRead) {
  const Journal journal(path_, {});
  for (const char* suffix : {"", "-wal", ".lock"}) {
    struct stat status {};
    ASSERT_EQ(::stat((path_.string() + suffix).c_str(), &status), 0) << suffix;
    EXPECT_EQ(status.st_mode & 0777, 0600U) << suffix;
  }
}

TEST_F(JournalTest, ForeignAndNewerFilesAreLeftAlone) {
  { const Journal journal(path_, {}); }
  {
    sqlite::Database database(path_);
    database.execute("PRAGMA user_version = 99");
  }
  EXPECT_THROW(Journal(path_, {}), base::InvalidInput);
  std::filesystem::remove(path_);
  {
    sqlite::Database database(path_);
    database.execute("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)");
  }
  EXPECT_THROW(Journal(path_, {}), base::InvalidInput);
  sqlite::Database database(path_);
  EXPECT_EQ(database.integer("SELECT x FROM theirs"), 1);
}

TEST_F(JournalTest, ADamagedFileIsMovedAside) {
  const auto fill = [&] {
    Journal journal(path_, {});
    for (int i = 0; i < 20; ++i) add(journal, "job-" + std::to_string(i), request_of(1, 40'000));
  };
  const std::string garbage(5000, '\x5a');
  const std::vector<std::function<void()>> damages = {
      [&] { overwrite(0, garbage); },                                       // no header
      [&] { overwrite(2 * 16'384, garbage); },                              // a table's first page
      [&] { overwrite(16'384, garbage); },                                  // the map of pages
      [&] { std::filesystem::resize_file(path_, 6 * 16'384); },             // cut
      [&] { std::ofstream(path_) << "<html>disk quota exceeded</html>"; },  // another file
  };
  for (std::size_t i = 0; i < damages.size(); ++i) {
    SCOPED_TRACE(i);
    std::filesystem::remove_all(folder_ / "state");
    fill();
    damages[i]();
    const std::uint64_t size = std::filesystem::file_size(path_);
    {
      Journal journal(path_, {});
      EXPECT_THAT(journal.recovered(), HasSubstr("damaged"));
      EXPECT_THAT(journal.unfinished(), IsEmpty());
      add(journal, "new", request_of(1));
    }
    std::vector<std::filesystem::path> aside;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "state")) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("journal.db.damaged-") && !name.ends_with("-wal") &&
          !name.ends_with("-shm"))
        aside.push_back(entry.path());
    }
    ASSERT_EQ(aside.size(), 1U);
    EXPECT_EQ(std::filesystem::file_size(aside[0]), size);
    Journal journal(path_, {});
    EXPECT_EQ(journal.recovered(), "");
    EXPECT_THAT(ids(journal.unfinished()), ElementsAre("new"));
  }
}

// To SQLite's check a page that cannot be read is damage.
TEST_F(JournalTest, AReadThatFailsIsNoDamage) {
  {
    Journal journal(path_, {});
    for (int i = 0; i < 20; ++i) add(journal, "job-" + std::to_string(i), request_of(1, 40'000));
  }
  const std::uint64_t size = std::filesystem::file_size(path_);
  {
    const testing::FaultyDisk disk(1);
    Journal journal(path_, {});
    EXPECT_EQ(disk.faults(), 0) << "it was met";
    EXPECT_EQ(journal.recovered(), "");
    EXPECT_EQ(journal.unfinished().size(), 20U);
  }
  {
    const testing::FaultyDisk disk(1'000'000);
    try {
      Journal journal(path_, {});
      FAIL() << journal.recovered();
    } catch (const base::ResourceExhausted& error) {
      EXPECT_THAT(error.what(), HasSubstr("cannot be read"));
      EXPECT_THAT(error.what(), HasSubstr("check the disk"));
    }
  }
  EXPECT_EQ(std::filesystem::file_size(path_), size) << "left where it is";
  Journal journal(path_, {});
  EXPECT_EQ(journal.recovered(), "");
  EXPECT_EQ(journal.unfinished().size(), 20U);
}

// SQLite notices when its own structure is damaged, not when what it keeps is.
TEST_F(JournalTest, WhatTheDiskHasChangedIsNotBelieved) {
  {
    Journal journal(path_, {});
    for (const char* id : {"whole", "payload", "shorter", "number", "count", "partition", "result"})
      add(journal, id, request_of(1));
    journal.add_partition("partition", 0, pattern(192, 1));
    journal.add_partition("partition", 1, pattern(192, 2));
    journal.finish(completed("result", 1));
  }
  {
    sqlite::Database database(path_);
    const std::string job = "(SELECT row FROM job WHERE job_id = ?)";
    database.run(
        "UPDATE payload SET bytes = zeroblob(length(bytes)) WHERE blob = 3 AND job = " + job,
        {std::string_view("payload")});
    database.run("DELETE FROM payload WHERE blob = 3 AND job = " + job,
                 {std::string_view("shorter")});
    database.run("UPDATE job SET miner_id = 2 WHERE job_id = 'number'", {});
    database.run("UPDATE job SET vanilla_count = 1 << 40 WHERE job_id = 'count'", {});
    database.run("UPDATE finished_partition SET proof = zeroblob(192) WHERE ix = 0", {});
    database.run("UPDATE job SET proof = zeroblob(384) WHERE job_id = 'result'", {});
  }
  Journal journal(path_, {});
  for (const char* id : {"payload", "shorter", "number", "count"})
    EXPECT_THROW(journal.request(id), base::CorruptData) << id;
  for (const char* id : {"whole", "partition"})
    expect_equal(journal.request(id).value(), request_of(1));
  const auto jobs = journal.unfinished();
  ASSERT_THAT(ids(jobs),
              ElementsAre("whole", "payload", "shorter", "number", "count", "partition"));
  EXPECT_THAT(jobs[5].partitions, ElementsAre(std::pair(1U, pattern(192, 2))));
  EXPECT_FALSE(journal.find_job("result"));
}

TEST_F(JournalTest, AFolderThatCannotBeWrittenIsNamed) {
  std::ofstream(folder_ / "file") << "not a folder";
  try {
    Journal journal(folder_ / "file" / "journal.db", {});
    FAIL();
  } catch (const base::ResourceExhausted& error) {
    EXPECT_THAT(error.what(), HasSubstr("journal.db"));
  }
}

TEST_F(JournalTest, ThreadsMayCallAtOnce) {
  Journal journal(path_, {});
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t t = 0; t < 4; ++t) {
      threads.emplace_back([&journal, t] {
        for (std::uint64_t i = 0; i < 10; ++i) {
          const std::string id = std::to_string(t) + "-" + std::to_string(i);
          add(journal, id, request_of(t));
          journal.mark_started(id);
          journal.add_partition(id, 0, pattern(192, i));
          if (i % 2 == 0) journal.finish(completed(id, i));
          journal.trim();
        }
      });
    }
  }
  EXPECT_EQ(journal.unfinished().size(), 20U);
}

// ---- what happens when the process dies

/// Runs `body` in a child process and returns its exit status as of waitpid.
template <class Body>
int in_child(Body&& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    body();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST_F(JournalTest, AFullDiskRefusesAJobAndLosesNothing) {
  const int status = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    Journal journal(path_, {});
    add(journal, "before", request_of(1));
    rlimit limit{};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    const rlim_t all = limit.rlim_cur;
    limit.rlim_cur = rlim_t{1} << 20;
    ::setrlimit(RLIMIT_FSIZE, &limit);
    bool refused = false;
    try {
      add(journal, "too-large", request_of(2, std::size_t{8} << 20));
    } catch (const base::ResourceExhausted&) {
      refused = true;
    }
    limit.rlim_cur = all;
    ::setrlimit(RLIMIT_FSIZE, &limit);
    add(journal, "after", request_of(3));
    if (!refused) ::_exit(1);
  });
  EXPECT_EQ(status, 0);
  Journal journal(path_, {});
  EXPECT_EQ(journal.recovered(), "");
  EXPECT_THAT(ids(journal.unfinished()), ElementsAre("before", "after"));
}

/// What the child says it has done: each line is written after the journal's call returned.
struct Told {
  std::set<std::string> accepted, finished;
  std::map<std::string, std::set<std::uint32_t>> partitions;

  void read(std::istream& in) {
    std::string verb, id;
    while (in >> verb >> id) {
      if (verb == "accepted") accepted.insert(id);
      if (verb == "finished") finished.insert(id);
      std::uint32_t index = 0;
      if (verb == "partition" && in >> index) partitions[id].insert(index);
    }
  }
};

std::uint64_t seed_of(const std::string& id) { return std::stoull(id.substr(id.find('-') + 1)); }

/// Accepts, proves and finishes jobs until it is killed.
[[noreturn]] void work(const std::filesystem::path& path, int round, int out) {
  const auto tell = [&](const std::string& line) {
    // One write of a few bytes to a pipe is there whole or not at all.
    if (::write(out, line.data(), line.size()) < 0) ::_exit(1);
  };
  Journal journal(path, {});
  tell("\n");
  std::mt19937_64 random(static_cast<std::uint64_t>(round));
  std::vector<std::string> open;
  for (std::uint64_t i = 0;; ++i) {
    const std::string id = std::to_string(round) + "-" + std::to_string(i);
    add(journal, id, request_of(i, random() % 50'000));
    tell("accepted " + id + "\n");
    open.push_back(id);
    if (open.size() < 3) continue;
    std::swap(open.back(), open[random() % open.size()]);
    const std::string job = open.back();
    journal.mark_started(job);
    for (std::uint32_t p = 0; p < 2; ++p) {
      journal.add_partition(job, p, pattern(192, seed_of(job) + p));
      tell("partition " + job + " " + std::to_string(p) + "\n");
    }
    if (random() % 4 == 0) journal.trim();
    if (random() % 3 == 0) continue;  // stays open, half proved
    journal.finish(completed(job, seed_of(job)));
    tell("finished " + job + "\n");
    open.pop_back();
  }
}

void check_after_death(Journal& journal, const Told& told) {
  ASSERT_EQ(journal.recovered(), "");
  std::map<std::string, Journal::UnfinishedJob> unfinished;
  for (Journal::UnfinishedJob& job : journal.unfinished()) {
    const std::string id = job.job_id;
    EXPECT_TRUE(unfinished.emplace(id, std::move(job)).second) << id << " is there twice";
  }
  for (const std::string& id : told.accepted) {
    const auto result = journal.find_job(id);
    EXPECT_NE(result.has_value(), unfinished.contains(id)) << id << ": lost, or both";
    if (result) expect_equal(result->result, completed(id, seed_of(id)));
  }
  for (const std::string& id : told.finished) EXPECT_TRUE(journal.find_job(id)) << id;
  for (const auto& [id, job] : unfinished) {
    EXPECT_EQ(job.request.miner_id, seed_of(id));
    EXPECT_EQ(job.request.randomness, pattern(32, seed_of(id) + 2));
    const std::vector<Bytes> proofs = journal.request(id).value().vanilla_proofs;
    EXPECT_EQ(proofs[2], pattern(proofs[0].size() / 2, seed_of(id) + 1));
    const auto said = told.partitions.find(id);
    if (said != told.partitions.end()) {
      EXPECT_GE(job.partitions.size(), said->second.size()) << id;
      EXPECT_EQ(job.crashes, 1U) << id;  // it was marked as started
    }
    for (const auto& [index, proof] : job.partitions)
      EXPECT_EQ(proof, pattern(192, seed_of(id) + index));
  }
}

TEST_F(JournalTest, KilledTwoHundredTimesItLosesNothing) {
  std::mt19937 random(20'260'820);
  Told all;
  std::chrono::microseconds lifetime(8'000);  // long enough to finish some jobs, or it grows
  for (int round = 0; round < 200; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(ends[0]);
      work(path_, round, ends[1]);
    }
    ::close(ends[1]);
    // Now and then it dies while it opens the journal.
    std::string said = " ";
    if (round % 5 != 0) {
      ASSERT_EQ(::read(ends[0], said.data(), 1), 1);
    }
    if (round % 10 == 9 && all.finished.size() < static_cast<std::size_t>(round) / 2) lifetime *= 2;
    std::this_thread::sleep_for(lifetime * (random() % 1024) / 1024);
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself: " << status;
    std::array<char, 4096> buffer;
    for (ssize_t size; (size = ::read(ends[0], buffer.data(), buffer.size())) > 0;)
      said.append(buffer.data(), static_cast<std::size_t>(size));
    ::close(ends[0]);
    std::istringstream lines(said);
    Told told;
    told.read(lines);

    Journal journal(path_, {});
    check_after_death(journal, told);
    if (HasFailure()) FAIL() << "round " << round;
    // Keeps the file small: what is open is ended, as a resumed daemon would.
    for (const Journal::UnfinishedJob& job : journal.unfinished()) {
      told.accepted.insert(job.job_id);
      journal.finish(completed(job.job_id, seed_of(job.job_id)));
    }
    all.accepted.merge(told.accepted);
    all.finished.merge(told.finished);
  }
  EXPECT_GT(all.accepted.size(), 200U);
  EXPECT_GT(all.finished.size(), 50U);
  Journal journal(path_, {});
  for (const std::string& id : all.accepted) EXPECT_TRUE(journal.find_job(id)) << id;
}

// A loss of power may leave any prefix of the log: what comes back must be what was there at some
// moment, in order.
TEST_F(JournalTest, ATornLogGivesAnEarlierState) {
  const std::filesystem::path copy = folder_ / "copy" / "journal.db";
  {
    Journal journal(path_, {});
    for (int i = 0; i < 10; ++i) add(journal, std::to_string(i), request_of(1, 20'000));
    std::filesystem::create_directories(copy.parent_path());
    const std::uint64_t log_size = std::filesystem::file_size(path_.string() + "-wal");
    ASSERT_GT(log_size, 10 * 20'000U);
    std::mt19937_64 random(1);
    std::size_t most = 0, least = 10;
    for (int round = 0; round < 40; ++round) {
      std::filesystem::remove(copy.string() + "-shm");
      for (const char* part : {"", "-wal"})
        std::filesystem::copy_file(path_.string() + part, copy.string() + part,
                                   std::filesystem::copy_options::overwrite_existing);
      const std::uint64_t kept = round == 0 ? log_size : random() % log_size;
      std::filesystem::resize_file(copy.string() + "-wal", kept);
      Journal torn(copy, {});
      EXPECT_EQ(torn.recovered(), "") << kept;
      const std::vector<std::string> found = ids(torn.unfinished());
      for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], std::to_string(i));
      most = std::max(most, found.size());
      least = std::min(least, found.size());
    }
    EXPECT_EQ(most, 10U);
    EXPECT_LT(least, 5U);
  }
}

}  // namespace
}  // namespace cuzk::engine
