#pragma once

#include "base/cuda/buffer.hpp"
#include "curve/device/blst.hpp"
#include "curve/device/fr_mul.hpp"
#include "curve/device/points.hpp"
#include "curve/device/testing.hpp"

#include <blst.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

/// What the checks of the operations share (*_check.cuh). A check makes the input of one case, runs
/// the operation, and compares with blst; it returns an empty text or says what is wrong. The same
/// text runs in the unit tests, where kernels are emulated, and in gpu_check, on the device.
namespace cuzk::groth16::cuda::checks {

using curve::device::Fr;
using curve::device::testing::mix;

template <class G>
using HostPoint = std::conditional_t<std::is_same_v<G, curve::device::G1>, blst_p1, blst_p2>;

/// How the bases of a case are drawn.
enum class Bases {
  kDistinct,   // (i + 1)·P for a fixed P
  kFewPoints,  // from ± of four points and the identity: equal and opposite neighbours at every
               // level
  kAllEqual,
  kAllIdentity,
};

/// `count` affine points on the host and, for each, the number that it is a multiple of the
/// generator by (mod r, small).
template <class G>
struct TestBases {
  std::vector<curve::device::StoredAffine<G>> points;
  std::vector<std::int64_t> multiples;

  TestBases(Bases kind, std::size_t count, std::uint64_t seed) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t draw = mix(seed + i);
      switch (kind) {
        case Bases::kDistinct:
          multiples.push_back(static_cast<std::int64_t>(i) + 1);
          break;
        case Bases::kFewPoints:
          multiples.push_back(static_cast<std::int64_t>(draw % 9) - 4);
          break;
        case Bases::kAllEqual:
          multiples.push_back(3);
          break;
        case Bases::kAllIdentity:
          multiples.push_back(0);
          break;
      }
    }
    const std::vector<HostPoint<G>> table =
        multiples_of_generator(kind == Bases::kDistinct ? count : 4);
    for (const std::int64_t m : multiples) {
      using curve::device::testing::affine;
      using curve::device::testing::from_blst;
      if (m == 0) {
        points.push_back(curve::device::StoredAffine<G>::identity());
        continue;
      }
      auto point = from_blst(affine(table[static_cast<std::size_t>(m < 0 ? -m : m) - 1]));
      if (m < 0) point.y = canonical(curve::device::negate_if(point, true).y);
      points.push_back(point);
    }
  }

 private:
  // 1·G, 2·G, ..., count·G
  static std::vector<HostPoint<G>> multiples_of_generator(std::size_t count) {
    std::vector<HostPoint<G>> table;
    const std::uint32_t one[8] = {1};
    const HostPoint<G> generator =
        curve::device::testing::multiple_of_generator(HostPoint<G>{}, one);
    for (std::size_t i = 0; i < count; ++i) {
      table.push_back(i == 0 ? generator : curve::device::testing::sum(table.back(), generator));
    }
    return table;
  }
};

/// value·generator for a signed 128-bit value.
template <class G>
HostPoint<G> small_multiple(__int128 value) {
  const bool negative = value < 0;
  const auto magnitude = static_cast<unsigned __int128>(negative ? -value : value);
  std::uint32_t limbs[8] = {};
  for (int i = 0; i < 4; ++i) limbs[i] = static_cast<std::uint32_t>(magnitude >> (32 * i));
  HostPoint<G> d = curve::device::testing::multiple_of_generator(HostPoint<G>{}, limbs);
  if constexpr (std::is_same_v<G, curve::device::G1>) {
    blst_p1_cneg(&d, negative);
  } else {
    blst_p2_cneg(&d, negative);
  }
  return d;
}

/// A buffer with a guard of 4096 bytes behind it, for outputs and workspaces: broken() tells
/// whether something wrote there.
template <class T>
class Guarded {
 public:
  Guarded(std::size_t size, const char* purpose, base::cuda::StreamRef stream)
      : size_(size), buffer_(size * sizeof(T) + kGuard, purpose), stream_(stream) {
    base::cuda::fill_bytes(buffer_.data(), 0xa5, buffer_.size(), stream);
  }
  T* data() const { return reinterpret_cast<T*>(buffer_.data()); }
  base::cuda::DeviceSpan<T> span() const { return {data(), size_}; }
  std::vector<T> download() const {
    std::vector<T> values(size_);
    base::cuda::copy_bytes(values.data(), data(), size_ * sizeof(T), stream_);
    base::cuda::synchronize(stream_);
    return values;
  }
  bool broken() const {
    for (const std::byte b : buffer_.download(size_ * sizeof(T), kGuard, stream_)) {
      if (b != std::byte{0xa5}) return true;
    }
    return false;
  }

 private:
  static constexpr std::size_t kGuard = 4096;
  std::size_t size_;
  base::cuda::DeviceBuffer<std::byte> buffer_;
  base::cuda::StreamRef stream_;
};

template <class T>
base::cuda::DeviceBuffer<T> uploaded(const std::vector<T>& values, const char* purpose,
                                     base::cuda::StreamRef stream) {
  base::cuda::DeviceBuffer<T> buffer(values.size(), purpose);
  buffer.upload(values, stream);
  return buffer;
}

}  // namespace cuzk::groth16::cuda::checks
