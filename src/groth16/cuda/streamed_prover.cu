#include "base/cuda/arena.hpp"
#include "base/cuda/buffer.hpp"
#include "base/error.hpp"
#include "base/parallel.hpp"
#include "groth16/assemble.hpp"
#include "groth16/cuda/host_sums.hpp"
#include "groth16/cuda/pass_queue.hpp"
#include "groth16/cuda/site.hpp"
#include "groth16/cuda/slice_pass.cuh"
#include "groth16/cuda/staging.hpp"
#include "groth16/cuda/streamed_plan.hpp"
#include "groth16/cuda/track.hpp"
#include "groth16/ops/cuda/instances/batch_add.hpp"
#include "groth16/ops/cuda/instances/msm.hpp"
#include "groth16/ops/cuda/instances/quotient.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

namespace cuzk::groth16::cuda {

using base::cuda::DeviceSpan;
using base::cuda::StreamRef;
using curve::device::Fr;
using curve::device::G1;
using curve::device::G2;
using curve::device::StoredAffine;
using curve::device::StoredXyzz;

namespace {

using Sums = QuerySums<curve::G1Jacobian, curve::G2Jacobian>;

struct StageNames {
  std::string_view bits, tail;
};
constexpr std::array<StageNames, kQueries> kStages = {{{"msm_l.batch_add", "msm_l.tail"},
                                                       {"msm_a.batch_add", "msm_a.tail"},
                                                       {"msm_b_g1.batch_add", "msm_b_g1.tail"},
                                                       {"msm_b_g2.batch_add", "msm_b_g2.tail"}}};

/// A partition's place: its bits and results on the device, its results on the host.
struct Slot {
  std::size_t index = 0;
  base::cuda::PinnedBuffer<std::byte> results;
  base::cuda::Event done;
  Track track;
  std::shared_ptr<const Track> spare_track;  // of a witness that came from a SpareWitness
  // Guarded by the prover's mutex:
  bool taken = false, in_pass = false, flushed = false;
  std::exception_ptr failure;
  std::shared_ptr<Track> pass;  // of the pass it was in
  std::size_t sharers = 1;
};

/// Everything on the device that one stream does. One thread at a time.
class StreamedWork {
 public:
  StreamedWork(const Site& site, const DeviceKey& key, const Quotient& quotient,
               const StreamedPlan& plan)
      : site_(site),
        key_(key),
        quotient_(quotient),
        plan_(plan),
        arena_(plan.arena),
        staging_(site.circuit.upload_layout().bytes, site.options.pinned_uploads) {
    staging_free_.record(stream_.ref());
  }

  /// Throws InvalidInput if the witness is not one of the circuit.
  void stage(const r1cs::Witness& witness) {
    staging_free_.synchronize();
    site_.circuit.stage(witness, staging_.span());
  }
  /// The proof but for its pass; its witness is the one staged, or comes from `spare`.
  void enqueue_partition(Slot& slot, SpareWitness* spare);
  /// The pass over the bits' points for these slots; `slots` not empty.
  void enqueue_pass(std::span<Slot* const> slots, Track& track);
  void wait() const { stream_.synchronize(); }
  const Staging& staging() const { return staging_; }

 private:
  template <class T>
  DeviceSpan<T> block(base::cuda::ArenaPlan::Id id) const {
    return arena_.block<T>(id);
  }
  DeviceSpan<std::uint32_t> bits_of(const Slot& slot, std::size_t query) const {
    const std::size_t first =
        slot.index * plan_.bits_words + plan_.bits_at[StreamedPlan::kBitsOf[query]];
    return block<std::uint32_t>(plan_.bits).subspan(first, plan_.queries[query].bit_words);
  }
  DeviceSpan<std::byte> results_of(const Slot& slot) const {
    return block<std::byte>(plan_.results)
        .subspan(slot.index * plan_.result_bytes, plan_.result_bytes);
  }
  template <class T>
  static DeviceSpan<T> at_offset(DeviceSpan<std::byte> bytes, std::size_t offset,
                                 std::size_t count) {
    return {reinterpret_cast<T*>(bytes.data + offset), count};
  }
  void enqueue_quotient(Slot& slot);
  void enqueue_h(Slot& slot);
  template <class G>
  void enqueue_query(Slot& slot, QueryIndex index, QueryName name, const DeviceQuery<G>& query);
  template <class G>
  void enqueue_pass_over(std::span<Slot* const> slots, QueryIndex index,
                         const DeviceQuery<G>& query, Track& track);

  const Site& site_;
  const DeviceKey& key_;
  const Quotient& quotient_;
  const StreamedPlan& plan_;
  base::cuda::Arena arena_;
  Staging staging_;
  base::cuda::Stream stream_;
  base::cuda::Event staging_free_;
  SlicePass pass_;
};

void StreamedWork::enqueue_partition(Slot& slot, SpareWitness* spare) {
  slot.track.restart();
  slot.spare_track.reset();
  slot.track.mark({}, stream_.ref());
  const bool completes = site_.circuit.completes();
  const DeviceSpan<std::byte> uploaded = block<std::byte>(plan_.uploaded);
  if (spare != nullptr) {
    slot.spare_track = spare->hand_over(uploaded, stream_.ref());
  } else {
    const std::span<std::byte> staged = staging_.span();
    base::cuda::copy_bytes(uploaded.data, staged.data(), staged.size(), stream_.ref());
    staging_free_.record(stream_.ref());
  }
  if (completes) slot.track.mark("upload", stream_.ref());
  site_.circuit.unpack(uploaded, block<std::byte>(plan_.witness), stream_.ref());
  slot.track.mark(completes ? "complete_witness" : "upload", stream_.ref());
  if (plan_.request.placement.h == Placement::kHost)
    pass_.prefetch(key_.host_h(), block<std::byte>(plan_.h_first_buffer), stream_.ref());
  enqueue_quotient(slot);
  enqueue_h(slot);
  enqueue_query<G1>(slot, kQueryL, QueryName::kL, key_.l());
  enqueue_query<G1>(slot, kQueryA, QueryName::kA, key_.a());
  enqueue_query<G1>(slot, kQueryBG1, QueryName::kB, key_.b_g1());
  enqueue_query<G2>(slot, kQueryBG2, QueryName::kB, key_.b_g2());
  base::cuda::copy_bytes(slot.results.data(), results_of(slot).data, plan_.result_bytes,
                         stream_.ref());
  slot.track.mark("download", stream_.ref());
}

void StreamedWork::enqueue_quotient(Slot& slot) {
  const DeviceSpan<const std::byte> witness = block<std::byte>(plan_.witness);
  const DeviceSpan<Fr> a = block<Fr>(plan_.a), b = block<Fr>(plan_.b), c = block<Fr>(plan_.c);
  if (plan_.request.lane.form == QuotientForm::kTextbook) {
    const std::array<DeviceSpan<Fr>, 3> rows = {a, b, c};
    for (unsigned matrix = 0; matrix < 3; ++matrix)
      site_.circuit.evaluate(matrix, witness, rows[matrix], stream_.ref());
    slot.track.mark("evaluate", stream_.ref());
    quotient_.textbook(a, b, c, stream_.ref());
  } else {
    const DeviceSpan<std::int8_t> code_a = block<std::int8_t>(plan_.code_a),
                                  code_b = block<std::int8_t>(plan_.code_b);
    const DeviceSpan<WideRow> wide = block<WideRow>(plan_.wide);
    site_.circuit.evaluate_codes(witness, a, b, code_a, code_b, wide, stream_.ref());
    slot.track.mark("evaluate", stream_.ref());
    const ConstraintValues values{.code_a = code_a.data,
                                  .code_b = code_b.data,
                                  .wide = wide.data,
                                  .wide_count = static_cast<std::uint32_t>(wide.size),
                                  .beta = nullptr};
    quotient_.derivative(a, b, values, block<std::byte>(plan_.quotient_workspace), stream_.ref());
  }
  slot.track.mark("ntt_h", stream_.ref());
}

void StreamedWork::enqueue_h(Slot& slot) {
  const DeviceSpan<Fr> scalars = block<Fr>(plan_.a);
  const auto add_slice = [&](DeviceSpan<const StoredAffine<G1>> points, std::size_t first) {
    const std::size_t slice = first / plan_.h_slice_rows();
    const MsmPlan plan = plan_.h_plan(slice);
    msm<G1>(plan, points, scalars.subspan(first, points.size), nullptr,
            block<std::byte>(plan_.h_workspace),
            at_offset<StoredXyzz<G1>>(results_of(slot), plan_.h_at(slice), 2 * plan.final_sums()),
            stream_.ref());
  };
  if (plan_.request.placement.h == Placement::kHost) {
    pass_.run(key_.host_h(),
              SlicePass::Buffers{block<std::byte>(plan_.h_first_buffer),
                                 block<std::byte>(plan_.h_second_buffer)},
              stream_.ref(), add_slice);
  } else if (key_.h().size > 0) {
    add_slice(key_.h(), 0);
  }
  slot.track.mark("msm_h", stream_.ref());
}

template <class G>
void StreamedWork::enqueue_query(Slot& slot, QueryIndex index, QueryName name,
                                 const DeviceQuery<G>& query) {
  const StreamedPlan::Query& mine = plan_.queries[index];
  const DeviceSpan<const std::byte> witness = block<std::byte>(plan_.witness);
  const DeviceSpan<std::byte> workspace = block<std::byte>(plan_.query_workspace);
  const DeviceSpan<std::uint32_t> bits = bits_of(slot, index);
  if (index != kQueryBG2) site_.circuit.query_bits(name, witness, bits, stream_.ref());
  if (!mine.streamed) {
    batch_add<G>(mine.bits, query.bits, bits, workspace,
                 at_offset<StoredXyzz<G>>(results_of(slot), mine.bits_at, 1).data, stream_.ref());
    slot.track.mark(kStages[index].bits, stream_.ref());
  }
  const DeviceSpan<Fr> scalars = block<Fr>(plan_.scalars).first(mine.tail.n);
  site_.circuit.query_scalars(name, witness, scalars, stream_.ref());
  msm<G>(mine.tail, query.fields, scalars, nullptr, workspace,
         at_offset<StoredXyzz<G>>(results_of(slot), mine.tail_at, 2 * mine.tail.final_sums()),
         stream_.ref());
  slot.track.mark(kStages[index].tail, stream_.ref());
}

template <class G>
void StreamedWork::enqueue_pass_over(std::span<Slot* const> slots, QueryIndex index,
                                     const DeviceQuery<G>& query, Track& track) {
  const StreamedPlan::Query& mine = plan_.queries[index];
  if (!mine.streamed) return;
  const auto sums = StreamedSums<G>::make(mine.points, slots.size(), plan_.request.buffer_bytes,
                                          plan_.request.lane.sm_count);
  std::vector<DeviceSpan<const std::uint32_t>> bits;
  for (const Slot* slot : slots) bits.emplace_back(bits_of(*slot, index));
  const DeviceSpan<StoredXyzz<G>> out = block<StoredXyzz<G>>(plan_.pass_sums).first(sums.results());
  sums.enqueue(pass_, query.host_bits, bits, block<std::byte>(plan_.pass_buffers),
               block<std::byte>(plan_.pass_workspace), out, stream_.ref());
  for (std::size_t p = 0; p < slots.size(); ++p) {
    base::cuda::copy_bytes(slots[p]->results.data() + mine.bits_at, out.data + p * mine.slices,
                           mine.slices * sizeof(StoredXyzz<G>), stream_.ref());
  }
  track.mark(kStages[index].bits, stream_.ref());
}

void StreamedWork::enqueue_pass(std::span<Slot* const> slots, Track& track) {
  track.mark({}, stream_.ref());
  enqueue_pass_over<G1>(slots, kQueryL, key_.l(), track);
  enqueue_pass_over<G1>(slots, kQueryA, key_.a(), track);
  enqueue_pass_over<G1>(slots, kQueryBG1, key_.b_g1(), track);
  enqueue_pass_over<G2>(slots, kQueryBG2, key_.b_g2(), track);
  for (Slot* slot : slots) slot->done.record(stream_.ref());
}

template <class Sum>
auto finish_query(const StreamedPlan::Query& plan, std::span<const std::byte> results) {
  auto total = read_msm<Sum>(plan.tail, results, plan.tail_at);
  for (const Sum& sum : read_results<Sum>(results, plan.bits_at, plan.slices))
    total = curve::device::sum(total, curve::device::to_blst(sum));
  return from_blst(total);
}

Sums finish_sums(const StreamedPlan& plan, std::span<const std::byte> results) {
  Sums sums;
  base::parallel_tasks(5, [&](std::size_t task) {
    switch (task) {
      case 0:
        sums.b_g2 = finish_query<StoredXyzz<G2>>(plan.queries[kQueryBG2], results);
        break;
      case 1: {
        blst_p1 h{};
        for (std::size_t i = 0; i < plan.h_slices; ++i) {
          h = curve::device::sum(h,
                                 read_msm<StoredXyzz<G1>>(plan.h_plan(i), results, plan.h_at(i)));
        }
        sums.h = scale_h(from_blst(h), plan.request.lane.form, plan.request.lane.log_n);
        break;
      }
      case 2:
        sums.l = finish_query<StoredXyzz<G1>>(plan.queries[kQueryL], results);
        break;
      case 3:
        sums.a = finish_query<StoredXyzz<G1>>(plan.queries[kQueryA], results);
        break;
      default:
        sums.b_g1 = finish_query<StoredXyzz<G1>>(plan.queries[kQueryBG1], results);
    }
  });
  return sums;
}

class StreamedProver final : public CudaProver {
 public:
  StreamedProver(std::unique_ptr<Site> site, const KeyLayout& layout,
                 const StreamedResidency& residency, const MakeKey& make_key)
      : site_(std::move(site)),
        residency_(residency),
        key_(make_key(residency.request.placement, site_->setup_stream.ref())),
        quotient_tables_(residency.quotient_table_bytes, "tables of the transforms"),
        quotient_({layout.form, static_cast<int>(layout.domain_log2), false},
                  quotient_tables_.span(), site_->setup_stream.ref()),
        plan_(residency.request),
        work_(*site_, key_, quotient_, plan_),
        spare_(residency.spare_bytes == 0
                   ? nullptr
                   : std::make_unique<SpareWitness>(residency.spare_bytes,
                                                    site_->options.pinned_uploads)),
        slots_(residency.request.partitions),
        queue_({.places = slots_.size(),
                .jobs = site_->options.jobs_a_pass,
                .wait = site_->options.pass_wait}) {
    site_->setup_stream.synchronize();
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      slots_[i].index = i;
      slots_[i].results = {plan_.result_bytes, "the sums on their way from the device"};
    }
  }
  ~StreamedProver() override {
    try {
      work_.wait();
    } catch (const std::exception&) {
      // What failed is of no more interest.
    }
  }

  const VerifyingKey& verifying_key() const override { return key_.verifying_key(); }
  Started start_for(const Ticket& ticket, const r1cs::Witness& witness,
                    base::StageTimer& timer) override;

  unsigned proofs_in_flight() const override { return residency_.request.partitions; }
  std::size_t device_bytes() const override { return residency_.total(); }
  std::size_t pinned_bytes() const override {
    return residency_.host_bytes + work_.staging().pinned_bytes() +
           (spare_ ? spare_->pinned_bytes() : 0);
  }
  std::uint64_t passes() const override { return passes_; }
  std::string describe() const override { return residency_.describe(); }

 private:
  class StreamedPending;

  using Clock = PassQueue::Clock;

  Slot* take_slot();
  void release(Slot& slot);
  /// Enqueues the proof, and the pass if this makes it due.
  Prestage enqueue(Slot& slot, const r1cs::Witness& witness, base::StageTimer& timer);
  /// Waits until the slot's pass is enqueued, and enqueues it if it is due.
  void await_pass(Slot& slot);
  /// Enqueues the pass that is due, if one is; with enqueue_mutex_ held.
  void flush();

  // Constant after construction, in the order of construction.
  std::unique_ptr<Site> site_;
  StreamedResidency residency_;
  DeviceKey key_;
  base::cuda::DeviceBuffer<std::byte> quotient_tables_;
  Quotient quotient_;
  StreamedPlan plan_;

  // Taken in this order where several are.
  std::mutex spare_mutex_, enqueue_mutex_, mutex_;
  StreamedWork work_;                    // guarded by enqueue_mutex_
  std::unique_ptr<SpareWitness> spare_;  // what it points to is guarded by spare_mutex_

  std::condition_variable changed_;
  std::vector<Slot> slots_;  // members as Slot says
  PassQueue queue_;          // guarded by mutex_
  std::atomic<std::uint64_t> passes_ = 0;
};

class StreamedProver::StreamedPending final : public Prover::Pending {
 public:
  StreamedPending(StreamedProver& prover, Slot& slot) : prover_(prover), slot_(&slot) {}
  ~StreamedPending() override {
    if (slot_ != nullptr) prover_.release(*slot_);
  }

  Proof finish(const Blinding& blinding, base::StageTimer& timer) override {
    base::require(slot_ != nullptr, "a proof is finished once");
    Slot& slot = *slot_;
    prover_.site_->device.make_current();
    timer.measure("device_lock_wait", [&] { prover_.await_pass(slot); });
    slot.done.synchronize();
    if (slot.spare_track) slot.spare_track->report(timer);
    slot.track.report(timer);
    slot.pass->report(timer, 1.0 / static_cast<double>(slot.sharers));
    return timer.measure("assemble", [&] {
      const std::vector<std::byte> results(slot.results.span().begin(), slot.results.span().end());
      slot_ = nullptr;
      prover_.release(slot);
      const Sums sums = finish_sums(prover_.plan_, results);
      const auto elements = assemble(prover_.verifying_key(), sums, blinding.r, blinding.s);
      return Proof{elements.a.to_affine(), elements.b.to_affine(), elements.c.to_affine()};
    });
  }

 private:
  StreamedProver& prover_;
  Slot* slot_;
};

Slot* StreamedProver::take_slot() {
  std::unique_lock lock(mutex_);
  const auto free_slot = [&] { return std::ranges::find(slots_, false, &Slot::taken); };
  changed_.wait(lock, [&] { return free_slot() != slots_.end(); });
  Slot* slot = &*free_slot();
  slot->taken = true;
  slot->flushed = false;
  slot->failure = nullptr;
  queue_.announce(Clock::now());
  return slot;
}

void StreamedProver::release(Slot& slot) {
  // Memory of a slot is used by one stream, so what is still under way runs before its next user.
  {
    std::unique_lock lock(mutex_);
    queue_.remove(slot.index);
    // A pass that is being enqueued for it would be taken for that of its next user.
    changed_.wait(lock, [&] { return !slot.in_pass; });
    slot.taken = false;
  }
  changed_.notify_all();
}

CudaProver::Started StreamedProver::start_for(const Ticket& ticket, const r1cs::Witness& witness,
                                              base::StageTimer& timer) {
  site_->device.make_current();
  Slot& slot = *timer.measure("device_lock_wait", [&] { return take_slot(); });
  Started started{std::make_unique<StreamedPending>(*this, slot)};
  try {
    started.prestage = enqueue(slot, witness, timer);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    queue_.give_up();
    throw;
  }
  bool due = false;
  {
    const std::lock_guard lock(mutex_);
    const Clock::time_point now = Clock::now();
    queue_.add({slot.index, ticket.job, ticket.urgent, now});
    due = queue_.is_due(now);
  }
  if (due) {
    const std::lock_guard enqueue_lock(enqueue_mutex_);
    flush();
  }
  changed_.notify_all();
  return started;
}

Prestage StreamedProver::enqueue(Slot& slot, const r1cs::Witness& witness,
                                 base::StageTimer& timer) {
  const CudaOptions& options = site_->options;
  if (spare_ != nullptr) {
    // Travels while the proofs before it are computed.
    const std::lock_guard spare_lock(spare_mutex_);
    timer.measure("prestage", [&] { site_->circuit.stage(witness, spare_->staging()); });
    spare_->upload();
    const std::lock_guard enqueue_lock(enqueue_mutex_);
    work_.enqueue_partition(slot, spare_.get());
    return spare_->is_pinned() || !options.pinned_uploads ? Prestage::kHit : Prestage::kSkipPin;
  }
  const std::lock_guard enqueue_lock(enqueue_mutex_);
  timer.measure("prestage", [&] { work_.stage(witness); });
  work_.enqueue_partition(slot, nullptr);
  return options.prestage ? Prestage::kSkipVram : Prestage::kOff;
}

void StreamedProver::await_pass(Slot& slot) {
  constexpr std::chrono::milliseconds kTick{50};
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, kTick, [&] { return slot.flushed; });
      if (slot.flushed) {
        if (slot.failure != nullptr) std::rethrow_exception(slot.failure);
        return;
      }
      if (!queue_.is_due(Clock::now())) continue;
    }
    const std::lock_guard enqueue_lock(enqueue_mutex_);
    flush();
  }
}

void StreamedProver::flush() {
  std::vector<Slot*> slots;
  {
    const std::lock_guard lock(mutex_);
    for (const std::size_t place : queue_.take(Clock::now())) {
      slots.push_back(&slots_[place]);
      slots_[place].in_pass = true;
    }
  }
  if (slots.empty()) return;
  auto track = std::make_shared<Track>();
  std::exception_ptr failure;
  try {
    work_.enqueue_pass(slots, *track);
  } catch (...) {
    failure = std::current_exception();
  }
  ++passes_;
  {
    const std::lock_guard lock(mutex_);
    for (Slot* slot : slots) {
      slot->flushed = true;
      slot->in_pass = false;
      slot->failure = failure;
      slot->pass = track;
      slot->sharers = slots.size();
    }
  }
  changed_.notify_all();
}

}  // namespace

std::unique_ptr<CudaProver> make_streamed_prover(std::unique_ptr<Site> site,
                                                 const KeyLayout& layout,
                                                 const StreamedResidency& residency,
                                                 const MakeKey& make_key) {
  return std::make_unique<StreamedProver>(std::move(site), layout, residency, make_key);
}

}  // namespace cuzk::groth16::cuda
