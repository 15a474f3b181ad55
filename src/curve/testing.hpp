#pragma once

#include "curve/point.hpp"

#include <cstddef>
#include <vector>

/// For tests and benchmarks of this layer and those above it.
namespace cuzk::curve::testing {

/// Points with known logarithms: (i + 1)·G for i < count.
template <class F>
std::vector<AffinePoint<F>> multiples(std::size_t count) {
  std::vector<JacobianPoint<F>> out;
  JacobianPoint<F> point = JacobianPoint<F>::identity();
  for (std::size_t i = 0; i < count; ++i) out.push_back(point += AffinePoint<F>::generator());
  return normalize<F>(out);
}

}  // namespace cuzk::curve::testing
