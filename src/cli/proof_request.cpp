#include "cli/proof_request.hpp"

#include "base/error.hpp"
#include "filecoin/ids.hpp"
#include "filecoin/porep/vanilla_codec.hpp"
#include "filecoin/post/vanilla_codec.hpp"
#include "filecoin/update/vanilla_codec.hpp"
#include "filecoin/vanilla_file.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace cuzk::cli {

using filecoin::CircuitKind;
using filecoin::Meta;
using filecoin::SectorSize;

namespace {

struct KindName {
  ProofKind kind;
  std::string_view name;
  CircuitKind circuit;
};
constexpr std::array<KindName, 4> kKinds = {
    {{ProofKind::kPorep, "porep", CircuitKind::kPorep},
     {ProofKind::kWinningPost, "winning-post", CircuitKind::kWinningPost},
     {ProofKind::kWindowPost, "window-post", CircuitKind::kWindowPost},
     {ProofKind::kSnap, "snap", CircuitKind::kUpdate}}};

const KindName& entry_of(ProofKind kind) {
  return *std::ranges::find(kKinds, kind, &KindName::kind);
}

template <class T>
const T& need(const std::optional<T>& value, std::string_view what) {
  base::require(value.has_value(), "the meta file has no {}", what);
  return *value;
}

const Meta::Post& need_post(ProofKind kind, const Meta& meta, std::string_view section) {
  const std::string_view name = !section.empty()                  ? section
                                : kind == ProofKind::kWinningPost ? "winning"
                                                                  : "window";
  const auto post = meta.posts.find(std::string(name));
  base::require(post != meta.posts.end(), "the meta file has no PoSt section \"{}\"", name);
  return post->second;
}

Statement porep_statement(const Meta& meta) {
  const Meta::Porep& porep = need(meta.porep, "section \"porep\"");
  const filecoin::RegisteredSealProof proof =
      need(porep.registered_proof, "porep.registered_proof");
  const SectorSize size = meta.sector_size.value_or(filecoin::info(proof).sector_size);
  const curve::Fr comm_d = need(porep.comm_d, "porep.comm_d");
  curve::Fr replica_id;
  if (porep.replica_id) {
    replica_id = *porep.replica_id;
  } else {
    replica_id = filecoin::replica_id(
        need(meta.prover_id, "prover_id"), need(porep.sector_number, "porep.sector_id"),
        need(porep.ticket, "porep.ticket"), comm_d, filecoin::porep_id(proof));
  }
  return engine::porep_statement(size, proof, replica_id, comm_d,
                                 need(porep.comm_r, "porep.comm_r"),
                                 need(porep.seed, "porep.seed"));
}

const filecoin::post::Sector& winning_sector(const Meta::Post& post) {
  base::require(post.sectors.size() == 1, "a WinningPoSt is about one sector; the meta file has {}",
                post.sectors.size());
  return post.sectors[0];
}

filecoin::update::Statement update_values(SectorSize size, const Meta::Update& update) {
  return {.sector_size = size,
          .comm_r_old = update.comm_r_old,
          .comm_d_new = update.comm_d_new,
          .comm_r_new = update.comm_r_new,
          .h = update.h.value_or(filecoin::update_shape(size).h_default)};
}

engine::Witnesses update_witnesses(SectorSize size, const std::vector<base::Bytes>& blobs,
                                   const Meta::Update& update) {
  return engine::update_witnesses(update_values(size, update),
                                  filecoin::update::decode_vanilla_proofs(blobs, size));
}

engine::Witnesses post_witnesses(ProofKind kind, SectorSize size,
                                 const std::vector<base::Bytes>& blobs, std::size_t sectors) {
  base::require(blobs.size() == sectors, "{} vanilla proofs; {} expected: one for each sector",
                blobs.size(), sectors);
  const bool winning = kind == ProofKind::kWinningPost;
  const unsigned challenges =
      winning ? filecoin::kWinningPostChallenges : filecoin::kWindowPostChallenges;
  auto proofs = filecoin::post::decode_vanilla_proofs(blobs, size, challenges);
  return winning ? engine::winning_witnesses(size, std::move(proofs.front()))
                 : engine::window_witnesses(size, std::move(proofs));
}

}  // namespace

ProofKind parse_proof_kind(std::string_view name) {
  const auto found = std::ranges::find(kKinds, name, &KindName::name);
  base::require(found != kKinds.end(),
                "unknown kind of proof \"{}\": porep, winning-post, window-post and snap are known",
                name);
  return found->kind;
}

std::string_view to_string(ProofKind kind) { return entry_of(kind).name; }
CircuitKind circuit_of(ProofKind kind) { return entry_of(kind).circuit; }

Statement make_statement(ProofKind kind, const Meta& meta, std::string_view section) {
  if (kind == ProofKind::kPorep) return porep_statement(meta);
  const SectorSize size = need(meta.sector_size, "sector size (\"size\" or \"sector_bytes\")");
  if (kind == ProofKind::kSnap)
    return engine::update_statement(update_values(size, need(meta.update, "section \"update\"")));
  const Meta::Post& post = need_post(kind, meta, section);
  if (kind == ProofKind::kWinningPost)
    return engine::winning_statement(size, post.randomness, winning_sector(post));
  return engine::window_statement(size, post.api_version.value_or(filecoin::ApiVersion::k1_2),
                                  post.randomness, post.sectors);
}

ProofRequest porep_request(std::string_view c1_json, std::optional<SectorSize> size) {
  return engine::porep_request(filecoin::porep::decode_commit_phase1(c1_json, size));
}

ProofRequest vanilla_request(ProofKind kind, base::ByteView vanilla_file, const Meta& meta,
                             std::string_view section) {
  base::require(kind != ProofKind::kPorep, "a PoRep is proved from a C1 output");
  Statement statement = make_statement(kind, meta, section);
  const SectorSize size = statement.circuit.size;
  const std::vector<base::Bytes> blobs = filecoin::decode_vanilla_file(vanilla_file);
  if (kind == ProofKind::kSnap)
    return {std::move(statement), update_witnesses(size, blobs, *meta.update)};
  const std::size_t sectors = need_post(kind, meta, section).sectors.size();
  return {std::move(statement), post_witnesses(kind, size, blobs, sectors)};
}

}  // namespace cuzk::cli
