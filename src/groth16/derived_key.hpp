#pragma once

#include "base/mapped_file.hpp"
#include "curve/g1.hpp"
#include "groth16/key_file.hpp"
#include "groth16/ops/domain.hpp"
#include "groth16/section.hpp"
#include "r1cs/shape.hpp"

#include <array>
#include <filesystem>
#include <span>
#include <vector>

/// The derivative form of a proving key. With H_j = [τ^j t(τ)/δ], j <= n - 2, H_(n-1) = 0, and the
/// quotient's scalars s_i (ops/quotient.hpp), n·h(ω^i) = s_i - C*_i, hence Σ h_j H_j = Σ s_i Q_i -
/// Σ C*_i Q_i with
///   Q_i = (1/n)·(intt H)_i.
/// The last sum is linear in the witness w: Σ_i C*_i Q_i = Σ_k w_k Σ_i C_ik R_i with
///   R_i = (1/n)·(intt (j·H_j))_i,
/// the transposed derivative of Q. So the query l becomes L'_k = L_k - Σ_i C_ik R_i for every aux
/// variable, and gets points -Σ_i C_ik R_i for the inputs. Rows beyond the circuit's have s_i = 0:
/// their Q_i are not kept.
///
/// File (.derivative): "cuzkdrv1"; SHA-256 of the verifying key's bytes (32 bytes), which says what
/// it was made from; then two arrays as in .params: Q (a point for each row), L' (inputs, then
/// aux). Points may be infinite.
namespace cuzk::groth16 {

class DerivedKeyFile {
 public:
  static constexpr std::string_view kMagic = "cuzkdrv1";

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

/// The linear map above, over any module: G is a group of points or, with a trapdoor, the scalars
/// themselves. `intt` transforms a vector of n elements in place, n times too large, natural to
/// bit-reversed order.
struct DerivedVectors {
  std::vector<curve::Fr> q;  ///< num_rows
  std::vector<curve::Fr> l;  ///< inputs, then aux
};

/// Discrete logarithms of Q and L' from those of H (n - 1) and L (aux).
DerivedVectors derive_scalars(const r1cs::Shape& shape, const Domain& domain,
                              std::span<const curve::Fr> h, std::span<const curve::Fr> l);

/// Makes the derived key of an official key by transforms of its points: about n·log2(n) scalar
/// multiplications of 140 µs, in parallel; for small circuits. Writes it to `path`.
void derive_key(const r1cs::Shape& shape, const KeyLayout& layout, const KeyFile& source,
                const std::filesystem::path& path);

/// Head of a derived file made from `key`, up to the first array.
base::Bytes derived_key_header(const VerifyingKey& key);

}  // namespace cuzk::groth16
