#include "witness_cases.hpp"

#include "base/bytes.hpp"
#include "filecoin/circuit/circuits.hpp"
#include "filecoin/meta.hpp"
#include "filecoin/porep/circuit.hpp"
#include "filecoin/porep/vanilla_codec.hpp"
#include "filecoin/post/circuit.hpp"
#include "filecoin/post/vanilla_codec.hpp"
#include "filecoin/update/circuit.hpp"
#include "filecoin/update/vanilla_codec.hpp"
#include "filecoin/vanilla_file.hpp"
#include "hash/sha256.hpp"
#include "r1cs/evaluate.hpp"
#include "r1cs/implied_fields.hpp"
#include "r1cs/witness_builder.hpp"
#include "support/golden.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace cuzk::testing {

namespace {

using curve::Fr;
using filecoin::CircuitKind;
using filecoin::SectorSize;
using nlohmann::json;

std::string text_of(const std::string& name) {
  const base::Bytes bytes = golden_bytes(name);
  return {bytes.begin(), bytes.end()};
}

template <class Synthesize>
r1cs::Witness build(const r1cs::Shape& shape, Synthesize&& synthesize,
                    const r1cs::ImpliedFields* left_out = nullptr) {
  r1cs::WitnessBuilder builder(shape, left_out);
  synthesize(builder);
  return builder.finish();
}

ArtefactWitnesses porep_witnesses(const std::string& folder, SectorSize size) {
  const auto c1 = filecoin::porep::decode_commit_phase1(text_of(folder + "c1.json"), size);
  ArtefactWitnesses out{filecoin::build_shape(CircuitKind::kPorep, size)};
  for (const auto& partition : c1.partitions) {
    const filecoin::porep::PartitionInputs inputs{c1.replica_id, c1.comm_d, c1.comm_r, partition};
    out.partitions.push_back(build(out.shape, [&](r1cs::WitnessBuilder& cs) {
      filecoin::porep::synthesize(cs, size, inputs);
    }));
  }
  return out;
}

ArtefactWitnesses post_witnesses(const std::string& folder, const std::string& artefact,
                                 SectorSize size) {
  using namespace filecoin;
  const bool winning = artefact == "winning";
  std::vector<post::VanillaProof> sectors;
  for (const base::Bytes& blob :
       decode_vanilla_file(golden_bytes(folder + artefact + ".vanilla.json"))) {
    sectors.push_back(post::decode_vanilla_proof(
        blob, size, winning ? kWinningPostChallenges : kWindowPostChallenges));
  }
  const auto circuit = winning ? post::winning_circuit_size(size) : post::window_circuit_size(size);
  ArtefactWitnesses out{
      build_shape(winning ? CircuitKind::kWinningPost : CircuitKind::kWindowPost, size)};
  const std::size_t sectors_per_partition = winning ? 1 : circuit.places;
  for (std::size_t first = 0; first < sectors.size(); first += sectors_per_partition) {
    const auto count = std::min(sectors_per_partition, sectors.size() - first);
    const std::span<const post::VanillaProof> partition(sectors.data() + first, count);
    const auto places =
        winning ? post::winning_places(size, partition[0]) : post::window_places(size, partition);
    const auto synthesize = [&](r1cs::WitnessBuilder& cs) {
      post::synthesize(cs, circuit, places);
    };
    out.partitions.push_back(build(out.shape, synthesize));
    if (winning) continue;
    const r1cs::ImpliedFields implied(out.shape);
    out.given.push_back(build(out.shape, synthesize, &implied));
  }
  return out;
}

ArtefactWitnesses update_witnesses(const std::string& folder, SectorSize size,
                                   const filecoin::Meta& meta) {
  using namespace filecoin;
  ArtefactWitnesses out{build_shape(CircuitKind::kUpdate, size)};
  std::uint64_t k = 0;
  for (const base::Bytes& blob :
       decode_vanilla_file(golden_bytes(folder + "update.vanilla.json"))) {
    const update::VanillaProof proof = update::decode_vanilla_proof(blob, size);
    const update::PartitionInputs inputs{k++,
                                         meta.update->h.value(),
                                         meta.update->comm_r_old,
                                         meta.update->comm_d_new,
                                         meta.update->comm_r_new,
                                         &proof};
    out.partitions.push_back(
        build(out.shape, [&](r1cs::WitnessBuilder& cs) { update::synthesize(cs, size, inputs); }));
  }
  return out;
}

// SHA-256 of field elements as they come, with checkpoints.
class FieldDigest {
 public:
  explicit FieldDigest(std::uint64_t checkpoint_every = 0) : every_(checkpoint_every) {}

  void add(const Fr& value) {
    const base::Bytes32 bytes = value.to_bytes_le();
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    const bool at_checkpoint = every_ != 0 && ++count_ % every_ == 0;
    if (at_checkpoint || buffer_.size() >= kBufferBytes) flush();
    if (at_checkpoint) checkpoints_.push_back(digest());
  }
  std::string digest() {
    flush();
    hash::Sha256 so_far = hash_;
    return base::to_hex(so_far.finish());
  }
  const std::vector<std::string>& checkpoints() const { return checkpoints_; }

 private:
  static constexpr std::size_t kBufferBytes = 1 << 16;
  void flush() {
    hash_.update(buffer_);
    buffer_.clear();
  }

  std::uint64_t every_, count_ = 0;
  hash::Sha256 hash_;
  base::Bytes buffer_;
  std::vector<std::string> checkpoints_;
};

void expect_aux(const json& golden, const std::vector<Fr>& aux) {
  FieldDigest digest(golden.at("aux_checkpoint_every").get<std::uint64_t>());
  std::uint64_t zeros = 0, ones = 0;
  for (const Fr& value : aux) {
    digest.add(value);
    zeros += value.is_zero();
    ones += value.is_one();
  }
  const json& checkpoints = golden.at("aux_checkpoints");
  ASSERT_EQ(digest.checkpoints().size(), checkpoints.size());
  for (std::size_t i = 0; i < checkpoints.size(); ++i) {
    ASSERT_EQ(digest.checkpoints()[i], checkpoints[i])
        << "aux differ before " << (i + 1) * golden.at("aux_checkpoint_every").get<std::uint64_t>();
  }
  EXPECT_EQ(digest.digest(), golden.at("aux_sha256"));
  EXPECT_EQ(zeros, golden.at("aux_values").at("zero"));
  EXPECT_EQ(ones, golden.at("aux_values").at("one"));
  EXPECT_EQ(aux.size() - zeros - ones, golden.at("aux_values").at("other"));
}

}  // namespace

ArtefactWitnesses golden_witnesses(const std::string& folder, const std::string& artefact) {
  const filecoin::Meta meta = filecoin::decode_meta(text_of(folder + "meta.json"));
  const SectorSize size = meta.sector_size.value();
  if (artefact == "porep") return porep_witnesses(folder, size);
  if (artefact == "update") return update_witnesses(folder, size, meta);
  return post_witnesses(folder, artefact, size);
}

ArtefactWitnesses golden_real_window_witness() {
  using namespace filecoin;
  const SectorSize size = SectorSize::parse("32GiB");
  const post::VanillaProof sector = post::decode_vanilla_proof(
      golden_bytes("real/wpost-32GiB-one-sector.vproof"), size, kWindowPostChallenges);
  const auto places = post::window_places(size, {&sector, 1});
  ArtefactWitnesses out{build_shape(CircuitKind::kWindowPost, size)};
  const auto synthesize = [&](r1cs::WitnessBuilder& cs) {
    post::synthesize(cs, post::window_circuit_size(size), places);
  };
  out.partitions.push_back(build(out.shape, synthesize));
  const r1cs::ImpliedFields implied(out.shape);
  out.given.push_back(build(out.shape, synthesize, &implied));
  return out;
}

void expect_completion(const ArtefactWitnesses& witnesses) {
  const r1cs::ImpliedFields implied(witnesses.shape);
  ASSERT_EQ(witnesses.given.size(), witnesses.partitions.size());
  for (std::size_t k = 0; k < witnesses.given.size(); ++k) {
    const r1cs::Witness& wanted = witnesses.partitions[k];
    // 99 % of a WindowPoSt's fields: the reason for all this.
    EXPECT_LT(witnesses.given[k].fields.size(), wanted.fields.size() / 50);
    const r1cs::Witness whole = r1cs::complete(witnesses.shape, implied, witnesses.given[k]);
    EXPECT_EQ(whole.inputs, wanted.inputs);
    EXPECT_EQ(whole.bits, wanted.bits);
    EXPECT_TRUE(whole.fields == wanted.fields);
  }
}

void expect_inputs(const json& golden, const r1cs::Witness& witness) {
  ASSERT_EQ(witness.inputs.size(), golden.size() + 1);
  EXPECT_TRUE(witness.inputs[0].is_one());
  for (std::size_t i = 0; i < golden.size(); ++i) {
    ASSERT_EQ(base::to_hex(witness.inputs[i + 1].to_bytes_le()), golden[i]) << "input " << i + 1;
  }
}

void expect_witness(const json& golden, const r1cs::Shape& shape, const r1cs::Witness& witness) {
  EXPECT_EQ(shape.num_inputs(), golden.at("num_inputs"));
  EXPECT_EQ(shape.num_aux(), golden.at("num_aux"));
  EXPECT_EQ(shape.num_constraints(), golden.at("num_constraints"));
  FieldDigest inputs;
  for (const Fr& input : witness.inputs) inputs.add(input);
  EXPECT_EQ(inputs.digest(), golden.at("inputs_sha256"));

  const std::vector<Fr> aux = r1cs::expand_aux(shape, witness);
  ASSERT_NO_FATAL_FAILURE(expect_aux(golden, aux));
  const char* const names[] = {"az_sha256", "bz_sha256", "cz_sha256"};
  for (unsigned m = 0; m < 3; ++m) {
    FieldDigest digest;
    r1cs::evaluate_rows(shape, m, witness.inputs, aux, [&](const Fr& value) { digest.add(value); });
    EXPECT_EQ(digest.digest(), golden.at(names[m])) << names[m];
  }
}

}  // namespace cuzk::testing
