#include "filecoin/inclusion_proof.hpp"

#include <bit>

namespace cuzk::filecoin {

std::uint64_t InclusionProof::leaf_index(const TreeShape& shape) const {
  std::uint64_t index = 0;
  unsigned bits = 0;
  for (unsigned level = 0; level < shape.levels(); ++level) {
    index |= std::uint64_t{positions[level]} << bits;
    bits += static_cast<unsigned>(std::countr_zero(shape.arity(level)));
  }
  return index;
}

}  // namespace cuzk::filecoin
