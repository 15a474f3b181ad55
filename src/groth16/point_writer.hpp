#pragma once

#include "base/mapped_file.hpp"
#include "base/parallel.hpp"
#include "curve/point.hpp"
#include "groth16/section.hpp"

#include <algorithm>
#include <span>

namespace cuzk::groth16 {

/// Writes points uncompressed, without a count. Encoded in parallel.
template <class F>
void write_points(base::FileWriter& writer, std::span<const curve::AffinePoint<F>> points) {
  using Point = curve::AffinePoint<F>;
  base::Bytes bytes(points.size() * Point::kUncompressedBytes);
  base::parallel_ranges(points.size(), 256, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      const auto encoding = points[i].to_uncompressed();
      std::copy(encoding.begin(), encoding.end(),
                bytes.begin() + static_cast<std::ptrdiff_t>(i * encoding.size()));
    }
  });
  writer.write(bytes);
}

inline void write_count(base::FileWriter& writer, std::size_t count) {
  base::Bytes bytes;
  append_count(bytes, count);
  writer.write(bytes);
}

/// A count and its points.
template <class F>
void write_section(base::FileWriter& writer, std::span<const curve::AffinePoint<F>> points) {
  write_count(writer, points.size());
  write_points(writer, points);
}

}  // namespace cuzk::groth16
