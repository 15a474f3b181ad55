#include "filecoin/graph.hpp"

#include "base/error.hpp"
#include "hash/blake2b.hpp"
#include "hash/chacha.hpp"
#include "hash/sha256.hpp"

#include <algorithm>
#include <bit>
#include <vector>

namespace cuzk::filecoin {

namespace {

/// SHA-256(tag || porep_id)
base::Bytes32 domain_seed(std::string_view tag, const base::Bytes32& porep_id) {
  base::ByteWriter message;
  message.bytes(base::as_bytes(tag));
  message.bytes(porep_id);
  return hash::sha256(message.view());
}

/// The u64 values of the ChaCha8 key stream, least significant byte first.
class ChaCha8Stream {
 public:
  explicit ChaCha8Stream(const base::Bytes32& key) : key_(key) {}

  std::uint64_t next() {
    if (position_ == block_.size()) {
      block_ = hash::chacha_block(8, key_, {counter_++, 0, 0, 0});
      position_ = 0;
    }
    position_ += 8;
    return base::load_u64_le(block_.data() + position_ - 8);
  }

 private:
  base::Bytes32 key_;
  std::uint32_t counter_ = 0;
  std::array<std::uint8_t, 64> block_;
  std::size_t position_ = 64;
};

void store_u64_be(std::uint64_t value, std::uint8_t* out) {
  for (int i = 0; i < 8; ++i) out[i] = static_cast<std::uint8_t>(value >> (56 - 8 * i));
}

std::uint64_t load_u64_be(const std::uint8_t* bytes) {
  std::uint64_t value = 0;
  for (int i = 0; i < 8; ++i) value = value << 8 | bytes[i];
  return value;
}

/// Round function of the Feistel network: the first 8 bytes of BLAKE2b(half || key), all
/// big-endian. `hasher` is scratch.
std::uint64_t feistel_round(std::uint64_t half, std::uint64_t key, hash::Blake2b& hasher) {
  std::array<std::uint8_t, 16> message;
  store_u64_be(half, message.data());
  store_u64_be(key, message.data() + 8);
  hasher.reset();
  hasher.update(message);
  return load_u64_be(hasher.finish().data());
}

}  // namespace

StackedGraph::StackedGraph(SectorSize size, const base::Bytes32& porep_id, ApiVersion version)
    : nodes_(size.nodes()), version_(version) {
  const base::Bytes32 seed = domain_seed("Filecoin_DRSample", porep_id);
  std::copy_n(seed.begin(), drg_seed_.size(), drg_seed_.begin());
  const base::Bytes32 keys = domain_seed("Filecoin_Feistel", porep_id);
  for (std::size_t i = 0; i < feistel_keys_.size(); ++i)
    feistel_keys_[i] = base::load_u64_le(keys.data() + 8 * i);
  const unsigned edge_bits = static_cast<unsigned>(std::bit_width(kExpParents * nodes_ - 1));
  feistel_half_bits_ = (edge_bits + 1) / 2;
}

void StackedGraph::require_node(std::uint64_t node) const {
  base::require(node < nodes_, "node {} is outside the sector, which has {}", node, nodes_);
}

std::array<std::uint32_t, kDrgParents> StackedGraph::drg_parents(std::uint64_t node) const {
  require_node(node);
  std::array<std::uint32_t, kDrgParents> out{};
  if (node < 2) return out;

  base::Bytes32 seed;
  std::copy(drg_seed_.begin(), drg_seed_.end(), seed.begin());
  base::store_u32_le(static_cast<std::uint32_t>(node), seed.data() + drg_seed_.size());
  ChaCha8Stream random(seed);

  constexpr std::uint64_t kSampled = kDrgParents - 1;
  const std::uint64_t metanode = node * kSampled;
  const unsigned buckets =
      static_cast<unsigned>(std::bit_width(metanode));  // 5·node is no power of two
  const std::size_t first_sampled = version_ == ApiVersion::k1_0 ? 0 : 1;
  for (std::size_t i = 0; i < kSampled; ++i) {
    const std::uint64_t bucket = random.next() % buckets + 1;
    const std::uint64_t largest = std::min(metanode, std::uint64_t{1} << bucket);
    const std::uint64_t smallest = std::max(std::uint64_t{2}, largest / 2);
    const std::uint64_t distance = smallest + random.next() % (largest - smallest + 1);
    const std::uint64_t parent = (metanode - distance) / kSampled;
    out[first_sampled + i] = static_cast<std::uint32_t>(parent == node ? node - 1 : parent);
  }
  out[version_ == ApiVersion::k1_0 ? kSampled : 0] = static_cast<std::uint32_t>(node - 1);
  return out;
}

std::uint64_t StackedGraph::permute_edge(std::uint64_t edge, hash::Blake2b& hasher) const {
  const std::uint64_t mask = (std::uint64_t{1} << feistel_half_bits_) - 1;
  do {
    std::uint64_t left = edge >> feistel_half_bits_;
    std::uint64_t right = edge & mask;
    for (const std::uint64_t key : feistel_keys_) {
      const std::uint64_t mixed = left ^ (feistel_round(right, key, hasher) & mask);
      left = right;
      right = mixed;
    }
    edge = left << feistel_half_bits_ | right;
  } while (edge >= kExpParents * nodes_);
  return edge;
}

std::array<std::uint32_t, kExpParents> StackedGraph::exp_parents(std::uint64_t node) const {
  require_node(node);
  hash::Blake2b hasher;
  std::array<std::uint32_t, kExpParents> out;
  for (std::size_t i = 0; i < kExpParents; ++i) {
    std::uint64_t edge = permute_edge(node * kExpParents + i, hasher);
    if (version_ == ApiVersion::k1_0) edge &= 0xffffffff;
    out[i] = static_cast<std::uint32_t>(edge / kExpParents);
  }
  return out;
}

base::Bytes32 create_label(const base::Bytes32& replica_id, std::uint32_t layer, std::uint64_t node,
                           std::span<const base::Bytes32> parents) {
  base::require(layer > 0, "label of layer 0: layers count from 1");
  const std::size_t expected = node == 0 ? 0 : layer == 1 ? kDrgParents : kDrgParents + kExpParents;
  base::require(parents.size() == expected,
                "label of node {} in layer {} with {} parents: must have {}", node, layer,
                parents.size(), expected);

  std::array<std::uint8_t, 64 + 32 * kLabelParents> message{};
  std::copy(replica_id.begin(), replica_id.end(), message.begin());
  store_u64_be(node, message.data() + 36);
  for (int i = 0; i < 4; ++i) message[32 + i] = static_cast<std::uint8_t>(layer >> (24 - 8 * i));
  std::size_t length = 64;
  if (!parents.empty()) {
    for (std::size_t i = 0; i < kLabelParents; ++i, length += 32) {
      const base::Bytes32& label = parents[i % parents.size()];
      std::copy(label.begin(), label.end(), message.begin() + static_cast<std::ptrdiff_t>(length));
    }
  }
  base::Bytes32 out = hash::sha256(base::ByteView(message).first(length));
  hash::truncate_to_fr(out);
  return out;
}

curve::Fr create_label(const curve::Fr& replica_id, std::uint32_t layer, std::uint64_t node,
                       std::span<const curve::Fr> parents) {
  std::vector<base::Bytes32> labels;
  labels.reserve(parents.size());
  for (const curve::Fr& parent : parents) labels.push_back(parent.to_bytes_le());
  return *curve::Fr::from_bytes_le(create_label(replica_id.to_bytes_le(), layer, node, labels));
}

}  // namespace cuzk::filecoin
