#include "engine/proof_request.hpp"

#include "base/error.hpp"
#include "filecoin/ids.hpp"
#include "filecoin/porep/circuit.hpp"
#include "filecoin/porep/public_inputs.hpp"
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
r1cs::Witness build_witness(const r1cs::Shape& shape, Synthesize&& synthesize,
                            const r1cs::ImpliedFields* left_out = nullptr) {
  r1cs::WitnessBuilder builder(shape, left_out);
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

Witnesses porep_witnesses(std::shared_ptr<const filecoin::porep::SealCommitPhase1Output> output) {
  return [output = std::move(output)](const r1cs::Shape& shape, std::size_t k) {
    const filecoin::porep::PartitionInputs inputs = {.replica_id = output->replica_id,
                                                     .comm_d = output->comm_d,
                                                     .comm_r = output->comm_r,
                                                     .proofs = output->partitions.at(k)};
    return build_witness(shape, [&](r1cs::WitnessBuilder& cs) {
      filecoin::porep::synthesize(cs, output->sector_size, inputs);
    });
  };
}

ProofRequest porep_request(filecoin::porep::SealCommitPhase1Output output) {
  const auto shared =
      std::make_shared<const filecoin::porep::SealCommitPhase1Output>(std::move(output));
  return {porep_statement(shared->sector_size, shared->registered_proof, shared->replica_id,
                          shared->comm_d, shared->comm_r, shared->seed),
          porep_witnesses(shared)};
}

Statement winning_statement(SectorSize size, const base::Bytes32& randomness,
                            const filecoin::post::Sector& sector) {
  return {{CircuitKind::kWinningPost, size},
          {filecoin::post::winning_public_inputs(size, randomness, sector).to_fields()}};
}

Witnesses winning_witnesses(SectorSize size, filecoin::post::VanillaProof proof) {
  namespace post = filecoin::post;
  const auto shared = std::make_shared<const post::VanillaProof>(std::move(proof));
  return [shared, size](const r1cs::Shape& shape, std::size_t) {
    return build_witness(shape, [&](r1cs::WitnessBuilder& cs) {
      post::synthesize(cs, post::winning_circuit_size(size), post::winning_places(size, *shared));
    });
  };
}

ProofRequest winning_request(SectorSize size, const base::Bytes32& randomness,
                             filecoin::post::VanillaProof proof) {
  Statement statement = winning_statement(size, randomness, {proof.sector_number, proof.comm_r});
  return {std::move(statement), winning_witnesses(size, std::move(proof))};
}

Statement window_statement(SectorSize size, filecoin::ApiVersion version,
                           const base::Bytes32& randomness,
                           std::span<const filecoin::post::Sector> sectors,
                           std::uint32_t first_partition) {
  base::require(!sectors.empty(), "a WindowPoSt of no sectors");
  Statement out{{CircuitKind::kWindowPost, size}, {}};
  for (unsigned k = 0; k < filecoin::post::window_partition_count(size, sectors.size()); ++k) {
    const auto inputs = filecoin::post::window_public_inputs(size, version, randomness, sectors, k,
                                                             first_partition);
    out.public_inputs.push_back(inputs.to_fields());
  }
  return out;
}

Witnesses window_witnesses(SectorSize size, std::vector<filecoin::post::VanillaProof> proofs) {
  namespace post = filecoin::post;
  const auto shared = std::make_shared<const std::vector<post::VanillaProof>>(std::move(proofs));
  return [shared, size](const r1cs::Shape& shape, std::size_t k) {
    const std::size_t places = filecoin::window_post_sector_count(size);
    const std::size_t first = k * places;
    const auto part = std::span(*shared).subspan(first, std::min(places, shared->size() - first));
    const r1cs::ImpliedFields implied(shape);
    const auto synthesize = [&](r1cs::WitnessBuilder& cs) {
      post::synthesize(cs, post::window_circuit_size(size), post::window_places(size, part));
    };
    return build_witness(shape, synthesize, &implied);
  };
}

ProofRequest window_request(SectorSize size, filecoin::ApiVersion version,
                            const base::Bytes32& randomness,
                            std::vector<filecoin::post::VanillaProof> proofs,
                            std::uint32_t first_partition) {
  Statement statement =
      window_statement(size, version, randomness, sectors_of(proofs), first_partition);
  return {std::move(statement), window_witnesses(size, std::move(proofs))};
}

Statement update_statement(const filecoin::update::Statement& update) {
  Statement out{{CircuitKind::kUpdate, update.sector_size}, {}};
  for (unsigned k = 0; k < filecoin::update_shape(update.sector_size).partitions; ++k) {
    out.public_inputs.push_back(filecoin::update::public_inputs(update, k).to_fields());
  }
  return out;
}

Witnesses update_witnesses(const filecoin::update::Statement& update,
                           std::vector<filecoin::update::VanillaProof> proofs) {
  namespace upd = filecoin::update;
  const std::size_t partitions = filecoin::update_shape(update.sector_size).partitions;
  base::require(proofs.size() == partitions,
                "{} vanilla proofs of an update; {} expected: one for each partition",
                proofs.size(), partitions);
  const auto shared = std::make_shared<const std::vector<upd::VanillaProof>>(std::move(proofs));
  return [shared, update](const r1cs::Shape& shape, std::size_t k) {
    const upd::PartitionInputs inputs = {.partition_index = k,
                                         .h = update.h,
                                         .comm_r_old = update.comm_r_old,
                                         .comm_d_new = update.comm_d_new,
                                         .comm_r_new = update.comm_r_new,
                                         .proof = &shared->at(k)};
    return build_witness(
        shape, [&](r1cs::WitnessBuilder& cs) { upd::synthesize(cs, update.sector_size, inputs); });
  };
}

ProofRequest update_request(const filecoin::update::Statement& update,
                            std::vector<filecoin::update::VanillaProof> proofs) {
  return {update_statement(update), update_witnesses(update, std::move(proofs))};
}

}  // namespace cuzk::engine
