#include "r1cs/witness.hpp"

namespace cuzk::r1cs {

std::vector<curve::Fr> expand_aux(const Shape& shape, const Witness& witness) {
  std::vector<curve::Fr> out;
  out.reserve(shape.num_aux());
  for_each_aux(shape, witness,
               [&](std::uint32_t, const curve::Fr& value) { out.push_back(value); });
  return out;
}

}  // namespace cuzk::r1cs
