#include "base/error.hpp"
#include "groth16/cuda/dense_plan.hpp"
#include "groth16/cuda/plan.hpp"
#include "groth16/ops/cuda/instances/batch_add.hpp"
#include "groth16/ops/cuda/instances/msm.hpp"
#include "groth16/ops/cuda/instances/quotient.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cuzk::groth16::cuda {

using curve::device::Fr;
using curve::device::G1;
using curve::device::G2;
using curve::device::StoredXyzz;

namespace {

/// Stages of a lane, as the arena's plan counts them.
enum Stage { kUpload, kEvaluate, kQuotient, kMsmH, kQuerySums };

/// 0/1 sums without a table work on this many bases at a time: 5 GB of workspace in G1.
constexpr std::size_t kBatchAddSlice = std::size_t{1} << 25;

constexpr std::size_t kResultAlignment = 256;
std::size_t aligned(std::size_t bytes) {
  return (bytes + kResultAlignment - 1) / kResultAlignment * kResultAlignment;
}

/// The most points that a dense sum leaves for the host, whatever its number of windows.
template <class G>
std::size_t most_final_points(unsigned sm_count) {
  std::size_t most = 0;
  MsmPlan plan = make_msm_plan<G>(0, sm_count);
  for (int count = MsmWindows::kMin; count <= MsmWindows::kMax; ++count) {
    plan.set_windows(count, msm_buckets_at_once<G>(sm_count));
    most = std::max(most, 2 * plan.final_sums());
  }
  return most;
}

bool is_tabled(const GroupTables& tables, std::size_t query) {
  const std::array<bool, kQueries> all = {tables.l, tables.a, tables.b_g1, tables.b_g2};
  return all[query];
}

/// Plans one query and places its results behind those before it; returns its workspace.
template <class G>
std::size_t plan_query(const LaneRequest& request, std::size_t index, LanePlan::Query& query,
                       std::size_t& result_bytes) {
  const std::size_t bits = request.bit_count[index];
  query.tabled = is_tabled(request.tables, index) && bits > 0;
  query.bits = query.tabled ? make_grouped_plan<G>(bits, request.sm_count)
                            : BatchAddPlan::make<G>(bits, request.sm_count,
                                                    bits > 2 * kBatchAddSlice ? kBatchAddSlice : 0);
  query.tail = dense_plan<G>(request.field_count[index], request);
  query.bit_words = (bits + 31) / 32;
  query.bits_at = result_bytes;
  query.tail_at = aligned(query.bits_at + sizeof(StoredXyzz<G>));
  result_bytes = aligned(query.tail_at + 2 * query.tail.final_sums() * sizeof(StoredXyzz<G>));
  return std::max(
      query.tabled ? grouped_workspace<G>(query.bits) : batch_add_workspace<G>(query.bits),
      msm_workspace<G>(query.tail));
}

}  // namespace

LaneRequest::LaneRequest(const KeyLayout& layout, std::size_t wide_row_count,
                         std::size_t witness_size, std::size_t packed_size)
    : form(layout.form),
      log_n(layout.domain_log2),
      h_count(layout.h_count),
      wide_rows(wide_row_count),
      witness_bytes(witness_size),
      packed_bytes(packed_size) {
  const std::array<const QueryLayout*, kQueries> layouts = {&layout.l, &layout.a, &layout.b,
                                                            &layout.b};
  for (std::size_t i = 0; i < kQueries; ++i) {
    bit_count[i] = layouts[i]->bit_count;
    field_count[i] = layouts[i]->field_count();
  }
}

LanePlan::LanePlan(const LaneRequest& lane_request) : request(lane_request) {
  const std::size_t n = std::size_t{1} << request.log_n, vector_bytes = n * sizeof(Fr);
  const bool derivative = request.form == QuotientForm::kDerivative;
  h = dense_plan<G1>(request.h_count, request);
  h_result_bytes = aligned(most_final_points<G1>(request.sm_count) * sizeof(StoredXyzz<G1>));
  result_bytes = h_result_bytes;
  std::size_t query_bytes = plan_query<G1>(request, kQueryL, queries[kQueryL], result_bytes);
  for (const std::size_t i : {kQueryA, kQueryBG1})
    query_bytes = std::max(query_bytes, plan_query<G1>(request, i, queries[i], result_bytes));
  query_bytes =
      std::max(query_bytes, plan_query<G2>(request, kQueryBG2, queries[kQueryBG2], result_bytes));
  const std::size_t most_words = std::ranges::max(queries, {}, &Query::bit_words).bit_words;
  const std::size_t most_scalars = std::ranges::max(request.field_count);

  const int first_query_stage = request.overlap ? kUpload : kQuerySums;
  witness = arena.add("witness", request.witness_bytes, kUpload, kQuerySums);
  uploaded = request.packed_bytes == 0
                 ? witness
                 : arena.add("witness as uploaded", request.packed_bytes, kUpload, kUpload);
  results = arena.add("results", result_bytes, kUpload, kQuerySums);
  a = arena.add("a", vector_bytes, kEvaluate, kMsmH);
  b = arena.add("b", vector_bytes, kEvaluate, kQuotient);
  c = arena.add("c", derivative ? 0 : vector_bytes, kEvaluate, kQuotient);
  code_a = arena.add("codes of a", derivative ? n : 0, kEvaluate, kQuotient);
  code_b = arena.add("codes of b", derivative ? n : 0, kEvaluate, kQuotient);
  wide = arena.add("wide rows", derivative ? request.wide_rows * sizeof(WideRow) : 0, kEvaluate,
                   kQuotient);
  // Lives a stage longer than it must, so that it lies beside a, and b and msm_h share memory.
  quotient_workspace =
      arena.add("non-zero scalars",
                derivative ? Quotient::workspace_bytes(static_cast<int>(request.log_n)) : 0,
                kEvaluate, kMsmH);
  h_workspace = arena.add("msm_h", msm_workspace<G1>(h), kMsmH, kMsmH);
  query_bits =
      arena.add("query bits", most_words * sizeof(std::uint32_t), first_query_stage, kQuerySums);
  query_scalars =
      arena.add("query scalars", most_scalars * sizeof(Fr), first_query_stage, kQuerySums);
  query_workspace = arena.add("query sums", query_bytes, first_query_stage, kQuerySums);
  arena.place();
}

MsmPlan LanePlan::h_plan(std::size_t count) const {
  MsmPlan plan = dense_plan<G1>(count, request);
  const std::size_t room = arena.block(h_workspace).bytes;
  if (msm_workspace<G1>(plan) <= room) return plan;
  plan.set_windows(h.windows.count, msm_buckets_at_once<G1>(request.sm_count));
  if (msm_workspace<G1>(plan) <= room) return plan;
  // The same windows and the same limit of heavy buckets: never more than for all of h.
  plan.heavy_limit = h.heavy_limit;
  return plan;
}

std::string gibibytes(std::size_t bytes) {
  return fmt::format("{:.2f} GiB", static_cast<double>(bytes) / (std::size_t{1} << 30));
}

std::string Residency::describe() const {
  return fmt::format(
      "circuit {}, key {} (group tables:{}{}{}{}{}), transforms {} ({} tables), {} x lane {} ({}): "
      "{}",
      gibibytes(circuit_bytes), gibibytes(key_bytes), tables.l ? " l" : "", tables.a ? " a" : "",
      tables.b_g1 ? " b_g1" : "", tables.b_g2 ? " b_g2" : "",
      tables.l || tables.a || tables.b_g1 || tables.b_g2 ? "" : " none",
      gibibytes(quotient_table_bytes), full_twist_table ? "full" : "short", lanes,
      gibibytes(lane_bytes), overlap ? "queries beside h" : "queries after h", gibibytes(total()));
}

namespace {

Residency weigh(const KeyLayout& layout, LaneRequest request, std::size_t circuit_bytes,
                unsigned lanes, bool overlap, const GroupTables& tables, bool full_twist_table) {
  Residency residency;
  residency.lanes = lanes;
  residency.overlap = request.overlap = overlap;
  residency.tables = request.tables = tables;
  residency.full_twist_table = full_twist_table;
  residency.circuit_bytes = circuit_bytes;
  residency.key_bytes = DeviceKey::device_bytes(layout, tables);
  residency.quotient_table_bytes =
      Quotient::table_bytes({layout.form, static_cast<int>(layout.domain_log2), full_twist_table});
  residency.lane_bytes = LanePlan(request).arena.bytes();
  return residency;
}

}  // namespace

std::optional<Residency> choose_residency(const KeyLayout& layout, const LaneRequest& request,
                                          std::size_t circuit_bytes, std::size_t budget,
                                          unsigned lanes, bool group_tables) {
  base::require(lanes >= 1, "lanes: {} is not enough, at least 1 is needed", lanes);
  Residency chosen;
  for (unsigned count = lanes; count >= 1; --count) {
    for (const bool overlap : {true, false}) {
      if (chosen.lanes != 0 && chosen.total() <= budget) break;
      if (overlap && !request.overlap) continue;
      chosen = weigh(layout, request, circuit_bytes, count, overlap, {}, false);
    }
  }
  if (chosen.total() > budget) return std::nullopt;
  // Time saved a byte, from what was measured on H200: b_g2 1.1 ms a GB, the queries in G1 0.7.
  const auto try_with = [&](auto&& change) {
    GroupTables tables = chosen.tables;
    bool full = chosen.full_twist_table;
    change(tables, full);
    const Residency next =
        weigh(layout, request, circuit_bytes, chosen.lanes, chosen.overlap, tables, full);
    if (next.total() <= budget) chosen = next;
  };
  if (group_tables) {
    try_with([](GroupTables& tables, bool&) { tables.b_g2 = true; });
    try_with([](GroupTables& tables, bool&) { tables.b_g1 = true; });
    try_with([](GroupTables& tables, bool&) { tables.a = true; });
    try_with([](GroupTables& tables, bool&) { tables.l = true; });
  }
  try_with([](GroupTables&, bool& full) { full = true; });
  return chosen;
}

}  // namespace cuzk::groth16::cuda
