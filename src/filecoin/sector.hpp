#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cuzk::filecoin {

/// A node of a sector: 32 bytes, one field element.
inline constexpr std::uint64_t kNodeBytes = 32;

/// Parents of a node in the stacked graph. [rust-fil-proofs storage-proofs-core/src/drgraph.rs,
/// stacked/vanilla/graph.rs]
inline constexpr std::size_t kDrgParents = 6;
inline constexpr std::size_t kExpParents = 8;
/// Parents that enter a label's hash: those above, repeated.
inline constexpr std::size_t kLabelParents = 37;

/// The size of a sector in bytes. Only the ten sizes that the protocol knows can be made.
class SectorSize {
 public:
  /// Throws InvalidInput for any other number of bytes.
  explicit SectorSize(std::uint64_t bytes);
  /// "2KiB", "512MiB", "32GiB", ...; throws InvalidInput that lists the known sizes.
  static SectorSize parse(std::string_view text);
  /// 2 KiB, 4 KiB, 16 KiB, 32 KiB, 8 MiB, 16 MiB, 512 MiB, 1 GiB, 32 GiB, 64 GiB.
  static const std::array<SectorSize, 10>& all();

  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t nodes() const { return bytes_ / kNodeBytes; }
  /// log2 of nodes().
  unsigned log2_nodes() const;
  std::string to_string() const;

  friend bool operator==(SectorSize, SectorSize) = default;

 private:
  struct Unchecked {};
  constexpr SectorSize(Unchecked, std::uint64_t bytes) : bytes_(bytes) {}
  std::uint64_t bytes_;
};

/// A Merkle tree: `base_levels` levels of arity `base`, then one level of arity `sub` and one of
/// arity `top`, each absent where 0. A path has its elements in that order, leaf side first.
struct TreeShape {
  unsigned base;
  unsigned sub;
  unsigned top;
  unsigned base_levels;

  unsigned levels() const { return base_levels + (sub > 0) + (top > 0); }
  /// Children of a node whose children are `level` steps above the leaves; level < levels().
  unsigned arity(unsigned level) const {
    return level < base_levels ? base : level == base_levels && sub > 0 ? sub : top;
  }
  /// Siblings in a whole path.
  unsigned siblings() const;
  /// "8-8-0": the spelling in parameter-file names.
  std::string to_string() const;

  friend bool operator==(const TreeShape&, const TreeShape&) = default;
};

/// Tree D: binary, SHA-256.
TreeShape tree_d_shape(SectorSize size);
/// Trees C and R-last (also the update's two): octal with sub- and top-tree by size, Poseidon.
TreeShape tree_r_shape(SectorSize size);

/// What the protocol fixes for a PoRep of one sector size. [rust-fil-proofs
/// filecoin-proofs/src/constants.rs]
struct PorepShape {
  unsigned layers;                    ///< 2, or 11 from 32 GiB
  unsigned challenges_per_partition;  ///< 2, or 18 from 32 GiB
};
PorepShape porep_shape(SectorSize size);

/// Sectors in a WindowPoSt partition's circuit, and challenges of each.
unsigned window_post_sector_count(SectorSize size);
inline constexpr unsigned kWindowPostChallenges = 10;
/// A WinningPoSt circuit has 66 places of one challenge each.
inline constexpr unsigned kWinningPostChallenges = 66;

/// What the protocol fixes for a sector update of one sector size. [rust-fil-proofs
/// storage-proofs-update/src/constants.rs]
struct UpdateShape {
  unsigned partitions;                ///< 1, 2, 4 or 16
  unsigned challenges_per_partition;  ///< 10 or 86
  unsigned apex_leaves;               ///< 8 or 128
  std::array<unsigned, 6> h_choices;  ///< numbers of high bits that select rho
  unsigned h_default;                 ///< h_choices[3]

  unsigned log2_partitions() const;
  unsigned log2_apex_leaves() const;
};
UpdateShape update_shape(SectorSize size);

}  // namespace cuzk::filecoin
