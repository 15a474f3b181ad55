#include "service/worker_pool.hpp"

#include <limits>

namespace cuzk::service {

WorkerPool::WorkerPool(unsigned threads, unsigned lanes, int lane_urgency) {
  threads_.reserve(threads + lanes);
  for (unsigned i = 0; i < threads; ++i)
    threads_.emplace_back([this] { run(std::numeric_limits<int>::min()); });
  for (unsigned i = 0; i < lanes; ++i)
    threads_.emplace_back([this, lane_urgency] { run(lane_urgency); });
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
}

void WorkerPool::post(int urgency, std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.emplace(std::pair(-urgency, next_number_++), std::move(task));
  }
  changed_.notify_all();  // not one: it might be a lane's, which leaves the task alone
}

bool WorkerPool::has_task(int least_urgency) const {
  return !tasks_.empty() && -tasks_.begin()->first.first >= least_urgency;
}

void WorkerPool::run(int least_urgency) {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return ending_ || has_task(least_urgency); });
    if (!has_task(least_urgency)) return;
    auto task = tasks_.extract(tasks_.begin());
    lock.unlock();
    task.mapped()();
    task = {};  // what it holds goes without the lock
    lock.lock();
  }
}

}  // namespace cuzk::service
