#include "filecoin/synthetic/porep.hpp"

#include "base/error.hpp"
#include "filecoin/ids.hpp"
#include "filecoin/porep/vanilla_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <functional>
#include <ostream>
#include <set>

namespace cuzk::filecoin::synthetic {
namespace {

using curve::Fr;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::uint64_t kMiner = 4242;
constexpr std::uint64_t kSector = 77;

PorepOptions options_of(const char* size, const char* proof = nullptr) {
  const SectorSize sector_size = SectorSize::parse(size);
  return {.sector_size = sector_size,
          .registered_proof =
              proof == nullptr ? default_seal_proof(sector_size) : seal_proof_from_name(proof),
          .miner_id = kMiner,
          .sector_number = kSector,
          .seed = 5};
}

std::vector<std::string> complaints(const porep::SealCommitPhase1Output& output) {
  std::vector<std::string> out;
  porep::PublicValues known;
  known.prover_id = prover_id(kMiner);
  known.sector_number = kSector;
  for (const BadEntry& entry : porep::check_vanilla_proofs(output, known))
    out.push_back(to_string(entry));
  return out;
}

struct Case {
  const char* size;
  const char* proof;
  unsigned partitions;
};

void PrintTo(const Case& tested, std::ostream* out) {
  *out << tested.size << ' ' << (tested.proof == nullptr ? "default" : tested.proof);
}

class SyntheticPorep : public ::testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(
    Proofs, SyntheticPorep,
    ::testing::Values(Case{"2KiB", "StackedDrg2KiBV1", 1}, Case{"2KiB", "StackedDrg2KiBV1_1", 1},
                      Case{"2KiB", "StackedDrg2KiBV1_1_Feat_SyntheticPoRep", 1},
                      Case{"2KiB", "StackedDrg2KiBV1_2_Feat_NonInteractivePoRep", 13},
                      Case{"4KiB", nullptr, 1},
                      Case{"16KiB", "StackedDrg32GiBV1_1_Feat_SyntheticPoRep", 1},
                      Case{"32KiB", "StackedDrg64GiBV1_2_Feat_NonInteractivePoRep", 13},
                      Case{"32KiB", "StackedDrg64GiBV1", 1}, Case{"8MiB", nullptr, 1},
                      Case{"16MiB", nullptr, 1}, Case{"512MiB", nullptr, 1},
                      Case{"1GiB", nullptr, 1}, Case{"32GiB", nullptr, 10},
                      Case{"64GiB", "StackedDrg64GiBV1_1", 10}),
    [](const auto& instance) {
      return std::string(instance.param.size) + "_" +
             (instance.param.proof == nullptr ? "default" : instance.param.proof);
    });

void expect_different_values(const porep::SealCommitPhase1Output& output) {
  std::set<std::uint64_t> challenges;
  std::set<base::Bytes32> data, encoded, columns;
  for (const auto& partition : output.partitions) {
    for (const porep::VanillaProof& proof : partition) {
      challenges.insert(proof.challenge);
      data.insert(proof.comm_d_inclusion.leaf.to_bytes_le());
      encoded.insert(proof.comm_r_last_inclusion.leaf.to_bytes_le());
      columns.insert(proof.column.inclusion.leaf.to_bytes_le());
      for (const Fr& label : proof.column.labels) EXPECT_FALSE(label.is_zero());
    }
  }
  EXPECT_GE(challenges.size(), 2u);
  EXPECT_EQ(encoded.size(), challenges.size());
  EXPECT_EQ(columns.size(), challenges.size());
  EXPECT_GE(data.size(), std::min<std::size_t>(challenges.size(), 14))
      << "of 16 values above 8 MiB";
  EXPECT_FALSE(data.contains(base::Bytes32{}));
}

TEST_P(SyntheticPorep, PassesTheNativeCheckAndSurvivesItsFileFormat) {
  const PorepOptions options = options_of(GetParam().size, GetParam().proof);
  const auto output = make_porep(options);
  EXPECT_EQ(output.partitions.size(), GetParam().partitions);
  EXPECT_EQ(output.registered_proof, options.registered_proof);
  EXPECT_EQ(output.sector_number, kSector);
  EXPECT_THAT(complaints(output), IsEmpty());
  expect_different_values(output);
  EXPECT_TRUE(porep::decode_commit_phase1(porep::encode_commit_phase1_envelope(output),
                                          options.sector_size) == output);
}

TEST(SyntheticPorepOptions, AChangedBitIsNoticed) {
  const auto good = make_porep(options_of("2KiB"));
  const auto one = Fr::one();
  const std::vector<std::function<void(porep::VanillaProof&)>> changes = {
      [&](auto& proof) { proof.comm_d_inclusion.leaf += one; },
      [&](auto& proof) { proof.comm_d_inclusion.siblings.back() += one; },
      [&](auto& proof) { proof.comm_r_last_inclusion.leaf += one; },
      [&](auto& proof) { proof.comm_r_last_inclusion.positions[0] ^= 1; },
      [&](auto& proof) { proof.column.labels[0] += one; },
      [&](auto& proof) { proof.drg_parents[5].labels[1] += one; },
      [&](auto& proof) { proof.exp_parents[7].inclusion.siblings[0] += one; },
      [&](auto& proof) { proof.challenge ^= 1; },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    auto bad = good;
    changes[i](bad.partitions[0][1]);
    EXPECT_THAT(complaints(bad), Not(IsEmpty())) << "change " << i;
  }
}

TEST(SyntheticPorepOptions, TheOutputIsAFunctionOfTheOptions) {
  for (const char* proof : {"StackedDrg2KiBV1_1", "StackedDrg2KiBV1_1_Feat_SyntheticPoRep"}) {
    const PorepOptions options = options_of("2KiB", proof);
    const std::string text = porep::encode_commit_phase1_envelope(make_porep(options));
    {
      const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
      EXPECT_EQ(porep::encode_commit_phase1_envelope(make_porep(options)), text);
    }
    std::set<base::Bytes32> replica_ids = {make_porep(options).replica_id.to_bytes_le()};
    for (auto change : {+[](PorepOptions& o) { ++o.seed; }, +[](PorepOptions& o) { ++o.miner_id; },
                        +[](PorepOptions& o) { ++o.sector_number; }}) {
      PorepOptions other = options;
      change(other);
      replica_ids.insert(make_porep(other).replica_id.to_bytes_le());
    }
    EXPECT_EQ(replica_ids.size(), 4u);
  }
}

TEST(SyntheticPorepOptions, DefaultProofIsV1_1OfTheSizeOrOfItsKindOfTree) {
  EXPECT_EQ(default_seal_proof(SectorSize::parse("2KiB")),
            RegisteredSealProof::kStackedDrg2KiBV1_1);
  EXPECT_EQ(default_seal_proof(SectorSize::parse("64GiB")),
            RegisteredSealProof::kStackedDrg64GiBV1_1);
  EXPECT_EQ(default_seal_proof(SectorSize::parse("1GiB")),
            RegisteredSealProof::kStackedDrg32GiBV1_1);
  EXPECT_EQ(default_seal_proof(SectorSize::parse("32KiB")),
            RegisteredSealProof::kStackedDrg64GiBV1_1);
}

TEST(SyntheticPorepOptions, RefusesWhatCannotBeMade) {
  EXPECT_THROW(make_porep(options_of("2KiB", "StackedDrg8MiBV1_1")), base::InvalidInput);
  EXPECT_THROW(make_porep(options_of("32KiB", "StackedDrg32GiBV1_1")), base::InvalidInput);
  for (const char* proof : {"StackedDrg512MiBV1_1_Feat_SyntheticPoRep",
                            "StackedDrg512MiBV1_2_Feat_NonInteractivePoRep"}) {
    EXPECT_THAT([&] { make_porep(options_of("512MiB", proof)); },
                ::testing::ThrowsMessage<base::InvalidInput>(HasSubstr("depend on comm_r")));
  }
}

}  // namespace
}  // namespace cuzk::filecoin::synthetic
