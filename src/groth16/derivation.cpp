#include "groth16/derivation.hpp"

#include "base/error.hpp"
#include "base/large_array.hpp"
#include "base/mapped_file.hpp"
#include "base/parallel.hpp"
#include "groth16/derived_key.hpp"
#include "groth16/fold_terms.hpp"
#include "groth16/point_section.hpp"
#include "groth16/point_writer.hpp"
#include "groth16/row_offsets.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace cuzk::groth16 {

using curve::Fr;
using curve::G1Affine;
using curve::G1Jacobian;

namespace {

constexpr std::size_t kGrain = 4096;

using Points = base::LargeArray<G1Affine>;

std::span<G1Affine> all(Points& points) { return {points.data(), points.size()}; }

std::vector<Fr> half_circle(const Domain& domain, const Fr& omega) {
  std::vector<Fr> out(std::max<std::size_t>(domain.n() / 2, 1));
  Fr power = Fr::one();
  for (Fr& value : out) {
    value = power;
    power *= omega;
  }
  return out;
}

/// The butterflies of ntt_kernels.hpp with points.
class CpuPointTransforms final : public PointTransforms {
 public:
  explicit CpuPointTransforms(const Domain& domain) : domain_(domain) {}

  void transform(std::span<G1Affine> points, TransformDirection direction,
                 const PointFactors* factors, const Progress& progress) override {
    base::require(points.size() == domain_.n(), "transform of {} points in a domain of {}",
                  points.size(), domain_.n());
    std::vector<G1Jacobian> sums(points.size());
    std::vector<Fr> scalars(points.size(), Fr::one());
    if (factors != nullptr) factors->fill(0, scalars);
    base::parallel_ranges(sums.size(), 16, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) sums[i] = times(points[i], scalars[i]);
    });
    const bool inverse = direction == TransformDirection::kInverse;
    const std::vector<Fr> roots =
        half_circle(domain_, inverse ? domain_.omega_inverse() : domain_.omega());
    for (unsigned stage = 0; stage < domain_.log_n(); ++stage) {
      progress(static_cast<double>(stage) / domain_.log_n());
      if (inverse) {
        butterflies(
            sums, domain_.n() >> (stage + 1),
            [](auto& upper, auto& lower, const Fr& root) {
              const G1Jacobian difference = upper + -lower;
              upper += lower;
              lower = times(difference, root);
            },
            roots);
      } else {
        butterflies(
            sums, std::size_t{1} << stage,
            [](auto& upper, auto& lower, const Fr& root) {
              const G1Jacobian product = times(lower, root);
              lower = upper + -product;
              upper += product;
            },
            roots);
      }
    }
    const std::vector<G1Affine> out = curve::normalize<curve::Fp>(sums);
    std::ranges::copy(out, points.begin());
  }

  void add_multiples(std::span<const G1Affine> points, const PointFactors& factors,
                     std::span<G1Affine> sums, const Progress&) override {
    std::vector<Fr> scalars(points.size());
    factors.fill(0, scalars);
    std::vector<G1Jacobian> out(points.size());
    base::parallel_ranges(out.size(), 16, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) out[i] = times(points[i], scalars[i]) + sums[i];
    });
    std::ranges::copy(curve::normalize<curve::Fp>(out), sums.begin());
  }

 private:
  template <class Point>
  static G1Jacobian times(const Point& point, const Fr& factor) {
    if (!factor.is_one()) return point * factor;
    if constexpr (std::is_same_v<Point, G1Affine>) {
      return G1Jacobian::from(point);
    } else {
      return point;
    }
  }

  template <class Body>
  void butterflies(std::span<G1Jacobian> points, std::size_t half, const Body& body,
                   std::span<const Fr> roots) const {
    const std::size_t step = domain_.n() / (2 * half);
    base::parallel_ranges(domain_.n() / 2, 16, [&](std::size_t first, std::size_t last) {
      for (std::size_t t = first; t < last; ++t) {
        const std::size_t j = t % half;
        G1Jacobian& upper = points[t / half * 2 * half + j];
        body(upper, *(&upper + half), roots[j * step]);
      }
    });
  }

  Domain domain_;
};

/// factor(i), for a plain function.
template <class Factor>
class FactorsBy final : public PointFactors {
 public:
  explicit FactorsBy(Factor factor) : factor_(std::move(factor)) {}
  void fill(std::size_t first, std::span<Fr> out) const override {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = factor_(first + i);
  }

 private:
  Factor factor_;
};

/// H_j with H_(n-1) = 0.
Points read_h(const KeyFile& source, const Domain& domain) {
  Points out(domain.n(), base::LargePages::kNo);
  base::parallel_ranges(source.h().count, kPointsPerTask, [&](std::size_t first, std::size_t last) {
    decode_points<curve::Fp>(source.file(), source.h(), "h", AllowIdentity::kNo, first,
                             last - first, [&](std::size_t i) -> G1Affine& { return out[i]; });
  });
  return out;
}

/// The aux variables' L behind zeros for the inputs.
base::LargeArray<G1Jacobian> read_l(const KeyFile& source, std::size_t inputs) {
  base::LargeArray<G1Jacobian> out(inputs + source.l().count, base::LargePages::kNo);
  base::parallel_ranges(source.l().count, kPointsPerTask, [&](std::size_t first, std::size_t last) {
    std::vector<G1Affine> points(last - first);
    decode_points<curve::Fp>(source.file(), source.l(), "l", AllowIdentity::kNo, first,
                             points.size(),
                             [&](std::size_t i) -> G1Affine& { return points[i - first]; });
    std::transform(points.begin(), points.end(), out.begin() + inputs + first, G1Jacobian::from);
  });
  return out;
}

void reverse_order(const Domain& domain, std::span<G1Affine> points) {
  base::parallel_ranges(points.size(), kGrain, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const std::size_t other = reverse_bits(i, domain.log_n());
      if (i < other) std::swap(points[i], points[other]);
    }
  });
}

/// A section of `count` points, of which make(first, last) gives any range.
template <class Make>
void write_in_pieces(base::FileWriter& writer, std::size_t count, const Make& make) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  write_count(writer, count);
  for (std::size_t first = 0; first < count; first += kPiece)
    write_points(writer, make(first, std::min(first + kPiece, count)));
}

std::vector<G1Affine> normalized(std::span<const G1Jacobian> points) {
  constexpr std::size_t kRun = 1024;  // an inversion for each
  std::vector<G1Affine> out(points.size());
  base::parallel_for((points.size() + kRun - 1) / kRun, [&](std::size_t run) {
    const std::size_t first = run * kRun, count = std::min(kRun, points.size() - first);
    std::ranges::copy(curve::normalize<curve::Fp>(points.subspan(first, count)),
                      out.begin() + static_cast<std::ptrdiff_t>(first));
  });
  return out;
}

/// One derivation: what its steps share.
class Derivation {
 public:
  Derivation(const r1cs::Shape& shape, const KeyLayout& layout, const KeyFile& source,
             PointTransforms& transforms, const DerivationProgress& progress)
      : shape_(shape),
        layout_(layout),
        source_(source),
        transforms_(transforms),
        progress_(progress),
        domain_(layout.domain_log2),
        factor_(domain_.n_inverse().square()) {}

  /// Q_i = (1/n)·(intt H)_i.
  Points q() const {
    const FactorsBy factors([factor = factor_](std::size_t) { return factor; });
    return transformed_h("Q: transform 1 of 4", factors);
  }
  /// R_i = (1/n)·(intt (j·H_j))_i.
  Points r() const {
    const FactorsBy factors([factor = factor_](std::size_t j) { return Fr::from_u64(j) * factor; });
    return transformed_h("R: transform 4 of 4", factors);
  }
  /// V_i = β*_i Q_i + T_i, T = Dᵗ(β∘Q): see transposed_derivative().
  Points v(const Points& q) const {
    const std::vector<std::uint64_t> offsets = row_offsets(shape_);
    Points out(domain_.n(), base::LargePages::kNo);
    base::parallel_ranges(layout_.num_rows, kGrain, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) {
        if ((offsets[i / 64] >> i % 64 & 1) != 0) out[i] = q[i];
      }
    });
    transforms_.transform(all(out), TransformDirection::kInverse, nullptr,
                          share_of("V: transform 2 of 4"));
    const FactorsBy between([this](std::size_t i) {
      const std::uint64_t k = reverse_bits(i, domain_.log_n());
      return Fr::from_u64(k == 0 ? 0 : domain_.n() - k) * domain_.n_inverse();
    });
    transforms_.transform(all(out), TransformDirection::kForward, &between,
                          share_of("V: transform 3 of 4"));
    const base::LargeArray<Fr> star = offset_derivative(domain_, offsets);
    const FactorsBy stars([&star](std::size_t i) { return star[i]; });
    transforms_.add_multiples({q.data(), layout_.num_rows}, stars, all(out).first(layout_.num_rows),
                              share_of("V: multiples"));
    return out;
  }
  void fold(Matrix matrix, Sign sign, Points rows, std::span<G1Jacobian> sums,
            std::string_view step) const {
    progress_(step, 0);
    fold_terms(shape_, matrix, sign, {rows.data(), rows.size()}, sums);
  }

  Progress share_of(std::string_view step) const {
    progress_(step, 0);
    return [this, step](double share) { progress_(step, share); };
  }

 private:
  Points transformed_h(std::string_view step, const PointFactors& factors) const {
    const Progress progress = share_of(step);
    Points out = read_h(source_, domain_);
    transforms_.transform(all(out), TransformDirection::kInverse, &factors, progress);
    reverse_order(domain_, all(out));
    return out;
  }

  const r1cs::Shape& shape_;
  const KeyLayout& layout_;
  const KeyFile& source_;
  PointTransforms& transforms_;
  const DerivationProgress& progress_;
  Domain domain_;
  Fr factor_;  ///< n^-2
};

}  // namespace

std::unique_ptr<PointTransforms> make_cpu_point_transforms(const Domain& domain) {
  return std::make_unique<CpuPointTransforms>(domain);
}

void derive_key(const r1cs::Shape& shape, const KeyLayout& layout, const KeyFile& source,
                const std::filesystem::path& path, PointTransforms& transforms,
                const DerivationProgress& progress) {
  source.require_circuit(layout);
  const Derivation derivation(shape, layout, source, transforms, progress);
  base::FileWriter writer(path);
  writer.write(derived_key_header(source.verifying_key()));

  Points q = derivation.q();
  write_in_pieces(writer, layout.num_rows, [&](std::size_t first, std::size_t last) {
    return std::span<const G1Affine>(q.data() + first, last - first);
  });
  Points v = derivation.v(q);
  q = {};
  base::LargeArray<G1Jacobian> l = read_l(source, shape.num_inputs());
  const std::span<G1Jacobian> sums(l.data(), l.size());
  derivation.fold(Matrix::kB, Sign::kPlus, std::move(v), sums, "L': terms of B");
  derivation.fold(Matrix::kC, Sign::kMinus, derivation.r(), sums, "L': terms of C");
  progress("L': writing", 0);
  std::vector<G1Affine> piece;
  write_in_pieces(writer, l.size(), [&](std::size_t first, std::size_t last) {
    piece = normalized(sums.subspan(first, last - first));
    return std::span<const G1Affine>(piece);
  });
  writer.commit();
}

// While V is made: Q, V, β* and what its transform takes. While terms are folded: a matrix's rows
// and L'.
std::uint64_t derivation_host_bytes(const KeyLayout& layout) {
  const std::uint64_t n = std::uint64_t{1} << layout.domain_log2;
  const std::uint64_t l = layout.num_inputs + std::uint64_t{layout.variables.num_aux()};
  return std::max(n * (2 * sizeof(G1Affine) + 2 * sizeof(Fr)),
                  n * sizeof(G1Affine) + l * sizeof(G1Jacobian));
}

double cpu_derivation_seconds(const KeyLayout& layout) {
  constexpr double kMultiplication = 140e-6;
  const double n = static_cast<double>(std::uint64_t{1} << layout.domain_log2);
  return kMultiplication * n * (4 * layout.domain_log2 / 2.0 + 4);
}

}  // namespace cuzk::groth16
