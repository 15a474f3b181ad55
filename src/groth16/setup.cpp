#include "groth16/setup.hpp"

#include "base/error.hpp"
#include "base/mapped_file.hpp"
#include "base/parallel.hpp"
#include "groth16/derived_key.hpp"
#include "groth16/ops/domain.hpp"
#include "groth16/ops/fixed_base.hpp"
#include "groth16/point_writer.hpp"
#include "groth16/row_offsets.hpp"
#include "groth16/transpose.hpp"
#include "hash/sha256.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <atomic>

namespace cuzk::groth16 {

using curve::Fr;
using curve::G1Affine;
using curve::G2Affine;

namespace {

// Elements of a long vector that are worked on together: their inversions are shared.
constexpr std::size_t kPiece = 4096;

// Values of the Lagrange polynomials at τ: ℓ_i(τ) = t(τ)·ω^i / (n·(τ - ω^i)).
base::LargeArray<Fr> lagrange_values(const Domain& domain, const Fr& tau) {
  base::LargeArray<Fr> out(domain.n());
  const Fr factor = domain.vanishing(tau) * domain.n_inverse();
  base::parallel_ranges(out.size(), kPiece, [&](std::size_t first, std::size_t last) {
    const std::span<Fr> part = std::span(out).subspan(first, last - first);
    Fr point = domain.omega().pow(first);
    for (Fr& value : part) {
      value = tau - point;
      point *= domain.omega();
    }
    curve::batch_invert(part);
    point = domain.omega().pow(first) * factor;
    for (Fr& value : part) {
      value *= point;
      point *= domain.omega();
    }
  });
  return out;
}

// Σ_row matrix[row][k]·lagrange[row] for every variable k, inputs first.
base::LargeArray<Fr> columns_at_tau(const r1cs::Shape& shape, Matrix matrix,
                                    std::span<const Fr> lagrange) {
  base::LargeArray<Fr> out(shape.num_inputs() + std::size_t{shape.num_aux()});
  add_transposed_product(shape, matrix, lagrange, std::span(out));
  if (matrix == Matrix::kA) {
    for (std::uint32_t i = 0; i < shape.num_inputs(); ++i)
      out[i] += lagrange[shape.num_constraints() + i];
  }
  return out;
}

// Q_i and -R_i.
struct DerivedRows {
  base::LargeArray<Fr> q, minus_r;
};
DerivedRows derived_rows(const Domain& domain, const Trapdoor& trapdoor, std::size_t count) {
  const Fr& tau = trapdoor.tau;
  const Fr t = domain.vanishing(tau), tau_n = t + Fr::one();
  const Fr g = t * trapdoor.delta.inverse() * domain.n_inverse().square();
  const Fr n_tau_n = Fr::from_u64(domain.n()) * tau_n, n_minus_one = Fr::from_u64(domain.n() - 1);
  const Fr last_power = tau.pow(domain.n() - 1);
  DerivedRows out{base::LargeArray<Fr>(count), base::LargeArray<Fr>(count)};
  base::parallel_ranges(count, kPiece, [&](std::size_t first, std::size_t last) {
    const std::span<Fr> q = std::span(out.q).subspan(first, last - first);
    Fr y = tau * domain.omega_inverse().pow(first);
    for (Fr& value : q) {
      value = y - Fr::one();
      y *= domain.omega_inverse();
    }
    curve::batch_invert(q);
    Fr power = last_power * domain.omega().pow(first);  // y^(n-1)
    for (std::size_t i = first; i < last; ++i, power *= domain.omega()) {
      const Fr s = out.q[i];
      out.q[i] = g * (t * s - power);
      out.minus_r[i] = g * (n_minus_one * power - s * (n_tau_n - t * (Fr::one() + s)));
    }
  });
  return out;
}

// A section for all scalars, or for those that are not zero, in pieces.
template <class F>
void write_multiples(base::FileWriter& writer, const FixedBase<F>& base,
                     std::span<const Fr> scalars, bool drop_zeros) {
  constexpr std::size_t kPoints = std::size_t{1} << 16;
  const auto zeros = static_cast<std::size_t>(std::ranges::count_if(scalars, &Fr::is_zero));
  write_count(writer, drop_zeros ? scalars.size() - zeros : scalars.size());
  std::vector<Fr> piece;
  std::vector<curve::AffinePoint<F>> points(kPoints);
  const auto flush = [&] {
    const std::span<curve::AffinePoint<F>> target = std::span(points).first(piece.size());
    base.multiply(piece, target);
    write_points(writer, std::span<const curve::AffinePoint<F>>(target));
    piece.clear();
  };
  for (const Fr& scalar : scalars) {
    if (drop_zeros && scalar.is_zero()) continue;
    piece.push_back(scalar);
    if (piece.size() == kPoints) flush();
  }
  flush();
}

Fr scalar_from_seed(std::uint64_t seed, std::string_view what) {
  const auto digest = [&](std::uint8_t half) {
    base::ByteWriter writer;
    writer.bytes(base::as_bytes("cuzk development key, insecure"));
    writer.u64_le(seed);
    writer.u8(half);
    writer.bytes(base::as_bytes(what));
    return Fr::from_bytes_le_reduced(hash::sha256(writer.view()));
  };
  return digest(0) + digest(1) * Fr::power_of_two(256);
}

}  // namespace

Trapdoor Trapdoor::from_seed(std::uint64_t seed) {
  Trapdoor out;
  out.g1 = (G1Affine::generator() * scalar_from_seed(seed, "g1")).to_affine();
  out.g2 = (G2Affine::generator() * scalar_from_seed(seed, "g2")).to_affine();
  out.alpha = scalar_from_seed(seed, "alpha");
  out.beta = scalar_from_seed(seed, "beta");
  out.gamma = scalar_from_seed(seed, "gamma");
  out.delta = scalar_from_seed(seed, "delta");
  out.tau = scalar_from_seed(seed, "tau");
  return out;
}

Trapdoor Trapdoor::from_json(std::string_view text, std::string_view name) {
  const nlohmann::json object = nlohmann::json::parse(text, nullptr, false);
  base::require(object.is_object(), "{}: not a JSON object", name);
  const auto hex = [&](const char* member, std::size_t size) {
    base::require(object.contains(member) && object[member].is_string(),
                  "{}: no text member \"{}\"", name, member);
    const std::optional<base::Bytes> bytes =
        base::from_hex(object[member].get_ref<const std::string&>());
    base::require(bytes && bytes->size() == size, "{}: member \"{}\" is not {} bytes of hex", name,
                  member, size);
    return *bytes;
  };
  const auto scalar = [&](const char* member) {
    const base::Bytes bytes = hex(member, Fr::kBytes);
    const std::optional<Fr> value = Fr::from_bytes_le(std::span(bytes).first<Fr::kBytes>());
    base::require(value.has_value(), "{}: member \"{}\" is not below the field's modulus", name,
                  member);
    return *value;
  };
  const auto point = [&](const char* member, auto& out) {
    using Point = std::remove_reference_t<decltype(out)>;
    const base::Bytes bytes = hex(member, Point::kUncompressedBytes);
    const auto encoding = std::span<const std::uint8_t>(bytes).first<Point::kUncompressedBytes>();
    const curve::PointFault fault =
        Point::from_uncompressed(encoding, curve::PointCheck::kInGroup, out);
    base::require(
        fault == curve::PointFault::kNone && !out.is_identity(), "{}: member \"{}\" is {}", name,
        member,
        curve::describe(fault == curve::PointFault::kNone ? curve::PointFault::kIdentity : fault));
  };
  Trapdoor out;
  point("g1", out.g1);
  point("g2", out.g2);
  out.alpha = scalar("alpha");
  out.beta = scalar("beta");
  out.gamma = scalar("gamma");
  out.delta = scalar("delta");
  out.tau = scalar("tau");
  return out;
}

QueryLogarithms query_logarithms(const r1cs::Shape& shape, const Trapdoor& trapdoor) {
  const Domain domain(shape.domain_log2());
  const Fr t = domain.vanishing(trapdoor.tau);
  base::require(
      !trapdoor.gamma.is_zero() && !trapdoor.delta.is_zero() && !t.is_zero(),
      "setup: degenerate trapdoor: gamma and delta must not be zero, tau not in the domain");
  const Fr delta_inverse = trapdoor.delta.inverse(), gamma_inverse = trapdoor.gamma.inverse();
  QueryLogarithms out;
  base::LargeArray<Fr> c;
  {
    const base::LargeArray<Fr> lagrange = lagrange_values(domain, trapdoor.tau);
    const std::array<base::LargeArray<Fr>*, 3> columns = {&out.a, &out.b, &c};
    base::parallel_tasks(3, [&](std::size_t m) {
      *columns[m] = columns_at_tau(shape, static_cast<Matrix>(m), lagrange);
    });
  }
  out.h = base::LargeArray<Fr>(domain.n() - 1);
  base::parallel_ranges(out.h.size(), kPiece, [&](std::size_t first, std::size_t last) {
    Fr power = trapdoor.tau.pow(first) * t * delta_inverse;
    for (std::size_t j = first; j < last; ++j, power *= trapdoor.tau) out.h[j] = power;
  });
  const std::size_t inputs = shape.num_inputs();
  out.ic = base::LargeArray<Fr>(inputs);
  out.l = base::LargeArray<Fr>(shape.num_aux());
  std::atomic<std::size_t> unused = out.l.size();
  base::parallel_ranges(out.a.size(), kPiece, [&](std::size_t first, std::size_t last) {
    for (std::size_t k = first; k < last; ++k) {
      const Fr sum = trapdoor.beta * out.a[k] + trapdoor.alpha * out.b[k] + c[k];
      if (k < inputs) {
        out.ic[k] = sum * gamma_inverse;
        continue;
      }
      out.l[k - inputs] = sum * delta_inverse;
      if (sum.is_zero()) unused = k - inputs;
    }
  });
  base::require(unused == out.l.size(), "setup: aux variable {} occurs in no constraint",
                unused.load());
  return out;
}

DerivedLogarithms derived_logarithms(const r1cs::Shape& shape, const Trapdoor& trapdoor,
                                     std::span<const Fr> l) {
  const Domain domain(shape.domain_log2());
  DerivedRows rows = derived_rows(domain, trapdoor, shape.num_rows());
  const std::size_t inputs = shape.num_inputs();
  DerivedLogarithms out{std::move(rows.q), base::LargeArray<Fr>(inputs + l.size())};
  base::parallel_ranges(l.size(), kPiece, [&](std::size_t first, std::size_t last) {
    std::copy(l.begin() + static_cast<std::ptrdiff_t>(first),
              l.begin() + static_cast<std::ptrdiff_t>(last), out.l.begin() + inputs + first);
  });
  add_transposed_product(shape, Matrix::kC, rows.minus_r, std::span(out.l));
  rows.minus_r = {};
  const std::vector<std::uint64_t> offsets = row_offsets(shape);
  base::LargeArray<Fr> v = transposed_derivative(domain, offsets, out.q);
  {
    const base::LargeArray<Fr> star = offset_derivative(domain, offsets);
    base::parallel_ranges(out.q.size(), kPiece, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) v[i] += star[i] * out.q[i];
    });
  }
  add_transposed_product(shape, Matrix::kB, v, std::span(out.l));
  return out;
}

VerifyingKey make_verifying_key(const Trapdoor& trapdoor, std::span<const Fr> ic) {
  VerifyingKey key;
  key.alpha_g1 = (trapdoor.g1 * trapdoor.alpha).to_affine();
  key.beta_g1 = (trapdoor.g1 * trapdoor.beta).to_affine();
  key.beta_g2 = (trapdoor.g2 * trapdoor.beta).to_affine();
  key.gamma_g2 = (trapdoor.g2 * trapdoor.gamma).to_affine();
  key.delta_g1 = (trapdoor.g1 * trapdoor.delta).to_affine();
  key.delta_g2 = (trapdoor.g2 * trapdoor.delta).to_affine();
  key.ic.resize(ic.size());
  base::parallel_for(ic.size(),
                     [&](std::size_t i) { key.ic[i] = (trapdoor.g1 * ic[i]).to_affine(); });
  return key;
}

void write_keys(const r1cs::Shape& shape, const Trapdoor& trapdoor, const SetupFiles& files) {
  const QueryLogarithms logarithms = query_logarithms(shape, trapdoor);
  const std::size_t g1_count = logarithms.h.size() + logarithms.l.size() + logarithms.a.size() +
                               logarithms.b.size() + logarithms.ic.size();
  const FixedBase<curve::Fp> g1(trapdoor.g1, g1_count);
  const VerifyingKey verifying_key = make_verifying_key(trapdoor, logarithms.ic);
  base::FileWriter params(files.params);
  params.write(verifying_key.to_bytes());
  write_multiples(params, g1, logarithms.h, false);
  write_multiples(params, g1, logarithms.l, false);
  write_multiples(params, g1, logarithms.a, true);
  write_multiples(params, g1, logarithms.b, true);
  {
    const FixedBase<curve::Fp2> g2(trapdoor.g2, logarithms.b.size());
    write_multiples(params, g2, logarithms.b, true);
  }
  if (!files.derived.empty()) {
    const DerivedLogarithms derived = derived_logarithms(shape, trapdoor, logarithms.l);
    base::FileWriter writer(files.derived);
    writer.write(derived_key_header(verifying_key));
    write_multiples(writer, g1, derived.q, false);
    write_multiples(writer, g1, derived.l, false);
    writer.commit();
  }
  write_verifying_key(verifying_key, files.verifying_key);
  params.commit();
}

}  // namespace cuzk::groth16
