#include "curve/batch_add_kernels.hpp"
#include "curve/field8_avx2.hpp"

#include <algorithm>

#if defined(__x86_64__)

namespace cuzk::curve::batch_add_kernels {

namespace {

using avx2::Field8;

const std::uint64_t* words(const Fp& value) { return value.limbs(); }
const std::uint64_t* words(const Fp2& value) { return value.c0.limbs(); }
std::uint64_t* words(Fp& value) { return value.blst()->l; }
std::uint64_t* words(Fp2& value) { return value.c0.blst()->l; }

// The operands of eight additions.
template <class F>
struct Group {
  const std::uint64_t *x1[8], *y1[8], *x2[8], *y2[8];
  std::uint64_t *x3[8], *y3[8];
  double signs[8];

  explicit Group(const PointAddition<F>* additions) {
    for (unsigned lane = 0; lane < 8; ++lane) {
      const PointAddition<F>& addition = additions[lane];
      x3[lane] = words(addition.acc->x);
      y3[lane] = words(addition.acc->y);
      x1[lane] = x3[lane];
      y1[lane] = y3[lane];
      x2[lane] = words(addition.addend->x);
      y2[lane] = words(addition.addend->y);
      signs[lane] = addition.negate ? -1.0 : 1.0;
    }
  }
};

template <class F>
void prefetch(const PointAddition<F>* additions, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    for (std::size_t line = 0; line < sizeof(AffinePoint<F>); line += 64) {
      __builtin_prefetch(reinterpret_cast<const char*>(additions[i].acc) + line, 1);
      __builtin_prefetch(reinterpret_cast<const char*>(additions[i].addend) + line);
    }
  }
}

// Inverts all lanes with one inversion.
template <class F>
CUZK_AVX2 void invert_lanes(Field8<F>& values) {
  F elements[8];
  std::uint64_t* targets[8];
  const std::uint64_t* sources[8];
  for (unsigned lane = 0; lane < 8; ++lane) sources[lane] = targets[lane] = words(elements[lane]);
  values.store(targets);
  F prefixes[8];
  F product = F::one();
  for (unsigned lane = 0; lane < 8; ++lane) {
    prefixes[lane] = product;
    product *= elements[lane];
  }
  F inverse = product.inverse();
  for (unsigned lane = 8; lane-- > 0;) {
    const F element = elements[lane];
    elements[lane] = inverse * prefixes[lane];
    inverse *= element;
  }
  values.load(sources);
}

// Bounds, in multiples of p: differences of coordinates are below 1; products of two such below 0.7
// (G1) or 0.8 (G2), and so on: all operands stay below 3 and all stored values within 4.
template <class F>
CUZK_AVX2 void add_groups(std::span<const PointAddition<F>> additions, Field8<F>* scratch) {
  const std::size_t groups = additions.size() / kLanes;
  Field8<F>* const differences = scratch;
  Field8<F>* const prefixes = scratch + groups;
  Field8<F> product;
  for (std::size_t g = 0; g < groups; ++g) {
    const Group<F> group(&additions[g * kLanes]);
    Field8<F> x1, x2;
    x1.load(group.x1);
    x2.load(group.x2);
    Field8<F>::subtract(x2, x1, differences[g]);
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
    if (g > 0) prefetch(&additions[(g - 1) * kLanes], kLanes);
    const Group<F> group(&additions[g * kLanes]);
    Field8<F> slope;
    if (g > 0) {
      Field8<F>::multiply(inverse, prefixes[g], slope);
      Field8<F>::multiply(inverse, differences[g], inverse);
    } else {
      slope = inverse;
    }
    Field8<F> x1, y1, y2;
    y1.load(group.y1);
    y2.load(group.y2);
    Field8<F>::apply_signs(y2, group.signs, y2);
    Field8<F>::subtract(y2, y1, y2);
    Field8<F>::multiply(slope, y2, slope);
    x1.load(group.x1);
    Field8<F> x3;
    Field8<F>::square(slope, x3);
    Field8<F>::subtract(x3, x1, x3);
    Field8<F>::subtract(x3, x1, x3);
    Field8<F>::subtract(x3, differences[g], x3);  // x2 - x1
    Field8<F>::subtract(x1, x3, x1);
    Field8<F>::multiply(slope, x1, slope);
    Field8<F>::subtract(slope, y1, slope);
    x3.store(group.x3);
    slope.store(group.y3);
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

void add_avx2(std::span<const PointAddition<Fp>> additions, void* scratch) {
  add_any(additions, scratch);
}
void add_avx2(std::span<const PointAddition<Fp2>> additions, void* scratch) {
  add_any(additions, scratch);
}

}  // namespace cuzk::curve::batch_add_kernels

#endif
