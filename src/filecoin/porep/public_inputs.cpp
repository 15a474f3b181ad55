#include "filecoin/porep/public_inputs.hpp"

#include "filecoin/porep/challenges.hpp"

namespace cuzk::filecoin::porep {

using curve::Fr;

std::vector<Fr> PublicInputs::to_fields() const {
  std::vector<Fr> out = {replica_id, comm_d, comm_r};
  for (const ChallengeInputs& inputs : challenges) {
    const Fr challenge = Fr::from_u64(inputs.challenge);
    out.push_back(challenge);  // tree D
    for (const std::uint32_t parent : inputs.drg_parents) out.push_back(Fr::from_u64(parent));
    for (const std::uint32_t parent : inputs.exp_parents) out.push_back(Fr::from_u64(parent));
    out.push_back(challenge);
    out.push_back(challenge);  // tree R-last
    out.push_back(challenge);  // tree C
  }
  return out;
}

PublicInputs public_inputs(const Statement& statement, unsigned k) {
  return public_inputs(
      statement, StackedGraph(statement.sector_size, statement.porep_id, statement.api_version), k);
}

PublicInputs public_inputs(const Statement& statement, const StackedGraph& graph, unsigned k) {
  PublicInputs out{statement.replica_id, statement.comm_d, statement.comm_r, {}};
  for (const std::uint64_t challenge :
       challenges(statement.feature, statement.sector_size, statement.replica_id, statement.comm_r,
                  statement.seed, k)) {
    out.challenges.push_back(
        {challenge, graph.drg_parents(challenge), graph.exp_parents(challenge)});
  }
  return out;
}

}  // namespace cuzk::filecoin::porep
