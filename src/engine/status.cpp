#include "engine/status.hpp"

#include <algorithm>

namespace cuzk::engine {

std::string_view to_string(PartitionStatus::State state) {
  using enum PartitionStatus::State;
  switch (state) {
    case kPending:
      return "pending";
    case kWitness:
      return "synthesizing";
    case kWitnessDone:
      return "synth_done";
    case kDevice:
      return "gpu";
    case kVerify:
      return "verify";
    case kDone:
      return "done";
    case kFailed:
      return "failed";
  }
  return "unknown";
}

void Histogram::add(double seconds) {
  for (std::size_t i = 0; i < kBounds.size(); ++i) {
    if (seconds <= kBounds[i]) ++counts[i];
  }
  ++counts.back();
  sum_seconds += seconds;
  ++count;
}

}  // namespace cuzk::engine
