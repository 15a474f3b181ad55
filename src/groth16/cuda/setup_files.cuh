#pragma once

#include "base/mapped_file.hpp"
#include "groth16/cuda/key_points.cuh"
#include "groth16/point_writer.hpp"

#include <algorithm>
#include <array>
#include <span>

/// Arrays of points made and encoded on the device on their way into a key file.
namespace cuzk::groth16::cuda {

namespace setup_files_detail {

using curve::Fr;

/// Points on their way from the device into a file, a chunk at a time: while the file takes one
/// chunk, the next is encoded and copied.
template <class G>
class PointSink {
 public:
  PointSink(base::FileWriter& writer, std::size_t chunk, base::cuda::StreamRef stream)
      : writer_(writer), stream_(stream), encoded_(chunk * kEncodedBytes<G>, "encoded points") {
    for (Slot& slot : slots_) slot.host = {encoded_.size(), "encoded points"};
  }

  /// Enqueues encoding and copy, and writes the chunk before this one.
  void put(base::cuda::DeviceSpan<const StoredAffine<G>> points) {
    Slot& slot = slots_[next_];
    slot.bytes = points.size * kEncodedBytes<G>;
    encode_points<G>(points, points.size, encoded_.span(), stream_);
    base::cuda::copy_bytes(slot.host.data(), encoded_.data(), slot.bytes, stream_);
    slot.copied.record(stream_);
    next_ = 1 - next_;
    write(slots_[next_]);
  }
  /// Writes what is left.
  void finish() { write(slots_[1 - next_]); }

 private:
  struct Slot {
    base::cuda::PinnedBuffer<std::byte> host;
    base::cuda::Event copied;
    std::size_t bytes = 0;
  };

  void write(Slot& slot) {
    if (slot.bytes == 0) return;
    slot.copied.synchronize();
    writer_.write({reinterpret_cast<const std::uint8_t*>(slot.host.data()), slot.bytes});
    slot.bytes = 0;
  }

  base::FileWriter& writer_;
  base::cuda::StreamRef stream_;
  base::cuda::DeviceBuffer<std::byte> encoded_;
  std::array<Slot, 2> slots_;
  std::size_t next_ = 0;
};

inline std::size_t count_zeros(std::span<const Fr> scalars) {
  return static_cast<std::size_t>(std::count(scalars.begin(), scalars.end(), Fr::zero()));
}

/// The scalars in order, with or without those that are zero. A class and not a lambda: nvcc takes
/// lambdas that call Fr's members for device code.
class ScalarReader {
 public:
  ScalarReader(std::span<const Fr> scalars, bool drop_zeros)
      : scalars_(scalars), drop_zeros_(drop_zeros) {}

  void read(std::span<Fr> out) {
    for (Fr& scalar : out) {
      while (drop_zeros_ && scalars_[next_].is_zero()) ++next_;
      scalar = scalars_[next_++];
    }
  }

 private:
  std::span<const Fr> scalars_;
  bool drop_zeros_;
  std::size_t next_ = 0;
};

/// A section for all scalars, or for those that are not zero.
template <class G>
void write_multiples(base::FileWriter& writer, ChunkPipe& pipe, const FixedBaseTable<G>& table,
                     std::span<const Fr> scalars, bool drop_zeros) {
  const std::size_t count = scalars.size() - (drop_zeros ? count_zeros(scalars) : 0);
  write_count(writer, count);
  // Chunks come in order, so the scalars are taken one after the other.
  ScalarReader reader(scalars, drop_zeros);
  const auto take = [&reader](std::span<Fr> out, std::size_t) { reader.read(out); };
  using Source = Multiples<G, decltype(take)>;
  const std::size_t chunk = chunk_points<Source>(pipe, std::max<std::size_t>(count, 1));
  PointSink<G> sink(writer, chunk, pipe.stream());
  pass_chunks<G>(
      pipe, Source(table, take), chunk, count,
      [&](base::cuda::DeviceSpan<const StoredAffine<G>> points, std::size_t) { sink.put(points); });
  sink.finish();
}

}  // namespace setup_files_detail

}  // namespace cuzk::groth16::cuda
