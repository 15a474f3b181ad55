#pragma once

#include <cstddef>

/// Raw allocations behind the owners in buffer.hpp: the CUDA runtime's (runtime.cu), or the C
/// library's for emulated kernels (emulated_runtime.hpp). 256-byte aligned. Both allocators throw
/// ResourceExhausted, naming the purpose.
namespace cuzk::base::cuda::memory {

void* allocate_device(std::size_t bytes, const char* purpose);
void free_device(void* p) noexcept;
/// Host memory that the device reads and writes directly.
void* allocate_pinned(std::size_t bytes, const char* purpose);
void free_pinned(void* p) noexcept;
/// Makes memory of the C library or the system pinned, and ordinary again. Throws
/// ResourceExhausted, naming the purpose.
void register_pinned(void* p, std::size_t bytes, const char* purpose);
void unregister_pinned(void* p) noexcept;

}  // namespace cuzk::base::cuda::memory
