#include "base/cuda/device.hpp"
#include "base/cuda/error.hpp"
#include "device/trap.hpp"

namespace cuzk::tests {

namespace {

__global__ void trap_kernel() { __trap(); }

}  // namespace

void trap(int ordinal) {
  base::cuda::Device(ordinal).make_current();
  trap_kernel<<<1, 1>>>();
  base::cuda::check(cudaGetLastError(), "the launch of a trap");
  base::cuda::check(cudaDeviceSynchronize(), "a trap");
}

}  // namespace cuzk::tests
