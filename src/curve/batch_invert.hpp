#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace cuzk::curve {

/// Replaces every element by its inverse with one inversion and 3(n-1) multiplications
/// (Montgomery's trick); zeros stay zero. F is any field of this layer.
template <class F>
void invert_all(std::span<F> elements) {
  std::vector<F> prefix(elements.size());  // product of the non-zero elements before
  F product = F::one();
  for (std::size_t i = 0; i < elements.size(); ++i) {
    prefix[i] = product;
    if (!elements[i].is_zero()) product *= elements[i];
  }
  F inverse = product.inverse();
  for (std::size_t i = elements.size(); i-- > 0;) {
    if (elements[i].is_zero()) continue;
    const F element = elements[i];
    elements[i] = inverse * prefix[i];
    inverse *= element;
  }
}

}  // namespace cuzk::curve
