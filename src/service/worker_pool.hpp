#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace cuzk::service {

/// A fixed number of threads for calls that may take long, so that they do not hold up gRPC's own
/// threads. The most urgent task goes first, among equals the oldest. Any thread may call.
class WorkerPool {
 public:
  /// `lanes` more threads take only tasks of at least `lane_urgency`, so that those need not wait
  /// for others that have begun.
  explicit WorkerPool(unsigned threads, unsigned lanes = 0, int lane_urgency = 0);
  /// Runs what is queued, then ends.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// `task` must not throw.
  void post(int urgency, std::function<void()> task);

 private:
  void run(int least_urgency);
  bool has_task(int least_urgency) const;

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::map<std::pair<int, std::uint64_t>, std::function<void()>> tasks_;  // (-urgency, number)
  std::uint64_t next_number_ = 0;
  bool ending_ = false;

  std::vector<std::jthread> threads_;  // last: they end before the rest goes
};

}  // namespace cuzk::service
