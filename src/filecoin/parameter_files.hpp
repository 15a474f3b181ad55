#pragma once

#include "filecoin/sector.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace cuzk::filecoin {

/// The circuits for which there are keys. Synthetic and non-interactive PoReps use the interactive
/// one's.
enum class CircuitKind { kPorep, kWinningPost, kWindowPost, kUpdate, kUpdatePoseidon };

const std::array<CircuitKind, 5>& all_circuit_kinds();
/// "porep", "winning-post", "window-post", "update", "update-poseidon".
std::string_view to_string(CircuitKind kind);
/// From such a name, or "winning" or "window".
/// Throws InvalidInput that lists the known ones.
CircuitKind parse_circuit_kind(std::string_view name);

/// Whether the protocol has that circuit: all but the two updates for 1 GiB.
bool circuit_exists(CircuitKind kind, SectorSize size);

/// Names of key files: "v28-" + cache id + ".params" or ".vk", where the cache id is a readable
/// prefix with the tree's shape and, last, the SHA-256 in hex of a text that describes the
/// circuit's public parameters, the identifier.
/// [rust-fil-proofs storage-proofs-core/src/parameter_cache.rs; identifier() of each circuit's
///  PublicParams]
/// All throw InvalidInput for a circuit that does not exist.
std::string parameter_identifier(CircuitKind kind, SectorSize size);
std::string cache_id(CircuitKind kind, SectorSize size);
std::string params_file_name(CircuitKind kind, SectorSize size);
std::string vk_file_name(CircuitKind kind, SectorSize size);

/// The first 16 bytes, in hex, of the BLAKE2b-512 of the network's files.
/// [rust-fil-proofs parameters.json]
struct PublishedDigests {
  std::string_view params;
  std::string_view vk;
};

/// Empty where nothing is published: other sizes than 2 KiB, 8 MiB, 512 MiB, 32 GiB and 64 GiB, and
/// the Poseidon update below 32 GiB.
std::optional<PublishedDigests> published_digests(CircuitKind kind, SectorSize size);

}  // namespace cuzk::filecoin
