#include "gadgets/num.hpp"

namespace cuzk::gadgets {

const std::array<Fr, Fr::kNumBits>& powers_of_two() {
  static const auto powers = [] {
    std::array<Fr, Fr::kNumBits> out;
    for (unsigned i = 0; i < out.size(); ++i) out[i] = Fr::power_of_two(i);
    return out;
  }();
  return powers;
}

}  // namespace cuzk::gadgets
