#include "base/cuda/arena.hpp"
#include "base/cuda/launch.hpp"
#include "base/cuda/sort.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <vector>

// The stand-in for the device: if it let a wrong kernel pass, so would every emulated test.

namespace cuzk::base::cuda {
namespace {

void number(std::uint32_t* out, std::uint32_t n) {
  if (grid_thread() < n) out[grid_thread()] = blockIdx.x * 1000 + threadIdx.x;
}
TEST(Emulation, RunsEveryThreadOnce) {
  std::vector<std::uint32_t> out(100, ~0u);
  launch(number, {4, 32, 0}, {}, out.data(), std::uint32_t{100});
  for (std::uint32_t i = 0; i < 100; ++i) EXPECT_EQ(out[i], i / 32 * 1000 + i % 32);
  launch(number, {0, 32, 0}, {}, out.data(), std::uint32_t{100});  // no blocks: nothing runs
}

void reverse_block(const std::uint32_t* in, std::uint32_t* out, bool barrier) {
  auto* shared = reinterpret_cast<std::uint32_t*>(dynamic_shared_words());
  shared[threadIdx.x] = in[grid_thread()];
  if (barrier) __syncthreads();
  out[grid_thread()] = shared[blockDim.x - 1 - threadIdx.x];
}
TEST(Emulation, BarriersOrderSharedMemoryAndTheirAbsenceShows) {
  std::vector<std::uint32_t> in(200), out(200);
  std::iota(in.begin(), in.end(), 0u);
  launch(reverse_block, {2, 100, 400}, {}, in.data(), out.data(), true);
  for (std::uint32_t i = 0; i < 200; ++i) EXPECT_EQ(out[i], i / 100 * 100 + 99 - i % 100);
  launch(reverse_block, {2, 100, 400}, {}, in.data(), out.data(), false);
  EXPECT_GT(std::count(out.begin(), out.end(), 0xa5a5a5a5u), 50)
      << "the poison of memory not yet written";
}

// Each thread hands on to its neighbour: right for whoever runs first, in one direction.
void shift_block(std::uint32_t* data, int step) {
  auto* shared = reinterpret_cast<std::uint32_t*>(dynamic_shared_words());
  const std::uint32_t t = threadIdx.x, n = blockDim.x;
  shared[t] = 0;
  __syncthreads();
  shared[t] = data[grid_thread()];
  data[grid_thread()] = shared[(t + n + static_cast<unsigned>(step)) % n];
}
TEST(Emulation, NoOrderOfThreadsStandsInForABarrier) {
  for (const int step : {-1, 1}) {
    std::vector<std::uint32_t> data(64 * 16, 1);
    launch(shift_block, {16, 64, 256}, {}, data.data(), step);
    EXPECT_GT(std::count(data.begin(), data.end(), 0u), 64) << "of " << data.size();
  }
}

void copy_block(const uint4* in, uint4* out, bool waits) {
  uint4* shared = dynamic_shared_words();
  for (unsigned i = 0; i < 3; ++i) {
    copy_to_shared_16(shared + 3 * threadIdx.x + i, in + 3 * threadIdx.x + i);
    commit_copies();
  }
  if (waits) {
    wait_copies<1>();
  } else {
    wait_copies<2>();
  }
  out[threadIdx.x] = shared[3 * threadIdx.x + 1];
}
TEST(Emulation, CopiesThatAreNotWaitedForMayComeLater) {
  std::vector<uint4> in(3 * 64, make_uint4(7, 7, 7, 7)), out(64);
  const auto right = [&] {
    return std::count_if(out.begin(), out.end(), [](const uint4& word) { return word.x == 7; });
  };
  launch(copy_block, {1, 64, 3 * 64 * 16}, {}, in.data(), out.data(), true);
  EXPECT_EQ(right(), 64);
  launch(copy_block, {1, 64, 3 * 64 * 16}, {}, in.data(), out.data(), false);
  EXPECT_GT(right(), 0);
  EXPECT_LT(right(), 64);
}

void votes(std::uint32_t* ballots, std::uint32_t* sums) {
  const std::uint32_t t = threadIdx.x;
  if (t >= 40) return;  // lanes 8 .. 31 of the second warp end before any vote
  const std::uint32_t first = ballot(t % 3 == 0);
  std::uint32_t sum = t;
  for (int mask = 1; mask < 32; mask *= 2) sum += t < 32 ? shuffle_xor(sum, mask) : 0;
  if (t < 32 && t % 2 == 0) {
    ballots[t] = first;
    sums[t] = sum;
    return;  // the even lanes end; the odd ones go on voting
  }
  const std::uint32_t second = ballot(true);
  ballots[t] = t < 32 ? second : first;
  sums[t] = sum;
}
TEST(Emulation, VotesAndExchanges) {
  std::vector<std::uint32_t> ballots(64), sums(64);
  launch(votes, {1, 64, 0}, {}, ballots.data(), sums.data());
  for (std::uint32_t t = 0; t < 32; ++t) {
    EXPECT_EQ(ballots[t], t % 2 == 0 ? 0x49249249u : 0xaaaaaaaau);
    EXPECT_EQ(sums[t], 31u * 32 / 2);
  }
  for (std::uint32_t t = 32; t < 40; ++t) EXPECT_EQ(ballots[t], 0b10010010u);  // t = 33, 36, 39
}

void diverge(std::uint32_t* out) {
  if (threadIdx.x < 16) {
    __syncthreads();
  } else {
    out[threadIdx.x] = ballot(true);
  }
}
TEST(Emulation, DivergentBarrierIsAnError) {
  std::vector<std::uint32_t> out(32);
  EXPECT_THROW(launch(diverge, {1, 32, 0}, {}, out.data()), std::logic_error);
  std::vector<std::uint32_t> after(32);
  launch(number, {1, 32, 0}, {}, after.data(), std::uint32_t{32});  // and the next launch runs
  EXPECT_EQ(after[31], 31u);
}

TEST(Emulation, SortsAndSums) {
  const std::vector<std::uint32_t> keys = {0x105, 3, 0x203, 3, 1}, values = {0, 1, 2, 3, 4};
  std::vector<std::uint32_t> sorted(5), moved(5);
  sort_pairs(nullptr, 0, keys.data(), sorted.data(), values.data(), moved.data(), 5, 8,
             SortOrder::kAscending, {});
  EXPECT_EQ(moved, (std::vector<std::uint32_t>{4, 1, 2, 3, 0}));
  EXPECT_EQ(sorted, (std::vector<std::uint32_t>{1, 3, 0x203, 3, 0x105}));
  sort_pairs(nullptr, 0, keys.data(), sorted.data(), values.data(), moved.data(), 5, 10,
             SortOrder::kDescending, {});
  EXPECT_EQ(moved, (std::vector<std::uint32_t>{2, 0, 1, 3, 4}));
  std::vector<std::uint32_t> sums(5);
  exclusive_sum(nullptr, 0, values.data(), sums.data(), 5, {});
  EXPECT_EQ(sums, (std::vector<std::uint32_t>{0, 0, 1, 3, 6}));
}

TEST(Carver, MeasuresWhatItTakes) {
  Carver measure;
  EXPECT_EQ(measure.take<std::uint32_t>(65).data, nullptr);
  const std::size_t mark = measure.mark();
  EXPECT_EQ(mark, 512u);
  measure.take<std::byte>(1000);
  measure.rewind(mark);
  measure.take<std::byte>(10);
  EXPECT_EQ(measure.bytes_used(), 512u + 1024u);
  const DeviceBuffer<std::byte> memory(1535, "test");
  Carver carver(memory.span());
  EXPECT_EQ(reinterpret_cast<std::byte*>(carver.take<std::uint32_t>(65).data), memory.data());
  EXPECT_EQ(carver.take<std::byte>(1).data, memory.data() + 512);
  EXPECT_TRUE(carver.fits());
  carver.take<std::byte>(1024);
  EXPECT_FALSE(carver.fits());
}

TEST(Buffers, MoveAndCheckBounds) {
  DeviceBuffer<int> a(3, "test");
  const std::vector<int> values = {1, 2, 3};
  a.upload(values, {});
  int* address = a.data();
  DeviceBuffer<int> b = std::move(a);
  EXPECT_EQ(b.data(), address);
  EXPECT_EQ(b.download({}), values);
  EXPECT_EQ(b.download(1, 2, {}), (std::vector<int>{2, 3}));
  EXPECT_THROW(b.download(2, 2, {}), InvalidInput);
  EXPECT_THROW(b.upload(std::vector<int>(4), {}), InvalidInput);
  const PinnedBuffer<int> pinned(5, "test");
  EXPECT_EQ(pinned.span().size(), 5u);
  EXPECT_EQ(DeviceBuffer<int>(0, "nothing").data(), nullptr);
}

TEST(Arena, HandsOutBlocksOfThePlan) {
  ArenaPlan plan;
  const auto a = plan.add("a", 1024, 0, 0), b = plan.add("b", 40, 0, 1);
  EXPECT_THROW(Arena{plan}, InvalidInput);
  plan.place();
  const Arena arena(plan);
  EXPECT_EQ(arena.block<std::uint64_t>(b).size, 5u);
  EXPECT_EQ(arena.block<std::byte>(a).size, 1024u);
  EXPECT_NE(static_cast<void*>(arena.block<std::byte>(a).data),
            static_cast<void*>(arena.block<std::byte>(b).data));
}

}  // namespace
}  // namespace cuzk::base::cuda
