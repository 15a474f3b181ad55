#pragma once

#include "engine/job_record.hpp"

#include <array>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cuzk::engine {

/// All jobs known to the process: those that are not finished, in the order in which they go on,
/// and the latest finished ones. The one place from which scheduling, status and results are read.
///
/// One lock guards the jobs; whoever holds a Lock may read and write them. While holding it no
/// journal, device or file is touched; the locks of budgets, key cache and devices come after it.
class JobTable {
 public:
  struct Retention {
    std::chrono::hours keep{24};
    std::uint64_t count = 1000;  ///< finished jobs kept here; the journal keeps more
  };
  explicit JobTable(Retention retention) : retention_(retention) {}
  JobTable(const JobTable&) = delete;
  JobTable& operator=(const JobTable&) = delete;

  using Lock = std::unique_lock<std::mutex>;
  Lock lock() const { return Lock(mutex_); }

  // All below are called with the lock held; `lock` proves it.

  /// Adds an accepted job; gives it its sequence number.
  void add(const Lock& lock, const std::shared_ptr<Job>& job);
  /// By job id.
  std::shared_ptr<Job> find(const Lock& lock, std::string_view job_id) const;
  /// The latest job with that request id.
  std::shared_ptr<Job> find_request(const Lock& lock, std::string_view request_id) const;

  /// Gives a job its partitions; it had none.
  void set_partitions(const Lock& lock, Job& job, std::vector<Partition> partitions);
  /// Changes the state of one of an unfinished job's partitions; the first that leaves kPending
  /// makes the job kRunning.
  void enter(const Lock& lock, const std::shared_ptr<Job>& job, Partition& partition,
             PartitionState next, Clock::time_point now = Clock::now());
  /// Partitions of unfinished jobs in that state, of a lane or of both.
  std::size_t count(const Lock&, PartitionState state, Lane lane) const {
    return counts_[static_cast<std::size_t>(lane)][static_cast<std::size_t>(state)];
  }
  std::size_t count(const Lock& lock, PartitionState state) const {
    return count(lock, state, Lane::kUrgent) + count(lock, state, Lane::kNormal);
  }

  /// Unfinished jobs in the order in which they go on: by priority, deadline, acceptance; a job
  /// that was overtaken too often goes before all that are not critical. `visit` returns false to
  /// stop.
  using Visit = std::function<bool(const std::shared_ptr<Job>&)>;
  void for_each_in_order(const Lock&, const Visit& visit) const { visit_in_order(order_, visit); }
  /// Of these, those that are kRunning.
  void for_each_running(const Lock&, const Visit& visit) const { visit_in_order(running_, visit); }
  /// A device takes a partition of `job`: older jobs with work waiting were overtaken.
  void count_overtaking(const Lock& lock, const std::shared_ptr<Job>& job);
  /// Partitions of younger jobs that may go before one of a job, unless it has low priority.
  static constexpr std::uint32_t kOvertakenLimit = 64;

  std::size_t unfinished(const Lock&) const { return order_.size(); }
  /// Between begin_end() and end().
  std::size_t ending(const Lock&) const { return ending_.size(); }
  std::size_t unfinished(const Lock& lock, const std::function<bool(const Job&)>& which) const;
  /// Whether `a` stands before `b` in that order; those overtaken too often aside.
  bool precedes(const Lock&, const std::shared_ptr<Job>& a, const std::shared_ptr<Job>& b) const {
    return Before()(a, b);
  }
  /// Jobs that go before this one.
  std::size_t position(const Lock& lock, const Job& job) const;

  /// Takes the job out of the order: it gets no more work. False if that has happened before.
  bool begin_end(const Lock& lock, const std::shared_ptr<Job>& job);
  /// The result is there for everybody. Frees what the job held; old finished jobs are forgotten.
  void end(const Lock& lock, const std::shared_ptr<Job>& job, JobResult result);

  void set_retention(const Lock&, Retention retention) { retention_ = retention; }
  /// Unfinished in order, then the finished ones, latest first, at most `finished` of them.
  std::vector<JobStatus> snapshot(const Lock& lock, std::size_t finished) const;

 private:
  // (priority descending, deadline, sequence).
  struct Before {
    bool operator()(const std::shared_ptr<Job>& a, const std::shared_ptr<Job>& b) const;
  };
  using Order = std::set<std::shared_ptr<Job>, Before>;
  void visit_in_order(const Order& jobs, const Visit& visit) const;
  void forget(const std::shared_ptr<Job>& job);

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  Retention retention_;
  std::uint64_t next_sequence_ = 0;
  Order order_, running_;                           ///< unfinished ones; of these the running ones
  std::set<std::shared_ptr<Job>, Before> patient_;  ///< those overtaken too often
  std::array<std::array<std::size_t, kPartitionStates>, 2> counts_{};  ///< by lane and state
  std::map<std::string, std::shared_ptr<Job>, std::less<>> by_id_;
  std::map<std::string, std::shared_ptr<Job>, std::less<>> by_request_;  ///< the latest one
  std::vector<std::shared_ptr<Job>> ending_;  ///< between begin_end() and end()
  struct Finished {
    std::shared_ptr<Job> job;
    Clock::time_point at;
  };
  std::list<Finished> finished_;  ///< oldest first
};

}  // namespace cuzk::engine
