#include "filecoin/circuit/circuits.hpp"

#include "base/error.hpp"
#include "filecoin/porep/circuit.hpp"
#include "filecoin/post/circuit.hpp"
#include "filecoin/update/circuit.hpp"
#include "r1cs/shape_builder.hpp"

namespace cuzk::filecoin {

void synthesize(r1cs::SymbolicSystem& cs, CircuitKind kind, SectorSize size) {
  base::require(circuit_exists(kind, size), "there is no {} circuit for {}", to_string(kind),
                size.to_string());
  switch (kind) {
    case CircuitKind::kPorep:
      return porep::synthesize(cs, size);
    case CircuitKind::kWinningPost:
      return post::synthesize(cs, post::winning_circuit_size(size));
    case CircuitKind::kWindowPost:
      return post::synthesize(cs, post::window_circuit_size(size));
    case CircuitKind::kUpdate:
      return update::synthesize(cs, size);
    case CircuitKind::kUpdatePoseidon:
      return update::synthesize_poseidon(cs, size);
  }
}

r1cs::Shape build_shape(CircuitKind kind, SectorSize size) {
  r1cs::ShapeBuilder builder;
  synthesize(builder, kind, size);
  return builder.finish();
}

}  // namespace cuzk::filecoin
