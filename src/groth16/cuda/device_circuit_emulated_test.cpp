#include "base/cuda/buffer.hpp"
#include "groth16/cuda/device_circuit_impl.cuh"
#include "groth16/ops/cuda/test_circuit.hpp"
#include "groth16/ops/evaluate.hpp"
#include "groth16/testing.hpp"

#include <gtest/gtest.h>

namespace cuzk::groth16::cuda {
namespace {

using curve::device::Fr;

struct Uploaded {
  Uploaded(const r1cs::Shape& shape, const r1cs::Witness& witness, QuotientForm form)
      : layout(shape, form), circuit(shape, layout, {}), block(circuit.witness_layout().bytes) {
    circuit.stage(witness, block);
    circuit.unpack({block.data(), block.size()}, {block.data(), block.size()}, {});
  }
  base::cuda::DeviceSpan<const std::byte> view() const { return {block.data(), block.size()}; }

  KeyLayout layout;
  DeviceCircuit circuit;
  std::vector<std::byte> block;
};

std::vector<curve::Fr> residues(const std::vector<Fr>& values) {
  std::vector<curve::Fr> out;
  for (const Fr& x : values) out.push_back(checks::residue(x));
  return out;
}

void expect_evaluations(const r1cs::Shape& shape, const r1cs::Witness& witness) {
  const Uploaded up(shape, witness, QuotientForm::kTextbook);
  for (unsigned m = 0; m < 3; ++m) {
    std::vector<Fr> out(std::size_t{1} << shape.domain_log2());
    up.circuit.evaluate(m, up.view(), {out.data(), out.size()}, {});
    std::vector<curve::Fr> wanted(out.size());
    groth16::evaluate(shape, up.layout.variables, witness, static_cast<Matrix>(m), wanted);
    EXPECT_EQ(residues(out), wanted) << "matrix " << m;
  }
}

void expect_query(const Uploaded& up, QueryName name, const QueryLayout& query,
                  const r1cs::Witness& witness) {
  ASSERT_EQ(up.circuit.query_bit_words(name), (query.bit_count + 31) / 32);
  ASSERT_EQ(up.circuit.query_scalar_count(name), query.field_count());
  std::vector<std::uint32_t> bits(up.circuit.query_bit_words(name));
  up.circuit.query_bits(name, up.view(), {bits.data(), bits.size()}, {});
  std::vector<std::uint32_t> wanted(bits.size());
  std::size_t k = 0;
  for (std::uint32_t aux = 0; aux < up.layout.variables.num_aux(); ++aux) {
    if ((query.bit_mask[aux / 64] >> aux % 64 & 1) == 0) continue;
    wanted[k / 32] |= std::uint32_t{witness.bit(aux)} << k % 32;
    ++k;
  }
  EXPECT_EQ(bits, wanted);
  std::vector<Fr> scalars(query.field_count());
  up.circuit.query_scalars(name, up.view(), {scalars.data(), scalars.size()}, {});
  EXPECT_EQ(residues(scalars), query.scalars(witness));
}

TEST(DeviceCircuitEmulated, EvaluatesTheToyCircuit) {
  for (const std::size_t copies : {0, 1, 2, 40}) {
    for (const unsigned bits : {0U, 5U, 70U}) {
      SCOPED_TRACE(fmt::format("{} copies, {} bits", copies, bits));
      const testing::ToyCircuit toy(copies, bits);
      expect_evaluations(toy.shape, toy.witness);
    }
  }
}

TEST(DeviceCircuitEmulated, EvaluatesEveryKindOfRow) {
  const checks::TestCircuit circuit(100, 4, 1);
  expect_evaluations(circuit.shape, circuit.witness);
}

TEST(DeviceCircuitEmulated, ReadsTheWitnessInTheKeysOrder) {
  const testing::ToyCircuit toy(40, 70);
  const checks::TestCircuit circuit(100, 4, 1);
  for (const QuotientForm form : {QuotientForm::kTextbook, QuotientForm::kDerivative}) {
    for (const auto& [shape, witness] :
         {std::pair(toy.shape, toy.witness), std::pair(circuit.shape, circuit.witness)}) {
      const Uploaded up(shape, witness, form);
      expect_query(up, QueryName::kL, up.layout.l, witness);
      expect_query(up, QueryName::kA, up.layout.a, witness);
      expect_query(up, QueryName::kB, up.layout.b, witness);
    }
  }
}

TEST(DeviceCircuitEmulated, CodesEqualTheElements) {
  const checks::TestCircuit circuit(100, 4, 1);
  const Uploaded up(circuit.shape, circuit.witness, QuotientForm::kDerivative);
  const std::size_t n = std::size_t{1} << circuit.shape.domain_log2();
  std::vector<Fr> values[2] = {std::vector<Fr>(n), std::vector<Fr>(n)}, elements(n);
  std::vector<std::int8_t> codes[2] = {std::vector<std::int8_t>(n), std::vector<std::int8_t>(n)};
  std::vector<WideRow> wide(up.circuit.wide_row_count());
  up.circuit.evaluate_codes(up.view(), {values[0].data(), n}, {values[1].data(), n},
                            {codes[0].data(), n}, {codes[1].data(), n}, {wide.data(), wide.size()},
                            {});
  for (unsigned m = 0; m < 2; ++m) {
    up.circuit.evaluate(m, up.view(), {elements.data(), n}, {});
    for (std::size_t i = 0; i < n; ++i) {
      const int code = codes[m][i];
      const Fr value = code == kWideCode ? values[m][i] : curve::device::fr_from_small(code);
      ASSERT_TRUE(equal(value, elements[i])) << "matrix " << m << ", row " << i;
    }
  }
}

// From the given fields alone the same block of memory as from the whole witness, whichever comes.
TEST(DeviceCircuitEmulated, CompletesWitnesses) {
  for (const std::size_t copies : {1, 2, 40}) {
    SCOPED_TRACE(copies);
    const testing::ToyCircuit toy(copies, 70);
    const Uploaded whole(toy.shape, toy.witness, QuotientForm::kTextbook);
    const DeviceCircuit circuit(toy.shape, whole.layout, {}, &toy.shape);
    ASSERT_TRUE(circuit.completes());
    EXPECT_FALSE(whole.circuit.completes());
    EXPECT_EQ(whole.circuit.upload_layout().bytes, whole.circuit.witness_layout().bytes);
    EXPECT_EQ(circuit.witness_layout().bytes, whole.block.size());
    const r1cs::ImpliedFields implied(toy.shape);
    EXPECT_EQ(circuit.uploaded_fields(), implied.num_given());
    const r1cs::Witness given = r1cs::leave_out_implied(toy.shape, implied, toy.witness);
    for (const r1cs::Witness* witness : {&toy.witness, &given}) {
      std::vector<std::byte> staging(circuit.upload_layout().bytes), block(whole.block.size());
      // The gap before the bits is nobody's.
      block = whole.block;
      std::fill(block.begin(),
                block.begin() + 32 * (toy.shape.num_inputs() + toy.shape.num_fields()),
                std::byte{0xff});
      circuit.stage(*witness, staging);
      circuit.unpack({staging.data(), staging.size()}, {block.data(), block.size()}, {});
      EXPECT_EQ(block, whole.block);
    }
    r1cs::Witness cut = given;
    cut.fields.pop_back();
    std::vector<std::byte> staging(circuit.upload_layout().bytes);
    EXPECT_THROW(circuit.stage(cut, staging), base::InvalidInput);
  }
}

TEST(DeviceCircuitEmulated, RejectsWhatIsNotTheCircuits) {
  const testing::ToyCircuit toy(3), other(4);
  const Uploaded up(toy.shape, toy.witness, QuotientForm::kDerivative);
  const DeviceCircuit& circuit = up.circuit;
  EXPECT_THROW(DeviceCircuit(other.shape, up.layout, {}), base::InvalidInput);
  std::vector<std::byte> staging(up.block.size());
  EXPECT_THROW(circuit.stage(other.witness, staging), base::InvalidInput);
  EXPECT_THROW(circuit.stage(toy.witness, std::span(staging).first(staging.size() - 1)),
               base::InvalidInput);
  r1cs::Witness without_one = toy.witness;
  without_one.inputs[0] = curve::Fr::from_u64(2);
  EXPECT_THROW(circuit.stage(without_one, staging), base::InvalidInput);

  const std::size_t n = std::size_t{1} << toy.shape.domain_log2();
  std::vector<Fr> out(n);
  const base::cuda::DeviceSpan<const std::byte> cut{up.block.data(), up.block.size() - 1};
  EXPECT_THROW(circuit.evaluate(0, cut, {out.data(), n}, {}), base::InvalidInput);
  EXPECT_THROW(circuit.evaluate(0, up.view(), {out.data(), n - 1}, {}), base::InvalidInput);
  EXPECT_THROW(circuit.evaluate(2, up.view(), {out.data(), n}, {}), base::InvalidInput);
  std::vector<std::uint32_t> bits(circuit.query_bit_words(QueryName::kA) + 1);
  EXPECT_THROW(circuit.query_bits(QueryName::kA, up.view(), {bits.data(), bits.size()}, {}),
               base::InvalidInput);
  EXPECT_THROW(circuit.query_scalars(QueryName::kA, up.view(), {out.data(), 1}, {}),
               base::InvalidInput);
}

TEST(DeviceCircuitEmulated, DeviceBytesGrowWithTheCircuit) {
  const checks::TestCircuit small(100, 4, 1), more_rows(500, 4, 1), more_copies(100, 8, 1);
  const auto bytes = [](const r1cs::Shape& shape, QuotientForm form) {
    return DeviceCircuit::device_bytes(shape, KeyLayout(shape, form));
  };
  const std::size_t size = bytes(small.shape, QuotientForm::kDerivative);
  EXPECT_GT(bytes(more_rows.shape, QuotientForm::kDerivative), 3 * size);
  // Copies share their rows: what grows is a query's masks and the ports.
  EXPECT_LT(bytes(more_copies.shape, QuotientForm::kDerivative), size + size / 4);
  EXPECT_GT(bytes(small.shape, QuotientForm::kTextbook), size + size / 4);
}

}  // namespace
}  // namespace cuzk::groth16::cuda
