#include "groth16/derived_key.hpp"

#include "base/error.hpp"
#include "curve/g1.hpp"
#include "hash/sha256.hpp"

#include <algorithm>

namespace cuzk::groth16 {

using base::CorruptData;
using curve::G1Affine;

namespace {

base::Bytes32 source_digest(const VerifyingKey& key) { return hash::sha256(key.to_bytes()); }

}  // namespace

DerivedKeyFile::DerivedKeyFile(const std::filesystem::path& path) : file_(path) {
  const std::string name = path.string();
  base::read_mapped(file_, [&] {
    SectionReader reader(file_.bytes(), name);
    if (!std::ranges::equal(reader.bytes(kMagic.size(), "the header"), base::as_bytes(kMagic))) {
      base::fail<CorruptData>("{}: not a derived key of this version: remove it and make it again",
                              name);
    }
    source_digest_ = reader.bytes(32, "the source's digest");
    q_ = reader.section(G1Affine::kUncompressedBytes, "q");
    l_ = reader.section(G1Affine::kUncompressedBytes, "l");
    reader.expect_end();
    return true;
  });
}

void DerivedKeyFile::require_source(const KeyFile& source, const KeyLayout& layout) const {
  const bool is_source = std::ranges::equal(source_digest_, source_digest(source.verifying_key()));
  file_.require_readable();
  if (!is_source) {
    base::fail<CorruptData>("{}: made from another key than {}: remove it and make it again",
                            file_.path().string(), source.name());
  }
  const std::size_t l_count = layout.num_inputs + layout.variables.num_aux();
  if (q_.count != layout.num_rows || l_.count != l_count) {
    base::fail<CorruptData>(
        "{}: {} and {} points, but the circuit needs {} and {}: remove it and make it again",
        file_.path().string(), q_.count, l_.count, layout.num_rows, l_count);
  }
}

std::filesystem::path derived_key_path(const std::filesystem::path& params) {
  std::filesystem::path out = params;
  return out.replace_extension(".derivative");
}

base::Bytes derived_key_header(const VerifyingKey& key) {
  const base::ByteView magic = base::as_bytes(DerivedKeyFile::kMagic);
  base::Bytes out(magic.begin(), magic.end());
  const base::Bytes32 digest = source_digest(key);
  out.insert(out.end(), digest.begin(), digest.end());
  return out;
}

}  // namespace cuzk::groth16
