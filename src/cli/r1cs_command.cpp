#include "base/bytes.hpp"
#include "base/error.hpp"
#include "cli/commands.hpp"
#include "filecoin/circuit/circuits.hpp"
#include "r1cs/digest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace cuzk::cli {

namespace {

struct R1csOptions {
  std::string circuit;
  std::string sector_size;
  unsigned checkpoint_log2 = 0;
  bool json = false;
};

nlohmann::json describe(const R1csOptions& options) {
  const auto kind = filecoin::parse_circuit_kind(options.circuit);
  const auto size = filecoin::SectorSize::parse(options.sector_size);
  base::require(options.checkpoint_log2 < 40, "--checkpoint-log2 {}: must be below 40",
                options.checkpoint_log2);
  const r1cs::Shape shape = filecoin::build_shape(kind, size);
  const r1cs::Densities densities = shape.densities();
  const auto nnz = shape.nnz();
  const auto longest = shape.longest_row();
  const std::uint64_t every =
      options.checkpoint_log2 == 0 ? 0 : std::uint64_t{1} << options.checkpoint_log2;
  r1cs::ConstraintStream stream(every);
  r1cs::stream_shape(shape, stream);

  nlohmann::json out = {
      {"circuit", filecoin::to_string(kind)},
      {"size", size.to_string()},
      {"sector_bytes", size.bytes()},
      {"cache_id", filecoin::cache_id(kind, size)},
      {"num_inputs", shape.num_inputs()},
      {"num_aux", shape.num_aux()},
      {"num_constraints", shape.num_constraints()},
      {"rows_with_input_consistency", shape.num_rows()},
      {"domain_log2", shape.domain_log2()},
      {"nnz", {{"a", nnz[0]}, {"b", nnz[1]}, {"c", nnz[2]}}},
      {"longest_lc", {{"a", longest[0]}, {"b", longest[1]}, {"c", longest[2]}}},
      {"density",
       {{"a_aux", densities.a_aux_count},
        {"b_input", densities.b_input_count},
        {"b_aux", densities.b_aux_count}}},
      {"digest", base::to_hex(stream.digest())},
      {"num_fields", shape.num_fields()},
      {"palette", shape.palette().size()},
  };
  if (every != 0) {
    out["checkpoint_every"] = every;
    out["checkpoints"] = nlohmann::json::array();
    for (const r1cs::Checkpoint& checkpoint : stream.checkpoints()) {
      out["checkpoints"].push_back(
          {{"constraints", checkpoint.constraints}, {"digest", base::to_hex(checkpoint.digest)}});
    }
  }
  return out;
}

void print_table(const nlohmann::json& r1cs) {
  const auto number = [&](const nlohmann::json& value) { return value.get<std::uint64_t>(); };
  fmt::print("{} {}\n", r1cs["circuit"].get<std::string>(), r1cs["size"].get<std::string>());
  fmt::print("  inputs        {:>13}  with ONE\n", number(r1cs["num_inputs"]));
  fmt::print("  aux           {:>13}  of which {} field elements, the others bits\n",
             number(r1cs["num_aux"]), number(r1cs["num_fields"]));
  fmt::print("  constraints   {:>13}  domain 2^{}\n", number(r1cs["num_constraints"]),
             number(r1cs["domain_log2"]));
  for (const char* name : {"nnz", "longest_lc"}) {
    const auto& counts = r1cs[name];
    fmt::print("  {:<13} {:>13}  A\n{:>29}  B\n{:>29}  C\n", name, number(counts["a"]),
               number(counts["b"]), number(counts["c"]));
  }
  const auto& density = r1cs["density"];
  fmt::print("  density       {:>13}  a_aux\n{:>29}  b_input\n{:>29}  b_aux\n",
             number(density["a_aux"]), number(density["b_input"]), number(density["b_aux"]));
  fmt::print("  digest        {}\n  parameters    v28-{}\n", r1cs["digest"].get<std::string>(),
             r1cs["cache_id"].get<std::string>());
  if (!r1cs.contains("checkpoints")) return;
  for (const auto& checkpoint : r1cs["checkpoints"]) {
    fmt::print("  checkpoint    {:>13}  {}\n", number(checkpoint["constraints"]),
               checkpoint["digest"].get<std::string>());
  }
}

}  // namespace

void add_r1cs_command(CLI::App& app) {
  auto options = std::make_shared<R1csOptions>();
  CLI::App* command =
      app.add_subcommand("r1cs", "Counts, densities and constraint-stream digest of a circuit");
  command
      ->add_option("--circuit", options->circuit,
                   "porep, winning-post, window-post, update or update-poseidon")
      ->required();
  command->add_option("--sector-size", options->sector_size, "2KiB ... 64GiB")->required();
  command->add_option("--checkpoint-log2", options->checkpoint_log2,
                      "Digest of the stream after every 2^K constraints");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options] {
    const nlohmann::json r1cs = describe(*options);
    if (options->json) {
      fmt::print("{}\n", r1cs.dump(1));
    } else {
      print_table(r1cs);
    }
  });
}

}  // namespace cuzk::cli
