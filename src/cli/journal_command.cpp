#include "base/error.hpp"
#include "cli/commands.hpp"
#include "engine/journal.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace cuzk::cli {

namespace {

struct JournalOptions {
  std::string file, job_id;
};

/// Digests of the inputs in whose presence a daemon died: of one job, or of all.
std::vector<std::string> chosen(engine::Journal& journal, const std::string& job_id) {
  std::vector<std::string> counted = journal.crashers(1);
  if (job_id.empty()) return counted;
  std::string digest;
  if (const auto finished = journal.find_job(job_id)) digest = finished->payload_digest;
  for (const engine::Journal::UnfinishedJob& job : journal.unfinished()) {
    if (job.job_id == job_id) digest = job.payload_digest;
  }
  base::require(!digest.empty(),
                "the journal knows no job '{}': leave JOB away to forgive every input", job_id);
  if (std::erase(counted, digest) == 0) return {};
  return {digest};
}

void forgive(const JournalOptions& options) {
  // Opening it would make it.
  base::require(std::filesystem::exists(options.file),
                "{}: there is no such file: name the journal.sqlite in the daemon's state_dir",
                options.file);
  engine::Journal journal(options.file, {});
  const std::vector<std::string> digests = chosen(journal, options.job_id);
  for (const std::string& digest : digests) {
    journal.forgive(digest);
    fmt::print("forgiven: input {}...\n", digest.substr(0, 8));
  }
  if (digests.empty()) fmt::print("nothing to forgive\n");
}

}  // namespace

void add_journal_command(CLI::App& app) {
  CLI::App* const journal = app.add_subcommand("journal", "The journal of a stopped daemon");
  journal->require_subcommand(1);
  const auto options = std::make_shared<JournalOptions>();
  CLI::App* const command = journal->add_subcommand(
      "forgive", "Lets inputs be proved again that are refused because the daemon died of them");
  command->add_option("file", options->file, "journal.sqlite in daemon.state_dir")->required();
  command->add_option("job", options->job_id, "The job of the input (default: every input)");
  command->callback([options] { forgive(*options); });
}

}  // namespace cuzk::cli
