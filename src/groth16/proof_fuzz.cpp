#include "groth16/proof.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

/// Any bytes either are refused with InvalidInput or are proofs with exactly this encoding.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cuzk;
  const base::ByteView bytes(data, size);
  try {
    const auto proofs =
        groth16::decode_proofs(bytes, size / groth16::Proof::kBytes, "fuzzed proof");
    if (!std::ranges::equal(groth16::encode_proofs(proofs), bytes)) std::abort();
  } catch (const base::InvalidInput&) {
  }
  return 0;
}
