#pragma once

#include "base/bytes.hpp"
#include "engine/proof_request.hpp"
#include "filecoin/meta.hpp"
#include "filecoin/parameter_files.hpp"

#include <optional>
#include <string_view>

namespace cuzk::cli {

/// The kinds of proof as the command line names them.
enum class ProofKind { kPorep, kWinningPost, kWindowPost, kSnap };
/// "porep", "winning-post", "window-post", "snap". Throws InvalidInput that lists them.
ProofKind parse_proof_kind(std::string_view name);
std::string_view to_string(ProofKind kind);
filecoin::CircuitKind circuit_of(ProofKind kind);

using engine::ProofRequest;
using engine::Statement;

/// From public values alone. `section` picks among the PoSts of a meta file ("window", "winning"
/// where empty). Throws InvalidInput that names what the meta file lacks.
Statement make_statement(ProofKind kind, const filecoin::Meta& meta, std::string_view section = {});

/// From a C1 output, bare or in its envelope. `size` where another source states it: a bare one of
/// a stand-in does not say it.
ProofRequest porep_request(std::string_view c1_json,
                           std::optional<filecoin::SectorSize> size = std::nullopt);

/// From a file of PoSt or update vanilla proofs and the public values.
ProofRequest vanilla_request(ProofKind kind, base::ByteView vanilla_file,
                             const filecoin::Meta& meta, std::string_view section = {});

}  // namespace cuzk::cli
