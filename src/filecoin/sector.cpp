#include "filecoin/sector.hpp"

#include "base/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <vector>

namespace cuzk::filecoin {

namespace {

constexpr std::uint64_t kKiB = 1024, kMiB = 1024 * kKiB, kGiB = 1024 * kMiB;

bool is_production(SectorSize size) { return size.bytes() >= 32 * kGiB; }

std::string known_sizes() {
  std::vector<std::string> names;
  for (const SectorSize size : SectorSize::all()) names.push_back(size.to_string());
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

const std::array<SectorSize, 10>& SectorSize::all() {
  static constexpr Unchecked kUnchecked{};
  static constexpr std::array<SectorSize, 10> kAll = {
      SectorSize(kUnchecked, 2 * kKiB),   SectorSize(kUnchecked, 4 * kKiB),
      SectorSize(kUnchecked, 16 * kKiB),  SectorSize(kUnchecked, 32 * kKiB),
      SectorSize(kUnchecked, 8 * kMiB),   SectorSize(kUnchecked, 16 * kMiB),
      SectorSize(kUnchecked, 512 * kMiB), SectorSize(kUnchecked, 1 * kGiB),
      SectorSize(kUnchecked, 32 * kGiB),  SectorSize(kUnchecked, 64 * kGiB)};
  return kAll;
}

SectorSize::SectorSize(std::uint64_t bytes) : bytes_(bytes) {
  const auto& sizes = all();
  base::require(std::any_of(sizes.begin(), sizes.end(),
                            [&](SectorSize size) { return size.bytes_ == bytes; }),
                "sector size {} bytes is unknown; known are {}", bytes, known_sizes());
}

SectorSize SectorSize::parse(std::string_view text) {
  for (const SectorSize size : all()) {
    if (size.to_string() == text) return size;
  }
  base::fail<base::InvalidInput>("sector size '{}' is unknown; known are {}",
                                 base::excerpt(text, base::kMaxQuotedName), known_sizes());
}

unsigned SectorSize::log2_nodes() const { return static_cast<unsigned>(std::countr_zero(nodes())); }

std::string SectorSize::to_string() const {
  if (bytes_ >= kGiB) return fmt::format("{}GiB", bytes_ / kGiB);
  if (bytes_ >= kMiB) return fmt::format("{}MiB", bytes_ / kMiB);
  return fmt::format("{}KiB", bytes_ / kKiB);
}

unsigned TreeShape::siblings() const {
  return base_levels * (base - 1) + (sub > 0 ? sub - 1 : 0) + (top > 0 ? top - 1 : 0);
}

std::string TreeShape::to_string() const { return fmt::format("{}-{}-{}", base, sub, top); }

TreeShape tree_d_shape(SectorSize size) { return {2, 0, 0, size.log2_nodes()}; }

TreeShape tree_r_shape(SectorSize size) {
  TreeShape shape{8, 0, 0, 0};
  switch (size.bytes()) {
    case 4 * kKiB:
    case 16 * kMiB:
    case 1 * kGiB:
      shape.sub = 2;
      break;
    case 16 * kKiB:
    case 32 * kGiB:
      shape.sub = 8;
      break;
    case 32 * kKiB:
    case 64 * kGiB:
      shape.sub = 8;
      shape.top = 2;
      break;
    default:
      break;
  }
  unsigned bits = size.log2_nodes();
  for (const unsigned arity : {shape.sub, shape.top}) {
    if (arity > 0) bits -= static_cast<unsigned>(std::countr_zero(arity));
  }
  shape.base_levels = bits / 3;
  return shape;
}

PorepShape porep_shape(SectorSize size) {
  return is_production(size) ? PorepShape{.layers = 11, .challenges_per_partition = 18}
                             : PorepShape{.layers = 2, .challenges_per_partition = 2};
}

unsigned window_post_sector_count(SectorSize size) {
  if (size.bytes() == 32 * kGiB) return 2349;
  if (size.bytes() == 64 * kGiB) return 2300;
  return 2;
}

unsigned UpdateShape::log2_partitions() const {
  return static_cast<unsigned>(std::countr_zero(partitions));
}
unsigned UpdateShape::log2_apex_leaves() const {
  return static_cast<unsigned>(std::countr_zero(apex_leaves));
}

UpdateShape update_shape(SectorSize size) {
  const std::uint64_t bytes = size.bytes();
  UpdateShape shape{};
  shape.partitions = bytes <= 8 * kKiB ? 1 : bytes <= 32 * kKiB ? 2 : bytes <= 16 * kMiB ? 4 : 16;
  shape.challenges_per_partition = bytes <= 16 * kMiB ? 10 : 86;
  shape.apex_leaves = bytes <= 8 * kKiB ? 8 : 128;
  shape.h_choices = bytes <= 32 * kKiB ? std::array<unsigned, 6>{1, 1, 1, 1, 1, 1}
                                       : std::array<unsigned, 6>{7, 8, 9, 10, 11, 12};
  shape.h_default = shape.h_choices[3];
  return shape;
}

}  // namespace cuzk::filecoin
