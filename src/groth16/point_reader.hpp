#pragma once

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "curve/point.hpp"

#include <fmt/format.h>

#include <string_view>

/// Decoding of one point out of a key or proof, where infinity is always wrong.
namespace cuzk::groth16 {

/// Throws `Error` with name, what, and the fault.
template <class Error>
void require_point(curve::PointFault fault, std::string_view name, std::string_view what) {
  if (fault != curve::PointFault::kNone)
    base::fail<Error>("{}: {} is {}", name, what, curve::describe(fault));
}

template <class F>
curve::PointFault decode_compressed(base::ByteView bytes, curve::AffinePoint<F>& out) {
  using Point = curve::AffinePoint<F>;
  const auto view = bytes.first<Point::kCompressedBytes>();
  const curve::PointFault fault = Point::from_compressed(view, curve::PointCheck::kInGroup, out);
  return fault == curve::PointFault::kNone && out.is_identity() ? curve::PointFault::kIdentity
                                                                : fault;
}

template <class F>
curve::PointFault decode_uncompressed(base::ByteView bytes, curve::PointCheck check,
                                      curve::AffinePoint<F>& out) {
  using Point = curve::AffinePoint<F>;
  const auto view = bytes.first<Point::kUncompressedBytes>();
  const curve::PointFault fault = Point::from_uncompressed(view, check, out);
  return fault == curve::PointFault::kNone && out.is_identity() ? curve::PointFault::kIdentity
                                                                : fault;
}

}  // namespace cuzk::groth16
