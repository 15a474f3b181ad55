#pragma once

#include "service/client.hpp"

#include <CLI/CLI.hpp>

#include <vector>

namespace cuzk::cli {

/// Adds what every command that talks to a daemon has beside the address: --token-file, --tls-ca,
/// --tls-cert and --tls-key. `options` must outlive the command. Returns them.
std::vector<CLI::Option*> add_client_options(CLI::App& command, service::ClientOptions& options);

}  // namespace cuzk::cli
