#pragma once

#include "filecoin/parameter_files.hpp"
#include "r1cs/shape.hpp"
#include "r1cs/symbolic_system.hpp"

namespace cuzk::filecoin {

/// Runs a circuit without values. Throws InvalidInput for a circuit that does not exist.
void synthesize(r1cs::SymbolicSystem& cs, CircuitKind kind, SectorSize size);

/// The shape of a circuit. At 32 GiB some seconds and a few hundred MB, once: shapes can be kept in
/// files.
r1cs::Shape build_shape(CircuitKind kind, SectorSize size);

/// Whether witnesses of a circuit are made with their given fields alone (r1cs/implied_fields.hpp)
/// and completed by the prover: those of WindowPoSt, 4 GB of which 99 % follow from the vanilla
/// proofs' 53 MB. (A WinningPoSt's few long chains would take a device longer than the host.)
constexpr bool leaves_out_implied(CircuitKind kind) { return kind == CircuitKind::kWindowPost; }

}  // namespace cuzk::filecoin
