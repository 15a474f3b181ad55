#include "base/error.hpp"
#include "base/mapped_file.hpp"
#include "base/stage_timer.hpp"
#include "cli/backend.hpp"
#include "cli/commands.hpp"
#include "cli/key_store.hpp"
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

struct Options {
  std::string kind, c1, vanilla, meta, meta_section, params_dir, out, trace;
  BackendOptions backend;
  std::string cache_dir = default_cache_folder().string();
  std::string insecure_r, insecure_s;
};

std::string_view text_of(const base::MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

// Complaints about a file's content name the file.
template <class Read>
auto with_name(const std::string& path, Read&& read) {
  const base::MappedFile file(path);
  try {
    return read(file);
  } catch (const base::InvalidInput& error) {
    base::fail<base::InvalidInput>("{}: {}", path, error.what());
  }
}

void require_porep_matches(const Options& options, const Statement& statement) {
  const Statement known = with_name(options.meta, [&](const base::MappedFile& file) {
    return make_statement(ProofKind::kPorep, filecoin::decode_meta(text_of(file)));
  });
  base::require(known.size == statement.size && known.public_inputs == statement.public_inputs,
                "{}: its public values are not those of {}", options.meta, options.c1);
}

ProofRequest read_request(ProofKind kind, const Options& options) {
  if (kind == ProofKind::kPorep) {
    base::require(!options.c1.empty() && options.vanilla.empty(), "prove porep takes --c1");
    ProofRequest request = with_name(
        options.c1, [](const base::MappedFile& file) { return porep_request(text_of(file)); });
    if (!options.meta.empty()) require_porep_matches(options, request.statement);
    return request;
  }
  base::require(!options.vanilla.empty() && !options.meta.empty() && options.c1.empty(),
                "prove {} takes --vanilla and --meta", to_string(kind));
  const filecoin::Meta meta = with_name(options.meta, [](const base::MappedFile& file) {
    return filecoin::decode_meta(text_of(file));
  });
  return with_name(options.vanilla, [&](const base::MappedFile& file) {
    return vanilla_request(kind, file.bytes(), meta, options.meta_section);
  });
}

curve::Fr parse_scalar(const std::string& hex, std::string_view option) {
  const auto bytes = base::bytes32_from_hex(hex);
  base::require(bytes.has_value(), "{}: not 64 hex digits", option);
  const auto value = curve::Fr::from_bytes_le(*bytes);
  base::require(value.has_value(), "{}: not below the field's modulus", option);
  return *value;
}

groth16::Blinding make_blinding(const Options& options) {
  if (options.insecure_r.empty() && options.insecure_s.empty()) return groth16::Blinding::random();
  base::require(!options.insecure_r.empty() && !options.insecure_s.empty(),
                "--insecure-test-r and --insecure-test-s go together");
  fmt::print(stderr, "cuzk: WARNING: fixed blinding: the proof does not hide the witness\n");
  return {parse_scalar(options.insecure_r, "--insecure-test-r"),
          parse_scalar(options.insecure_s, "--insecure-test-s")};
}

void report_stages(const base::StageTimer& timer, const Options& options) {
  nlohmann::ordered_json trace = nlohmann::ordered_json::array();
  double sum = 0;
  for (const base::StageTimer::Entry& entry : timer.entries()) {
    const double ms = std::chrono::duration<double, std::milli>(entry.time).count();
    fmt::print(stderr, "  {:<20} {:>10.1f} ms\n", entry.stage, ms);
    trace.push_back({{"stage", entry.stage}, {"ms", ms}});
    sum += ms;
  }
  fmt::print(stderr, "  {:<20} {:>10.1f} ms\n", "all stages", sum);
  if (options.trace.empty()) return;
  base::FileWriter writer(options.trace);
  writer.write(base::as_bytes(trace.dump(1) + "\n"));
  writer.commit();
}

void prove(const Options& options) {
  const ProofKind kind = parse_proof_kind(options.kind);
  chosen_backend(options.backend);  // complains before the work, like the next two
  parse_quotient(options.backend.quotient);
  make_blinding(options);
  base::StageTimer timer;
  const ProofRequest request = timer.measure("parse", [&] { return read_request(kind, options); });
  const Statement& statement = request.statement;
  const r1cs::Shape shape = timer.measure(
      "shape", [&] { return cached_shape(options.cache_dir, statement.circuit, statement.size); });
  const KeyPaths paths(options.params_dir, statement.circuit, statement.size);
  LoadedProver prover = timer.measure("srs_load", [&] {
    return load_prover(paths, statement.circuit, statement.size, shape,
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
  base::FileWriter writer(options.out);
  writer.write(groth16::encode_proofs(proofs));
  writer.commit();
  report_stages(timer, options);
}

}  // namespace

void add_prove_command(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("prove", "Make a proof from files, without a daemon");
  command->add_option("kind", options->kind, "porep, winning-post, window-post or snap")
      ->required();
  command->add_option("--c1", options->c1, "C1 output of a PoRep, bare or in its envelope");
  command->add_option("--vanilla", options->vanilla,
                      "Vanilla proofs: a JSON array of base64 strings, or one raw blob");
  command->add_option("--meta", options->meta,
                      "JSON of public values; for porep optional, then compared");
  command->add_option("--meta-section", options->meta_section,
                      "PoSt of the meta file (default window or winning)");
  command->add_option("--params-dir", options->params_dir, "Folder of the parameter files")
      ->required();
  command->add_option("--out", options->out, "File for the proof")->required();
  add_backend_options(*command, options->backend);
  command
      ->add_option("--cache-dir", options->cache_dir,
                   "Folder for circuits' shapes, which any run can make again; \"\": none")
      ->capture_default_str();
  command->add_option("--trace", options->trace, "File for the stages' times, JSON");
  command->add_option("--insecure-test-r", options->insecure_r,
                      "Fixed blinding r, 32 bytes little-endian in hex: for tests only");
  command->add_option("--insecure-test-s", options->insecure_s, "Fixed blinding s: for tests only");
  command->callback([options] { prove(*options); });
}

}  // namespace cuzk::cli
