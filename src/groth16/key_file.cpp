#include "groth16/key_file.hpp"

#include "base/error.hpp"

namespace cuzk::groth16 {

KeyFile::KeyFile(const std::filesystem::path& path) : file_(path) {
  const std::string file_name = name();
  std::size_t offset = 0;
  verifying_key_ = VerifyingKey::from_bytes(file_.bytes(), file_name, offset);
  SectionReader reader(file_.bytes(), file_name, offset);
  h_ = reader.section(curve::G1Affine::kUncompressedBytes, "h");
  l_ = reader.section(curve::G1Affine::kUncompressedBytes, "l");
  a_ = reader.section(curve::G1Affine::kUncompressedBytes, "a");
  b_g1_ = reader.section(curve::G1Affine::kUncompressedBytes, "b_g1");
  b_g2_ = reader.section(curve::G2Affine::kUncompressedBytes, "b_g2");
  reader.expect_end();
}

void KeyFile::require_circuit(const KeyLayout& layout) const {
  const auto require_count = [&](std::size_t found, std::size_t wanted, std::string_view what) {
    if (found != wanted) {
      base::fail<base::CorruptData>("{}: {} points in {}, but the circuit needs {}: this file belongs to another circuit",
                                    name(), found, what, wanted);
    }
  };
  require_count(verifying_key_.ic.size(), layout.num_inputs, "ic");
  require_count(h_.count, (std::size_t{1} << layout.domain_log2) - 1, "h");
  require_count(l_.count, layout.variables.num_aux(), "l");
  require_count(a_.count, layout.a.size(), "a");
  require_count(b_g1_.count, layout.b.size(), "b_g1");
  require_count(b_g2_.count, layout.b.size(), "b_g2");
}

}  // namespace cuzk::groth16
