#pragma once

#include "cli/key_store.hpp"
#include "groth16/derivation.hpp"
#include "groth16/ops/domain.hpp"
#include "groth16/prover.hpp"
#include "groth16/setup.hpp"

#include <CLI/CLI.hpp>

#include <cstddef>
#include <memory>
#include <string>

/// The choice between the backends that this build has.
namespace cuzk::cli {

struct BackendOptions {
  std::string backend =
      "auto";  ///< auto, cpu or cuda; auto: cuda where built in and a device is there
  std::string quotient = "auto";
  // Of cuda alone.
  int device = 0;
  unsigned lanes = 2;
  std::size_t vram_budget = 0;  ///< bytes; 0: what is free
  bool no_group_tables = false, no_overlap = false;
  unsigned partitions_a_pass = 10;  ///< where the key is streamed

  /// For a proof of `count` partitions: a pass does not wait for more.
  BackendOptions for_partitions(std::size_t count) const;
};

/// Adds the options above to a command.
void add_backend_options(CLI::App& command, BackendOptions& options);
/// Only --backend and --device.
void add_device_options(CLI::App& command, BackendOptions& options);

/// "cpu" or "cuda". Throws InvalidInput for an unknown backend, or for one that is not built in.
std::string_view chosen_backend(const BackendOptions& options);

/// A prover that owns its key. `shape` must outlive it.
struct LoadedProver {
  std::unique_ptr<groth16::Prover> prover;
  unsigned lanes = 1;       ///< proofs in flight that make sense
  std::string description;  ///< what it keeps in device memory; empty for the CPU
  std::size_t device_bytes = 0;
};

/// With a circuit's key from its files.
LoadedProver load_prover(const KeyPaths& paths, filecoin::CircuitKind circuit,
                         filecoin::SectorSize size, const r1cs::Shape& shape,
                         const BackendOptions& options);

/// With a development key that is kept nowhere.
LoadedProver make_development_prover(filecoin::CircuitKind circuit, const r1cs::Shape& shape,
                                     const groth16::Trapdoor& trapdoor,
                                     const BackendOptions& options);

/// groth16::write_keys() on the chosen backend: the same bytes, on a device in seconds.
void write_development_keys(const r1cs::Shape& shape, const groth16::Trapdoor& trapdoor,
                            const groth16::SetupFiles& files, const BackendOptions& options);

/// What derive_key() works with, on the chosen backend. Used by the thread that made it.
std::unique_ptr<groth16::PointTransforms> make_point_transforms(const groth16::Domain& domain,
                                                                const BackendOptions& options);

}  // namespace cuzk::cli
