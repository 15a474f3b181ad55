#include "base/cuda/buffer.hpp"
#include "base/error.hpp"
#include "groth16/cuda/lane.hpp"
#include "groth16/cuda/site.hpp"

#include <condition_variable>
#include <mutex>
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
  explicit LaneLease(LanePool& pool) : pool_(pool), lane_(pool.take()) {}
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
  ResidentPending(const LaneContext& context, std::unique_ptr<LaneLease> lease)
      : context_(context), lease_(std::move(lease)) {}

  Proof finish(const Blinding& blinding, base::StageTimer& timer) override {
    base::require(lease_ != nullptr, "a proof is finished once");
    const std::unique_ptr<LaneLease> lease = std::move(lease_);
    context_.device.make_current();
    (*lease)->wait();
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
      auto lane = std::make_unique<Lane>(context_);
      if (i == 0 && site_->options.warm_up) {
        lane->stage(made_up_witness(layout));
        lane->enqueue();
        lane->wait();
      }
      lanes_.add(std::move(lane));
    }
  }

  const VerifyingKey& verifying_key() const override { return key_.verifying_key(); }

  std::unique_ptr<Pending> start(const r1cs::Witness& witness, base::StageTimer& timer) override {
    site_->device.make_current();
    auto lease =
        timer.measure("device_lock_wait", [&] { return std::make_unique<LaneLease>(lanes_); });
    timer.measure("prestage", [&] { (*lease)->stage(witness); });
    (*lease)->enqueue();
    return std::make_unique<ResidentPending>(context_, std::move(lease));
  }

  unsigned proofs_in_flight() const override { return residency_.lanes; }
  std::size_t device_bytes() const override { return residency_.total(); }
  std::size_t pinned_bytes() const override {
    return residency_.lanes * site_->circuit.witness_layout().bytes;
  }
  std::string describe() const override { return residency_.describe(); }

 private:
  LaneRequest planned_request(const KeyLayout& layout) const {
    LaneRequest request = site_->lane_request(layout, residency_.overlap);
    request.tables = residency_.tables;
    return request;
  }

  // Constant after construction, in the order of construction.
  std::unique_ptr<Site> site_;
  Residency residency_;
  DeviceKey key_;
  base::cuda::DeviceBuffer<std::byte> quotient_tables_;
  Quotient quotient_;
  LanePlan plan_;
  LaneContext context_;
  LanePool lanes_;  // its own mutex
};

}  // namespace

std::unique_ptr<CudaProver> make_resident_prover(std::unique_ptr<Site> site,
                                                 const KeyLayout& layout,
                                                 const Residency& residency,
                                                 const MakeKey& make_key) {
  return std::make_unique<ResidentProver>(std::move(site), layout, residency, make_key);
}

}  // namespace cuzk::groth16::cuda
