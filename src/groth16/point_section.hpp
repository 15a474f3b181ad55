#pragma once

#include "base/large_array.hpp"
#include "base/mapped_file.hpp"
#include "base/parallel.hpp"
#include "curve/decode_points.hpp"
#include "groth16/point_reader.hpp"
#include "groth16/section.hpp"
#include "groth16/variables.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

/// Decoding of whole arrays of points, in parallel; pages of the file are let go behind the
/// readers.
namespace cuzk::groth16 {

/// A query's points, those with a scalar of any size and those of bits apart, each in the layout's
/// order.
template <class F>
struct Query {
  base::LargeArray<curve::AffinePoint<F>> fields;
  base::LargeArray<curve::AffinePoint<F>> bits;
};

enum class AllowIdentity { kNo, kYes };

inline constexpr std::size_t kPointsPerTask = 4096;

/// Decodes `count` points, point i into place(i); place is called once for each, in order. Every
/// point is checked to be on the curve. Throws CorruptData that names the file, the array and the
/// index, or the place that cannot be read.
template <class F, class Place>
void decode_points(const base::MappedFile& file, const Section& section, std::string_view what,
                   AllowIdentity identity, std::size_t first, std::size_t count, Place&& place) {
  using Point = curve::AffinePoint<F>;
  constexpr std::size_t kRun = 64;
  std::array<Point*, kRun> targets;
  const auto require_good = [&](curve::PointFault fault, std::size_t index) {
    if (fault == curve::PointFault::kNone) return;
    file.require_readable();
    require_point<base::CorruptData>(fault, file.path().string(),
                                     fmt::format("{}[{}]", what, index));
  };
  const std::size_t offset = section.offset + first * Point::kUncompressedBytes;
  for (std::size_t done = 0; done < count; done += kRun) {
    const std::size_t run = std::min(kRun, count - done);
    for (std::size_t i = 0; i < run; ++i) targets[i] = &place(first + done + i);
    const std::optional<curve::RunFault> fault =
        curve::decode_run<F>(file.bytes().subspan(offset + done * Point::kUncompressedBytes,
                                                  run * Point::kUncompressedBytes),
                             std::span<Point* const>(targets).first(run));
    const std::size_t good = fault ? fault->index : run;
    for (std::size_t i = 0; i < good && identity == AllowIdentity::kNo; ++i) {
      if (targets[i]->is_identity()) require_good(curve::PointFault::kIdentity, first + done + i);
    }
    if (fault) require_good(fault->fault, first + done + fault->index);
  }
  file.require_readable();
  file.discard(offset, count * Point::kUncompressedBytes);
}

/// The points [first, first + count) of a section.
template <class F>
base::LargeArray<curve::AffinePoint<F>> read_points(const base::MappedFile& file,
                                                    const Section& section, std::string_view what,
                                                    AllowIdentity identity, std::size_t first,
                                                    std::size_t count) {
  base::LargeArray<curve::AffinePoint<F>> out(count, base::LargePages::kNo);
  base::parallel_ranges(count, kPointsPerTask, [&](std::size_t begin, std::size_t end) {
    decode_points<F>(file, section, what, identity, first + begin, end - begin,
                     [&](std::size_t i) -> curve::AffinePoint<F>& { return out[i - first]; });
  });
  return out;
}

template <class F>
base::LargeArray<curve::AffinePoint<F>> read_points(const base::MappedFile& file,
                                                    const Section& section, std::string_view what,
                                                    AllowIdentity identity = AllowIdentity::kNo) {
  return read_points<F>(file, section, what, identity, 0, section.count);
}

/// A section whose points belong to the layout's variables in order, split into fields and bits.
template <class F>
Query<F> read_query(const base::MappedFile& file, const Section& section, const QueryLayout& layout,
                    std::string_view what, AllowIdentity identity = AllowIdentity::kNo) {
  using Points = base::LargeArray<curve::AffinePoint<F>>;
  Query<F> out{Points(layout.field_count(), base::LargePages::kNo),
               Points(layout.bit_count, base::LargePages::kNo)};
  const std::size_t inputs = layout.inputs.size();
  decode_points<F>(file, section, what, identity, 0, inputs,
                   [&](std::size_t i) -> curve::AffinePoint<F>& { return out.fields[i]; });
  // Where each run of words starts among all points and among the bits.
  constexpr std::size_t kWordsPerTask = kPointsPerTask / 64;
  const std::size_t tasks = (layout.aux_mask.size() + kWordsPerTask - 1) / kWordsPerTask;
  std::vector<std::size_t> first_point(tasks + 1, inputs), first_bit(tasks + 1, 0);
  const auto end_word = [&](std::size_t task) {
    return std::min((task + 1) * kWordsPerTask, layout.aux_mask.size());
  };
  for (std::size_t task = 0; task < tasks; ++task) {
    first_point[task + 1] = first_point[task];
    first_bit[task + 1] = first_bit[task];
    for (std::size_t word = task * kWordsPerTask; word < end_word(task); ++word) {
      first_point[task + 1] += static_cast<std::size_t>(std::popcount(layout.aux_mask[word]));
      first_bit[task + 1] += static_cast<std::size_t>(std::popcount(layout.bit_mask[word]));
    }
  }
  base::parallel_for(tasks, [&](std::size_t task) {
    std::size_t word = task * kWordsPerTask, bit = first_bit[task];
    std::size_t field = inputs + (first_point[task] - inputs) - first_bit[task];
    std::uint64_t left = layout.aux_mask.empty() ? 0 : layout.aux_mask[word];
    const auto place = [&](std::size_t) -> curve::AffinePoint<F>& {
      while (left == 0) left = layout.aux_mask[++word];
      const std::uint64_t lowest = left & -left;
      left ^= lowest;
      return (layout.bit_mask[word] & lowest) != 0 ? out.bits[bit++] : out.fields[field++];
    };
    decode_points<F>(file, section, what, identity, first_point[task],
                     first_point[task + 1] - first_point[task], place);
  });
  return out;
}

}  // namespace cuzk::groth16
