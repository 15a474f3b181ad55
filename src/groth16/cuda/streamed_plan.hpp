#pragma once

#include "groth16/cuda/plan.hpp"

#include <array>
#include <cstddef>
#include <string>

namespace cuzk::groth16::cuda {

/// What of a key stays in host memory, and in what pieces it is brought to the device.
struct StreamedRequest {
  LaneRequest lane;         // overlap and tables are not used
  KeyPlacement placement;   // kDevice or kHost
  unsigned partitions = 1;  // that share a pass over the bits' points
  std::size_t h_slices = 1;
  std::size_t buffer_bytes = 0;  // of the bits' points on their way
};

/// The working memory of a prover that streams its key: one partition at a time up to its dense
/// sums; the bits of several wait for a pass over the bits' points, which they share.
struct StreamedPlan {
  explicit StreamedPlan(const StreamedRequest& streamed_request);

  struct Query {
    bool streamed = false;
    std::size_t points = 0;  // of bits
    std::size_t bit_words = 0;
    std::size_t slices = 0;  // of a pass, if streamed
    BatchAddPlan bits;       // if not
    MsmPlan tail;
    std::size_t bits_at =
        0;  // bytes from the start of a partition's results: `slices` sums, or one
    std::size_t tail_at = 0;
  };
  /// Bits of the queries l, a, b of one partition, behind each other; words from its first.
  static constexpr std::array<std::size_t, kQueries> kBitsOf = {0, 1, 2, 2};

  std::size_t h_slice_rows() const { return h.n; }
  /// Rows of slice i, and its plan.
  std::size_t rows_of(std::size_t slice) const;
  MsmPlan h_plan(std::size_t slice) const;
  std::size_t h_at(std::size_t slice) const { return slice * h_result_bytes; }

  StreamedRequest request;
  MsmPlan h;  // of a whole slice
  std::size_t h_slices = 1, h_result_bytes = 0;
  std::array<Query, kQueries> queries;
  std::array<std::size_t, 3> bits_at{};  // words, of l, a, b
  std::size_t bits_words = 0;            // a partition
  std::size_t result_bytes = 0;          // a partition
  std::size_t pass_results = 0;          // bytes: the sums of a pass, of all partitions

  base::cuda::ArenaPlan arena;
  base::cuda::ArenaPlan::Id witness = 0, uploaded = 0, a = 0, b = 0, c = 0, code_a = 0, code_b = 0,
                            wide = 0, quotient_workspace = 0, h_first_buffer = 0,
                            h_second_buffer = 0, h_workspace = 0, scalars = 0, query_workspace = 0,
                            bits = 0, results = 0, pass_buffers = 0, pass_workspace = 0,
                            pass_sums = 0;
};

/// Memory of a streamed prover, in bytes.
struct StreamedResidency {
  StreamedRequest request;
  std::size_t circuit_bytes = 0, key_bytes = 0, quotient_table_bytes = 0, arena_bytes = 0;
  std::size_t spare_bytes = 0;  // for a witness that waits for its turn; 0: none
  std::size_t host_bytes = 0;   // pinned

  std::size_t total() const {
    return circuit_bytes + key_bytes + quotient_table_bytes + arena_bytes + spare_bytes;
  }
  std::string describe() const;
};

/// What a streamed prover of this request takes.
StreamedResidency weigh_streaming(const KeyLayout& layout, const StreamedRequest& request,
                                  std::size_t circuit_bytes);

/// How to stream a key within `budget` bytes: as much of it on the device as fits, h first, then in
/// as few pieces as possible; with fewer partitions a pass if so many do not fit. `spare`: with
/// room for a second witness, where that takes no more than a sixteenth of the budget and the rest
/// fits. Throws ResourceExhausted that says what the least would need.
StreamedResidency choose_streaming(const KeyLayout& layout, const LaneRequest& request,
                                   std::size_t circuit_bytes, std::size_t budget,
                                   unsigned partitions, bool spare = false);

}  // namespace cuzk::groth16::cuda
