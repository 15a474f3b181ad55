#include "groth16/ops/domain.hpp"

#include "base/error.hpp"
#include "curve/params.hpp"

namespace cuzk::groth16 {

using curve::Fr;

Domain::Domain(unsigned log_n) : log_n_(log_n) {
  base::require(log_n <= kMaxLog,
                "evaluation domain of 2^{} points: the field has roots of unity up to 2^{}", log_n,
                kMaxLog);
  omega_ = Fr::from_montgomery(curve::kFrRootOfUnity);
  for (unsigned i = log_n; i < kMaxLog; ++i) omega_ = omega_.square();
  omega_inverse_ = omega_.inverse();
  n_inverse_ = Fr::power_of_two(log_n).inverse();
}

const Fr& Domain::coset_shift() {
  static const Fr shift = Fr::from_u64(curve::kFrGenerator);
  return shift;
}

const Fr& Domain::coset_shift_inverse() {
  static const Fr inverse = coset_shift().inverse();
  return inverse;
}

Fr Domain::vanishing(const Fr& x) const { return x.pow(n()) - Fr::one(); }

}  // namespace cuzk::groth16
