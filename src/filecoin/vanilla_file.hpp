#pragma once

#include "base/bytes.hpp"

#include <span>
#include <string>
#include <vector>

namespace cuzk::filecoin {

/// A file of PoSt or update vanilla proofs: a JSON array of base64 strings, or the bytes of a
/// single blob.

/// The blobs, in order. A file that contains a zero byte is a blob (the bincode of a proof always
/// does, text never), anything else is JSON. Throws InvalidInput for JSON of another form, naming
/// the place, and for a string that is no base64. The blobs are not looked into.
std::vector<base::Bytes> decode_vanilla_file(base::ByteView file);

/// The JSON form, without white space.
std::string encode_vanilla_file(std::span<const base::Bytes> blobs);

}  // namespace cuzk::filecoin
