#include "base/cuda/launch.hpp"
#include "base/error.hpp"
#include "groth16/cuda/prover.hpp"
#include "groth16/cuda/site.hpp"
#include "groth16/cuda/streamed_plan.hpp"
#include "groth16/testing.hpp"
#include "groth16/verifier.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <unistd.h>

// The whole CUDA backend on the toy circuit, its kernels emulated, against the
// CPU's.
namespace cuzk::groth16::cuda {
namespace {

using curve::Fr;

struct Case {
  const char* name;
  QuotientForm form;
  bool group_tables, overlap;
};

class CudaProverEmulated : public ::testing::TestWithParam<Case> {
 protected:
  static constexpr std::uint64_t kSeed = 3;

  CudaProverEmulated()
      : folder(std::filesystem::temp_directory_path() /
               ("cuzk-cuda-prover-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder);
    write_keys(toy.shape, Trapdoor::from_seed(kSeed), {folder / "p", folder / "v", folder / "d"});
    file.emplace(folder / "p");
    derived.emplace(folder / "d");
    key = layout.form == QuotientForm::kTextbook ? load_proving_key(*file, layout)
                                                 : load_proving_key(*file, *derived, layout);
  }
  ~CudaProverEmulated() override { std::filesystem::remove_all(folder); }

  CudaOptions options() const {
    return {.lanes = 1,
            .group_tables = GetParam().group_tables,
            .overlap = GetParam().overlap,
            .partitions_a_pass = 2,
            .warm_up = false};
  }
  Proof cpu_proof(const Blinding& blinding) {
    base::StageTimer timer;
    return make_cpu_prover(circuit())->prove(toy.witness, blinding, timer);
  }
  CircuitKey circuit() const { return {toy.shape, layout, key}; }

  testing::ToyCircuit toy{16};
  KeyLayout layout{toy.shape, GetParam().form};
  std::filesystem::path folder;
  std::optional<KeyFile> file;
  std::optional<DerivedKeyFile> derived;
  ProvingKey key;
};

const Case kTextbook{"Textbook", QuotientForm::kTextbook, false, true};
const Case kDerivative{"Derivative", QuotientForm::kDerivative, true, true};
const Case kOneStream{"DerivativeInOneStream", QuotientForm::kDerivative, false, false};
constexpr auto kName = [](const auto& test) { return std::string(test.param.name); };

class CudaProverKeysEmulated : public CudaProverEmulated {};
INSTANTIATE_TEST_SUITE_P(Forms, CudaProverKeysEmulated, ::testing::Values(kTextbook, kDerivative),
                         kName);
INSTANTIATE_TEST_SUITE_P(Forms, CudaProverEmulated,
                         ::testing::Values(kTextbook, kDerivative, kOneStream), kName);

TEST_P(CudaProverEmulated, GivesTheBytesOfTheCpu) {
  const Blinding blinding = Blinding::random();
  const Proof wanted = cpu_proof(blinding);
  const std::unique_ptr<CudaProver> prover = make_cuda_prover(circuit(), options());
  EXPECT_EQ(prover->verifying_key(), key.verifying_key);
  base::StageTimer timer;
  EXPECT_EQ(prover->prove(toy.witness, blinding, timer).to_bytes(), wanted.to_bytes());
  std::vector<std::string_view> names;
  for (const auto& entry : timer.entries()) names.push_back(entry.stage);
  EXPECT_THAT(names, ::testing::UnorderedElementsAre(
                         "device_lock_wait", "prestage", "upload", "evaluate", "ntt_h", "msm_h",
                         "msm_l.batch_add", "msm_l.tail", "msm_a.batch_add", "msm_a.tail",
                         "msm_b_g1.batch_add", "msm_b_g1.tail", "msm_b_g2.batch_add",
                         "msm_b_g2.tail", "download", "assemble"));
  // With another blinding from the same lane: another proof of the same
  // statement.
  const Proof other = prover->prove(toy.witness, Blinding::random(), timer);
  EXPECT_NE(other.to_bytes(), wanted.to_bytes());
  EXPECT_TRUE(Verifier(key.verifying_key).verify(other, toy.public_inputs()));
}

TEST_P(CudaProverKeysEmulated, FromFilesAndFromATrapdoorAreTheSame) {
  const Blinding blinding = Blinding::random();
  const Proof wanted = cpu_proof(blinding);
  const DerivedKeyFile* second = layout.form == QuotientForm::kTextbook ? nullptr : &*derived;
  base::StageTimer timer;
  const auto loaded = load_cuda_prover(toy.shape, layout, *file, second, options());
  EXPECT_EQ(loaded->prove(toy.witness, blinding, timer), wanted);
  const auto made =
      make_development_cuda_prover(toy.shape, layout, Trapdoor::from_seed(kSeed), options());
  EXPECT_EQ(made->verifying_key(), key.verifying_key);
  EXPECT_EQ(made->prove(toy.witness, blinding, timer), wanted);
}

TEST_P(CudaProverEmulated, FailedAndAbandonedProofsFreeTheirLane) {
  CudaOptions warm = options();
  warm.warm_up = true;
  const std::unique_ptr<CudaProver> prover = make_cuda_prover(circuit(), warm);
  base::StageTimer timer;
  const testing::ToyCircuit foreign(17);
  EXPECT_THROW(prover->start(foreign.witness, timer), base::InvalidInput);
  r1cs::Witness wrong = toy.witness;
  wrong.fields.back() += Fr::one();
  prover->start(wrong, timer);  // abandoned
  const auto pending = prover->start(toy.witness, timer);
  const Proof proof = pending->finish(Blinding::random(), timer);
  EXPECT_TRUE(Verifier(key.verifying_key).verify(proof, toy.public_inputs()));
  EXPECT_THROW(pending->finish(Blinding::random(), timer), base::InvalidInput);
  EXPECT_FALSE(Verifier(key.verifying_key)
                   .verify(prover->prove(wrong, Blinding::random(), timer), toy.public_inputs()));
}

TEST_P(CudaProverKeysEmulated, StreamedKeysGiveTheSameProofs) {
  auto site = std::make_unique<Site>(toy.shape, layout, options());
  // h in three pieces, bits' points in several, two partitions a pass.
  StreamedRequest request{.lane = site->lane_request(layout, false),
                          .placement = {},
                          .partitions = 2,
                          .h_slices = 3,
                          .buffer_bytes = 2 * 32 * sizeof(curve::G2Affine)};
  KeyPlacement& placement = request.placement;
  placement.h = placement.l = placement.a = placement.b_g1 = placement.b_g2 = Placement::kHost;
  const StreamedPlan plan(request);
  ASSERT_GT(plan.h_slices, 1u);
  ASSERT_GT(plan.queries[kQueryL].slices, 1u);
  const std::size_t circuit_bytes = site->circuit_bytes;
  const std::unique_ptr<CudaProver> prover =
      make_streamed_prover(std::move(site), layout, weigh_streaming(layout, request, circuit_bytes),
                           [&](const KeyPlacement& wanted, base::cuda::StreamRef stream) {
                             return DeviceKey::upload(key, layout, wanted, stream);
                           });
  EXPECT_EQ(prover->proofs_in_flight(), 2u);
  EXPECT_GT(prover->pinned_bytes(), DeviceKey::host_bytes(layout, placement));
  const Blinding blinding = Blinding::random();
  const Proof wanted = cpu_proof(blinding);
  base::StageTimer timer;
  // Two share a pass; then one alone, after one that is abandoned and one that is refused.
  const auto first = prover->start(toy.witness, timer), second = prover->start(toy.witness, timer);
  EXPECT_EQ(second->finish(blinding, timer), wanted);
  EXPECT_EQ(first->finish(blinding, timer), wanted);
  EXPECT_THROW(first->finish(blinding, timer), base::InvalidInput);
  prover->start(toy.witness, timer);
  EXPECT_THROW(prover->start(testing::ToyCircuit(17).witness, timer), base::InvalidInput);
  EXPECT_EQ(prover->prove(toy.witness, blinding, timer), wanted);
}

TEST_P(CudaProverEmulated, RefusesWhatCannotWork) {
  CudaOptions small = options();
  small.vram_budget = 10'000;
  EXPECT_THROW(make_cuda_prover(circuit(), small), base::ResourceExhausted);
  CudaOptions large = options();
  large.vram_budget = std::size_t{1} << 50;
  EXPECT_THROW(make_cuda_prover(circuit(), large), base::ResourceExhausted);
  CudaOptions absent = options();
  absent.ordinal = 7;
  EXPECT_THROW(make_cuda_prover(circuit(), absent), base::InvalidInput);
}

}  // namespace
}  // namespace cuzk::groth16::cuda
