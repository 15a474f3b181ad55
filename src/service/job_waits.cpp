#include "service/job_waits.hpp"

#include "service/errors.hpp"

#include <condition_variable>
#include <map>
#include <mutex>
#include <pthread.h>
#include <utility>
#include <vector>

namespace cuzk::service {

namespace {

constexpr std::size_t kStackBytes = 256 << 10;

}  // namespace

/// The jobs awaited now. A group is the waiters of one job, who share its thread.
class JobWaits::State : public std::enable_shared_from_this<State> {
 public:
  using OnEnd = std::function<void(EngineApi::WaitEnd)>;
  struct Group {
    std::string job_id;
    std::map<std::uint64_t, OnEnd> waiters;
  };

  explicit State(Await await) : await_(std::move(await)) {}

  std::pair<std::shared_ptr<Group>, std::uint64_t> add(std::string job_id, OnEnd on_end) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Group>& group = groups_[job_id];
    const bool is_new = group == nullptr;
    if (is_new) group = std::make_shared<Group>(Group{std::move(job_id), {}});
    const auto entry = std::pair(group, next_waiter_++);
    group->waiters.emplace(entry.second, std::move(on_end));
    if (is_new) {
      try {
        start_thread(group);
      } catch (...) {
        groups_.erase(group->job_id);
        throw;
      }
    }
    return entry;
  }

  void remove(Group& group, std::uint64_t waiter) {
    OnEnd dropped;  // destroyed without the lock
    const std::lock_guard lock(mutex_);
    const auto found = group.waiters.find(waiter);
    if (found == group.waiters.end()) return;
    dropped = std::move(found->second);
    group.waiters.erase(found);
  }

  void wait_for_threads() {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [this] { return threads_ == 0; });
  }
  void wait_for_threads(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    ended_.wait_for(lock, limit, [this] { return threads_ == 0; });
  }

 private:
  struct Start {
    std::shared_ptr<State> state;
    std::shared_ptr<Group> group;
  };

  void start_thread(const std::shared_ptr<Group>& group) {
    auto start = std::make_unique<Start>(Start{shared_from_this(), group});
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, kStackBytes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread{};
    const int error = pthread_create(&thread, &attributes, &State::run, start.get());
    pthread_attr_destroy(&attributes);
    if (error != 0) {
      throw engine::EngineError(engine::ErrorCode::kQueueFull,
                                "the system has no thread left to wait with; retry later");
    }
    start.release();  // run() owns it
    ++threads_;
  }

  static void* run(void* argument) {
    const std::unique_ptr<Start> start(static_cast<Start*>(argument));
    pthread_setname_np(pthread_self(), "job-wait");
    start->state->await_end(start->group);
    return nullptr;
  }

  void await_end(const std::shared_ptr<Group>& group) {
    try {
      const auto result = await_(group->job_id, [&] { return leave(*group); });
      if (result) {
        finish(*group, *result);
      } else {
        // Nobody is left to hear this, unless the engine gave up by itself.
        finish(*group, engine::EngineError(engine::ErrorCode::kShuttingDown,
                                           "the daemon stops; the job stays in its journal"));
      }
    } catch (...) {
      finish(*group, to_engine_error(std::current_exception()));
    }
    const std::lock_guard lock(mutex_);
    forget(*group);
    --threads_;
    // While locked: the destructor may run as soon as the lock is free.
    ended_.notify_all();
  }

  /// Whether nobody waits any more; whoever comes after that begins a new group.
  bool leave(Group& group) {
    const std::lock_guard lock(mutex_);
    if (!group.waiters.empty()) return false;
    forget(group);
    return true;
  }

  void finish(Group& group, const EngineApi::WaitEnd& end) {
    std::map<std::uint64_t, OnEnd> waiters;
    {
      const std::lock_guard lock(mutex_);
      waiters.swap(group.waiters);
      forget(group);
    }
    for (const auto& [waiter, on_end] : waiters) on_end(end);
  }

  void forget(const Group& group) {
    const auto found = groups_.find(group.job_id);
    if (found != groups_.end() && found->second.get() == &group) groups_.erase(found);
  }

  const Await await_;

  std::mutex mutex_;  // guards what follows, and the groups
  std::condition_variable ended_;
  std::map<std::string, std::shared_ptr<Group>> groups_;
  std::uint64_t next_waiter_ = 0;
  std::size_t threads_ = 0;
};

namespace {

/// Takes its waiter out when it goes.
template <class State, class Group>
class GroupWaiter final : public EngineApi::Waiter {
 public:
  GroupWaiter(std::shared_ptr<State> state, std::pair<std::shared_ptr<Group>, std::uint64_t> entry)
      : state_(std::move(state)), group_(std::move(entry.first)), waiter_(entry.second) {}
  ~GroupWaiter() override { state_->remove(*group_, waiter_); }
  GroupWaiter(const GroupWaiter&) = delete;
  GroupWaiter& operator=(const GroupWaiter&) = delete;

 private:
  std::shared_ptr<State> state_;
  std::shared_ptr<Group> group_;
  std::uint64_t waiter_;
};

}  // namespace

JobWaits::JobWaits(Await await) : state_(std::make_shared<State>(std::move(await))) {}

JobWaits::~JobWaits() { state_->wait_for_threads(); }

void JobWaits::settle(std::chrono::milliseconds limit) { state_->wait_for_threads(limit); }

std::unique_ptr<EngineApi::Waiter> JobWaits::wait(std::string job_id,
                                                  std::function<void(EngineApi::WaitEnd)> on_end) {
  return std::make_unique<GroupWaiter<State, State::Group>>(
      state_, state_->add(std::move(job_id), std::move(on_end)));
}

}  // namespace cuzk::service
