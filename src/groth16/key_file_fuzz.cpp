#include "groth16/key_file.hpp"

#include "base/error.hpp"
#include "groth16/point_reader.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace {

using namespace cuzk;

/// Every point either has a fault or encodes back to its bytes.
template <class F>
void decode_section(base::ByteView bytes, const groth16::Section& section) {
  using Point = curve::AffinePoint<F>;
  if (section.end() > bytes.size()) std::abort();
  for (std::size_t i = 0; i < section.count; ++i) {
    const base::ByteView encoding =
        bytes.subspan(section.offset + i * section.point_bytes, section.point_bytes);
    Point point;
    if (groth16::decode_uncompressed(encoding, curve::PointCheck::kOnCurve, point) !=
        curve::PointFault::kNone)
      continue;
    const auto again = point.to_uncompressed();
    if (!std::equal(again.begin(), again.end(), encoding.begin(), encoding.end())) std::abort();
  }
}

}  // namespace

/// Any bytes either are refused with CorruptData or have the structure of a parameter file, all of
/// it within the bytes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const base::ByteView bytes(data, size);
  try {
    const auto key = groth16::KeyStructure::parse(bytes, "fuzzed key");
    if (key.b_g2.end() != size) std::abort();
    decode_section<curve::Fp>(bytes, key.h);
    decode_section<curve::Fp>(bytes, key.l);
    decode_section<curve::Fp>(bytes, key.a);
    decode_section<curve::Fp>(bytes, key.b_g1);
    decode_section<curve::Fp2>(bytes, key.b_g2);
  } catch (const base::CorruptData&) {
  }
  return 0;
}
