#include "base/cuda/device.hpp"
#include "base/error.hpp"
#include "base/parallel.hpp"
#include "groth16/cuda/host_sums.hpp"
#include "groth16/cuda/lane.hpp"
#include "groth16/ops/cuda/grouped_finish.hpp"
#include "groth16/ops/cuda/instances/batch_add.hpp"
#include "groth16/ops/cuda/instances/msm.hpp"

#include <utility>

namespace cuzk::groth16::cuda {

using base::cuda::DeviceSpan;
using base::cuda::StreamRef;
using curve::device::Fr;
using curve::device::G1;
using curve::device::G2;
using curve::device::StoredXyzz;

namespace {

// Emulated kernels run when they are enqueued, one grid at a time in the process: no second thread.
#ifdef __CUDACC__
constexpr std::launch kEnqueueRest = std::launch::async;
#else
constexpr std::launch kEnqueueRest = std::launch::deferred;
#endif

template <class T>
DeviceSpan<T> at_offset(DeviceSpan<std::byte> block, std::size_t offset, std::size_t count) {
  return {reinterpret_cast<T*>(block.data + offset), count};
}

}  // namespace

Lane::Lane(const LaneContext& context, bool pinned_uploads)
    : context_(context),
      arena_(context.plan.arena),
      staging_(context.circuit.upload_layout().bytes, pinned_uploads),
      results_(context.plan.result_bytes, "the sums on their way from the device"),
      nonzero_count_(1, "the number of scalars that are not zero") {}

void Lane::stage(const r1cs::Witness& witness) { context_.circuit.stage(witness, staging_.span()); }

void Lane::begin_upload() {
  main_track_.restart();
  side_track_.restart();
  spare_track_.reset();
  main_track_.mark({}, main_.ref());
}

void Lane::end_upload() {
  const bool completes = context_.circuit.completes();
  if (completes) main_track_.mark("upload", main_.ref());
  context_.circuit.unpack(block<std::byte>(context_.plan.uploaded),
                          block<std::byte>(context_.plan.witness), main_.ref());
  main_track_.mark(completes ? "complete_witness" : "upload", main_.ref());
}

void Lane::upload() {
  begin_upload();
  const std::span<std::byte> witness = staging_.span();
  base::cuda::copy_bytes(block<std::byte>(context_.plan.uploaded).data, witness.data(),
                         witness.size(), main_.ref());
  end_upload();
}

void Lane::upload_from(SpareWitness& spare) {
  begin_upload();
  spare_track_ = spare.hand_over(block<std::byte>(context_.plan.uploaded), main_.ref());
  end_upload();
}

void Lane::enqueue() {
  // Nothing between the upload and the lane's turn counts as work.
  main_track_.mark({}, main_.ref());
  if (context_.plan.request.overlap) {
    uploaded_.record(main_.ref());
    uploaded_.block(side_.ref());
    side_track_.mark({}, side_.ref());
  }
  if (context_.plan.request.form == QuotientForm::kDerivative) {
    enqueue_derivative();
  } else {
    enqueue_textbook();
  }
}

void Lane::enqueue_derivative() {
  const LanePlan& plan = context_.plan;
  const DeviceSpan<Fr> a = block<Fr>(plan.a), b = block<Fr>(plan.b);
  const DeviceSpan<std::int8_t> code_a = block<std::int8_t>(plan.code_a),
                                code_b = block<std::int8_t>(plan.code_b);
  const DeviceSpan<WideRow> wide = block<WideRow>(plan.wide);
  context_.circuit.evaluate_codes(block<std::byte>(plan.witness), a, b, code_a, code_b, wide,
                                  main_.ref());
  main_track_.mark("evaluate", main_.ref());
  const ConstraintValues values{.code_a = code_a.data,
                                .code_b = code_b.data,
                                .wide = wide.data,
                                .wide_count = static_cast<std::uint32_t>(wide.size),
                                .beta = nullptr};
  nonzero_ = context_.quotient.derivative(a, b, values, block<std::byte>(plan.quotient_workspace),
                                          main_.ref());
  base::cuda::copy_bytes(nonzero_count_.data(), nonzero_.count, sizeof(std::uint32_t), main_.ref());
  main_track_.mark("ntt_h", main_.ref());
  counted_.record(main_.ref());
  if (plan.request.overlap) enqueue_queries();
  rest_ = std::async(kEnqueueRest, [this] { enqueue_rest_of_derivative(); });
}

void Lane::enqueue_rest_of_derivative() {
  context_.device.make_current();
  counted_.synchronize();
  main_track_.mark({}, main_.ref());
  enqueue_h(*nonzero_count_.data(), nonzero_.list);
  if (!context_.plan.request.overlap) enqueue_queries();
}

void Lane::enqueue_textbook() {
  const LanePlan& plan = context_.plan;
  const std::array<DeviceSpan<Fr>, 3> rows = {block<Fr>(plan.a), block<Fr>(plan.b),
                                              block<Fr>(plan.c)};
  for (unsigned matrix = 0; matrix < 3; ++matrix)
    context_.circuit.evaluate(matrix, block<std::byte>(plan.witness), rows[matrix], main_.ref());
  main_track_.mark("evaluate", main_.ref());
  context_.quotient.textbook(rows[0], rows[1], rows[2], main_.ref());
  main_track_.mark("ntt_h", main_.ref());
  if (plan.request.overlap) enqueue_queries();
  enqueue_h(plan.request.h_count, nullptr);
  if (!plan.request.overlap) enqueue_queries();
}

void Lane::enqueue_h(std::size_t count, const std::uint32_t* list) {
  const LanePlan& plan = context_.plan;
  h_plan_ = plan.h_plan(count);
  const DeviceSpan<std::byte> results = block<std::byte>(plan.results);
  msm<G1>(h_plan_, context_.key.h(), block<Fr>(plan.a), list, block<std::byte>(plan.h_workspace),
          at_offset<StoredXyzz<G1>>(results, 0, 2 * h_plan_.final_sums()), main_.ref());
  main_track_.mark("msm_h", main_.ref());
  base::cuda::copy_bytes(results_.data(), results.data, plan.h_result_bytes, main_.ref());
  main_track_.mark("download", main_.ref());
  main_done_.record(main_.ref());
}

void Lane::enqueue_queries() {
  const LanePlan& plan = context_.plan;
  const DeviceKey& key = context_.key;
  enqueue_query<G1>(kQueryL, QueryName::kL, key.l(), "msm_l.batch_add", "msm_l.tail");
  enqueue_query<G1>(kQueryA, QueryName::kA, key.a(), "msm_a.batch_add", "msm_a.tail");
  enqueue_query<G1>(kQueryBG1, QueryName::kB, key.b_g1(), "msm_b_g1.batch_add", "msm_b_g1.tail");
  enqueue_query<G2>(kQueryBG2, QueryName::kB, key.b_g2(), "msm_b_g2.batch_add", "msm_b_g2.tail");
  const std::size_t first = plan.h_result_bytes;
  base::cuda::copy_bytes(results_.data() + first, block<std::byte>(plan.results).data + first,
                         plan.result_bytes - first, query_stream());
  query_track().mark("download", query_stream());
  side_done_.record(query_stream());
}

template <class G>
void Lane::enqueue_query(QueryIndex index, QueryName name, const DeviceQuery<G>& query,
                         std::string_view bits_stage, std::string_view tail_stage) {
  const LanePlan& plan = context_.plan;
  const LanePlan::Query& mine = plan.queries[index];
  const StreamRef stream = query_stream();
  const DeviceSpan<const std::byte> witness = block<std::byte>(plan.witness);
  const DeviceSpan<std::byte> workspace = block<std::byte>(plan.query_workspace),
                              results = block<std::byte>(plan.results);
  const DeviceSpan<std::uint32_t> bits =
      block<std::uint32_t>(plan.query_bits).first(mine.bit_words);
  const DeviceSpan<Fr> scalars = block<Fr>(plan.query_scalars).first(mine.tail.n);
  context_.circuit.query_bits(name, witness, bits, stream);
  StoredXyzz<G>* sum_of_bits = at_offset<StoredXyzz<G>>(results, mine.bits_at, 1).data;
  if (mine.tabled) {
    batch_add_grouped<G>(mine.bits, query.table, bits, workspace, sum_of_bits, stream);
  } else {
    batch_add<G>(mine.bits, query.bits, bits, workspace, sum_of_bits, stream);
  }
  query_track().mark(bits_stage, stream);
  context_.circuit.query_scalars(name, witness, scalars, stream);
  msm<G>(mine.tail, query.fields, scalars, nullptr, workspace,
         at_offset<StoredXyzz<G>>(results, mine.tail_at, 2 * mine.tail.final_sums()), stream);
  query_track().mark(tail_stage, stream);
}

void Lane::wait() {
  if (rest_.valid()) rest_.get();
  main_done_.synchronize();
  side_done_.synchronize();
}

void Lane::report(base::StageTimer& timer) const {
  if (spare_track_) spare_track_->report(timer);
  main_track_.report(timer);
  side_track_.report(timer);
}

std::vector<std::byte> Lane::take_results() const {
  return {results_.span().begin(), results_.span().end()};
}

void Lane::abandon() noexcept {
  const auto quietly = [](auto&& step) {
    try {
      step();
    } catch (const std::exception&) {
      // The proof it belonged to has failed or is not wanted any more.
    }
  };
  quietly([&] { context_.device.make_current(); });
  if (rest_.valid()) quietly([&] { rest_.get(); });
  quietly([&] { main_.synchronize(); });
  quietly([&] { side_.synchronize(); });
}

namespace {

template <class G>
auto finish_query(const LanePlan::Query& plan, const DeviceQuery<G>& query,
                  std::span<const std::byte> results) {
  using Sum = StoredXyzz<G>;
  auto of_bits = curve::device::to_blst(read_results<Sum>(results, plan.bits_at, 1).front());
  if (plan.tabled) of_bits = finish_grouped_sum(of_bits, query.all_bits);
  return from_blst(curve::device::sum(of_bits, read_msm<Sum>(plan.tail, results, plan.tail_at)));
}

}  // namespace

Lane::Sums finish_sums(const LanePlan& plan, const MsmPlan& h_plan, const DeviceKey& key,
                       std::span<const std::byte> results) {
  Lane::Sums sums;
  base::parallel_tasks(5, [&](std::size_t task) {
    switch (task) {
      case 0:
        sums.b_g2 = finish_query(plan.queries[kQueryBG2], key.b_g2(), results);
        break;
      case 1:
        sums.h = scale_h(from_blst(read_msm<StoredXyzz<G1>>(h_plan, results, 0)), plan.request.form,
                         plan.request.log_n);
        break;
      case 2:
        sums.l = finish_query(plan.queries[kQueryL], key.l(), results);
        break;
      case 3:
        sums.a = finish_query(plan.queries[kQueryA], key.a(), results);
        break;
      default:
        sums.b_g1 = finish_query(plan.queries[kQueryBG1], key.b_g1(), results);
    }
  });
  return sums;
}

}  // namespace cuzk::groth16::cuda
