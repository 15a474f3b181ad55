#include "filecoin/vanilla_check.hpp"

#include "hash/poseidon.hpp"
#include "hash/sha256.hpp"

#include <algorithm>
#include <iterator>

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

std::string bad_vanilla_message(std::span<const BadEntry> entries, std::size_t total) {
  const auto same_proof = [](const BadEntry& a, const BadEntry& b) {
    return a.partition == b.partition && a.index == b.index;
  };
  std::string list;
  std::size_t rejected = 0;
  bool whole = false;
  for (std::size_t i = 0; i < entries.size();) {
    std::size_t end = i + 1;
    while (end < entries.size() && same_proof(entries[end], entries[i])) ++end;
    list += fmt::format("{}{}", list.empty() ? "" : "; ", to_string(entries[i]));
    if (end - i > 1) list += fmt::format(" (and {} more)", end - i - 1);
    if (entries[i].index) {
      ++rejected;
    } else {
      whole = true;
    }
    i = end;
  }
  return fmt::format("BAD-VANILLA: {} of {} proofs rejected: {}. Nothing was proved.",
                     whole ? total : rejected, total, list);
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
