#include "base/cuda/buffer.hpp"
#include "base/cuda/stream.hpp"
#include "base/error.hpp"
#include "base/parallel.hpp"
#include "groth16/cuda/point_transforms.hpp"
#include "groth16/ops/cuda/instances/point_transform.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

namespace cuzk::groth16::cuda {

using base::cuda::DeviceBuffer;
using base::cuda::DeviceSpan;
using base::cuda::PinnedBuffer;
using base::cuda::StreamRef;

namespace {

// Points and factors have the same bytes on host and device.
using HostPoint = curve::G1Affine;
using HostFactor = curve::Fr;
using DevicePoint = curve::device::G1Affine;
using DeviceSum = curve::device::G1Xyzz;
using DeviceFactor = curve::device::Fr;
static_assert(sizeof(HostPoint) == sizeof(DevicePoint) &&
              sizeof(HostFactor) == sizeof(DeviceFactor));

/// A place for a piece, on the host and on the device, with a stream of its own.
class Slot {
 public:
  explicit Slot(std::size_t capacity)
      : points(capacity, kPurpose),
        addends(capacity, kPurpose),
        factors(capacity, kPurpose),
        device_points_(capacity, kPurpose),
        device_factors_(capacity, kPurpose),
        sums_(capacity, kPurpose) {}
  ~Slot() {
    try {
      stream_.synchronize();
    } catch (...) {
      // The work has failed; whoever waits for its result learns of it.
    }
  }
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

  /// What the host fills before start(); `points` has the result after finish().
  PinnedBuffer<HostPoint> points, addends;
  PinnedBuffer<HostFactor> factors;

  /// Enqueues sums = points, times factors if `scaled`, then work(sums, stream), then sums +=
  /// addends if `added`, then points = sums.
  template <class Work>
  void start(std::size_t count, bool scaled, bool added, const Work& work) {
    const StreamRef stream = stream_.ref();
    const DeviceSpan<DeviceSum> sums = sums_.span().first(count);
    const DeviceSpan<DevicePoint> device_points = device_points_.span().first(count);
    upload(points, device_points_, count);
    lift_points(device_points, sums, stream);
    if (scaled) {
      upload(factors, device_factors_, count);
      multiply_points(device_factors_.const_span().first(count), sums, stream);
    }
    work(sums, stream);
    if (added) {
      upload(addends, device_points_, count);
      add_points(device_points, sums, stream);
    }
    settle_points(sums, device_points, stream);
    base::cuda::copy_bytes(points.data(), device_points.data, device_points.size_bytes(), stream);
    busy_ = true;
  }
  /// Waits for the piece that was started.
  void finish() {
    stream_.synchronize();
    busy_ = false;
  }
  bool busy() const { return busy_; }

 private:
  static constexpr const char* kPurpose = "a piece of a transform of points";

  template <class Host, class Device>
  void upload(const PinnedBuffer<Host>& from, const DeviceBuffer<Device>& to,
              std::size_t count) const {
    base::cuda::copy_bytes(to.data(), from.data(), count * sizeof(Host), stream_.ref());
  }

  base::cuda::Stream stream_;
  DeviceBuffer<DevicePoint> device_points_;
  DeviceBuffer<DeviceFactor> device_factors_;
  DeviceBuffer<DeviceSum> sums_;
  bool busy_ = false;
};

/// ω's powers in two tables.
class Roots {
 public:
  Roots(const HostFactor& omega, unsigned log_n, StreamRef stream) : low_log_(log_n / 2) {
    const unsigned high_log = log_n - low_log_;  // half of it would do
    low_ = uploaded(omega, std::size_t{1} << low_log_, stream);
    HostFactor step = omega;
    for (unsigned i = 0; i < low_log_; ++i) step = step * step;
    high_ = uploaded(step, std::size_t{1} << high_log, stream);
  }
  RootPowers powers() const { return {low_.const_span(), high_.const_span(), low_log_}; }

 private:
  static DeviceBuffer<DeviceFactor> uploaded(const HostFactor& base, std::size_t count,
                                             StreamRef stream) {
    std::vector<DeviceFactor> values(count);
    HostFactor power = HostFactor::one();
    for (DeviceFactor& value : values) {
      std::memcpy(&value, &power, sizeof(value));
      power = power * base;
    }
    DeviceBuffer<DeviceFactor> out(count, "roots of unity");
    out.upload(values, stream);
    return out;
  }

  unsigned low_log_;
  DeviceBuffer<DeviceFactor> low_, high_;
};

/// Runs of consecutive points of an array that make a piece: run i starts at first + i·stride.
struct Runs {
  std::size_t first, stride, count, length;

  std::size_t points() const { return count * length; }
  /// copy(place in the array, place in the piece, length) for every run, in parallel.
  template <class Copy>
  void for_each(const Copy& copy) const {
    // Long runs in parts.
    const std::size_t part = std::min<std::size_t>(length, 4096), parts = length / part;
    base::parallel_for(count * parts, [&](std::size_t i) {
      const std::size_t run = i / parts, at = i % parts * part;
      const std::size_t size = i % parts + 1 == parts ? length - at : part;
      copy(first + run * stride + at, run * length + at, size);
    });
  }
};

class CudaPointTransforms final : public PointTransforms {
 public:
  CudaPointTransforms(const Domain& domain, std::size_t points_a_piece)
      : domain_(domain),
        rows_(std::size_t{1} << (domain.log_n() + 1) / 2),
        columns_(domain.n() / rows_),
        capacity_(std::min(points_a_piece, domain.n())),
        inverse_(domain.omega_inverse(), domain.log_n(), setup_.ref()),
        forward_(domain.omega(), domain.log_n(), setup_.ref()),
        slots_{Slot(checked(capacity_)), Slot(capacity_)} {}

  void transform(std::span<HostPoint> points, TransformDirection direction,
                 const PointFactors* factors, const Progress& progress) override {
    base::require(points.size() == domain_.n(), "transform of {} points in a domain of {}",
                  points.size(), domain_.n());
    const auto half_way = [&](double share) { progress(share / 2); };
    const auto other_half = [&](double share) { progress(0.5 + share / 2); };
    if (direction == TransformDirection::kInverse) {
      column_pass(points, direction, factors, half_way);
      row_pass(points, direction, nullptr, other_half);
    } else {
      row_pass(points, direction, factors, half_way);
      column_pass(points, direction, nullptr, other_half);
    }
  }

  void add_multiples(std::span<const HostPoint> points, const PointFactors& factors,
                     std::span<HostPoint> sums, const Progress& progress) override {
    base::require(points.size() == sums.size(), "{} multiples for {} sums", points.size(),
                  sums.size());
    const auto runs = [&](std::size_t piece) {
      const std::size_t first = piece * capacity_;
      const std::size_t count = std::min(capacity_, points.size() - first);
      return Runs{first, count, 1, count};
    };
    pass((points.size() + capacity_ - 1) / capacity_, runs, sums, points, &factors,
         [](std::size_t, DeviceSpan<DeviceSum>, StreamRef) {}, progress);
  }

 private:
  std::size_t checked(std::size_t capacity) const {
    base::require(capacity >= std::max(rows_, columns_),
                  "transforms of 2^{} points need pieces of {} points or more, not of {}",
                  domain_.log_n(), std::max(rows_, columns_), capacity);
    return capacity;
  }

  /// The points as a matrix of rows_ rows: stages between rows, for a number of columns at a time.
  void column_pass(std::span<HostPoint> points, TransformDirection direction,
                   const PointFactors* factors, const Progress& progress) {
    const std::size_t width = std::min(columns_, capacity_ / rows_);
    const auto runs = [&](std::size_t piece) {
      const std::size_t first = piece * width;
      return Runs{first, columns_, rows_, std::min(width, columns_ - first)};
    };
    const auto work = [&](std::size_t piece, DeviceSpan<DeviceSum> sums, StreamRef stream) {
      const Runs part = runs(piece);
      stages({.rows = rows_,
              .columns = part.length,
              .row_stride = columns_,
              .first_column = part.first},
             direction, sums, stream);
    };
    pass((columns_ + width - 1) / width, runs, points, {}, factors, work, progress);
  }

  /// Stages within the rows, for a number of rows at a time.
  void row_pass(std::span<HostPoint> points, TransformDirection direction,
                const PointFactors* factors, const Progress& progress) {
    const std::size_t height = std::min(rows_, capacity_ / columns_);
    const auto runs = [&](std::size_t piece) {
      const std::size_t first = piece * height;
      const std::size_t count = std::min(height, rows_ - first) * columns_;
      return Runs{first * columns_, count, 1, count};
    };
    const auto work = [&](std::size_t piece, DeviceSpan<DeviceSum> sums, StreamRef stream) {
      stages({.blocks = runs(piece).points() / columns_, .rows = columns_, .root_step = rows_},
             direction, sums, stream);
    };
    pass((rows_ + height - 1) / height, runs, points, {}, factors, work, progress);
  }

  void stages(const TransformPiece& piece, TransformDirection direction, DeviceSpan<DeviceSum> sums,
              StreamRef stream) const {
    if (direction == TransformDirection::kInverse) {
      for (std::size_t half = piece.rows / 2; half > 0; half /= 2) {
        transform_stage(piece, half, Butterfly::kDecimationInFrequency, inverse_.powers(), sums,
                        stream);
      }
    } else {
      for (std::size_t half = 1; half < piece.rows; half *= 2) {
        transform_stage(piece, half, Butterfly::kDecimationInTime, forward_.powers(), sums, stream);
      }
    }
  }

  /// For every piece: its runs of `from` (of `points` if that is empty), times the factors at their
  /// places, through `work`; where `from` is given, plus their old values in `points`; into
  /// `points`. Two pieces at a time.
  template <class RunsOf, class Work>
  void pass(std::size_t pieces, const RunsOf& runs_of, std::span<HostPoint> points,
            std::span<const HostPoint> from, const PointFactors* factors, const Work& work,
            const Progress& progress) {
    const bool added = !from.empty();
    for (std::size_t piece = 0; piece < pieces + slots_.size(); ++piece) {
      Slot& slot = slots_[piece % slots_.size()];
      if (slot.busy()) {
        slot.finish();
        runs_of(piece - slots_.size())
            .for_each([&](std::size_t in_array, std::size_t in_piece, std::size_t length) {
              std::memcpy(&points[in_array], slot.points.data() + in_piece,
                          length * sizeof(HostPoint));
            });
        progress(static_cast<double>(piece - 1) / static_cast<double>(pieces));
      }
      if (piece >= pieces) continue;
      const Runs runs = runs_of(piece);
      runs.for_each([&](std::size_t in_array, std::size_t in_piece, std::size_t length) {
        std::memcpy(slot.points.data() + in_piece, added ? &from[in_array] : &points[in_array],
                    length * sizeof(HostPoint));
        if (added)
          std::memcpy(slot.addends.data() + in_piece, &points[in_array],
                      length * sizeof(HostPoint));
        if (factors != nullptr)
          factors->fill(in_array, slot.factors.span().subspan(in_piece, length));
      });
      slot.start(runs.points(), factors != nullptr, added,
                 [&](DeviceSpan<DeviceSum> sums, StreamRef stream) { work(piece, sums, stream); });
    }
  }

  Domain domain_;
  std::size_t rows_, columns_, capacity_;
  base::cuda::Stream setup_;
  Roots inverse_, forward_;
  std::array<Slot, 2> slots_;
};

}  // namespace

std::unique_ptr<PointTransforms> make_point_transforms(const Domain& domain,
                                                       std::size_t points_a_piece) {
  return std::make_unique<CudaPointTransforms>(domain, points_a_piece);
}

}  // namespace cuzk::groth16::cuda
