#include "curve/vector_field_ifma.hpp"

#include "curve/arithmetic.hpp"
#include "curve/vector_lanes_ifma.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <span>
#include <vector>

#if defined(__x86_64__)

namespace cuzk::curve::ifma {
namespace {

// Against integers of many limbs: what a vector holds is a number below 2^(52·limbs).
template <class V>
class VectorFieldIfma : public ::testing::Test {
 protected:
  static constexpr std::size_t kWide = 2 * V::words + 4;
  using Wide = Limbs<kWide>;
  using Element = Vector<V>;

  void SetUp() override {
    if (!is_available(Arithmetic::kIfma)) GTEST_SKIP() << "this processor has no AVX-512 IFMA";
  }

  static Wide modulus(std::uint64_t times = 1) {
    return wide::resize<kWide>(wide::multiply(V::field.modulus, Limbs<1>{times}));
  }
  static Wide sum(Wide a, const Wide& b) {
    wide::add(a, b);
    return a;
  }
  static Wide minus(Wide a, const Wide& b) {
    EXPECT_FALSE(wide::subtract(a, b));
    return a;
  }
  static Wide power_of_two(unsigned exponent) {
    Wide out{};
    out[exponent / 64] = std::uint64_t{1} << exponent % 64;
    return out;
  }
  static Wide product(const Wide& a, const Wide& b) {
    const auto out = wide::multiply(a, b);
    for (std::size_t i = kWide; i < out.size(); ++i) EXPECT_EQ(out[i], 0U);
    return wide::resize<kWide>(out);
  }
  static Wide residue(Wide a) {
    const unsigned shift = 64 * (kWide - V::words);
    for (unsigned i = shift + 1; i-- > 0;) {
      Wide multiple{};
      for (std::size_t k = 0; k < V::words; ++k) {
        const std::size_t word = k + i / 64;
        if (word < kWide) multiple[word] |= V::field.modulus[k] << i % 64;
        if (i % 64 > 0 && word + 1 < kWide)
          multiple[word + 1] |= V::field.modulus[k] >> (64 - i % 64);
      }
      if (!wide::less(a, multiple)) wide::subtract(a, multiple);
    }
    return a;
  }

  static void set(Element& out, unsigned lane, const Wide& value) {
    const auto limbs = split<V>(value);
    for (unsigned k = 0; k < V::limbs; ++k) out.limb[k][lane] = limbs[k];
  }
  // Of signed limbs that may exceed 52 bits.
  static Wide get(const Element& value, unsigned lane) {
    Wide out{};
    for (unsigned k = V::limbs; k-- > 0;) {
      out = product(out, Wide{std::uint64_t{1} << kBits});
      const auto limb = static_cast<std::int64_t>(value.limb[k][lane]);
      if (limb >= 0) {
        wide::add(out, Wide{static_cast<std::uint64_t>(limb)});
      } else {
        wide::subtract(out, Wide{static_cast<std::uint64_t>(-limb)});
      }
    }
    return out;
  }
  static bool carried(const Element& value, unsigned lane) {
    return std::all_of(std::begin(value.limb), std::end(value.limb),
                       [&](const auto& limb) { return limb[lane] <= kMask; });
  }

  // Edges first, then random values of all sizes, up to `limit`, inclusive.
  static std::vector<Wide> operands(const Wide& limit) {
    std::vector<Wide> out = {Wide{}, Wide{1}, Wide{2}, limit, minus(limit, Wide{1})};
    for (const std::uint64_t times : {1, 2, 7}) {
      for (const std::uint64_t below : {0, 1, 2}) {
        out.push_back(minus(modulus(times), Wide{below}));
        out.push_back(sum(modulus(times), Wide{below}));
      }
    }
    for (unsigned bits = kBits; bits < kBits * V::limbs; bits += kBits) {
      out.push_back(power_of_two(bits));                  // one limb of 1
      out.push_back(minus(power_of_two(bits), Wide{1}));  // limbs of all ones
      out.push_back(minus(power_of_two(bits), power_of_two(bits - kBits)));
    }
    std::mt19937_64 random(1);
    for (int i = 0; i < 30; ++i) {
      Wide value{};
      for (std::size_t k = 0; k < V::words + 1; ++k) value[k] = random();
      out.push_back(wide::shift_right(value, static_cast<unsigned>(random() % 200)));
    }
    std::erase_if(out, [&](const Wide& value) { return wide::less(limit, value); });
    return out;
  }
  // The largest carried value.
  static Wide all_ones() { return minus(power_of_two(kBits * V::limbs), Wide{1}); }
  // Of the reduction of a sum: sum/R' + 2m, rounded up.
  static Wide bound(const Wide& columns) {
    return sum(sum(wide::shift_right(columns, kBits * V::limbs), modulus(2)), Wide{1});
  }
};

using Fields = ::testing::Types<FpVectorField, FrVectorField>;
TYPED_TEST_SUITE(VectorFieldIfma, Fields);

template <class V>
CUZK_IFMA void product_of(const Vector<V>& a, const Vector<V>& b, Vector<V>& out) {
  multiply_pairs<1, V, Vector<V>>({&a}, {&b}, out);
}
template <class V>
CUZK_IFMA void product_of(const Vector<V>& a, const Broadcast<V>& b, Vector<V>& out) {
  multiply_pairs<1, V, Broadcast<V>>({&a}, {&b}, out);
}
template <class V>
CUZK_IFMA void product_sum_of(const Vector<V>& a, const Vector<V>& b, const Vector<V>& c,
                              const Vector<V>& d, Vector<V>& out) {
  multiply_pairs<2, V, Vector<V>>({&a, &c}, {&b, &d}, out);
}
template <class V>
CUZK_IFMA void square_of(const Vector<V>& a, Vector<V>& out) {
  square(a, out);
}
template <class V>
CUZK_IFMA void difference_of(const Vector<V>& a, const Vector<V>& b, Vector<V>& out) {
  subtract<3>(out, a, b, b);
}
template <class V>
CUZK_IFMA void carry_of(Vector<V>& value) {
  carry(value);
}
template <class V>
CUZK_IFMA void reduced(Vector<V>& value) {
  reduce(value);
}
template <class V>
CUZK_IFMA void stored(const Vector<V>& value, std::uint64_t* const (&targets)[8]) {
  store_lanes(value, targets);
}
template <class V>
CUZK_IFMA void loaded(const std::uint64_t* const (&sources)[8], Vector<V>& out) {
  load_lanes(sources, out);
}
template <class V>
CUZK_IFMA void shifted(Vector<V>& value) {
  shift_left<4>(value);
}

TYPED_TEST(VectorFieldIfma, ProductsAreCongruentCarriedAndWithinTheirBound) {
  using V = TypeParam;
  const auto values = this->operands(this->all_ones());
  const auto scale = this->power_of_two(kBits * V::limbs);
  // R' is about 35·m in Fr: the second operand must be small for the product to be below R'.
  const auto small = this->operands(this->modulus(3));
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t first = 0; first < small.size(); first += 8) {
      Vector<V> a, b, out;
      for (unsigned lane = 0; lane < 8; ++lane) {
        this->set(a, lane, values[(i + lane) % values.size()]);
        this->set(b, lane, small[(first + lane) % small.size()]);
      }
      product_of(a, b, out);
      for (unsigned lane = 0; lane < 8; ++lane) {
        const auto &x = values[(i + lane) % values.size()],
                   &y = small[(first + lane) % small.size()], z = this->get(out, lane);
        ASSERT_EQ(this->residue(this->product(z, scale)), this->residue(this->product(x, y)));
        ASSERT_TRUE(this->carried(out, lane));
        ASSERT_TRUE(wide::less(z, this->bound(this->product(x, y))));
      }
    }
  }
}

TYPED_TEST(VectorFieldIfma, OneFactorForAllLanesIsTheSameProduct) {
  using V = TypeParam;
  const auto values = this->operands(this->all_ones());
  for (const auto& factor : this->operands(this->modulus(3))) {
    Vector<V> a, b, expected, out;
    for (unsigned lane = 0; lane < 8; ++lane) {
      this->set(a, lane, values[(7 * lane + factor[0] % 5) % values.size()]);
      this->set(b, lane, factor);
    }
    product_of(a, b, expected);
    product_of(a, split<V>(factor), out);
    ASSERT_TRUE(std::ranges::equal(std::span(&out.limb[0][0], 8 * V::limbs),
                                   std::span(&expected.limb[0][0], 8 * V::limbs)));
  }
}

TYPED_TEST(VectorFieldIfma, SumsOfProductsAndSquares) {
  using V = TypeParam;
  const auto scale = this->power_of_two(kBits * V::limbs);
  const auto values = this->operands(this->modulus(4));
  for (std::size_t i = 0; i < values.size(); ++i) {
    Vector<V> factors[4], sum, square;
    const auto& value = [&](unsigned factor, unsigned lane) -> const auto& {
      return values[(i + lane * (2 * factor + 1) + factor) % values.size()];
    };
    for (unsigned lane = 0; lane < 8; ++lane) {
      for (unsigned factor = 0; factor < 4; ++factor)
        this->set(factors[factor], lane, value(factor, lane));
    }
    product_sum_of(factors[0], factors[1], factors[2], factors[3], sum);
    square_of(factors[0], square);
    for (unsigned lane = 0; lane < 8; ++lane) {
      const auto expected = this->sum(this->product(value(0, lane), value(1, lane)),
                                      this->product(value(2, lane), value(3, lane)));
      const auto result = this->get(sum, lane), squared = this->get(square, lane);
      ASSERT_EQ(this->residue(this->product(result, scale)), this->residue(expected));
      ASSERT_TRUE(wide::less(result, this->bound(expected)) && this->carried(sum, lane));
      const auto expected_square = this->product(value(0, lane), value(0, lane));
      ASSERT_EQ(this->residue(this->product(squared, scale)), this->residue(expected_square));
      ASSERT_TRUE(wide::less(squared, this->bound(expected_square)));
      ASSERT_TRUE(this->carried(square, lane));
    }
  }
}

TYPED_TEST(VectorFieldIfma, DifferencesShiftsAndRemainders) {
  using V = TypeParam;
  const auto values = this->operands(this->modulus(5));
  const auto subtrahends = this->operands(this->modulus(1));
  for (std::size_t i = 0; i < values.size(); ++i) {
    Vector<V> a, b, difference;
    for (unsigned lane = 0; lane < 8; ++lane) {
      this->set(a, lane, values[(i + lane) % values.size()]);
      this->set(b, lane, subtrahends[(i + 3 * lane) % subtrahends.size()]);
    }
    difference_of(a, b, difference);
    Vector<V> remainder = difference, carried = difference, shift = b;
    reduced(remainder);
    carry_of(carried);
    shifted(shift);
    Limbs<V::words> elements[8];
    std::uint64_t* targets[8];
    const std::uint64_t* sources[8];
    for (unsigned lane = 0; lane < 8; ++lane) sources[lane] = targets[lane] = elements[lane].data();
    stored(difference, targets);
    Vector<V> again;
    loaded(sources, again);
    for (unsigned lane = 0; lane < 8; ++lane) {
      const auto x = this->get(a, lane), y = this->get(b, lane);
      const auto expected = this->minus(this->minus(this->sum(x, this->modulus(3)), y), y);
      ASSERT_EQ(this->get(difference, lane), expected);
      ASSERT_EQ(this->get(carried, lane), expected);
      ASSERT_TRUE(this->carried(carried, lane) && this->carried(remainder, lane));
      ASSERT_EQ(this->residue(this->get(remainder, lane)), this->residue(expected));
      ASSERT_TRUE(wide::less(this->get(remainder, lane), this->modulus(2)));
      ASSERT_EQ(wide::resize<decltype(this->residue(x))().size()>(elements[lane]),
                this->residue(expected));
      ASSERT_EQ(this->get(again, lane), this->residue(expected));
      ASSERT_EQ(this->get(shift, lane), this->product(y, {16}));
      ASSERT_TRUE(this->carried(shift, lane));
    }
  }
}

}  // namespace
}  // namespace cuzk::curve::ifma

#endif
