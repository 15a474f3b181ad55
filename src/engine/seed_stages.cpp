#include "engine/seed_stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace cuzk::engine {

namespace {

using std::chrono::nanoseconds;

constexpr std::array<std::pair<std::string_view, std::string_view>, 16> kSeedNames = {
    {{"device_lock_wait", "lock_wait"},
     {"prestage", "pin"},
     {"complete_witness", "prep_msm"},
     {"evaluate", "prep_msm"},
     {"ntt_h", "ntt_msm_h"},
     {"msm_h", "ntt_msm_h"},
     {"msm_l.batch_add", "batch_add"},
     {"msm_a.batch_add", "batch_add"},
     {"msm_b_g1.batch_add", "batch_add"},
     {"msm_l.tail", "tail_msm"},
     {"msm_a.tail", "tail_msm"},
     {"msm_b_g1.tail", "tail_msm"},
     {"msm_b_g2.batch_add", "b_g2_msm"},
     {"msm_b_g2.tail", "b_g2_msm"},
     {"download", "epilogue"},
     {"assemble", "epilogue"}}};

constexpr std::array<std::string_view, 8> kOrder = {
    "lock_wait", "pin", "prep_msm", "ntt_msm_h", "batch_add", "tail_msm", "b_g2_msm", "epilogue"};

}  // namespace

std::string_view to_string(groth16::Prestage prestage) {
  switch (prestage) {
    case groth16::Prestage::kOff:
      return "off";
    case groth16::Prestage::kHit:
      return "hit";
    case groth16::Prestage::kSkipVram:
      return "skip_vram";
    case groth16::Prestage::kSkipPin:
      return "skip_pin";
  }
  return "off";
}

std::vector<std::pair<std::string_view, nanoseconds>> seed_stages(const base::StageTimer& timer,
                                                                  nanoseconds whole) {
  std::vector<std::pair<std::string_view, nanoseconds>> out = {{"gpu_total", whole}};
  for (const std::string_view name : kOrder) {
    nanoseconds sum{0};
    for (const auto& [stage, time] : timer.entries()) {
      const auto found =
          std::ranges::find(kSeedNames, stage, [](const auto& pair) { return pair.first; });
      if (found != kSeedNames.end() && found->second == name) sum += time;
    }
    out.emplace_back(name, sum);
  }
  return out;
}

std::string seed_stage_text(const base::StageTimer& timer, nanoseconds whole,
                            groth16::Prestage prestage) {
  std::string text;
  for (const auto& [name, time] : seed_stages(timer, whole)) {
    text +=
        fmt::format("{}={:.1f}ms ", name, std::chrono::duration<double, std::milli>(time).count());
  }
  return text + fmt::format("prestage={}", to_string(prestage));
}

}  // namespace cuzk::engine
