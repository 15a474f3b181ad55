#pragma once

#include "r1cs/shape.hpp"
#include "r1cs/witness.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace cuzk::testing {

/// The witnesses of all partitions of one golden artefact.
struct ArtefactWitnesses {
  r1cs::Shape shape;
  std::vector<r1cs::Witness> partitions = {};
  /// Of a WindowPoSt: the same, made with the given fields alone (r1cs/implied_fields.hpp).
  std::vector<r1cs::Witness> given = {};
};

/// `folder` is one of the golden sectors, with a '/' at its end; `artefact` is porep, winning,
/// window, window-multi or update. Decodes the vanilla proofs and runs the circuit; nothing comes
/// from the golden witness.
ArtefactWitnesses golden_witnesses(const std::string& folder, const std::string& artefact);

/// The witness of the real 32 GiB WindowPoSt proof, a whole partition.
ArtefactWitnesses golden_real_window_witness();

/// Completes the witnesses made with their given fields alone and compares them with the whole
/// ones.
void expect_completion(const ArtefactWitnesses& witnesses);

/// Compares public inputs (without ONE) with an entry of *.inputs.json.
void expect_inputs(const nlohmann::json& golden, const r1cs::Witness& witness);

/// Compares counts and digests with a partition of *.witness.json: inputs, aux with checkpoints,
/// how many are 0, 1 or other, A·w, B·w, C·w; and that every constraint holds.
void expect_witness(const nlohmann::json& golden, const r1cs::Shape& shape,
                    const r1cs::Witness& witness);

}  // namespace cuzk::testing
