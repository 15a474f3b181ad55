#include "groth16/proof.hpp"

#include "base/error.hpp"
#include "groth16/point_reader.hpp"

#include <algorithm>

namespace cuzk::groth16 {

std::array<std::uint8_t, Proof::kBytes> Proof::to_bytes() const {
  std::array<std::uint8_t, kBytes> out;
  const auto a_bytes = a.to_compressed();
  const auto b_bytes = b.to_compressed();
  const auto c_bytes = c.to_compressed();
  auto next = std::copy(a_bytes.begin(), a_bytes.end(), out.begin());
  next = std::copy(b_bytes.begin(), b_bytes.end(), next);
  std::copy(c_bytes.begin(), c_bytes.end(), next);
  return out;
}

Proof Proof::from_bytes(base::ByteView bytes, std::string_view name) {
  base::require(bytes.size() == kBytes, "{}: {} bytes; a proof has {}", name, bytes.size(), kBytes);
  Proof proof;
  require_point<base::InvalidInput>(decode_compressed(bytes.subspan(0, 48), proof.a), name,
                                    "element A");
  require_point<base::InvalidInput>(decode_compressed(bytes.subspan(48, 96), proof.b), name,
                                    "element B");
  require_point<base::InvalidInput>(decode_compressed(bytes.subspan(144, 48), proof.c), name,
                                    "element C");
  return proof;
}

base::Bytes encode_proofs(const std::vector<Proof>& proofs) {
  base::Bytes out;
  out.reserve(proofs.size() * Proof::kBytes);
  for (const Proof& proof : proofs) {
    const auto bytes = proof.to_bytes();
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
  return out;
}

std::vector<Proof> decode_proofs(base::ByteView bytes, std::size_t count, std::string_view name) {
  base::require(bytes.size() == count * Proof::kBytes,
                "{}: {} bytes; {} partition{} of {} bytes expected", name, bytes.size(), count,
                count == 1 ? "" : "s", Proof::kBytes);
  std::vector<Proof> out;
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back(Proof::from_bytes(bytes.subspan(i * Proof::kBytes, Proof::kBytes),
                                    fmt::format("{}, partition {}", name, i)));
  }
  return out;
}

}  // namespace cuzk::groth16
