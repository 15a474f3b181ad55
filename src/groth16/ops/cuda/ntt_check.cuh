#pragma once

#include "groth16/ops/cuda/check.hpp"
#include "groth16/ops/cuda/quotient.cuh"
#include "groth16/ops/cuda/residue.hpp"

#include <algorithm>
#include <string>
#include <vector>

/// Transforms and quotients against the host's field.
namespace cuzk::groth16::cuda::checks {

inline std::vector<curve::Fr> residues(const std::vector<Fr>& x) {
  std::vector<curve::Fr> y(x.size());
  std::transform(x.begin(), x.end(), y.begin(), residue);
  return y;
}
inline std::size_t reversed(std::size_t x, int bits) {
  std::size_t y = 0;
  for (int i = 0; i < bits; ++i) y |= ((x >> i) & 1) << (bits - 1 - i);
  return y;
}
/// x_f = sum over j of x_j·w^(fj), natural order on both sides, by halves.
inline void transform(std::vector<curve::Fr>& x, const curve::Fr& w) {
  const std::size_t n = x.size();
  if (n == 1) return;
  std::vector<curve::Fr> even, odd;
  for (std::size_t i = 0; i < n; i += 2) {
    even.push_back(x[i]);
    odd.push_back(x[i + 1]);
  }
  transform(even, w.square());
  transform(odd, w.square());
  curve::Fr power = curve::Fr::one();
  for (std::size_t i = 0; i < n / 2; ++i) {
    const curve::Fr t = power * odd[i];
    x[i] = even[i] + t;
    x[i + n / 2] = even[i] - t;
    power *= w;
  }
}
inline curve::Fr omega(int log_n) { return residue(curve::device::root_of_unity(log_n)); }
/// Coefficients of the polynomial with the given values over D.
inline std::vector<curve::Fr> interpolate(std::vector<curve::Fr> values, int log_n) {
  transform(values, omega(log_n).inverse());
  const curve::Fr factor = curve::Fr::from_u64(values.size()).inverse();
  for (curve::Fr& v : values) v *= factor;
  return values;
}
inline curve::Fr evaluate(const std::vector<curve::Fr>& coefficients, const curve::Fr& at) {
  curve::Fr sum;
  for (std::size_t k = coefficients.size(); k-- > 0;) sum = sum * at + coefficients[k];
  return sum;
}

struct NttCase {
  int log_n;
  bool full_table;
};

/// A transform, its tables and one vector on the device.
struct NttBench {
  NttBench(const NttCase& c, base::cuda::StreamRef s)
      : stream(s),
        tables(Ntt::table_bytes(c.log_n, {c.full_table}), "transform tables", s),
        ntt(c.log_n, {c.full_table}, tables.span(), s) {}

  base::cuda::StreamRef stream;
  Guarded<std::byte> tables;
  Ntt ntt;
};

/// Lazy on purpose: every third element is a residue plus r.
inline std::vector<Fr> lazy_input(std::size_t n, std::uint64_t seed) {
  std::vector<Fr> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = curve::device::testing::random_fr(seed + i);
    if (i % 3 == 0) curve::device::add_modulus_if<false>(x[i], 1);
  }
  return x;
}

inline std::string check_ntt(const NttCase& c, base::cuda::StreamRef stream) {
  const NttBench bench(c, stream);
  const std::size_t n = bench.ntt.n();
  const std::string size = "2^" + std::to_string(c.log_n) + (c.full_table ? "" : " (short tables)");
  const std::vector<Fr> input = lazy_input(n, 1);
  const Guarded<Fr> x(n, "vector", stream);
  base::cuda::copy_bytes(x.data(), input.data(), n * sizeof(Fr), stream);
  bench.ntt.intt_unscaled(x.data(), stream);
  const std::vector<curve::Fr> original = residues(input), got = residues(x.download());
  std::vector<curve::Fr> wanted = original;
  transform(wanted, omega(c.log_n).inverse());
  for (std::size_t q = 0; q < n; ++q) {
    if (got[q] != wanted[reversed(q, c.log_n)])
      return "intt_unscaled of " + size + " is wrong at " + std::to_string(q);
  }
  bench.ntt.ntt_from_bit_reversed(x.data(), stream);
  const std::vector<curve::Fr> back = residues(x.download());
  const curve::Fr factor = curve::Fr::from_u64(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (back[i] != original[i] * factor)
      return "ntt_from_bit_reversed of " + size + " is wrong at " + std::to_string(i);
  }
  if (x.broken() || bench.tables.broken())
    return "a transform of " + size + " wrote beyond its memory";
  return {};
}

/// Constraint values of a case: a few percent wide, the others in -127 .. 127 for a and -2 .. 2 for
/// b.
struct TestRows {
  std::vector<Fr> a, b;  // as they stand in the vectors: wide values, rubbish elsewhere
  std::vector<curve::Fr> value_a, value_b;
  std::vector<std::int8_t> code_a, code_b;
  std::vector<WideRow> wide;
  std::vector<std::uint32_t> beta;

  explicit TestRows(std::size_t n) : beta((n + 31) / 32) {
    using curve::device::testing::random_fr;
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t draw = mix(i);
      const bool is_wide = draw % 23 == 2;
      const int small_a = static_cast<int>(draw >> 8 & 3) == 0
                              ? static_cast<int>(draw >> 16 & 0xff) - 127
                              : static_cast<int>(draw >> 16 & 1);
      const int small_b = static_cast<int>(draw >> 32 & 7) == 0
                              ? static_cast<int>(draw >> 40 & 3) - 2
                              : static_cast<int>(draw >> 40 & 1);
      if ((draw >> 48 & 1) != 0) beta[i / 32] |= 1u << (i % 32);
      const int clamped_a = small_a == 128 ? 127 : small_a;
      a.push_back(random_fr(3 * i));
      b.push_back(random_fr(3 * i + 1));
      value_a.push_back(residue(is_wide ? a[i] : curve::device::fr_from_small(clamped_a)));
      value_b.push_back(residue(is_wide ? b[i] : curve::device::fr_from_small(small_b)));
      code_a.push_back(static_cast<std::int8_t>(is_wide ? kWideCode : clamped_a));
      code_b.push_back(static_cast<std::int8_t>(is_wide ? kWideCode : small_b));
      if (is_wide) wide.push_back({a[i], b[i], static_cast<std::uint32_t>(i), {}});
    }
  }
};

/// (x·dX/dx)(ω^i)·n/2^32 for the polynomial with these values.
inline std::vector<curve::Fr> starred(const std::vector<curve::Fr>& values, int log_n) {
  std::vector<curve::Fr> x = values;
  transform(x, omega(log_n).inverse());
  const curve::Fr shift = curve::Fr::power_of_two(32).inverse();
  for (std::size_t k = 0; k < x.size(); ++k) x[k] *= curve::Fr::from_u64(k) * shift;
  transform(x, omega(log_n));
  return x;
}

/// derivative() of elements and of codes, the scalars, and which of them are not zero.
inline std::string check_derivative(const NttCase& c, base::cuda::StreamRef stream) {
  const NttBench bench(c, stream);
  const std::size_t n = bench.ntt.n();
  const std::string size = "2^" + std::to_string(c.log_n) + (c.full_table ? "" : " (short tables)");
  const TestRows rows(n);
  const std::vector<curve::Fr> a_star = starred(rows.value_a, c.log_n),
                               b_star = starred(rows.value_b, c.log_n);
  const Guarded<Fr> a(n, "a", stream), b(n, "b", stream);
  std::vector<Fr> elements(n);
  std::transform(rows.value_a.begin(), rows.value_a.end(), elements.begin(), plain);
  base::cuda::copy_bytes(a.data(), elements.data(), n * sizeof(Fr), stream);
  bench.ntt.derivative(a.data(), stream);
  const std::vector<curve::Fr> from_elements = residues(a.download());
  for (std::size_t i = 0; i < n; ++i) {
    if (from_elements[i] != a_star[i])
      return "derivative of " + size + " is wrong at " + std::to_string(i);
  }
  base::cuda::copy_bytes(a.data(), rows.a.data(), n * sizeof(Fr), stream);
  base::cuda::copy_bytes(b.data(), rows.b.data(), n * sizeof(Fr), stream);
  const auto code_a = uploaded(rows.code_a, "codes", stream),
             code_b = uploaded(rows.code_b, "codes", stream);
  const auto wide = uploaded(rows.wide, "wide rows", stream);
  const auto beta = uploaded(rows.beta, "offsets", stream);
  const Guarded<std::uint32_t> nonzero((n + 31) / 32, "flags", stream);
  const ConstraintValues values{code_a.data(), code_b.data(), wide.data(),
                                static_cast<std::uint32_t>(rows.wide.size()), beta.data()};
  derivative_scalars(bench.ntt, a.data(), b.data(), values, nonzero.data(), stream);
  const std::vector<Fr> scalars = a.download();
  const std::vector<std::uint32_t> flags = nonzero.download();
  const curve::Fr shift = curve::Fr::power_of_two(32).inverse();
  for (std::size_t i = 0; i < n; ++i) {
    const curve::Fr offset = curve::Fr::from_u64(rows.beta[i / 32] >> (i % 32) & 1u);
    const curve::Fr wanted =
        (rows.value_b[i] * a_star[i] + (rows.value_a[i] - offset) * b_star[i]) * shift;
    if (std::memcmp(plain(wanted).limbs, scalars[i].limbs, 32) != 0) {
      return "scalar " + std::to_string(i) + " of " + size + " is wrong";
    }
    if ((flags[i / 32] >> (i % 32) & 1u) != (wanted.is_zero() ? 0u : 1u)) {
      return "zero flag " + std::to_string(i) + " of " + size + " is wrong";
    }
  }
  if (a.broken() || b.broken() || nonzero.broken())
    return "the quotient of " + size + " wrote beyond its memory";
  return {};
}

/// h from random a and b and c = a·b over D: deg h <= n - 2 and a(x)·b(x) - c(x) = h(x)·(x^n - 1)
/// at a random x.
inline std::string check_textbook(const NttCase& c, base::cuda::StreamRef stream) {
  const NttBench bench(c, stream);
  const std::size_t n = bench.ntt.n();
  const std::string size = "2^" + std::to_string(c.log_n);
  const Guarded<std::byte> tables(TextbookQuotient::table_bytes(c.log_n), "quotient tables",
                                  stream);
  const TextbookQuotient quotient(c.log_n, tables.span(), stream);
  const std::vector<Fr> a = lazy_input(n, 5), b = lazy_input(n, 1u << 30);
  std::vector<Fr> products(n);
  for (std::size_t i = 0; i < n; ++i) products[i] = curve::device::mul_plain(a[i], b[i]);
  const Guarded<Fr> da(n, "a", stream), db(n, "b", stream), dc(n, "c", stream);
  base::cuda::copy_bytes(da.data(), a.data(), n * sizeof(Fr), stream);
  base::cuda::copy_bytes(db.data(), b.data(), n * sizeof(Fr), stream);
  base::cuda::copy_bytes(dc.data(), products.data(), n * sizeof(Fr), stream);
  quotient.run(bench.ntt, da.data(), db.data(), dc.data(), stream);
  const std::vector<Fr> h = da.download();
  for (const Fr& coefficient : h) {
    if (!curve::device::equal(canonical(coefficient), coefficient))
      return "h of " + size + " is not canonical";
  }
  if (!is_zero_limbs(h[n - 1])) return "h of " + size + " has degree n - 1";
  const curve::Fr x = residue(curve::device::testing::random_fr(424242)), one = curve::Fr::one();
  const curve::Fr left = evaluate(interpolate(residues(a), c.log_n), x) *
                             evaluate(interpolate(residues(b), c.log_n), x) -
                         evaluate(interpolate(residues(products), c.log_n), x);
  const curve::Fr right = evaluate(residues(h), x) * (x.pow(n) - one);
  if (left != right) return "h of " + size + " is wrong";
  if (n > 1 && left.is_zero()) return "the check of " + size + " is trivial";
  if (da.broken() || db.broken() || dc.broken() || tables.broken())
    return "the quotient wrote beyond its memory";
  return {};
}

}  // namespace cuzk::groth16::cuda::checks
