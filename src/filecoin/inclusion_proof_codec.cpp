#include "filecoin/inclusion_proof_codec.hpp"

#include "base/error.hpp"

#include <array>

namespace cuzk::filecoin {

using base::ByteReader;
using base::ByteWriter;
using base::JsonReader;
using curve::Fr;

namespace {

constexpr std::array<std::string_view, 3> kVariants = {"Single", "Sub", "Top"};
constexpr std::array<std::string_view, 3> kStoreys = {"base_proof", "sub_proof", "top_proof"};

/// Storeys of trees: 1, 2 or 3, which is also the variant's tag plus one.
unsigned storeys(const TreeShape& shape) { return 1u + (shape.sub > 0) + (shape.top > 0); }

/// The levels [first, first + count) of one storey.
struct Levels {
  unsigned first;
  unsigned count;
};

Levels levels_of(const TreeShape& shape, unsigned storey) {
  return storey == 0 ? Levels{0, shape.base_levels} : Levels{shape.base_levels + storey - 1, 1};
}

InclusionProof empty_proof(const TreeShape& shape) {
  InclusionProof proof;
  proof.siblings.resize(shape.siblings());
  proof.positions.resize(shape.levels());
  return proof;
}

/// Where the siblings of a level start.
std::size_t first_sibling(const TreeShape& shape, unsigned level) {
  std::size_t first = 0;
  for (unsigned i = 0; i < level; ++i) first += shape.arity(i) - 1;
  return first;
}

void require_fits(const InclusionProof& proof, const TreeShape& shape) {
  base::require(
      proof.siblings.size() == shape.siblings() && proof.positions.size() == shape.levels(),
      "a Merkle proof of {} levels and {} siblings does not fit a tree {} of {} levels and {} "
      "siblings",
      proof.positions.size(), proof.siblings.size(), shape.to_string(), shape.levels(),
      shape.siblings());
  for (unsigned level = 0; level < shape.levels(); ++level) {
    base::require(proof.positions[level] < shape.arity(level),
                  "position {} at level {} of a tree of arity {}", proof.positions[level], level,
                  shape.arity(level));
  }
}

void read_storey(ByteReader& reader, const TreeShape& shape, unsigned storey,
                 InclusionProof& proof) {
  const Levels levels = levels_of(shape, storey);
  const std::size_t at = reader.offset();
  const std::uint64_t count = reader.u64_le("number of levels");
  base::require(count == levels.count, "{}: a path of {} levels at byte {}, {} expected",
                reader.name(), count, at, levels.count);
  for (unsigned level = levels.first; level < levels.first + levels.count; ++level) {
    const unsigned arity = shape.arity(level);
    const std::uint64_t siblings = reader.u64_le("number of siblings");
    base::require(siblings == arity - 1, "{}: {} siblings at level {} (byte {}), {} expected",
                  reader.name(), siblings, level, reader.offset() - 8, arity - 1);
    Fr* const to = proof.siblings.data() + first_sibling(shape, level);
    for (unsigned i = 0; i < siblings; ++i) to[i] = read_fr(reader, "sibling");
    const std::uint64_t position = reader.u64_le("position");
    base::require(position < arity, "{}: position {} at level {} (byte {}), below {} expected",
                  reader.name(), position, level, reader.offset() - 8, arity);
    proof.positions[level] = static_cast<std::uint8_t>(position);
  }
}

void write_storey(ByteWriter& writer, const InclusionProof& proof, const TreeShape& shape,
                  unsigned storey) {
  const Levels levels = levels_of(shape, storey);
  writer.u64_le(levels.count);
  for (unsigned level = levels.first; level < levels.first + levels.count; ++level) {
    const auto siblings = proof.siblings_at(shape, level);
    writer.u64_le(siblings.size());
    for (const Fr& sibling : siblings) write_fr(writer, sibling);
    writer.u64_le(proof.positions[level]);
  }
}

void read_storey(JsonReader& reader, const TreeShape& shape, unsigned storey,
                 InclusionProof& proof) {
  static constexpr std::array<std::string_view, 1> kPathKeys = {"path"};
  static constexpr std::array<std::string_view, 2> kLevelKeys = {"hashes", "index"};
  const Levels levels = levels_of(shape, storey);
  reader.fields(kPathKeys, [&](std::size_t) {
    reader.array_of(levels.count, [&](std::size_t i) {
      const unsigned level = levels.first + static_cast<unsigned>(i), arity = shape.arity(level);
      reader.fields(kLevelKeys, [&](std::size_t key) {
        if (key == 1) {
          proof.positions[level] = static_cast<std::uint8_t>(reader.u64(arity - 1));
        } else {
          Fr* const to = proof.siblings.data() + first_sibling(shape, level);
          reader.array_of(arity - 1, [&](std::size_t sibling) { to[sibling] = read_fr(reader); });
        }
      });
    });
  });
}

void append_storey(std::string& out, const InclusionProof& proof, const TreeShape& shape,
                   unsigned storey) {
  const Levels levels = levels_of(shape, storey);
  out += "{\"path\":[";
  for (unsigned level = levels.first; level < levels.first + levels.count; ++level) {
    out += level == levels.first ? "{\"hashes\":[" : ",{\"hashes\":[";
    bool first = true;
    for (const Fr& sibling : proof.siblings_at(shape, level)) {
      if (!first) out += ',';
      first = false;
      append_json(out, sibling);
    }
    out += fmt::format("],\"index\":{}}}", proof.positions[level]);
  }
  out += "]}";
}

}  // namespace

Fr read_fr(ByteReader& reader, std::string_view what) {
  const base::Bytes32 bytes = reader.bytes32(what);
  const auto value = Fr::from_bytes_le(bytes);
  base::require(value.has_value(), "{}: {} at byte {} is no field element: {} is not below r",
                reader.name(), what, reader.offset() - 32, base::to_hex(bytes));
  return *value;
}

void write_fr(ByteWriter& writer, const Fr& value) { writer.bytes(value.to_bytes_le()); }

InclusionProof read_inclusion_proof(ByteReader& reader, const TreeShape& shape) {
  InclusionProof proof = empty_proof(shape);
  const std::uint32_t tag = reader.u32_le("tag of a Merkle proof");
  base::require(tag == storeys(shape) - 1,
                "{}: a Merkle proof with tag {} at byte {}, tag {} ({}) expected for a tree {}",
                reader.name(), tag, reader.offset() - 4, storeys(shape) - 1,
                kVariants[storeys(shape) - 1], shape.to_string());
  const auto read_ends = [&] {
    proof.root = read_fr(reader, "root");
    proof.leaf = read_fr(reader, "leaf");
  };
  if (storeys(shape) == 1) read_ends();
  for (unsigned storey = 0; storey < storeys(shape); ++storey)
    read_storey(reader, shape, storey, proof);
  if (storeys(shape) > 1) read_ends();
  return proof;
}

void write_inclusion_proof(ByteWriter& writer, const InclusionProof& proof,
                           const TreeShape& shape) {
  require_fits(proof, shape);
  writer.u32_le(storeys(shape) - 1);
  const auto write_ends = [&] {
    write_fr(writer, proof.root);
    write_fr(writer, proof.leaf);
  };
  if (storeys(shape) == 1) write_ends();
  for (unsigned storey = 0; storey < storeys(shape); ++storey)
    write_storey(writer, proof, shape, storey);
  if (storeys(shape) > 1) write_ends();
}

std::size_t inclusion_proof_bytes(const TreeShape& shape) {
  return 4 + 64 + 8 * storeys(shape) + 16 * shape.levels() + 32 * shape.siblings();
}

Fr read_fr(JsonReader& reader) {
  const base::Bytes32 bytes = reader.bytes32();
  const auto value = Fr::from_bytes_le(bytes);
  if (!value) reader.reject("no field element: {} is not below r", base::to_hex(bytes));
  return *value;
}

void append_json(std::string& out, const base::Bytes32& value) {
  char text[1 + 4 * 32];
  char* to = text;
  *to++ = '[';
  for (const unsigned byte : value) {
    if (byte >= 100) *to++ = static_cast<char>('0' + byte / 100);
    if (byte >= 10) *to++ = static_cast<char>('0' + byte / 10 % 10);
    *to++ = static_cast<char>('0' + byte % 10);
    *to++ = ',';
  }
  to[-1] = ']';
  out.append(text, to);
}

void append_json(std::string& out, const Fr& value) { append_json(out, value.to_bytes_le()); }

InclusionProof read_inclusion_proof(JsonReader& reader, const TreeShape& shape) {
  static constexpr std::array<std::string_view, 1> kDataKeys = {"data"};
  static constexpr std::array<std::string_view, 6> kKeys = {"root",       "leaf",      "path",
                                                            "base_proof", "sub_proof", "top_proof"};
  // Single has root, leaf, path; Sub and Top have root, leaf and the storeys' names.
  const unsigned trees = storeys(shape);
  const std::uint32_t expected = trees == 1 ? 0b000111u : trees == 2 ? 0b011011u : 0b111011u;
  const std::string_view variant = kVariants[trees - 1];

  InclusionProof proof = empty_proof(shape);
  reader.fields(kDataKeys, [&](std::size_t) {
    bool found = false;
    reader.object([&](std::string_view key) {
      if (key != variant) {
        reader.reject("variant '{}' of a Merkle proof, '{}' expected for a tree {}",
                      base::excerpt(key, base::kMaxQuotedName), variant, shape.to_string());
      }
      if (found) reader.reject("the key occurs twice");
      found = true;
      reader.fields(kKeys, expected, [&](std::size_t i) {
        if ((expected >> i & 1) == 0) reader.reject("the variant '{}' has no such member", variant);
        switch (i) {
          case 0:
            proof.root = read_fr(reader);
            break;
          case 1:
            proof.leaf = read_fr(reader);
            break;
          case 2:
            read_storey(reader, shape, 0, proof);
            break;
          default:
            read_storey(reader, shape, static_cast<unsigned>(i - 3), proof);
        }
      });
    });
    if (!found) reader.reject("the key '{}' is missing", variant);
  });
  return proof;
}

void append_json(std::string& out, const InclusionProof& proof, const TreeShape& shape) {
  require_fits(proof, shape);
  const unsigned trees = storeys(shape);
  const auto append_ends = [&] {
    out += "\"root\":";
    append_json(out, proof.root);
    out += ",\"leaf\":";
    append_json(out, proof.leaf);
  };
  out += fmt::format("{{\"data\":{{\"{}\":{{", kVariants[trees - 1]);
  if (trees == 1) {
    append_ends();
    out += ",\"path\":";
    append_storey(out, proof, shape, 0);
  } else {
    for (unsigned storey = 0; storey < trees; ++storey) {
      out += fmt::format("\"{}\":", kStoreys[storey]);
      append_storey(out, proof, shape, storey);
      out += ',';
    }
    append_ends();
  }
  out += "}}}";
}

}  // namespace cuzk::filecoin
