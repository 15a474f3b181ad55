#include "base/error.hpp"
#include "engine/preparation.hpp"
#include "engine/proof_request.hpp"
#include "filecoin/ids.hpp"
#include "filecoin/porep/vanilla_check.hpp"
#include "filecoin/post/vanilla_check.hpp"
#include "filecoin/post/vanilla_codec.hpp"
#include "filecoin/update/vanilla_check.hpp"
#include "filecoin/update/vanilla_codec.hpp"

#include <charconv>
#include <optional>
#include <string>
#include <utility>

namespace cuzk::engine {

namespace {

using curve::Fr;
using filecoin::BadEntry;
using filecoin::CircuitKind;
using filecoin::SectorSize;

/// Collects what is wrong with a request.
class Complaints {
 public:
  explicit Complaints(const JobRequest& request) : request_(request) {}

  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    if (!list_.empty()) list_ += "; ";
    list_ += fmt::format(format, std::forward<Args>(args)...);
  }
  bool empty() const { return list_.empty(); }
  void throw_if_any() const {
    if (!empty()) fail(ErrorCode::kBadInput, list_);
  }
  [[noreturn]] void fail(ErrorCode code, const std::string& text) const {
    const std::string& id = request_.request_id;
    throw EngineError(code, id.empty() ? text : id + ": " + text);
  }
  /// Runs `step`; what it finds wrong with its input is the request's fault.
  template <class Step>
  auto blame_request(std::string_view what, Step&& step) const {
    try {
      return std::forward<Step>(step)();
    } catch (const base::InvalidInput& error) {
      fail(ErrorCode::kBadInput, fmt::format("{}: {}", what, error.what()));
    }
  }

 private:
  const JobRequest& request_;
  std::string list_;
};

/// 32 bytes that are a field element.
std::optional<Fr> field_element(Complaints& complaints, std::string_view name,
                                const base::Bytes& bytes, std::string_view hint) {
  if (bytes.size() != Fr::kBytes) {
    complaints.add("{} has {} bytes, 32 expected{}", name, bytes.size(), hint);
    return std::nullopt;
  }
  const auto value = Fr::from_bytes_le(std::span<const std::uint8_t, Fr::kBytes>(bytes));
  if (!value) {
    complaints.add("{} is no field element: read as a little-endian number it is not below r",
                   name);
  }
  return value;
}

std::optional<base::Bytes32> randomness_of(Complaints& complaints, const JobRequest& request) {
  if (!field_element(complaints, "randomness", request.randomness, "")) {
    if (request.randomness.size() == Fr::kBytes)
      complaints.add("clear the two top bits of its last byte (& 0x3f)");
    return std::nullopt;
  }
  base::Bytes32 out;
  std::copy(request.randomness.begin(), request.randomness.end(), out.begin());
  return out;
}

/// Size that the request states, given that of its registered proof.
SectorSize stated_size(Complaints& complaints, const JobRequest& request, SectorSize registered,
                       std::string_view name) {
  if (request.sector_size != 0 && request.sector_size != registered.bytes()) {
    complaints.add("sector_size is {}, but registered_proof {} is {}, of {} bytes",
                   request.sector_size, request.registered_proof, name, registered.bytes());
  }
  return registered;
}

// PoRep

/// The number after `"SectorSize":`, or the name after `"registered_proof":`, without parsing the
/// megabytes between; the decoder judges the whole afterwards.
std::optional<SectorSize> peek_sector_size(std::string_view json) {
  const auto value_after = [&](std::string_view key) -> std::string_view {
    const std::size_t at = json.rfind(key);
    if (at == std::string_view::npos) return {};
    const std::size_t begin = json.find_first_not_of(" \t\r\n:", at + key.size());
    return begin == std::string_view::npos ? std::string_view() : json.substr(begin, 64);
  };
  const std::string_view digits = value_after("\"SectorSize\"");
  std::uint64_t bytes = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), bytes);
  for (const SectorSize size : SectorSize::all()) {
    if (size.bytes() == bytes) return size;
  }
  const std::string_view quoted = value_after("\"registered_proof\"");
  for (const filecoin::SealProofInfo& info : filecoin::all_seal_proofs()) {
    if (quoted.starts_with("\"" + info.name + "\"")) return info.sector_size;
  }
  return std::nullopt;
}

std::optional<filecoin::RegisteredSealProof> stated_seal_proof(Complaints& complaints,
                                                               const JobRequest& request) {
  if (request.registered_proof == 0) return std::nullopt;  // not given, or the very first
  if (request.registered_proof >= filecoin::all_seal_proofs().size()) {
    complaints.add("registered_proof {} is none of the seal proofs 0 to {}",
                   request.registered_proof, filecoin::all_seal_proofs().size() - 1);
    return std::nullopt;
  }
  return filecoin::seal_proof_from_number(request.registered_proof);
}

std::optional<SectorSize> stated_porep_size(Complaints& complaints, const JobRequest& request) {
  if (request.sector_size == 0) return std::nullopt;
  try {
    return SectorSize(request.sector_size);
  } catch (const base::InvalidInput& error) {
    complaints.add("sector_size: {}", error.what());
    return std::nullopt;
  }
}

CircuitId examine_porep(const JobRequest& request) {
  Complaints complaints(request);
  if (request.vanilla_proof.empty())
    complaints.add("vanilla_proof is empty: it carries the C1 output of a PoRep");
  const auto proof = stated_seal_proof(complaints, request);
  std::optional<SectorSize> size = stated_porep_size(complaints, request);
  if (proof) {
    const filecoin::SealProofInfo& info = filecoin::info(*proof);
    size = stated_size(complaints, request, info.sector_size, info.name);
  }
  complaints.throw_if_any();
  if (!size) size = peek_sector_size(base::as_text(request.vanilla_proof));
  if (!size) {
    size = complaints
               .blame_request("C1 output",
                              [&] {
                                return filecoin::porep::decode_commit_phase1(
                                    base::as_text(request.vanilla_proof));
                              })
               .sector_size;
  }
  return {CircuitKind::kPorep, *size};
}

/// `size` is what examine_porep() found, so that a C1 output of any other size is refused here.
filecoin::porep::SealCommitPhase1Output decode_porep(const JobRequest& request, SectorSize size) {
  return Complaints(request).blame_request("C1 output", [&] {
    return filecoin::porep::decode_commit_phase1(base::as_text(request.vanilla_proof), size);
  });
}

/// What the request says besides the C1 output, against it.
void compare_porep(const JobRequest& request,
                   const filecoin::porep::SealCommitPhase1Output& output) {
  Complaints complaints(request);
  const auto proof = stated_seal_proof(complaints, request);
  if (proof && *proof != output.registered_proof) {
    complaints.add("registered_proof {} is {}, but the C1 output says {}", request.registered_proof,
                   filecoin::info(*proof).name, filecoin::info(output.registered_proof).name);
  }
  const bool stated = request.miner_id != 0 || request.sector_number != 0;
  if (stated && output.sector_number && *output.sector_number != request.sector_number) {
    complaints.add("sector_number is {}, but the C1 output is of sector {}", request.sector_number,
                   *output.sector_number);
  }
  if (complaints.empty() && request.miner_id != 0) {
    const Fr expected = filecoin::replica_id(filecoin::prover_id(request.miner_id),
                                             request.sector_number, output.ticket, output.comm_d,
                                             filecoin::porep_id(output.registered_proof));
    if (expected != output.replica_id) {
      complaints.add(
          "the replica id in the C1 output is not that of miner {}, sector {} with its "
          "ticket, comm_d and registered proof {}",
          request.miner_id, request.sector_number, filecoin::info(output.registered_proof).name);
    }
  }
  complaints.throw_if_any();
}

// PoSt

struct PostValues {
  SectorSize size;
  filecoin::ApiVersion version;
  bool winning;
  base::Bytes32 randomness;
};

PostValues examine_post(const JobRequest& request) {
  Complaints complaints(request);
  const bool winning = request.kind == ProofKind::kWinningPost;
  const std::size_t known = filecoin::all_post_proofs().size();
  if (request.registered_proof >= known) {
    complaints.add("registered_proof {} is none of the PoSt proofs 0 to {}",
                   request.registered_proof, known - 1);
    complaints.throw_if_any();
  }
  const filecoin::PostProofInfo& info =
      filecoin::info(filecoin::post_proof_from_number(request.registered_proof));
  if (info.winning != winning) {
    complaints.add("registered_proof {} is {}: no {}", request.registered_proof, info.name,
                   winning ? "WinningPoSt" : "WindowPoSt");
  }
  const SectorSize size = stated_size(complaints, request, info.sector_size, info.name);
  const auto randomness = randomness_of(complaints, request);
  const std::size_t count = request.vanilla_proofs.size();
  const std::size_t places = winning ? 1 : filecoin::window_post_sector_count(size);
  if (count == 0) {
    complaints.add("no vanilla proofs: vanilla_proofs carries one for each sector");
  } else if (count > places) {
    complaints.add("{} vanilla proofs, but {} > {} per partition", count, count, places);
  }
  complaints.throw_if_any();
  return {size, info.api_version, winning, *randomness};
}

std::vector<filecoin::post::VanillaProof> decode_post(const JobRequest& request,
                                                      const PostValues& values) {
  const unsigned challenges =
      values.winning ? filecoin::kWinningPostChallenges : filecoin::kWindowPostChallenges;
  return filecoin::post::decode_vanilla_proofs(request.vanilla_proofs, values.size, challenges);
}

ProofRequest post_proof_request(const JobRequest& request) {
  const PostValues values = examine_post(request);
  return Complaints(request).blame_request("vanilla proof", [&] {
    auto proofs = decode_post(request, values);
    if (values.winning)
      return winning_request(values.size, values.randomness, std::move(proofs.front()));
    return window_request(values.size, values.version, values.randomness, std::move(proofs),
                          request.partition_index);
  });
}

std::vector<BadEntry> check_post(const JobRequest& request) {
  const PostValues values = examine_post(request);
  const std::uint64_t places = filecoin::window_post_sector_count(values.size);
  return filecoin::post::check_vanilla_blobs(
      {.sector_size = values.size,
       .winning = values.winning,
       .api_version = values.version,
       .randomness = values.randomness,
       .sectors = std::nullopt,
       .first_position = values.winning ? 0 : request.partition_index * places},
      request.vanilla_proofs);
}

// Snap

filecoin::update::Statement examine_update(const JobRequest& request) {
  constexpr std::string_view kHint = " (a CID instead of its digest?)";
  Complaints complaints(request);
  const std::size_t known = filecoin::all_update_proofs().size();
  if (request.registered_proof >= known) {
    complaints.add("registered_proof {} is none of the update proofs 0 to {}",
                   request.registered_proof, known - 1);
    complaints.throw_if_any();
  }
  const filecoin::UpdateProofInfo& info =
      filecoin::info(filecoin::update_proof_from_number(request.registered_proof));
  const SectorSize size = stated_size(complaints, request, info.sector_size, info.name);
  const filecoin::UpdateShape shape = filecoin::update_shape(size);
  if (request.vanilla_proofs.size() != shape.partitions) {
    complaints.add("{} of {} partition proofs", request.vanilla_proofs.size(), shape.partitions);
  }
  const auto comm_r_old = field_element(complaints, "comm_r_old", request.comm_r_old, kHint);
  const auto comm_r_new = field_element(complaints, "comm_r_new", request.comm_r_new, kHint);
  const auto comm_d_new = field_element(complaints, "comm_d_new", request.comm_d_new, kHint);
  complaints.throw_if_any();
  return {.sector_size = size,
          .comm_r_old = *comm_r_old,
          .comm_d_new = *comm_d_new,
          .comm_r_new = *comm_r_new,
          .h = shape.h_default};
}

ProofRequest update_proof_request(const JobRequest& request) {
  const filecoin::update::Statement statement = examine_update(request);
  return Complaints(request).blame_request("vanilla proof", [&] {
    return update_request(statement, filecoin::update::decode_vanilla_proofs(
                                         request.vanilla_proofs, statement.sector_size));
  });
}

std::uint64_t payload_bytes(const JobRequest& request) {
  std::uint64_t sum = request.vanilla_proof.size();
  for (const base::Bytes& blob : request.vanilla_proofs) sum += blob.size();
  return sum;
}

/// Throws kBadVanilla unless `bad` is empty.
void require_none(const JobRequest& request, const std::vector<BadEntry>& bad,
                  filecoin::ProofCount count) {
  if (bad.empty()) return;
  constexpr std::string_view kPrefix = "BAD-VANILLA: ";
  std::string text = filecoin::bad_vanilla_message(bad, count);
  if (text.starts_with(kPrefix)) text.erase(0, kPrefix.size());
  Complaints(request).fail(ErrorCode::kBadVanilla, text);
}

class FilecoinPreparation final : public Preparation {
 public:
  CircuitId examine(const JobRequest& request) override {
    switch (request.kind) {
      case ProofKind::kPorep:
        return examine_porep(request);
      case ProofKind::kSnap:
        return {CircuitKind::kUpdate, examine_update(request).sector_size};
      case ProofKind::kWindowPost:
        return {CircuitKind::kWindowPost, examine_post(request).size};
      case ProofKind::kWinningPost:
        return {CircuitKind::kWinningPost, examine_post(request).size};
    }
    Complaints(request).fail(ErrorCode::kBadInput,
                             fmt::format("proof_kind {} is unknown: 1 is PoRep, 2 SnapDeals, 3 "
                                         "WindowPoSt, 4 WinningPoSt",
                                         static_cast<unsigned>(request.kind)));
  }

  PreparedJob check(const JobRequest& request) override {
    const CircuitId circuit = examine(request);
    switch (request.kind) {
      case ProofKind::kPorep: {
        auto output = decode_porep(request, circuit.size);
        compare_porep(request, output);
        const std::size_t per_partition =
            filecoin::porep_shape(output.sector_size).challenges_per_partition;
        require_none(request, filecoin::porep::check_vanilla_proofs(output),
                     {output.partitions.size() * per_partition, per_partition});
        return finish(request, porep_request(std::move(output)));
      }
      case ProofKind::kSnap: {
        const filecoin::update::Statement statement = examine_update(request);
        const filecoin::UpdateShape shape = filecoin::update_shape(statement.sector_size);
        require_none(request,
                     filecoin::update::check_vanilla_blobs(statement, request.vanilla_proofs),
                     {std::size_t{shape.partitions} * shape.challenges_per_partition,
                      shape.challenges_per_partition});
        return finish(request, update_proof_request(request));
      }
      case ProofKind::kWindowPost:
      case ProofKind::kWinningPost:
        require_none(request, check_post(request),
                     {request.vanilla_proofs.size(), request.vanilla_proofs.size()});
        return finish(request, post_proof_request(request));
    }
    throw EngineError(ErrorCode::kInternal, "a kind that examine() let pass");
  }

  PreparedJob decode(const JobRequest& request) override {
    switch (request.kind) {
      case ProofKind::kPorep:
        return finish(request, porep_request(decode_porep(request, examine(request).size)));
      case ProofKind::kSnap:
        return finish(request, update_proof_request(request));
      default:
        return finish(request, post_proof_request(request));
    }
  }

 private:
  // A C1 output is a quarter of its text, the bincode of the others as large as what is decoded;
  // both are rounded up.
  static PreparedJob finish(const JobRequest& request, ProofRequest made) {
    std::uint64_t bytes = request.kind == ProofKind::kPorep ? payload_bytes(request) / 3
                                                            : payload_bytes(request) * 5 / 4;
    for (const auto& inputs : made.statement.public_inputs) bytes += inputs.size() * Fr::kBytes;
    return {.public_inputs = std::move(made.statement.public_inputs),
            .witness = std::move(made.witness),
            .bytes = bytes};
  }
};

}  // namespace

std::unique_ptr<Preparation> make_filecoin_preparation() {
  return std::make_unique<FilecoinPreparation>();
}

}  // namespace cuzk::engine
