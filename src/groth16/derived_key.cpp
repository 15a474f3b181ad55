#include "groth16/derived_key.hpp"

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "groth16/ops/domain.hpp"
#include "groth16/point_section.hpp"
#include "groth16/point_writer.hpp"
#include "groth16/row_offsets.hpp"
#include "groth16/transpose.hpp"
#include "hash/sha256.hpp"
#include "r1cs/variable.hpp"

#include <algorithm>

namespace cuzk::groth16 {

using base::CorruptData;
using curve::Fr;
using curve::G1Affine;
using curve::G1Jacobian;

namespace {

base::Bytes32 source_digest(const VerifyingKey& key) { return hash::sha256(key.to_bytes()); }

std::vector<Fr> half_circle(const Domain& domain, const Fr& omega) {
  std::vector<Fr> out(std::max<std::size_t>(domain.n() / 2, 1));
  Fr power = Fr::one();
  for (Fr& value : out) {
    value = power;
    power *= omega;
  }
  return out;
}

// n · intt of points, natural to bit-reversed order: the butterflies of ntt_kernels.hpp with
// points.
void intt_points(const Domain& domain, std::span<G1Jacobian> points) {
  const std::vector<Fr> twiddles = half_circle(domain, domain.omega_inverse());
  for (std::size_t half = domain.n() / 2; half > 0; half /= 2) {
    const std::size_t step = domain.n() / (2 * half);
    base::parallel_ranges(domain.n() / 2, 16, [&](std::size_t first, std::size_t last) {
      for (std::size_t butterfly = first; butterfly < last; ++butterfly) {
        const std::size_t j = butterfly % half;
        G1Jacobian& upper = points[butterfly / half * 2 * half + j];
        G1Jacobian& lower = *(&upper + half);
        const G1Jacobian difference = upper + -lower;
        upper += lower;
        lower = j == 0 ? difference : difference * twiddles[j * step];
      }
    });
  }
}

// ntt of points, bit-reversed to natural order.
void ntt_points(const Domain& domain, std::span<G1Jacobian> points) {
  const std::vector<Fr> twiddles = half_circle(domain, domain.omega());
  for (std::size_t half = 1; half < domain.n(); half *= 2) {
    const std::size_t step = domain.n() / (2 * half);
    base::parallel_ranges(domain.n() / 2, 16, [&](std::size_t first, std::size_t last) {
      for (std::size_t butterfly = first; butterfly < last; ++butterfly) {
        const std::size_t j = butterfly % half;
        G1Jacobian& upper = points[butterfly / half * 2 * half + j];
        G1Jacobian& lower = *(&upper + half);
        const G1Jacobian product = j == 0 ? lower : lower * twiddles[j * step];
        lower = upper + -product;
        upper += product;
      }
    });
  }
}

// (1/n)·intt in natural order, the first `count` points.
std::vector<G1Jacobian> scaled_intt(const Domain& domain, std::vector<G1Jacobian> points,
                                    std::size_t count) {
  intt_points(domain, points);
  const Fr factor = domain.n_inverse().square();
  std::vector<G1Jacobian> out(count);
  base::parallel_ranges(count, 16, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i)
      out[i] = points[reverse_bits(i, domain.log_n())] * factor;
  });
  return out;
}

// V_i = β*_i Q_i + T_i, one for each row.
std::vector<G1Jacobian> offset_points(const r1cs::Shape& shape, const Domain& domain,
                                      std::span<const G1Jacobian> q) {
  const std::vector<std::uint64_t> offsets = row_offsets(shape);
  std::vector<G1Jacobian> out(domain.n());
  for (std::size_t i = 0; i < q.size(); ++i) {
    if ((offsets[i / 64] >> i % 64 & 1) != 0) out[i] = q[i];
  }
  // T, as transposed_derivative() does it.
  intt_points(domain, out);
  base::parallel_ranges(out.size(), 16, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const std::uint64_t k = reverse_bits(i, domain.log_n());
      out[i] = out[i] * (Fr::from_u64(k == 0 ? 0 : domain.n() - k) * domain.n_inverse());
    }
  });
  ntt_points(domain, out);
  const base::LargeArray<Fr> star = offset_derivative(domain, offsets);
  out.resize(q.size());
  base::parallel_ranges(out.size(), 16, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) out[i] += q[i] * star[i];
  });
  return out;
}

std::size_t l_index(const r1cs::Shape& shape, std::uint32_t key) {
  const r1cs::Variable variable = r1cs::Variable::from_key(key);
  return variable.is_aux() ? shape.num_inputs() + variable.index() : variable.index();
}

}  // namespace

DerivedKeyFile::DerivedKeyFile(const std::filesystem::path& path) : file_(path) {
  const std::string name = path.string();
  SectionReader reader(file_.bytes(), name);
  if (!std::ranges::equal(reader.bytes(kMagic.size(), "the header"), base::as_bytes(kMagic))) {
    base::fail<CorruptData>("{}: not a derived key of this version: remove it and make it again",
                            name);
  }
  source_digest_ = reader.bytes(32, "the source's digest");
  q_ = reader.section(G1Affine::kUncompressedBytes, "q");
  l_ = reader.section(G1Affine::kUncompressedBytes, "l");
  reader.expect_end();
}

void DerivedKeyFile::require_source(const KeyFile& source, const KeyLayout& layout) const {
  if (!std::ranges::equal(source_digest_, source_digest(source.verifying_key()))) {
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

void derive_key(const r1cs::Shape& shape, const KeyLayout& layout, const KeyFile& source,
                const std::filesystem::path& path) {
  source.require_circuit(layout);
  const Domain domain(layout.domain_log2);
  const auto to_jacobian = [](std::span<const G1Affine> points, std::size_t count) {
    std::vector<G1Jacobian> out(count);
    std::transform(points.begin(), points.end(), out.begin(), G1Jacobian::from);
    return out;
  };
  const base::LargeArray<G1Affine> h_points =
      read_points<curve::Fp>(source.file(), source.h(), "h");
  std::vector<G1Jacobian> h = to_jacobian(h_points, domain.n());
  const std::vector<G1Jacobian> q = scaled_intt(domain, h, layout.num_rows);
  base::parallel_ranges(h.size(), 16, [&](std::size_t first, std::size_t last) {
    for (std::size_t j = first; j < last; ++j) h[j] = h[j] * Fr::from_u64(j);
  });
  const std::vector<G1Jacobian> r = scaled_intt(domain, std::move(h), layout.num_rows);

  const base::LargeArray<G1Affine> l_points =
      read_points<curve::Fp>(source.file(), source.l(), "l");
  std::vector<G1Jacobian> l(shape.num_inputs());
  std::transform(l_points.begin(), l_points.end(), std::back_inserter(l), G1Jacobian::from);
  const Fr minus_one = -Fr::one();
  const auto times = [&](const G1Jacobian& point, std::uint16_t coefficient) {
    const Fr& factor = shape.palette()[coefficient];
    return factor.is_one() ? point : factor == minus_one ? -point : point * factor;
  };
  for_each_term(shape, Matrix::kC,
                [&](std::uint64_t row, std::uint32_t key, std::uint16_t coefficient) {
                  l[l_index(shape, key)] += -times(r[row], coefficient);
                });
  const std::vector<G1Jacobian> v = offset_points(shape, domain, q);
  for_each_term(shape, Matrix::kB,
                [&](std::uint64_t row, std::uint32_t key, std::uint16_t coefficient) {
                  l[l_index(shape, key)] += times(v[row], coefficient);
                });

  base::FileWriter writer(path);
  writer.write(derived_key_header(source.verifying_key()));
  write_section(writer, std::span<const G1Affine>(curve::normalize<curve::Fp>(q)));
  write_section(writer, std::span<const G1Affine>(curve::normalize<curve::Fp>(l)));
  writer.commit();
}

}  // namespace cuzk::groth16
