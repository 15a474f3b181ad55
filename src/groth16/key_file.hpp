#pragma once

#include "base/mapped_file.hpp"
#include "groth16/section.hpp"
#include "groth16/variables.hpp"
#include "groth16/verifying_key.hpp"

#include <filesystem>

namespace cuzk::groth16 {

/// What an official parameter file (.params) consists of: the verifying key, then five arrays of
/// uncompressed points, each after a u32 big-endian count: h, l, a, b_g1 (G1), b_g2 (G2). No point
/// is infinite: a, b_g1 and b_g2 hold only the variables that occur in A and B.
struct KeyStructure {
  VerifyingKey verifying_key;
  Section h, l, a, b_g1, b_g2;

  /// Checks the structure and the verifying key; does not touch the other points. Throws
  /// CorruptData that names the file and what is wrong with it.
  static KeyStructure parse(base::ByteView bytes, std::string_view name);
};

/// A parameter file, mapped.
class KeyFile {
 public:
  /// Throws CorruptData as KeyStructure::parse, or if the file cannot be mapped.
  explicit KeyFile(const std::filesystem::path& path);

  std::string name() const { return file_.path().string(); }
  const base::MappedFile& file() const { return file_; }
  const VerifyingKey& verifying_key() const { return structure_.verifying_key; }
  const Section& h() const { return structure_.h; }
  const Section& l() const { return structure_.l; }
  const Section& a() const { return structure_.a; }
  const Section& b_g1() const { return structure_.b_g1; }
  const Section& b_g2() const { return structure_.b_g2; }

  /// Throws CorruptData that names the array unless all counts are those of the circuit. `layout`
  /// may have either form.
  void require_circuit(const KeyLayout& layout) const;

 private:
  base::MappedFile file_;
  KeyStructure structure_;
};

}  // namespace cuzk::groth16
