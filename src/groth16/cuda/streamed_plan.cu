#include "base/cuda/error.hpp"
#include "base/error.hpp"
#include "groth16/cuda/dense_plan.hpp"
#include "groth16/cuda/slice_pass.cuh"
#include "groth16/cuda/streamed_plan.hpp"
#include "groth16/ops/cuda/instances/msm.hpp"
#include "groth16/ops/cuda/instances/quotient.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace cuzk::groth16::cuda {

using curve::device::Fr;
using curve::device::G1;
using curve::device::G2;
using curve::device::StoredAffine;
using curve::device::StoredXyzz;

namespace {

/// Stages of a partition, then of the pass.
enum Stage { kUpload, kEvaluate, kQuotient, kMsmH, kTails, kPass };

constexpr std::size_t kAlignment = base::cuda::ArenaPlan::kAlignment;
/// Slices of h begin at whole multiples of so many rows, as SlicePass wants them.
constexpr std::size_t kRowUnit = 32;
constexpr std::size_t kMostSlices = 64;
constexpr std::size_t kBatchAddSlice = std::size_t{1} << 23;

std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

Placement placement_of(const KeyPlacement& placement, std::size_t query) {
  const std::array<Placement, kQueries> all = {placement.l, placement.a, placement.b_g1,
                                               placement.b_g2};
  return all[query];
}

struct QueryWorkspaces {
  std::size_t alone = 0, pass = 0, pass_sums = 0;
};

template <class G>
void plan_query(StreamedPlan& plan, std::size_t index, QueryWorkspaces& workspaces) {
  const StreamedRequest& request = plan.request;
  const unsigned sm_count = request.lane.sm_count;
  StreamedPlan::Query& query = plan.queries[index];
  query.points = request.lane.bit_count[index];
  query.bit_words = (query.points + 31) / 32;
  query.streamed = placement_of(request.placement, index) == Placement::kHost && query.points > 0;
  query.tail = dense_plan<G>(request.lane.field_count[index], request.lane);
  workspaces.alone = std::max(workspaces.alone, msm_workspace<G>(query.tail));
  query.slices = 1;
  if (query.streamed) {
    const auto sums =
        StreamedSums<G>::make(query.points, request.partitions, request.buffer_bytes, sm_count);
    query.slices = sums.slices();
    workspaces.pass = std::max(workspaces.pass, sums.workspace_bytes());
    workspaces.pass_sums = std::max(workspaces.pass_sums, sums.results() * sizeof(StoredXyzz<G>));
  } else {
    query.bits = BatchAddPlan::make<G>(query.points, sm_count,
                                       query.points > kBatchAddSlice ? kBatchAddSlice : 0);
    workspaces.alone = std::max(workspaces.alone, batch_add_workspace<G>(query.bits));
  }
  query.bits_at = plan.result_bytes;
  query.tail_at = aligned(query.bits_at + query.slices * sizeof(StoredXyzz<G>));
  plan.result_bytes = aligned(query.tail_at + 2 * query.tail.final_sums() * sizeof(StoredXyzz<G>));
}

}  // namespace

StreamedPlan::StreamedPlan(const StreamedRequest& streamed_request) : request(streamed_request) {
  const LaneRequest& lane = request.lane;
  const std::size_t n = std::size_t{1} << lane.log_n, vector_bytes = n * sizeof(Fr);
  const bool derivative = lane.form == QuotientForm::kDerivative;
  const bool stream_h = request.placement.h == Placement::kHost;
  const std::size_t wanted = (lane.h_count + request.h_slices - 1) / request.h_slices;
  const std::size_t rows = std::min(lane.h_count, (wanted + kRowUnit - 1) / kRowUnit * kRowUnit);
  h = dense_plan<G1>(rows, lane);
  h_slices = rows == 0 ? 0 : (lane.h_count + rows - 1) / rows;
  h_result_bytes = aligned(2 * h.final_sums() * sizeof(StoredXyzz<G1>));
  result_bytes = h_slices * h_result_bytes;
  QueryWorkspaces workspaces;
  for (const std::size_t i : {kQueryL, kQueryA, kQueryBG1}) plan_query<G1>(*this, i, workspaces);
  plan_query<G2>(*this, kQueryBG2, workspaces);
  for (std::size_t i = 0; i < bits_at.size(); ++i) {
    bits_at[i] = bits_words;
    bits_words += aligned(queries[i].bit_words * sizeof(std::uint32_t)) / sizeof(std::uint32_t);
  }

  witness = arena.add("witness", lane.witness_bytes, kUpload, kTails);
  uploaded = lane.packed_bytes == 0
                 ? witness
                 : arena.add("witness as uploaded", lane.packed_bytes, kUpload, kUpload);
  bits = arena.add("bits of all partitions",
                   request.partitions * bits_words * sizeof(std::uint32_t), kUpload, kPass);
  results =
      arena.add("results of all partitions", request.partitions * result_bytes, kUpload, kPass);
  a = arena.add("a", vector_bytes, kEvaluate, kMsmH);
  b = arena.add("b", vector_bytes, kEvaluate, kQuotient);
  c = arena.add("c", derivative ? 0 : vector_bytes, kEvaluate, kQuotient);
  code_a = arena.add("codes of a", derivative ? n : 0, kEvaluate, kQuotient);
  code_b = arena.add("codes of b", derivative ? n : 0, kEvaluate, kQuotient);
  wide = arena.add("wide rows", derivative ? lane.wide_rows * sizeof(WideRow) : 0, kEvaluate,
                   kQuotient);
  quotient_workspace = arena.add(
      "non-zero scalars", derivative ? Quotient::workspace_bytes(static_cast<int>(lane.log_n)) : 0,
      kQuotient, kQuotient);
  const std::size_t buffer_rows = stream_h ? (rows + kRowUnit - 1) / kRowUnit * kRowUnit : 0;
  // The first slice travels while the quotient is computed.
  const std::size_t buffer_bytes = buffer_rows * sizeof(StoredAffine<G1>);
  h_first_buffer = arena.add("h on its way", buffer_bytes, kEvaluate, kMsmH);
  h_second_buffer = arena.add("h on its way", buffer_bytes, kMsmH, kMsmH);
  h_workspace = arena.add("msm_h", msm_workspace<G1>(h), kMsmH, kMsmH);
  scalars =
      arena.add("query scalars", std::ranges::max(lane.field_count) * sizeof(Fr), kTails, kTails);
  query_workspace = arena.add("query sums", workspaces.alone, kTails, kTails);
  pass_buffers = arena.add("bits' points on their way",
                           workspaces.pass_sums > 0 ? request.buffer_bytes : 0, kPass, kPass);
  pass_workspace = arena.add("sums of a pass", workspaces.pass, kPass, kPass);
  pass_sums = arena.add("results of a pass", workspaces.pass_sums, kPass, kPass);
  arena.place();
}

std::size_t StreamedPlan::rows_of(std::size_t slice) const {
  return std::min(h.n, request.lane.h_count - slice * h.n);
}

MsmPlan StreamedPlan::h_plan(std::size_t slice) const {
  MsmPlan plan = h;
  plan.n = rows_of(slice);
  return plan;
}

std::string StreamedResidency::describe() const {
  const auto on = [](Placement placement) {
    return placement == Placement::kHost ? "host" : "device";
  };
  return fmt::format(
      "streamed: circuit {}, key {} on the device (h: {}, l: {}, a: {}, b_g1: {}, b_g2: {}), {} in "
      "pinned host memory, transforms {} (short tables), working memory {} (h in {} pieces, {} "
      "partitions share a pass, {} for a witness that waits): {}",
      gibibytes(circuit_bytes), gibibytes(key_bytes), on(request.placement.h),
      on(request.placement.l), on(request.placement.a), on(request.placement.b_g1),
      on(request.placement.b_g2), gibibytes(host_bytes), gibibytes(quotient_table_bytes),
      gibibytes(arena_bytes), request.h_slices, request.partitions, gibibytes(spare_bytes),
      gibibytes(total()));
}

StreamedResidency weigh_streaming(const KeyLayout& layout, const StreamedRequest& request,
                                  std::size_t circuit_bytes) {
  StreamedResidency residency;
  residency.request = request;
  residency.circuit_bytes = circuit_bytes;
  residency.key_bytes = DeviceKey::device_bytes(layout, request.placement);
  residency.host_bytes = DeviceKey::host_bytes(layout, request.placement);
  residency.quotient_table_bytes =
      Quotient::table_bytes({layout.form, static_cast<int>(layout.domain_log2), false});
  residency.arena_bytes = StreamedPlan(request).arena.bytes();
  return residency;
}

namespace {

/// Buffers of a pass: two halves of at least a few megabytes each pay for their copies' latency;
/// beyond some gigabytes nothing is gained.
constexpr std::size_t kLeastBuffer = std::size_t{1} << 24, kMostBuffer = std::size_t{1} << 32;

/// Of buffers that hold every query's bits in one piece, twice.
std::size_t whole_buffer(const LaneRequest& lane) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < kQueries; ++i) {
    const std::size_t point = i == kQueryBG2 ? sizeof(StoredAffine<G2>) : sizeof(StoredAffine<G1>);
    bytes = std::max(bytes, 2 * ((lane.bit_count[i] + 31) / 32 * 32) * point);
  }
  return std::max(bytes, std::size_t{2 * 32} * sizeof(StoredAffine<G2>));
}

/// For so many partitions a pass.
StreamedResidency choose_for(const KeyLayout& layout, const LaneRequest& lane,
                             std::size_t circuit_bytes, std::size_t budget, unsigned partitions) {
  const std::size_t most_buffer = std::min(kMostBuffer, whole_buffer(lane));
  StreamedRequest request{.lane = lane,
                          .placement = {},
                          .partitions = partitions,
                          .buffer_bytes = std::min(kLeastBuffer, most_buffer)};
  KeyPlacement& placement = request.placement;
  placement.h = placement.l = placement.a = placement.b_g1 = placement.b_g2 = Placement::kHost;
  std::optional<StreamedResidency> chosen;
  const auto try_with = [&](const StreamedRequest& candidate) {
    const StreamedResidency next = weigh_streaming(layout, candidate, circuit_bytes);
    if (next.total() > budget) return false;
    chosen = next;
    return true;
  };
  // h is read by every partition, so it is worth most; then large pieces of it.
  StreamedRequest resident_h = request;
  resident_h.placement.h = Placement::kDevice;
  if (!try_with(resident_h)) {
    while (request.h_slices <= kMostSlices && !try_with(request)) ++request.h_slices;
  }
  if (!chosen) {
    request.h_slices = kMostSlices;
    const StreamedResidency least = weigh_streaming(layout, request, circuit_bytes);
    base::fail<base::cuda::DeviceMemoryExhausted>(
        "device memory: this circuit needs {} at least, with its key in host memory (circuit {}, "
        "key {}, tables of the transforms {}, working memory {}); {} may be used: free memory on "
        "the device, raise --vram-budget, or use a larger device",
        gibibytes(least.total()), gibibytes(circuit_bytes), gibibytes(least.key_bytes),
        gibibytes(least.quotient_table_bytes), gibibytes(least.arena_bytes), gibibytes(budget));
  }
  using Query = Placement KeyPlacement::*;
  for (const Query query :
       {&KeyPlacement::b_g2, &KeyPlacement::b_g1, &KeyPlacement::a, &KeyPlacement::l}) {
    StreamedRequest candidate = chosen->request;
    candidate.placement.*query = Placement::kDevice;
    if (!try_with(candidate)) break;
  }
  while (chosen->request.buffer_bytes < most_buffer) {
    StreamedRequest candidate = chosen->request;
    candidate.buffer_bytes = std::min(2 * candidate.buffer_bytes, most_buffer);
    if (!try_with(candidate)) break;
  }
  return *chosen;
}

StreamedResidency choose_with_fewer(const KeyLayout& layout, const LaneRequest& lane,
                                    std::size_t circuit_bytes, std::size_t budget,
                                    unsigned partitions) {
  for (;;) {
    try {
      return choose_for(layout, lane, circuit_bytes, budget, partitions);
    } catch (const base::ResourceExhausted&) {
      if (partitions == 1) throw;
      partitions /= 2;
    }
  }
}

}  // namespace

StreamedResidency choose_streaming(const KeyLayout& layout, const LaneRequest& lane,
                                   std::size_t circuit_bytes, std::size_t budget,
                                   unsigned partitions, bool spare) {
  base::require(partitions >= 1, "partitions that share a pass: at least 1");
  const std::size_t spare_bytes = lane.upload_bytes();
  if (spare && spare_bytes <= budget / 16) {
    try {
      StreamedResidency residency =
          choose_for(layout, lane, circuit_bytes, budget - spare_bytes, partitions);
      residency.spare_bytes = spare_bytes;
      return residency;
    } catch (const base::ResourceExhausted&) {
      // The first witness comes before the second.
    }
  }
  return choose_with_fewer(layout, lane, circuit_bytes, budget, partitions);
}

}  // namespace cuzk::groth16::cuda
