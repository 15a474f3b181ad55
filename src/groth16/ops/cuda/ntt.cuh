#pragma once

#include "base/cuda/launch.hpp"
#include "base/cuda/span.hpp"
#include "base/error.hpp"
#include "groth16/ops/cuda/ntt_pass.cuh"
#include "groth16/ops/cuda/ntt_small.cuh"

#include <array>
#include <cstddef>
#include <cstdint>

/// Transforms over the domain D = {ω^i} of n = 2^log_n points, ω = 7^((r-1)/n), in place on the
/// device.
///
/// Elements are lazy on both sides and keep their form, plain or Montgomery. There is no bit
/// reversal: intt_unscaled leaves coefficients in bit-reversed order and ntt_from_bit_reversed
/// takes them so; ntt_from_bit_reversed(intt_unscaled(x)) = n·x.
///
/// Measured on H200: 2^27 in 25.9 ms either way, derivative 52.2 ms.
namespace cuzk::groth16::cuda {

struct NttOptions {
  /// Factors of the first pass from one table of n entries (64 bytes each, for either
  /// direction: 17.2 GB at 2^27), or from two tables of about sqrt(n) entries, at one product more
  /// an element. Off where device memory is short.
  bool full_twist_table = true;
};

/// The tables of one domain, and the transforms that use them. Constant after construction: any
/// number of threads may enqueue transforms of it, each on its own vector. Does not own its memory.
class Ntt {
 public:
  static constexpr int kMaxLog = 27;

  /// Bytes that the tables take. Throws InvalidInput unless 0 <= log_n <= kMaxLog.
  static std::size_t table_bytes(int log_n, const NttOptions& options);

  /// Enqueues the making of the tables in `memory` (at least table_bytes()), which must outlive
  /// this object.
  Ntt(int log_n, const NttOptions& options, base::cuda::DeviceSpan<std::byte> memory,
      base::cuda::StreamRef stream);

  int log_n() const { return log_n_; }
  std::size_t n() const { return std::size_t{1} << log_n_; }

  /// x_j -> y with y[reverse(k)] = sum over j of x_j·ω^(-jk): interpolation without the factor 1/n.
  void intt_unscaled(Fr* x, base::cuda::StreamRef stream) const;
  /// y -> x with x_i = sum over k of y[reverse(k)]·ω^(ik): evaluation.
  void ntt_from_bit_reversed(Fr* x, base::cuda::StreamRef stream) const;
  /// x_i = X(ω^i) -> n/2^32·(X·d/dX)(ω^i), natural order on both sides:
  /// ntt_from_bit_reversed(k/2^32·intt_unscaled(x)_k), in five passes.
  void derivative(Fr* x, base::cuda::StreamRef stream) const;
  /// The same of the vector that `codes` describes: element i is codes[i], or x[i] where that is
  /// kWideCode.
  void derivative_from_codes(Fr* x, const std::int8_t* codes, base::cuda::StreamRef stream) const;

 private:
  enum Direction { kDif, kDit };
  struct PassTables {
    std::array<const uint4*, 2> inner{};  // by direction
    std::array<Twist, 2> twist{};
  };
  /// A pointer for each table, cut from `memory`; the addresses mean nothing where it only
  /// measures.
  struct Layout {
    struct Powers {
      base::cuda::DeviceSpan<FrFactor> low, high;
      int low_bits = 0;
    };
    struct OnePass {
      std::array<base::cuda::DeviceSpan<uint4>, 2> inner;
      std::array<base::cuda::DeviceSpan<Fr>, 2> w, companion;
      std::array<Powers, 2> powers;
    };
    std::array<OnePass, 3> pass;
    std::array<base::cuda::DeviceSpan<FrFactor>, 2> small;
  };
  static Layout carve(int log_n, const NttOptions& options, base::cuda::Carver& carver);
  static int pass_count(int log_n) { return log_n <= kSmallLog ? 0 : log_n <= 18 ? 2 : 3; }
  static int pass_log(int log_n, int i) {
    const int passes = pass_count(log_n);
    return log_n / passes + (i < log_n % passes ? 1 : 0);
  }
  void make_small_tables(const Layout& layout, base::cuda::StreamRef stream);
  void make_pass_tables(const Layout& layout, const NttOptions& options, int i,
                        base::cuda::StreamRef stream);
  void small(Fr* x, SmallTransform kind, base::cuda::StreamRef stream) const;
  Pass describe(Fr* x, int i, Direction direction) const;
  template <int Log>
  void dif_pass(Fr* x, const std::int8_t* codes, int i, base::cuda::StreamRef stream) const;
  template <int Log>
  void dit_pass(Fr* x, int i, base::cuda::StreamRef stream) const;
  /// Calls f(std::integral_constant<int, log of pass i>).
  template <class F>
  void with_log(int i, F&& f) const;
  void dif_passes(Fr* x, const std::int8_t* codes, int first, int last,
                  base::cuda::StreamRef stream) const;
  void dit_passes(Fr* x, int last, int first, base::cuda::StreamRef stream) const;

  int log_n_;
  std::array<std::uint32_t, 3> stride_{};
  std::array<PassTables, 3> tables_{};
  std::array<const FrFactor*, 2> small_powers_{};
};

// ---- Implementation

inline Ntt::Layout Ntt::carve(int log_n, const NttOptions& options, base::cuda::Carver& carver) {
  base::require(log_n >= 0 && log_n <= kMaxLog, "transform of 2^{} points: log2 must be 0 .. {}",
                log_n, kMaxLog);
  Layout layout;
  const int passes = pass_count(log_n);
  for (const Direction d : {kDif, kDit}) {
    if (passes == 0) layout.small[d] = carver.take<FrFactor>((std::size_t{1} << log_n) / 2 + 1);
    int log_below = log_n;
    for (int i = 0; i < passes; ++i) {
      Layout::OnePass& pass = layout.pass[static_cast<std::size_t>(i)];
      const int log = pass_log(log_n, i);
      pass.inner[d] = carver.take<uint4>(4 * ((std::size_t{1} << log) * 9 / 8));
      if (i + 1 == passes) break;
      const std::size_t entries = std::size_t{1} << log_below;
      Layout::Powers& powers = pass.powers[d];
      powers.low_bits = (log_below + 1) / 2;
      powers.low = carver.take<FrFactor>(std::size_t{1} << powers.low_bits);
      powers.high = carver.take<FrFactor>(entries >> powers.low_bits);
      if (i > 0 || options.full_twist_table) {
        pass.w[d] = carver.take<Fr>(entries);
        pass.companion[d] = carver.take<Fr>(entries);
      }
      log_below -= log;
    }
  }
  return layout;
}

inline std::size_t Ntt::table_bytes(int log_n, const NttOptions& options) {
  base::cuda::Carver measure;
  carve(log_n, options, measure);
  return measure.bytes_used();
}

inline Ntt::Ntt(int log_n, const NttOptions& options, base::cuda::DeviceSpan<std::byte> memory,
                base::cuda::StreamRef stream)
    : log_n_(log_n) {
  base::cuda::Carver carver(memory);
  const Layout layout = carve(log_n, options, carver);
  base::require(carver.fits(), "tables of a transform of 2^{} points need {} bytes, given {}",
                log_n, carver.bytes_used(), memory.size);
  if (pass_count(log_n) == 0) make_small_tables(layout, stream);
  for (int i = 0; i < pass_count(log_n); ++i) make_pass_tables(layout, options, i, stream);
}

inline void Ntt::make_small_tables(const Layout& layout, base::cuda::StreamRef stream) {
  const Fr omega = curve::device::root_of_unity(log_n_);
  const auto half = static_cast<std::uint32_t>(n() / 2);
  for (const Direction d : {kDif, kDit}) {
    const Fr root = d == kDit ? omega : pow_plain(omega, n() - 1);
    base::cuda::launch(fill_powers, {base::cuda::blocks_for(half, 128), 128, 0}, stream,
                       layout.small[d].data, half, root, 1u, Fr::from_u32(1));
    small_powers_[d] = layout.small[d].data;
  }
}

inline void Ntt::make_pass_tables(const Layout& layout, const NttOptions& options, int i,
                                  base::cuda::StreamRef stream) {
  using base::cuda::blocks_for;
  const auto index = static_cast<std::size_t>(i);
  const Layout::OnePass& pass = layout.pass[index];
  const int log = pass_log(log_n_, i);
  int log_below = log_n_;
  for (int k = 0; k < i; ++k) log_below -= pass_log(log_n_, k);
  const bool last = log_below == log;
  stride_[index] = 1u << (log_below - log);
  for (const Direction d : {kDif, kDit}) {
    Fr root = curve::device::root_of_unity(log_below);
    if (d == kDif) root = pow_plain(root, (std::uint64_t{1} << log_below) - 1);
    const Fr column_root = pow_plain(root, std::uint64_t{1} << (log_below - log));
    const std::uint32_t inner = (1u << log) * 9 / 8;
    base::cuda::launch(fill_inner, {blocks_for(inner, 128), 128, 0}, stream, pass.inner[d].data,
                       log, column_root);
    tables_[index].inner[d] = pass.inner[d].data;
    if (last) continue;
    const Layout::Powers& powers = pass.powers[d];
    const auto low_count = static_cast<std::uint32_t>(powers.low.size),
               high_count = static_cast<std::uint32_t>(powers.high.size);
    base::cuda::launch(fill_powers, {blocks_for(low_count, 128), 128, 0}, stream, powers.low.data,
                       low_count, root, 1u, Fr::from_u32(1));
    base::cuda::launch(fill_powers, {blocks_for(high_count, 128), 128, 0}, stream, powers.high.data,
                       high_count, root, low_count, Fr::from_u32(1));
    Twist& twist = tables_[index].twist[d];
    twist = {nullptr, nullptr, powers.low.data, powers.high.data, powers.low_bits};
    if (i == 0 && !options.full_twist_table) continue;
    base::cuda::launch(fill_twist, {blocks_for(pass.w[d].size, 128), 128, 0}, stream,
                       pass.w[d].data, pass.companion[d].data, log, stride_[index], powers.low.data,
                       powers.high.data, powers.low_bits);
    twist.w = pass.w[d].data;
    twist.companion = pass.companion[d].data;
  }
}

inline void Ntt::small(Fr* x, SmallTransform kind, base::cuda::StreamRef stream) const {
  base::cuda::launch(small_transform, {1, kSmallThreads, n() * sizeof(Fr)}, stream, x, log_n_, kind,
                     small_powers_[kDif], small_powers_[kDit]);
}

inline Pass Ntt::describe(Fr* x, int i, Direction direction) const {
  const auto index = static_cast<std::size_t>(i);
  return {x, stride_[index], tables_[index].inner[direction], tables_[index].twist[direction]};
}

template <class F>
void Ntt::with_log(int i, F&& f) const {
  switch (pass_log(log_n_, i)) {
    case 6:
      return f(std::integral_constant<int, 6>{});
    case 7:
      return f(std::integral_constant<int, 7>{});
    case 8:
      return f(std::integral_constant<int, 8>{});
    default:
      return f(std::integral_constant<int, 9>{});
  }
}

template <int Log>
void Ntt::dif_pass(Fr* x, const std::int8_t* codes, int i, base::cuda::StreamRef stream) const {
  const Pass p = describe(x, i, kDif);
  const unsigned grid = static_cast<unsigned>(n() / (8 * kNttThreads));
  if (p.stride == 1) {
    return base::cuda::launch(dif_linear<Log>, {grid, kNttThreads, Tile<Log, true>::kSharedBytes},
                              stream, p);
  }
  const base::cuda::LaunchShape shape{grid, kNttThreads, Tile<Log, false>::kSharedBytes};
  if (p.twist.w == nullptr)
    return base::cuda::launch(dif_strided<Log, OuterTwist::kComposed, false>, shape, stream, p,
                              nullptr);
  if (codes != nullptr)
    return base::cuda::launch(dif_strided<Log, OuterTwist::kTable, true>, shape, stream, p, codes);
  base::cuda::launch(dif_strided<Log, OuterTwist::kTable, false>, shape, stream, p, nullptr);
}

template <int Log>
void Ntt::dit_pass(Fr* x, int i, base::cuda::StreamRef stream) const {
  const Pass p = describe(x, i, kDit);
  const unsigned grid = static_cast<unsigned>(n() / (8 * kNttThreads));
  if (p.stride == 1) {
    return base::cuda::launch(dit_linear<Log>, {grid, kNttThreads, Tile<Log, true>::kSharedBytes},
                              stream, p);
  }
  const base::cuda::LaunchShape shape{grid, kNttThreads, Tile<Log, false>::kSharedBytes};
  if (p.twist.w == nullptr)
    return base::cuda::launch(dit_strided<Log, OuterTwist::kComposed>, shape, stream, p);
  base::cuda::launch(dit_strided<Log, OuterTwist::kTable>, shape, stream, p);
}

inline void Ntt::dif_passes(Fr* x, const std::int8_t* codes, int first, int last,
                            base::cuda::StreamRef stream) const {
  for (int i = first; i <= last; ++i) {
    with_log(i, [&](auto log) {
      dif_pass<decltype(log)::value>(x, i == 0 ? codes : nullptr, i, stream);
    });
  }
}
inline void Ntt::dit_passes(Fr* x, int last, int first, base::cuda::StreamRef stream) const {
  for (int i = last; i >= first; --i) {
    with_log(i, [&](auto log) { dit_pass<decltype(log)::value>(x, i, stream); });
  }
}

inline void Ntt::intt_unscaled(Fr* x, base::cuda::StreamRef stream) const {
  if (pass_count(log_n_) == 0) return small(x, SmallTransform::kDif, stream);
  dif_passes(x, nullptr, 0, pass_count(log_n_) - 1, stream);
}
inline void Ntt::ntt_from_bit_reversed(Fr* x, base::cuda::StreamRef stream) const {
  if (pass_count(log_n_) == 0) return small(x, SmallTransform::kDit, stream);
  dit_passes(x, pass_count(log_n_) - 1, 0, stream);
}
inline void Ntt::derivative(Fr* x, base::cuda::StreamRef stream) const {
  derivative_from_codes(x, nullptr, stream);
}

inline void Ntt::derivative_from_codes(Fr* x, const std::int8_t* codes,
                                       base::cuda::StreamRef stream) const {
  const int last = pass_count(log_n_) - 1;
  if (codes != nullptr &&
      (last < 0 ||
       tables_[0].twist[kDif].w == nullptr)) {  // only the pass with a full table takes codes
    base::cuda::launch(expand_codes, {base::cuda::blocks_for(n(), 256), 256, 0}, stream, x, codes,
                       static_cast<std::uint32_t>(n()));
    codes = nullptr;
  }
  if (last < 0) return small(x, SmallTransform::kDerivative, stream);
  dif_passes(x, codes, 0, last - 1, stream);
  with_log(last, [&](auto log) {
    constexpr int kLog = decltype(log)::value;
    base::cuda::launch(derivative_middle<kLog>,
                       {static_cast<unsigned>(n() / (8 * kNttThreads)), kNttThreads,
                        Tile<kLog, true>::kSharedBytes},
                       stream, describe(x, last, kDif),
                       tables_[static_cast<std::size_t>(last)].inner[kDit], log_n_);
  });
  dit_passes(x, last - 1, 0, stream);
}

}  // namespace cuzk::groth16::cuda
