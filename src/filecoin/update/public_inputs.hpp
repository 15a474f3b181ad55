#pragma once

#include "curve/fr.hpp"
#include "filecoin/sector.hpp"

#include <cstdint>
#include <vector>

namespace cuzk::filecoin::update {

/// What the verifier of one partition of a sector update knows.
struct PublicInputs {
  std::uint64_t k_and_h_select;  ///< k | h_select << log2(partitions); Poseidon variant: h_select
  curve::Fr comm_r_old;
  curve::Fr comm_d_new;  ///< of the Poseidon variant: root of a Poseidon tree over the data
  curve::Fr comm_r_new;

  /// The circuit's inputs in order, without ONE: the members in their order.
  /// [rust-fil-proofs storage-proofs-update/src/circuit.rs, src/poseidon/circuit.rs]
  std::vector<curve::Fr> to_fields() const;

  friend bool operator==(const PublicInputs&, const PublicInputs&) = default;
};

/// Public values of a sector update as a whole.
struct Statement {
  SectorSize sector_size;
  curve::Fr comm_r_old;
  curve::Fr comm_d_new;
  curve::Fr comm_r_new;
  unsigned h;  ///< update_shape(sector_size).h_default on the network
};

/// Of partition k.
/// Throws InvalidInput if there is no such partition or h is no choice for the sector size.
PublicInputs public_inputs(const Statement& statement, unsigned k);
/// Of the one partition of the Poseidon variant.
/// Throws InvalidInput if h is no choice for the sector size.
PublicInputs poseidon_public_inputs(const Statement& statement);

}  // namespace cuzk::filecoin::update
