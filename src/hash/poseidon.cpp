#include "hash/poseidon.hpp"

#include "base/error.hpp"
#include "hash/poseidon_permutation.hpp"
#include "hash/product_sum.hpp"

namespace cuzk::hash {

using curve::Fr;

namespace {

template <unsigned kWidth, class ProductSum = ReducedProductSum>
Fr permute(const PoseidonConstants& constants, std::span<const Fr> inputs) {
  return PoseidonPermutation<kWidth, ProductSum>(constants, inputs).run();
}

/// For sums long enough that one reduction less a term pays for handling the long integer. Measured
/// on an AMD EPYC at 2.4 GHz, microseconds a hash, lazy and reduced: width 3 16.6 and 15.4, width 5
/// 24.3 and 26.0, width 9 40.8 and 53.7, width 12 54.5 and 73.6.
template <unsigned kWidth>
Fr permute_wide(const PoseidonConstants& constants, std::span<const Fr> inputs) {
#if defined(__x86_64__) && !defined(CUZK_NO_PRODUCT_SUM_ASM)
  static const bool lazy = lazy_products_supported();
  if (lazy) return permute<kWidth, LazyProductSum>(constants, inputs);
#endif
  return permute<kWidth>(constants, inputs);
}

}  // namespace

Fr poseidon(PoseidonDomain domain, std::span<const Fr> inputs) {
  const PoseidonConstants& constants = poseidon_constants(domain);
  base::require(inputs.size() == constants.arity,
                "Poseidon hash of {} elements: this domain takes {}", inputs.size(),
                constants.arity);
  switch (constants.width) {
    case 3:
      return permute<3>(constants, inputs);
    case 5:
      return permute_wide<5>(constants, inputs);
    case 9:
      return permute_wide<9>(constants, inputs);
    default:
      return permute_wide<12>(constants, inputs);
  }
}

}  // namespace cuzk::hash
