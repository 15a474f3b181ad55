#pragma once

#include <tbb/task_arena.h>

#include <utility>

namespace cuzk::engine {

/// How the parallel work of one step stands against that of others in TBB's pool.
enum class WorkPriority { kLow, kNormal, kHigh };

/// Runs `work` so that the pool's threads prefer it, or others, where both have something to do; in
/// at most `threads` threads, 0: all. The calling thread is one of them, so that it goes on even if
/// the pool has no other.
template <class Work>
auto run_with_priority(WorkPriority priority, Work&& work, unsigned threads = 0) {
  using Arena = tbb::task_arena;
  const auto level = priority == WorkPriority::kHigh     ? Arena::priority::high
                     : priority == WorkPriority::kNormal ? Arena::priority::normal
                                                         : Arena::priority::low;
  Arena arena(threads == 0 ? Arena::automatic : static_cast<int>(threads), 1, level);
  return arena.execute(std::forward<Work>(work));
}

}  // namespace cuzk::engine
