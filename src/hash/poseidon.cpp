#include "hash/poseidon.hpp"

#include "base/error.hpp"
#include "hash/poseidon_permutation.hpp"
#include "hash/product_sum.hpp"

namespace cuzk::hash {

using curve::Fr;

namespace {

template <unsigned kWidth, class ProductSum, class OnSBox>
Fr permute(const PoseidonConstants& constants, std::span<const Fr> inputs, const OnSBox& on_s_box) {
  return PoseidonPermutation<kWidth, ProductSum, OnSBox>(constants, inputs, on_s_box).run();
}

/// For sums long enough that one reduction less a term pays for handling the long integer. Measured
/// on an AMD EPYC at 2.4 GHz, microseconds a hash, lazy and reduced: width 3 16.6 and 15.4, width 5
/// 24.3 and 26.0, width 9 40.8 and 53.7, width 12 54.5 and 73.6.
template <unsigned kWidth, class OnSBox>
Fr permute_wide(const PoseidonConstants& constants, std::span<const Fr> inputs,
                const OnSBox& on_s_box) {
#if defined(__x86_64__) && !defined(CUZK_NO_PRODUCT_SUM_ASM)
  static const bool lazy = lazy_products_supported();
  if (lazy) return permute<kWidth, LazyProductSum>(constants, inputs, on_s_box);
#endif
  return permute<kWidth, ReducedProductSum>(constants, inputs, on_s_box);
}

template <class OnSBox>
Fr run(const PoseidonConstants& constants, std::span<const Fr> inputs, const OnSBox& on_s_box) {
  base::require(inputs.size() == constants.arity,
                "Poseidon hash of {} elements: this domain takes {}", inputs.size(),
                constants.arity);
  switch (constants.width) {
    case 3:
      return permute<3, ReducedProductSum>(constants, inputs, on_s_box);
    case 5:
      return permute_wide<5>(constants, inputs, on_s_box);
    case 9:
      return permute_wide<9>(constants, inputs, on_s_box);
    default:
      return permute_wide<12>(constants, inputs, on_s_box);
  }
}

/// Writes an S-box's variables, one behind the other.
class WriteVariables {
 public:
  WriteVariables(unsigned width, Fr* out) : width_(width), out_(out) {}

  void operator()(const Fr& x, const Fr& x2, const Fr& x4, const Fr& result) {
    const unsigned box = box_++;
    if (box == 0) return;
    if (box >= width_) *out_++ = x;
    *out_++ = x2;
    *out_++ = x4;
    *out_++ = result;
  }

 private:
  unsigned width_;
  unsigned box_ = 0;
  Fr* out_;
};

}  // namespace

Fr poseidon(PoseidonDomain domain, std::span<const Fr> inputs) {
  return run(poseidon_constants(domain), inputs, IgnoreSBoxes());
}

std::size_t poseidon_variable_count(PoseidonDomain domain) {
  const PoseidonConstants& constants = poseidon_constants(domain);
  const std::size_t boxes =
      std::size_t{constants.width} * (constants.full_rounds - 1) + constants.partial_rounds;
  return 3 * std::size_t{constants.arity} + 4 * boxes + 1;
}

void poseidon_variables(PoseidonDomain domain, std::span<const Fr> inputs, std::span<Fr> out) {
  const PoseidonConstants& constants = poseidon_constants(domain);
  const std::size_t count = poseidon_variable_count(domain);
  base::require(out.size() == count, "variables of a Poseidon hash: {} places for {}", out.size(),
                count);
  out.back() = run(constants, inputs, WriteVariables(constants.width, out.data()));
}

}  // namespace cuzk::hash
