#pragma once

#include "base/large_array.hpp"
#include "groth16/derived_key.hpp"
#include "groth16/key_file.hpp"
#include "groth16/point_section.hpp"

namespace cuzk::groth16 {

/// A proving key in memory, laid out for the prover. Immutable after loading; threads may share it.
struct ProvingKey {
  VerifyingKey verifying_key;
  /// Textbook: H_j, j < n - 1; derivative: Q_i, one for each row.
  base::LargeArray<curve::G1Affine> h;
  Query<curve::Fp> l, a, b_g1;
  Query<curve::Fp2> b_g2;
};

/// Loads the key in the textbook form. All points are checked to be on their curves; subgroups see
/// key_check.hpp. Throws CorruptData that names the file and the point; the file must have passed
/// require_circuit.
ProvingKey load_proving_key(const KeyFile& file, const KeyLayout& layout);

/// The key in the derivative form: h and l from the derived file, the rest from the official one.
ProvingKey load_proving_key(const KeyFile& file, const DerivedKeyFile& derived,
                            const KeyLayout& layout);

}  // namespace cuzk::groth16
