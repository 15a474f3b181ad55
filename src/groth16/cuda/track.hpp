#pragma once

#include "base/cuda/stream.hpp"
#include "base/stage_timer.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace cuzk::groth16::cuda {

/// Ends of a stream's stages, for their times by the device's clock. One thread at a time.
class Track {
 public:
  void restart() { used_ = 0; }
  /// `stage` ends where the stream's work ends now; it began at the mark before. Empty: not
  /// reported.
  void mark(std::string_view stage, base::cuda::StreamRef stream);
  /// Adds a share of each stage's time. All marks must have been reached.
  void report(base::StageTimer& timer, double share = 1) const;

 private:
  struct Mark {
    std::string_view stage;
    base::cuda::Event end;
  };

  std::vector<Mark> marks_;
  std::size_t used_ = 0;
};

}  // namespace cuzk::groth16::cuda
