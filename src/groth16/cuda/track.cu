#include "base/cuda/buffer.hpp"
#include "groth16/cuda/track.hpp"

#include <chrono>

namespace cuzk::groth16::cuda {

void Track::mark(std::string_view stage, base::cuda::StreamRef stream) {
  if (used_ == marks_.size()) marks_.emplace_back();
  marks_[used_].stage = stage;
  marks_[used_].end.record(stream);
  ++used_;
}

void Track::report(base::StageTimer& timer, double share) const {
  for (std::size_t i = 1; i < used_; ++i) {
    if (marks_[i].stage.empty()) continue;
    const std::chrono::duration<double, std::milli> time(
        share * marks_[i].end.milliseconds_since(marks_[i - 1].end));
    timer.add(marks_[i].stage, std::chrono::duration_cast<std::chrono::nanoseconds>(time));
  }
}

}  // namespace cuzk::groth16::cuda
