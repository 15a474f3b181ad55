#include "evaluate_cases.hpp"

#include "base/bytes.hpp"
#include "groth16/cuda/device_circuit_impl.cuh"
#include "groth16/ops/cuda/residue.hpp"
#include "hash/sha256.hpp"
#include "support/golden.hpp"
#include "witness_cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>

namespace cuzk::testing {

using curve::device::Fr;
using groth16::cuda::DeviceCircuit;
using groth16::cuda::QueryName;

namespace {

void expect_query(const DeviceCircuit& circuit, base::cuda::DeviceSpan<const std::byte> block,
                  QueryName name, const groth16::QueryLayout& query, const r1cs::Witness& witness) {
  std::vector<std::uint32_t> bits(circuit.query_bit_words(name)), wanted(bits.size());
  circuit.query_bits(name, block, {bits.data(), bits.size()}, {});
  std::size_t k = 0;
  for (std::uint32_t aux = 0; aux < 64 * query.bit_mask.size(); ++aux) {
    if ((query.bit_mask[aux / 64] >> aux % 64 & 1) == 0) continue;
    wanted[k / 32] |= std::uint32_t{witness.bit(aux)} << k % 32;
    ++k;
  }
  EXPECT_EQ(bits, wanted);
  std::vector<Fr> scalars(circuit.query_scalar_count(name));
  circuit.query_scalars(name, block, {scalars.data(), scalars.size()}, {});
  const std::vector<curve::Fr> wanted_scalars = query.scalars(witness);
  ASSERT_EQ(scalars.size(), wanted_scalars.size());
  for (std::size_t i = 0; i < scalars.size(); ++i)
    ASSERT_EQ(groth16::cuda::checks::residue(scalars[i]), wanted_scalars[i]) << "scalar " << i;
}

// From the given fields of partition 0 the same block as from the whole witness.
void expect_device_completion(const r1cs::Shape& shape, const groth16::KeyLayout& layout,
                              const std::vector<r1cs::Witness>& given,
                              const std::vector<std::byte>& wanted) {
  if (given.empty()) return;
  const DeviceCircuit circuit(shape, layout, {}, &shape);
  std::vector<std::byte> staging(circuit.upload_layout().bytes), block(wanted.size());
  circuit.stage(given[0], staging);
  circuit.unpack({staging.data(), staging.size()}, {block.data(), block.size()}, {});
  const DeviceCircuit::WitnessLayout& witness = circuit.witness_layout();
  const std::size_t elements = sizeof(Fr) * (shape.num_inputs() + std::size_t{shape.num_fields()});
  EXPECT_TRUE(
      std::ranges::equal(std::span(block).first(elements), std::span(wanted).first(elements)));
  EXPECT_TRUE(std::ranges::equal(std::span(block).subspan(witness.bits_offset),
                                 std::span(wanted).subspan(witness.bits_offset)));
}

}  // namespace

void expect_device_circuit(const std::string& folder, const std::string& artefact) {
  const nlohmann::json golden =
      golden_json(folder + artefact + ".witness.json").at("partitions").at(0);
  const ArtefactWitnesses witnesses = golden_witnesses(folder, artefact);
  const r1cs::Shape& shape = witnesses.shape;
  const r1cs::Witness& witness = witnesses.partitions.at(0);
  const groth16::KeyLayout layout(shape, groth16::QuotientForm::kTextbook);
  const DeviceCircuit circuit(shape, layout, {});
  std::vector<std::byte> block(circuit.witness_layout().bytes);
  circuit.stage(witness, block);
  circuit.unpack({block.data(), block.size()}, {block.data(), block.size()}, {});

  const char* const names[] = {"az_sha256", "bz_sha256", "cz_sha256"};
  std::vector<Fr> rows(std::size_t{1} << shape.domain_log2());
  for (unsigned m = 0; m < 3; ++m) {
    circuit.evaluate(m, {block.data(), block.size()}, {rows.data(), rows.size()}, {});
    // A canonical plain element is 32 little-endian bytes.
    hash::Sha256 digest;
    digest.update(
        {reinterpret_cast<const std::uint8_t*>(rows.data()), sizeof(Fr) * shape.num_constraints()});
    EXPECT_EQ(base::to_hex(digest.finish()), golden.at(names[m])) << names[m];
  }
  expect_query(circuit, {block.data(), block.size()}, QueryName::kL, layout.l, witness);
  expect_query(circuit, {block.data(), block.size()}, QueryName::kA, layout.a, witness);
  expect_query(circuit, {block.data(), block.size()}, QueryName::kB, layout.b, witness);
  expect_device_completion(shape, layout, witnesses.given, block);
}

}  // namespace cuzk::testing
