#include "base/cuda/launch.hpp"
#include "base/error.hpp"
#include "groth16/cuda/prover.hpp"
#include "groth16/cuda/site.hpp"
#include "groth16/cuda/streamed_plan.hpp"
#include "groth16/testing.hpp"
#include "groth16/verifier.hpp"
#include "r1cs/implied_fields.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

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
  /// The whole key in host memory, bits' points in several pieces.
  StreamedRequest streamed_request(const Site& site, unsigned partitions,
                                   std::size_t h_slices = 1) const {
    KeyPlacement placement;
    placement.h = placement.l = placement.a = placement.b_g1 = placement.b_g2 = Placement::kHost;
    return {.lane = site.lane_request(layout, false),
            .placement = placement,
            .partitions = partitions,
            .h_slices = h_slices,
            .buffer_bytes = 2 * 32 * sizeof(curve::G2Affine)};
  }
  std::unique_ptr<CudaProver> streamed_prover(std::unique_ptr<Site> site,
                                              const StreamedResidency& residency) {
    return make_streamed_prover(std::move(site), layout, residency,
                                [&](const KeyPlacement& wanted, base::cuda::StreamRef stream) {
                                  return DeviceKey::upload(key, layout, wanted, stream);
                                });
  }

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

TEST_P(CudaProverKeysEmulated, CompletesWitnesses) {
  const Blinding blinding = Blinding::random();
  const Proof wanted = cpu_proof(blinding);
  const r1cs::Witness given =
      r1cs::leave_out_implied(toy.shape, r1cs::ImpliedFields(toy.shape), toy.witness);
  ASSERT_TRUE(r1cs::is_incomplete(toy.shape, given));
  CudaOptions completing = options();
  completing.complete_witnesses = completing.warm_up = true;
  const auto prover = make_cuda_prover(circuit(), completing);
  base::StageTimer timer;
  EXPECT_EQ(prover->prove(given, blinding, timer), wanted);
  EXPECT_EQ(prover->prove(toy.witness, blinding, timer), wanted);
  EXPECT_TRUE(std::ranges::any_of(timer.entries(), [](const base::StageTimer::Entry& entry) {
    return entry.stage == "complete_witness";
  }));
  // The CPU's takes both, too; a prover on a device only if it is told to.
  EXPECT_EQ(make_cpu_prover(circuit())->prove(given, blinding, timer), wanted);
  EXPECT_THROW(make_cuda_prover(circuit(), options())->prove(given, blinding, timer),
               base::InvalidInput);
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
  const StreamedRequest request = streamed_request(*site, 2, 3);
  const StreamedPlan plan(request);
  ASSERT_GT(plan.h_slices, 1u);
  ASSERT_GT(plan.queries[kQueryL].slices, 1u);
  const std::size_t circuit_bytes = site->circuit_bytes;
  const auto prover =
      streamed_prover(std::move(site), weigh_streaming(layout, request, circuit_bytes));
  EXPECT_EQ(prover->proofs_in_flight(), 2u);
  EXPECT_GT(prover->pinned_bytes(), DeviceKey::host_bytes(layout, request.placement));
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

TEST_P(CudaProverKeysEmulated, ProofsAbandonedDuringAPassDisturbNoOthers) {
  auto site = std::make_unique<Site>(toy.shape, layout, options());
  const std::size_t circuit_bytes = site->circuit_bytes;
  const StreamedRequest request = streamed_request(*site, 2);
  const auto prover =
      streamed_prover(std::move(site), weigh_streaming(layout, request, circuit_bytes));
  const Blinding blinding = Blinding::random();
  const Proof wanted = cpu_proof(blinding);
  r1cs::Witness other = toy.witness;
  for (curve::Fr& value : other.fields) value += curve::Fr::one();
  std::jthread abandons([&] {
    base::StageTimer timer;
    for (int k = 0; k < 30; ++k) prover->start(other, timer);
  });
  std::vector<std::jthread> provers;
  for (int i = 0; i < 2; ++i) {
    provers.emplace_back([&] {
      for (int k = 0; k < 5; ++k) {
        base::StageTimer timer;
        EXPECT_EQ(prover->prove(toy.witness, blinding, timer), wanted);
      }
    });
  }
}

TEST_P(CudaProverEmulated, EverySwitchGivesTheSameProof) {
  const Blinding blinding = Blinding::random();
  const Proof wanted = cpu_proof(blinding);
  base::StageTimer timer;
  const auto expect_proof = [&](const CudaOptions& changed) {
    std::unique_ptr<CudaProver> prover = make_cuda_prover(circuit(), changed);
    EXPECT_EQ(prover->prove(toy.witness, blinding, timer), wanted);
    EXPECT_EQ(prover->prove(toy.witness, blinding, timer), wanted);
    EXPECT_EQ(prover->passes(), 0U);
    return prover;
  };
  EXPECT_GT(expect_proof(options())->pinned_bytes(), 0U);
  CudaOptions changed = options();
  changed.pinned_uploads = false;
  EXPECT_EQ(expect_proof(changed)->pinned_bytes(), 0U);
  changed = options();
  changed.prestage = false;
  const auto behind = expect_proof(changed);
  EXPECT_EQ(behind->start_for({}, toy.witness, timer).prestage, Prestage::kOff);
  for (const unsigned bits : {2U, 9U}) {
    changed = options();
    changed.window_bits = bits;
    expect_proof(changed);
  }
}

TEST_P(CudaProverEmulated, WindowsAreAsWideAsWanted) {
  CudaOptions changed = options();
  const auto windows = [&] {
    const Site site(toy.shape, layout, changed);
    return LanePlan(site.lane_request(layout, true)).h.windows;
  };
  changed.window_bits = 16;
  EXPECT_EQ(windows().count, 16);
  EXPECT_EQ(windows().bits[0], 16);
  changed.window_bits = 20;
  EXPECT_EQ(windows().bits[0], 20);
  changed.window_bits = 2;  // there are none so narrow
  EXPECT_EQ(windows().count, MsmWindows::kMax);
}

/// With fewer lanes than threads that start proofs.
std::unique_ptr<CudaProver> prover_with_one_lane(const CircuitKey& circuit,
                                                 const CudaOptions& options) {
  auto site = std::make_unique<Site>(circuit.shape, circuit.layout, options);
  Residency residency =
      choose_residency(circuit.layout, site->lane_request(circuit.layout, options.overlap),
                       site->circuit_bytes, site->budget, 1, options.group_tables)
          .value();
  return make_resident_prover(std::move(site), circuit.layout, residency,
                              [&](const KeyPlacement& placement, base::cuda::StreamRef stream) {
                                return DeviceKey::upload(circuit.key, circuit.layout, placement,
                                                         stream);
                              });
}

TEST_P(CudaProverEmulated, AWitnessIsThereBeforeItsTurn) {
  CudaOptions changed = options();
  changed.lanes = 2;
  const auto second_outcome = [&](const std::unique_ptr<CudaProver>& prover) {
    base::StageTimer timer;
    auto first = prover->start_for({}, toy.witness, timer);
    EXPECT_NE(first.prestage, Prestage::kSkipVram);
    std::promise<void> begun;
    auto second = std::async(std::launch::async, [&] {
      base::StageTimer mine;
      begun.set_value();
      auto started = prover->start_for({}, toy.witness, mine);
      const Proof proof = started.pending->finish(Blinding::random(), mine);
      EXPECT_TRUE(Verifier(key.verifying_key).verify(proof, toy.public_inputs()));
      return started.prestage;
    });
    begun.get_future().wait();
    // Long enough for it to find the lane taken.
    EXPECT_EQ(second.wait_for(std::chrono::milliseconds(200)), std::future_status::timeout);
    first.pending->finish(Blinding::random(), timer);
    first.pending.reset();
    return second.get();
  };
  EXPECT_EQ(second_outcome(prover_with_one_lane(circuit(), changed)), Prestage::kHit);
  changed.prestage = false;
  const auto behind = prover_with_one_lane(circuit(), changed);
  EXPECT_EQ(second_outcome(behind), Prestage::kOff);
  changed.prestage = true;
  EXPECT_GT(prover_with_one_lane(circuit(), changed)->device_bytes(), behind->device_bytes());
  // No room for a second witness.
  changed.vram_budget = behind->device_bytes();
  EXPECT_EQ(second_outcome(prover_with_one_lane(circuit(), changed)), Prestage::kSkipVram);
}

TEST_P(CudaProverEmulated, WithATurnOneProofHasTheDevice) {
  CudaOptions changed = options();
  changed.lanes = 2;
  base::StageTimer timer;
  {
    const auto free = make_cuda_prover(circuit(), changed);
    const auto first = free->start(toy.witness, timer);
    free->prove(toy.witness, Blinding::random(), timer);  // would wait for ever with a turn
  }
  changed.turn = std::make_shared<DeviceTurn>();
  const auto bound = make_cuda_prover(circuit(), changed);
  auto first = bound->start(toy.witness, timer);
  auto second = std::async(std::launch::async, [&] {
    base::StageTimer mine;
    return bound->prove(toy.witness, Blinding::random(), mine);
  });
  while (changed.turn->waiting() < 2) std::this_thread::yield();
  EXPECT_EQ(second.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
  first->finish(Blinding::random(), timer);
  EXPECT_TRUE(Verifier(key.verifying_key).verify(second.get(), toy.public_inputs()));
  // What fails or is abandoned ends its turn.
  EXPECT_THROW(bound->start(testing::ToyCircuit(17).witness, timer), base::InvalidInput);
  bound->start(toy.witness, timer);
  EXPECT_EQ(changed.turn->waiting(), 0U);
}

TEST_P(CudaProverKeysEmulated, ProofsOfSoManyJobsShareAPass) {
  const auto passes_of_two_jobs = [&](unsigned jobs, bool prestage, bool completing) {
    CudaOptions changed = options();
    changed.jobs_a_pass = jobs;
    changed.prestage = prestage;
    changed.complete_witnesses = completing;
    auto site = std::make_unique<Site>(toy.shape, layout, changed);
    const StreamedRequest request = streamed_request(*site, 3);
    StreamedResidency residency = weigh_streaming(layout, request, site->circuit_bytes);
    if (prestage) residency.spare_bytes = site->circuit.upload_layout().bytes;
    const auto prover = streamed_prover(std::move(site), residency);
    const Blinding blinding = Blinding::random();
    const Proof wanted = cpu_proof(blinding);
    base::StageTimer timer;
    std::vector<CudaProver::Started> started;
    for (const std::uint64_t job : {7, 8}) {
      started.push_back(prover->start_for({.job = job}, toy.witness, timer));
      EXPECT_EQ(started.back().prestage, prestage ? Prestage::kHit : Prestage::kOff);
    }
    for (const auto& proof : started) EXPECT_EQ(proof.pending->finish(blinding, timer), wanted);
    return prover->passes();
  };
  EXPECT_EQ(passes_of_two_jobs(1, true, false), 2U);
  EXPECT_EQ(passes_of_two_jobs(1, true, true), 2U);
  EXPECT_EQ(passes_of_two_jobs(2, false, true), 1U);
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
