#include "base/bytes.hpp"
#include "base/error.hpp"
#include "cli/commands.hpp"
#include "cli/input_file.hpp"
#include "filecoin/meta.hpp"
#include "filecoin/porep/vanilla_check.hpp"
#include "filecoin/post/vanilla_check.hpp"
#include "filecoin/post/vanilla_codec.hpp"
#include "filecoin/update/vanilla_check.hpp"
#include "filecoin/update/vanilla_codec.hpp"
#include "filecoin/vanilla_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cuzk::cli {

namespace {

using filecoin::BadEntry;
using filecoin::SectorSize;
using nlohmann::ordered_json;

struct VanillaOptions {
  std::string kind;
  std::string file;
  std::string meta;
  std::string meta_section;
  std::string sector_size;
  bool json = false;
};

/// What a check found.
struct Outcome {
  SectorSize sector_size;
  filecoin::ProofCount proofs;
  std::vector<BadEntry> bad;
  std::vector<std::string> not_compared;  ///< public values that were not given
};

filecoin::Meta read_meta(const VanillaOptions& options) {
  return options.meta.empty() ? filecoin::Meta{} : read_meta_file(options.meta);
}

/// The size that was asked for, by option or meta file.
std::optional<SectorSize> stated_size(const VanillaOptions& options, const filecoin::Meta& meta) {
  if (options.sector_size.empty()) return meta.sector_size;
  const SectorSize size = SectorSize::parse(options.sector_size);
  base::require(meta.sector_size.value_or(size) == size, "--sector-size is {}, but {} says {}",
                size.to_string(), options.meta, meta.sector_size.value_or(size).to_string());
  return size;
}

/// Else the one whose proofs have the length of the first blob, as by_length(blob) knows.
template <class ByLength>
SectorSize size_of(const VanillaOptions& options, const filecoin::Meta& meta,
                   const std::vector<base::Bytes>& blobs, ByLength&& by_length) {
  base::require(!blobs.empty(), "{}: no vanilla proof in it", options.file);
  if (const auto size = stated_size(options, meta)) return *size;
  const auto size = by_length(blobs.front());
  base::require(
      size.has_value(),
      "{}: a {} proof of {} bytes is of no sector size; give --sector-size to learn what is wrong",
      options.file, options.kind, blobs.front().size());
  return *size;
}

std::vector<base::Bytes> read_blobs(const VanillaOptions& options) {
  return read_input(options.file, filecoin::decode_vanilla_file);
}

// porep

filecoin::porep::SealCommitPhase1Output read_commit_phase1(const VanillaOptions& options,
                                                           const filecoin::Meta& meta) {
  return read_input(options.file, [&](base::ByteView bytes) {
    return filecoin::porep::decode_commit_phase1(base::as_text(bytes), stated_size(options, meta));
  });
}

Outcome check_porep(const VanillaOptions& options, const filecoin::Meta& meta) {
  const auto output = read_commit_phase1(options, meta);
  const filecoin::Meta::Porep none, &known = meta.porep ? *meta.porep : none;
  const std::size_t per_partition =
      filecoin::porep_shape(output.sector_size).challenges_per_partition;
  Outcome outcome{.sector_size = output.sector_size,
                  .proofs = {output.partitions.size() * per_partition, per_partition},
                  .bad = {},
                  .not_compared = {}};
  if (known.registered_proof && *known.registered_proof != output.registered_proof) {
    filecoin::Findings whole;
    whole.add("registered_proof", "it is {}, the meta file says {}",
              filecoin::info(output.registered_proof).name,
              filecoin::info(*known.registered_proof).name);
    outcome.bad = whole.take();
  }
  const auto bad =
      filecoin::porep::check_vanilla_proofs(output, {.prover_id = meta.prover_id,
                                                     .sector_number = known.sector_number,
                                                     .comm_r = known.comm_r,
                                                     .comm_d = known.comm_d,
                                                     .replica_id = known.replica_id,
                                                     .seed = known.seed,
                                                     .ticket = known.ticket});
  outcome.bad.insert(outcome.bad.end(), bad.begin(), bad.end());
  const bool sector = known.sector_number || output.sector_number;
  if (!meta.prover_id || !sector)
    outcome.not_compared.push_back("replica_id (needs prover id and sector number)");
  if (!known.comm_r) outcome.not_compared.push_back("comm_r");
  if (!known.comm_d) outcome.not_compared.push_back("comm_d");
  if (!known.seed) outcome.not_compared.push_back("seed");
  return outcome;
}

ordered_json describe_porep(const VanillaOptions& options, const filecoin::Meta& meta) {
  const auto output = read_commit_phase1(options, meta);
  const filecoin::SealProofInfo& proof = filecoin::info(output.registered_proof);
  ordered_json out = {{"kind", options.kind},
                      {"registered_proof", proof.name},
                      {"api_version", filecoin::to_string(proof.api_version)},
                      {"sector_size", output.sector_size.to_string()},
                      {"sector_number",
                       output.sector_number ? ordered_json(*output.sector_number) : ordered_json()},
                      {"comm_r", to_hex(output.comm_r)},
                      {"comm_d", to_hex(output.comm_d)},
                      {"replica_id", to_hex(output.replica_id)},
                      {"seed", base::to_hex(output.seed)},
                      {"ticket", base::to_hex(output.ticket)},
                      {"partitions", ordered_json::array()}};
  for (const auto& partition : output.partitions) {
    ordered_json challenges = ordered_json::array();
    for (const auto& vanilla : partition) challenges.push_back(vanilla.challenge);
    out["partitions"].push_back({{"challenges", std::move(challenges)}});
  }
  return out;
}

// winning-post, window-post

bool is_winning(const VanillaOptions& options) { return options.kind == "winning-post"; }
unsigned challenges_of(const VanillaOptions& options) {
  return is_winning(options) ? filecoin::kWinningPostChallenges : filecoin::kWindowPostChallenges;
}

SectorSize post_size(const VanillaOptions& options, const filecoin::Meta& meta,
                     const std::vector<base::Bytes>& blobs) {
  return size_of(options, meta, blobs, [&](base::ByteView blob) {
    return filecoin::post::sector_size_of(blob, challenges_of(options));
  });
}

Outcome check_post(const VanillaOptions& options, const filecoin::Meta& meta) {
  const auto blobs = read_blobs(options);
  filecoin::post::PublicValues known{.sector_size = post_size(options, meta, blobs),
                                     .winning = is_winning(options),
                                     .randomness = std::nullopt,
                                     .sectors = std::nullopt};
  Outcome outcome{.sector_size = known.sector_size,
                  .proofs = {blobs.size(), blobs.size()},
                  .bad = {},
                  .not_compared = {}};
  const std::string section = !options.meta_section.empty() ? options.meta_section
                              : is_winning(options)         ? "winning"
                                                            : "window";
  if (const auto post = meta.posts.find(section); post != meta.posts.end()) {
    known.api_version = post->second.api_version.value_or(filecoin::ApiVersion::k1_2);
    known.randomness = post->second.randomness;
    known.sectors = post->second.sectors;
  } else {
    base::require(options.meta.empty(),
                  "{}: no \"{}\" in it; name the member to use with --meta-section", options.meta,
                  section);
    outcome.not_compared = {"the challenged leaves (need the randomness)", "sector numbers",
                            "comm_r"};
  }
  outcome.bad = filecoin::post::check_vanilla_blobs(known, blobs);
  return outcome;
}

ordered_json describe_post(const VanillaOptions& options, const filecoin::Meta& meta) {
  const auto blobs = read_blobs(options);
  const SectorSize size = post_size(options, meta, blobs);
  ordered_json out = {{"kind", options.kind},
                      {"sector_size", size.to_string()},
                      {"sectors", ordered_json::array()}};
  const auto proofs = blame_file(options.file, [&] {
    return filecoin::post::decode_vanilla_proofs(blobs, size, challenges_of(options));
  });
  for (const auto& proof : proofs) {
    ordered_json leaves = ordered_json::array();
    for (const auto& inclusion : proof.inclusions)
      leaves.push_back(inclusion.leaf_index(filecoin::tree_r_shape(size)));
    out["sectors"].push_back({{"sector_number", proof.sector_number},
                              {"comm_r", to_hex(proof.comm_r)},
                              {"comm_c", to_hex(proof.comm_c)},
                              {"comm_r_last", to_hex(proof.comm_r_last)},
                              {"challenges", std::move(leaves)}});
  }
  return out;
}

// snap

Outcome check_snap(const VanillaOptions& options, const filecoin::Meta& meta) {
  const auto blobs = read_blobs(options);
  const SectorSize size = size_of(options, meta, blobs, filecoin::update::sector_size_of);
  const filecoin::UpdateShape shape = filecoin::update_shape(size);
  Outcome outcome{
      .sector_size = size,
      .proofs = {blobs.size() * shape.challenges_per_partition, shape.challenges_per_partition},
      .bad = {},
      .not_compared = {}};
  if (meta.update) {
    const filecoin::update::Statement statement{.sector_size = size,
                                                .comm_r_old = meta.update->comm_r_old,
                                                .comm_d_new = meta.update->comm_d_new,
                                                .comm_r_new = meta.update->comm_r_new,
                                                .h = meta.update->h.value_or(shape.h_default)};
    outcome.bad = filecoin::update::check_vanilla_blobs(statement, blobs);
  } else {
    base::require(options.meta.empty(), "{}: no \"update\" in it", options.meta);
    const auto first = blame_file(options.file, [&] {
      return filecoin::update::decode_vanilla_proofs(std::span(blobs).first(1), size);
    });
    outcome.bad = filecoin::update::check_vanilla_blobs(
        filecoin::update::implied_statement(size, first), blobs);
    outcome.not_compared = {"comm_r_old", "comm_d_new", "comm_r_new"};
  }
  return outcome;
}

ordered_json describe_snap(const VanillaOptions& options, const filecoin::Meta& meta) {
  const auto blobs = read_blobs(options);
  const SectorSize size = size_of(options, meta, blobs, filecoin::update::sector_size_of);
  ordered_json out = {{"kind", options.kind},
                      {"sector_size", size.to_string()},
                      {"partitions", ordered_json::array()}};
  const auto proofs = blame_file(
      options.file, [&] { return filecoin::update::decode_vanilla_proofs(blobs, size); });
  for (const auto& proof : proofs) {
    ordered_json leaves = ordered_json::array();
    for (const auto& challenge : proof.challenges)
      leaves.push_back(challenge.d_new.leaf_index(filecoin::tree_d_shape(size)));
    const auto& first = proof.challenges.front();
    out["partitions"].push_back({{"comm_c", to_hex(proof.comm_c)},
                                 {"comm_r_last_old", to_hex(first.r_old.root)},
                                 {"comm_d_new", to_hex(first.d_new.root)},
                                 {"comm_r_last_new", to_hex(first.r_new.root)},
                                 {"apex_leaves", proof.apex_leaves.size()},
                                 {"challenges", std::move(leaves)}});
  }
  return out;
}

// the commands

ordered_json to_json(const VanillaOptions& options, const Outcome& outcome) {
  ordered_json bad = ordered_json::array();
  const auto optional = [](const auto& value) {
    return value ? ordered_json(*value) : ordered_json();
  };
  for (const BadEntry& entry : outcome.bad) {
    bad.push_back({{"partition", optional(entry.partition)},
                   {"index", optional(entry.index)},
                   {"sector", optional(entry.sector)},
                   {"where", entry.where},
                   {"what", entry.what}});
  }
  return {{"kind", options.kind},           {"sector_size", outcome.sector_size.to_string()},
          {"proofs", outcome.proofs.total}, {"ok", outcome.bad.empty()},
          {"bad", std::move(bad)},          {"not_compared", outcome.not_compared}};
}

void check(const VanillaOptions& options) {
  const filecoin::Meta meta = read_meta(options);
  const Outcome outcome = options.kind == "porep"  ? check_porep(options, meta)
                          : options.kind == "snap" ? check_snap(options, meta)
                                                   : check_post(options, meta);
  if (options.json) {
    fmt::print("{}\n", to_json(options, outcome).dump(1));
  } else {
    for (const BadEntry& entry : outcome.bad) fmt::print("bad: {}\n", filecoin::to_string(entry));
    for (const std::string& value : outcome.not_compared)
      fmt::print("not compared, for want of a value: {}\n", value);
    if (outcome.bad.empty()) {
      fmt::print("{}: {} {}: all {} proofs hold\n", options.file, options.kind,
                 outcome.sector_size.to_string(), outcome.proofs.total);
    }
  }
  if (!outcome.bad.empty())
    throw base::InvalidInput(filecoin::bad_vanilla_message(outcome.bad, outcome.proofs));
}

void print_text(const ordered_json& value, unsigned indent) {
  for (const auto& [key, member] : value.items()) {
    if (member.is_array() && !member.empty() && member.front().is_object()) {
      for (std::size_t i = 0; i < member.size(); ++i) {
        fmt::print("{:{}}{}[{}]\n", "", indent, key, i);
        print_text(member[i], indent + 2);
      }
    } else {
      fmt::print("{:{}}{:<17} {}\n", "", indent, key,
                 member.is_string() ? member.get<std::string>() : member.dump());
    }
  }
}

void info(const VanillaOptions& options) {
  const filecoin::Meta meta = read_meta(options);
  const ordered_json out = options.kind == "porep"  ? describe_porep(options, meta)
                           : options.kind == "snap" ? describe_snap(options, meta)
                                                    : describe_post(options, meta);
  if (options.json) {
    fmt::print("{}\n", out.dump(1));
  } else {
    print_text(out, 0);
  }
}

void add(CLI::App& parent, const char* name, const char* description,
         void (*run)(const VanillaOptions&)) {
  auto options = std::make_shared<VanillaOptions>();
  CLI::App* command = parent.add_subcommand(name, description);
  command->add_option("--kind", options->kind, "porep, winning-post, window-post or snap")
      ->required()
      ->check(CLI::IsMember({"porep", "winning-post", "window-post", "snap"}));
  command
      ->add_option("file", options->file,
                   "porep: C1 output, bare or in Curio's envelope; else a JSON array of base64 "
                   "strings, or one raw proof")
      ->required()
      ->check(CLI::ExistingFile);
  command->add_option("--meta", options->meta, "JSON of public values")->check(CLI::ExistingFile);
  command->add_option("--meta-section", options->meta_section,
                      "PoSt: member of the meta file to compare with (default: window or winning)");
  command->add_option("--sector-size", options->sector_size,
                      "2KiB ... 64GiB (default: what the meta file or the proof says)");
  command->add_flag("--json", options->json, "Machine-readable output");
  command->callback([options, run] { run(*options); });
}

}  // namespace

void add_vanilla_command(CLI::App& app) {
  CLI::App* vanilla =
      app.add_subcommand("vanilla", "Looks into vanilla proofs and verifies them natively");
  vanilla->require_subcommand(1);
  add(*vanilla, "check", "Verifies a vanilla proof natively; names everything that is wrong",
      check);
  add(*vanilla, "info", "Prints what a vanilla proof holds", info);
}

}  // namespace cuzk::cli
