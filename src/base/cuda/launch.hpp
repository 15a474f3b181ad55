#pragma once

#include "base/cuda/kernel.hpp"
#include "base/cuda/stream_ref.hpp"

#include <cstddef>
#include <cstring>

#ifdef __CUDACC__
#include "base/cuda/error.hpp"
#else
#include "base/cuda/emulated_runtime.hpp"
#endif

/// Enqueuing work on a stream: launches, fills and copies (sort.hpp adds CUB's sort and sum). Under
/// nvcc these are thin calls of the CUDA runtime that turn errors into exceptions (error.hpp);
/// elsewhere they run at once on the CPU (emulation.hpp), so that a launcher is tested as it is.
namespace cuzk::base::cuda {

struct LaunchShape {
  unsigned grid = 0;   // blocks
  unsigned block = 0;  // threads a block
  std::size_t shared_bytes = 0;
};

inline unsigned blocks_for(std::size_t items, unsigned block) {
  return static_cast<unsigned>((items + block - 1) / block);
}

/// Enqueues kernel(arguments...). A grid of no blocks enqueues nothing.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), const LaunchShape& shape, StreamRef stream,
            Arguments&&... arguments) {
  if (shape.grid == 0) return;
#ifdef __CUDACC__
  // The limit is 48 KiB with the kernel's own, which is counted in here as 1 KiB.
  constexpr std::size_t kSharedWithoutAsking = 47 * 1024;
  if (shape.shared_bytes > kSharedWithoutAsking) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shape.shared_bytes)),
          "shared memory of a kernel");
  }
  kernel<<<shape.grid, shape.block, shape.shared_bytes, stream.handle>>>(
      static_cast<Parameters>(arguments)...);
  check(cudaGetLastError(), "kernel launch");
#else
  static_cast<void>(stream);
  emulation::run_grid(shape.grid, shape.block, shape.shared_bytes,
                      [&] { kernel(static_cast<Parameters>(arguments)...); });
#endif
}

inline void fill_bytes(void* device, int value, std::size_t bytes, StreamRef stream) {
  if (bytes == 0) return;
#ifdef __CUDACC__
  check(cudaMemsetAsync(device, value, bytes, stream.handle), "memset");
#else
  static_cast<void>(stream);
  std::memset(device, value, bytes);
#endif
}

/// Copies between any two memories. Host memory must be pinned for the copy to be asynchronous.
inline void copy_bytes(void* to, const void* from, std::size_t bytes, StreamRef stream) {
  if (bytes == 0) return;
#ifdef __CUDACC__
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream.handle), "copy");
#else
  static_cast<void>(stream);
  std::memcpy(to, from, bytes);
#endif
}

}  // namespace cuzk::base::cuda
