#pragma once

#include "base/cuda/span.hpp"
#include "base/cuda/stream_ref.hpp"
#include "curve/device/group.hpp"
#include "groth16/derived_key.hpp"
#include "groth16/key_file.hpp"
#include "groth16/proving_key.hpp"
#include "groth16/setup.hpp"
#include "groth16/variables.hpp"

#include <blst.h>

#include <cstddef>
#include <memory>
#include <span>

/// The proving key in device memory. This header is plain C++: host code may include it.
namespace cuzk::curve::device {
struct G1;
struct G2;
}  // namespace cuzk::curve::device

namespace cuzk::groth16::cuda {

/// The types of a group, G = curve::device::G1 or G2: Affine is curve::device::StoredAffine<G>, Sum
/// is what the host's finish_*() functions take.
template <class G>
struct GroupTypes;
template <>
struct GroupTypes<curve::device::G1> {
  using Affine = curve::device::G1Affine;
  using Sum = blst_p1;
};
template <>
struct GroupTypes<curve::device::G2> {
  using Affine = curve::device::G2Affine;
  using Sum = blst_p2;
};

/// One query. All coordinates are canonical Montgomery forms, so that points have the bytes of
/// curve::G1Affine and G2Affine. If there are bits, just one of `bits`, `table` (with `all_bits`)
/// and `host_bits` is not empty.
template <class G>
struct DeviceQuery {
  using Point = typename GroupTypes<G>::Affine;

  /// Points of inputs and field elements, in the order of QueryLayout::scalars().
  base::cuda::DeviceSpan<const Point> fields;
  /// Points of the bits, in the key's order.
  base::cuda::DeviceSpan<const Point> bits;
  /// group_table.cuh's table of the bits' points.
  base::cuda::DeviceSpan<const Point> table;
  /// Points of the bits, in the key's order, in pinned host memory: see slice_pass.cuh.
  std::span<const Point> host_bits;
  std::size_t bit_count = 0;
  /// Sum of all bits' points, for finish_grouped_sum().
  typename GroupTypes<G>::Sum all_bits{};

  bool tabled() const { return table.size != 0; }
};

/// Which queries' bits are kept as a group table: half the time for twice the memory.
struct GroupTables {
  bool l = false, a = false, b_g1 = false, b_g2 = false;

  static constexpr GroupTables all() { return {true, true, true, true}; }
};

/// Where an array of a key is kept.
enum class Placement {
  kDevice,
  kTable,  ///< on the device as a group table; for bits
  kHost,   ///< in pinned host memory: for devices that are too small
};

/// Of h and of the queries' bits. Fields, about 1 % of a key, are always on the device.
struct KeyPlacement {
  Placement h = Placement::kDevice, l = Placement::kDevice, a = Placement::kDevice,
            b_g1 = Placement::kDevice, b_g2 = Placement::kDevice;

  KeyPlacement() = default;
  /// Everything on the device, these as tables.
  KeyPlacement(const GroupTables& tables)
      : l(bits(tables.l)), a(bits(tables.a)), b_g1(bits(tables.b_g1)), b_g2(bits(tables.b_g2)) {}

 private:
  static Placement bits(bool tabled) { return tabled ? Placement::kTable : Placement::kDevice; }
};

/// Owner of a key in the memory of the device that was current when it was made. Immutable: any
/// number of lanes and threads share it. Destruction waits for no stream, so the last work that
/// reads the key must have completed. Moves, never copies.
///
/// The makers below work on `stream` and have completed when they return. Besides device_bytes()
/// they take at most about 1 GiB of device memory and, besides host_bytes() and apart from what
/// make() says, 1 GiB of host memory. They throw ResourceExhausted where device memory is not to be
/// had, DeviceError where the device fails.
class DeviceKey {
 public:
  /// The key of a file, in the form that `layout` says: the derivative form takes h (Q) and l (L')
  /// from `derived`, which is null for the textbook form. Points are decoded and checked to be on
  /// their curves on the device; subgroups see key_check.hpp. Throws CorruptData that names the
  /// file, the array and the index of the first bad point; InvalidInput if `derived` does not suit
  /// the form.
  static DeviceKey load(const KeyFile& file, const DerivedKeyFile* derived, const KeyLayout& layout,
                        const KeyPlacement& placement, base::cuda::StreamRef stream);

  /// A key that is in host memory already. Throws InvalidInput if it does not fit the layout.
  static DeviceKey upload(const ProvingKey& key, const KeyLayout& layout,
                          const KeyPlacement& placement, base::cuda::StreamRef stream);

  /// A development key from a known trapdoor, in the form that `layout` says: the key that
  /// write_keys() would write. The host computes the points' logarithms (at most about 200 bytes
  /// for each point of the domain), the device the points. Throws InvalidInput as
  /// query_logarithms().
  static DeviceKey make(const r1cs::Shape& shape, const KeyLayout& layout, const Trapdoor& trapdoor,
                        const KeyPlacement& placement, base::cuda::StreamRef stream);

  /// Device memory and pinned host memory of a key.
  static std::size_t device_bytes(const KeyLayout& layout, const KeyPlacement& placement);
  static std::size_t host_bytes(const KeyLayout& layout, const KeyPlacement& placement);

  DeviceKey(DeviceKey&& other) noexcept;
  DeviceKey& operator=(DeviceKey&& other) noexcept;
  ~DeviceKey();

  const VerifyingKey& verifying_key() const;
  /// Textbook: H_j, j < n - 1; derivative: Q_i, one for each row (may be infinite).
  /// Empty if they are in host memory: then host_h() has them.
  base::cuda::DeviceSpan<const curve::device::G1Affine> h() const;
  std::span<const curve::device::G1Affine> host_h() const;
  const DeviceQuery<curve::device::G1>& l() const;
  const DeviceQuery<curve::device::G1>& a() const;
  const DeviceQuery<curve::device::G1>& b_g1() const;
  const DeviceQuery<curve::device::G2>& b_g2() const;

 private:
  struct Memory;
  explicit DeviceKey(std::unique_ptr<Memory> memory);

  std::unique_ptr<Memory> memory_;
};

}  // namespace cuzk::groth16::cuda
