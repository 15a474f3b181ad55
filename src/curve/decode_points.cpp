#include "curve/decode_points.hpp"

#include "base/error.hpp"
#include "curve/cpu_features.hpp"

namespace cuzk::curve {

template <class F>
std::optional<RunFault> decode_run(base::ByteView encodings,
                                   std::span<AffinePoint<F>* const> targets,
                                   DecodeArithmetic arithmetic) {
  using Point = AffinePoint<F>;
  constexpr std::size_t kBytes = Point::kUncompressedBytes, kGroup = 8;
  base::require(encodings.size() == targets.size() * kBytes, "{} bytes for {} points of {} bytes",
                encodings.size(), targets.size(), kBytes);
  const bool vectors = arithmetic == DecodeArithmetic::kBest && cpu_has_avx2_fma();
  for (std::size_t first = 0; first < targets.size(); first += kGroup) {
    const std::size_t last = std::min(first + kGroup, targets.size());
#if defined(__x86_64__)
    if (vectors && last - first == kGroup &&
        decode_kernels::decode_eight_avx2(encodings.data() + first * kBytes, &targets[first])) {
      continue;
    }
#endif
    for (std::size_t i = first; i < last; ++i) {
      const auto encoding = encodings.subspan(i * kBytes).template first<kBytes>();
      const PointFault fault =
          Point::from_uncompressed(encoding, PointCheck::kOnCurve, *targets[i]);
      if (fault != PointFault::kNone) return RunFault{i, fault};
    }
  }
  return std::nullopt;
}

template std::optional<RunFault> decode_run(base::ByteView, std::span<G1Affine* const>,
                                            DecodeArithmetic);
template std::optional<RunFault> decode_run(base::ByteView, std::span<G2Affine* const>,
                                            DecodeArithmetic);

}  // namespace cuzk::curve
