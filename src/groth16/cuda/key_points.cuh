#pragma once

#include "base/error.hpp"
#include "base/mapped_file.hpp"
#include "base/parallel.hpp"
#include "curve/fr.hpp"
#include "groth16/cuda/chunk_pipe.cuh"
#include "groth16/cuda/query_builder.cuh"
#include "groth16/ops/cuda/instances/key_points.hpp"
#include "groth16/point_reader.hpp"
#include "groth16/section.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

/// Where the points of a key come from. A source gives kHostBytes bytes on the host for each point,
/// in any range (fill), and enqueues their turning into points on the device (make):
///
///   void fill(std::span<std::byte> out, std::size_t first, std::size_t count) const;
///   void make(DeviceSpan<const std::byte> in, std::size_t first,
///             DeviceSpan<StoredAffine<G>> out, StreamRef stream) const;
///
/// pass_array() and pass_query() move whole arrays through a pipe.
namespace cuzk::groth16::cuda {

/// Host bytes are copied in parallel in pieces of this size.
inline constexpr std::size_t kCopyPiece = std::size_t{1} << 20;

/// The points of a file's section, decoded and checked on the device.
template <class G>
class FilePoints {
 public:
  static constexpr std::size_t kHostBytes = kEncodedBytes<G>;

  /// All must outlive the source. `what` names the array in errors.
  FilePoints(const base::MappedFile& file, const Section& section, std::string_view what,
             IdentityRule identity, base::cuda::StreamRef stream)
      : file_(file), section_(section), what_(what), identity_(identity), fault_(1, "a fault") {
    base::cuda::fill_bytes(fault_.data(), 0xff, sizeof(FaultWord), stream);
  }

  void fill(std::span<std::byte> out, std::size_t first, std::size_t) const {
    const std::size_t offset = section_.offset + first * kHostBytes;
    base::parallel_ranges((out.size() + kCopyPiece - 1) / kCopyPiece, 1,
                          [&](std::size_t begin, std::size_t end) {
                            const std::size_t at = begin * kCopyPiece;
                            const std::size_t bytes = std::min(end * kCopyPiece, out.size()) - at;
                            std::memcpy(out.data() + at, file_.bytes().data() + offset + at, bytes);
                          });
    file_.discard(offset, out.size());
  }
  void make(base::cuda::DeviceSpan<const std::byte> in, std::size_t first,
            base::cuda::DeviceSpan<StoredAffine<G>> out, base::cuda::StreamRef stream) const {
    decode_points<G>(in, out.size, identity_, first, out, fault_.data(), stream);
  }
  /// Waits. Throws CorruptData that names the first bad point, or the place that cannot be read.
  void require_good(base::cuda::StreamRef stream) const {
    const FaultWord fault = fault_.download(stream)[0];
    file_.require_readable();
    require_point<base::CorruptData>(fault_kind(fault), file_.path().string(),
                                     fmt::format("{}[{}]", what_, fault_index(fault)));
  }

 private:
  const base::MappedFile& file_;
  const Section& section_;
  std::string_view what_;
  IdentityRule identity_;
  base::cuda::DeviceBuffer<FaultWord> fault_;
};

/// Points in host memory: point_at(i) points to the one at place i, which
/// must be canonical; called by several threads.
template <class G, class PointAt>
class HostPoints {
 public:
  static constexpr std::size_t kHostBytes = sizeof(StoredAffine<G>);

  explicit HostPoints(PointAt point_at) : point_at_(std::move(point_at)) {}

  void fill(std::span<std::byte> out, std::size_t first, std::size_t count) const {
    base::parallel_ranges(count, 4096, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        std::memcpy(out.data() + i * kHostBytes, point_at_(first + i), kHostBytes);
    });
  }
  void make(base::cuda::DeviceSpan<const std::byte> in, std::size_t,
            base::cuda::DeviceSpan<StoredAffine<G>> out, base::cuda::StreamRef stream) const {
    base::cuda::copy_bytes(out.data, in.data, out.size_bytes(), stream);
  }

 private:
  PointAt point_at_;
};

/// Host points have the bytes of device points.
template <class G, class F>
StoredAffine<G> stored(const curve::AffinePoint<F>& point) {
  static_assert(sizeof(StoredAffine<G>) == sizeof(point));
  StoredAffine<G> out;
  std::memcpy(&out, &point, sizeof(out));
  return out;
}

/// The table of a fixed base, in device memory.
template <class G>
class FixedBaseTable {
 public:
  FixedBaseTable(const StoredAffine<G>& base, std::size_t scalars, base::cuda::StreamRef stream)
      : plan_(FixedBasePlan::for_count(scalars)), table_(plan_.table_points(), "a fixed base") {
    const base::cuda::DeviceBuffer<StoredAffine<G>> bases(plan_.windows, "a fixed base");
    bases.upload(window_bases<G>(plan_, base), stream);
    make_fixed_base_table<G>(plan_, bases.const_span(), table_.span(), stream);
    base::cuda::synchronize(stream);
  }
  const FixedBasePlan& plan() const { return plan_; }
  base::cuda::DeviceSpan<const StoredAffine<G>> table() const { return table_.const_span(); }

 private:
  FixedBasePlan plan_;
  base::cuda::DeviceBuffer<StoredAffine<G>> table_;
};

/// Multiples of a fixed base: write_scalars(out, first) writes out.size() scalars from place
/// `first` on.
template <class G, class WriteScalars>
class Multiples {
 public:
  static constexpr std::size_t kHostBytes = sizeof(curve::Fr);

  /// The table must outlive the source.
  Multiples(const FixedBaseTable<G>& table, WriteScalars write_scalars)
      : table_(table), write_scalars_(std::move(write_scalars)) {}

  void fill(std::span<std::byte> out, std::size_t first, std::size_t count) const {
    write_scalars_(std::span(reinterpret_cast<curve::Fr*>(out.data()), count), first);
  }
  void make(base::cuda::DeviceSpan<const std::byte> in, std::size_t,
            base::cuda::DeviceSpan<StoredAffine<G>> out, base::cuda::StreamRef stream) const {
    multiply_fixed_base<G>(table_.plan(), table_.table(),
                           {reinterpret_cast<const curve::device::Fr*>(in.data), out.size},
                           out.size, out, stream);
  }

 private:
  const FixedBaseTable<G>& table_;
  WriteScalars write_scalars_;
};

/// Points that a pipe's chunk holds, at most `most`.
template <class Source>
std::size_t chunk_points(const ChunkPipe& pipe, std::size_t most) {
  return std::clamp<std::size_t>(pipe.capacity() / Source::kHostBytes, 1, most);
}

/// Makes the source's points 0 ... count - 1 and enqueues use(points, first), a chunk at a time.
/// Waits.
template <class G, class Source, class Use>
void pass_chunks(ChunkPipe& pipe, const Source& source, std::size_t chunk, std::size_t count,
                 Use&& use) {
  const base::cuda::DeviceBuffer<StoredAffine<G>> made(std::min(chunk, count), "points of a chunk");
  for (std::size_t first = 0; first < count; first += chunk) {
    const auto points = made.span().first(std::min(chunk, count - first));
    pipe.pass(
        points.size * Source::kHostBytes,
        [&](std::span<std::byte> bytes) { source.fill(bytes, first, points.size); },
        [&](base::cuda::DeviceSpan<const std::byte> bytes) {
          source.make(bytes, first, points, pipe.stream());
          use(base::cuda::DeviceSpan<const StoredAffine<G>>(points), first);
        });
  }
  base::cuda::synchronize(pipe.stream());
}

/// The query of the source's points, which come in the key's order. Waits.
template <class G, class Source>
QueryMemory<G> pass_query(ChunkPipe& pipe, const Source& source, std::size_t most_points,
                          const KeyOrder& order, Placement placement) {
  const std::size_t chunk =
      std::min(chunk_points<Source>(pipe, most_points), std::max<std::size_t>(order.size(), 1));
  QueryBuilder<G> builder(order, placement, chunk, pipe.stream());
  pass_chunks<G>(pipe, source, chunk, order.size(),
                 [&](base::cuda::DeviceSpan<const StoredAffine<G>> points, std::size_t) {
                   builder.put(points);
                 });
  return builder.finish();
}

/// Points that are no query, on the device or in host memory.
template <class G>
struct PointMemory {
  base::cuda::DeviceBuffer<StoredAffine<G>> device;
  base::cuda::RegisteredArray<StoredAffine<G>> host;
};
/// The source's points 0 ... count - 1. Waits.
template <class G, class Source>
PointMemory<G> pass_array(ChunkPipe& pipe, const Source& source, std::size_t most_points,
                          std::size_t count, Placement placement, const char* purpose) {
  PointMemory<G> out;
  if (placement == Placement::kHost) {
    out.host = {count, purpose};
    pass_chunks<G>(pipe, source, chunk_points<Source>(pipe, most_points), count,
                   [&](base::cuda::DeviceSpan<const StoredAffine<G>> points, std::size_t first) {
                     base::cuda::copy_bytes(out.host.data() + first, points.data,
                                            points.size_bytes(), pipe.stream());
                   });
  } else {
    out.device = {count, purpose};
    const std::size_t chunk = chunk_points<Source>(pipe, most_points);
    for (std::size_t first = 0; first < count; first += chunk) {
      const auto points = out.device.span().subspan(first, std::min(chunk, count - first));
      pipe.pass(
          points.size * Source::kHostBytes,
          [&](std::span<std::byte> bytes) { source.fill(bytes, first, points.size); },
          [&](base::cuda::DeviceSpan<const std::byte> bytes) {
            source.make(bytes, first, points, pipe.stream());
          });
    }
    base::cuda::synchronize(pipe.stream());
  }
  return out;
}

}  // namespace cuzk::groth16::cuda
