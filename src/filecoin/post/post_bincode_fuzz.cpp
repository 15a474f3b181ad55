#include "base/error.hpp"
#include "filecoin/post/vanilla_codec.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

/// The first byte chooses sector size and number of challenges, the rest is the blob. It either is
/// refused with InvalidInput or is written again as the same bytes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cuzk;
  if (size == 0) return 0;
  const auto& sizes = filecoin::SectorSize::all();
  const filecoin::SectorSize sector_size = sizes[(data[0] >> 1) % sizes.size()];
  const unsigned challenges =
      data[0] & 1 ? filecoin::kWinningPostChallenges : filecoin::kWindowPostChallenges;
  const base::ByteView blob(data + 1, size - 1);
  try {
    const auto proof = filecoin::post::decode_vanilla_proof(blob, sector_size, challenges);
    const base::Bytes written = filecoin::post::encode_vanilla_proof(proof, sector_size);
    if (!std::equal(written.begin(), written.end(), blob.begin(), blob.end())) std::abort();
    if (filecoin::post::sector_size_of(blob, challenges) != sector_size) std::abort();
  } catch (const base::InvalidInput&) {
  }
  return 0;
}
