#include "base/error.hpp"
#include "filecoin/inclusion_proof_codec.hpp"
#include "filecoin/porep/vanilla_codec.hpp"

#include <span>

namespace cuzk::filecoin::porep {

using curve::Fr;

namespace {

class Encoder {
 public:
  explicit Encoder(SectorSize size)
      : porep_(porep_shape(size)), tree_d_(tree_d_shape(size)), tree_r_(tree_r_shape(size)) {}

  void vanilla_proof(const VanillaProof& proof);
  void text(std::string_view text) { out_ += text; }
  void bytes32(std::string_view prefix, const base::Bytes32& value) {
    text(prefix);
    append_json(out_, value);
  }
  std::string take() { return std::move(out_); }

  /// Calls write(element) for each, with commas between.
  template <class Elements, class Write>
  void list(const Elements& elements, Write&& write) {
    out_ += '[';
    bool first = true;
    for (const auto& element : elements) {
      if (!first) out_ += ',';
      first = false;
      write(element);
    }
    out_ += ']';
  }

 private:
  void fr_list(std::span<const Fr> values) {
    list(values, [&](const Fr& value) { append_json(out_, value); });
  }
  void inclusion(const InclusionProof& proof, const TreeShape& shape) {
    append_json(out_, proof, shape);
  }
  void column_proof(const ColumnProof& proof);
  void labeling_proof(const VanillaProof& proof, unsigned layer);
  std::vector<Fr> label_parents(const VanillaProof& proof, unsigned layer) const;

  PorepShape porep_;
  TreeShape tree_d_, tree_r_;
  std::string out_;
};

void Encoder::column_proof(const ColumnProof& proof) {
  base::require(proof.labels.size() == porep_.layers, "a column of {} labels, {} expected",
                proof.labels.size(), porep_.layers);
  text(fmt::format("{{\"column\":{{\"index\":{},\"rows\":", proof.node));
  fr_list(proof.labels);
  text(",\"_h\":null},\"inclusion_proof\":");
  inclusion(proof.inclusion, tree_r_);
  text("}");
}

/// The 37 labels that enter the hash of the challenged node's label in a layer (from 1): those of
/// the DRG parents in that layer and, above layer 1, of the expander parents in the layer before,
/// repeated.
std::vector<Fr> Encoder::label_parents(const VanillaProof& proof, unsigned layer) const {
  std::vector<Fr> labels;
  for (const ColumnProof& parent : proof.drg_parents) labels.push_back(parent.labels[layer - 1]);
  if (layer > 1) {
    for (const ColumnProof& parent : proof.exp_parents) labels.push_back(parent.labels[layer - 2]);
  }
  const std::size_t distinct = labels.size();
  while (labels.size() < kLabelParents) labels.push_back(labels[labels.size() - distinct]);
  return labels;
}

void Encoder::labeling_proof(const VanillaProof& proof, unsigned layer) {
  text("{\"parents\":");
  fr_list(label_parents(proof, layer));
  text(fmt::format(",\"layer_index\":{},\"node\":{}}}", layer, proof.challenge));
}

void Encoder::vanilla_proof(const VanillaProof& proof) {
  text("{\"comm_d_proofs\":");
  inclusion(proof.comm_d_inclusion, tree_d_);
  text(",\"comm_r_last_proof\":");
  inclusion(proof.comm_r_last_inclusion, tree_r_);
  text(",\"replica_column_proofs\":{\"c_x\":");
  column_proof(proof.column);
  const auto column = [&](const ColumnProof& parent) { column_proof(parent); };
  text(",\"drg_parents\":");
  list(proof.drg_parents, column);
  text(",\"exp_parents\":");
  list(proof.exp_parents, column);
  text("},\"labeling_proofs\":[");
  for (unsigned layer = 1; layer <= porep_.layers; ++layer) {
    if (layer > 1) text(",");
    labeling_proof(proof, layer);
  }
  text("],\"encoding_proof\":");
  labeling_proof(proof, porep_.layers);
  text("}");
}

}  // namespace

std::string encode_commit_phase1(const SealCommitPhase1Output& output) {
  const SealProofInfo& proof = info(output.registered_proof);
  const unsigned partitions = partition_count(proof.proof, output.sector_size);
  const unsigned challenges = porep_shape(output.sector_size).challenges_per_partition;
  base::require(output.partitions.size() == partitions, "{} partitions, {} expected for {}",
                output.partitions.size(), partitions, proof.name);
  Encoder encoder(output.sector_size);
  encoder.text(fmt::format("{{\"registered_proof\":\"{}\",\"vanilla_proofs\":{{\"{}\":", proof.name,
                           proof.vanilla_key));
  encoder.list(output.partitions, [&](const std::vector<VanillaProof>& partition) {
    base::require(partition.size() == challenges, "{} challenges in a partition, {} expected",
                  partition.size(), challenges);
    encoder.list(partition, [&](const VanillaProof& vanilla) { encoder.vanilla_proof(vanilla); });
  });
  encoder.bytes32("},\"comm_r\":", output.comm_r.to_bytes_le());
  encoder.bytes32(",\"comm_d\":", output.comm_d.to_bytes_le());
  encoder.bytes32(",\"replica_id\":", output.replica_id.to_bytes_le());
  encoder.bytes32(",\"seed\":", output.seed);
  encoder.bytes32(",\"ticket\":", output.ticket);
  encoder.text("}");
  return encoder.take();
}

std::string encode_commit_phase1_envelope(const SealCommitPhase1Output& output) {
  base::require(output.sector_number.has_value(),
                "an envelope of a C1 output needs the sector number");
  return fmt::format(
      "{{\"SectorNum\":{},\"Phase1Out\":\"{}\",\"SectorSize\":{}}}", *output.sector_number,
      base::to_base64(base::as_bytes(encode_commit_phase1(output))), output.sector_size.bytes());
}

}  // namespace cuzk::filecoin::porep
