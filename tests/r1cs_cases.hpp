#pragma once

#include "base/bytes.hpp"
#include "filecoin/circuit/circuits.hpp"
#include "r1cs/digest.hpp"
#include "support/golden.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace cuzk::testing {

/// A circuit and the file of golden/r1cs/ that describes it.
struct R1csCase {
  filecoin::CircuitKind kind;
  filecoin::SectorSize size;
  std::string golden;
};

/// Every circuit that exists: those that take seconds (`large`), or the others.
inline std::vector<R1csCase> r1cs_cases(bool large) {
  using filecoin::CircuitKind;
  std::vector<R1csCase> cases;
  for (const CircuitKind kind : filecoin::all_circuit_kinds()) {
    for (const filecoin::SectorSize size : filecoin::SectorSize::all()) {
      if (!filecoin::circuit_exists(kind, size)) continue;
      const bool is_update = kind == CircuitKind::kUpdate || kind == CircuitKind::kUpdatePoseidon;
      const std::uint64_t large_bytes = std::uint64_t{1} << (is_update ? 29 : 35);
      if ((kind != CircuitKind::kWinningPost && size.bytes() >= large_bytes) != large) continue;
      const std::string name = kind == CircuitKind::kWinningPost  ? "winning"
                               : kind == CircuitKind::kWindowPost ? "window"
                                                                  : std::string(to_string(kind));
      cases.push_back({kind, size, name + "-" + size.to_string() + ".json"});
    }
  }
  return cases;
}

inline std::string r1cs_case_name(const ::testing::TestParamInfo<R1csCase>& instance) {
  std::string name = instance.param.golden.substr(0, instance.param.golden.find('.'));
  for (char& c : name) {
    if (c == '-') c = '_';
  }
  return name;
}

// Fails at the first checkpoint that differs, which bounds where the circuits part.
inline void expect_stream(const nlohmann::json& golden, r1cs::ConstraintStream& stream) {
  const auto& checkpoints = golden.at("checkpoints");
  ASSERT_EQ(stream.checkpoints().size(), checkpoints.size());
  for (std::size_t i = 0; i < checkpoints.size(); ++i) {
    ASSERT_EQ(stream.checkpoints()[i].constraints, checkpoints[i].at("constraints"));
    ASSERT_EQ(base::to_hex(stream.checkpoints()[i].digest), checkpoints[i].at("digest"))
        << "the circuits part at or before constraint " << checkpoints[i].at("constraints");
  }
  EXPECT_EQ(base::to_hex(stream.digest()), golden.at("digest"));
}

inline void expect_shape(const nlohmann::json& golden, const r1cs::Shape& shape) {
  EXPECT_EQ(shape.num_inputs(), golden.at("num_inputs"));
  EXPECT_EQ(shape.num_aux(), golden.at("num_aux"));
  EXPECT_EQ(shape.num_constraints(), golden.at("num_constraints"));
  EXPECT_EQ(shape.num_rows(), golden.at("rows_with_input_consistency"));
  EXPECT_EQ(shape.domain_log2(), golden.at("domain_log2"));
  const char* const matrices[] = {"a", "b", "c"};
  for (unsigned m = 0; m < 3; ++m) {
    EXPECT_EQ(shape.nnz()[m], golden.at("nnz").at(matrices[m])) << matrices[m];
    EXPECT_EQ(shape.longest_row()[m], golden.at("longest_lc").at(matrices[m])) << matrices[m];
  }
  const r1cs::Densities densities = shape.densities();
  EXPECT_EQ(densities.a_aux_count, golden.at("density").at("a_aux"));
  EXPECT_EQ(densities.b_input_count, golden.at("density").at("b_input"));
  EXPECT_EQ(densities.b_aux_count, golden.at("density").at("b_aux"));
}

/// Builds the circuit's shape and compares counts, densities and the constraint stream with the
/// golden file.
inline void expect_reference_circuit(const R1csCase& circuit) {
  const nlohmann::json golden = golden_json("r1cs/" + circuit.golden);
  const r1cs::Shape shape = filecoin::build_shape(circuit.kind, circuit.size);
  expect_shape(golden, shape);
  r1cs::ConstraintStream stream(golden.at("checkpoint_every").get<std::uint64_t>());
  r1cs::stream_shape(shape, stream);
  expect_stream(golden, stream);
}

}  // namespace cuzk::testing
