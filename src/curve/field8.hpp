// Field8<Fp> and Field8<Fp2>: eight elements of a coordinate field side by side, with what points
// need. One text for all vector arithmetics, included by field8_avx2.hpp and field8_ifma.hpp, hence
// without an include guard. CUZK_ARITHMETIC is the arithmetic's namespace in cuzk::curve, and
// CUZK_TARGET_INLINE what its functions are declared with. The namespace has, for its Fp8:
//   load_fp, store_fp, multiply_fp, square_fp, multiply_sum_fp, add;
//   difference<kBound>(out, a, b...): a - Σ b, where Σ b is at most kBound·p;
//   carry(a): makes a sum or a difference an operand of products;
//   negate(a, out): -a for an operand, as an operand;
//   Signs, apply_signs(a, signs, out);
//   kHalfShift, shift_left<kHalfShift>(a): see Field8::times_shift.
// Bounds of operands are those of the arithmetic's header. In Fp2, the second one of a product and
// that of a square are at most 4·p.
#ifndef CUZK_ARITHMETIC
#error "this text is included by an arithmetic's header"
#endif

namespace cuzk::curve::CUZK_ARITHMETIC {

template <class F>
struct Field8;

template <>
struct Field8<Fp> {
  Fp8 value;

  CUZK_TARGET_INLINE void load(const std::uint64_t* const (&sources)[8]) {
    load_fp(sources, value);
  }
  CUZK_TARGET_INLINE void store(std::uint64_t* const (&targets)[8]) const {
    store_fp(value, targets);
  }

  /// a - Σ b for storing and further sums; Σ b is at most kBound·p.
  template <unsigned kBound, class... B>
  static CUZK_TARGET_INLINE void subtract(Field8& out, const Field8& a, const B&... b) {
    difference<kBound>(out.value, a.value, b.value...);
  }
  /// Before a sum or difference is an operand of products.
  CUZK_TARGET_INLINE void to_operand() { carry(value); }
  /// An operand times 2^kHalfShift.
  CUZK_TARGET_INLINE void times_shift() { shift_left<kHalfShift>(value); }
  static CUZK_TARGET_INLINE void apply_signs(const Field8& a, const Signs& signs, Field8& out) {
    CUZK_ARITHMETIC::apply_signs(a.value, signs, out.value);
  }
  static CUZK_TARGET_INLINE void multiply(const Field8& a, const Field8& b, Field8& out) {
    multiply_fp(a.value, b.value, out.value);
  }
  static CUZK_TARGET_INLINE void square(const Field8& a, Field8& out) {
    square_fp(a.value, out.value);
  }
};

/// `sources` and `targets` are of c0; c1's words follow.
template <>
struct Field8<Fp2> {
  Fp8 c0, c1;

  CUZK_TARGET_INLINE void load(const std::uint64_t* const (&sources)[8]) {
    const std::uint64_t* second[8];
    for (unsigned lane = 0; lane < 8; ++lane) second[lane] = sources[lane] + 6;
    load_fp(sources, c0);
    load_fp(second, c1);
  }
  CUZK_TARGET_INLINE void store(std::uint64_t* const (&targets)[8]) const {
    std::uint64_t* second[8];
    for (unsigned lane = 0; lane < 8; ++lane) second[lane] = targets[lane] + 6;
    store_fp(c0, targets);
    store_fp(c1, second);
  }

  template <unsigned kBound, class... B>
  static CUZK_TARGET_INLINE void subtract(Field8& out, const Field8& a, const B&... b) {
    difference<kBound>(out.c0, a.c0, b.c0...);
    difference<kBound>(out.c1, a.c1, b.c1...);
  }
  CUZK_TARGET_INLINE void to_operand() {
    carry(c0);
    carry(c1);
  }
  CUZK_TARGET_INLINE void times_shift() {
    shift_left<kHalfShift>(c0);
    shift_left<kHalfShift>(c1);
  }
  static CUZK_TARGET_INLINE void apply_signs(const Field8& a, const Signs& signs, Field8& out) {
    CUZK_ARITHMETIC::apply_signs(a.c0, signs, out.c0);
    CUZK_ARITHMETIC::apply_signs(a.c1, signs, out.c1);
  }
  // (a0 b0 - a1 b1) + (a0 b1 + a1 b0)·u, each with one reduction.
  static CUZK_TARGET_INLINE void multiply(const Field8& a, const Field8& b, Field8& out) {
    Fp8 minus_b1, real;
    negate(b.c1, minus_b1);
    multiply_sum_fp(a.c0, b.c0, a.c1, minus_b1, real);
    multiply_sum_fp(a.c0, b.c1, a.c1, b.c0, out.c1);
    out.c0 = real;
  }
  // (a0 + a1)(a0 - a1) + 2 a0 a1·u.
  static CUZK_TARGET_INLINE void square(const Field8& a, Field8& out) {
    Fp8 sum, minus, twice;
    add(a.c0, a.c1, sum);
    carry(sum);
    difference<4>(minus, a.c0, a.c1);
    carry(minus);
    add(a.c0, a.c0, twice);
    carry(twice);
    multiply_fp(twice, a.c1, out.c1);
    multiply_fp(sum, minus, out.c0);
  }
};

}  // namespace cuzk::curve::CUZK_ARITHMETIC

#undef CUZK_ARITHMETIC
#undef CUZK_TARGET_INLINE
