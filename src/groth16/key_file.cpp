#include "groth16/key_file.hpp"

#include "base/error.hpp"

namespace cuzk::groth16 {

KeyStructure KeyStructure::parse(base::ByteView bytes, std::string_view name) {
  std::size_t offset = 0;
  KeyStructure out;
  out.verifying_key = VerifyingKey::from_bytes(bytes, name, offset);
  SectionReader reader(bytes, name, offset);
  out.h = reader.section(curve::G1Affine::kUncompressedBytes, "h");
  out.l = reader.section(curve::G1Affine::kUncompressedBytes, "l");
  out.a = reader.section(curve::G1Affine::kUncompressedBytes, "a");
  out.b_g1 = reader.section(curve::G1Affine::kUncompressedBytes, "b_g1");
  out.b_g2 = reader.section(curve::G2Affine::kUncompressedBytes, "b_g2");
  reader.expect_end();
  return out;
}

KeyFile::KeyFile(const std::filesystem::path& path)
    : file_(path), structure_(base::read_mapped(file_, [&] {
        return KeyStructure::parse(file_.bytes(), path.string());
      })) {}

void KeyFile::require_circuit(const KeyLayout& layout) const {
  const auto require_count = [&](std::size_t found, std::size_t wanted, std::string_view what) {
    if (found != wanted) {
      base::fail<base::CorruptData>(
          "{}: {} points in {}, but the circuit needs {}: this file belongs to another circuit",
          name(), found, what, wanted);
    }
  };
  require_count(verifying_key().ic.size(), layout.num_inputs, "ic");
  require_count(h().count, (std::size_t{1} << layout.domain_log2) - 1, "h");
  require_count(l().count, layout.variables.num_aux(), "l");
  require_count(a().count, layout.a.size(), "a");
  require_count(b_g1().count, layout.b.size(), "b_g1");
  require_count(b_g2().count, layout.b.size(), "b_g2");
}

}  // namespace cuzk::groth16
