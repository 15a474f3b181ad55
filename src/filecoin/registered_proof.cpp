#include "filecoin/registered_proof.hpp"

#include "base/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

namespace cuzk::filecoin {

namespace {

/// The sizes that have registered proofs, in the order of their numbers within each family of five.
constexpr std::array<std::string_view, 5> kSizes = {"2KiB", "8MiB", "512MiB", "32GiB", "64GiB"};
constexpr std::uint64_t kProductionBytes = std::uint64_t{32} << 30;

std::vector<SealProofInfo> make_seal_proofs() {
  struct Family {
    std::string_view suffix;
    ApiVersion version;
    PorepFeature feature;
  };
  constexpr std::array<Family, 4> kFamilies = {{
      {"V1", ApiVersion::k1_0, PorepFeature::kInteractive},
      {"V1_1", ApiVersion::k1_1, PorepFeature::kInteractive},
      {"V1_1_Feat_SyntheticPoRep", ApiVersion::k1_2, PorepFeature::kSynthetic},
      {"V1_2_Feat_NonInteractivePoRep", ApiVersion::k1_2, PorepFeature::kNonInteractive},
  }};
  std::vector<SealProofInfo> out;
  for (const Family& family : kFamilies) {
    const bool non_interactive = family.feature == PorepFeature::kNonInteractive;
    for (const std::string_view size_name : kSizes) {
      const SectorSize size = SectorSize::parse(size_name);
      const bool production = size.bytes() >= kProductionBytes;
      out.push_back(
          {.proof = static_cast<RegisteredSealProof>(out.size()),
           .name = fmt::format("StackedDrg{}{}", size_name, family.suffix),
           .sector_size = size,
           .api_version = family.version,
           .feature = family.feature,
           .partitions = non_interactive ? (production ? 126u : 13u) : (production ? 10u : 1u),
           .minimum_challenges =
               non_interactive ? (production ? 2253u : 26u) : (production ? 176u : 2u),
           .vanilla_key = fmt::format("StackedDrg{}V1", size_name)});
    }
  }
  return out;
}

std::vector<PostProofInfo> make_post_proofs() {
  struct Family {
    std::string_view prefix, suffix;
    ApiVersion version;
    bool winning;
  };
  constexpr std::array<Family, 3> kFamilies = {{
      {"Winning", "V1", ApiVersion::k1_0, true},
      {"Window", "V1", ApiVersion::k1_0, false},
      {"Window", "V1_2", ApiVersion::k1_2, false},
  }};
  std::vector<PostProofInfo> out;
  for (const Family& family : kFamilies) {
    for (const std::string_view size_name : kSizes) {
      out.push_back(
          {.proof = static_cast<RegisteredPoStProof>(out.size()),
           .name = fmt::format("StackedDrg{}{}{}", family.prefix, size_name, family.suffix),
           .sector_size = SectorSize::parse(size_name),
           .api_version = family.version,
           .winning = family.winning});
    }
  }
  return out;
}

std::vector<UpdateProofInfo> make_update_proofs() {
  std::vector<UpdateProofInfo> out;
  for (const std::string_view size_name : kSizes) {
    out.push_back({.proof = static_cast<RegisteredUpdateProof>(out.size()),
                   .name = fmt::format("StackedDrg{}V1", size_name),
                   .sector_size = SectorSize::parse(size_name)});
  }
  return out;
}

template <class Info>
std::string names(std::span<const Info> all) {
  std::vector<std::string> out;
  for (const Info& entry : all) {
    out.push_back(fmt::format("{} {}", static_cast<std::uint32_t>(entry.proof), entry.name));
  }
  return fmt::format("{}", fmt::join(out, ", "));
}

template <class Info>
const Info& entry_of(std::span<const Info> all, std::uint64_t number, std::string_view kind) {
  base::require(number < all.size(), "registered {} proof {} is unknown; known are {}", kind,
                number, names(all));
  return all[number];
}

template <class Info>
auto from_name(std::span<const Info> all, std::string_view name, std::string_view kind) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Info& entry) { return entry.name == name; });
  base::require(found != all.end(), "registered {} proof '{}' is unknown; known are {}", kind,
                base::excerpt(name, base::kMaxQuotedName), names(all));
  return found->proof;
}

template <class Info, class Predicate>
auto find(std::span<const Info> all, std::string_view wanted, Predicate&& predicate) {
  const auto found = std::find_if(all.begin(), all.end(), predicate);
  base::require(found != all.end(), "there is no {}; registered proofs are {}", wanted, names(all));
  return found->proof;
}

std::string_view name_of(PorepFeature feature) {
  constexpr std::array<std::string_view, 3> kNames = {"interactive", "synthetic",
                                                      "non-interactive"};
  return kNames[static_cast<std::size_t>(feature)];
}

constexpr std::array<std::string_view, 3> kApiVersions = {"1.0.0", "1.1.0", "1.2.0"};

}  // namespace

std::string_view to_string(ApiVersion version) {
  return kApiVersions[static_cast<std::size_t>(version)];
}

ApiVersion parse_api_version(std::string_view text) {
  const auto found = std::find(kApiVersions.begin(), kApiVersions.end(), text);
  base::require(found != kApiVersions.end(), "API version '{}' is unknown; known are {}",
                base::excerpt(text, base::kMaxQuotedName), fmt::join(kApiVersions, ", "));
  return static_cast<ApiVersion>(found - kApiVersions.begin());
}

std::span<const SealProofInfo> all_seal_proofs() {
  static const std::vector<SealProofInfo> all = make_seal_proofs();
  return all;
}

std::span<const PostProofInfo> all_post_proofs() {
  static const std::vector<PostProofInfo> all = make_post_proofs();
  return all;
}

std::span<const UpdateProofInfo> all_update_proofs() {
  static const std::vector<UpdateProofInfo> all = make_update_proofs();
  return all;
}

const SealProofInfo& info(RegisteredSealProof proof) {
  return entry_of(all_seal_proofs(), static_cast<std::uint64_t>(proof), "seal");
}
const PostProofInfo& info(RegisteredPoStProof proof) {
  return entry_of(all_post_proofs(), static_cast<std::uint64_t>(proof), "PoSt");
}
const UpdateProofInfo& info(RegisteredUpdateProof proof) {
  return entry_of(all_update_proofs(), static_cast<std::uint64_t>(proof), "update");
}

RegisteredSealProof seal_proof_from_number(std::uint64_t number) {
  return entry_of(all_seal_proofs(), number, "seal").proof;
}
RegisteredPoStProof post_proof_from_number(std::uint64_t number) {
  return entry_of(all_post_proofs(), number, "PoSt").proof;
}
RegisteredUpdateProof update_proof_from_number(std::uint64_t number) {
  return entry_of(all_update_proofs(), number, "update").proof;
}

RegisteredSealProof seal_proof_from_name(std::string_view name) {
  return from_name(all_seal_proofs(), name, "seal");
}

RegisteredPoStProof post_proof_from_name(std::string_view name) {
  for (const PostProofInfo& entry : all_post_proofs()) {
    if (entry.winning || entry.api_version != ApiVersion::k1_2) continue;
    if (name == fmt::format("StackedDrgWindow{}V1_1", entry.sector_size.to_string()))
      return entry.proof;
  }
  return from_name(all_post_proofs(), name, "PoSt");
}

RegisteredUpdateProof update_proof_from_name(std::string_view name) {
  return from_name(all_update_proofs(), name, "update");
}

RegisteredSealProof seal_proof(SectorSize size, ApiVersion version, PorepFeature feature) {
  const std::string wanted = fmt::format("{} PoRep of API {} for {}", name_of(feature),
                                         to_string(version), size.to_string());
  return find(all_seal_proofs(), wanted, [&](const SealProofInfo& entry) {
    return entry.sector_size == size && entry.api_version == version && entry.feature == feature;
  });
}

RegisteredPoStProof winning_post_proof(SectorSize size) {
  return find(
      all_post_proofs(), fmt::format("WinningPoSt for {}", size.to_string()),
      [&](const PostProofInfo& entry) { return entry.winning && entry.sector_size == size; });
}

RegisteredPoStProof window_post_proof(SectorSize size, ApiVersion version) {
  const std::string wanted =
      fmt::format("WindowPoSt of API {} for {}", to_string(version), size.to_string());
  return find(all_post_proofs(), wanted, [&](const PostProofInfo& entry) {
    return !entry.winning && entry.sector_size == size && entry.api_version == version;
  });
}

RegisteredUpdateProof update_proof(SectorSize size) {
  return find(all_update_proofs(), fmt::format("sector update for {}", size.to_string()),
              [&](const UpdateProofInfo& entry) { return entry.sector_size == size; });
}

}  // namespace cuzk::filecoin
