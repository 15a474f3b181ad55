#pragma once

#include "cuzk/v1/proving.pb.h"
#include "engine/job.hpp"
#include "engine/status.hpp"

namespace cuzk::service {

/// Between the wire's messages and the engine's types. Nothing is judged here beyond what the types
/// themselves demand.

/// Throws engine::EngineError kBadInput for a proof kind that does not exist, and for more vanilla
/// proofs than any kind has; a priority that does not exist is the normal one.
engine::JobRequest to_job_request(const v1::SubmitProofRequest& message);
void fill(const engine::JobResult& result, v1::AwaitProofResponse& message);
void fill(const engine::Status& status, v1::GetStatusResponse& message);

}  // namespace cuzk::service
