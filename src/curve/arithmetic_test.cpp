#include "curve/arithmetic.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>

namespace cuzk::curve {
namespace {

TEST(Arithmetic, TheBestIsAvailableAndNothingFasterIs) {
  const Arithmetic best = resolve(Arithmetic::kBest);
  EXPECT_TRUE(is_available(best));
  for (const Arithmetic other : {Arithmetic::kAvx2, Arithmetic::kIfma})
    EXPECT_LE(is_available(other) ? other : Arithmetic::kScalar, best) << to_string(other);
}

TEST(Arithmetic, OthersAreThemselvesOrRefusedByName) {
  for (const Arithmetic one : {Arithmetic::kScalar, Arithmetic::kAvx2, Arithmetic::kIfma}) {
    if (is_available(one)) {
      EXPECT_EQ(resolve(one), one);
      continue;
    }
    try {
      resolve(one);
      ADD_FAILURE() << to_string(one);
    } catch (const base::InvalidInput& error) {
      EXPECT_NE(std::string_view(error.what()).find(to_string(one)), std::string_view::npos);
    }
  }
}

}  // namespace
}  // namespace cuzk::curve
