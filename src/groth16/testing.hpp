#pragma once

#include "curve/fr.hpp"
#include "curve/point.hpp"
#include "curve/testing.hpp"
#include "r1cs/shape_builder.hpp"
#include "r1cs/toy_circuit.hpp"
#include "r1cs/witness_builder.hpp"

#include <random>
#include <type_traits>
#include <vector>

/// What several tests of this layer need: random scalars, points with known logarithms, a small
/// circuit.
namespace cuzk::groth16::testing {

inline curve::Fr random_scalar(std::mt19937_64& random) {
  base::Bytes32 bytes;
  for (std::size_t i = 0; i < 32; ++i) bytes[i] = static_cast<std::uint8_t>(random());
  return curve::Fr::from_bytes_le_reduced(bytes);
}

inline std::vector<curve::Fr> random_scalars(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<curve::Fr> out(count);
  for (curve::Fr& value : out) value = random_scalar(random);
  return out;
}

using curve::testing::multiples;

/// A point of the curve outside the subgroup of order r: the one with the first x = 1, 2, ... that
/// has a y. Nearly no such point is in the subgroup.
template <class F>
curve::AffinePoint<F> outside_the_subgroup() {
  constexpr bool kIsG1 = std::is_same_v<F, curve::Fp>;
  F b;
  if constexpr (kIsG1) {
    b = curve::Fp::from_u64(curve::kCurveB);
  } else {
    b = {curve::Fp::from_u64(curve::kCurveB), curve::Fp::from_u64(curve::kCurveB)};
  }
  curve::AffinePoint<F> out{F::one(), {}};
  for (;; out.x += F::one()) {
    const F square = out.x.square() * out.x + b;
    if constexpr (kIsG1) {
      if (blst_fp_sqrt(out.y.blst(), square.blst())) return out;
    } else {
      if (blst_fp2_sqrt(out.y.blst(), square.blst())) return out;
    }
  }
}

/// r1cs's toy circuit (bits and field elements, inputs, repeats, ports), which is satisfied, and
/// its assignment.
struct ToyCircuit {
  explicit ToyCircuit(std::size_t copies = 3, unsigned bits = 5)
      : shape(make_shape(copies, bits)), witness(make_witness(shape, copies, bits)) {}

  /// Without ONE.
  std::vector<curve::Fr> public_inputs() const {
    return {witness.inputs.begin() + 1, witness.inputs.end()};
  }

  r1cs::Shape shape;
  r1cs::Witness witness;

 private:
  static r1cs::Shape make_shape(std::size_t copies, unsigned bits) {
    r1cs::ShapeBuilder builder;
    r1cs::toy::circuit<r1cs::SymbolicSystem>(builder, copies, bits);
    return builder.finish();
  }
  static r1cs::Witness make_witness(const r1cs::Shape& shape, std::size_t copies, unsigned bits) {
    r1cs::WitnessBuilder builder(shape);
    r1cs::toy::circuit(builder, copies, bits);
    return builder.finish();
  }
};

}  // namespace cuzk::groth16::testing
