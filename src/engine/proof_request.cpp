#include "engine/proof_request.hpp"

#include "base/error.hpp"
#include "filecoin/ids.hpp"
#include "filecoin/porep/circuit.hpp"
#include "filecoin/porep/public_inputs.hpp"
#include "filecoin/post/challenges.hpp"
#include "filecoin/post/circuit.hpp"
#include "filecoin/update/circuit.hpp"
#include "r1cs/implied_fields.hpp"
#include "r1cs/witness_builder.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

namespace cuzk::engine {

using filecoin::CircuitKind;
using filecoin::SectorSize;

namespace {

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

std::vector<filecoin::post::Sector> sectors_of(
    std::span<const filecoin::post::VanillaProof> proofs) {
  std::vector<filecoin::post::Sector> out;
  for (const filecoin::post::VanillaProof& proof : proofs)
    out.push_back({proof.sector_number, proof.comm_r});
  return out;
}

}  // namespace

Statement porep_statement(SectorSize sector_size, filecoin::RegisteredSealProof proof,
                          const curve::Fr& replica_id, const curve::Fr& comm_d,
                          const curve::Fr& comm_r, const base::Bytes32& seed) {
  const filecoin::SealProofInfo& info = filecoin::info(proof);
  const filecoin::porep::Statement statement = {.sector_size = sector_size,
                                                .porep_id = filecoin::porep_id(proof),
                                                .api_version = info.api_version,
                                                .feature = info.feature,
                                                .replica_id = replica_id,
                                                .comm_d = comm_d,
                                                .comm_r = comm_r,
                                                .seed = seed};
  const filecoin::StackedGraph graph(sector_size, statement.porep_id, statement.api_version);
  Statement out{{CircuitKind::kPorep, sector_size}, {}};
  for (unsigned k = 0; k < filecoin::porep::partition_count(proof, sector_size); ++k) {
    out.public_inputs.push_back(filecoin::porep::public_inputs(statement, graph, k).to_fields());
  }
  return out;
}

ProofRequest porep_request(filecoin::porep::SealCommitPhase1Output output) {
  Statement statement =
      porep_statement(output.sector_size, output.registered_proof, output.replica_id, output.comm_d,
                      output.comm_r, output.seed);
  const auto shared =
      std::make_shared<const filecoin::porep::SealCommitPhase1Output>(std::move(output));
  return {std::move(statement), [shared](const r1cs::Shape& shape, std::size_t k) {
            const filecoin::porep::PartitionInputs inputs = {.replica_id = shared->replica_id,
                                                             .comm_d = shared->comm_d,
                                                             .comm_r = shared->comm_r,
                                                             .proofs = shared->partitions.at(k)};
            return build_witness(shape, [&](r1cs::WitnessBuilder& cs) {
              filecoin::porep::synthesize(cs, shared->sector_size, inputs);
            });
          }};
}

Statement winning_statement(SectorSize size, const base::Bytes32& randomness,
                            const filecoin::post::Sector& sector) {
  return {{CircuitKind::kWinningPost, size},
          {filecoin::post::winning_public_inputs(size, randomness, sector).to_fields()}};
}

ProofRequest winning_request(SectorSize size, const base::Bytes32& randomness,
                             filecoin::post::VanillaProof proof) {
  namespace post = filecoin::post;
  Statement statement = winning_statement(size, randomness, {proof.sector_number, proof.comm_r});
  const auto shared = std::make_shared<const post::VanillaProof>(std::move(proof));
  return {std::move(statement), [shared, size](const r1cs::Shape& shape, std::size_t) {
            return build_witness(shape, [&](r1cs::WitnessBuilder& cs) {
              post::synthesize(cs, post::winning_circuit_size(size),
                               post::winning_places(size, *shared));
            });
          }};
}

Statement window_statement(SectorSize size, filecoin::ApiVersion version,
                           const base::Bytes32& randomness,
                           std::span<const filecoin::post::Sector> sectors,
                           std::uint32_t first_partition) {
  base::require(!sectors.empty(), "a WindowPoSt of no sectors");
  const std::size_t places = filecoin::window_post_sector_count(size);
  Statement out{{CircuitKind::kWindowPost, size}, {}};
  for (std::size_t first = 0; first < sectors.size(); first += places) {
    filecoin::post::PublicInputs inputs;
    for (std::size_t i = first; i < std::min(first + places, sectors.size()); ++i) {
      const std::uint64_t position = std::uint64_t{first_partition} * places + i;
      inputs.sectors.push_back(
          {sectors[i].comm_r, filecoin::post::window_challenges(size, version, randomness,
                                                                sectors[i].number, position)});
    }
    const filecoin::post::SectorInputs padding = inputs.sectors.back();
    inputs.sectors.resize(places, padding);
    out.public_inputs.push_back(inputs.to_fields());
  }
  return out;
}

ProofRequest window_request(SectorSize size, filecoin::ApiVersion version,
                            const base::Bytes32& randomness,
                            std::vector<filecoin::post::VanillaProof> proofs,
                            std::uint32_t first_partition) {
  namespace post = filecoin::post;
  Statement statement =
      window_statement(size, version, randomness, sectors_of(proofs), first_partition);
  const auto shared = std::make_shared<const std::vector<post::VanillaProof>>(std::move(proofs));
  return {std::move(statement), [shared, size](const r1cs::Shape& shape, std::size_t k) {
            const std::size_t places = filecoin::window_post_sector_count(size);
            const std::size_t first = k * places;
            const auto part =
                std::span(*shared).subspan(first, std::min(places, shared->size() - first));
            return build_given(shape, [&](r1cs::WitnessBuilder& cs) {
              post::synthesize(cs, post::window_circuit_size(size),
                               post::window_places(size, part));
            });
          }};
}

Statement update_statement(const filecoin::update::Statement& update) {
  Statement out{{CircuitKind::kUpdate, update.sector_size}, {}};
  for (unsigned k = 0; k < filecoin::update_shape(update.sector_size).partitions; ++k) {
    out.public_inputs.push_back(filecoin::update::public_inputs(update, k).to_fields());
  }
  return out;
}

ProofRequest update_request(const filecoin::update::Statement& update,
                            std::vector<filecoin::update::VanillaProof> proofs) {
  namespace upd = filecoin::update;
  Statement statement = update_statement(update);
  base::require(proofs.size() == statement.public_inputs.size(),
                "{} vanilla proofs of an update; {} expected: one for each partition",
                proofs.size(), statement.public_inputs.size());
  const auto shared = std::make_shared<const std::vector<upd::VanillaProof>>(std::move(proofs));
  return {std::move(statement), [shared, update](const r1cs::Shape& shape, std::size_t k) {
            const upd::PartitionInputs inputs = {.partition_index = k,
                                                 .h = update.h,
                                                 .comm_r_old = update.comm_r_old,
                                                 .comm_d_new = update.comm_d_new,
                                                 .comm_r_new = update.comm_r_new,
                                                 .proof = &shared->at(k)};
            return build_witness(shape, [&](r1cs::WitnessBuilder& cs) {
              upd::synthesize(cs, update.sector_size, inputs);
            });
          }};
}

}  // namespace cuzk::engine
