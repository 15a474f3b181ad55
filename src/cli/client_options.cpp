#include "cli/client_options.hpp"

namespace cuzk::cli {

std::vector<CLI::Option*> add_client_options(CLI::App& command, service::ClientOptions& options) {
  return {
      command.add_option("--token-file", options.token_file, "File with a bearer token"),
      command.add_option("--tls-ca", options.tls.ca,
                         "PEM file of the CA of the daemon's certificate"),
      command.add_option("--tls-cert", options.tls.cert, "PEM file of a client certificate"),
      command.add_option("--tls-key", options.tls.key, "PEM file of its key"),
  };
}

}  // namespace cuzk::cli
