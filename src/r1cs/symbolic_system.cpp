#include "r1cs/symbolic_system.hpp"

#include "base/error.hpp"

namespace cuzk::r1cs {

void SymbolicSystem::skip(std::uint64_t inputs, std::uint64_t aux, std::uint64_t constraints) {
  base::require(num_aux_ + aux < Variable::kAuxBit && num_inputs_ + inputs < Variable::kAuxBit,
                "circuit too large: {} aux variables", num_aux_ + aux);
  num_inputs_ += static_cast<std::uint32_t>(inputs);
  num_aux_ += static_cast<std::uint32_t>(aux);
  num_constraints_ += constraints;
}

}  // namespace cuzk::r1cs
