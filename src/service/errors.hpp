#pragma once

#include "engine/job.hpp"

#include <grpcpp/support/status.h>

#include <exception>
#include <string>

namespace cuzk::service {

/// What gRPC calls an error of the engine:
///   INVALID_ARGUMENT    BAD-INPUT, BAD-VANILLA, UNSUPPORTED, REFUSED
///   FAILED_PRECONDITION PARAMS-MISSING, PARAMS-CORRUPT
///   RESOURCE_EXHAUSTED  HOST-MEM, GPU-OOM, QUEUE-FULL
///   UNAVAILABLE         NO-GPU, SHUTTING-DOWN
///   NOT_FOUND, CANCELLED, DEADLINE_EXCEEDED (STALL), ABORTED (JOB-SUPERSEDED)
///   INTERNAL            GPU-FAULT, SELF-CHECK-FAILED, INTERNAL
grpc::StatusCode status_code(engine::ErrorCode code);

/// Any exception as an engine's error: base::InvalidInput is BAD-INPUT, base::CorruptData
/// PARAMS-CORRUPT, base::ResourceExhausted and std::bad_alloc HOST-MEM, all else INTERNAL.
engine::EngineError to_engine_error(std::exception_ptr error);

/// The status of a call that failed; its text is "CODE: text". A longer text than a client's
/// default limit of metadata leaves room for is cut, and says so.
grpc::Status to_status(const engine::EngineError& error);

/// Metadata after every failed call, for programs: the code ("BAD-INPUT"), and "true" if the same
/// request can succeed later, unchanged.
inline constexpr const char* kCodeMetadata = "cuzk-code";
inline constexpr const char* kRetryableMetadata = "cuzk-retryable";

/// `text` cut to what takes at most `limit` bytes in a gRPC status, where a byte that is not plain
/// ASCII takes three; never inside a UTF-8 character.
std::string fit_status_text(const std::string& text, std::size_t limit);

}  // namespace cuzk::service
