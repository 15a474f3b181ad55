#pragma once

#include "curve/fr.hpp"
#include "curve/g1.hpp"
#include "groth16/key_file.hpp"
#include "groth16/ops/domain.hpp"
#include "groth16/variables.hpp"
#include "r1cs/shape.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

/// Making the derivative form (derived_key.hpp) of a key whose trapdoor nobody knows, by transforms
/// of its points.
namespace cuzk::groth16 {

/// A scalar for every point of an array.
class PointFactors {
 public:
  virtual ~PointFactors() = default;
  /// Those of points `first` ... first + out.size() - 1. Called by several threads.
  virtual void fill(std::size_t first, std::span<curve::Fr> out) const = 0;
};

enum class TransformDirection {
  kInverse,  ///< n·intt, natural to bit-reversed order
  kForward,  ///< ntt, bit-reversed to natural order
};

/// How far something has come, 0 ... 1.
using Progress = std::function<void(double)>;

/// The operations on points that a derivation consists of, for one domain. Points have order r or
/// are infinite; results are exact, so that all implementations make the same file.
class PointTransforms {
 public:
  virtual ~PointTransforms() = default;
  /// Multiplies the domain.n() points by their factors, then transforms them. `factors` may be
  /// null.
  virtual void transform(std::span<curve::G1Affine> points, TransformDirection direction,
                         const PointFactors* factors, const Progress& progress) = 0;
  /// sums[i] += factor_i·points[i].
  virtual void add_multiples(std::span<const curve::G1Affine> points, const PointFactors& factors,
                             std::span<curve::G1Affine> sums, const Progress& progress) = 0;
};

/// n·log2(n) / 2 scalar multiplications of 140 µs a transform, in parallel: for small circuits.
std::unique_ptr<PointTransforms> make_cpu_point_transforms(const Domain& domain);

/// Called at the start of each step and as it goes on: the step's name, its share done, 0 ... 1.
using DerivationProgress = std::function<void(std::string_view step, double share)>;

/// Makes the derived key of `source` and writes it to `path`: four transforms, n further
/// multiplications, and an addition for each term of B and C. Throws CorruptData if the key does
/// not belong to the circuit or holds what is no point, ResourceExhausted where memory or disk is
/// not to be had.
void derive_key(const r1cs::Shape& shape, const KeyLayout& layout, const KeyFile& source,
                const std::filesystem::path& path, PointTransforms& transforms,
                const DerivationProgress& progress);

/// Host memory that derive_key() takes at most, besides that of the transforms.
std::uint64_t derivation_host_bytes(const KeyLayout& layout);
/// Core-seconds that derive_key() takes with make_cpu_point_transforms(), roughly.
double cpu_derivation_seconds(const KeyLayout& layout);

}  // namespace cuzk::groth16
