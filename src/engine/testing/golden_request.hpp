#pragma once

#include "base/bytes.hpp"
#include "engine/job.hpp"
#include "filecoin/registered_proof.hpp"
#include "filecoin/vanilla_file.hpp"
#include "support/golden.hpp"

#include <string>
#include <vector>

/// Requests as Curio sends them, from the golden sectors.
namespace cuzk::engine::testing {

inline base::Bytes hex_bytes(const nlohmann::json& value) {
  return base::from_hex(value.get<std::string>()).value();
}

/// `artefact`: "porep", "winning", "window", "window-multi" or "update" of a sector folder such as
/// "2KiB-v1_1".
inline JobRequest golden_request(const std::string& sector, const std::string& artefact) {
  const std::string folder = "sectors/" + sector + "/";
  const nlohmann::json meta = cuzk::testing::golden_json(folder + "meta.json");
  const std::uint64_t bytes = meta.at("sector_bytes").get<std::uint64_t>();
  const filecoin::SectorSize size(bytes);
  JobRequest out;
  out.miner_id = meta.at("miner_id").get<std::uint64_t>();
  out.sector_size = bytes;
  if (artefact == "porep") {
    out.kind = ProofKind::kPorep;
    out.request_id = "porep-1000-1";
    out.sector_number = meta.at("porep").at("sector_id").get<std::uint64_t>();
    out.vanilla_proof = cuzk::testing::golden_bytes(folder + "c1.wrapper.json");
    return out;
  }
  out.vanilla_proofs = filecoin::decode_vanilla_file(
      cuzk::testing::golden_bytes(folder + artefact + ".vanilla.json"));
  const nlohmann::json& values = meta.at(artefact);
  if (artefact == "update") {
    out.kind = ProofKind::kSnap;
    out.request_id = "snap-1000-1";
    out.sector_number = 1;
    out.registered_proof = static_cast<std::uint64_t>(filecoin::update_proof(size));
    out.comm_r_old = hex_bytes(values.at("comm_r_old"));
    out.comm_r_new = hex_bytes(values.at("comm_r_new"));
    out.comm_d_new = hex_bytes(values.at("comm_d_new"));
    return out;
  }
  out.randomness = hex_bytes(values.at("randomness"));
  if (artefact == "winning") {
    out.kind = ProofKind::kWinningPost;
    out.request_id = "winpost-1000-473f8934024ca565";
    out.registered_proof = static_cast<std::uint64_t>(filecoin::winning_post_proof(size));
  } else {
    out.kind = ProofKind::kWindowPost;
    out.request_id = "wdpost-1000-0-[190 222 38 125]";
    out.registered_proof = static_cast<std::uint64_t>(filecoin::window_post_proof(size));
  }
  return out;
}

/// Public inputs of an artefact's partitions, without ONE.
inline std::vector<std::vector<std::string>> golden_inputs(const std::string& sector,
                                                           const std::string& artefact) {
  const nlohmann::json json =
      cuzk::testing::golden_json("sectors/" + sector + "/" + artefact + ".inputs.json");
  const nlohmann::json& partitions = json.is_object() ? json.at("partitions") : json;
  std::vector<std::vector<std::string>> out;
  for (const auto& partition : partitions)
    out.push_back((partition.is_object() ? partition.at("inputs") : partition)
                      .get<std::vector<std::string>>());
  return out;
}

}  // namespace cuzk::engine::testing
