#pragma once

#include "groth16/ops/cuda/ntt.cuh"
#include "groth16/ops/cuda/quotient_rows.hpp"

/// From the constraint values a = A·w, b = B·w (and c = C·w) to the scalars of the H sum, in either
/// form. All vectors hold plain integers (not Montgomery form).
namespace cuzk::groth16::cuda {

namespace quotient_detail {

inline constexpr unsigned kThreads = 256;

CUZK_DEVICE std::uint32_t offset_of(const std::uint32_t* beta, std::uint32_t row) {
  return beta != nullptr ? beta[row >> 5] >> (row & 31) & 1u : 0u;
}

/// The scalar of each small row; a bit for each row whose scalar is not zero (0 for wide ones) in
/// `nonzero`, if not null. Grid: a thread a row, whole warps. 66 bytes read, 32 written a row: 13.2
/// GB in 3.0 ms at 2^27, the memory's rate.
static __global__ void __launch_bounds__(kThreads)
    combine_small_rows(Fr* a_star, const Fr* b_star, const std::int8_t* code_a,
                       const std::int8_t* code_b, const std::uint32_t* beta, std::uint32_t n,
                       std::uint32_t* nonzero) {
  const std::uint32_t i = base::cuda::grid_thread();
  bool set = false;
  const int a = i < n ? code_a[i] : kWideCode, b = i < n ? code_b[i] : kWideCode;
  if (a != kWideCode && b != kWideCode) {
    const int a_offset = a - static_cast<int>(offset_of(beta, i));
    const auto magnitude = [](int v) { return static_cast<std::uint32_t>(v < 0 ? -v : v); };
    const Fr s =
        combine_small(negate_if(load_streaming(a_star + i), b < 0), magnitude(b),
                      negate_if(load_streaming(b_star + i), a_offset < 0), magnitude(a_offset));
    store_streaming(a_star + i, s);
    set = !is_zero_limbs(s);
  }
  const std::uint32_t word = base::cuda::ballot(set);
  if (nonzero != nullptr && i % 32 == 0 && i < n) nonzero[i / 32] = word;
}

/// The scalar of each wide row. A thread a row.
static __global__ void __launch_bounds__(kThreads)
    combine_wide_rows(Fr* a_star, const Fr* b_star, const WideRow* rows, const std::uint32_t* beta,
                      std::uint32_t count, std::uint32_t* nonzero) {
  const std::uint32_t k = base::cuda::grid_thread();
  if (k >= count) return;
  const std::uint32_t i = rows[k].row;
  const Fr offset = Fr::from_u32(offset_of(beta, i));
  const Fr a = canonical(sub(rows[k].a, offset));
  const Fr t = add(mul(rows[k].b, a_star[i]), mul(a, b_star[i]));  // the sum / 2^256
  // 2^480 mod r: t·2^480 / 2^256 is the sum / 2^32.
  const Fr two_480{{0xbd8c85fe, 0x8427cc90, 0x0fe630be, 0xc8ff7852, 0x27715045, 0x2b4d2b66,
                    0xe5a19691, 0x05753400}};
  const Fr s = canonical(mul(two_480, t));
  a_star[i] = s;
  if (nonzero != nullptr && !is_zero_limbs(s)) atomicOr(nonzero + i / 32, 1u << (i % 32));
}

/// a = (a·b - c)·z, given z·2^256 and z as factors. A thread a point; 3 products.
static __global__ void __launch_bounds__(kThreads)
    divide_on_coset(Fr* a, const Fr* b, const Fr* c, std::uint32_t n, FrFactor z_montgomery,
                    FrFactor z) {
  const std::uint32_t i = base::cuda::grid_thread();
  if (i >= n) return;
  const Fr product = mul(canonical(load_streaming(a + i)), load_streaming(b + i));
  store_streaming(a + i, sub(mul_by(product, z_montgomery), mul_by(load_streaming(c + i), z)));
}

/// x[i] <-> x[reverse(i)].
static __global__ void __launch_bounds__(kThreads) reverse_order(Fr* x, int log_n) {
  const std::uint32_t i = base::cuda::grid_thread();
  if (i >= 1u << log_n) return;
  const std::uint32_t j = log_n == 0 ? 0 : reverse_bits(i, log_n);
  if (j <= i) return;
  const Fr low = x[i];
  x[i] = x[j];
  x[j] = low;
}

}  // namespace quotient_detail

/// Scalars of the H sum in derivative form, up to a constant:
///
///   s_i = n/2^64·(b_i·A*_i + (a_i - β_i)·B*_i),   X* = (x·dX/dx)(ω^i)
///
/// With Q_i = (1/n)·the H points in the Lagrange basis, 2^64/n·sum of s_i·Q_i plus what is linear
/// in the witness (folded into L when the key is made) is the quotient's part of the proof: the
/// factor 2^(64 - log n) is put right on the one point that the sum gives. s_i = 0 wherever b_i = 0
/// and a_i = β_i.
///
/// In:  a and b hold the values of wide rows at their places, anything elsewhere.
/// Out: a holds s, canonical, natural order; b is scratch. nonzero (n bits, or null): which s_i are
/// not zero. [derivation: differentiate A·B - C = h·Z at ω^i, where Z = x^n - 1 vanishes and
/// x·dZ/dx = n]
inline void derivative_scalars(const Ntt& ntt, Fr* a, Fr* b, const ConstraintValues& values,
                               std::uint32_t* nonzero, base::cuda::StreamRef stream) {
  using namespace quotient_detail;
  const auto n = static_cast<std::uint32_t>(ntt.n());
  ntt.derivative_from_codes(a, values.code_a, stream);
  ntt.derivative_from_codes(b, values.code_b, stream);
  base::cuda::launch(combine_small_rows, {base::cuda::blocks_for(n, kThreads), kThreads, 0}, stream,
                     a, b, values.code_a, values.code_b, values.beta, n, nonzero);
  base::cuda::launch(combine_wide_rows,
                     {base::cuda::blocks_for(values.wide_count, kThreads), kThreads, 0}, stream, a,
                     b, values.wide, values.beta, values.wide_count, nonzero);
}

/// The textbook form: h(X) = (a(X)·b(X) - c(X)) / (X^n - 1) by seven transforms and the coset g·D,
/// g = 7, on which X^n - 1 is the constant g^n - 1. [Groth16, ePrint 2016/260; the order of steps
/// of every bellman descendant]
class TextbookQuotient {
 public:
  static std::size_t table_bytes(int log_n) {
    base::cuda::Carver measure;
    carve(log_n, measure);
    return measure.bytes_used();
  }
  /// Enqueues the making of the tables in `memory`, which must outlive this object.
  TextbookQuotient(int log_n, base::cuda::DeviceSpan<std::byte> memory,
                   base::cuda::StreamRef stream)
      : log_n_(log_n) {
    base::cuda::Carver carver(memory);
    tables_ = carve(log_n, carver);
    base::require(carver.fits(), "tables of a quotient of 2^{} points need {} bytes, given {}",
                  log_n, carver.bytes_used(), memory.size);
    const std::uint64_t n = std::uint64_t{1} << log_n;
    const Fr g = Fr::from_u32(7), g_inverse = inverted(g),
             n_inverse = inverted(Fr::from_u32(static_cast<std::uint32_t>(n)));
    fill(tables_.forward, g, n_inverse, stream);
    fill(tables_.backward, g_inverse, n_inverse, stream);
    const Fr z = inverted(canonical(sub(pow_plain(g, n), Fr::from_u32(1))));
    z_ = curve::device::make_factor(z);
    z_montgomery_ = curve::device::make_factor(mul_plain(z, Fr::montgomery_one()));
  }

  /// In:  values of a, b, c over D, lazy, natural order. Out: a holds h_0 .. h_(n-1), canonical,
  /// natural order (h_(n-1) = 0 if the values satisfy a·b = c); b and c are scratch.
  void run(const Ntt& ntt, Fr* a, Fr* b, Fr* c, base::cuda::StreamRef stream) const {
    using namespace quotient_detail;
    base::require(ntt.log_n() == log_n_, "quotient of 2^{} points: given the transform of 2^{}",
                  log_n_, ntt.log_n());
    for (Fr* x : {a, b, c}) {
      ntt.intt_unscaled(x, stream);
      scale(tables_.forward, x, stream);
      ntt.ntt_from_bit_reversed(x, stream);
    }
    const auto n = static_cast<std::uint32_t>(ntt.n());
    const base::cuda::LaunchShape shape{base::cuda::blocks_for(n, kThreads), kThreads, 0};
    base::cuda::launch(divide_on_coset, shape, stream, a, b, c, n, z_montgomery_, z_);
    ntt.intt_unscaled(a, stream);
    scale(tables_.backward, a, stream);
    base::cuda::launch(reverse_order, shape, stream, a, log_n_);
  }

 private:
  /// low[i] = scale·root^i, high[j] = root^(j·2^low_bits).
  struct Powers {
    base::cuda::DeviceSpan<FrFactor> low, high;
    int low_bits = 0;
  };
  struct Tables {
    Powers forward, backward;
  };
  static Tables carve(int log_n, base::cuda::Carver& carver) {
    base::require(log_n >= 0 && log_n <= Ntt::kMaxLog,
                  "quotient of 2^{} points: log2 must be 0 .. {}", log_n, Ntt::kMaxLog);
    Tables tables;
    for (Powers* powers : {&tables.forward, &tables.backward}) {
      powers->low_bits = (log_n + 1) / 2;
      powers->low = carver.take<FrFactor>(std::size_t{1} << powers->low_bits);
      powers->high = carver.take<FrFactor>(std::size_t{1} << (log_n - powers->low_bits));
    }
    return tables;
  }
  /// x^(r-2), canonical and plain.
  static Fr inverted(const Fr& x) {
    Fr result = Fr::from_u32(1), power = x;
    for (int bit = 0; bit < 255; ++bit) {
      // r - 2: limb 0 of r is 1, so a borrow makes limb 0 all ones and limb 1 one less.
      const std::uint32_t limb = bit < 32 ? 0xffffffffu
                                 : bit < 64
                                     ? curve::device::fr_constants::modulus_limb<false>(1) - 1
                                     : curve::device::fr_constants::modulus_limb<false>(bit / 32);
      if ((limb >> (bit % 32) & 1u) != 0) result = mul_plain(result, power);
      power = mul_plain(power, power);
    }
    return result;
  }
  static void fill(const Powers& powers, const Fr& root, const Fr& scale,
                   base::cuda::StreamRef stream) {
    const auto low = static_cast<std::uint32_t>(powers.low.size),
               high = static_cast<std::uint32_t>(powers.high.size);
    base::cuda::launch(fill_powers, {base::cuda::blocks_for(low, 128), 128, 0}, stream,
                       powers.low.data, low, root, 1u, scale);
    base::cuda::launch(fill_powers, {base::cuda::blocks_for(high, 128), 128, 0}, stream,
                       powers.high.data, high, root, low, Fr::from_u32(1));
  }
  void scale(const Powers& powers, Fr* x, base::cuda::StreamRef stream) const {
    base::cuda::launch(scale_by_powers<true>,
                       {base::cuda::blocks_for(std::size_t{1} << log_n_, 256), 256, 0}, stream, x,
                       log_n_, powers.low.data, powers.high.data, powers.low_bits);
  }

  int log_n_;
  Tables tables_;
  FrFactor z_{}, z_montgomery_{};
};

}  // namespace cuzk::groth16::cuda
