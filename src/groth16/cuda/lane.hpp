#pragma once

#include "base/cuda/arena.hpp"
#include "base/cuda/buffer.hpp"
#include "base/cuda/device.hpp"
#include "base/cuda/stream.hpp"
#include "base/stage_timer.hpp"
#include "groth16/assemble.hpp"
#include "groth16/cuda/device_circuit.hpp"
#include "groth16/cuda/device_key.hpp"
#include "groth16/cuda/plan.hpp"
#include "groth16/cuda/staging.hpp"
#include "groth16/cuda/track.hpp"
#include "groth16/ops/cuda/instances/quotient.hpp"

#include <array>
#include <future>
#include <memory>
#include <string_view>
#include <vector>

namespace cuzk::groth16::cuda {

/// What all lanes of a prover read.
struct LaneContext {
  const base::cuda::Device& device;
  const DeviceCircuit& circuit;
  const DeviceKey& key;
  const Quotient& quotient;
  const LanePlan& plan;
};

/// The working memory and the streams of one proof at a time. One thread at a time.
///
///   stage()    the witness into host memory
///   upload()   enqueues its way to the device
///   enqueue()  everything else that the device does
///   wait()     until it has been done
///   sums()     the host's part of the sums
///
/// After a failure abandon() brings the lane back to where stage() may be called.
class Lane {
 public:
  using Sums = QuerySums<curve::G1Jacobian, curve::G2Jacobian>;

  /// Allocates. `context` must outlive the lane.
  Lane(const LaneContext& context, bool pinned_uploads);
  ~Lane() { abandon(); }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  /// Throws InvalidInput if the witness is not one of the circuit.
  void stage(const r1cs::Witness& witness);
  void upload();
  /// Instead of stage() and upload(): takes the witness from where it waits.
  void upload_from(SpareWitness& spare);
  /// Returns when all is enqueued or, in the derivative form, all but the sum over h: that goes to
  /// a thread that waits for the number of scalars that are not zero.
  void enqueue();
  /// Throws what the work failed with.
  void wait();
  /// Adds the device's times of the last proof.
  void report(base::StageTimer& timer) const;
  /// What the device left of the last proof; the lane may then start the next one.
  std::vector<std::byte> take_results() const;
  /// The sums, from take_results(). `h_plan` is the plan of the last proof.
  const MsmPlan& h_plan() const { return h_plan_; }
  /// Of its witnesses' way.
  bool is_pinned() const { return staging_.is_pinned(); }
  std::size_t pinned_bytes() const { return staging_.pinned_bytes(); }
  /// Waits for whatever is under way, whatever becomes of it.
  void abandon() noexcept;

 private:
  base::cuda::StreamRef query_stream() const {
    return context_.plan.request.overlap ? side_.ref() : main_.ref();
  }
  Track& query_track() { return context_.plan.request.overlap ? side_track_ : main_track_; }
  void begin_upload();
  void end_upload();
  void enqueue_derivative();
  void enqueue_textbook();
  void enqueue_h(std::size_t count, const std::uint32_t* list);
  void enqueue_rest_of_derivative();
  void enqueue_queries();
  template <class G>
  void enqueue_query(QueryIndex index, QueryName name, const DeviceQuery<G>& query,
                     std::string_view bits_stage, std::string_view tail_stage);
  template <class T>
  base::cuda::DeviceSpan<T> block(base::cuda::ArenaPlan::Id id) const {
    return arena_.block<T>(id);
  }

  const LaneContext& context_;
  base::cuda::Arena arena_;
  Staging staging_;
  base::cuda::PinnedBuffer<std::byte> results_;
  base::cuda::PinnedBuffer<std::uint32_t> nonzero_count_;
  base::cuda::Stream main_, side_{true};
  base::cuda::Event uploaded_, counted_, main_done_, side_done_;
  Track main_track_, side_track_;
  std::shared_ptr<const Track> spare_track_;  // of a witness that came from a SpareWitness
  Quotient::Nonzero nonzero_{};
  MsmPlan h_plan_;
  std::future<void> rest_;
};

/// The sums of a proof from what its lane left.
Lane::Sums finish_sums(const LanePlan& plan, const MsmPlan& h_plan, const DeviceKey& key,
                       std::span<const std::byte> results);

}  // namespace cuzk::groth16::cuda
