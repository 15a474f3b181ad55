#include "curve/decode_points.hpp"

#include "base/error.hpp"
#include "curve/arithmetic.hpp"

namespace cuzk::curve {

namespace {

// Null: one point at a time.
template <class F>
using Kernel = bool (*)(const std::uint8_t* encodings, AffinePoint<F>* const* targets);

template <class F>
Kernel<F> kernel_of(Arithmetic arithmetic) {
  const Arithmetic resolved = resolve(arithmetic);
#if defined(__x86_64__)
  if (resolved == Arithmetic::kIfma) return decode_kernels::decode_eight_ifma;
  if (resolved == Arithmetic::kAvx2) return decode_kernels::decode_eight_avx2;
#endif
  return nullptr;
}

}  // namespace

template <class F>
std::optional<RunFault> decode_run(base::ByteView encodings,
                                   std::span<AffinePoint<F>* const> targets,
                                   Arithmetic arithmetic) {
  using Point = AffinePoint<F>;
  constexpr std::size_t kBytes = Point::kUncompressedBytes, kGroup = 8;
  base::require(encodings.size() == targets.size() * kBytes, "{} bytes for {} points of {} bytes",
                encodings.size(), targets.size(), kBytes);
  const Kernel<F> decode_eight = kernel_of<F>(arithmetic);
  for (std::size_t first = 0; first < targets.size(); first += kGroup) {
    const std::size_t last = std::min(first + kGroup, targets.size());
    if (decode_eight != nullptr && last - first == kGroup &&
        decode_eight(encodings.data() + first * kBytes, &targets[first])) {
      continue;
    }
    for (std::size_t i = first; i < last; ++i) {
      const auto encoding = encodings.subspan(i * kBytes).template first<kBytes>();
      const PointFault fault =
          Point::from_uncompressed(encoding, PointCheck::kOnCurve, *targets[i]);
      if (fault != PointFault::kNone) return RunFault{i, fault};
    }
  }
  return std::nullopt;
}

template std::optional<RunFault> decode_run(base::ByteView, std::span<G1Affine* const>, Arithmetic);
template std::optional<RunFault> decode_run(base::ByteView, std::span<G2Affine* const>, Arithmetic);

}  // namespace cuzk::curve
