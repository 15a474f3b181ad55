#pragma once

#include <filesystem>

#include "base/mapped_file.hpp"
#include "groth16/section.hpp"
#include "groth16/variables.hpp"
#include "groth16/verifying_key.hpp"

namespace cuzk::groth16 {

/// An official parameter file (.params), mapped: the verifying key, then five arrays of uncompressed points, each after a
/// u32 big-endian count: h, l, a, b_g1 (G1), b_g2 (G2). No point is infinite: a, b_g1 and b_g2 hold only the variables that
/// occur in A and B. The constructor checks the structure and the verifying key; it does not touch the other points.
class KeyFile {
 public:
  /// Throws CorruptData that names the file and what is wrong with it.
  explicit KeyFile(const std::filesystem::path& path);

  std::string name() const { return file_.path().string(); }
  const base::MappedFile& file() const { return file_; }
  const VerifyingKey& verifying_key() const { return verifying_key_; }
  const Section& h() const { return h_; }
  const Section& l() const { return l_; }
  const Section& a() const { return a_; }
  const Section& b_g1() const { return b_g1_; }
  const Section& b_g2() const { return b_g2_; }

  /// Throws CorruptData that names the array unless all counts are those of the circuit. `layout` may have either form.
  void require_circuit(const KeyLayout& layout) const;

 private:
  base::MappedFile file_;
  VerifyingKey verifying_key_;
  Section h_, l_, a_, b_g1_, b_g2_;
};

}  // namespace cuzk::groth16
