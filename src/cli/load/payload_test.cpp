#include "cli/load/payload.hpp"

#include "base/error.hpp"
#include "support/golden.hpp"

#include <gtest/gtest.h>

#include <set>

namespace cuzk::cli::load {
namespace {

using engine::ProofKind;

TEST(LoadPayload, KindsByName) {
  for (const ProofKind kind :
       {ProofKind::kPorep, ProofKind::kSnap, ProofKind::kWindowPost, ProofKind::kWinningPost})
    EXPECT_EQ(parse_kind(kind_name(kind)), kind);
  EXPECT_THROW(parse_kind("wdpost"), base::InvalidInput);
}

// What Curio sends for the golden sector, by its own numbers.
TEST(LoadPayload, RequestsFromGoldenFiles) {
  const auto preparation = engine::make_filecoin_preparation();
  const std::string folder = "sectors/2KiB-v1_1/";
  const base::Bytes meta_bytes = testing::golden_bytes(folder + "meta.json");
  const filecoin::Meta meta =
      filecoin::decode_meta({reinterpret_cast<const char*>(meta_bytes.data()), meta_bytes.size()});

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
