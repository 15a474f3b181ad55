#include "groth16/ops/cuda/ntt_check.cuh"

#include <gtest/gtest.h>

namespace cuzk::groth16::cuda::checks {
namespace {

// Up to 2^11: one block. 12 = 6 + 6, 13 = 7 + 6, 15 = 8 + 7, 17 = 9 + 8: two passes, every kind of
// last phase.
TEST(NttEmulated, Transforms) {
  for (const NttCase c : {NttCase{0, true},
                          {1, true},
                          {3, true},
                          {6, true},
                          {11, true},
                          {12, true},
                          {12, false},
                          {13, true},
                          {15, false},
                          {17, true}}) {
    EXPECT_EQ(check_ntt(c, {}), "");
  }
}
// Three passes at the smallest size that has them: 19 = 7 + 6 + 6.
TEST(NttEmulated, ThreePasses) {
  const NttBench bench({19, true}, {});
  std::vector<Fr> x = lazy_input(bench.ntt.n(), 1);
  std::vector<curve::Fr> wanted = residues(x);
  transform(wanted, omega(19).inverse());
  bench.ntt.intt_unscaled(x.data(), {});
  for (std::size_t q = 0; q < x.size(); ++q) ASSERT_EQ(residue(x[q]), wanted[reversed(q, 19)]) << q;
}
TEST(NttEmulated, Derivative) {
  for (const NttCase c :
       {NttCase{0, true}, {1, true}, {5, true}, {11, true}, {12, false}, {14, true}, {15, true}}) {
    EXPECT_EQ(check_derivative(c, {}), "");
  }
}
TEST(NttEmulated, Textbook) {
  for (const NttCase c : {NttCase{0, true}, {1, true}, {4, true}, {9, true}, {12, true}}) {
    EXPECT_EQ(check_textbook(c, {}), "");
  }
}

TEST(NttConstants, SmallRootsFollowFromOmega) {
  const curve::Fr half = curve::Fr::from_u64(2).inverse();
  for (const bool dif : {true, false}) {
    const curve::Fr w8 = dif ? omega(3).inverse() : omega(3);
    const curve::Fr i = w8.square(), s = (w8 + w8.inverse()) * half;
    const FrFactor* roots = dif ? kDifRoots : kDitRoots;
    const curve::Fr wanted[3] = {i, s, i * s};
    for (int k = 0; k < 3; ++k) {
      EXPECT_EQ(residue(roots[k].w), wanted[k]);
      EXPECT_TRUE(curve::device::equal(curve::device::make_factor(roots[k].w).companion,
                                       roots[k].companion));
    }
    EXPECT_EQ(s * (curve::Fr::one() + i), w8);
    EXPECT_EQ(s * (i - curve::Fr::one()), w8 * i);
  }
}

TEST(NttErrors, NameSizeAndLimit) {
  EXPECT_THROW(Ntt::table_bytes(28, {}), base::InvalidInput);
  EXPECT_THROW(Ntt::table_bytes(-1, {}), base::InvalidInput);
  EXPECT_THROW(TextbookQuotient::table_bytes(28), base::InvalidInput);
  std::vector<std::byte> memory(256);
  EXPECT_THROW(Ntt(12, {}, {memory.data(), memory.size()}, {}), base::InvalidInput);
  EXPECT_THROW(TextbookQuotient(12, {memory.data(), memory.size()}, {}), base::InvalidInput);
  const NttBench bench({3, true}, {});
  std::vector<std::byte> tables(TextbookQuotient::table_bytes(4));
  const TextbookQuotient quotient(4, {tables.data(), tables.size()}, {});
  EXPECT_THROW(quotient.run(bench.ntt, nullptr, nullptr, nullptr, {}), base::InvalidInput);
}

}  // namespace
}  // namespace cuzk::groth16::cuda::checks
