#include "groth16/ops/ntt.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <random>

namespace cuzk::groth16 {
namespace {

using curve::Fr;

TEST(Ntt, Smoke) {
  for (unsigned log_n : {0U, 1U, 3U, 5U, 6U, 7U, 8U, 12U, 15U, 18U}) {
    Domain d(log_n);
    std::vector<Fr> v(d.n());
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = Fr::from_u64(i * i + 3);
    auto w = v;
    auto t = std::chrono::steady_clock::now();
    ntt(d, w);
    fprintf(stderr, "log n=%u %.3f ms\n", log_n, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - t).count());
    for (std::size_t i : {std::size_t{0}, d.n() / 2, d.n() - 1, d.n() / 3}) {
      Fr x = d.omega().pow(i), e = Fr::zero();
      for (std::size_t k = v.size(); k-- > 0;) e = e * x + v[k];
      EXPECT_EQ(w[i], e) << log_n << " " << i;
    }
    intt(d, w);
    EXPECT_TRUE(w == v);
    coset_ntt(d, w);
    Fr x = Domain::coset_shift() * d.omega().pow(d.n() / 3), e = Fr::zero();
    for (std::size_t k = v.size(); k-- > 0;) e = e * x + v[k];
    EXPECT_EQ(w[d.n() / 3], e);
    coset_intt(d, w);
    EXPECT_TRUE(w == v);
  }
}

}  // namespace
}  // namespace cuzk::groth16
