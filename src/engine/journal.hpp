#pragma once

#include "engine/job.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;

namespace cuzk::engine {

/// What must survive the process: accepted jobs with their payload, finished partitions, results,
/// and which jobs were worked on when the process died. SQLite in write-ahead mode; every call is
/// one transaction, on disk when it returns. Any thread may call.
class Journal {
 public:
  struct Options {
    std::chrono::hours keep_results{24};
    std::uint64_t max_results = 10'000;
    std::uint64_t max_bytes = std::uint64_t{8} << 30;     ///< of payloads; beyond it add() throws
    std::uint64_t free_bytes = std::uint64_t{256} << 20;  ///< in the file, that trim() leaves
    /// Empty: the system's.
    std::function<std::chrono::system_clock::time_point()> clock;
  };
  struct UnfinishedJob {
    std::string job_id, payload_digest;
    JobRequest request;  ///< without its vanilla proofs, which request() reads
    std::chrono::system_clock::time_point accepted;
    std::vector<std::pair<std::uint32_t, base::Bytes>>
        partitions;             ///< finished ones: index, 192 bytes
    std::uint32_t crashes = 0;  ///< times that the process died while it was worked on
  };
  struct FinishedJob {
    std::string request_id, payload_digest;
    JobResult result;
  };

  /// Opens or makes the file (":memory:" for tests). A file that is damaged is moved aside as
  /// <path>.damaged-<time> and a new one begun; recovered() tells. Throws base::ResourceExhausted
  /// if it cannot be made or the disk does not give it, base::InvalidInput if another process has
  /// it open for writing.
  Journal(const std::filesystem::path& path, const Options& options);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// Empty, or what was done about a damaged file.
  const std::string& recovered() const { return recovered_; }

  /// All calls that name a job but mark_stopped() throw base::InvalidInput if it is not unfinished;
  /// all calls throw base::ResourceExhausted if the disk is full or fails. What failed left
  /// nothing.

  /// `payload_digest`: that of the request, by which it is checked when it is read. Throws
  /// base::ResourceExhausted also if the payloads exceed the limit, base::InvalidInput if an
  /// unfinished job has the id already.
  void add(std::string_view job_id, const JobRequest& request, std::string_view payload_digest);
  /// Marks that a stage works on the job, and no longer does; what is still marked when the journal
  /// is opened counts as one crash of the job.
  void mark_started(std::string_view job_id);
  void mark_stopped(std::string_view job_id);
  void add_partition(std::string_view job_id, std::uint32_t index, base::ByteView proof);
  /// Stores the result and drops the payload and partitions, in one step.
  void finish(const JobResult& result);

  /// Oldest first, without the payloads, which may be more than memory holds. A partition or result
  /// that the disk has changed is not known any more.
  std::vector<UnfinishedJob> unfinished();
  /// The request of one unfinished job; empty if there is none. Throws base::CorruptData if the
  /// disk has changed the payload.
  std::optional<JobRequest> request(std::string_view job_id);
  /// Of the finished jobs with this request id and digest the newest that was completed; if none
  /// was, the newest.
  std::optional<FinishedJob> find(std::string_view request_id, std::string_view payload_digest);
  std::optional<FinishedJob> find_job(std::string_view job_id);
  /// Payload digests that have brought the process down at least `times`.
  std::vector<std::string> crashers(std::uint32_t times);
  void forgive(std::string_view payload_digest);  ///< by an operator
  /// What trim() keeps from now on.
  void set_retention(std::chrono::hours keep_results, std::uint64_t max_results);
  /// Applies the retention. Called by the engine now and then. A system's clock that is set forward
  /// while the journal is open makes no result old: for keep_results from then on none goes by age.
  void trim();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
  std::string recovered_;
};

}  // namespace cuzk::engine
