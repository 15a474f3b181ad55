#pragma once

#include "base/mapped_file.hpp"
#include "groth16/key_file.hpp"
#include "groth16/section.hpp"

#include <filesystem>

/// The derivative form of a proving key; derivation.hpp makes it. With H_j = [τ^j t(τ)/δ], j <= n -
/// 2, H_(n-1) = 0, and the quotient's scalars s_i (ops/quotient.hpp), n·h(ω^i) = s_i - C*_i, hence
/// Σ h_j H_j = Σ s_i Q_i - Σ C*_i Q_i with
///   Q_i = (1/n)·(intt H)_i.
/// The last sum is linear in the witness w: Σ_i C*_i Q_i = Σ_k w_k Σ_i C_ik R_i with
///   R_i = (1/n)·(intt (j·H_j))_i,
/// the transposed derivative of Q. The scalars are those of the circuit less its row offsets β,
/// which adds Σ_i b_i V_i, V_i = β*_i Q_i + T_i (row_offsets.hpp), linear, too. So the query l
/// becomes L'_k = L_k - Σ_i C_ik R_i + Σ_i B_ik V_i for every aux variable, and gets points for the
/// inputs, with L_k = 0. Rows beyond the circuit's have s_i = 0: their Q_i are not kept.
///
/// File (.derivative): "cuzkdrv2"; SHA-256 of the verifying key's bytes (32 bytes), which says what
/// it was made from; then two arrays as in .params: Q (a point for each row), L' (inputs, then
/// aux). Points may be infinite.
namespace cuzk::groth16 {

class DerivedKeyFile {
 public:
  static constexpr std::string_view kMagic = "cuzkdrv2";

  /// Maps the file and checks its structure. Throws CorruptData.
  explicit DerivedKeyFile(const std::filesystem::path& path);

  const base::MappedFile& file() const { return file_; }
  const Section& q() const { return q_; }
  const Section& l() const { return l_; }
  /// Throws CorruptData unless the file was made from this key and fits the circuit.
  void require_source(const KeyFile& source, const KeyLayout& layout) const;

 private:
  base::MappedFile file_;
  base::ByteView source_digest_;
  Section q_, l_;
};

/// Where the derived key of a parameter file is kept: `<name>.params` -> `<name>.derivative`.
std::filesystem::path derived_key_path(const std::filesystem::path& params);

/// Head of a derived file made from `key`, up to the first array.
base::Bytes derived_key_header(const VerifyingKey& key);

}  // namespace cuzk::groth16
