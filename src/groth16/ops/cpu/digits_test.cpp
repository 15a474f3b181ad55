#include "groth16/ops/cpu/digits.hpp"

#include "groth16/testing.hpp"

#include <gtest/gtest.h>

namespace cuzk::groth16 {
namespace {

using curve::Fr;

std::vector<Fr> some_scalars() {
  std::vector<Fr> scalars = testing::random_scalars(200, 1);
  const Fr half = Fr::from_u64(2).inverse();
  for (const Fr& edge : {Fr::zero(), Fr::one(), -Fr::one(), half, half - Fr::one(),
                         Fr::power_of_two(254), Fr::from_u64(2)}) {
    scalars.push_back(edge);
  }
  for (unsigned exponent = 0; exponent < 255; exponent += 7)
    scalars.push_back(Fr::power_of_two(exponent) - Fr::one());
  return scalars;
}

// Σ digit_w·2^start(w) of one value; every digit is within its limit.
Fr value_of(const SignedDigits& digits, const DigitWindows& windows, std::size_t i) {
  Fr sum = Fr::zero();
  for (unsigned w = windows.count(); w-- > 0;) {
    sum *= Fr::power_of_two(windows.width(w));
    const std::int32_t digit = digits.digit(i, w);
    EXPECT_LE(static_cast<std::size_t>(std::abs(digit)), windows.limit(w))
        << "window " << w << " of " << windows.width(0) << " bits";
    const Fr magnitude = Fr::from_u64(static_cast<std::uint64_t>(std::abs(digit)));
    sum += digit < 0 ? -magnitude : magnitude;
  }
  return sum;
}

TEST(SignedDigits, AddUpToTheScalar) {
  const std::vector<Fr> scalars = some_scalars();
  for (unsigned bits = 2; bits <= 20; ++bits) {
    const DigitWindows windows(bits);
    const SignedDigits digits(scalars, windows);
    EXPECT_EQ(windows.count(), (255 + bits - 1) / bits);
    for (std::size_t i = 0; i < scalars.size(); ++i)
      ASSERT_EQ(value_of(digits, windows, i), scalars[i]) << i << ", " << bits << " bits";
  }
}

// Parts weigh 1, M, M², ... with M = X² for two of them, X for four.
TEST(SignedDigits, PartsAddUpToTheScalar) {
  std::vector<Fr> scalars = some_scalars();
  const Fr x = Fr::from_u64(curve::kX);
  // The largest parts: X/2·(1 + X + X² + X³) is within r/2.
  const Fr digit = Fr::from_u64(curve::kX / 2);
  const Fr largest = digit * (Fr::one() + x + x.square() + x.square() * x);
  for (const Fr& edge : {x, x.square(), largest, -largest, largest - Fr::one(), digit, digit * x})
    scalars.push_back(edge);
  for (const unsigned parts : {2U, 4U}) {
    const Fr multiplier = parts == 2 ? x.square() : x;
    for (unsigned bits = parts == 2 ? 3 : 2; bits <= 20; ++bits) {
      const DigitWindows windows(bits, parts);
      EXPECT_EQ(windows.count(), (256 / parts + bits - 1) / bits);
      const SignedDigits digits(scalars, windows);
      for (std::size_t i = 0; i < scalars.size(); ++i) {
        Fr sum = Fr::zero();
        for (unsigned part = parts; part-- > 0;)
          sum = sum * multiplier + value_of(digits, windows, part * scalars.size() + i);
        ASSERT_EQ(sum, scalars[i]) << i << ", " << parts << " parts, " << bits << " bits";
      }
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
