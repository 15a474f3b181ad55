#pragma once

#include "base/bytes.hpp"
#include "base/json_reader.hpp"
#include "filecoin/inclusion_proof.hpp"

#include <string>

namespace cuzk::filecoin {

/// Field elements and Merkle proofs as the reference library serialises them, in its two formats.
/// [rust-fil-proofs storage-proofs-core/src/merkle/proof.rs, serde's derived forms]
///
/// Both formats write a path as a list of levels, leaf side first, each the siblings and the path's
/// own position; a path that crosses sub-trees is cut into one list a tree. Which variant a tree
/// uses follows from its shape:
///   Single (tag 0)  one tree;               fields root, leaf, path
///   Sub (tag 1)     base trees below one;   fields base_proof, sub_proof, root, leaf
///   Top (tag 2)     three storeys;          fields base_proof, sub_proof, top_proof, root, leaf
///
/// bincode: fields in that order; u32 tag; a list is its u64 length and its elements; a position is
/// a u64; a field element is 32 bytes; all little-endian.
///
/// JSON: {"data": {"<variant>": {fields}}}, a list of levels being {"path": [{"hashes": [...],
/// "index": n}, ...]} and a field element an array of 32 numbers, little-endian; keys in any order.
///
/// Readers demand exactly the given shape: variant, levels, siblings of each level, positions below
/// the arity; and elements below r. They throw InvalidInput otherwise. Writers throw it for a proof
/// that does not fit its shape.

curve::Fr read_fr(base::ByteReader& reader, std::string_view what);
void write_fr(base::ByteWriter& writer, const curve::Fr& value);

InclusionProof read_inclusion_proof(base::ByteReader& reader, const TreeShape& shape);
void write_inclusion_proof(base::ByteWriter& writer, const InclusionProof& proof,
                           const TreeShape& shape);
/// Bytes that a proof of this shape takes in bincode.
std::size_t inclusion_proof_bytes(const TreeShape& shape);

curve::Fr read_fr(base::JsonReader& reader);
/// Appends the array of numbers.
void append_json(std::string& out, const base::Bytes32& value);
void append_json(std::string& out, const curve::Fr& value);

InclusionProof read_inclusion_proof(base::JsonReader& reader, const TreeShape& shape);
void append_json(std::string& out, const InclusionProof& proof, const TreeShape& shape);

}  // namespace cuzk::filecoin
