#include "base/cuda/error.hpp"
#include "base/error.hpp"
#include "cli/cuda_device.hpp"
#include "device/trap.hpp"
#include "engine/preparation.hpp"
#include "engine/testing/development_key.hpp"
#include "engine/testing/golden_request.hpp"
#include "groth16/verifier.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <future>

// The engine's view of this machine's first GPU.
namespace cuzk {
namespace {

using engine::CircuitId;

std::unique_ptr<engine::ProvingDevice> first_device() {
  engine::Config config;
  config.gpus.devices = {"0"};
  return std::move(cli::make_cuda_devices(config).at(0));
}

/// Loads the circuit and proves a golden request with it.
void expect_proof(engine::ProvingDevice& device, const CircuitId& id, const std::string& artefact) {
  const engine::testing::TemporaryFolder folder;
  engine::testing::DevelopmentKeys::put(id, folder.path());
  const engine::ProvingDevice::Circuit circuit{id.kind, id.size, folder.path()};
  const auto needs = device.needs(circuit);
  EXPECT_LE(needs.device, device.memory_total());
  const auto loaded = device.load(circuit);
  EXPECT_GT(loaded->device_bytes(), 0U);
  EXPECT_LE(loaded->device_bytes(), needs.device);
  const auto prepared = engine::make_filecoin_preparation()->check(
      engine::testing::golden_request("2KiB-v1_1", artefact));
  base::StageTimer timer;
  const auto pending = loaded->start(prepared.witness(loaded->shape(), 0), timer);
  const groth16::Proof proof = pending->finish(groth16::Blinding::random(), timer);
  const groth16::Verifier verifier(loaded->verifying_key());
  auto inputs = prepared.public_inputs.at(0);
  EXPECT_TRUE(verifier.verify(proof, inputs));
  inputs.back() += curve::Fr::one();
  EXPECT_FALSE(verifier.verify(proof, inputs));
  // A witness of another circuit is the caller's mistake, not a fault of the device.
  EXPECT_THROW(loaded->start(r1cs::Witness(), timer), base::InvalidInput);
}

TEST(DeviceEngine, SaysWhatItIs) {
  const auto device = first_device();
  EXPECT_EQ(device->info().name, "cuda:0");
  EXPECT_TRUE(device->info().uuid.starts_with("GPU-"));
  EXPECT_EQ(device->info().uuid.size(), 40U);
  EXPECT_FALSE(device->info().is_cpu);
  engine::Config by_uuid, unknown;
  by_uuid.gpus.devices = {device->info().uuid};
  EXPECT_EQ(cli::make_cuda_devices(by_uuid).at(0)->info().name, "cuda:0");
  unknown.gpus.devices = {"99"};
  EXPECT_THROW(cli::make_cuda_devices(unknown), base::InvalidInput);
}

TEST(DeviceEngine, ProvesBeforeAndAfterAReset) {
  const auto device = first_device();
  device->self_test();
  const std::uint64_t free_before = device->memory_free();
  expect_proof(*device, CircuitId::parse("winning-2k"), "winning");
  EXPECT_GE(device->memory_free() + (std::uint64_t{64} << 20), free_before);
  device->reset();
  device->self_test();
  expect_proof(*device, CircuitId::parse("wpost-2k"), "window");
}

// What the engine's restart_because rests on: no reset brings a context back that a kernel has left
// beyond use. In a process of its own, which is of no use afterwards.
TEST(DeviceEngine, StaysLostWhateverIsDone) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto lose = [] {
    const auto is_lost = [](const auto& work) {
      try {
        work();
      } catch (const engine::DeviceFault& error) {
        return error.kind() == engine::DeviceFault::Kind::kLost;
      }
      return false;
    };
    const auto device = first_device();
    device->self_test();
    if (device->memory_free() == 0) std::_Exit(1);
    // Another thread's errors are not met again.
    auto worker = std::async(std::launch::async, [] {
      try {
        tests::trap(0);
      } catch (const base::cuda::DeviceLost&) {
        return true;
      }
      return false;
    });
    if (!worker.get()) std::_Exit(2);
    if (device->memory_free() != 0) std::_Exit(3);  // not known, and that is no error
    if (!is_lost([&] { device->self_test(); })) std::_Exit(4);
    if (!is_lost([&] { device->reset(); })) std::_Exit(5);
    if (device->memory_free() != 0) std::_Exit(6);
    if (!is_lost([&] { device->self_test(); })) std::_Exit(7);
  };
  // As a daemon ends: with all that it holds.
  EXPECT_EXIT((lose(), std::exit(0)), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace cuzk
