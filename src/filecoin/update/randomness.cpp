#include "filecoin/update/randomness.hpp"

#include "base/error.hpp"
#include "hash/poseidon.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace cuzk::filecoin::update {

using curve::Fr;
using hash::PoseidonDomain;

Fr phi(const Fr& comm_d_new, const Fr& comm_r_old) {
  return hash::poseidon(PoseidonDomain::kGenRandomness2, {comm_d_new, comm_r_old});
}

Fr rho(const Fr& phi, std::uint64_t high) {
  return hash::poseidon(PoseidonDomain::kGenRandomness2, {phi, Fr::from_u64(high)});
}

std::uint64_t h_select(const UpdateShape& shape, unsigned h) {
  const auto found = std::find(shape.h_choices.begin(), shape.h_choices.end(), h);
  base::require(found != shape.h_choices.end(),
                "sector update with h = {}: for this sector size it must be one of {}", h,
                fmt::join(shape.h_choices, ", "));
  return std::uint64_t{1} << (found - shape.h_choices.begin());
}

}  // namespace cuzk::filecoin::update
