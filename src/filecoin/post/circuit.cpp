#include "filecoin/post/circuit.hpp"

#include "base/error.hpp"
#include "filecoin/circuit/inclusion.hpp"

namespace cuzk::filecoin::post {

namespace {

using namespace circuit;  // NOLINT: the names of gadgets

template <class CS>
void synthesize_place(CS& cs, const CircuitSize& size, const Place* sector) {
  const auto comm_r_last = alloc_num(cs, [&] { return sector->comm_r_last; });
  const auto comm_c = alloc_num(cs, [&] { return sector->comm_c; });
  const auto comm_r = alloc_num(cs, [&] { return sector->comm_r; });
  gadgets::inputize(cs, comm_r);
  {
    const auto scope = cs.scope("H_comm_c_comm_r_last");
    const auto hash = gadgets::poseidon_2(cs, hash::PoseidonDomain::kMerkle2, comm_c, comm_r_last);
    gadgets::enforce_equal(cs, "enforce_comm_c_comm_r_last_hash_comm_r", comm_r, hash);
  }
  for (std::size_t i = 0; i < size.challenges; ++i) {
    const auto scope = cs.scope("challenge_inclusion_{}", i);
    const InclusionProof* proof = sector == nullptr ? nullptr : &sector->inclusions[i];
    const auto leaf = alloc_num(cs, [&] { return proof->leaf; });
    enforce_inclusion(cs, TreeHash::kPoseidon, size.tree_r, proof, leaf, comm_r_last);
  }
}

template <class CS>
void synthesize_places(CS& cs, const CircuitSize& size, std::size_t places, const Place* sectors) {
  cs.repeat(places, [&](CS& copy, std::size_t i) {
    const auto scope = copy.scope("sector_{}", i);
    synthesize_place(copy, size, sectors == nullptr ? nullptr : &sectors[i]);
  });
}

void check_lengths(const VanillaProof& sector, std::size_t challenges, const TreeShape& shape) {
  base::require(sector.inclusions.size() == challenges,
                "post: sector {} opens {} challenges, not {}", sector.sector_number,
                sector.inclusions.size(), challenges);
  for (std::size_t i = 0; i < sector.inclusions.size(); ++i) {
    const InclusionProof& proof = sector.inclusions[i];
    base::require(
        proof.siblings.size() == shape.siblings() && proof.positions.size() == shape.levels(),
        "post: sector {}, challenge {}: the path has {} levels and {} siblings, not {} and {}",
        sector.sector_number, i, proof.positions.size(), proof.siblings.size(), shape.levels(),
        shape.siblings());
  }
}

Place place(const VanillaProof& sector, std::span<const InclusionProof> inclusions) {
  return {sector.comm_r, sector.comm_c, sector.comm_r_last, inclusions};
}

}  // namespace

CircuitSize window_circuit_size(SectorSize size) {
  return {tree_r_shape(size), window_post_sector_count(size), kWindowPostChallenges};
}

CircuitSize winning_circuit_size(SectorSize size) {
  return {tree_r_shape(size), kWinningPostChallenges, 1};
}

std::vector<Place> window_places(SectorSize size, std::span<const VanillaProof> sectors) {
  const CircuitSize circuit = window_circuit_size(size);
  base::require(!sectors.empty() && sectors.size() <= circuit.places,
                "window-post: a partition of {} sectors has 1 to {} sectors, not {}",
                size.to_string(), circuit.places, sectors.size());
  std::vector<Place> places;
  for (const VanillaProof& sector : sectors) {
    check_lengths(sector, circuit.challenges, circuit.tree_r);
    places.push_back(place(sector, sector.inclusions));
  }
  places.resize(circuit.places, places.back());
  return places;
}

std::vector<Place> winning_places(SectorSize size, const VanillaProof& sector) {
  const CircuitSize circuit = winning_circuit_size(size);
  check_lengths(sector, circuit.places, circuit.tree_r);
  std::vector<Place> places;
  for (const InclusionProof& proof : sector.inclusions)
    places.push_back(place(sector, {&proof, 1}));
  return places;
}

void synthesize(r1cs::SymbolicSystem& cs, const CircuitSize& size) {
  synthesize_places(cs, size, size.places, nullptr);
}

void synthesize(r1cs::WitnessBuilder& cs, const CircuitSize& size, std::span<const Place> places) {
  base::require(places.size() == size.places, "post: the circuit has {} places, not {}",
                size.places, places.size());
  synthesize_places(cs, size, places.size(), places.data());
}

void synthesize(r1cs::CheckedSystem& cs, const CircuitSize& size, std::span<const Place> places) {
  synthesize_places(cs, size, places.size(), places.data());
}

}  // namespace cuzk::filecoin::post
