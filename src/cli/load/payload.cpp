#include "cli/load/payload.hpp"

#include "base/error.hpp"
#include "cli/synthetic_vanilla.hpp"
#include "filecoin/ids.hpp"
#include "filecoin/registered_proof.hpp"
#include "filecoin/vanilla_file.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace cuzk::cli::load {

namespace {

using engine::JobRequest;
using engine::ProofKind;

constexpr std::array kKinds{
    std::pair{"porep", ProofKind::kPorep}, std::pair{"winning-post", ProofKind::kWinningPost},
    std::pair{"window-post", ProofKind::kWindowPost}, std::pair{"snap", ProofKind::kSnap}};

base::Bytes copy(base::ByteView bytes) { return {bytes.begin(), bytes.end()}; }
base::Bytes bytes_of(const curve::Fr& value) { return copy(value.to_bytes_le()); }

/// Inverse of filecoin::prover_id (LEB128, left aligned); absent where the id is no miner's.
std::optional<std::uint64_t> miner_of(const base::Bytes32& prover_id) {
  std::uint64_t miner = 0;
  unsigned shift = 0;
  for (const std::uint8_t byte : prover_id) {
    if (shift < 64) miner |= std::uint64_t{byte & 0x7fu} << shift;
    if ((byte & 0x80) == 0) break;
    shift += 7;
  }
  if (filecoin::prover_id(miner) != prover_id) return std::nullopt;
  return miner;
}

void fill_porep(JobRequest& request, base::ByteView c1, const std::optional<filecoin::Meta>& meta) {
  request.vanilla_proof = copy(c1);
  if (!meta || !meta->porep) return;
  if (const auto proof = meta->porep->registered_proof) {
    // A stand-in carries a larger proof's name, and a request must not contradict itself.
    const filecoin::SectorSize size = filecoin::info(*proof).sector_size;
    if (meta->sector_size.value_or(size) == size)
      request.registered_proof = static_cast<std::uint64_t>(*proof);
  }
  const auto miner = meta->prover_id ? miner_of(*meta->prover_id) : std::nullopt;
  if (miner && meta->porep->sector_number) {
    request.miner_id = *miner;
    request.sector_number = *meta->porep->sector_number;
  }
}

void fill_post(JobRequest& request, const filecoin::Meta& meta, std::string_view section) {
  const bool winning = request.kind == ProofKind::kWinningPost;
  const std::string name(!section.empty() ? section : winning ? "winning" : "window");
  const auto post = meta.posts.find(name);
  base::require(post != meta.posts.end(), "the meta file has no section '{}'", name);
  const filecoin::SectorSize size = *meta.sector_size;
  const auto version = post->second.api_version.value_or(filecoin::ApiVersion::k1_2);
  request.registered_proof = static_cast<std::uint64_t>(
      winning ? filecoin::winning_post_proof(size) : filecoin::window_post_proof(size, version));
  request.randomness = copy(post->second.randomness);
}

void fill_update(JobRequest& request, const filecoin::Meta& meta) {
  base::require(meta.update.has_value(), "the meta file has no section 'update'");
  request.registered_proof = static_cast<std::uint64_t>(filecoin::update_proof(*meta.sector_size));
  request.comm_r_old = bytes_of(meta.update->comm_r_old);
  request.comm_r_new = bytes_of(meta.update->comm_r_new);
  request.comm_d_new = bytes_of(meta.update->comm_d_new);
}

}  // namespace

std::uint64_t Payload::bytes() const {
  std::uint64_t sum = request.vanilla_proof.size();
  for (const base::Bytes& blob : request.vanilla_proofs) sum += blob.size();
  return sum;
}

ProofKind parse_kind(std::string_view name) {
  for (const auto& [known, kind] : kKinds) {
    if (name == known) return kind;
  }
  base::fail<base::InvalidInput>(
      "'{}' is no kind of proof; the kinds are porep, winning-post, window-post, snap", name);
}

std::string_view kind_name(ProofKind kind) {
  for (const auto& [name, known] : kKinds) {
    if (kind == known) return name;
  }
  return "unknown";
}

JobRequest to_request(ProofKind kind, base::ByteView vanilla,
                      const std::optional<filecoin::Meta>& meta, std::string_view section) {
  JobRequest request;
  request.kind = kind;
  if (meta && meta->sector_size) request.sector_size = meta->sector_size->bytes();
  if (kind == ProofKind::kPorep) {
    fill_porep(request, vanilla, meta);
    return request;
  }
  base::require(meta && meta->sector_size, "{} needs a meta file with the sector size",
                kind_name(kind));
  request.vanilla_proofs = filecoin::decode_vanilla_file(vanilla);
  if (meta->prover_id) request.miner_id = miner_of(*meta->prover_id).value_or(0);
  if (kind == ProofKind::kSnap) {
    fill_update(request, *meta);
  } else {
    fill_post(request, *meta, section);
  }
  return request;
}

Payload make_payload(JobRequest request, engine::Preparation& preparation) {
  const engine::CircuitId circuit = preparation.examine(request);
  auto public_inputs = preparation.decode(request).public_inputs;
  return {std::move(request), circuit, std::move(public_inputs)};
}

Payload synthetic_payload(const SyntheticPlan& plan, std::uint64_t seed,
                          engine::Preparation& preparation) {
  SyntheticOptions options;
  options.kind = kind_name(plan.kind);
  options.seed = seed;
  options.sectors = plan.sectors;
  const SyntheticVanilla vanilla = make_synthetic_vanilla(options, plan.size);
  return make_payload(
      to_request(plan.kind, base::as_bytes(vanilla.proof), filecoin::decode_meta(vanilla.meta)),
      preparation);
}

}  // namespace cuzk::cli::load
