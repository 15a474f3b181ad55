#include "groth16/verifying_key.hpp"

#include "base/mapped_file.hpp"
#include "base/parallel.hpp"
#include "groth16/point_reader.hpp"
#include "groth16/section.hpp"

namespace cuzk::groth16 {

using base::CorruptData;
using curve::PointCheck;

namespace {

template <class Point>
void append(base::Bytes& out, const Point& point) {
  const auto bytes = point.to_uncompressed();
  out.insert(out.end(), bytes.begin(), bytes.end());
}

}  // namespace

base::Bytes VerifyingKey::to_bytes() const {
  base::Bytes out;
  append(out, alpha_g1);
  append(out, beta_g1);
  append(out, beta_g2);
  append(out, gamma_g2);
  append(out, delta_g1);
  append(out, delta_g2);
  append_count(out, ic.size());
  for (const curve::G1Affine& point : ic) append(out, point);
  return out;
}

VerifyingKey VerifyingKey::from_bytes(base::ByteView bytes, std::string_view name,
                                      std::size_t& size) {
  SectionReader reader(bytes, name);
  VerifyingKey key;
  const auto read = [&](auto& point, std::string_view what) {
    using Point = std::remove_reference_t<decltype(point)>;
    const base::ByteView encoding = reader.bytes(Point::kUncompressedBytes, what);
    require_point<CorruptData>(decode_uncompressed(encoding, PointCheck::kInGroup, point), name,
                               what);
  };
  read(key.alpha_g1, "alpha_g1");
  read(key.beta_g1, "beta_g1");
  read(key.beta_g2, "beta_g2");
  read(key.gamma_g2, "gamma_g2");
  read(key.delta_g1, "delta_g1");
  read(key.delta_g2, "delta_g2");
  const Section ic = reader.section(curve::G1Affine::kUncompressedBytes, "ic");
  key.ic.resize(ic.count);
  base::parallel_for(ic.count, [&](std::size_t i) {
    const base::ByteView encoding =
        bytes.subspan(ic.offset + i * curve::G1Affine::kUncompressedBytes);
    const auto fault = decode_uncompressed(encoding, PointCheck::kInGroup, key.ic[i]);
    require_point<CorruptData>(fault, name, fmt::format("ic[{}]", i));
  });
  size = reader.offset();
  return key;
}

VerifyingKey read_verifying_key(const std::filesystem::path& path) {
  const base::MappedFile file(path);
  std::size_t size = 0;
  VerifyingKey key = base::read_mapped(
      file, [&] { return VerifyingKey::from_bytes(file.bytes(), path.string(), size); });
  if (size != file.bytes().size()) {
    base::fail<CorruptData>("{}: {} bytes after the end of the verifying key", path.string(),
                            file.bytes().size() - size);
  }
  return key;
}

void write_verifying_key(const VerifyingKey& key, const std::filesystem::path& path) {
  base::FileWriter writer(path);
  writer.write(key.to_bytes());
  writer.commit();
}

}  // namespace cuzk::groth16
