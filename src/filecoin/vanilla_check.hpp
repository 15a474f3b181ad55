#pragma once

#include "base/error.hpp"
#include "curve/fr.hpp"
#include "filecoin/inclusion_proof.hpp"
#include "filecoin/sector.hpp"
#include "gadgets/tree_hash.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cuzk::filecoin {

/// Native verification of vanilla proofs: everything that a circuit enforces, and the public values
/// it is proved against, checked with plain hashing before any proving starts. All that is wrong is
/// reported, not only the first.

/// One thing in a vanilla proof that does not hold.
struct BadEntry {
  /// Absent for PoSt, and if the whole is meant.
  std::optional<std::size_t> partition;
  /// Of the challenge within the partition; for PoSt, of the sector's proof.
  std::optional<std::size_t> index;
  /// Sector number, where known.
  std::optional<std::uint64_t> sector;
  /// Path within the proof, in the spelling of the file formats.
  std::string where;
  std::string what;

  friend bool operator==(const BadEntry&, const BadEntry&) = default;
};

/// "partition 3, index 17 (sector 4711): comm_d_proofs: the Merkle path does not reach comm_d".
std::string to_string(const BadEntry& entry);

/// Proofs that were checked: challenges of a PoRep or update, sectors of a PoSt.
struct ProofCount {
  std::size_t total;
  std::size_t per_partition;  ///< of a PoSt, whose entries name none: all
};

/// "BAD-VANILLA: 2 of 2349 proofs rejected: index 17 (sector 4711): ...; index 903 (sector 5120):
/// .... Nothing was proved." Of each proof the first complaint, with the number of further ones;
/// all proofs are named. Where they are many, the text begins with a list of their places alone,
/// "300 of 2349 proofs rejected: indices 0, 8, 16-20: index 0 ...", so that whoever cuts it cuts
/// reasons first. An entry of a partition without an index rejects that partition's proofs, one
/// without either rejects all.
std::string bad_vanilla_message(std::span<const BadEntry> entries, ProofCount count);

/// Collects what is wrong with one proof.
class Findings {
 public:
  Findings() = default;
  Findings(std::optional<std::size_t> partition, std::optional<std::size_t> index,
           std::optional<std::uint64_t> sector)
      : partition_(partition), index_(index), sector_(sector) {}

  template <class... Args>
  void add(std::string_view where, fmt::format_string<Args...> format, Args&&... args) {
    entries_.push_back({partition_, index_, sector_, std::string(where),
                        fmt::format(format, std::forward<Args>(args)...)});
  }
  std::vector<BadEntry> take() { return std::move(entries_); }

 private:
  std::optional<std::size_t> partition_, index_;
  std::optional<std::uint64_t> sector_;
  std::vector<BadEntry> entries_;
};

/// Concatenates, in order.
std::vector<BadEntry> join(std::vector<std::vector<BadEntry>> parts);

using gadgets::TreeHash;

/// The nodes on the path that a proof describes, from the leaf to the root: shape.levels() + 1 of
/// them. The proof must fit the shape.
std::vector<curve::Fr> path_nodes(const InclusionProof& proof, const TreeShape& shape,
                                  TreeHash hash);

/// What a Merkle proof must say.
struct ExpectedInclusion {
  TreeShape shape;
  TreeHash hash;
  std::uint64_t index;  ///< of the leaf
  curve::Fr root;
  std::string_view root_name;  ///< "comm_d"
};

/// Adds what is wrong with the proof: lengths and positions that do not fit the shape, another
/// leaf's index, a path that does not reach the root, another root stated. Returns the nodes on its
/// path; empty if it does not fit the shape.
std::vector<curve::Fr> check_inclusion(Findings& findings, std::string_view where,
                                       const InclusionProof& proof,
                                       const ExpectedInclusion& expected);

}  // namespace cuzk::filecoin
