#include "filecoin/vanilla_check.hpp"

#include "hash/poseidon.hpp"
#include "hash/sha256.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace cuzk::filecoin {

using curve::Fr;

namespace {

/// "partition 3, index 17 (sector 4711)"; empty if the whole is meant.
std::string place(const BadEntry& entry) {
  std::string out;
  if (entry.partition) out += fmt::format("partition {}", *entry.partition);
  if (entry.index) out += fmt::format("{}index {}", out.empty() ? "" : ", ", *entry.index);
  if (entry.sector) out += fmt::format("{}(sector {})", out.empty() ? "" : " ", *entry.sector);
  return out;
}

/// "0, 8, 16-20".
std::string ranges(const std::set<std::size_t>& numbers) {
  std::string out;
  for (auto at = numbers.begin(); at != numbers.end();) {
    const std::size_t first = *at;
    std::size_t last = first;
    while (++at != numbers.end() && *at == last + 1) ++last;
    fmt::format_to(std::back_inserter(out), "{}{}", out.empty() ? "" : ", ", first);
    if (last > first) fmt::format_to(std::back_inserter(out), "-{}", last);
  }
  return out;
}

/// So many proofs are found among their complaints at a glance.
constexpr std::size_t kFewPlaces = 8;

/// The proofs that are rejected, by their places.
class Rejected {
 public:
  void add(const BadEntry& entry) {
    if (entry.index) {
      indices_[entry.partition].insert(*entry.index);
    } else if (entry.partition) {
      whole_partitions_.insert(*entry.partition);
    } else {
      all_ = true;
    }
  }

  std::size_t places() const {
    std::size_t sum = whole_partitions_.size();
    for (const auto& [partition, indices] : indices_) sum += indices.size();
    return sum;
  }

  std::size_t proofs(ProofCount count) const {
    if (all_) return count.total;
    std::size_t sum = whole_partitions_.size() * count.per_partition;
    for (const auto& [partition, indices] : indices_) {
      if (!partition || !whole_partitions_.contains(*partition)) sum += indices.size();
    }
    return std::min(sum, count.total);
  }

  /// "indices 0, 8, 16-20"; "partitions 3-5, partition 7 indices 0, 2".
  std::string to_string() const {
    std::vector<std::string> parts;
    if (!whole_partitions_.empty())
      parts.push_back(fmt::format("partitions {}", ranges(whole_partitions_)));
    for (const auto& [partition, indices] : indices_) {
      if (!partition) {
        parts.push_back(fmt::format("indices {}", ranges(indices)));
      } else if (!whole_partitions_.contains(*partition)) {
        parts.push_back(fmt::format("partition {} indices {}", *partition, ranges(indices)));
      }
    }
    return fmt::format("{}", fmt::join(parts, ", "));
  }

 private:
  bool all_ = false;
  std::set<std::size_t> whole_partitions_;
  std::map<std::optional<std::size_t>, std::set<std::size_t>> indices_;
};

bool fits(const InclusionProof& proof, const TreeShape& shape) {
  if (proof.siblings.size() != shape.siblings() || proof.positions.size() != shape.levels())
    return false;
  for (unsigned level = 0; level < shape.levels(); ++level) {
    if (proof.positions[level] >= shape.arity(level)) return false;
  }
  return true;
}

}  // namespace

std::string to_string(const BadEntry& entry) {
  std::string out = place(entry);
  if (!out.empty()) out += ": ";
  if (!entry.where.empty()) out += entry.where + ": ";
  return out + entry.what;
}

std::string bad_vanilla_message(std::span<const BadEntry> entries, ProofCount count) {
  const auto same_proof = [](const BadEntry& a, const BadEntry& b) {
    return a.partition == b.partition && a.index == b.index;
  };
  std::string details;
  Rejected rejected;
  for (std::size_t i = 0; i < entries.size();) {
    std::size_t end = i + 1;
    while (end < entries.size() && same_proof(entries[end], entries[i])) ++end;
    details += fmt::format("{}{}", details.empty() ? "" : "; ", to_string(entries[i]));
    if (end - i > 1) details += fmt::format(" (and {} more)", end - i - 1);
    rejected.add(entries[i]);
    i = end;
  }
  std::string list;
  if (rejected.places() > kFewPlaces) list = rejected.to_string() + ": ";
  return fmt::format("BAD-VANILLA: {} of {} proofs rejected: {}{}. Nothing was proved.",
                     rejected.proofs(count), count.total, list, details);
}

std::vector<BadEntry> join(std::vector<std::vector<BadEntry>> parts) {
  std::vector<BadEntry> out;
  for (std::vector<BadEntry>& part : parts) {
    out.insert(out.end(), std::make_move_iterator(part.begin()),
               std::make_move_iterator(part.end()));
  }
  return out;
}

std::vector<Fr> path_nodes(const InclusionProof& proof, const TreeShape& shape, TreeHash hash) {
  std::vector<Fr> nodes = {proof.leaf};
  std::vector<Fr> children;
  const Fr* sibling = proof.siblings.data();
  for (unsigned level = 0; level < shape.levels(); ++level) {
    const unsigned arity = shape.arity(level), position = proof.positions[level];
    children.assign(sibling, sibling + arity - 1);
    children.insert(children.begin() + position, nodes.back());
    sibling += arity - 1;
    nodes.push_back(hash == TreeHash::kSha256
                        ? hash::sha256_node(children[0], children[1])
                        : hash::poseidon(hash::merkle_domain(arity), children));
  }
  return nodes;
}

std::vector<Fr> check_inclusion(Findings& findings, std::string_view where,
                                const InclusionProof& proof, const ExpectedInclusion& expected) {
  if (!fits(proof, expected.shape)) {
    findings.add(where,
                 "{} levels and {} siblings do not fit a tree {} of {} levels and {} siblings",
                 proof.positions.size(), proof.siblings.size(), expected.shape.to_string(),
                 expected.shape.levels(), expected.shape.siblings());
    return {};
  }
  const std::uint64_t index = proof.leaf_index(expected.shape);
  if (index != expected.index) {
    findings.add(where, "the path is that of leaf {}, leaf {} is to be opened", index,
                 expected.index);
  }
  std::vector<Fr> nodes = path_nodes(proof, expected.shape, expected.hash);
  if (nodes.back() != expected.root)
    findings.add(where, "the Merkle path does not reach {}", expected.root_name);
  if (proof.root != expected.root)
    findings.add(where, "the stated root is not {}", expected.root_name);
  return nodes;
}

}  // namespace cuzk::filecoin
