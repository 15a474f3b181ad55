#pragma once

#include "curve/fr.hpp"
#include "engine/circuit_id.hpp"
#include "engine/job.hpp"
#include "engine/preparation.hpp"
#include "filecoin/meta.hpp"
#include "filecoin/sector.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What `cuzk bench batch`, `stress` and `ab` share: jobs to send, where to send them, and what
/// came of it.
namespace cuzk::cli::load {

/// A job to be proved, and what its proof must be of.
struct Payload {
  engine::JobRequest request;  ///< without an id
  engine::CircuitId circuit;
  std::vector<std::vector<curve::Fr>> public_inputs;  ///< of each partition

  std::uint64_t bytes() const;
};

/// "porep", "winning-post", "window-post", "snap". Throws base::InvalidInput that lists them.
engine::ProofKind parse_kind(std::string_view name);
std::string_view kind_name(engine::ProofKind kind);

/// The request that Curio would send for a vanilla proof in its file format (C1 JSON, or base64
/// strings or a blob) and its public values. For a PoRep the public values may be missing: then
/// miner and sector number are left to the C1 output, as they are where the prover id is no
/// miner's, and the registered proof where it is of another size (a stand-in). `section` picks
/// among the PoSts of the public values ("window", "winning" where empty). Throws
/// base::InvalidInput that names what is missing.
engine::JobRequest to_request(engine::ProofKind kind, base::ByteView vanilla,
                              const std::optional<filecoin::Meta>& meta,
                              std::string_view section = {});

/// Decodes the request. Throws what `preparation` throws if it is unfit.
Payload make_payload(engine::JobRequest request, engine::Preparation& preparation);

/// Vanilla proofs of sectors that do not exist.
struct SyntheticPlan {
  engine::ProofKind kind;
  filecoin::SectorSize size;
  std::optional<std::size_t> sectors;  ///< window-post; empty: a full partition
};
/// Another one for every seed.
Payload synthetic_payload(const SyntheticPlan& plan, std::uint64_t seed,
                          engine::Preparation& preparation);

}  // namespace cuzk::cli::load
