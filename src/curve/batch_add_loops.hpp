// The loops of BatchAdder with vectors. One text for all vector arithmetics, included by their
// sources, hence in an unnamed namespace and without an include guard: their functions need each
// its own target attribute. CUZK_ARITHMETIC is the arithmetic's namespace in cuzk::curve, with its
// Field8, and CUZK_TARGET the attribute.
#ifndef CUZK_ARITHMETIC
#error "this text is included by an arithmetic's source"
#endif

#include "curve/batch_add_kernels.hpp"

#include <type_traits>

namespace cuzk::curve::batch_add_kernels::CUZK_ARITHMETIC {

namespace {

namespace vectors = curve::CUZK_ARITHMETIC;
using vectors::Field8;

template <class F>
F from_u64(std::uint64_t value) {
  if constexpr (std::is_same_v<F, Fp2>) {
    return {Fp::from_u64(value), Fp::zero()};
  } else {
    return F::from_u64(value);
  }
}

// The operands of eight additions.
template <class F>
struct Group {
  const std::uint64_t *x1[8], *y1[8], *x2[8], *y2[8];
  std::uint64_t *x3[8], *y3[8];
  vectors::Signs signs;

  explicit Group(const PointAddition<F>* additions) {
    for (unsigned lane = 0; lane < 8; ++lane) {
      const PointAddition<F>& addition = additions[lane];
      x3[lane] = addition.acc->x.limbs();
      y3[lane] = addition.acc->y.limbs();
      x1[lane] = x3[lane];
      y1[lane] = y3[lane];
      x2[lane] = addition.addend->x.limbs();
      y2[lane] = addition.addend->y.limbs();
      signs.set(lane, addition.negate);
    }
  }
};

// Inverts all lanes with one inversion, times 2^(3·kHalfShift).
template <class F>
CUZK_TARGET void invert_lanes(Field8<F>& values) {
  constexpr std::uint64_t kFactor = std::uint64_t{1} << 3 * vectors::kHalfShift;
  F elements[8];
  std::uint64_t* targets[8];
  const std::uint64_t* sources[8];
  for (unsigned lane = 0; lane < 8; ++lane) sources[lane] = targets[lane] = elements[lane].limbs();
  values.store(targets);
  F prefixes[8];
  F product = F::one();
  for (unsigned lane = 0; lane < 8; ++lane) {
    prefixes[lane] = product;
    product *= elements[lane];
  }
  F inverse = product.inverse() * from_u64<F>(kFactor);
  for (unsigned lane = 8; lane-- > 0;) {
    const F element = elements[lane];
    elements[lane] = inverse * prefixes[lane];
    inverse *= element;
  }
  values.load(sources);
}

// With s = kHalfShift, a product of vectors is a·b/(2^2s·R). All coordinates are in Montgomery
// form, v·R. That of the slope is too large by 2^s, so that its square is right, and what it is
// multiplied with is shifted by s. Why: for products P_g = P_(g-1)·d_g/(2^2s·R) of the differences
// d_g, all I_g with I_g·P_g = K keep K through I_(g-1) = I_g·d_g/(2^2s·R), and give the slopes
// (rise/(2^2s·R))·I_g·P_(g-1)/(2^2s·R) = (rise/d_g)·K/(2^2s·R), which is wanted to be 2^s·R times
// the slope. So K = 2^3s·R², and I of the last product is 2^3s times its inverse in Montgomery
// form.
//
// Bounds, in multiples of p. Signed values: differences of coordinates are below 1; products of two
// such below 0.7 (G1) or 0.8 (G2), and so on: all operands stay below 3, all stored values within
// 4. Non-negative values: products are below 2.1, differences and rises below 2; with d = x2 - x1 +
// 1, 2·x1 + d is below 3, hence x3 below 6 and y3 below 4.
template <class F>
CUZK_TARGET void add_groups(std::span<const PointAddition<F>> additions, Field8<F>* scratch) {
  const std::size_t groups = additions.size() / kLanes;
  Field8<F>* const differences = scratch;
  Field8<F>* const prefixes = scratch + groups;
  Field8<F> product;
  for (std::size_t g = 0; g < groups; ++g) {
    const Group<F> group(&additions[g * kLanes]);
    Field8<F> x1, x2;
    x1.load(group.x1);
    x2.load(group.x2);
    Field8<F>::template subtract<1>(differences[g], x2, x1);
    differences[g].to_operand();
    if (g == 0) {
      product = differences[0];
    } else {
      prefixes[g] = product;
      Field8<F>::multiply(product, differences[g], product);
    }
  }
  Field8<F>& inverse = product;
  invert_lanes<F>(inverse);
  for (std::size_t g = groups; g-- > 0;) {
    if (g > 0) {
      for (const PointAddition<F>& next : additions.subspan((g - 1) * kLanes, kLanes)) {
        prefetch<Access::kWrite, 3>(*next.acc);
        prefetch<Access::kRead, 3>(*next.addend);
      }
    }
    const Group<F> group(&additions[g * kLanes]);
    Field8<F> slope;
    if (g > 0) {
      Field8<F>::multiply(inverse, prefixes[g], slope);
      Field8<F>::multiply(inverse, differences[g], inverse);
    } else {
      slope = inverse;
    }
    Field8<F> x1, y1, rise;
    y1.load(group.y1);
    rise.load(group.y2);
    Field8<F>::apply_signs(rise, group.signs, rise);
    Field8<F>::template subtract<1>(rise, rise, y1);
    rise.to_operand();
    Field8<F>::multiply(slope, rise, slope);
    x1.load(group.x1);
    Field8<F> square, x3, y3;
    Field8<F>::square(slope, square);
    Field8<F>::template subtract<3>(x3, square, x1, x1, differences[g]);  // x2 - x1
    Field8<F>::template subtract<6>(x1, x1, x3);
    x1.to_operand();
    x1.times_shift();
    Field8<F>::multiply(x1, slope, y3);
    Field8<F>::template subtract<1>(y3, y3, y1);
    x3.store(group.x3);
    y3.store(group.y3);
  }
}

template <class F>
void add_any(std::span<const PointAddition<F>> additions, void* scratch) {
  auto* const values = static_cast<Field8<F>*>(scratch);
  const std::size_t whole = additions.size() / kLanes * kLanes;
  if (whole == additions.size()) return add_groups(additions, values);
  // The last group is filled up with additions of the generator to its double.
  static const AffinePoint<F> kDouble =
      JacobianPoint<F>::from(AffinePoint<F>::generator()).doubled().to_affine();
  AffinePoint<F> spare[kLanes];
  std::vector<PointAddition<F>> filled(additions.begin(), additions.end());
  for (unsigned i = 0; filled.size() % kLanes != 0; ++i) {
    spare[i] = kDouble;
    filled.push_back({&spare[i], &AffinePoint<F>::generator(), false});
  }
  add_groups(std::span<const PointAddition<F>>(filled), values);
}

}  // namespace

static_assert(kScratchBytes<Fp> >= 2 * sizeof(Field8<Fp>) / kLanes &&
              kScratchBytes<Fp2> >= 2 * sizeof(Field8<Fp2>) / kLanes);

}  // namespace cuzk::curve::batch_add_kernels::CUZK_ARITHMETIC

#undef CUZK_ARITHMETIC
#undef CUZK_TARGET
