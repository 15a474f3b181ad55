#include "curve/device/group.hpp"

#include "base/cuda/launch.hpp"
#include "curve/device/points.hpp"
#include "curve/device/testing.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace cuzk::curve::device {
namespace {

using testing::affine;
using testing::from_blst;
using testing::same;
using testing::sum;
using testing::to_blst;

// One suite, instantiated for G1 and for G2 in one thread; GroupOnLanes repeats it for G2 on pairs
// of lanes.
struct FirstGroup {
  using Field = Fp;
  using Host = blst_p1;
};
struct SecondGroup {
  using Field = Fp2;
  using Host = blst_p2;
};

template <class G>
class DeviceGroup : public ::testing::Test {
 public:
  using Host = typename G::Host;
  using Point = Affine<typename G::Field>;
  using Sum = Xyzz<typename G::Field>;

  // Identity, P, -P, 2P, Q, R, and -P as a kernel's negate_if leaves it.
  static std::vector<Point> points() {
    std::vector<Point> all = {Point::identity()};
    for (const std::uint32_t k : {1u, 2u, 5u, 1000003u}) {
      const std::uint32_t scalar[8] = {k, k * 77, 3, 0, 0, 0, 0, 0};
      all.push_back(from_blst(affine(testing::multiple_of_generator(Host{}, scalar))));
    }
    const std::uint32_t one[8] = {1}, two[8] = {2};
    all.push_back(from_blst(affine(testing::multiple_of_generator(Host{}, one))));
    all.push_back(from_blst(affine(testing::multiple_of_generator(Host{}, two))));
    const std::size_t count = all.size();
    for (std::size_t i = 0; i < count; ++i) all.push_back(negate_if(all[i], true));
    return all;
  }
  // The same point with other ZZ, so that equal points do not have equal coordinates: a·P - (a-1)·P
  // by additions.
  static std::vector<Sum> sums() {
    std::vector<Sum> all;
    const std::vector<Point> base = points();
    for (const Point& p : base) all.push_back(to_xyzz(p));
    for (std::size_t i = 0; i < base.size(); ++i) {
      Sum s = to_xyzz(base[i]);
      add_assign(s, base[(i + 3) % base.size()]);
      add_assign(s, negate_if(base[(i + 3) % base.size()], true));
      all.push_back(s);
    }
    return all;
  }
};
using Groups = ::testing::Types<FirstGroup, SecondGroup>;
TYPED_TEST_SUITE(DeviceGroup, Groups);

TYPED_TEST(DeviceGroup, FixtureIsNotTrivial) {
  int identities = 0, distinct = 0;
  const auto points = TestFixture::points();
  for (const auto& a : points) {
    identities += is_identity(a) ? 1 : 0;
    for (const auto& b : points) distinct += same(to_blst(a), to_blst(b)) ? 0 : 1;
  }
  EXPECT_EQ(identities, 2);
  EXPECT_GT(distinct, 100);
}

TYPED_TEST(DeviceGroup, AdditionIsComplete) {
  const auto sums = TestFixture::sums();
  const auto points = TestFixture::points();
  for (const auto& a : sums) {
    ASSERT_TRUE(same(to_blst(doubled(a)), sum(to_blst(a), to_blst(a))));
    for (const auto& b : sums) {
      auto d = a;
      add_assign(d, b);
      ASSERT_TRUE(same(to_blst(d), sum(to_blst(a), to_blst(b))));
    }
    for (const auto& b : points) {
      auto d = a;
      add_assign(d, b);
      ASSERT_TRUE(same(to_blst(d), sum(to_blst(a), to_blst(b))));
    }
    ASSERT_TRUE(same(to_blst(to_affine(a)), to_blst(a)));
  }
}

TYPED_TEST(DeviceGroup, LongChainsKeepTheirRanges) {
  const auto points = TestFixture::points();
  auto device = to_xyzz(points[1]);
  auto host = to_blst(points[1]);
  for (std::size_t i = 0; i < 400; ++i) {
    const auto& p = points[(i * i + 3 * i + 1) % points.size()];
    if (i % 5 == 4) {
      device = doubled(device);
      host = sum(host, host);
    }
    if (i % 7 == 6) {
      add_assign(device, to_xyzz(p));
    } else {
      add_assign(device, p);
    }
    host = sum(host, to_blst(p));
    ASSERT_TRUE(same(to_blst(device), host)) << i;
  }
}

TYPED_TEST(DeviceGroup, PairsCoverEveryKind) {
  const auto points = TestFixture::points();
  int kinds[5] = {};
  for (const auto& a : points) {
    for (const auto& b : points) {
      const auto difference = sub<2>(b.x, a.x);
      const PairKind kind = classify_pair(a, b);
      ++kinds[static_cast<int>(kind)];
      ASSERT_TRUE(kind == PairKind::kChord || pair_is_suspect(a.x, b.x, difference));
      const auto d = denominator(kind, difference, a.y);
      ASSERT_FALSE(is_zero(d));
      const auto got = finish_pair(kind, a, b, inverse(d));
      ASSERT_TRUE(same(to_blst(got), sum(to_blst(a), to_blst(b))));
      if (kind == PairKind::kChord) {
        ASSERT_TRUE(same(to_blst(finish_chord(a, b, inverse(d))), sum(to_blst(a), to_blst(b))));
      }
    }
  }
  for (const int count : kinds) EXPECT_GT(count, 1);
}

// ---- G2 on pairs of lanes, by the emulated kernel. Pair i of the grid works on the i-th case, so
// that the pairs of a warp meet different special cases at once.

using Lane = Affine<Fp2Lane>;

void lane_additions(const G2Affine* a, const G2Affine* b, std::uint32_t count, G2Xyzz* mixed,
                    G2Xyzz* full, G2Affine* pairs) {
  const std::uint32_t i = base::cuda::grid_thread() / 2, at = i < count ? i : 0;
  const Lane p = load_point<G2>(a + at), q = load_point<G2>(b + at);
  Xyzz<Fp2Lane> s = to_xyzz(p), t = to_xyzz(p);
  add_assign(s, q);
  add_assign(s, p);
  Xyzz<Fp2Lane> scaled = to_xyzz(q);  // q with another ZZ
  add_assign(scaled, p);
  add_assign(scaled, negate_if(p, true));
  add_assign(t, scaled);
  const Fp2Lane difference = sub<2>(q.x, p.x);
  const PairKind kind = classify_pair(p, q);
  const Fp2Lane inverted = inverse(denominator(kind, difference, p.y));
  const Lane line = finish_pair(kind, p, q, inverted);
  const Lane again = to_affine(t);
  if (i >= count) return;
  store_point<G2>(mixed + i, s);
  store_point<G2>(full + i, t);
  store_point<G2>(pairs + 2 * i, line);
  store_point<G2>(pairs + 2 * i + 1, again);
}

TEST(DeviceGroupOnLanes, AgreesWithBlstInMixedWarps) {
  const std::vector<G2Affine> points = DeviceGroup<SecondGroup>::points();
  std::vector<G2Affine> a, b;
  for (const G2Affine& p : points) {
    for (const G2Affine& q : points) {
      a.push_back(p);
      b.push_back(q);
    }
  }
  const auto count = static_cast<std::uint32_t>(a.size());
  std::vector<G2Xyzz> mixed(count), full(count);
  std::vector<G2Affine> pairs(2 * count);
  base::cuda::launch(lane_additions, {base::cuda::blocks_for(2 * count, 64), 64, 0}, {}, a.data(),
                     b.data(), count, mixed.data(), full.data(), pairs.data());
  for (std::uint32_t i = 0; i < count; ++i) {
    const blst_p2 wanted = sum(to_blst(a[i]), to_blst(b[i]));
    ASSERT_TRUE(same(to_blst(mixed[i]), sum(wanted, to_blst(a[i])))) << i;
    ASSERT_TRUE(same(to_blst(full[i]), wanted)) << i;
    ASSERT_TRUE(same(to_blst(pairs[2 * i]), wanted)) << i;
    ASSERT_TRUE(same(to_blst(pairs[2 * i + 1]), wanted)) << i;
  }
}

}  // namespace
}  // namespace cuzk::curve::device
