#pragma once

#include "filecoin/sector.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace cuzk::filecoin {

/// The proof types of the network. The value of an enumerator is the number on the wire and on
/// chain.
/// [filecoin-proofs-api src/registry.rs; rust-fil-proofs storage-proofs-core/src/api_version.rs]

/// Version of the rules by which a graph, challenges and challenge indices are derived; printed as
/// "1.0.0" etc.
enum class ApiVersion : std::uint8_t { k1_0, k1_1, k1_2 };
std::string_view to_string(ApiVersion version);
/// Throws InvalidInput unless `text` is "1.0.0", "1.1.0" or "1.2.0".
ApiVersion parse_api_version(std::string_view text);

/// How the challenges of a PoRep come about; its circuit is the same.
enum class PorepFeature : std::uint8_t {
  kInteractive,    ///< from the chain's seed
  kSynthetic,      ///< selected by the seed from a set fixed by comm_r
  kNonInteractive  ///< from comm_r alone, in more partitions
};

enum class RegisteredSealProof : std::uint32_t {
  kStackedDrg2KiBV1 = 0,
  kStackedDrg8MiBV1 = 1,
  kStackedDrg512MiBV1 = 2,
  kStackedDrg32GiBV1 = 3,
  kStackedDrg64GiBV1 = 4,
  kStackedDrg2KiBV1_1 = 5,
  kStackedDrg8MiBV1_1 = 6,
  kStackedDrg512MiBV1_1 = 7,
  kStackedDrg32GiBV1_1 = 8,
  kStackedDrg64GiBV1_1 = 9,
  kStackedDrg2KiBV1_1_Synthetic = 10,
  kStackedDrg8MiBV1_1_Synthetic = 11,
  kStackedDrg512MiBV1_1_Synthetic = 12,
  kStackedDrg32GiBV1_1_Synthetic = 13,
  kStackedDrg64GiBV1_1_Synthetic = 14,
  kStackedDrg2KiBV1_2_NonInteractive = 15,
  kStackedDrg8MiBV1_2_NonInteractive = 16,
  kStackedDrg512MiBV1_2_NonInteractive = 17,
  kStackedDrg32GiBV1_2_NonInteractive = 18,
  kStackedDrg64GiBV1_2_NonInteractive = 19,
};

enum class RegisteredPoStProof : std::uint32_t {
  kStackedDrgWinning2KiBV1 = 0,
  kStackedDrgWinning8MiBV1 = 1,
  kStackedDrgWinning512MiBV1 = 2,
  kStackedDrgWinning32GiBV1 = 3,
  kStackedDrgWinning64GiBV1 = 4,
  kStackedDrgWindow2KiBV1 = 5,
  kStackedDrgWindow8MiBV1 = 6,
  kStackedDrgWindow512MiBV1 = 7,
  kStackedDrgWindow32GiBV1 = 8,
  kStackedDrgWindow64GiBV1 = 9,
  kStackedDrgWindow2KiBV1_2 = 10,
  kStackedDrgWindow8MiBV1_2 = 11,
  kStackedDrgWindow512MiBV1_2 = 12,
  kStackedDrgWindow32GiBV1_2 = 13,
  kStackedDrgWindow64GiBV1_2 = 14,
};

enum class RegisteredUpdateProof : std::uint32_t {
  kStackedDrg2KiBV1 = 0,
  kStackedDrg8MiBV1 = 1,
  kStackedDrg512MiBV1 = 2,
  kStackedDrg32GiBV1 = 3,
  kStackedDrg64GiBV1 = 4,
};

struct SealProofInfo {
  RegisteredSealProof proof;
  std::string name;  ///< as in C1 output: "StackedDrg2KiBV1_2_Feat_NonInteractivePoRep"
  SectorSize sector_size;
  ApiVersion api_version;
  PorepFeature feature;
  unsigned partitions;
  unsigned minimum_challenges;  ///< over all partitions; together they have at least so many
  std::string vanilla_key;  ///< the one key of "vanilla_proofs" in C1 output: the size's V1 name
};

struct PostProofInfo {
  RegisteredPoStProof proof;
  std::string name;  ///< "StackedDrgWinning32GiBV1", "StackedDrgWindow32GiBV1_2"
  SectorSize sector_size;
  ApiVersion api_version;
  bool winning;
};

struct UpdateProofInfo {
  RegisteredUpdateProof proof;
  std::string name;  ///< "StackedDrg32GiBV1"
  SectorSize sector_size;
};

/// All known proofs, in the order of their numbers, which start at 0 and have no gaps.
std::span<const SealProofInfo> all_seal_proofs();
std::span<const PostProofInfo> all_post_proofs();
std::span<const UpdateProofInfo> all_update_proofs();

/// Throws InvalidInput for a value that is none of the enumerators.
const SealProofInfo& info(RegisteredSealProof proof);
const PostProofInfo& info(RegisteredPoStProof proof);
const UpdateProofInfo& info(RegisteredUpdateProof proof);

/// From a number off the wire.
/// Throws InvalidInput that lists the known ones.
RegisteredSealProof seal_proof_from_number(std::uint64_t number);
RegisteredPoStProof post_proof_from_number(std::uint64_t number);
RegisteredUpdateProof update_proof_from_number(std::uint64_t number);

/// From a name.
/// Throws InvalidInput that lists the known ones. The Window PoSt of API 1.2 also goes by the name
/// that the Go packages give it, "...V1_1".
RegisteredSealProof seal_proof_from_name(std::string_view name);
RegisteredPoStProof post_proof_from_name(std::string_view name);
RegisteredUpdateProof update_proof_from_name(std::string_view name);

/// The one proof of that size and kind.
/// Throws InvalidInput for a size that has none (4 KiB, 16 KiB, 32 KiB, 16 MiB, 1 GiB), or if the
/// version has no such feature: synthetic and non-interactive are of 1.2, interactive is not.
RegisteredSealProof seal_proof(SectorSize size, ApiVersion version,
                               PorepFeature feature = PorepFeature::kInteractive);
RegisteredPoStProof winning_post_proof(SectorSize size);
/// `version` 1.0 or 1.2.
RegisteredPoStProof window_post_proof(SectorSize size, ApiVersion version = ApiVersion::k1_2);
RegisteredUpdateProof update_proof(SectorSize size);

}  // namespace cuzk::filecoin
