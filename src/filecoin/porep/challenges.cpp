#include "filecoin/porep/challenges.hpp"

#include "base/error.hpp"
#include "hash/blake2b.hpp"
#include "hash/chacha.hpp"
#include "hash/sha256.hpp"

#include <algorithm>
#include <span>
#include <string_view>

namespace cuzk::filecoin::porep {

using base::Bytes32;
using curve::Fr;

namespace {

constexpr std::uint64_t kMaxSyntheticChallenges = std::uint64_t{1} << 18;

/// 1 + x mod (nodes - 1), x little-endian: node 0, which has no parents, is never challenged.
std::uint64_t challenged_node(std::span<const std::uint8_t, 32> x, std::uint64_t nodes) {
  std::uint64_t rest = 0;  // below 2^31
  for (std::size_t i = x.size(); i-- > 0;) rest = (rest << 8 | x[i]) % (nodes - 1);
  return rest + 1;
}

/// ChaCha20 as a random-access byte source, `position` a multiple of `size`, which divides the
/// block's 64 bytes.
class SyntheticStream {
 public:
  SyntheticStream(std::string_view blake2b_key, const Fr& replica_id, const Bytes32& other) {
    base::ByteWriter message;
    message.bytes(replica_id.to_bytes_le());
    message.bytes(other);
    key_ = hash::keyed_blake2b_256(blake2b_key, message.view());
  }

  template <std::size_t kSize>
  std::array<std::uint8_t, kSize> bytes_at(std::uint64_t position) const {
    static_assert(64 % kSize == 0);
    static constexpr std::array<std::uint8_t, 12> kNonce = {'s', 'y', 'n', 't', 'h', '-',
                                                            'p', 'o', 'r', 'e', 'p', 0};
    const auto block = hash::chacha_block(
        20, key_,
        {static_cast<std::uint32_t>(position / 64), base::load_u32_le(kNonce.data()),
         base::load_u32_le(kNonce.data() + 4), base::load_u32_le(kNonce.data() + 8)});
    std::array<std::uint8_t, kSize> out;
    std::copy_n(block.begin() + static_cast<std::ptrdiff_t>(position % 64), kSize, out.begin());
    return out;
  }

 private:
  Bytes32 key_;
};

SyntheticStream generation_stream(const Fr& replica_id, const Fr& comm_r) {
  return SyntheticStream("filecoin.io|PoRep|1|Synthetic|1|Generation", replica_id,
                         comm_r.to_bytes_le());
}

SyntheticStream selection_stream(const Fr& replica_id, const Bytes32& seed) {
  return SyntheticStream("filecoin.io|PoRep|1|Synthetic|1|Selection", replica_id, seed);
}

std::uint64_t synthetic_set_size(SectorSize size) {
  return std::min(size.nodes(), kMaxSyntheticChallenges);
}

/// SHA-256(tag || replica_id || other || j) for the partition's j
std::vector<std::uint64_t> hashed_challenges(std::string_view tag, SectorSize size,
                                             const Fr& replica_id, const Bytes32& other,
                                             unsigned k) {
  const unsigned count = porep_shape(size).challenges_per_partition;
  std::vector<std::uint64_t> out;
  for (unsigned i = 0; i < count; ++i) {
    base::ByteWriter message;
    message.bytes(base::as_bytes(tag));
    message.bytes(replica_id.to_bytes_le());
    message.bytes(other);
    message.u32_le(count * k + i);
    out.push_back(challenged_node(hash::sha256(message.view()), size.nodes()));
  }
  return out;
}

}  // namespace

std::vector<std::uint64_t> interactive_challenges(SectorSize size, const Fr& replica_id,
                                                  const Bytes32& seed, unsigned k) {
  return hashed_challenges("", size, replica_id, seed, k);
}

std::vector<std::uint64_t> non_interactive_challenges(SectorSize size, const Fr& replica_id,
                                                      const Fr& comm_r, unsigned k) {
  return hashed_challenges("filecoin.io|PoRep|1|NonInteractive|1", size, replica_id,
                           comm_r.to_bytes_le(), k);
}

std::vector<std::uint64_t> synthetic_challenges(SectorSize size, const Fr& replica_id,
                                                const Fr& comm_r, const Bytes32& seed, unsigned k) {
  const SyntheticStream generation = generation_stream(replica_id, comm_r);
  const SyntheticStream selection = selection_stream(replica_id, seed);
  const unsigned count = porep_shape(size).challenges_per_partition;
  std::vector<std::uint64_t> out;
  for (unsigned i = 0; i < count; ++i) {
    const auto drawn = selection.bytes_at<4>(std::uint64_t{4} * (count * k + i));
    const std::uint64_t selected = base::load_u32_le(drawn.data()) % synthetic_set_size(size);
    out.push_back(challenged_node(generation.bytes_at<32>(32 * selected), size.nodes()));
  }
  return out;
}

std::vector<std::uint64_t> challenges(PorepFeature feature, SectorSize size, const Fr& replica_id,
                                      const Fr& comm_r, const Bytes32& seed, unsigned k) {
  switch (feature) {
    case PorepFeature::kInteractive:
      return interactive_challenges(size, replica_id, seed, k);
    case PorepFeature::kSynthetic:
      return synthetic_challenges(size, replica_id, comm_r, seed, k);
    case PorepFeature::kNonInteractive:
      return non_interactive_challenges(size, replica_id, comm_r, k);
  }
  base::fail<base::InvalidInput>("PoRep feature {} is unknown", static_cast<int>(feature));
}

std::vector<std::uint64_t> synthetic_challenge_set(SectorSize size, const Fr& replica_id,
                                                   const Fr& comm_r) {
  const SyntheticStream generation = generation_stream(replica_id, comm_r);
  std::vector<std::uint64_t> out;
  for (std::uint64_t i = 0; i < synthetic_set_size(size); ++i) {
    out.push_back(challenged_node(generation.bytes_at<32>(32 * i), size.nodes()));
  }
  return out;
}

}  // namespace cuzk::filecoin::porep
