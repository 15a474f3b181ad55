#include "base/error.hpp"
#include "groth16/cuda/key_transfer_check.cuh"

#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <vector>

namespace cuzk::groth16::cuda::checks {
namespace {

using curve::device::G1;
using curve::device::G2;

// Chunks of every size cut the table's groups everywhere.
TEST(KeyTransferEmulated, AnyChunksGiveTheSameQuery) {
  const QueryLayout layout = random_layout(5, 3, 1);
  for (const Placement placement : {Placement::kDevice, Placement::kTable, Placement::kHost}) {
    for (const std::size_t chunk : {1, 3, 7, 1000})
      EXPECT_EQ(check_query<G1>(layout, chunk, placement, 1, {}), "");
    EXPECT_EQ(check_query<G2>(random_layout(0, 2, 2), 11, placement, 1, {}), "");
    EXPECT_EQ(check_query<G1>(QueryLayout{}, 4, placement, 1, {}), "");
  }
}

TEST(KeyTransferEmulated, PartitionsShareAPass) {
  EXPECT_EQ(check_streamed_sums<G1>(500, 128, 1, {}), "");
  EXPECT_EQ(check_streamed_sums<G1>(256, 128, 1, {}), "");
  EXPECT_EQ(check_streamed_sums<G1>(77, 128, 1, {}), "");
  EXPECT_EQ(check_streamed_sums<G2>(100, 32, 1, {}), "");
}

TEST(SlicePassEmulated, SlicesCoverThePointsInOrder) {
  const TestBases<G1> bases(Bases::kDistinct, 100, 3);
  for (const std::size_t slice : {32, 64, 96, 128}) {
    std::vector<std::byte> buffers(2 * slice * sizeof(StoredAffine<G1>) + 31);
    ASSERT_EQ(SlicePass::slice_points<StoredAffine<G1>>(buffers.size()), slice);
    std::vector<StoredAffine<G1>> seen;
    std::size_t slices = 0;
    SlicePass pass;
    pass.run(std::span<const StoredAffine<G1>>(bases.points), {buffers.data(), buffers.size()}, {},
             [&](base::cuda::DeviceSpan<const StoredAffine<G1>> part, std::size_t first) {
               EXPECT_EQ(first, seen.size());
               seen.insert(seen.end(), part.data, part.data + part.size);
               ++slices;
             });
    EXPECT_EQ(slices, SlicePass::slice_count(bases.points.size(), slice));
    EXPECT_TRUE(same_bytes(std::span<const StoredAffine<G1>>(seen), bases.points));
  }
  EXPECT_THROW(SlicePass::slice_points<StoredAffine<G1>>(63 * sizeof(StoredAffine<G1>)),
               base::InvalidInput);
}

TEST(SlicePassEmulated, AFirstSliceMayBeThereBefore) {
  const TestBases<G1> bases(Bases::kDistinct, 100, 3), others(Bases::kDistinct, 40, 4);
  const std::span<const StoredAffine<G1>> points(bases.points), other(others.points);
  std::vector<std::byte> first(32 * sizeof(StoredAffine<G1>)), second(first.size());
  const SlicePass::Buffers buffers{{first.data(), first.size()}, {second.data(), second.size()}};
  SlicePass pass;
  const auto run = [&](std::span<const StoredAffine<G1>> all) {
    std::vector<StoredAffine<G1>> seen;
    pass.run(all, buffers, {}, [&](auto part, std::size_t) {
      seen.insert(seen.end(), part.data, part.data + part.size);
    });
    return same_bytes(all, seen);
  };
  pass.prefetch(points, buffers.first, {});
  EXPECT_EQ(std::memcmp(first.data(), points.data(), first.size()), 0);
  EXPECT_TRUE(run(points));
  EXPECT_TRUE(run(points)) << "and once more, without";
  pass.prefetch(points, buffers.first, {});
  EXPECT_TRUE(run(other)) << "of something else: not taken";
  EXPECT_TRUE(run(points));
  EXPECT_THROW(pass.run(points, {buffers.first, {second.data(), second.size() / 2}}, {},
                        [](auto, std::size_t) {}),
               base::InvalidInput);
}

TEST(StreamedSumsEmulated, RejectWhatDoesNotFit) {
  const auto sums = StreamedSums<G1>::make(40, 1, 64 * sizeof(StoredAffine<G1>), 1);
  EXPECT_EQ(sums.slices(), 2U);
  const std::vector<StoredAffine<G1>> points(40, StoredAffine<G1>::identity());
  const std::vector<std::uint32_t> words(2);
  std::vector<std::byte> buffers(64 * sizeof(StoredAffine<G1>)), workspace(sums.workspace_bytes());
  std::vector<StoredXyzz<G1>> out(sums.results());
  SlicePass pass;
  const auto enqueue = [&](std::size_t point_count, std::size_t word_count, std::size_t out_size,
                           std::size_t buffer_bytes) {
    const std::vector<base::cuda::DeviceSpan<const std::uint32_t>> bits = {
        {words.data(), word_count}};
    sums.enqueue(pass, std::span(points).first(point_count), bits, {buffers.data(), buffer_bytes},
                 {workspace.data(), workspace.size()}, {out.data(), out_size}, {});
  };
  EXPECT_NO_THROW(enqueue(40, 2, 2, buffers.size()));
  EXPECT_THROW(enqueue(39, 2, 2, buffers.size()), base::InvalidInput);
  EXPECT_THROW(enqueue(40, 1, 2, buffers.size()), base::InvalidInput);
  EXPECT_THROW(enqueue(40, 2, 1, buffers.size()), base::InvalidInput);
  EXPECT_THROW(enqueue(40, 2, 2, buffers.size() - 1), base::InvalidInput);
}

TEST(QueryBuilderEmulated, CountsItsPoints) {
  const QueryLayout layout = random_layout(2, 2, 4);
  const KeyOrder order(layout);
  const std::vector<StoredAffine<G2>> points(order.size() + 1, StoredAffine<G2>::identity());
  QueryBuilder<G2> builder(order, Placement::kTable, points.size(), {});
  EXPECT_THROW(builder.finish(), base::InvalidInput);
  EXPECT_THROW(builder.put({points.data(), points.size()}), base::InvalidInput);
  builder.put({points.data(), order.size()});
  EXPECT_THROW(builder.put({points.data(), 1}), base::InvalidInput);
  EXPECT_EQ(builder.finish().query.bit_count, order.bit_count());
}

}  // namespace
}  // namespace cuzk::groth16::cuda::checks
