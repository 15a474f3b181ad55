#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <cstddef>

namespace cuzk::base {

/// Calls body(i) for every i in [0, n), in parallel and in no particular order. The first exception
/// is rethrown.
template <class Body>
void parallel_for(std::size_t n, Body&& body) {
  tbb::parallel_for(std::size_t{0}, n, [&](std::size_t i) { body(i); });
}

/// The same for a few large pieces of work: each is handed out on its own, so that none waits
/// behind another.
template <class Body>
void parallel_tasks(std::size_t n, Body&& body) {
  tbb::parallel_for(
      tbb::blocked_range<std::size_t>(0, n, 1),
      [&](const tbb::blocked_range<std::size_t>& range) { body(range.begin()); },
      tbb::simple_partitioner());
}

/// Calls body(first, last) for disjoint ranges that cover [0, n), none larger than it need be but
/// at least `grain` long.
template <class Body>
void parallel_ranges(std::size_t n, std::size_t grain, Body&& body) {
  tbb::parallel_for(
      tbb::blocked_range<std::size_t>(0, n, grain),
      [&](const tbb::blocked_range<std::size_t>& range) { body(range.begin(), range.end()); });
}

}  // namespace cuzk::base
