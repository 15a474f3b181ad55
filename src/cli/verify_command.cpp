#include "base/error.hpp"
#include "base/mapped_file.hpp"
#include "cli/commands.hpp"
#include "cli/input_file.hpp"
#include "cli/key_store.hpp"
#include "cli/proof_request.hpp"
#include "groth16/verifier.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>

namespace cuzk::cli {

namespace {

struct VerifyOptions {
  std::string kind, proof, meta, meta_section, params_dir;
};

Statement read_statement(const VerifyOptions& options) {
  return read_input(options.meta, [&](base::ByteView bytes) {
    return make_statement(parse_proof_kind(options.kind),
                          filecoin::decode_meta(base::as_text(bytes)), options.meta_section);
  });
}

void verify(const VerifyOptions& options) {
  parse_proof_kind(options.kind);
  const Statement statement = read_statement(options);
  const std::size_t partitions = statement.public_inputs.size();
  const base::MappedFile file(options.proof);
  const std::vector<groth16::Proof> proofs = base::read_mapped(
      file, [&] { return groth16::decode_proofs(file.bytes(), partitions, options.proof); });
  const KeyPaths paths(options.params_dir, statement.circuit.kind, statement.circuit.size);
  const groth16::Verifier verifier(
      load_verifying_key(paths, statement.circuit.kind, statement.circuit.size));
  if (!verifier.verify_batch(proofs, statement.public_inputs)) {
    std::string bad;
    for (std::size_t k = 0; k < partitions; ++k) {
      if (!verifier.verify(proofs[k], statement.public_inputs[k]))
        bad += fmt::format("{}{}", bad.empty() ? "" : ", ", k);
    }
    base::fail<base::InvalidInput>(
        "{}: not a valid {} proof for these public values: partition {} of {} does not verify",
        options.proof, options.kind, bad, partitions);
  }
  fmt::print("valid: {} partition{}\n", partitions, partitions == 1 ? "" : "s");
}

}  // namespace

void add_verify_command(CLI::App& app) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App* command = app.add_subcommand(
      "verify", "Verify a proof from public values; status 0 only if it is valid");
  command->add_option("kind", options->kind, "porep, winning-post, window-post or snap")
      ->required();
  command->add_option("--proof", options->proof, "The proof")->required();
  command->add_option("--meta", options->meta, "JSON of public values")->required();
  command->add_option("--meta-section", options->meta_section,
                      "PoSt of the meta file (default window or winning)");
  command->add_option("--params-dir", options->params_dir, "Folder of the parameter files")
      ->required();
  command->callback([options] { verify(*options); });
}

}  // namespace cuzk::cli
