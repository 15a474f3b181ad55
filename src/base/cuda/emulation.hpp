#pragma once

#ifdef __CUDACC__
#error "emulation.hpp stands in for the CUDA compiler; include kernel.hpp"
#endif

#include <cstddef>
#include <cstdint>
#include <functional>

/// Kernels on the CPU, for tests on machines without a GPU: with this header a C++ compiler takes a
/// .cuh file as it is, and launch() runs it block after block, a fibre a thread. Barriers, warp
/// votes and exchanges suspend the fibre, so a missing or divergent one shows up as a wrong result
/// or as "threads wait for different things". Between two of them threads run upwards or downwards,
/// and asynchronous copies happen at once or when they are waited for, by a coin tossed anew each
/// time, always in the same sequence. What it cannot show: races within the instructions of a warp,
/// memory spaces, alignment faults, speed.
///
/// One grid at a time in the whole process.

#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __constant__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)

struct alignas(16) uint4 {
  std::uint32_t x, y, z, w;
};
inline uint4 make_uint4(std::uint32_t x, std::uint32_t y, std::uint32_t z, std::uint32_t w) {
  return {x, y, z, w};
}

namespace cuzk::base::cuda::emulation {

struct Index {
  unsigned x = 0, y = 0, z = 0;
};

/// Runs `body` once a thread of the grid. Throws std::logic_error if the threads of a block can
/// never all go on.
void run_grid(unsigned grid, unsigned block, std::size_t shared_bytes,
              const std::function<void()>& body);

/// Suspends the calling fibre until all threads of the block (or of the warp) that have not ended
/// wait here too.
void wait_for_block();
void wait_for_warp();

/// The block's dynamic shared memory, filled with a poison pattern when the block starts.
std::byte* dynamic_shared();

/// kernel.hpp's copies of the running thread.
void copy_to_shared(uint4* shared, const uint4* global);
void commit_copies();
void wait_copies(std::size_t groups);

/// Publishes up to 64 bytes to the warp and returns the bytes of the given lane.
void exchange(const void* mine, void* theirs, std::size_t bytes, unsigned lane);
/// Bit l is the predicate of lane l; lanes that have ended give 0.
std::uint32_t ballot(bool predicate);

}  // namespace cuzk::base::cuda::emulation

inline cuzk::base::cuda::emulation::Index threadIdx, blockIdx, blockDim, gridDim;

inline void __syncthreads() { cuzk::base::cuda::emulation::wait_for_block(); }
inline void __syncwarp() { cuzk::base::cuda::emulation::wait_for_warp(); }
inline void __threadfence() {}
inline std::uint32_t __ballot_sync(std::uint32_t, bool predicate) {
  return cuzk::base::cuda::emulation::ballot(predicate);
}
inline bool __any_sync(std::uint32_t, bool predicate) {
  return cuzk::base::cuda::emulation::ballot(predicate) != 0;
}
template <class T>
T __shfl_sync(std::uint32_t, T value, int lane) {
  T result;
  cuzk::base::cuda::emulation::exchange(&value, &result, sizeof(T),
                                        static_cast<unsigned>(lane) & 31u);
  return result;
}
template <class T>
T __shfl_xor_sync(std::uint32_t mask, T value, int lane_mask) {
  return __shfl_sync(mask, value,
                     static_cast<int>((threadIdx.x & 31u) ^ static_cast<unsigned>(lane_mask)));
}
template <class T>
T __shfl_up_sync(std::uint32_t mask, T value, unsigned delta) {
  const unsigned lane = threadIdx.x & 31u;
  return __shfl_sync(mask, value, static_cast<int>(lane >= delta ? lane - delta : lane));
}
template <class T>
T __ldg(const T* p) {
  return *p;
}
template <class T>
T __ldcs(const T* p) {
  return *p;
}
template <class T>
void __stcs(T* p, const T& value) {
  *p = value;
}
template <class T>
T atomicAdd(T* p, T value) {
  const T before = *p;
  *p = before + value;
  return before;
}
template <class T>
T atomicMin(T* p, T value) {
  const T before = *p;
  *p = before < value ? before : value;
  return before;
}
inline std::uint32_t atomicOr(std::uint32_t* p, std::uint32_t value) {
  const std::uint32_t before = *p;
  *p = before | value;
  return before;
}
inline int __popc(std::uint32_t x) { return __builtin_popcount(x); }
inline int __clz(int x) { return x != 0 ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
inline std::uint32_t __brev(std::uint32_t x) {
  std::uint32_t y = 0;
  for (int i = 0; i < 32; ++i) y |= ((x >> i) & 1u) << (31 - i);
  return y;
}
inline std::uint32_t __funnelshift_r(std::uint32_t low, std::uint32_t high, std::uint32_t shift) {
  return static_cast<std::uint32_t>(((std::uint64_t{high} << 32) | low) >> (shift & 31u));
}
