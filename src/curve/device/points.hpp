#pragma once

#include "base/cuda/kernel.hpp"
#include "curve/device/fp2_lane.hpp"
#include "curve/device/group.hpp"

/// G1 and G2 as kernels see them: how points lie in memory, how many neighbouring lanes hold one,
/// and moving them 16 bytes at a time. A kernel written over `class G` serves both groups: lane l
/// of a group of G::kLanes calls everything with the same address and works on its own part.
namespace cuzk::curve::device {

namespace memory {

/// For data that no one writes while the kernel runs.
CUZK_DEVICE Fp load_readonly(const Fp* p) {
  const uint4* words = reinterpret_cast<const uint4*>(p);
  const uint4 a = __ldg(words), b = __ldg(words + 1), c = __ldg(words + 2);
  return Fp{{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w, c.x, c.y, c.z, c.w}};
}
CUZK_DEVICE Fp from_words(const uint4& a, const uint4& b, const uint4& c) {
  return Fp{{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w, c.x, c.y, c.z, c.w}};
}
CUZK_DEVICE uint4 word(const Fp& f, int i) {
  return make_uint4(f.limbs[4 * i], f.limbs[4 * i + 1], f.limbs[4 * i + 2], f.limbs[4 * i + 3]);
}
/// Words 0, stride, 2·stride of an element kept in planes.
CUZK_DEVICE Fp load(const uint4* p, std::size_t stride) {
  return from_words(p[0], p[stride], p[2 * stride]);
}
CUZK_DEVICE void store(uint4* p, std::size_t stride, const Fp& f) {
  p[0] = word(f, 0);
  p[stride] = word(f, 1);
  p[2 * stride] = word(f, 2);
}
CUZK_DEVICE Fp load(const Fp* p) { return load(reinterpret_cast<const uint4*>(p), 1); }
CUZK_DEVICE void store(Fp* p, const Fp& f) { store(reinterpret_cast<uint4*>(p), 1, f); }

}  // namespace memory

struct G1 {
  using Field = Fp;
  using StoredField = Fp;
  static constexpr unsigned kLanes = 1;

  static CUZK_DEVICE const Fp* part(const Fp* stored) { return stored; }
  static CUZK_DEVICE Fp* part(Fp* stored) { return stored; }
  static CUZK_DEVICE Fp& raw(Fp& field) { return field; }
  static CUZK_DEVICE const Fp& raw(const Fp& field) { return field; }
};

struct G2 {
  using Field = Fp2Lane;
  using StoredField = Fp2;
  static constexpr unsigned kLanes = 2;

  static CUZK_DEVICE const Fp* part(const Fp2* stored) {
    return Fp2Lane::is_odd() ? &stored->c1 : &stored->c0;
  }
  static CUZK_DEVICE Fp* part(Fp2* stored) { return Fp2Lane::is_odd() ? &stored->c1 : &stored->c0; }
  static CUZK_DEVICE Fp& raw(Fp2Lane& field) { return field.component; }
  static CUZK_DEVICE const Fp& raw(const Fp2Lane& field) { return field.component; }
};

template <class G>
using StoredAffine = Affine<typename G::StoredField>;
template <class G>
using StoredXyzz = Xyzz<typename G::StoredField>;

template <class G>
CUZK_DEVICE typename G::Field load_field_readonly(const typename G::StoredField* p) {
  return typename G::Field{memory::load_readonly(G::part(p))};
}
template <class G>
CUZK_DEVICE typename G::Field load_field(const typename G::StoredField* p) {
  return typename G::Field{memory::load(G::part(p))};
}
template <class G>
CUZK_DEVICE void store_field(typename G::StoredField* p, const typename G::Field& f) {
  memory::store(G::part(p), G::raw(f));
}
template <class G>
CUZK_DEVICE Affine<typename G::Field> load_point_readonly(const StoredAffine<G>* p) {
  return {load_field_readonly<G>(&p->x), load_field_readonly<G>(&p->y)};
}
template <class G>
CUZK_DEVICE Affine<typename G::Field> load_point(const StoredAffine<G>* p) {
  return {load_field<G>(&p->x), load_field<G>(&p->y)};
}
template <class G>
CUZK_DEVICE Xyzz<typename G::Field> load_point(const StoredXyzz<G>* p) {
  return {load_field<G>(&p->x), load_field<G>(&p->y), load_field<G>(&p->zz),
          load_field<G>(&p->zzz)};
}
template <class G>
CUZK_DEVICE void store_point(StoredAffine<G>* p, const Affine<typename G::Field>& a) {
  store_field<G>(&p->x, a.x);
  store_field<G>(&p->y, a.y);
}
template <class G>
CUZK_DEVICE void store_point(StoredXyzz<G>* p, const Xyzz<typename G::Field>& a) {
  store_field<G>(&p->x, a.x);
  store_field<G>(&p->y, a.y);
  store_field<G>(&p->zz, a.zz);
  store_field<G>(&p->zzz, a.zzz);
}

}  // namespace cuzk::curve::device
