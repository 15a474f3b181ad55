#include "filecoin/synthetic/update.hpp"

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "filecoin/ids.hpp"
#include "filecoin/synthetic/folded_tree.hpp"
#include "filecoin/synthetic/sparse_tree.hpp"
#include "filecoin/update/challenges.hpp"
#include "filecoin/update/randomness.hpp"

#include <memory>

namespace cuzk::filecoin::synthetic {

namespace {

using curve::Fr;

/// Up to 8 MiB every leaf has its own values; above, kinds share them.
constexpr std::uint64_t kMaxFullNodes = 1 << 18;

/// The leaves of one tree: for a full tree one a node, for a folded one a value for each region and
/// kind.
using Leaves = std::vector<Fr>;

/// How the leaves of the sector are told apart, and the trees over them.
class UpdatedSector {
 public:
  UpdatedSector(SectorSize size, unsigned h, const RandomSource& source)
      : size_(size), h_(h), source_(source), kinds_(size.log2_nodes(), source.child("kinds")) {}

  bool is_full() const { return size_.nodes() <= kMaxFullNodes; }
  /// Leaves that differ where rho is the same.
  std::size_t num_values() const { return is_full() ? size_.nodes() : LeafKinds::kCount; }

  /// r_old + d_new · rho for every leaf; rhos[high bits].
  Leaves encode(const Leaves& r_old, const Leaves& d_new, const std::vector<Fr>& rhos) const {
    Leaves r_new(is_full() ? num_values() : num_values() << h_);
    const std::size_t nodes_per_rho = r_new.size() >> h_;
    for (std::size_t i = 0; i < r_new.size(); ++i) {
      const std::size_t value = i % num_values();
      r_new[i] = r_old[value] + d_new[value] * rhos[i / nodes_per_rho];
    }
    return r_new;
  }

  std::unique_ptr<MerkleTree> tree(const TreeShape& shape, NodeHash hash, Leaves values) const {
    if (!is_full()) {
      const unsigned region_bits = values.size() > LeafKinds::kCount ? h_ : 0;
      return std::make_unique<FoldedTree>(shape, hash, kinds_, region_bits, std::move(values));
    }
    std::vector<Leaf> leaves(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) leaves[i] = {i, values[i]};
    return std::make_unique<SparseTree>(shape, hash, std::move(leaves),
                                        source_.child("no filler is used"));
  }

 private:
  SectorSize size_;
  unsigned h_;
  RandomSource source_;
  LeafKinds kinds_;
};

}  // namespace

Update make_update(SectorSize size, std::uint64_t seed) {
  base::require(size != SectorSize::parse("1GiB"),
                "the protocol has no sector update for 1GiB; choose another size");
  const UpdateShape shape = update_shape(size);
  const RandomSource source = RandomSource(seed).child("update", size.bytes());
  const UpdatedSector sector(size, shape.h_default, source);

  Leaves old_leaves(sector.num_values()), data(sector.num_values());
  base::parallel_for(sector.num_values(), [&](std::size_t i) {
    old_leaves[i] = source.field(0, i);
    data[i] = source.truncated(1, i);
  });
  const auto r_old = sector.tree(tree_r_shape(size), NodeHash::kPoseidon, old_leaves);
  const auto d_new = sector.tree(tree_d_shape(size), NodeHash::kSha256, data);

  Update out{};
  const Fr comm_c = source.field(2);
  out.h = shape.h_default;
  out.comm_d_new = d_new->root();
  out.comm_r_old = comm_r(comm_c, r_old->root());

  const Fr phi = update::phi(out.comm_d_new, out.comm_r_old);
  std::vector<Fr> rhos(std::size_t{1} << out.h);
  for (std::size_t high = 0; high < rhos.size(); ++high) rhos[high] = update::rho(phi, high);
  const auto r_new =
      sector.tree(tree_r_shape(size), NodeHash::kPoseidon, sector.encode(old_leaves, data, rhos));
  out.comm_r_last_new = r_new->root();
  out.comm_r_new = comm_r(comm_c, out.comm_r_last_new);

  const unsigned apex_level =
      size.log2_nodes() - shape.log2_partitions() - shape.log2_apex_leaves();
  out.partitions.resize(shape.partitions);
  base::parallel_for(shape.partitions, [&](std::size_t k) {
    update::VanillaProof& proof = out.partitions[k];
    proof.comm_c = comm_c;
    for (std::size_t i = 0; i < shape.apex_leaves; ++i) {
      proof.apex_leaves.push_back(d_new->node(apex_level, k * shape.apex_leaves + i));
    }
    for (const std::uint64_t challenge :
         update::challenges(size, out.comm_r_new, static_cast<unsigned>(k))) {
      proof.challenges.push_back(
          {r_old->prove(challenge), d_new->prove(challenge), r_new->prove(challenge)});
    }
  });
  return out;
}

}  // namespace cuzk::filecoin::synthetic
