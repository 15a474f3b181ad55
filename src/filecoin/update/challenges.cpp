#include "filecoin/update/challenges.hpp"

#include "base/error.hpp"
#include "hash/poseidon.hpp"

#include <array>
#include <bit>

namespace cuzk::filecoin::update {

using curve::Fr;

namespace {

/// Bits first ... first + count - 1 of a 256-bit integer, count < 64.
std::uint64_t bits_of(const std::array<std::uint64_t, 4>& value, unsigned first, unsigned count) {
  const unsigned limb = first / 64, shift = first % 64;
  std::uint64_t out = value[limb] >> shift;
  if (shift > 0 && limb + 1 < value.size()) out |= value[limb + 1] << (64 - shift);
  return out & ((std::uint64_t{1} << count) - 1);
}

}  // namespace

std::vector<std::uint64_t> challenges(const ChallengeShape& shape, const Fr& comm_r_new,
                                      unsigned k) {
  base::require(k < shape.partitions, "sector update partition {}: there are {}", k,
                shape.partitions);
  const unsigned random_bits =
      shape.log2_nodes - static_cast<unsigned>(std::countr_zero(shape.partitions));
  const unsigned per_digest = Fr::kCapacity / random_bits;
  const unsigned digests = (shape.count + per_digest - 1) / per_digest;

  std::vector<std::uint64_t> out;
  std::array<std::uint64_t, 4> digest{};
  for (unsigned i = 0; i < shape.count; ++i) {
    if (i % per_digest == 0) {
      const Fr number = Fr::from_u64(std::uint64_t{k} * digests + i / per_digest);
      digest = hash::poseidon(hash::PoseidonDomain::kGenRandomness2, {comm_r_new, number})
                   .to_canonical();
    }
    out.push_back(bits_of(digest, i % per_digest * random_bits, random_bits) | std::uint64_t{k}
                                                                                   << random_bits);
  }
  return out;
}

std::vector<std::uint64_t> challenges(SectorSize size, const Fr& comm_r_new, unsigned k) {
  const UpdateShape shape = update_shape(size);
  return challenges({size.log2_nodes(), shape.partitions, shape.challenges_per_partition},
                    comm_r_new, k);
}

std::vector<std::uint64_t> poseidon_challenges(SectorSize size, const Fr& comm_r_new) {
  const UpdateShape shape = update_shape(size);
  return challenges({size.log2_nodes(), 1, shape.partitions * shape.challenges_per_partition},
                    comm_r_new, 0);
}

}  // namespace cuzk::filecoin::update
