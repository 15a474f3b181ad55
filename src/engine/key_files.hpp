#pragma once

#include "engine/circuit_id.hpp"
#include "groth16/derived_key.hpp"
#include "groth16/key_file.hpp"
#include "groth16/proving_key.hpp"
#include "groth16/variables.hpp"
#include "r1cs/shape.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

/// The files of a parameter folder, by circuit.
namespace cuzk::engine {

/// Paths of one circuit's files in a parameter folder.
struct KeyPaths {
  KeyPaths(const std::filesystem::path& folder, const CircuitId& circuit);

  std::filesystem::path params, verifying_key, derived;
  /// Its presence marks a key that `cuzk setup` made.
  std::filesystem::path development_marker;
};

/// False also where a folder on the way may not be looked into.
bool is_there(const std::filesystem::path& path);

/// Where a key comes from, as far as its digest tells.
enum class KeyOrigin { kNetwork, kDevelopment, kUnpublished, kForeign };
/// kNetwork: `digest` is the published one; kDevelopment: it is not, and the marker is there;
/// kUnpublished: nothing is published for the circuit; kForeign: otherwise.
KeyOrigin key_origin(const KeyPaths& paths, const std::optional<std::string_view>& published,
                     std::string_view digest);
std::string_view describe(KeyOrigin origin);

/// Reads all of a circuit's files that are there: the key's structure, every point with its
/// subgroup, the digests, and that they belong together (thoroughly once for each version, see
/// groth16/key_check.hpp). Empty within a second or so once `stop` is requested. Throws
/// CorruptData, also for a foreign key unless `trust` is set.
std::optional<KeyOrigin> inspect_key_files(const KeyPaths& paths, const CircuitId& circuit,
                                           bool trust, const std::stop_token& stop);

/// A circuit's key files, open, with what they are read by.
struct OpenKey {
  groth16::KeyLayout layout;
  groth16::KeyFile file;
  std::optional<groth16::DerivedKeyFile> derived;
};
/// `quotient`: "textbook", "derivative", or "auto": the derivative form where its file is there.
/// Throws InvalidInput if a file is missing, CorruptData if one is not the circuit's.
OpenKey open_key(const KeyPaths& paths, const r1cs::Shape& shape,
                 std::string_view quotient = "auto");
/// Of a circuit whose `quotient` must be the derivative one and whose file for that is missing:
/// what is missing, and what to do. Else empty.
std::string missing_derivative(const KeyPaths& paths, const CircuitId& circuit,
                               std::string_view quotient);
/// Of a circuit that could be proved in the derivative form if its file were there: what is
/// missing, what that costs, and what to do. Else empty.
std::string slower_without_derivative(const KeyPaths& paths, const CircuitId& circuit,
                                      std::string_view quotient);

/// Rows of the circuit's domain and inputs with ONE, from the first bytes of its parameter file.
/// Throws InvalidInput if the file is missing, CorruptData if it is too short.
struct KeyCounts {
  std::uint64_t inputs, h, file_bytes;
};
KeyCounts peek_key_counts(const std::filesystem::path& params);
/// What the parameter file of a circuit of this shape has, without the file.
KeyCounts key_counts_of(const r1cs::Shape& shape);

}  // namespace cuzk::engine
