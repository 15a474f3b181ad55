#include "filecoin/porep/vanilla_codec.hpp"

#include <benchmark/benchmark.h>
#include <simdjson.h>

#include <cstring>
#include <random>
#include <stdexcept>

namespace cuzk::filecoin::porep {
namespace {

/// A C1 output of the given size whose elements are random: as large as a real one, but it proves
/// nothing.
SealCommitPhase1Output random_output(SectorSize size) {
  std::mt19937_64 random(1);
  const auto fr = [&] {
    base::Bytes32 bytes;
    for (std::size_t i = 0; i < 4; ++i) {
      const std::uint64_t word = random();
      std::memcpy(bytes.data() + 8 * i, &word, 8);
    }
    return curve::Fr::from_bytes_le_reduced(bytes);
  };
  const auto inclusion = [&](const TreeShape& shape) {
    InclusionProof proof{.leaf = fr(), .root = fr(), .siblings = {}, .positions = {}};
    for (unsigned i = 0; i < shape.siblings(); ++i) proof.siblings.push_back(fr());
    for (unsigned i = 0; i < shape.levels(); ++i)
      proof.positions.push_back(static_cast<std::uint8_t>(random() % shape.arity(i)));
    return proof;
  };
  const PorepShape shape = porep_shape(size);
  const auto column = [&] {
    ColumnProof proof{
        .node = random() % size.nodes(), .labels = {}, .inclusion = inclusion(tree_r_shape(size))};
    for (unsigned i = 0; i < shape.layers; ++i) proof.labels.push_back(fr());
    return proof;
  };
  const RegisteredSealProof proof = seal_proof(size, ApiVersion::k1_1);
  SealCommitPhase1Output output{.registered_proof = proof,
                                .sector_size = size,
                                .comm_r = fr(),
                                .comm_d = fr(),
                                .replica_id = fr(),
                                .seed = fr().to_bytes_le(),
                                .ticket = fr().to_bytes_le(),
                                .partitions = {},
                                .sector_number = 1};
  output.partitions.resize(partition_count(proof, size));
  for (auto& partition : output.partitions) {
    partition.resize(shape.challenges_per_partition);
    for (VanillaProof& vanilla : partition) {
      vanilla.challenge = random() % size.nodes();
      vanilla.comm_d_inclusion = inclusion(tree_d_shape(size));
      vanilla.comm_r_last_inclusion = inclusion(tree_r_shape(size));
      vanilla.column = column();
      for (ColumnProof& parent : vanilla.drg_parents) parent = column();
      for (ColumnProof& parent : vanilla.exp_parents) parent = column();
    }
  }
  return output;
}

const SealCommitPhase1Output& output_32GiB() {
  static const SealCommitPhase1Output output = random_output(SectorSize::parse("32GiB"));
  return output;
}
const std::string& bare_32GiB() {
  static const std::string text = encode_commit_phase1(output_32GiB());
  return text;
}
const std::string& envelope_32GiB() {
  static const std::string text = encode_commit_phase1_envelope(output_32GiB());
  return text;
}

void finish(benchmark::State& state, std::size_t bytes) {
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * state.iterations());
  state.counters["MB"] = static_cast<double>(bytes) / 1e6;
}

void decode(benchmark::State& state, const std::string& text) {
  for (auto _ : state) benchmark::DoNotOptimize(decode_commit_phase1(text));
  if (decode_commit_phase1(text).partitions != output_32GiB().partitions)
    state.SkipWithError("decoded something else");
  finish(state, text.size());
}

void BM_CommitPhase1_DecodeBare_32GiB(benchmark::State& state) { decode(state, bare_32GiB()); }
BENCHMARK(BM_CommitPhase1_DecodeBare_32GiB)->Unit(benchmark::kMillisecond);

void BM_CommitPhase1_DecodeEnvelope_32GiB(benchmark::State& state) {
  decode(state, envelope_32GiB());
}
BENCHMARK(BM_CommitPhase1_DecodeEnvelope_32GiB)->Unit(benchmark::kMillisecond);

void BM_CommitPhase1_EncodeBare_32GiB(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(encode_commit_phase1(output_32GiB()));
  finish(state, bare_32GiB().size());
}
BENCHMARK(BM_CommitPhase1_EncodeBare_32GiB)->Unit(benchmark::kMillisecond);

void BM_CommitPhase1_Base64_32GiB(benchmark::State& state) {
  const std::string text = base::to_base64(base::as_bytes(bare_32GiB()));
  for (auto _ : state) benchmark::DoNotOptimize(base::from_base64(text));
  finish(state, text.size());
}
BENCHMARK(BM_CommitPhase1_Base64_32GiB)->Unit(benchmark::kMillisecond);

/// For comparison: simdjson's On-Demand interface over the same text, reading every number and
/// doing nothing with it but a sum; no keys are compared, nothing is converted or kept.
std::uint64_t sum_of_numbers(simdjson::ondemand::value value) {
  switch (value.type()) {
    case simdjson::ondemand::json_type::object: {
      std::uint64_t sum = 0;
      for (auto field : value.get_object()) sum += sum_of_numbers(field.value());
      return sum;
    }
    case simdjson::ondemand::json_type::array: {
      std::uint64_t sum = 0;
      for (auto element : value.get_array()) sum += sum_of_numbers(element.value());
      return sum;
    }
    case simdjson::ondemand::json_type::number:
      return value.get_uint64();
    default:
      return 0;
  }
}

void BM_CommitPhase1_SimdjsonScan_32GiB(benchmark::State& state) {
  const simdjson::padded_string text(bare_32GiB());
  simdjson::ondemand::parser parser;
  for (auto _ : state) {
    auto document = parser.iterate(text);
    std::uint64_t sum = 0;
    for (auto field : document.get_object()) sum += sum_of_numbers(field.value());
    benchmark::DoNotOptimize(sum);
  }
  finish(state, text.size());
}
BENCHMARK(BM_CommitPhase1_SimdjsonScan_32GiB)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace cuzk::filecoin::porep
