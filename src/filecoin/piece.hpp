#pragma once

#include "base/bytes.hpp"
#include "curve/fr.hpp"

#include <cstddef>

namespace cuzk::filecoin {

/// How a client's bytes become field elements ("fr32"): read as one little-endian bit string, cut
/// into groups of 254 bits, each the low bits of a 32-byte node whose two top bits are 0; the last
/// node is filled up with zeros.
/// [rust-fil-proofs fr32/src/padding.rs]
base::Bytes fr32_pad(base::ByteView data);

/// The inverse: the first `size` bytes of what was padded.
/// Throws InvalidInput if `padded` has less, or no whole number of nodes.
base::Bytes fr32_unpad(base::ByteView padded, std::size_t size);

/// Bytes up to the last one that carries data, when `size` bytes are padded: 127 become 128.
std::size_t fr32_padded_size(std::size_t size);

/// Commitment to a piece (CommP): root of the binary SHA-256 tree over its padded nodes; of a whole
/// sector, comm_d.
/// Throws InvalidInput unless `data` has 127 · 2^m bytes, which fill 4 · 2^m nodes.
curve::Fr piece_commitment(base::ByteView data);

}  // namespace cuzk::filecoin
