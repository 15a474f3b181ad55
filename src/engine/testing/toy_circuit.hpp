#pragma once

#include "engine/circuit_id.hpp"
#include "groth16/prover.hpp"
#include "groth16/setup.hpp"
#include "groth16/verifier.hpp"
#include "r1cs/constraint_system.hpp"
#include "r1cs/shape_builder.hpp"
#include "r1cs/witness_builder.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <unistd.h>
#include <vector>

/// A circuit so small that a thousand proofs take seconds, for tests of everything around it: "I
/// know the root of x".
namespace cuzk::engine::testing {

template <class CS>
void square_circuit(CS& cs, std::uint64_t root) {
  const curve::Fr y = curve::Fr::from_u64(root);
  const auto x = cs.alloc_input(r1cs::known<CS>([&] { return y.square(); }));
  const auto bit = cs.alloc_bit(r1cs::known<CS>([&] { return root % 2 == 1; }));
  const auto value = cs.alloc_aux(r1cs::known<CS>([&] { return y; }));
  cs.enforce(
      "boolean", [&](auto& lc) { lc.add(r1cs::Variable::one()).sub(bit); },
      [&](auto& lc) { lc.add(bit); }, [](auto&) {});
  cs.enforce(
      "square", [&](auto& lc) { lc.add(value); }, [&](auto& lc) { lc.add(value); },
      [&](auto& lc) { lc.add(x); });
}

inline std::vector<curve::Fr> square_inputs(std::uint64_t root) {
  return {curve::Fr::from_u64(root).square()};
}

/// Its key, made once a process.
class SquareKey {
 public:
  static const SquareKey& get() {
    static const SquareKey key;
    return key;
  }

  static r1cs::Witness witness(const r1cs::Shape& shape, std::uint64_t root) {
    r1cs::WitnessBuilder builder(shape);
    square_circuit(builder, root);
    return builder.finish();
  }
  bool verifies(const groth16::Proof& proof, std::uint64_t root) const {
    return verifier.verify(proof, square_inputs(root));
  }

  const r1cs::Shape shape = make_shape();
  const groth16::KeyLayout layout{shape, groth16::QuotientForm::kTextbook};
  const groth16::ProvingKey key = make_key(shape, layout);
  const groth16::Verifier verifier{key.verifying_key};

 private:
  static r1cs::Shape make_shape() {
    r1cs::ShapeBuilder builder;
    square_circuit<r1cs::SymbolicSystem>(builder, 0);
    return builder.finish();
  }
  static groth16::ProvingKey make_key(const r1cs::Shape& shape, const groth16::KeyLayout& layout) {
    const auto folder =
        std::filesystem::temp_directory_path() / ("cuzk-square-key-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    groth16::write_keys(shape, groth16::Trapdoor::from_seed(5), {folder / "p", folder / "v", {}});
    groth16::ProvingKey out = groth16::load_proving_key(groth16::KeyFile(folder / "p"), layout);
    std::filesystem::remove_all(folder);
    return out;
  }
};

}  // namespace cuzk::engine::testing
