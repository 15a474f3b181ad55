#include "base/error.hpp"
#include "groth16/cuda/device_key.hpp"
#include "groth16/ops/cuda/batch_add_plan.hpp"
#include "groth16/ops/cuda/grouped_finish.hpp"
#include "groth16/ops/cuda/instances/batch_add.hpp"
#include "groth16/testing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace cuzk::groth16::cuda {
namespace {

using curve::device::StoredAffine;
using curve::device::StoredXyzz;
using ::testing::HasSubstr;

template <class Point>
bool same_bytes(const Point& a, const auto& b) {
  static_assert(sizeof(a) == sizeof(b));
  return std::memcmp(&a, &b, sizeof(a)) == 0;
}

template <class F>
using SumOf =
    std::conditional_t<std::is_same_v<F, curve::Fp>, curve::G1Jacobian, curve::G2Jacobian>;

template <class Sum>
Sum host_sum(const auto& point) {
  Sum out;
  static_assert(sizeof(out) == sizeof(point));
  std::memcpy(static_cast<void*>(&out), &point, sizeof(out));
  return out;
}

/// The emulated device's memory is the host's.
template <class G, class F>
void expect_query(const DeviceQuery<G>& query, const Query<F>& expected, Placement placement) {
  ASSERT_EQ(query.fields.size, expected.fields.size());
  for (std::size_t i = 0; i < query.fields.size; ++i)
    EXPECT_TRUE(same_bytes(query.fields.data[i], expected.fields[i])) << i;
  EXPECT_EQ(query.bit_count, expected.bits.size());
  EXPECT_EQ(query.tabled(), placement == Placement::kTable);
  EXPECT_EQ(query.bits.size != 0, placement == Placement::kDevice);
  EXPECT_EQ(query.host_bits.size() != 0, placement == Placement::kHost);
  if (placement != Placement::kTable) {
    const std::span bits = placement == Placement::kHost
                               ? query.host_bits
                               : std::span(query.bits.data, query.bits.size);
    ASSERT_EQ(bits.size(), expected.bits.size());
    for (std::size_t i = 0; i < bits.size(); ++i)
      EXPECT_TRUE(same_bytes(bits[i], expected.bits[i])) << i;
    return;
  }
  ASSERT_EQ(query.table.size, group_table_points(expected.bits.size()));
  // Entry c of group q: P_0 + Σ ±P_j, minus where bit j - 1 of c is set.
  using Sum = SumOf<F>;
  Sum all = Sum::identity();
  for (std::size_t q = 0; q < query.table.size / kGroupEntries; ++q) {
    for (std::size_t c = 0; c < kGroupEntries; ++c) {
      Sum sum = Sum::identity();
      for (std::size_t j = 0; j < kGroupBases; ++j) {
        const std::size_t i = q * kGroupBases + j;
        if (i >= expected.bits.size()) continue;
        const bool minus = j > 0 && (c >> (j - 1) & 1) != 0;
        sum += minus ? -expected.bits[i] : expected.bits[i];
      }
      if (c == 0) all += sum.to_affine();
      auto entry = query.table.data[q * kGroupEntries + c];
      entry = {canonical(entry.x), canonical(entry.y)};
      EXPECT_TRUE(same_bytes(entry, sum.to_affine())) << q << ", " << c;
    }
  }
  // Every third bit, through the table.
  const std::size_t words = (query.bit_count + 31) / 32;
  std::vector<std::uint32_t> bits(words);
  Sum thirds = Sum::identity();
  for (std::size_t i = 0; i < query.bit_count; i += 3) {
    bits[i / 32] |= std::uint32_t{1} << i % 32;
    thirds += expected.bits[i];
  }
  const BatchAddPlan plan = make_grouped_plan<G>(query.bit_count, 1);
  std::vector<std::byte> workspace(grouped_workspace<G>(plan));
  StoredXyzz<G> signed_sum;
  batch_add_grouped<G>(plan, query.table, {bits.data(), words},
                       {workspace.data(), workspace.size()}, &signed_sum, {});
  EXPECT_EQ(host_sum<Sum>(finish_grouped_sum(curve::device::to_blst(signed_sum), query.all_bits)),
            thirds);
  EXPECT_EQ(host_sum<Sum>(query.all_bits), all);
}

void expect_key(const DeviceKey& key, const ProvingKey& expected, const KeyPlacement& placement) {
  EXPECT_EQ(key.verifying_key(), expected.verifying_key);
  EXPECT_EQ(key.h().size == 0, placement.h == Placement::kHost);
  EXPECT_EQ(key.host_h().size() == 0, placement.h != Placement::kHost);
  const std::span h =
      placement.h == Placement::kHost ? key.host_h() : std::span(key.h().data, key.h().size);
  ASSERT_EQ(h.size(), expected.h.size());
  for (std::size_t i = 0; i < h.size(); ++i) EXPECT_TRUE(same_bytes(h[i], expected.h[i])) << i;
  expect_query(key.l(), expected.l, placement.l);
  expect_query(key.a(), expected.a, placement.a);
  expect_query(key.b_g1(), expected.b_g1, placement.b_g1);
  expect_query(key.b_g2(), expected.b_g2, placement.b_g2);
}

std::size_t device_bytes_of(const DeviceKey& key) {
  const auto query = [](const auto& q) {
    return q.fields.size_bytes() + q.bits.size_bytes() + q.table.size_bytes();
  };
  return key.h().size_bytes() + query(key.l()) + query(key.a()) + query(key.b_g1()) +
         query(key.b_g2());
}

std::size_t host_bytes_of(const DeviceKey& key) {
  return key.host_h().size_bytes() + key.l().host_bits.size_bytes() +
         key.a().host_bits.size_bytes() + key.b_g1().host_bits.size_bytes() +
         key.b_g2().host_bits.size_bytes();
}

KeyPlacement all_on_host() {
  KeyPlacement out;
  out.h = out.l = out.a = out.b_g1 = out.b_g2 = Placement::kHost;
  return out;
}

class DeviceKeyEmulated : public ::testing::TestWithParam<QuotientForm> {
 protected:
  DeviceKeyEmulated()
      : folder(::testing::TempDir() + "device_key_" + std::to_string(::getpid())),
        files{folder / "toy.params", folder / "toy.vk", folder / "toy.derivative"},
        trapdoor(Trapdoor::from_seed(11)),
        layout(toy.shape, GetParam()) {
    std::filesystem::create_directories(folder);
    write_keys(toy.shape, trapdoor, files);
  }
  ~DeviceKeyEmulated() override { std::filesystem::remove_all(folder); }

  bool derivative() const { return GetParam() == QuotientForm::kDerivative; }
  ProvingKey host_key() const {
    const KeyFile file(files.params);
    return derivative() ? load_proving_key(file, DerivedKeyFile(files.derived), layout)
                        : load_proving_key(file, layout);
  }
  DeviceKey load(const KeyPlacement& placement) const {
    const KeyFile file(files.params);
    if (!derivative()) return DeviceKey::load(file, nullptr, layout, placement, {});
    const DerivedKeyFile derived(files.derived);
    return DeviceKey::load(file, &derived, layout, placement, {});
  }
  /// Changes one byte of a file.
  static void damage(const std::filesystem::path& path, std::size_t offset) {
    std::fstream stream(path, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(offset));
    const char byte = static_cast<char>(stream.get() ^ 1);
    stream.seekp(static_cast<std::streamoff>(offset));
    stream.put(byte);
  }

  testing::ToyCircuit toy;
  std::filesystem::path folder;
  SetupFiles files;
  Trapdoor trapdoor;
  KeyLayout layout;
};

TEST_P(DeviceKeyEmulated, LoadedUploadedAndMadeKeysAreTheHosts) {
  const ProvingKey expected = host_key();
  ASSERT_GT(expected.l.bits.size(), 8U);
  ASSERT_GT(expected.a.fields.size(), 2U);
  ASSERT_GT(expected.b_g2.bits.size(), 4U);
  KeyPlacement mixed = GroupTables{.a = true};
  mixed.b_g2 = Placement::kHost;
  const auto expect = [&](const DeviceKey& key, const KeyPlacement& placement) {
    expect_key(key, expected, placement);
    EXPECT_EQ(device_bytes_of(key), DeviceKey::device_bytes(layout, placement));
    EXPECT_EQ(host_bytes_of(key), DeviceKey::host_bytes(layout, placement));
  };
  for (const KeyPlacement& placement :
       {KeyPlacement{}, KeyPlacement(GroupTables::all()), all_on_host(), mixed}) {
    expect(load(placement), placement);
  }
  expect(DeviceKey::upload(expected, layout, mixed, {}), mixed);
  expect(DeviceKey::make(toy.shape, layout, trapdoor, mixed, {}), mixed);
}

TEST_P(DeviceKeyEmulated, BadPointsAreNamed) {
  const auto complaint = [&]() -> std::string {
    try {
      load({});
    } catch (const base::CorruptData& error) {
      return error.what();
    }
    return "accepted";
  };
  struct Place {
    const Section& section;
    const char* array;
  };
  const KeyFile file(files.params);
  for (const Place& place :
       {Place{file.a(), "a[3]"}, {file.b_g1(), "b_g1[3]"}, {file.b_g2(), "b_g2[3]"}}) {
    const std::size_t last_byte = place.section.offset + 4 * place.section.point_bytes - 1;
    damage(files.params, last_byte);
    EXPECT_THAT(complaint(), HasSubstr(std::string("toy.params: ") + place.array + " is"));
    EXPECT_THAT(complaint(), HasSubstr("not on the curve"));
    damage(files.params, last_byte);
  }
  const std::filesystem::path& path = derivative() ? files.derived : files.params;
  std::size_t h = 0, l = 0;
  if (derivative()) {
    const DerivedKeyFile derived(files.derived);
    h = derived.q().offset;
    l = derived.l().offset;
  } else {
    h = file.h().offset;
    l = file.l().offset;
  }
  damage(path, h + 95);
  EXPECT_THAT(complaint(), HasSubstr(derivative() ? "toy.derivative: q[0]" : "toy.params: h[0]"));
  damage(path, h + 95);
  damage(path, l + 2 * 96 - 1);
  EXPECT_THAT(complaint(), HasSubstr(derivative() ? "toy.derivative: l[1]" : "toy.params: l[1]"));
  damage(path, l + 2 * 96 - 1);
  EXPECT_EQ(complaint(), "accepted");
}

TEST_P(DeviceKeyEmulated, WhatDoesNotFitTheCircuitIsRefused) {
  const KeyFile file(files.params);
  const DerivedKeyFile derived(files.derived);
  EXPECT_THROW(DeviceKey::load(file, derivative() ? nullptr : &derived, layout, {}, {}),
               base::InvalidInput);
  const testing::ToyCircuit other(6);
  const KeyLayout other_layout(other.shape, GetParam());
  EXPECT_THROW(DeviceKey::load(file, derivative() ? &derived : nullptr, other_layout, {}, {}),
               base::CorruptData);
  ProvingKey key = host_key();
  EXPECT_THROW(DeviceKey::upload(key, other_layout, {}, {}), base::InvalidInput);
  key.a.bits = {};
  EXPECT_THROW(DeviceKey::upload(key, layout, {}, {}), base::InvalidInput);
  EXPECT_THROW(DeviceKey::make(toy.shape, other_layout, trapdoor, {}, {}), base::InvalidInput);
}

INSTANTIATE_TEST_SUITE_P(Forms, DeviceKeyEmulated,
                         ::testing::Values(QuotientForm::kTextbook, QuotientForm::kDerivative),
                         [](const auto& form) {
                           return form.param == QuotientForm::kTextbook ? "Textbook" : "Derivative";
                         });

}  // namespace
}  // namespace cuzk::groth16::cuda
