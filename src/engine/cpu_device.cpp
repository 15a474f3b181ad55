#include "base/error.hpp"
#include "engine/budget.hpp"
#include "engine/key_files.hpp"
#include "engine/proving_device.hpp"
#include "filecoin/circuit/circuits.hpp"
#include "groth16/prover.hpp"
#include "groth16/verifier.hpp"
#include "r1cs/shape_builder.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace cuzk::engine {

namespace {

/// A key in the process's memory, used by the CPU backend.
class CpuCircuit final : public LoadedCircuit {
 public:
  CpuCircuit(const ProvingDevice::Circuit& circuit, const Config::Pipeline& switches)
      : shape_(filecoin::build_shape(circuit.kind, circuit.size)) {
    OpenKey key = open_key(KeyPaths(circuit.params_dir, {circuit.kind, circuit.size}), shape_,
                           switches.quotient);
    bytes_ = key.file.file().bytes().size();
    key_ = key.derived ? groth16::load_proving_key(key.file, *key.derived, key.layout)
                       : groth16::load_proving_key(key.file, key.layout);
    layout_.emplace(std::move(key.layout));
    prover_ = groth16::make_cpu_prover({shape_, *layout_, key_}, switches.window_bits);
  }

  const r1cs::Shape& shape() const override { return shape_; }
  const groth16::VerifyingKey& verifying_key() const override { return key_.verifying_key; }
  std::uint64_t host_bytes() const override { return bytes_; }
  std::uint64_t device_bytes() const override { return 0; }
  std::unique_ptr<groth16::Prover::Pending> start(const r1cs::Witness& witness,
                                                  base::StageTimer& timer) override {
    return prover_->start(witness, timer);
  }

 private:
  r1cs::Shape shape_;
  std::optional<groth16::KeyLayout> layout_;
  groth16::ProvingKey key_;
  std::unique_ptr<groth16::Prover> prover_;
  std::uint64_t bytes_ = 0;
};

class CpuDevice final : public ProvingDevice {
 public:
  CpuDevice(Config::Pipeline switches, unsigned workers)
      : switches_(std::move(switches)), workers_(std::max(workers, 1U)) {
    info_ = {.name = "cpu", .product = "CPU", .uuid = {}, .ordinal = 0, .is_cpu = true};
  }

  const Info& info() const override { return info_; }
  std::uint64_t memory_total() const override { return 0; }
  std::uint64_t memory_free() const noexcept override { return 0; }
  unsigned workers() const override { return workers_; }

  // In memory a key has the bytes of its file: uncompressed points. A proof has three vectors over
  // the domain (a, b, c in the textbook form) of 32 bytes an element, and half as much again for
  // witness, buckets and digits.
  Needs needs(const Circuit& circuit) const override {
    const KeyPaths paths(circuit.params_dir, {circuit.kind, circuit.size});
    const KeyCounts counts = circuit.counts ? *circuit.counts : peek_key_counts(paths.params);
    const std::uint64_t domain = counts.h + 1;
    return {.host_key = counts.file_bytes, .host_partition = domain * 32 * 9 / 2, .device = 0};
  }

  std::unique_ptr<LoadedCircuit> load(const Circuit& circuit) override {
    return std::make_unique<CpuCircuit>(circuit, switches_);
  }

  // A machine whose arithmetic were wrong would fail the verification of its proofs; there is no
  // driver or board to be tried apart from it.
  void self_test() override {}
  void reset() override {}

 private:
  Info info_;
  Config::Pipeline switches_;
  unsigned workers_;
};

}  // namespace

std::unique_ptr<ProvingDevice> make_cpu_device(const Config::Pipeline& switches, unsigned workers) {
  return std::make_unique<CpuDevice>(switches, workers);
}

}  // namespace cuzk::engine
