#include "base/error.hpp"
#include "base/stage_timer.hpp"
#include "cli/backend.hpp"
#include "cli/client_options.hpp"
#include "cli/commands.hpp"
#include "cli/daemon_proof.hpp"
#include "cli/input_file.hpp"
#include "cli/key_store.hpp"
#include "cli/load/options.hpp"
#include "cli/load/payload.hpp"
#include "cli/proof_pipeline.hpp"
#include "cli/proof_request.hpp"
#include "cli/shape_cache.hpp"
#include "groth16/prover.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace cuzk::cli {

namespace {

struct ProveOptions {
  std::string kind, c1, vanilla, meta, meta_section, params_dir, out, trace;
  BackendOptions backend;
  std::string cache_dir = default_cache_folder().string();
  std::string insecure_r, insecure_s;
  service::ClientOptions daemon;
  unsigned timeout = 0;  // seconds
};

void require_porep_matches(const ProveOptions& options, const filecoin::Meta& meta,
                           const Statement& statement) {
  const Statement known =
      blame_file(options.meta, [&] { return make_statement(ProofKind::kPorep, meta); });
  base::require(known.circuit.size == statement.circuit.size &&
                    known.public_inputs == statement.public_inputs,
                "{}: its public values are not those of {}", options.meta, options.c1);
}

void require_files(ProofKind kind, const ProveOptions& options) {
  if (kind == ProofKind::kPorep) {
    base::require(!options.c1.empty() && options.vanilla.empty(), "prove porep takes --c1");
  } else {
    base::require(!options.vanilla.empty() && !options.meta.empty() && options.c1.empty(),
                  "prove {} takes --vanilla and --meta", to_string(kind));
  }
}

ProofRequest read_porep(const ProveOptions& options) {
  const filecoin::Meta meta =
      options.meta.empty() ? filecoin::Meta{} : read_meta_file(options.meta);
  ProofRequest request = read_input(options.c1, [&](base::ByteView bytes) {
    return porep_request(base::as_text(bytes), meta.sector_size);
  });
  if (!options.meta.empty()) require_porep_matches(options, meta, request.statement);
  return request;
}

ProofRequest read_request(ProofKind kind, const ProveOptions& options) {
  require_files(kind, options);
  if (kind == ProofKind::kPorep) return read_porep(options);
  const filecoin::Meta meta = read_meta_file(options.meta);
  return read_input(options.vanilla, [&](base::ByteView bytes) {
    return vanilla_request(kind, bytes, meta, options.meta_section);
  });
}

/// The same for a daemon.
engine::JobRequest read_job(ProofKind kind, const ProveOptions& options) {
  require_files(kind, options);
  std::optional<filecoin::Meta> meta;
  if (!options.meta.empty()) {
    meta = read_meta_file(options.meta);
    if (kind == ProofKind::kPorep) read_porep(options);  // compares with it
  }
  const std::string& vanilla = kind == ProofKind::kPorep ? options.c1 : options.vanilla;
  return read_input(vanilla, [&](base::ByteView bytes) {
    return load::to_request(load::parse_kind(options.kind), bytes, meta, options.meta_section);
  });
}

curve::Fr parse_scalar(const std::string& hex, std::string_view option) {
  const auto bytes = base::bytes32_from_hex(hex);
  base::require(bytes.has_value(), "{}: not 64 hex digits", option);
  const auto value = curve::Fr::from_bytes_le(*bytes);
  base::require(value.has_value(), "{}: not below the field's modulus", option);
  return *value;
}

groth16::Blinding make_blinding(const ProveOptions& options) {
  if (options.insecure_r.empty() && options.insecure_s.empty()) return groth16::Blinding::random();
  base::require(!options.insecure_r.empty() && !options.insecure_s.empty(),
                "--insecure-test-r and --insecure-test-s go together");
  fmt::print(stderr, "cuzk: WARNING: fixed blinding: the proof does not hide the witness\n");
  return {parse_scalar(options.insecure_r, "--insecure-test-r"),
          parse_scalar(options.insecure_s, "--insecure-test-s")};
}

void write_file(const std::string& path, base::ByteView bytes) {
  base::FileWriter writer(path);
  writer.write(bytes);
  writer.commit();
}

/// Prints the table of stages as it grows, and keeps it for the file.
class StageTable {
 public:
  void add(std::string_view stage, double ms, std::string_view indent = "") {
    print(fmt::format("{}{}", indent, stage), ms);
    trace_.push_back({{"stage", stage}, {"ms", ms}});
  }
  void end(std::string_view what, double ms, const std::string& path) {
    print(what, ms);
    load::write_json(path, trace_);
  }

 private:
  static void print(std::string_view what, double ms) {
    fmt::print(stderr, "  {:<24} {:>10.1f} ms\n", what, ms);
  }

  nlohmann::ordered_json trace_ = nlohmann::ordered_json::array();
};

void report_stages(const base::StageTimer& timer, const ProveOptions& options) {
  StageTable table;
  double sum = 0;
  for (const base::StageTimer::Entry& entry : timer.entries()) {
    const double ms = std::chrono::duration<double, std::milli>(entry.time).count();
    table.add(entry.stage, ms);
    sum += ms;
  }
  table.end("all stages", sum, options.trace);
}

void prove_through_daemon(const ProveOptions& options) {
  const engine::JobRequest job = read_job(parse_proof_kind(options.kind), options);
  const DaemonProof made =
      prove_by_daemon(options.daemon, job, std::chrono::seconds(options.timeout));
  write_file(options.out, made.proof);
  StageTable table;
  for (const DaemonProof::Stage& stage : made.stages)
    table.add(stage.name, stage.ms, stage.is_part ? "  " : "");
  table.end(fmt::format("request to proof, {}", made.backend), made.total_ms, options.trace);
}

void prove_here(const ProveOptions& options) {
  const ProofKind kind = parse_proof_kind(options.kind);
  base::require(!options.params_dir.empty(),
                "give the folder of the parameter files (--params-dir), or a daemon's address "
                "(--addr)");
  chosen_backend(options.backend);  // complains before the work, like the next two
  parse_quotient(options.backend.quotient);
  make_blinding(options);
  base::StageTimer timer;
  const ProofRequest request = timer.measure("parse", [&] { return read_request(kind, options); });
  const Statement& statement = request.statement;
  const r1cs::Shape shape = timer.measure("shape", [&] {
    return cached_shape(options.cache_dir, statement.circuit.kind, statement.circuit.size);
  });
  const KeyPaths paths(options.params_dir, statement.circuit.kind, statement.circuit.size);
  LoadedProver prover = timer.measure("srs_load", [&] {
    return load_prover(paths, statement.circuit.kind, statement.circuit.size, shape,
                       options.backend.for_partitions(statement.public_inputs.size()));
  });
  const std::vector<ProvedPartition> partitions =
      prove_partitions(shape, prover, request, statement.public_inputs.size(),
                       [&] { return make_blinding(options); });
  std::vector<groth16::Proof> proofs;
  for (const ProvedPartition& partition : partitions) {
    proofs.push_back(partition.proof);
    for (const base::StageTimer::Entry& entry : partition.timer.entries())
      timer.add(entry.stage, entry.time);
  }
  write_file(options.out, groth16::encode_proofs(proofs));
  report_stages(timer, options);
}

/// ProveOptions of proving in this process, and those of having a daemon do it: never both.
void add_place_options(CLI::App& command, ProveOptions& options) {
  const std::size_t shared = command.get_options().size();
  command.add_option("--params-dir", options.params_dir, "Folder of the parameter files");
  add_backend_options(command, options.backend);
  command
      .add_option("--cache-dir", options.cache_dir,
                  "Folder for circuits' shapes, which any run can make again; \"\": none")
      ->capture_default_str();
  command.add_option("--insecure-test-r", options.insecure_r,
                     "Fixed blinding r, 32 bytes little-endian in hex: for tests only");
  command.add_option("--insecure-test-s", options.insecure_s, "Fixed blinding s: for tests only");
  std::vector<CLI::Option*> here = command.get_options();
  here.erase(here.begin(), here.begin() + static_cast<std::ptrdiff_t>(shared));

  CLI::Option* address = command.add_option("--addr", options.daemon.address,
                                            "Where the daemon listens: unix:///path, host:port");
  std::vector<CLI::Option*> there = add_client_options(command, options.daemon);
  there.push_back(command.add_option("--timeout", options.timeout, "Seconds; 0: no limit"));
  for (CLI::Option* option : here) option->excludes(address)->group("In this process");
  for (CLI::Option* option : there) option->needs(address)->group("Through a daemon");
  address->group("Through a daemon");
}

}  // namespace

void add_prove_command(CLI::App& app) {
  auto options = std::make_shared<ProveOptions>();
  CLI::App* command = app.add_subcommand(
      "prove", "Make a proof from files, in this process or, with --addr, through a daemon");
  command->add_option("kind", options->kind, "porep, winning-post, window-post or snap")
      ->required();
  command->add_option("--c1", options->c1, "C1 output of a PoRep, bare or in its envelope");
  command->add_option("--vanilla", options->vanilla,
                      "Vanilla proofs: a JSON array of base64 strings, or one raw blob");
  command->add_option("--meta", options->meta,
                      "JSON of public values; for porep optional, then compared");
  command->add_option("--meta-section", options->meta_section,
                      "PoSt of the meta file (default window or winning)");
  command->add_option("--out", options->out, "File for the proof")->required();
  command->add_option("--trace", options->trace, "File for the stages' times, JSON");
  add_place_options(*command, *options);
  command->callback([options] {
    if (options->daemon.address.empty()) {
      prove_here(*options);
    } else {
      prove_through_daemon(*options);
    }
  });
}

}  // namespace cuzk::cli
