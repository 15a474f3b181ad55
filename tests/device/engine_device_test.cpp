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

// The status is asked for all the while, and other threads' errors are not met again.
TEST(DeviceEngine, ComesBackAfterItIsLost) {
  const auto device = first_device();
  device->self_test();
  EXPECT_GT(device->memory_free(), 0U);
  std::promise<void> failed, reset;
  auto worker = std::async(std::launch::async, [&] {
    EXPECT_THROW(tests::trap(0), base::cuda::DeviceLost);
    failed.set_value();
    reset.get_future().wait();
    device->self_test();
  });
  failed.get_future().wait();
  EXPECT_EQ(device->memory_free(), 0U) << "it is not known, and that is no error";
  EXPECT_THROW(device->self_test(), engine::DeviceFault);
  device->reset();
  EXPECT_GT(device->memory_free(), 0U);
  device->self_test();
  reset.set_value();
  worker.get();
  expect_proof(*device, CircuitId::parse("wpost-2k"), "window");
}

}  // namespace
}  // namespace cuzk
