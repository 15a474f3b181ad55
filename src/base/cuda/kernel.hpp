#pragma once

/// What a kernel file (.cuh) includes: CUDA's built-ins under nvcc, their stand-ins (emulation.hpp)
/// under any other compiler, and the few device primitives that CUDA offers only as assembly.

#ifdef __CUDACC__
#include <cuda_runtime.h>
#else
#include "base/cuda/emulation.hpp"
#endif

#include "base/cuda/qualifiers.hpp"

#include <cstddef>
#include <cstdint>

#ifdef __CUDACC__
#define CUZK_DEVICE __device__ __forceinline__
#else
#define CUZK_DEVICE inline
#endif

namespace cuzk::base::cuda {

inline constexpr std::uint32_t kFullWarp = 0xffffffffu;

/// The block's dynamic shared memory, 16-byte aligned.
CUZK_DEVICE uint4* dynamic_shared_words() {
#ifdef __CUDACC__
  extern __shared__ uint4 cuzk_dynamic_shared[];
  return cuzk_dynamic_shared;
#else
  return reinterpret_cast<uint4*>(emulation::dynamic_shared());
#endif
}

/// Starts a copy of 16 bytes from global to shared memory. Copies of one thread form groups, closed
/// by commit_copies(); wait_copies<N>() waits until at most the last N groups of this thread are
/// under way.
CUZK_DEVICE void copy_to_shared_16(uint4* shared, const uint4* global) {
#ifdef __CUDACC__
#ifdef __CUDA_ARCH__
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                   static_cast<std::uint32_t>(__cvta_generic_to_shared(shared))),
               "l"(global));
#endif
#else
  emulation::copy_to_shared(shared, global);
#endif
}
CUZK_DEVICE void commit_copies() {
#ifdef __CUDACC__
#ifdef __CUDA_ARCH__
  asm volatile("cp.async.commit_group;");
#endif
#else
  emulation::commit_copies();
#endif
}
template <int Groups>
CUZK_DEVICE void wait_copies() {
#ifdef __CUDACC__
#ifdef __CUDA_ARCH__
  asm volatile("cp.async.wait_group %0;" ::"n"(Groups) : "memory");
#endif
#else
  emulation::wait_copies(Groups);
#endif
}

/// Number of the calling thread in the grid, and the number of threads of the grid.
CUZK_DEVICE std::uint32_t grid_thread() { return blockIdx.x * blockDim.x + threadIdx.x; }
CUZK_DEVICE std::uint32_t grid_threads() { return gridDim.x * blockDim.x; }

// Warp primitives for code that is also compiled for the host by nvcc (where they are never run):
// all 32 lanes, or all that have not ended, call them together.

CUZK_HD unsigned lane_index() {
#if defined(__CUDA_ARCH__) || !defined(__CUDACC__)
  return threadIdx.x & 31u;
#else
  return 0;
#endif
}
/// The value of lane (mine xor `mask`).
CUZK_HD std::uint32_t shuffle_xor(std::uint32_t value, int mask) {
#if defined(__CUDA_ARCH__) || !defined(__CUDACC__)
  return __shfl_xor_sync(kFullWarp, value, mask);
#else
  static_cast<void>(mask);
  return value;
#endif
}
/// Bit l is the predicate of lane l.
CUZK_HD std::uint32_t ballot(bool predicate) {
#if defined(__CUDA_ARCH__) || !defined(__CUDACC__)
  return __ballot_sync(kFullWarp, predicate);
#else
  return predicate ? 1 : 0;
#endif
}

}  // namespace cuzk::base::cuda
