#pragma once

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/parallel.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace cuzk::filecoin {

/// decode(blob) of each vanilla proof of a request, in parallel: a WindowPoSt's are 78 MB. What it
/// throws as InvalidInput is thrown with the number of the first blob that is bad.
template <class Decode>
auto decode_blobs(std::span<const base::Bytes> blobs, Decode&& decode) {
  std::vector<decltype(decode(base::ByteView()))> proofs(blobs.size());
  std::vector<std::string> complaints(blobs.size());
  base::parallel_for(blobs.size(), [&](std::size_t i) {
    try {
      proofs[i] = decode(base::ByteView(blobs[i]));
    } catch (const base::InvalidInput& error) {
      complaints[i] = error.what();
    }
  });
  for (std::size_t i = 0; i < blobs.size(); ++i) {
    base::require(complaints[i].empty(), "vanilla proof {} of {}: {}", i, blobs.size(),
                  complaints[i]);
  }
  return proofs;
}

}  // namespace cuzk::filecoin
