#pragma once

#include <CLI/CLI.hpp>

namespace cuzk::cli {

/// Each function adds one command to the program; its callback runs the command and throws on
/// failure.
void add_r1cs_command(CLI::App& app);
void add_vanilla_command(CLI::App& app);
void add_gen_vanilla_command(CLI::App& app);
void add_setup_command(CLI::App& app);
void add_prove_command(CLI::App& app);
void add_verify_command(CLI::App& app);
void add_params_command(CLI::App& app);
void add_journal_command(CLI::App& app);
void add_bench_command(CLI::App& app);
/// Subcommands of bench.
void add_bench_batch_command(CLI::App& bench);
void add_bench_stress_command(CLI::App& bench);
void add_bench_ab_command(CLI::App& bench);
void add_bench_kernels_command(CLI::App& bench);
/// daemon and plan; and the daemon's options for the program alone.
void add_daemon_command(CLI::App& app);
/// status, metrics, preload, evict and cancel.
void add_client_commands(CLI::App& app);

/// Parses the command line and runs the command. Exit status: 0 only when what was asked for
/// happened; 1 when an input is wrong, 2 when a file is damaged, 3 when memory, disk or a limit is
/// exhausted, 4 for a bug, 5 when a device failed; 64 for wrong usage. Errors go to standard error.
int run(int argc, char** argv);

}  // namespace cuzk::cli
