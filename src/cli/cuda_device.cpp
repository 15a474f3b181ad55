#ifdef CUZK_HAS_CUDA

#include "cli/cuda_device.hpp"

#include "base/cuda/device.hpp"
#include "base/cuda/device_control.hpp"
#include "base/cuda/error.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "engine/device_memory_plan.hpp"
#include "engine/key_files.hpp"
#include "filecoin/circuit/circuits.hpp"
#include "groth16/cuda/prover.hpp"
#include "groth16/setup.hpp"
#include "groth16/verifier.hpp"
#include "r1cs/shape_builder.hpp"
#include "r1cs/witness_builder.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace cuzk::cli {

namespace {

using engine::CircuitId;
using engine::DeviceFault;
using groth16::cuda::CudaOptions;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
/// Of a device's memory: left to the driver, and kept for a WinningPoSt circuit beside one that
/// nobody expected.
constexpr std::uint64_t kDriverShare = kGiB, kWinningShare = 2 * kGiB;
/// Proofs of one job that share a pass where a key is streamed, and of all jobs.
constexpr unsigned kPartitionsOfAJob = 10, kMostPartitionsAPass = 40;

/// What a device throws, as the engine's own exception.
template <class Work>
auto on_device(Work&& work) {
  try {
    return work();
  } catch (const base::cuda::DeviceLost& error) {
    throw DeviceFault(error.what(), DeviceFault::Kind::kLost);
  } catch (const base::cuda::DeviceError& error) {
    throw DeviceFault(error.what(), DeviceFault::Kind::kWork);
  } catch (const base::cuda::DeviceMemoryExhausted& error) {
    throw DeviceFault(error.what(), DeviceFault::Kind::kMemory);
  }
}

class PendingProof final : public groth16::Prover::Pending {
 public:
  explicit PendingProof(std::unique_ptr<groth16::Prover::Pending> pending)
      : pending_(std::move(pending)) {}
  groth16::Proof finish(const groth16::Blinding& blinding, base::StageTimer& timer) override {
    return on_device([&] { return pending_->finish(blinding, timer); });
  }

 private:
  std::unique_ptr<groth16::Prover::Pending> pending_;
};

/// Sizes that follow from the counts in a parameter file.
struct CircuitSizes {
  explicit CircuitSizes(const engine::ProvingDevice::Circuit& circuit) {
    const engine::CircuitId id{circuit.kind, circuit.size};
    const engine::KeyPaths paths(circuit.params_dir, id);
    const engine::KeyCounts counts =
        circuit.counts ? *circuit.counts : engine::peek_key_counts(paths.params);
    key = counts.file_bytes;
    rows = counts.h + 1;
    // A PoSt's witness is field elements, all others' are bits but for a few; a WindowPoSt's field
    // elements come into being on the device.
    fields = id.is_post();
    witness = fields && !filecoin::leaves_out_implied(circuit.kind) ? 32 * rows : rows;
  }

  std::uint64_t key, rows, witness;
  bool fields;
  /// Working memory of a proof, bytes: measured 135 (bits) and 279 (fields) a row.
  std::uint64_t lane() const { return rows * (fields ? 288 : 144); }
  /// With the circuit itself, short tables and room for rounding.
  engine::CircuitMemory memory(unsigned lanes, bool stays) const {
    return {.least = key + lane() + kGiB,
            .streamed = lane() + kGiB,
            .lanes = (lanes - 1) * lane(),
            .tables = key + 128 * rows,  // of groups, and full ones of the transforms
            .stays = stays};
  }
};

/// A circuit with its key on one device.
class CudaCircuit final : public engine::LoadedCircuit {
 public:
  CudaCircuit(const engine::ProvingDevice::Circuit& circuit, const std::string& quotient,
              const CudaOptions& options)
      : shape_(filecoin::build_shape(circuit.kind, circuit.size)) {
    const engine::OpenKey key = engine::open_key(
        engine::KeyPaths(circuit.params_dir, {circuit.kind, circuit.size}), shape_, quotient);
    CudaOptions own = options;
    own.complete_witnesses = filecoin::leaves_out_implied(circuit.kind);
    prover_ = groth16::cuda::load_cuda_prover(shape_, key.layout, key.file,
                                              key.derived ? &*key.derived : nullptr, own);
  }

  const r1cs::Shape& shape() const override { return shape_; }
  const groth16::VerifyingKey& verifying_key() const override { return prover_->verifying_key(); }
  std::uint64_t host_bytes() const override { return pinned_bytes() + kGiB / 2; }
  std::uint64_t device_bytes() const override { return prover_->device_bytes(); }
  std::uint64_t pinned_bytes() const override { return prover_->pinned_bytes(); }
  std::unique_ptr<groth16::Prover::Pending> start(const r1cs::Witness& witness,
                                                  base::StageTimer& timer) override {
    return start_for({}, witness, timer).pending;
  }
  Started start_for(const groth16::Ticket& ticket, const r1cs::Witness& witness,
                    base::StageTimer& timer) override {
    return on_device([&]() -> Started {
      auto started = prover_->start_for(ticket, witness, timer);
      return {std::make_unique<PendingProof>(std::move(started.pending)), started.prestage};
    });
  }

 private:
  r1cs::Shape shape_;
  std::unique_ptr<groth16::cuda::CudaProver> prover_;
};

/// x^(2^64) = y beside 64 bits: both kinds of variables, all queries.
template <class CS>
void self_test_circuit(CS& cs) {
  curve::Fr value = curve::Fr::from_u64(3);
  auto last = cs.alloc_input(r1cs::known<CS>([&] { return value; }));
  for (unsigned i = 0; i < 64; ++i) {
    const auto bit = cs.alloc_bit(r1cs::known<CS>([&] { return i % 3 == 0; }));
    cs.enforce(
        "boolean", [&](auto& lc) { lc.add(r1cs::Variable::one()).sub(bit); },
        [&](auto& lc) { lc.add(bit); }, [](auto&) {});
    value = value.square();
    const auto square = cs.alloc_aux(r1cs::known<CS>([&] { return value; }));
    cs.enforce(
        "square", [&](auto& lc) { lc.add(last); }, [&](auto& lc) { lc.add(last); },
        [&](auto& lc) { lc.add(square); });
    last = square;
  }
}

class CudaDevice final : public engine::ProvingDevice {
 public:
  CudaDevice(const base::cuda::DeviceInfo& device, const engine::Config& config)
      : device_(device.ordinal),
        lanes_(std::max(config.gpus.gpu_workers_per_device, 1U)),
        switches_(config.pipeline),
        jobs_a_pass_(std::max(config.scheduler.max_batch_size, 1U)),
        pass_wait_(config.scheduler.max_batch_wait_ms) {
    info_ = {.name = "cuda:" + std::to_string(device.ordinal),
             .product = device.name,
             .uuid = device.uuid,
             .ordinal = static_cast<std::uint32_t>(device.ordinal),
             .is_cpu = false};
    const std::uint64_t free = device_.free_bytes();
    memory_ = free - std::min(free, kDriverShare);
    const auto& budget = config.gpus.vram_budget.bytes;
    if (budget) memory_ = std::min(memory_, *budget);
    if (switches_.interlock == engine::Interlock::kSingle)
      turn_ = std::make_shared<groth16::cuda::DeviceTurn>();
  }

  const Info& info() const override { return info_; }
  std::uint64_t memory_total() const override { return memory_; }
  std::uint64_t memory_free() const noexcept override {
    try {
      const std::unique_lock lock(reset_mutex_, std::try_to_lock);
      return lock ? device_.free_bytes() : 0;
    } catch (const std::exception&) {
      return 0;  // lost: its next proof says so
    }
  }
  // A streamed key wants as many proofs at once as may share a pass; those of other keys wait their
  // turn in the prover. All who share a pass end with it, seconds later: one more for PoSt.
  unsigned workers() const override { return bulk_workers() + (may_stream() ? 1 : 0); }
  unsigned bulk_workers() const override {
    return may_stream() ? std::max(lanes_, partitions_a_pass()) : lanes_;
  }

  // What a circuit has been given stays as it is: its key may be loaded.
  void expect(std::span<const Circuit> circuits, std::span<const Circuit> stays) override {
    std::vector<CircuitId> ids;
    std::vector<engine::CircuitMemory> wants;
    for (const Circuit& circuit : circuits) {
      const bool is_kept = std::ranges::any_of(
          stays, [&](const Circuit& other) { return id_of(other) == id_of(circuit); });
      try {
        wants.push_back(CircuitSizes(circuit).memory(lanes_, is_kept));
        ids.push_back(id_of(circuit));
      } catch (const std::exception&) {
        continue;  // said when the circuit is wanted
      }
    }
    const std::vector<std::uint64_t> shares = engine::share_device_memory(memory_, wants);
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      shares_.emplace(ids[i], shares[i]);
      base::process_log().debug({.device = info_.name}, "{}: {:.1f} of {:.1f} GiB",
                                ids[i].to_string(), gibibytes(shares[i]), gibibytes(memory_));
    }
  }

  Needs needs(const Circuit& circuit) const override {
    const CircuitSizes sizes(circuit);
    const std::uint64_t share = share_of(circuit, sizes);
    const bool fits = sizes.memory(lanes_, false).least <= share;
    const unsigned flying = fits ? lanes_ : partitions_a_pass();
    return {.host_key = kGiB + (fits ? 0 : sizes.key) + flying * sizes.witness,
            .host_partition = sizes.witness,
            .device = share};
  }

  std::unique_ptr<engine::LoadedCircuit> load(const Circuit& circuit) override {
    const std::uint64_t budget = share_of(circuit, CircuitSizes(circuit));
    return on_device([&] {
      return std::make_unique<CudaCircuit>(circuit, switches_.quotient, options(budget));
    });
  }

  void self_test() override {
    on_device([&] {
      r1cs::ShapeBuilder builder;
      self_test_circuit<r1cs::SymbolicSystem>(builder);
      const r1cs::Shape shape = builder.finish();
      r1cs::WitnessBuilder values(shape);
      self_test_circuit(values);
      const r1cs::Witness witness = values.finish();
      const groth16::KeyLayout layout(shape, groth16::QuotientForm::kDerivative);
      CudaOptions small;
      small.ordinal = device_.info().ordinal;
      small.vram_budget = kGiB / 2;
      small.lanes = 1;
      small.warm_up = false;
      const auto prover = groth16::cuda::make_development_cuda_prover(
          shape, layout, groth16::Trapdoor::from_seed(1), small);
      base::StageTimer timer;
      const groth16::Proof proof = prover->prove(witness, groth16::Blinding::random(), timer);
      const groth16::Verifier verifier(prover->verifying_key());
      const std::vector<curve::Fr> right = {curve::Fr::from_u64(3)}, wrong = {curve::Fr::one()};
      if (!verifier.verify(proof, right) || verifier.verify(proof, wrong))
        throw DeviceFault("the proof of the test circuit does not verify",
                          DeviceFault::Kind::kWork);
    });
  }

  void reset() override {
    const std::lock_guard lock(reset_mutex_);
    on_device([&] { base::cuda::reset_device(device_.info().ordinal); });
  }

 private:
  static CircuitId id_of(const Circuit& circuit) { return {circuit.kind, circuit.size}; }
  static double gibibytes(std::uint64_t bytes) {
    return static_cast<double>(bytes) / static_cast<double>(kGiB);
  }

  CudaOptions options(std::uint64_t budget) const {
    return {.ordinal = device_.info().ordinal,
            .lanes = lanes_,
            .vram_budget = budget,
            .window_bits = switches_.window_bits,
            .prestage = switches_.prestage,
            .pinned_uploads = switches_.pinned_uploads,
            .turn = turn_,
            .partitions_a_pass = partitions_a_pass(),
            .jobs_a_pass = jobs_a_pass_,
            .pass_wait = pass_wait_};
  }
  bool may_stream() const { return memory_ < 64 * kGiB; }
  unsigned partitions_a_pass() const {
    return std::min(jobs_a_pass_, kMostPartitionsAPass / kPartitionsOfAJob) * kPartitionsOfAJob;
  }
  /// Of the device's memory. A circuit whose files came later has what it can use, beside one of
  /// WinningPoSt.
  std::uint64_t share_of(const Circuit& circuit, const CircuitSizes& sizes) const {
    const std::lock_guard lock(mutex_);
    const auto found = shares_.find(id_of(circuit));
    if (found != shares_.end()) return found->second;
    const std::uint64_t most = memory_ - std::min(memory_ / 4, kWinningShare);
    const engine::CircuitMemory wants = sizes.memory(lanes_, false);
    return std::max(std::min(wants.all(), most), wants.streamed);
  }

  Info info_;
  base::cuda::Device device_;
  unsigned lanes_;
  engine::Config::Pipeline switches_;
  unsigned jobs_a_pass_;
  std::chrono::milliseconds pass_wait_;
  std::shared_ptr<groth16::cuda::DeviceTurn> turn_;
  std::uint64_t memory_ = 0;

  mutable std::mutex reset_mutex_;  ///< held while nothing may be asked of the device
  mutable std::mutex mutex_;
  std::map<CircuitId, std::uint64_t> shares_;  // guarded by mutex_
};

}  // namespace

std::vector<std::unique_ptr<engine::ProvingDevice>> make_cuda_devices(
    const engine::Config& config) {
  std::vector<std::unique_ptr<engine::ProvingDevice>> out;
  const std::vector<base::cuda::DeviceInfo> devices = base::cuda::list_devices();
  if (config.gpus.devices.empty()) {
    std::exception_ptr fault;
    for (const auto& device : devices) {
      try {
        out.push_back(std::make_unique<CudaDevice>(device, config));
      } catch (const base::cuda::DeviceError& error) {
        fault = std::current_exception();
        base::process_log().error(
            {.device = "cuda:" + std::to_string(device.ordinal), .code = "GPU-BAD"},
            "{} cannot be used: {}. The others are; name them in gpus.devices to leave it out",
            device.name, error.what());
      }
    }
    if (out.empty() && fault != nullptr) std::rethrow_exception(fault);
    return out;
  }
  for (const std::string& name : config.gpus.devices) {
    const auto found = std::ranges::find_if(devices, [&](const auto& device) {
      return name == std::to_string(device.ordinal) || name == device.uuid;
    });
    base::require(found != devices.end(),
                  "NO-GPU: gpus.devices names {}, but this machine has {} CUDA devices and none of "
                  "that number or UUID (nvidia-smi -L lists them)",
                  name, devices.size());
    out.push_back(std::make_unique<CudaDevice>(*found, config));
  }
  return out;
}

}  // namespace cuzk::cli

#endif
