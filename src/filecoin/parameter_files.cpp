#include "filecoin/parameter_files.hpp"

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "hash/sha256.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>

namespace cuzk::filecoin {

namespace {

constexpr std::string_view kVersion = "v28";

constexpr std::array<CircuitKind, 5> kKinds = {CircuitKind::kPorep, CircuitKind::kWinningPost,
                                               CircuitKind::kWindowPost, CircuitKind::kUpdate,
                                               CircuitKind::kUpdatePoseidon};
constexpr std::array<std::string_view, 5> kNames = {"porep", "winning-post", "window-post",
                                                    "update", "update-poseidon"};

struct Published {
  CircuitKind kind;
  std::string_view size;
  PublishedDigests digests;
};

constexpr Published kPublished[] = {
    {CircuitKind::kPorep,
     "2KiB",
     {"434fb1338ecfaf0f59256f30dde4968f", "dc1ade9929ade1708238f155343044ac"}},
    {CircuitKind::kPorep,
     "8MiB",
     {"09e612e4eeb7a0eb95679a88404f960c", "b687beb9adbd9dabe265a7e3620813e4"}},
    {CircuitKind::kPorep,
     "512MiB",
     {"6c77597eb91ab936c1cef4cf19eba1b3", "065179da19fbe515507267677f02823e"}},
    {CircuitKind::kPorep,
     "32GiB",
     {"6a388072a518cf46ebd661f5cc46900a", "0c7b4aac1c40fdb7eb82bc355b41addf"}},
    {CircuitKind::kPorep,
     "64GiB",
     {"1801f8a6e1b00bceb00cc27314bb5ce3", "a89884252c04c298d0b3c81bfd884164"}},
    {CircuitKind::kWinningPost,
     "2KiB",
     {"82c88066be968bb550a05e30ff6c2413", "ffd79788d614d27919ae5bd2d94eacb6"}},
    {CircuitKind::kWinningPost,
     "8MiB",
     {"700171ecf7334e3199437c930676af82", "79ebb55f56fda427743e35053edad8fc"}},
    {CircuitKind::kWinningPost,
     "512MiB",
     {"827359440349fe8f5a016e7598993b79", "bd2cd62f65c1ab84f19ca27e97b7c731"}},
    {CircuitKind::kWinningPost,
     "32GiB",
     {"d84f79a16fe40e9e25a36e2107bb1ba0", "fc02943678dd119e69e7fab8420e8819"}},
    {CircuitKind::kWinningPost,
     "64GiB",
     {"2170a91ad5bae22ea61f2ea766630322", "6d3789148fb6466d07ee1e24d6292fd6"}},
    {CircuitKind::kWindowPost,
     "2KiB",
     {"7610b9f82bfc88405b7a832b651ce2f6", "0e0958009936b9d5e515ec97b8cb792d"}},
    {CircuitKind::kWindowPost,
     "8MiB",
     {"c49499bb76a0762884896f9683403f55", "34d4feeacd9abf788d69ef1bb4d8fd00"}},
    {CircuitKind::kWindowPost,
     "512MiB",
     {"1a7d4a9c8a502a497ed92a54366af33f", "4dae975de4f011f101f5a2f86d1daaba"}},
    {CircuitKind::kWindowPost,
     "32GiB",
     {"2cf49eb26f1fee94c85781a390ddb4c8", "0f8ec542485568fa3468c066e9fed82b"}},
    {CircuitKind::kWindowPost,
     "64GiB",
     {"3810b7780ac0e299b22ae70f1f94c9bc", "59d2bf1857adc59a4f08fcf2afaa916b"}},
    {CircuitKind::kUpdate,
     "2KiB",
     {"311f92a3e75036ced01b1c0025f1fa0c", "eadad9784969890d30f2749708c79771"}},
    {CircuitKind::kUpdate,
     "8MiB",
     {"5aedd2cf3e5c0a15623d56a1b43110ad", "abd80269054d391a734febdac0d2e687"}},
    {CircuitKind::kUpdate,
     "512MiB",
     {"c3ad7bb549470b82ad52ed070aebb4f4", "994c5b7d450ca9da348c910689f2dc7f"}},
    {CircuitKind::kUpdate,
     "32GiB",
     {"1b3cfd761a961543f9eb273e435a06a2", "3a6941983754737fde880d29c7094905"}},
    {CircuitKind::kUpdate,
     "64GiB",
     {"1a392e7b759fb18e036c7559b5ece816", "80e366df2f1011953c2d01c7b7c9ee8e"}},
    {CircuitKind::kUpdatePoseidon,
     "32GiB",
     {"b69983b5d7a97a20f43b3d5ff2a4ed04", "1ac05784f304129f74c5184190c1ec78"}},
    {CircuitKind::kUpdatePoseidon,
     "64GiB",
     {"a6d4f96e2b641a6d7a1a8e6dc1155c8a", "8e8fb9e2c56eb5d740d0de135305a7b8"}},
};

/// "merkletree-poseidon_hasher-8-8-0": the tree that all circuits of a size open.
std::string tree_name(SectorSize size) {
  return fmt::format("merkletree-poseidon_hasher-{}", tree_r_shape(size).to_string());
}

void require_exists(CircuitKind kind, SectorSize size) {
  base::require(circuit_exists(kind, size), "there is no circuit {} for {}", to_string(kind),
                size.to_string());
}

std::string porep_identifier(SectorSize size) {
  const PorepShape shape = porep_shape(size);
  return fmt::format(
      "layered_drgporep::PublicParams{{ graph: stacked_graph::StackedGraph{{expansion_degree: {} "
      "base_graph: "
      "drgraph::BucketGraph{{size: {}; degree: {}; hasher: poseidon_hasher}} }}, challenges: "
      "LayerChallenges {{ layers: "
      "{}, max_count: {} }}, tree: {} }}",
      kExpParents, size.nodes(), kDrgParents, shape.layers, shape.challenges_per_partition,
      tree_name(size));
}

std::string post_identifier(SectorSize size, unsigned challenges, unsigned sectors) {
  return fmt::format(
      "FallbackPoSt::PublicParams{{sector_size: {}, challenge_count: {}, sector_count: {}}}",
      size.bytes(), challenges, sectors);
}

}  // namespace

const std::array<CircuitKind, 5>& all_circuit_kinds() { return kKinds; }

std::string_view to_string(CircuitKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

CircuitKind parse_circuit_kind(std::string_view name) {
  if (name == "winning") return CircuitKind::kWinningPost;
  if (name == "window") return CircuitKind::kWindowPost;
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  base::require(found != kNames.end(), "circuit '{}' is unknown; known are {}", name,
                fmt::join(kNames, ", "));
  return kKinds[static_cast<std::size_t>(found - kNames.begin())];
}

bool circuit_exists(CircuitKind kind, SectorSize size) {
  const bool update = kind == CircuitKind::kUpdate || kind == CircuitKind::kUpdatePoseidon;
  return !update || size.bytes() != std::uint64_t{1} << 30;
}

std::string parameter_identifier(CircuitKind kind, SectorSize size) {
  require_exists(kind, size);
  switch (kind) {
    case CircuitKind::kPorep:
      return porep_identifier(size);
    case CircuitKind::kWinningPost:
      return post_identifier(size, 1, kWinningPostChallenges);
    case CircuitKind::kWindowPost:
      return post_identifier(size, kWindowPostChallenges, window_post_sector_count(size));
    case CircuitKind::kUpdate:
    case CircuitKind::kUpdatePoseidon:
      return fmt::format("empty_sector_update::PublicParams{{ sector_nodes: {} }}", size.nodes());
  }
  base::fail<base::InvalidInput>("circuit {} is unknown", static_cast<int>(kind));
}

std::string cache_id(CircuitKind kind, SectorSize size) {
  const std::string digest =
      base::to_hex(hash::sha256(base::as_bytes(parameter_identifier(kind, size))));
  switch (kind) {
    case CircuitKind::kPorep:
      return fmt::format("stacked-proof-of-replication-{}-sha256_hasher-{}", tree_name(size),
                         digest);
    case CircuitKind::kWinningPost:
    case CircuitKind::kWindowPost:
      return fmt::format("proof-of-spacetime-fallback-{}-{}", tree_name(size), digest);
    case CircuitKind::kUpdate:
      return fmt::format("empty-sector-update-{}-{}", tree_name(size), digest);
    case CircuitKind::kUpdatePoseidon:
      return fmt::format("empty-sector-update-poseidon-{}-{}", tree_name(size), digest);
  }
  base::fail<base::InvalidInput>("circuit {} is unknown", static_cast<int>(kind));
}

std::string params_file_name(CircuitKind kind, SectorSize size) {
  return fmt::format("{}-{}.params", kVersion, cache_id(kind, size));
}

std::string vk_file_name(CircuitKind kind, SectorSize size) {
  return fmt::format("{}-{}.vk", kVersion, cache_id(kind, size));
}

std::optional<PublishedDigests> published_digests(CircuitKind kind, SectorSize size) {
  for (const Published& entry : kPublished) {
    if (entry.kind == kind && entry.size == size.to_string()) return entry.digests;
  }
  return std::nullopt;
}

}  // namespace cuzk::filecoin
