#include "base/cuda/buffer.hpp"
#include "base/error.hpp"
#include "groth16/cuda/lane.hpp"
#include "groth16/cuda/site.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

namespace cuzk::groth16::cuda {

namespace {

/// Lanes that are not in use. Threads wait for one in no particular order.
class LanePool {
 public:
  void add(std::unique_ptr<Lane> lane) { lanes_.push_back(std::move(lane)); }

  std::unique_ptr<Lane> take() {
    std::unique_lock lock(mutex_);
    returned_.wait(lock, [&] { return !lanes_.empty(); });
    std::unique_ptr<Lane> lane = std::move(lanes_.back());
    lanes_.pop_back();
    return lane;
  }
  /// Null if none is free.
  std::unique_ptr<Lane> try_take() {
    const std::lock_guard lock(mutex_);
    if (lanes_.empty()) return nullptr;
    std::unique_ptr<Lane> lane = std::move(lanes_.back());
    lanes_.pop_back();
    return lane;
  }
  void give_back(std::unique_ptr<Lane> lane) {
    {
      const std::lock_guard lock(mutex_);
      lanes_.push_back(std::move(lane));
    }
    returned_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Lane>> lanes_;  // guarded by mutex_
};

/// A lane taken from the pool; goes back there, idle, with this object.
class LaneLease {
 public:
  LaneLease(LanePool& pool, std::unique_ptr<Lane> lane) : pool_(pool), lane_(std::move(lane)) {}
  ~LaneLease() { end(); }
  LaneLease(const LaneLease&) = delete;
  LaneLease& operator=(const LaneLease&) = delete;

  Lane* operator->() const { return lane_.get(); }
  void end() {
    if (lane_ == nullptr) return;
    lane_->abandon();
    pool_.give_back(std::move(lane_));
  }

 private:
  LanePool& pool_;
  std::unique_ptr<Lane> lane_;
};

class ResidentPending final : public Prover::Pending {
 public:
  ResidentPending(const LaneContext& context, DeviceTurn::Holder turn,
                  std::unique_ptr<LaneLease> lease)
      : context_(context), turn_(std::move(turn)), lease_(std::move(lease)) {}

  Proof finish(const Blinding& blinding, base::StageTimer& timer) override {
    base::require(lease_ != nullptr, "a proof is finished once");
    // The turn is over after the lane's work, whatever happens.
    DeviceTurn::Holder turn = std::move(turn_);
    const std::unique_ptr<LaneLease> lease = std::move(lease_);
    context_.device.make_current();
    (*lease)->wait();
    turn.end();
    (*lease)->report(timer);
    return timer.measure("assemble", [&] {
      const std::vector<std::byte> results = (*lease)->take_results();
      const MsmPlan h_plan = (*lease)->h_plan();
      lease->end();  // the next proof starts while the host finishes this one
      const Lane::Sums sums = finish_sums(context_.plan, h_plan, context_.key, results);
      const auto elements = assemble(context_.key.verifying_key(), sums, blinding.r, blinding.s);
      return Proof{elements.a.to_affine(), elements.b.to_affine(), elements.c.to_affine()};
    });
  }

 private:
  const LaneContext& context_;
  DeviceTurn::Holder turn_;
  std::unique_ptr<LaneLease> lease_;
};

class ResidentProver final : public CudaProver {
 public:
  ResidentProver(std::unique_ptr<Site> site, const KeyLayout& layout, const Residency& residency,
                 const MakeKey& make_key)
      : site_(std::move(site)),
        residency_(residency),
        key_(make_key(residency.tables, site_->setup_stream.ref())),
        quotient_tables_(residency.quotient_table_bytes, "tables of the transforms"),
        quotient_({layout.form, static_cast<int>(layout.domain_log2), residency.full_twist_table},
                  quotient_tables_.span(), site_->setup_stream.ref()),
        plan_(planned_request(layout)),
        context_{site_->device, site_->circuit, key_, quotient_, plan_} {
    site_->setup_stream.synchronize();
    for (unsigned i = 0; i < residency_.lanes; ++i) {
      auto lane = std::make_unique<Lane>(context_, site_->options.pinned_uploads);
      pinned_bytes_ += lane->pinned_bytes();
      if (i == 0 && site_->options.warm_up) {
        lane->stage(made_up_witness(layout, site_->circuit.uploaded_fields()));
        lane->upload();
        lane->enqueue();
        lane->wait();
      }
      lanes_.add(std::move(lane));
    }
    make_spare();
  }

  const VerifyingKey& verifying_key() const override { return key_.verifying_key(); }

  Started start_for(const Ticket&, const r1cs::Witness& witness, base::StageTimer& timer) override {
    site_->device.make_current();
    DeviceTurn::Holder turn;
    std::unique_ptr<LaneLease> lease;
    Prestage prestage = Prestage::kOff;
    const auto take_turn = [&] {
      DeviceTurn* const shared = site_->options.turn.get();
      if (shared != nullptr)
        turn = timer.measure("device_lock_wait", [&] { return shared->take(); });
    };
    if (site_->options.prestage) {
      std::tie(lease, prestage) = send_ahead(witness, timer);
      take_turn();
    } else {
      lease = await_lane(timer);
      take_turn();
      send(*lease, witness, timer);
    }
    (*lease)->enqueue();
    return {std::make_unique<ResidentPending>(context_, std::move(turn), std::move(lease)),
            prestage};
  }

  unsigned proofs_in_flight() const override { return residency_.lanes; }
  std::size_t device_bytes() const override {
    return residency_.total() + (spare_ ? site_->circuit.upload_layout().bytes : 0);
  }
  std::size_t pinned_bytes() const override { return pinned_bytes_; }
  std::string describe() const override { return residency_.describe(); }

 private:
  LaneRequest planned_request(const KeyLayout& layout) const {
    LaneRequest request = site_->lane_request(layout, residency_.overlap);
    request.tables = residency_.tables;
    return request;
  }

  /// Where there is not a lane for everyone who is to start a proof, a place to wait, if it fits.
  void make_spare() {
    const CudaOptions& options = site_->options;
    const std::size_t bytes = site_->circuit.upload_layout().bytes;
    if (!options.prestage || residency_.lanes >= options.lanes) return;
    if (residency_.total() + bytes > site_->budget) return;
    try {
      spare_ = std::make_unique<SpareWitness>(bytes, options.pinned_uploads);
    } catch (const base::ResourceExhausted&) {
      return;  // the device has less than it said
    }
    pinned_bytes_ += spare_->pinned_bytes();
  }

  std::unique_ptr<LaneLease> await_lane(base::StageTimer& timer) {
    return timer.measure("device_lock_wait",
                         [&] { return std::make_unique<LaneLease>(lanes_, lanes_.take()); });
  }
  static void send(LaneLease& lease, const r1cs::Witness& witness, base::StageTimer& timer) {
    timer.measure("prestage", [&] { lease->stage(witness); });
    lease->upload();
  }
  Prestage outcome(bool pinned) const {
    return pinned || !site_->options.pinned_uploads ? Prestage::kHit : Prestage::kSkipPin;
  }
  /// Sends the witness to where there is room for it now, and takes a lane.
  std::pair<std::unique_ptr<LaneLease>, Prestage> send_ahead(const r1cs::Witness& witness,
                                                             base::StageTimer& timer) {
    if (auto lane = timer.measure("device_lock_wait", [&] { return lanes_.try_take(); })) {
      auto lease = std::make_unique<LaneLease>(lanes_, std::move(lane));
      send(*lease, witness, timer);
      const bool pinned = (*lease)->is_pinned();
      return {std::move(lease), outcome(pinned)};
    }
    std::unique_lock spare_lock(spare_mutex_, std::try_to_lock);
    if (spare_ != nullptr && spare_lock.owns_lock()) {
      timer.measure("prestage", [&] { site_->circuit.stage(witness, spare_->staging()); });
      spare_->upload();
      auto lease = await_lane(timer);
      (*lease)->upload_from(*spare_);
      return {std::move(lease), outcome(spare_->is_pinned())};
    }
    auto lease = await_lane(timer);
    send(*lease, witness, timer);
    return {std::move(lease), Prestage::kSkipVram};
  }

  // Constant after construction, in the order of construction.
  std::unique_ptr<Site> site_;
  Residency residency_;
  DeviceKey key_;
  base::cuda::DeviceBuffer<std::byte> quotient_tables_;
  Quotient quotient_;
  LanePlan plan_;
  LaneContext context_;
  std::size_t pinned_bytes_ = 0;

  std::mutex spare_mutex_;
  std::unique_ptr<SpareWitness> spare_;  // what it points to is guarded by spare_mutex_
  LanePool lanes_;                       // its own mutex
};

}  // namespace

std::unique_ptr<CudaProver> make_resident_prover(std::unique_ptr<Site> site,
                                                 const KeyLayout& layout,
                                                 const Residency& residency,
                                                 const MakeKey& make_key) {
  return std::make_unique<ResidentProver>(std::move(site), layout, residency, make_key);
}

}  // namespace cuzk::groth16::cuda
