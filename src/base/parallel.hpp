#pragma once

#include <cstddef>

#if defined(__SANITIZE_THREAD__)
#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>
#else
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#endif

namespace cuzk::base {

#if defined(__SANITIZE_THREAD__)
namespace detail {

// In place of TBB, which hands work to its threads in ways that ThreadSanitizer cannot see: it
// would take every parallel loop for a race.
template <class Piece>
void run_in_threads(std::size_t pieces, Piece&& piece) {
  std::atomic<std::size_t> next = 0;
  std::exception_ptr first;
  std::mutex mutex;
  const auto work = [&] {
    for (std::size_t i = next++; i < pieces; i = next++) {
      try {
        piece(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!first) first = std::current_exception();
        next = pieces;
      }
    }
  };
  {
    const std::size_t workers =
        std::min<std::size_t>(pieces, std::max(std::thread::hardware_concurrency(), 2U));
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < workers; ++i) threads.emplace_back(work);
    work();
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace detail
#endif

/// Calls body(first, last) for disjoint ranges that cover [0, n), none larger than it need be but
/// at least `grain` long. The first exception is rethrown.
template <class Body>
void parallel_ranges(std::size_t n, std::size_t grain, Body&& body) {
#if defined(__SANITIZE_THREAD__)
  const std::size_t pieces = std::min<std::size_t>(n / std::max<std::size_t>(grain, 1), 16);
  if (n == 0) return;
  if (pieces <= 1) return body(std::size_t{0}, n);
  detail::run_in_threads(pieces,
                         [&](std::size_t i) { body(n * i / pieces, n * (i + 1) / pieces); });
#else
  tbb::parallel_for(
      tbb::blocked_range<std::size_t>(0, n, grain),
      [&](const tbb::blocked_range<std::size_t>& range) { body(range.begin(), range.end()); });
#endif
}

/// Calls body(i) for every i in [0, n), in parallel and in no particular order. The first exception
/// is rethrown.
template <class Body>
void parallel_for(std::size_t n, Body&& body) {
#if defined(__SANITIZE_THREAD__)
  parallel_ranges(n, 1, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) body(i);
  });
#else
  tbb::parallel_for(std::size_t{0}, n, [&](std::size_t i) { body(i); });
#endif
}

/// The same for a few large pieces of work: each is handed out on its own, so that none waits
/// behind another.
template <class Body>
void parallel_tasks(std::size_t n, Body&& body) {
#if defined(__SANITIZE_THREAD__)
  detail::run_in_threads(n, body);
#else
  tbb::parallel_for(
      tbb::blocked_range<std::size_t>(0, n, 1),
      [&](const tbb::blocked_range<std::size_t>& range) { body(range.begin()); },
      tbb::simple_partitioner());
#endif
}

}  // namespace cuzk::base
