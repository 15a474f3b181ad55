#include "cli/load/payload.hpp"

#include "base/error.hpp"
#include "filecoin/ids.hpp"
#include "support/golden.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

namespace cuzk::cli::load {
namespace {

using engine::ProofKind;

TEST(LoadPayload, KindsByName) {
  for (const ProofKind kind :
       {ProofKind::kPorep, ProofKind::kSnap, ProofKind::kWindowPost, ProofKind::kWinningPost})
    EXPECT_EQ(parse_kind(kind_name(kind)), kind);
  EXPECT_THROW(parse_kind("wdpost"), base::InvalidInput);
}

filecoin::Meta golden_meta(const std::string& folder) {
  const base::Bytes bytes = testing::golden_bytes(folder + "meta.json");
  return filecoin::decode_meta(base::as_text(bytes));
}

// What Curio sends for the golden sector, by its own numbers.
TEST(LoadPayload, RequestsFromGoldenFiles) {
  const auto preparation = engine::make_filecoin_preparation();
  const std::string folder = "sectors/2KiB-v1_1/";
  const filecoin::Meta meta = golden_meta(folder);

  const auto porep = to_request(ProofKind::kPorep, testing::golden_bytes(folder + "c1.json"), meta);
  EXPECT_EQ(porep.registered_proof, 5u);
  EXPECT_EQ(porep.sector_size, 2048u);
  EXPECT_GT(porep.miner_id, 0u);
  const Payload porep_payload = make_payload(porep, *preparation);
  EXPECT_EQ(porep_payload.circuit.to_string(), "porep-2k");
  EXPECT_EQ(porep_payload.public_inputs.size(), 1u);
  EXPECT_NO_THROW(preparation->check(porep));
  // Without public values too.
  EXPECT_EQ(make_payload(to_request(ProofKind::kPorep, porep.vanilla_proof, {}), *preparation)
                .public_inputs,
            porep_payload.public_inputs);
}

// Their C1 outputs carry the names of 32 and 64 GiB proofs.
TEST(LoadPayload, RequestsOfStandInsHold) {
  const auto preparation = engine::make_filecoin_preparation();
  for (const auto& [sector, circuit] :
       {std::pair("16KiB-v1_1", "porep-16k"), std::pair("32KiB-v1_1", "porep-32k")}) {
    const std::string folder = fmt::format("sectors/{}/", sector);
    for (const char* file : {"c1.json", "c1.wrapper.json"}) {
      const auto request =
          to_request(ProofKind::kPorep, testing::golden_bytes(folder + file), golden_meta(folder));
      EXPECT_EQ(request.registered_proof, 0u);
      EXPECT_EQ(preparation->examine(request).to_string(), circuit);
      EXPECT_NO_THROW(preparation->check(request)) << sector << " " << file;
    }
  }
}

// A replica id may be made with any 32 bytes; only those of a miner can be sent as one.
TEST(LoadPayload, OnlyAMinersProverIdBecomesAMiner) {
  filecoin::Meta meta = golden_meta("sectors/2KiB-v1_1/");
  const auto miner = [&](const base::Bytes32& prover_id) {
    meta.prover_id = prover_id;
    const auto porep = to_request(ProofKind::kPorep, {}, meta);
    const auto window =
        to_request(ProofKind::kWindowPost,
                   testing::golden_bytes("sectors/2KiB-v1_1/window.vanilla.json"), meta);
    EXPECT_EQ(porep.miner_id, window.miner_id);
    EXPECT_EQ(porep.sector_number, porep.miner_id == 0 ? 0u : 1u);
    return porep.miner_id;
  };
  for (const std::uint64_t id :
       {std::uint64_t{1}, std::uint64_t{127}, std::uint64_t{128}, std::uint64_t{1000}, UINT64_MAX})
    EXPECT_EQ(miner(filecoin::prover_id(id)), id);
  base::Bytes32 foreign;
  foreign.fill(0x07);
  EXPECT_EQ(miner(foreign), 0u) << "more after the number";
  foreign.fill(0xff);
  EXPECT_EQ(miner(foreign), 0u) << "no end";
  foreign = filecoin::prover_id(UINT64_MAX);
  foreign[9] = 0x7f;
  EXPECT_EQ(miner(foreign), 0u) << "above 64 bits";
  foreign = {0x81, 0x00};
  EXPECT_EQ(miner(foreign), 0u) << "longer than need be";
}

TEST(LoadPayload, EverySeedAnotherJobThatHolds) {
  const auto preparation = engine::make_filecoin_preparation();
  const filecoin::SectorSize size = filecoin::SectorSize::parse("2KiB");
  std::set<std::string> digests;
  for (const ProofKind kind :
       {ProofKind::kWinningPost, ProofKind::kWindowPost, ProofKind::kSnap, ProofKind::kPorep}) {
    for (const std::uint64_t seed : {1u, 2u}) {
      const Payload payload = synthetic_payload({kind, size, {}}, seed, *preparation);
      EXPECT_NO_THROW(preparation->check(payload.request)) << kind_name(kind);
      EXPECT_GT(payload.bytes(), 1000u);
      digests.insert(engine::payload_digest(payload.request));
    }
  }
  EXPECT_EQ(digests.size(), 8u);
}

TEST(LoadPayload, WhatIsMissingIsNamed) {
  const base::Bytes blob(10, 0);
  EXPECT_THROW(to_request(ProofKind::kSnap, blob, {}), base::InvalidInput);
  const filecoin::Meta meta = filecoin::decode_meta(R"({"size":"2KiB"})");
  try {
    to_request(ProofKind::kWinningPost, blob, meta);
    FAIL();
  } catch (const base::InvalidInput& error) {
    EXPECT_NE(std::string(error.what()).find("'winning'"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace cuzk::cli::load
