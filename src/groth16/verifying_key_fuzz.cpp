#include "groth16/verifying_key.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

/// Any bytes either are refused with CorruptData or begin with a verifying key of exactly this
/// encoding.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cuzk;
  const base::ByteView bytes(data, size);
  try {
    std::size_t used = 0;
    const auto key = groth16::VerifyingKey::from_bytes(bytes, "fuzzed key", used);
    if (used > size || !std::ranges::equal(key.to_bytes(), bytes.first(used))) std::abort();
  } catch (const base::CorruptData&) {
  }
  return 0;
}
