#include "filecoin/post/vanilla_check.hpp"

#include "base/parallel.hpp"
#include "filecoin/ids.hpp"
#include "filecoin/post/challenges.hpp"
#include "filecoin/post/vanilla_codec.hpp"

namespace cuzk::filecoin::post {

namespace {

unsigned challenge_count(const PublicValues& known) {
  return known.winning ? kWinningPostChallenges : kWindowPostChallenges;
}

/// The number of the sector whose proof stands at a place, if that is given.
std::optional<std::uint64_t> known_sector(const PublicValues& known, std::size_t place) {
  if (!known.sectors || place >= known.sectors->size()) return std::nullopt;
  return (*known.sectors)[place].number;
}

/// The number that a blob starts with, if it is that long.
std::optional<std::uint64_t> stated_sector(base::ByteView blob) {
  if (blob.size() < sizeof(std::uint64_t)) return std::nullopt;
  return base::load_u64_le(blob.data());
}

std::vector<BadEntry> check_sector(const PublicValues& known, const VanillaProof& proof,
                                   std::size_t place) {
  const TreeShape shape = tree_r_shape(known.sector_size);
  const std::uint64_t number = proof.sector_number;
  Findings findings(std::nullopt, place, number);
  if (known.sectors && place < known.sectors->size()) {
    const Sector& sector = (*known.sectors)[place];
    if (number != sector.number)
      findings.add("sector_id", "sector {} was to be proved here", sector.number);
    if (proof.comm_r != sector.comm_r) findings.add("comm_r", "it is not the sector's comm_r");
  }
  if (comm_r(proof.comm_c, proof.comm_r_last) != proof.comm_r) {
    findings.add("comm_r", "it is not the hash of comm_c and comm_r_last");
  }
  const std::size_t count = challenge_count(known);
  if (proof.inclusions.size() != count) {
    findings.add("inclusion_proofs", "{} paths, {} expected", proof.inclusions.size(), count);
    return findings.take();
  }
  std::vector<std::uint64_t> leaves;
  if (known.randomness) {
    leaves = known.winning
                 ? winning_challenges(known.sector_size, *known.randomness, number)
                 : window_challenges(known.sector_size, known.api_version, *known.randomness,
                                     number, known.first_position + place);
  }
  for (std::size_t n = 0; n < count; ++n) {
    const InclusionProof& inclusion = proof.inclusions[n];
    // Without randomness any leaf will do; check_inclusion refuses a path that is too short to have
    // an index.
    const bool fits = inclusion.positions.size() == shape.levels();
    const std::uint64_t leaf = known.randomness ? leaves[n]
                               : fits           ? inclusion.leaf_index(shape)
                                                : 0;
    check_inclusion(findings, fmt::format("inclusion_proofs[{}]", n), inclusion,
                    {shape, TreeHash::kPoseidon, leaf, proof.comm_r_last, "comm_r_last"});
  }
  return findings.take();
}

std::vector<BadEntry> check_blob(const PublicValues& known, base::ByteView blob,
                                 std::size_t place) {
  VanillaProof proof;
  try {
    proof = decode_vanilla_proof(blob, known.sector_size, challenge_count(known));
  } catch (const base::InvalidInput& error) {
    const auto number = known_sector(known, place);
    Findings findings(std::nullopt, place, number ? number : stated_sector(blob));
    findings.add("", "{}", error.what());
    return findings.take();
  }
  return check_sector(known, proof, place);
}

using SectorNumbers = std::vector<std::optional<std::uint64_t>>;

/// The verifier keeps the sectors of a WindowPoSt in a map by number, so a proof over any other
/// sequence is of other public inputs than the ones it derives.
/// [rust-fil-proofs filecoin-proofs/src/api/window_post.rs verify_window_post]
std::vector<BadEntry> check_order(const SectorNumbers& numbers, std::size_t place) {
  Findings findings(std::nullopt, place, numbers[place]);
  if (place > 0 && numbers[place - 1] && numbers[place] && *numbers[place] <= *numbers[place - 1]) {
    findings.add("sector_id",
                 "sector {} after {}: the verifier takes sectors in ascending order, each once",
                 *numbers[place], *numbers[place - 1]);
  }
  return findings.take();
}

/// Runs check(place) for the proof of each of the sectors, in parallel, after what concerns all of
/// them. A number is absent where the proof does not say it.
template <class Check>
std::vector<BadEntry> check_all(const PublicValues& known, const SectorNumbers& numbers,
                                Check&& check) {
  const std::size_t count = numbers.size();
  Findings whole;
  if (count == 0) whole.add("", "no vanilla proof");
  if (known.winning && count > 1) whole.add("", "{} sectors in a WinningPoSt, 1 expected", count);
  if (known.sectors && known.sectors->size() != count) {
    whole.add("", "{} vanilla proofs for {} sectors", count, known.sectors->size());
  }
  if (known.randomness && !curve::Fr::from_bytes_le(*known.randomness)) {
    whole.add("randomness",
              "{} is no field element: the two top bits of the last byte must be cleared",
              base::to_hex(*known.randomness));
  }
  std::vector<std::vector<BadEntry>> parts(1 + 2 * count);
  parts[0] = whole.take();
  base::parallel_for(count, [&](std::size_t place) {
    if (!known.winning) parts[1 + 2 * place] = check_order(numbers, place);
    parts[2 + 2 * place] = check(place);
  });
  return join(std::move(parts));
}

}  // namespace

std::vector<BadEntry> check_vanilla_proofs(const PublicValues& known,
                                           std::span<const VanillaProof> proofs) {
  SectorNumbers numbers;
  for (const VanillaProof& proof : proofs) numbers.emplace_back(proof.sector_number);
  return check_all(known, numbers,
                   [&](std::size_t i) { return check_sector(known, proofs[i], i); });
}

std::vector<BadEntry> check_vanilla_blobs(const PublicValues& known,
                                          std::span<const base::Bytes> blobs) {
  SectorNumbers numbers;
  for (const base::Bytes& blob : blobs) numbers.push_back(stated_sector(blob));
  return check_all(known, numbers, [&](std::size_t i) { return check_blob(known, blobs[i], i); });
}

}  // namespace cuzk::filecoin::post
