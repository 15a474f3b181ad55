#pragma once

#include "base/stage_timer.hpp"
#include "groth16/prover.hpp"

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cuzk::engine {

/// "off", "hit", "skip_vram", "skip_pin".
std::string_view to_string(groth16::Prestage prestage);

/// Times of a partition under the names that the Rust daemon's logs and reports have for them:
///   lock_wait     device_lock_wait
///   pin           prestage: the witness into (page-locked) memory
///   prep_msm      evaluate: A·w, B·w, C·w; there it is the host's, here the device's
///   ntt_msm_h     ntt_h and msm_h
///   batch_add     the 0/1 sums in G1
///   tail_msm      the dense sums in G1 but for h
///   b_g2_msm      both sums in G2
///   epilogue      download and assemble
///   gpu_total     the whole, without waiting
/// `unpin` is not among them: memory stays page-locked.
std::vector<std::pair<std::string_view, std::chrono::nanoseconds>> seed_stages(
    const base::StageTimer& timer, std::chrono::nanoseconds whole);

/// The same in one line: "gpu_total=598ms ... prestage=hit".
std::string seed_stage_text(const base::StageTimer& timer, std::chrono::nanoseconds whole,
                            groth16::Prestage prestage);

}  // namespace cuzk::engine
