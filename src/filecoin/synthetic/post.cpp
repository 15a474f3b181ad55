#include "filecoin/synthetic/post.hpp"

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "filecoin/ids.hpp"
#include "filecoin/post/challenges.hpp"
#include "filecoin/synthetic/distinct.hpp"
#include "filecoin/synthetic/random_source.hpp"
#include "filecoin/synthetic/sparse_tree.hpp"
#include "hash/sha256.hpp"

namespace cuzk::filecoin::synthetic {

namespace {

post::VanillaProof make_sector(SectorSize size, std::uint64_t sector_number,
                               const std::vector<std::uint64_t>& challenges,
                               const RandomSource& source) {
  std::vector<Leaf> leaves;
  for (const std::uint64_t index : distinct(challenges))
    leaves.push_back({index, source.field(0, index)});
  const SparseTree tree(tree_r_shape(size), NodeHash::kPoseidon, std::move(leaves),
                        source.child("tree R-last"));

  post::VanillaProof proof;
  proof.sector_number = sector_number;
  proof.comm_c = source.field(1);
  proof.comm_r_last = tree.root();
  proof.comm_r = comm_r(proof.comm_c, proof.comm_r_last);
  for (const std::uint64_t challenge : challenges)
    proof.inclusions.push_back(tree.prove(challenge));
  return proof;
}

}  // namespace

Post make_post(const PostOptions& options) {
  const SectorSize size = options.sector_size;
  base::require(options.num_sectors >= 1 && (!options.winning || options.num_sectors == 1),
                "{} sectors for a {}: a WinningPoSt has exactly one, a WindowPoSt at least one",
                options.num_sectors, options.winning ? "WinningPoSt" : "WindowPoSt");
  const RandomSource source =
      RandomSource(options.seed).child(options.winning ? "winning" : "window", size.bytes());

  Post out;
  out.randomness = source.bytes32(0);
  hash::truncate_to_fr(out.randomness);
  out.challenges.resize(options.num_sectors);
  out.proofs.resize(options.num_sectors);
  base::parallel_for(options.num_sectors, [&](std::size_t i) {
    const std::uint64_t sector = options.first_sector + i;
    out.challenges[i] = options.winning ? post::winning_challenges(size, out.randomness, sector)
                                        : post::window_challenges(size, options.api_version,
                                                                  out.randomness, sector, i);
    out.proofs[i] = make_sector(size, sector, out.challenges[i], source.child("sector", i));
  });
  return out;
}

}  // namespace cuzk::filecoin::synthetic
