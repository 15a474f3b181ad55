#pragma once

#include "cli/load/target.hpp"
#include "cuzk/v1/proving.pb.h"
#include "service/client.hpp"

#include <memory>

namespace cuzk::cli::load {

/// Field for field.
v1::SubmitProofRequest to_message(const engine::JobRequest& request);

/// Sends jobs to a daemon with Prove, as Curio does. Throws as service::Client.
std::unique_ptr<Target> make_daemon_target(const service::ClientOptions& daemon);

}  // namespace cuzk::cli::load
