#include "groth16/ops/cpu/digits.hpp"

#include "groth16/testing.hpp"

#include <gtest/gtest.h>

namespace cuzk::groth16 {
namespace {

using curve::Fr;

TEST(SignedDigits, AddUpToTheScalar) {
  std::vector<Fr> scalars = testing::random_scalars(200, 1);
  const Fr half = Fr::from_u64(2).inverse();
  for (const Fr& edge : {Fr::zero(), Fr::one(), -Fr::one(), half, half - Fr::one(),
                         Fr::power_of_two(254), Fr::from_u64(2)}) {
    scalars.push_back(edge);
  }
  for (unsigned exponent = 0; exponent < 255; exponent += 7)
    scalars.push_back(Fr::power_of_two(exponent) - Fr::one());
  for (unsigned bits = 2; bits <= 20; ++bits) {
    const DigitWindows windows(bits);
    const SignedDigits digits(scalars, windows);
    EXPECT_EQ(windows.count(), (255 + bits - 1) / bits);
    for (std::size_t i = 0; i < scalars.size(); ++i) {
      Fr sum = Fr::zero();
      for (unsigned w = windows.count(); w-- > 0;) {
        sum *= Fr::power_of_two(windows.width(w));
        const std::int32_t digit = digits.digit(i, w);
        ASSERT_LE(static_cast<std::size_t>(std::abs(digit)), windows.limit(w))
            << "window " << w << " of " << bits << " bits";
        const Fr magnitude = Fr::from_u64(static_cast<std::uint64_t>(std::abs(digit)));
        sum += digit < 0 ? -magnitude : magnitude;
      }
      ASSERT_EQ(sum, scalars[i]) << i << ", " << bits << " bits";
    }
  }
}

TEST(DigitWindows, CoverTheScalarEvenly) {
  for (unsigned bits = 2; bits <= 20; ++bits) {
    const DigitWindows windows(bits);
    unsigned end = 0;
    for (unsigned w = 0; w < windows.count(); ++w) {
      EXPECT_EQ(windows.start(w), end);
      EXPECT_LE(windows.width(w), bits);
      EXPECT_GE(windows.width(w) + 1, windows.width(0));
      EXPECT_EQ(windows.limit(w), std::size_t{1} << (windows.width(w) - 1));
      end += windows.width(w);
    }
    EXPECT_EQ(end, 255U);
  }
}

TEST(SignedDigits, ZeroHasOnlyZeroDigits) {
  const std::vector<Fr> zero(1);
  for (unsigned bits = 2; bits <= 20; ++bits) {
    const DigitWindows windows(bits);
    const SignedDigits digits(zero, windows);
    for (unsigned w = 0; w < windows.count(); ++w) EXPECT_EQ(digits.digit(0, w), 0);
  }
}

}  // namespace
}  // namespace cuzk::groth16
