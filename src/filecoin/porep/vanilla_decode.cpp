#include "base/error.hpp"
#include "base/json_reader.hpp"
#include "filecoin/inclusion_proof_codec.hpp"
#include "filecoin/porep/vanilla_codec.hpp"

#include <algorithm>
#include <array>

namespace cuzk::filecoin::porep {

using base::JsonReader;
using curve::Fr;

namespace {

/// What the sector size fixes.
struct Sizes {
  explicit Sizes(SectorSize size)
      : porep(porep_shape(size)), tree_d(tree_d_shape(size)), tree_r(tree_r_shape(size)) {}
  PorepShape porep;
  TreeShape tree_d, tree_r;
};

ColumnProof read_column_proof(JsonReader& reader, const Sizes& sizes) {
  static constexpr std::array<std::string_view, 2> kKeys = {"column", "inclusion_proof"};
  static constexpr std::array<std::string_view, 2> kColumnKeys = {"index", "rows"};
  ColumnProof proof;
  reader.fields(kKeys, [&](std::size_t key) {
    if (key == 1) {
      proof.inclusion = read_inclusion_proof(reader, sizes.tree_r);
      return;
    }
    reader.fields(kColumnKeys, [&](std::size_t column_key) {
      if (column_key == 0) {
        proof.node = reader.u64(UINT32_MAX);
      } else {
        proof.labels.resize(sizes.porep.layers);
        reader.array_of(sizes.porep.layers,
                        [&](std::size_t layer) { proof.labels[layer] = read_fr(reader); });
      }
    });
  });
  return proof;
}

void read_replica_column_proofs(JsonReader& reader, const Sizes& sizes, VanillaProof& proof) {
  static constexpr std::array<std::string_view, 3> kKeys = {"c_x", "drg_parents", "exp_parents"};
  const auto read_parents = [&](auto& parents) {
    reader.array_of(parents.size(),
                    [&](std::size_t i) { parents[i] = read_column_proof(reader, sizes); });
  };
  reader.fields(kKeys, [&](std::size_t key) {
    if (key == 0) {
      proof.column = read_column_proof(reader, sizes);
    } else if (key == 1) {
      read_parents(proof.drg_parents);
    } else {
      read_parents(proof.exp_parents);
    }
  });
}

std::uint64_t read_challenge(JsonReader& reader) {
  static constexpr std::array<std::string_view, 1> kKeys = {"node"};
  std::uint64_t challenge = 0;
  const std::size_t count = reader.array([&](std::size_t layer) {
    if (layer > 0) return reader.skip();
    reader.fields(kKeys, [&](std::size_t) { challenge = reader.u64(UINT32_MAX); });
  });
  if (count == 0) reader.reject("no labeling proof, so no challenge");
  return challenge;
}

VanillaProof read_vanilla_proof(JsonReader& reader, const Sizes& sizes) {
  static constexpr std::array<std::string_view, 4> kKeys = {
      "comm_d_proofs", "comm_r_last_proof", "replica_column_proofs", "labeling_proofs"};
  VanillaProof proof;
  reader.fields(kKeys, [&](std::size_t key) {
    switch (key) {
      case 0:
        proof.comm_d_inclusion = read_inclusion_proof(reader, sizes.tree_d);
        break;
      case 1:
        proof.comm_r_last_inclusion = read_inclusion_proof(reader, sizes.tree_r);
        break;
      case 2:
        read_replica_column_proofs(reader, sizes, proof);
        break;
      default:
        proof.challenge = read_challenge(reader);
    }
  });
  return proof;
}

/// The sector size whose proofs stand under that key of "vanilla_proofs".
SectorSize size_of_vanilla_key(JsonReader& reader, std::string_view key) {
  for (const SealProofInfo& proof : all_seal_proofs()) {
    if (proof.vanilla_key == key) return proof.sector_size;
  }
  reader.reject("the key is no kind of vanilla proof, such as {}",
                all_seal_proofs().front().vanilla_key);
}

/// Whether proofs of `size` may carry the tag of `tagged`: `size` has none of its own, and the
/// trees have as many storeys.
bool can_stand_in(SectorSize size, SectorSize tagged) {
  const auto proofs = all_seal_proofs();
  const TreeShape own = tree_r_shape(size), wanted = tree_r_shape(tagged);
  return (own.sub > 0) == (wanted.sub > 0) && (own.top > 0) == (wanted.top > 0) &&
         std::none_of(proofs.begin(), proofs.end(),
                      [&](const auto& proof) { return proof.sector_size == size; });
}

/// What the top level says, in either form; which form it is follows from the keys.
class TopLevel {
 public:
  enum class Form { kEither, kBareOnly };
  TopLevel(std::string_view json, std::string_view name, std::optional<SectorSize> size, Form form)
      : reader_(json, name), size_(size), form_(form) {}

  SealCommitPhase1Output read();

 private:
  /// In the order of the bits of `seen`: the bare form's, then the envelope's.
  static constexpr std::array<std::string_view, 10> kKeys = {
      "registered_proof", "vanilla_proofs", "comm_r",    "comm_d",    "replica_id", "seed",
      "ticket",           "SectorNum",      "Phase1Out", "SectorSize"};
  static constexpr std::uint32_t kBareKeys = 0x7f, kEnvelopeKeys = 0x380, kPhase1Out = 0x100;

  void read_member(std::size_t key);
  void read_vanilla_proofs();
  Fr read_commitment();
  base::Bytes32 read_seed();
  SealCommitPhase1Output bare();
  SealCommitPhase1Output envelope();

  JsonReader reader_;
  std::optional<SectorSize> size_;
  Form form_;

  std::optional<RegisteredSealProof> registered_proof_;
  std::string vanilla_key_;
  std::vector<std::vector<VanillaProof>> partitions_;
  Fr comm_r_, comm_d_, replica_id_;
  base::Bytes32 seed_{}, ticket_{};

  std::uint64_t sector_number_ = 0, sector_bytes_ = 0;
  std::string phase1_scratch_;
  std::string_view phase1_out_;
};

SealCommitPhase1Output TopLevel::read() {
  const std::uint32_t seen = reader_.fields(kKeys, 0, [&](std::size_t key) { read_member(key); });
  reader_.finish();
  const bool is_envelope = (seen & kEnvelopeKeys) != 0;
  if (is_envelope && (seen & kBareKeys) != 0) {
    reader_.reject(
        "keys of a C1 output and of the envelope around one (SectorNum, Phase1Out, SectorSize) "
        "together");
  }
  if (is_envelope && form_ == Form::kBareOnly) reader_.reject("an envelope within an envelope");
  const std::uint32_t missing = (is_envelope ? kPhase1Out : kBareKeys) & ~seen;
  for (std::size_t i = 0; i < kKeys.size(); ++i) {
    if (missing >> i & 1) reader_.reject("the key '{}' is missing", kKeys[i]);
  }
  SealCommitPhase1Output output = is_envelope ? envelope() : bare();
  if (seen & 0x80) output.sector_number = sector_number_;
  return output;
}

void TopLevel::read_member(std::size_t key) {
  std::string scratch;
  switch (key) {
    case 0:
      try {
        registered_proof_ = seal_proof_from_name(reader_.string(scratch));
      } catch (const base::InvalidInput& error) {
        reader_.reject("{}", error.what());
      }
      break;
    case 1:
      read_vanilla_proofs();
      break;
    case 2:
      comm_r_ = read_commitment();
      break;
    case 3:
      comm_d_ = read_commitment();
      break;
    case 4:
      replica_id_ = read_fr(reader_);
      break;
    case 5:
      seed_ = read_seed();
      break;
    case 6:
      ticket_ = reader_.bytes32();
      break;
    case 7:
      sector_number_ = reader_.u64();
      break;
    case 8:
      phase1_out_ = reader_.string(phase1_scratch_);
      break;
    default:
      sector_bytes_ = reader_.u64();
  }
}

void TopLevel::read_vanilla_proofs() {
  reader_.object([&](std::string_view key) {
    if (!vanilla_key_.empty())
      reader_.reject("a second kind of vanilla proof, after {}", vanilla_key_);
    const SectorSize tagged = size_of_vanilla_key(reader_, key);
    vanilla_key_ = key;
    const SectorSize size = size_.value_or(tagged);
    if (size != tagged && !can_stand_in(size, tagged)) {
      reader_.reject("sector size {}, but these proofs are of {}", size.to_string(),
                     tagged.to_string());
    }
    const Sizes sizes(size);
    reader_.array([&](std::size_t) {
      auto& partition = partitions_.emplace_back();
      reader_.array_of(sizes.porep.challenges_per_partition, [&](std::size_t) {
        partition.push_back(read_vanilla_proof(reader_, sizes));
      });
    });
  });
  if (vanilla_key_.empty()) reader_.reject("no kind of vanilla proof");
}

Fr TopLevel::read_commitment() {
  const Fr commitment = read_fr(reader_);
  if (commitment.is_zero()) reader_.reject("the commitment is all zeros");
  return commitment;
}

base::Bytes32 TopLevel::read_seed() {
  const base::Bytes32 seed = reader_.bytes32();
  if (seed == base::Bytes32{}) reader_.reject("the seed is all zeros");
  return seed;
}

SealCommitPhase1Output TopLevel::bare() {
  const SealProofInfo& proof = info(*registered_proof_);
  if (vanilla_key_ != proof.vanilla_key) {
    reader_.reject("vanilla_proofs holds {}, but registered_proof {} goes with {}", vanilla_key_,
                   proof.name, proof.vanilla_key);
  }
  const SectorSize size = size_.value_or(proof.sector_size);
  unsigned partitions = 0;
  try {
    partitions = partition_count(proof.proof, size);
  } catch (const base::InvalidInput& error) {
    reader_.reject("{}", error.what());
  }
  if (partitions_.size() != partitions) {
    reader_.reject("vanilla_proofs.{} has {} partitions, {} expected for {}", vanilla_key_,
                   partitions_.size(), partitions, proof.name);
  }
  return {.registered_proof = proof.proof,
          .sector_size = size,
          .comm_r = comm_r_,
          .comm_d = comm_d_,
          .replica_id = replica_id_,
          .seed = seed_,
          .ticket = ticket_,
          .partitions = std::move(partitions_),
          .sector_number = std::nullopt};
}

SealCommitPhase1Output TopLevel::envelope() {
  if (sector_bytes_ != 0) {
    std::optional<SectorSize> stated;
    try {
      stated = SectorSize(sector_bytes_);
    } catch (const base::InvalidInput& error) {
      reader_.reject("SectorSize: {}", error.what());
    }
    if (size_.value_or(*stated) != *stated) {
      reader_.reject("SectorSize is {}, but {} was asked for", stated->to_string(),
                     size_->to_string());
    }
    size_ = stated;
  }
  const auto phase1 = base::from_base64(phase1_out_);
  if (!phase1) reader_.reject("Phase1Out is no base64");
  phase1_scratch_ = {};
  const std::string_view text = base::as_text(*phase1);
  return TopLevel(text, "C1 output in Phase1Out", size_, Form::kBareOnly).read();
}

}  // namespace

unsigned partition_count(RegisteredSealProof proof, SectorSize size) {
  const SealProofInfo& wanted = info(proof);
  if (size == wanted.sector_size) return wanted.partitions;
  base::require(can_stand_in(size, wanted.sector_size),
                "sector size {}, but registered_proof {} is of {}", size.to_string(), wanted.name,
                wanted.sector_size.to_string());
  const auto proofs = all_seal_proofs();
  const auto small = std::find_if(proofs.begin(), proofs.end(), [&](const SealProofInfo& other) {
    return other.sector_size == SectorSize::all().front() && other.feature == wanted.feature;
  });
  return small->partitions;
}

SealCommitPhase1Output decode_commit_phase1(std::string_view json, std::optional<SectorSize> size) {
  return TopLevel(json, "C1 output", size, TopLevel::Form::kEither).read();
}

}  // namespace cuzk::filecoin::porep
