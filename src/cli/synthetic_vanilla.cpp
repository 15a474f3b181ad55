#include "cli/synthetic_vanilla.hpp"

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "filecoin/ids.hpp"
#include "filecoin/post/vanilla_codec.hpp"
#include "filecoin/synthetic/porep.hpp"
#include "filecoin/synthetic/post.hpp"
#include "filecoin/synthetic/update.hpp"
#include "filecoin/update/vanilla_codec.hpp"
#include "filecoin/vanilla_file.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace cuzk::cli {

using filecoin::SectorSize;
using nlohmann::json;

namespace {

/// A vanilla proof in its file format, and the kind's part of the meta file.
struct Generated {
  std::string proof;
  const char* meta_key;
  json meta;
};

filecoin::RegisteredSealProof parse_seal_proof(const std::string& text) {
  const bool is_number = !text.empty() && text.size() <= 9 &&
                         text.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? filecoin::seal_proof_from_number(std::stoul(text))
                   : filecoin::seal_proof_from_name(text);
}

Generated generate_porep(const SyntheticOptions& options, SectorSize size) {
  const auto proof = options.registered_proof ? parse_seal_proof(*options.registered_proof)
                                              : filecoin::synthetic::default_seal_proof(size);
  const auto output = filecoin::synthetic::make_porep({.sector_size = size,
                                                       .registered_proof = proof,
                                                       .miner_id = options.miner_id,
                                                       .sector_number = options.sector_number,
                                                       .seed = options.seed});
  const filecoin::SealProofInfo& info = filecoin::info(proof);
  return {.proof = options.bare ? filecoin::porep::encode_commit_phase1(output)
                                : filecoin::porep::encode_commit_phase1_envelope(output),
          .meta_key = "porep",
          .meta = {{"api_version", filecoin::to_string(info.api_version)},
                   {"comm_d", to_hex(output.comm_d)},
                   {"comm_r", to_hex(output.comm_r)},
                   {"partitions", output.partitions.size()},
                   {"piece_commitment", to_hex(output.comm_d)},
                   {"porep_id", base::to_hex(filecoin::porep_id(proof))},
                   {"registered_proof", info.name},
                   {"replica_id", to_hex(output.replica_id)},
                   {"sector_id", options.sector_number},
                   {"seed", base::to_hex(output.seed)},
                   {"ticket", base::to_hex(output.ticket)}}};
}

Generated generate_post(const SyntheticOptions& options, SectorSize size, bool winning) {
  const auto version = options.api_version ? filecoin::parse_api_version(*options.api_version)
                       : winning           ? filecoin::ApiVersion::k1_0
                                           : filecoin::ApiVersion::k1_2;
  const std::size_t sectors =
      winning ? 1 : options.sectors.value_or(filecoin::window_post_sector_count(size));
  const auto post = filecoin::synthetic::make_post({.sector_size = size,
                                                    .winning = winning,
                                                    .api_version = version,
                                                    .seed = options.seed,
                                                    .first_sector = options.sector_number,
                                                    .num_sectors = sectors});
  json meta = {{"api_version", filecoin::to_string(version)},
               {"randomness", base::to_hex(post.randomness)},
               {"sectors", json::array()},
               {"winning_sector_indices", winning ? json::array({0}) : json()}};
  std::vector<base::Bytes> blobs;
  for (std::size_t i = 0; i < post.proofs.size(); ++i) {
    const filecoin::post::VanillaProof& proof = post.proofs[i];
    blobs.push_back(filecoin::post::encode_vanilla_proof(proof, size));
    meta["sectors"].push_back({{"challenges", post.challenges[i]},
                               {"comm_r", to_hex(proof.comm_r)},
                               {"sector_id", proof.sector_number}});
  }
  return {.proof = filecoin::encode_vanilla_file(blobs),
          .meta_key = winning ? "winning" : "window",
          .meta = std::move(meta)};
}

Generated generate_snap(const SyntheticOptions& options, SectorSize size) {
  const auto update = filecoin::synthetic::make_update(size, options.seed);
  std::vector<base::Bytes> blobs;
  for (const auto& partition : update.partitions) {
    blobs.push_back(filecoin::update::encode_vanilla_proof(partition, size));
  }
  return {.proof = filecoin::encode_vanilla_file(blobs),
          .meta_key = "update",
          .meta = {{"comm_d_new", to_hex(update.comm_d_new)},
                   {"comm_r_last_new", to_hex(update.comm_r_last_new)},
                   {"comm_r_new", to_hex(update.comm_r_new)},
                   {"comm_r_old", to_hex(update.comm_r_old)},
                   {"h", update.h},
                   {"partitions", update.partitions.size()}}};
}

/// An option that the kind does not have is an error, not a wish ignored.
void refuse_foreign_options(const SyntheticOptions& options) {
  const auto require_kind = [&](bool given, const char* option, std::string_view kind) {
    base::require(!given || options.kind == kind, "{} is an option of {} only, not of {}", option,
                  kind, options.kind);
  };
  require_kind(options.registered_proof.has_value(), "--registered-proof", "porep");
  require_kind(options.bare, "--bare", "porep");
  require_kind(options.api_version.has_value(), "--api", "window-post");
  require_kind(options.sectors.has_value(), "--sectors", "window-post");
}

Generated generate(const SyntheticOptions& options, SectorSize size) {
  if (options.kind == "porep") return generate_porep(options, size);
  if (options.kind == "winning-post") return generate_post(options, size, true);
  if (options.kind == "window-post") return generate_post(options, size, false);
  return generate_snap(options, size);
}

}  // namespace

SyntheticVanilla make_synthetic_vanilla(const SyntheticOptions& options, SectorSize size) {
  refuse_foreign_options(options);
  Generated generated = generate(options, size);
  const json meta = {{"miner_id", options.miner_id},
                     {"prover_id", base::to_hex(filecoin::prover_id(options.miner_id))},
                     {"rng_seed", options.seed},
                     {"sector_bytes", size.bytes()},
                     {"size", size.to_string()},
                     {generated.meta_key, std::move(generated.meta)}};
  return {std::move(generated.proof), meta.dump(1) + "\n"};
}

}  // namespace cuzk::cli
