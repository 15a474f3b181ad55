#pragma once

#include "engine/config.hpp"
#include "engine/job.hpp"
#include "engine/key_files.hpp"
#include "filecoin/parameter_files.hpp"
#include "filecoin/sector.hpp"
#include "groth16/prover.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

namespace cuzk::engine {

/// A circuit whose key a device holds ready. Destroying it gives the memory back.
class LoadedCircuit {
 public:
  virtual ~LoadedCircuit() = default;
  virtual const r1cs::Shape& shape() const = 0;
  virtual const groth16::VerifyingKey& verifying_key() const = 0;
  virtual std::uint64_t host_bytes() const = 0;
  virtual std::uint64_t device_bytes() const = 0;
  /// Of host_bytes(), what is locked in memory for transfers.
  virtual std::uint64_t pinned_bytes() const { return 0; }
  /// Starts a partition on the device; at most workers() may be pending. Throws base::* errors; a
  /// device's own failure as DeviceFault.
  virtual std::unique_ptr<groth16::Prover::Pending> start(const r1cs::Witness& witness,
                                                          base::StageTimer& timer) = 0;
  struct Started {
    std::unique_ptr<groth16::Prover::Pending> pending;
    groth16::Prestage prestage = groth16::Prestage::kOff;
  };
  /// As start(), for a device that lets proofs of several jobs share work.
  virtual Started start_for(const groth16::Ticket& ticket, const r1cs::Witness& witness,
                            base::StageTimer& timer) {
    static_cast<void>(ticket);
    return {start(witness, timer)};
  }
};

/// The device itself failed, not the input: the partition may be tried elsewhere.
class DeviceFault : public std::runtime_error {
 public:
  enum class Kind : std::uint8_t {
    kWork,    ///< a piece of work failed; the device may do the next one
    kMemory,  ///< the device's memory is exhausted
    kLost     ///< nothing works on it in this process any more; it may in another one
  };
  DeviceFault(const std::string& text, Kind kind) : std::runtime_error(text), kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

/// Where partitions are proved: one GPU, or the CPU. One owner; any thread may call.
class ProvingDevice {
 public:
  struct Info {
    std::string name;     ///< "cuda:0", "cpu"
    std::string product;  ///< "NVIDIA H200"
    std::string uuid;
    std::uint32_t ordinal = 0;
    bool is_cpu = false;
  };
  struct Circuit {
    filecoin::CircuitKind kind;
    filecoin::SectorSize size;
    std::filesystem::path params_dir;
    std::optional<KeyCounts> counts = {};  ///< of its parameter file; empty: asked of the file
  };
  /// Memory that a circuit needs, from its shape, before anything is loaded.
  struct Needs {
    std::uint64_t host_key = 0, host_partition = 0, device = 0;
  };

  virtual ~ProvingDevice() = default;
  virtual const Info& info() const = 0;
  virtual std::uint64_t memory_total() const = 0;
  /// 0 where that cannot be told. May be asked at any time, of a device that failed too.
  virtual std::uint64_t memory_free() const noexcept = 0;
  /// Partitions in flight at once.
  virtual unsigned workers() const = 0;
  /// Of these, those for jobs of any kind; the others are for PoSt, where a worker is taken for
  /// longer than a partition's time.
  virtual unsigned bulk_workers() const { return workers(); }
  /// The circuits that are to be expected, the most important first; called before any needs(), so
  /// that the device can share its memory among them. Those whose keys are in `stays` are never
  /// dropped for others.
  virtual void expect(std::span<const Circuit> circuits, std::span<const Circuit> stays) {
    static_cast<void>(circuits);
    static_cast<void>(stays);
  }
  virtual Needs needs(const Circuit& circuit) const = 0;
  virtual std::unique_ptr<LoadedCircuit> load(const Circuit& circuit) = 0;
  /// Proves a small circuit with a known answer; throws DeviceFault if it comes out wrong.
  virtual void self_test() = 0;
  /// Brings the device back to a fresh state after a fault. All LoadedCircuits must be gone. Throws
  /// DeviceFault; a device that is lost stays so.
  virtual void reset() = 0;
};

/// The CPU backend, all of this process's threads. Needs no driver. Of the switches, `quotient` and
/// `window_bits` are meant for it.
std::unique_ptr<ProvingDevice> make_cpu_device(const Config::Pipeline& switches = {},
                                               unsigned workers = 1);

}  // namespace cuzk::engine
