#include "groth16/prover.hpp"

#include "base/error.hpp"
#include "groth16/setup.hpp"
#include "groth16/testing.hpp"
#include "groth16/verifier.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <unistd.h>

// The whole of Groth16 on the toy circuit, over the curve.
namespace cuzk::groth16 {
namespace {

using curve::Fr;

class ToyProver : public ::testing::Test {
 protected:
  static constexpr std::size_t kCopies = 20;

  ToyProver()
      : folder(std::filesystem::temp_directory_path() /
               ("cuzk-prover-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder);
    write_keys(toy.shape, Trapdoor::from_seed(3), {folder / "p", folder / "v", folder / "d"});
    const KeyFile file(folder / "p");
    textbook_key = load_proving_key(file, textbook);
    derivative_key = load_proving_key(file, DerivedKeyFile(folder / "d"), derivative);
  }
  ~ToyProver() override { std::filesystem::remove_all(folder); }

  Proof prove(const KeyLayout& layout, const ProvingKey& key, const Blinding& blinding,
              const r1cs::Witness& witness) {
    base::StageTimer timer;
    return make_cpu_prover({toy.shape, layout, key})->prove(witness, blinding, timer);
  }

  testing::ToyCircuit toy{kCopies};
  KeyLayout textbook{toy.shape, QuotientForm::kTextbook},
      derivative{toy.shape, QuotientForm::kDerivative};
  ProvingKey textbook_key, derivative_key;
  std::filesystem::path folder;
};

TEST_F(ToyProver, ProofsVerifyAndBothFormsGiveTheSameBytes) {
  const Verifier verifier(textbook_key.verifying_key);
  for (const std::uint64_t i : {0, 1, 2}) {
    const Blinding blinding = i == 0 ? Blinding{} : Blinding::random();
    const Proof proof = prove(textbook, textbook_key, blinding, toy.witness);
    EXPECT_EQ(prove(derivative, derivative_key, blinding, toy.witness).to_bytes(),
              proof.to_bytes());
    EXPECT_TRUE(verifier.verify(proof, toy.public_inputs()));
    EXPECT_EQ(Proof::from_bytes(proof.to_bytes(), "proof"), proof);
  }
}

TEST_F(ToyProver, WrongStatementsAndElementsAreRejected) {
  const Verifier verifier(textbook_key.verifying_key);
  const Proof proof = prove(textbook, textbook_key, Blinding::random(), toy.witness);
  std::vector<Fr> inputs = toy.public_inputs();
  std::swap(inputs[0], inputs[1]);
  EXPECT_FALSE(verifier.verify(proof, inputs));
  inputs = toy.public_inputs();
  inputs.back() += Fr::one();
  EXPECT_FALSE(verifier.verify(proof, inputs));
  inputs.pop_back();
  EXPECT_THROW(verifier.verify(proof, inputs), base::InvalidInput);
  const Proof swapped{proof.c, proof.b, proof.a}, negated{-proof.a, proof.b, proof.c},
      other_b{proof.a, -proof.b, proof.c};
  for (const Proof& wrong : {swapped, negated, other_b})
    EXPECT_FALSE(verifier.verify(wrong, toy.public_inputs()));
  VerifyingKey foreign = textbook_key.verifying_key;
  foreign.delta_g2 = foreign.gamma_g2;
  EXPECT_FALSE(Verifier(foreign).verify(proof, toy.public_inputs()));
}

TEST_F(ToyProver, AnUnsatisfiedWitnessGivesNoValidProof) {
  r1cs::Witness witness = toy.witness;
  witness.fields.back() += Fr::one();
  const Verifier verifier(textbook_key.verifying_key);
  const Blinding blinding = Blinding::random();
  EXPECT_FALSE(
      verifier.verify(prove(textbook, textbook_key, blinding, witness), toy.public_inputs()));
  EXPECT_FALSE(
      verifier.verify(prove(derivative, derivative_key, blinding, witness), toy.public_inputs()));
}

TEST_F(ToyProver, BatchesAreAcceptedOnlyWhole) {
  const Verifier verifier(textbook_key.verifying_key);
  std::vector<Proof> proofs;
  std::vector<std::vector<Fr>> inputs;
  EXPECT_TRUE(verifier.verify_batch(proofs, inputs));
  for (int i = 0; i < 5; ++i) {
    proofs.push_back(prove(textbook, textbook_key, Blinding::random(), toy.witness));
    inputs.push_back(toy.public_inputs());
    EXPECT_TRUE(verifier.verify_batch(proofs, inputs));
  }
  for (std::size_t i = 0; i < proofs.size(); ++i) {
    inputs[i][0] += Fr::one();
    EXPECT_FALSE(verifier.verify_batch(proofs, inputs)) << i;
    inputs[i][0] -= Fr::one();
  }
  // Two wrong proofs whose errors would cancel in a plain sum.
  std::vector<Proof> cancelling = proofs;
  cancelling[0].c =
      (curve::G1Jacobian::from(proofs[0].c) + curve::G1Affine::generator()).to_affine();
  cancelling[1].c =
      (curve::G1Jacobian::from(proofs[1].c) + -curve::G1Affine::generator()).to_affine();
  EXPECT_FALSE(verifier.verify_batch(cancelling, inputs));
  inputs.pop_back();
  EXPECT_THROW(verifier.verify_batch(proofs, inputs), base::InvalidInput);
}

TEST_F(ToyProver, StagesHaveTheirNames) {
  base::StageTimer timer;
  make_cpu_prover({toy.shape, textbook, textbook_key})
      ->prove(toy.witness, Blinding::random(), timer);
  std::vector<std::string_view> names;
  for (const auto& entry : timer.entries()) names.push_back(entry.stage);
  EXPECT_EQ(names, (std::vector<std::string_view>{
                       "evaluate", "ntt_h", "msm_h", "msm_l.batch_add", "msm_a.batch_add",
                       "msm_a.tail", "msm_b_g1.batch_add", "msm_b_g1.tail", "msm_b_g2.batch_add",
                       "msm_b_g2.tail", "assemble"}));
}

TEST_F(ToyProver, ForeignWitnessesAreRefused) {
  const testing::ToyCircuit other(kCopies + 1);
  EXPECT_THROW(prove(textbook, textbook_key, Blinding::random(), other.witness),
               base::InvalidInput);
}

TEST(Blinding, IsFresh) {
  const Blinding a = Blinding::random(), b = Blinding::random();
  EXPECT_NE(a.r, b.r);
  EXPECT_NE(a.s, b.s);
  EXPECT_NE(a.r, a.s);
}

}  // namespace
}  // namespace cuzk::groth16
