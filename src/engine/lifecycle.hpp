#pragma once

#include "engine/device_slot.hpp"
#include "engine/job_table.hpp"
#include "engine/journal.hpp"
#include "engine/metrics.hpp"
#include "engine/signal.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace cuzk::engine {

/// One try at a partition. What belongs to an earlier try, or to a job that has ended meanwhile, is
/// stale: its events are ignored.
struct Attempt {
  std::shared_ptr<Job> job;
  std::uint32_t index = 0;
  std::uint32_t number = 0;
};

/// What happens to jobs. Every event changes the table, is journalled, counted and logged here, in
/// an order that makes a crash at any point harmless: a job is answered for only when it is in the
/// journal, and a result is shown only when the journal has it. Where the journal cannot take the
/// result, on a full disk, it is shown all the same, kept, and written later. Any thread may call,
/// without the table's lock.
class Lifecycle {
 public:
  struct Options {
    std::uint32_t partition_attempts = 2;
  };
  Lifecycle(JobTable& table, Journal& journal, Metrics& metrics, Signal& changed, Options options)
      : table_(table), journal_(journal), metrics_(metrics), changed_(changed), options_(options) {}

  /// Journals and queues a checked request. Throws base::ResourceExhausted if the journal takes no
  /// more.
  struct NewJob {
    std::string id, digest;
    CircuitId circuit;
    PreparedJob prepared;
    Reservation memory;  ///< of `prepared`; empty: it is not kept, but decoded again in time
  };
  std::shared_ptr<Job> accept(const JobRequest& request, NewJob made);
  /// Queues a job of the journal, to be decoded. Its age counts from when it was accepted first.
  std::shared_ptr<Job> resume(Journal::UnfinishedJob unfinished, const CircuitId& circuit);

  void decoded(const std::shared_ptr<Job>& job, PreparedJob prepared, Reservation memory);
  void witness_done(const Attempt& attempt, std::shared_ptr<const r1cs::Witness> witness,
                    KeyLease key, Reservation memory, std::chrono::nanoseconds time);
  void device_done(const Attempt& attempt, const groth16::Proof& proof, KeyLease key,
                   std::chrono::nanoseconds time);
  void verified(const Attempt& attempt, const groth16::Proof& proof);
  /// Whether a partition of the job has a valid proof.
  bool has_verified(const Job& job) const;

  /// An attempt came to nothing. The partition is tried again, on another device if there is one,
  /// unless it was the last try: then the job fails with this.
  void attempt_failed(const Attempt& attempt, ErrorCode code, const std::string& text,
                      std::optional<std::size_t> device);

  /// False if the job had ended before.
  bool fail(const std::shared_ptr<Job>& job, ErrorCode code, const std::string& text);
  /// Likewise; with `still` only if that, asked with the table's lock held, says so.
  bool cancel(const std::shared_ptr<Job>& job, ErrorCode code, const std::string& text,
              const std::function<bool()>& still = {});

  /// Writes the results that the journal did not take when their jobs ended. What it still does not
  /// take stays for the next call.
  void journal_results();

  /// While it lives, the journal knows that a stage works on the job: should the process die
  /// meanwhile, the job's input may be the cause. A job's first mark and the end of its last one
  /// are a write each; those between cost nothing.
  class WorkMark {
   public:
    WorkMark(Lifecycle& lifecycle, std::shared_ptr<Job> job);
    ~WorkMark();
    /// The mark outlives this object: until the job ends, an end of the process counts as its
    /// doing.
    void keep() { is_kept_ = true; }
    WorkMark(const WorkMark&) = delete;
    WorkMark& operator=(const WorkMark&) = delete;

   private:
    Lifecycle& lifecycle_;
    std::shared_ptr<Job> job_;
    bool is_kept_ = false;
  };

 private:
  std::shared_ptr<Job> make_job(const JobRequest& request, std::string id, std::string digest,
                                const CircuitId& circuit) const;
  // Whether the attempt is the partition's current one, in this state.
  static bool is_current(const Attempt& attempt, PartitionState state);
  bool end(const std::shared_ptr<Job>& job, JobState state, ErrorCode code, const std::string& text,
           const std::function<bool()>& still = {});
  void journal_result(const Job& job, const JobResult& result);
  /// The same as journal_results() for one id, if there is one. Throws what Journal::finish()
  /// throws.
  void journal_result_of(const std::string& job_id);
  void mark(const std::shared_ptr<Job>& job, bool begins);

  using Results = std::map<std::string, JobResult>;
  void write_late(Results::const_iterator result);  ///< with results_mutex_

  JobTable& table_;
  Journal& journal_;
  Metrics& metrics_;
  Signal& changed_;
  const Options options_;

  std::mutex results_mutex_;
  /// By job id, to be journalled. No more than the jobs there were when the journal began to fail:
  /// one that takes no results takes no jobs. Guarded by results_mutex_.
  Results results_;
};

}  // namespace cuzk::engine
