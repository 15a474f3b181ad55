#include "filecoin/post/public_inputs.hpp"

#include "base/error.hpp"
#include "filecoin/post/challenges.hpp"

#include <algorithm>

namespace cuzk::filecoin::post {

using curve::Fr;

std::vector<Fr> PublicInputs::to_fields() const {
  std::vector<Fr> out;
  for (const SectorInputs& sector : sectors) {
    out.push_back(sector.comm_r);
    for (const std::uint64_t challenge : sector.challenges) out.push_back(Fr::from_u64(challenge));
  }
  return out;
}

PublicInputs winning_public_inputs(SectorSize size, const base::Bytes32& randomness,
                                   const Sector& sector) {
  PublicInputs out;
  for (const std::uint64_t challenge : winning_challenges(size, randomness, sector.number)) {
    out.sectors.push_back({sector.comm_r, {challenge}});
  }
  return out;
}

PublicInputs window_public_inputs(SectorSize size, ApiVersion version,
                                  const base::Bytes32& randomness, std::span<const Sector> sectors,
                                  unsigned k, std::uint32_t first_partition) {
  const std::size_t places = window_post_sector_count(size);
  const unsigned partitions = window_partition_count(size, sectors.size());
  base::require(k < partitions,
                "WindowPoSt partition {} of {} sectors: there are {} partitions of {} sectors", k,
                sectors.size(), partitions, places);
  const std::size_t first = k * places;
  const std::size_t last = std::min(first + places, sectors.size());
  PublicInputs out;
  for (std::size_t i = first; i < last; ++i) {
    const Sector& sector = sectors[i];
    const std::uint64_t position = std::uint64_t{first_partition} * places + i;
    out.sectors.push_back(
        {sector.comm_r, window_challenges(size, version, randomness, sector.number, position)});
  }
  const SectorInputs padding = out.sectors.back();
  out.sectors.resize(places, padding);
  return out;
}

unsigned window_partition_count(SectorSize size, std::size_t sector_count) {
  const std::size_t places = window_post_sector_count(size);
  return static_cast<unsigned>((sector_count + places - 1) / places);
}

}  // namespace cuzk::filecoin::post
