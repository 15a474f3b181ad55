#pragma once

#include "filecoin/parameter_files.hpp"
#include "groth16/derived_key.hpp"
#include "groth16/key_check.hpp"
#include "groth16/key_file.hpp"
#include "groth16/proving_key.hpp"
#include "groth16/variables.hpp"
#include "r1cs/shape.hpp"

#include <filesystem>
#include <optional>
#include <string>

/// The files of a parameter folder, by circuit.
namespace cuzk::cli {

/// Paths of one circuit's files in a parameter folder.
struct KeyPaths {
  KeyPaths(const std::filesystem::path& folder, filecoin::CircuitKind circuit,
           filecoin::SectorSize size);

  std::filesystem::path params, verifying_key, derived;
  /// Its presence marks a key that `cuzk setup` made.
  std::filesystem::path development_marker;
};

/// Which quotient a proof is to use. kAuto: derivative where the derived key file is there.
enum class QuotientChoice { kAuto, kTextbook, kDerivative };
/// "auto", "textbook", "derivative"; throws InvalidInput.
QuotientChoice parse_quotient(std::string_view text);

/// A circuit's key files, checked and ready to be read.
struct OpenKey {
  groth16::KeyLayout layout;
  groth16::KeyFile file;
  std::optional<groth16::DerivedKeyFile> derived;  ///< in the derivative form
};

/// Opens a circuit's parameter file, checks it (thoroughly once for each version, see
/// key_check.hpp), and says on standard error if it is not the network's. Throws InvalidInput if a
/// file is missing, CorruptData if one is damaged.
OpenKey open_key(const KeyPaths& paths, filecoin::CircuitKind circuit, filecoin::SectorSize size,
                 const r1cs::Shape& shape, QuotientChoice quotient);

struct LoadedKey {
  groth16::KeyLayout layout;
  groth16::ProvingKey key;
};

/// open_key(), and the points into memory.
LoadedKey load_key(const KeyPaths& paths, filecoin::CircuitKind circuit, filecoin::SectorSize size,
                   const r1cs::Shape& shape, QuotientChoice quotient);

/// The verifying key from its own file or else from the parameter file. Says on standard error if
/// it is not the network's, or if that was not checked.
groth16::VerifyingKey load_verifying_key(const KeyPaths& paths, filecoin::CircuitKind circuit,
                                         filecoin::SectorSize size);

/// Where a key comes from, as far as its digest tells.
enum class KeyOrigin { kNetwork, kDevelopment, kUnpublished, kForeign };
/// kNetwork: `digest` is the published one; kDevelopment: it is not, and the marker is there;
/// kUnpublished: nothing is published for the circuit; kForeign: otherwise.
KeyOrigin key_origin(const KeyPaths& paths, const std::optional<std::string_view>& published,
                     std::string_view digest);
std::string_view describe(KeyOrigin origin);

}  // namespace cuzk::cli
