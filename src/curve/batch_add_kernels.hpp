#pragma once

#include "curve/batch_add.hpp"

/// Inside of BatchAdder. A kernel adds regular pairs only: at least one, no infinity, different x.
/// `scratch` is aligned to 64 bytes and holds kScratchBytes for each addition, their number rounded
/// up to a multiple of kLanes.
namespace cuzk::curve::batch_add_kernels {

/// The vector kernels take additions in groups of this many.
inline constexpr std::size_t kLanes = 8;
/// Two elements, in the vectors' wider form.
template <class F>
inline constexpr std::size_t kScratchBytes = 2 * sizeof(F) / 3 * 4;

template <class F>
void add_scalar(std::span<const PointAddition<F>> additions, void* scratch);

/// AVX2 and FMA; only call where is_available(Arithmetic::kAvx2).
void add_avx2(std::span<const PointAddition<Fp>> additions, void* scratch);
void add_avx2(std::span<const PointAddition<Fp2>> additions, void* scratch);

/// AVX-512 IFMA; only call where is_available(Arithmetic::kIfma).
void add_ifma(std::span<const PointAddition<Fp>> additions, void* scratch);
void add_ifma(std::span<const PointAddition<Fp2>> additions, void* scratch);

}  // namespace cuzk::curve::batch_add_kernels
