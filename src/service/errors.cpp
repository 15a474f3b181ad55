#include "service/errors.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <new>

namespace cuzk::service {

namespace {

// gRPC's default limit of all metadata of an answer is 8 KiB.
constexpr std::size_t kMaxStatusText = 6000;

using engine::ErrorCode;

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

}  // namespace

grpc::StatusCode status_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::kNone:
      return grpc::StatusCode::OK;
    case ErrorCode::kBadInput:
    case ErrorCode::kBadVanilla:
    case ErrorCode::kUnsupported:
    case ErrorCode::kRefused:
      return grpc::StatusCode::INVALID_ARGUMENT;
    case ErrorCode::kParamsMissing:
    case ErrorCode::kParamsCorrupt:
      return grpc::StatusCode::FAILED_PRECONDITION;
    case ErrorCode::kHostMemory:
    case ErrorCode::kGpuMemory:
    case ErrorCode::kQueueFull:
      return grpc::StatusCode::RESOURCE_EXHAUSTED;
    case ErrorCode::kNoGpu:
    case ErrorCode::kShuttingDown:
      return grpc::StatusCode::UNAVAILABLE;
    case ErrorCode::kNotFound:
      return grpc::StatusCode::NOT_FOUND;
    case ErrorCode::kCancelled:
      return grpc::StatusCode::CANCELLED;
    case ErrorCode::kStalled:
      return grpc::StatusCode::DEADLINE_EXCEEDED;
    case ErrorCode::kSuperseded:
      return grpc::StatusCode::ABORTED;
    case ErrorCode::kGpuFault:
    case ErrorCode::kSelfCheckFailed:
    case ErrorCode::kInternal:
      return grpc::StatusCode::INTERNAL;
  }
  return grpc::StatusCode::INTERNAL;
}

engine::EngineError to_engine_error(std::exception_ptr error) {
  try {
    std::rethrow_exception(std::move(error));
  } catch (const engine::EngineError& known) {
    return known;
  } catch (const base::InvalidInput& bad) {
    return {ErrorCode::kBadInput, bad.what()};
  } catch (const base::CorruptData& bad) {
    return {ErrorCode::kParamsCorrupt, bad.what()};
  } catch (const base::ResourceExhausted& bad) {
    return {ErrorCode::kHostMemory, bad.what()};
  } catch (const std::bad_alloc&) {
    return {ErrorCode::kHostMemory, "out of memory; retry later, or lower memory.total_budget"};
  } catch (const std::exception& bug) {
    return {ErrorCode::kInternal, bug.what()};
  } catch (...) {
    return {ErrorCode::kInternal, "unknown exception"};
  }
}

grpc::Status to_status(const engine::EngineError& error) {
  return {status_code(error.code()), fit_status_text(error.what(), kMaxStatusText)};
}

std::string fit_status_text(const std::string& text, std::size_t limit) {
  std::size_t cost = 0, fitting = 0;
  constexpr std::size_t kRoomForNote = 60;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    cost += byte >= 0x20 && byte < 0x7f && byte != '%' ? 1 : 3;
    if (cost + kRoomForNote <= limit) fitting = i + 1;
  }
  if (cost <= limit) return text;
  while (fitting > 0 && continues_character(text[fitting])) --fitting;
  return fmt::format("{}... ({} bytes more in the daemon's log)", text.substr(0, fitting),
                     text.size() - fitting);
}

}  // namespace cuzk::service
