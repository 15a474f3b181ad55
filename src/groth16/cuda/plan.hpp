#pragma once

#include "base/cuda/arena_plan.hpp"
#include "groth16/cuda/device_key.hpp"
#include "groth16/ops/cuda/batch_add_plan.hpp"
#include "groth16/ops/cuda/msm_plan.hpp"
#include "groth16/variables.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string>

/// What a lane computes and where in its arena everything lies: numbers that follow from the
/// circuit, the key and the device, fixed before any proof starts.
namespace cuzk::groth16::cuda {

/// The sums over a key's queries other than h, in the order of a lane's work.
inline constexpr std::size_t kQueries = 4;
enum QueryIndex : std::size_t { kQueryL, kQueryA, kQueryBG1, kQueryBG2 };

/// What the plan needs to know.
struct LaneRequest {
  QuotientForm form = QuotientForm::kDerivative;
  unsigned log_n = 0;
  std::size_t h_count = 0;        // points of the key's h
  std::size_t wide_rows = 0;      // DeviceCircuit::wide_row_count()
  std::size_t witness_bytes = 0;  // DeviceCircuit::witness_layout()
  /// DeviceCircuit::upload_layout(), if what is uploaded is unpacked to another place; else 0.
  std::size_t packed_bytes = 0;
  /// Of the queries l, a, b (in both groups).
  std::array<std::size_t, kQueries> bit_count{}, field_count{};
  GroupTables tables;
  unsigned sm_count = 1;
  /// The queries' sums run beside the quotient and the sum over h instead of after them: shorter
  /// proofs for more memory.
  bool overlap = true;
  /// Of the dense sums' windows, about; 0: chosen by their sizes. See dense_plan().
  unsigned window_bits = 0;

  LaneRequest() = default;
  LaneRequest(const KeyLayout& layout, std::size_t wide_row_count, std::size_t witness_size,
              std::size_t packed_size = 0);

  std::size_t upload_bytes() const { return packed_bytes == 0 ? witness_bytes : packed_bytes; }
};

/// One lane.
struct LanePlan {
  explicit LanePlan(const LaneRequest& request);

  struct Query {
    bool tabled = false;
    BatchAddPlan bits;  // of the bases, or of the groups if tabled
    MsmPlan tail;
    std::size_t bit_words = 0;
    /// Where the results stand: a sum of bits, then the tail's 2·final_sums() points. Bytes from
    /// the start of the results.
    std::size_t bits_at = 0, tail_at = 0;
  };

  /// Plan of the sum over h for `count` scalars, which is at most that of h: the windows suit
  /// `count` where the workspace allows it.
  MsmPlan h_plan(std::size_t count) const;

  LaneRequest request;
  MsmPlan h;  // for all of h
  std::array<Query, kQueries> queries;
  /// Room for the sums over h, with any number of windows; first among the results, the queries'
  /// follow.
  std::size_t h_result_bytes = 0, result_bytes = 0;

  base::cuda::ArenaPlan arena;
  base::cuda::ArenaPlan::Id witness = 0, uploaded = 0, a = 0, b = 0, c = 0, code_a = 0, code_b = 0,
                            wide = 0, quotient_workspace = 0, h_workspace = 0, query_bits = 0,
                            query_scalars = 0, query_workspace = 0, results = 0;
};

/// What shares a device's memory, in bytes.
struct Residency {
  unsigned lanes = 0;
  bool overlap = false;
  bool full_twist_table = false;
  GroupTables tables;
  std::size_t circuit_bytes = 0, key_bytes = 0, quotient_table_bytes = 0, lane_bytes = 0;

  std::size_t total() const {
    return circuit_bytes + key_bytes + quotient_table_bytes + lanes * lane_bytes;
  }
  /// One line for a log or a status page.
  std::string describe() const;
};

/// "11.2 GiB", for people.
std::string gibibytes(std::size_t bytes);

/// What of the following fits into `budget` bytes beside a circuit of `circuit_bytes`: first as
/// many lanes as `lanes` (at least one), each with overlap; then group tables and the transforms'
/// full tables, the most time saved a byte first. Empty if not even one lane fits.
std::optional<Residency> choose_residency(const KeyLayout& layout, const LaneRequest& request,
                                          std::size_t circuit_bytes, std::size_t budget,
                                          unsigned lanes, bool group_tables);

}  // namespace cuzk::groth16::cuda
