#include "cli/proof_request.hpp"

#include "base/error.hpp"
#include "filecoin/ids.hpp"
#include "filecoin/porep/circuit.hpp"
#include "filecoin/porep/public_inputs.hpp"
#include "filecoin/porep/vanilla_codec.hpp"
#include "filecoin/post/circuit.hpp"
#include "filecoin/post/public_inputs.hpp"
#include "filecoin/post/vanilla_codec.hpp"
#include "filecoin/update/circuit.hpp"
#include "filecoin/update/public_inputs.hpp"
#include "filecoin/update/vanilla_codec.hpp"
#include "filecoin/vanilla_file.hpp"
#include "r1cs/implied_fields.hpp"
#include "r1cs/witness_builder.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>

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

// Also of a registered proof whose tag the sector size stands in for.
Statement porep_statement(SectorSize size, filecoin::RegisteredSealProof proof,
                          const curve::Fr& replica_id, const curve::Fr& comm_d,
                          const curve::Fr& comm_r, const base::Bytes32& seed) {
  const filecoin::SealProofInfo& info = filecoin::info(proof);
  const filecoin::porep::Statement statement = {.sector_size = size,
                                                .porep_id = filecoin::porep_id(proof),
                                                .api_version = info.api_version,
                                                .feature = info.feature,
                                                .replica_id = replica_id,
                                                .comm_d = comm_d,
                                                .comm_r = comm_r,
                                                .seed = seed};
  const filecoin::StackedGraph graph(size, statement.porep_id, statement.api_version);
  Statement out{CircuitKind::kPorep, size, {}};
  for (unsigned k = 0; k < filecoin::porep::partition_count(proof, size); ++k) {
    out.public_inputs.push_back(filecoin::porep::public_inputs(statement, graph, k).to_fields());
  }
  return out;
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
  return porep_statement(size, proof, replica_id, comm_d, need(porep.comm_r, "porep.comm_r"),
                         need(porep.seed, "porep.seed"));
}

Statement winning_statement(SectorSize size, const Meta::Post& post) {
  base::require(post.sectors.size() == 1, "a WinningPoSt is about one sector; the meta file has {}",
                post.sectors.size());
  return {
      CircuitKind::kWinningPost,
      size,
      {filecoin::post::winning_public_inputs(size, post.randomness, post.sectors[0]).to_fields()}};
}

Statement window_statement(SectorSize size, const Meta::Post& post) {
  const filecoin::ApiVersion version = post.api_version.value_or(filecoin::ApiVersion::k1_2);
  Statement out{CircuitKind::kWindowPost, size, {}};
  for (unsigned k = 0; k < filecoin::post::window_partition_count(size, post.sectors.size()); ++k) {
    const auto inputs =
        filecoin::post::window_public_inputs(size, version, post.randomness, post.sectors, k);
    out.public_inputs.push_back(inputs.to_fields());
  }
  return out;
}

unsigned update_h(SectorSize size, const Meta::Update& update) {
  return update.h.value_or(filecoin::update_shape(size).h_default);
}

Statement update_statement(SectorSize size, const Meta::Update& update) {
  const filecoin::update::Statement statement = {.sector_size = size,
                                                 .comm_r_old = update.comm_r_old,
                                                 .comm_d_new = update.comm_d_new,
                                                 .comm_r_new = update.comm_r_new,
                                                 .h = update_h(size, update)};
  Statement out{CircuitKind::kUpdate, size, {}};
  for (unsigned k = 0; k < filecoin::update_shape(size).partitions; ++k) {
    out.public_inputs.push_back(filecoin::update::public_inputs(statement, k).to_fields());
  }
  return out;
}

template <class Synthesize>
r1cs::Witness build_witness(const r1cs::Shape& shape, Synthesize&& synthesize) {
  r1cs::WitnessBuilder builder(shape);
  synthesize(builder);
  return builder.finish();
}
/// With its given fields alone.
template <class Synthesize>
r1cs::Witness build_given(const r1cs::Shape& shape, Synthesize&& synthesize) {
  const r1cs::ImpliedFields implied(shape);
  r1cs::WitnessBuilder builder(shape, &implied);
  synthesize(builder);
  return builder.finish();
}

void require_partitions(std::size_t found, std::size_t wanted, std::string_view what) {
  base::require(found == wanted, "{} vanilla proofs; {} expected: one for each {}", found, wanted,
                what);
}

ProofRequest update_request(Statement statement, const std::vector<base::Bytes>& blobs,
                            const Meta::Update& update) {
  namespace upd = filecoin::update;
  const SectorSize size = statement.size;
  require_partitions(blobs.size(), statement.public_inputs.size(), "partition");
  auto proofs = std::make_shared<std::vector<upd::VanillaProof>>();
  for (const base::Bytes& blob : blobs) proofs->push_back(upd::decode_vanilla_proof(blob, size));
  return {std::move(statement), [proofs, size, update](const r1cs::Shape& shape, std::size_t k) {
            const upd::PartitionInputs inputs = {.partition_index = k,
                                                 .h = update_h(size, update),
                                                 .comm_r_old = update.comm_r_old,
                                                 .comm_d_new = update.comm_d_new,
                                                 .comm_r_new = update.comm_r_new,
                                                 .proof = &proofs->at(k)};
            return build_witness(
                shape, [&](r1cs::WitnessBuilder& cs) { upd::synthesize(cs, size, inputs); });
          }};
}

ProofRequest post_request(ProofKind kind, Statement statement,
                          const std::vector<base::Bytes>& blobs, std::size_t sectors) {
  namespace post = filecoin::post;
  const SectorSize size = statement.size;
  const bool winning = kind == ProofKind::kWinningPost;
  require_partitions(blobs.size(), sectors, "sector");
  const unsigned challenges =
      winning ? filecoin::kWinningPostChallenges : filecoin::kWindowPostChallenges;
  auto proofs = std::make_shared<std::vector<post::VanillaProof>>();
  for (const base::Bytes& blob : blobs)
    proofs->push_back(post::decode_vanilla_proof(blob, size, challenges));
  return {std::move(statement), [proofs, size, winning](const r1cs::Shape& shape, std::size_t k) {
            if (winning) {
              return build_witness(shape, [&](r1cs::WitnessBuilder& cs) {
                post::synthesize(cs, post::winning_circuit_size(size),
                                 post::winning_places(size, proofs->front()));
              });
            }
            const std::size_t per_partition = filecoin::window_post_sector_count(size);
            const std::size_t first = k * per_partition;
            const auto part =
                std::span(*proofs).subspan(first, std::min(per_partition, proofs->size() - first));
            return build_given(shape, [&](r1cs::WitnessBuilder& cs) {
              post::synthesize(cs, post::window_circuit_size(size),
                               post::window_places(size, part));
            });
          }};
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
    return update_statement(size, need(meta.update, "section \"update\""));
  const Meta::Post& post = need_post(kind, meta, section);
  return kind == ProofKind::kWinningPost ? winning_statement(size, post)
                                         : window_statement(size, post);
}

ProofRequest porep_request(std::string_view c1_json) {
  auto output = std::make_shared<const filecoin::porep::SealCommitPhase1Output>(
      filecoin::porep::decode_commit_phase1(c1_json));
  Statement statement =
      porep_statement(output->sector_size, output->registered_proof, output->replica_id,
                      output->comm_d, output->comm_r, output->seed);
  return {std::move(statement), [output](const r1cs::Shape& shape, std::size_t k) {
            const filecoin::porep::PartitionInputs inputs = {.replica_id = output->replica_id,
                                                             .comm_d = output->comm_d,
                                                             .comm_r = output->comm_r,
                                                             .proofs = output->partitions.at(k)};
            return build_witness(shape, [&](r1cs::WitnessBuilder& cs) {
              filecoin::porep::synthesize(cs, output->sector_size, inputs);
            });
          }};
}

ProofRequest vanilla_request(ProofKind kind, base::ByteView vanilla_file, const Meta& meta,
                             std::string_view section) {
  base::require(kind != ProofKind::kPorep, "a PoRep is proved from a C1 output");
  Statement statement = make_statement(kind, meta, section);
  const std::vector<base::Bytes> blobs = filecoin::decode_vanilla_file(vanilla_file);
  if (kind == ProofKind::kSnap) return update_request(std::move(statement), blobs, *meta.update);
  const std::size_t sectors = need_post(kind, meta, section).sectors.size();
  return post_request(kind, std::move(statement), blobs, sectors);
}

}  // namespace cuzk::cli
