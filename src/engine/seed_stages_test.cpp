#include "engine/seed_stages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cuzk::engine {
namespace {

using std::chrono::milliseconds;

TEST(SeedStages, AddUpOurs) {
  base::StageTimer timer;
  int power = 1;
  for (const char* stage :
       {"device_lock_wait", "prestage", "upload", "evaluate", "ntt_h", "msm_h", "msm_l.batch_add",
        "msm_l.tail", "msm_a.batch_add", "msm_a.tail", "msm_b_g1.batch_add", "msm_b_g1.tail",
        "msm_b_g2.batch_add", "msm_b_g2.tail", "download", "assemble"}) {
    timer.add(stage, milliseconds(power));
    power *= 2;
  }
  EXPECT_EQ(seed_stage_text(timer, milliseconds(70'000), groth16::Prestage::kSkipVram),
            "gpu_total=70000.0ms lock_wait=1.0ms pin=2.0ms prep_msm=8.0ms ntt_msm_h=48.0ms "
            "batch_add=1344.0ms tail_msm=2688.0ms b_g2_msm=12288.0ms epilogue=49152.0ms "
            "prestage=skip_vram");
  EXPECT_EQ(to_string(groth16::Prestage::kHit), "hit");
  EXPECT_EQ(to_string(groth16::Prestage::kSkipPin), "skip_pin");
}

}  // namespace
}  // namespace cuzk::engine
