#include "base/cuda/arena_plan.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace cuzk::base::cuda {

namespace {

std::size_t aligned(std::size_t bytes) {
  return (bytes + ArenaPlan::kAlignment - 1) / ArenaPlan::kAlignment * ArenaPlan::kAlignment;
}
bool live_together(const ArenaPlan::Block& a, const ArenaPlan::Block& b) {
  return a.first_stage <= b.last_stage && b.first_stage <= a.last_stage;
}

}  // namespace

ArenaPlan::Id ArenaPlan::add(std::string purpose, std::size_t bytes, int first_stage,
                             int last_stage) {
  require(!placed_, "arena block '{}': the plan is already placed", purpose);
  require(first_stage <= last_stage, "arena block '{}' lives from stage {} to {}", purpose,
          first_stage, last_stage);
  blocks_.push_back({std::move(purpose), bytes, first_stage, last_stage, 0});
  return blocks_.size() - 1;
}

void ArenaPlan::place() {
  std::vector<Id> order(blocks_.size());
  std::iota(order.begin(), order.end(), Id{0});
  std::stable_sort(order.begin(), order.end(), [&](Id a, Id b) {
    const Block &x = blocks_[a], &y = blocks_[b];
    const int life_x = x.last_stage - x.first_stage, life_y = y.last_stage - y.first_stage;
    return life_x != life_y ? life_x > life_y : x.bytes > y.bytes;
  });
  bytes_ = 0;
  std::vector<Id> done;
  for (const Id id : order) {
    Block& block = blocks_[id];
    std::vector<Id> neighbours;
    for (const Id other : done) {
      if (blocks_[other].bytes > 0 && live_together(block, blocks_[other]))
        neighbours.push_back(other);
    }
    std::sort(neighbours.begin(), neighbours.end(),
              [&](Id a, Id b) { return blocks_[a].offset < blocks_[b].offset; });
    block.offset = 0;
    for (const Id other : neighbours) {
      if (block.offset + aligned(block.bytes) <= blocks_[other].offset) break;
      block.offset = std::max(block.offset, blocks_[other].offset + aligned(blocks_[other].bytes));
    }
    bytes_ = std::max(bytes_, block.offset + aligned(block.bytes));
    done.push_back(id);
  }
  placed_ = true;
}

std::size_t ArenaPlan::least_bytes() const {
  std::size_t most = 0;
  for (const Block& at : blocks_) {
    // The live set changes only where a block begins.
    std::size_t total = 0;
    for (const Block& block : blocks_) {
      if (block.first_stage <= at.first_stage && at.first_stage <= block.last_stage)
        total += aligned(block.bytes);
    }
    most = std::max(most, total);
  }
  return most;
}

std::string ArenaPlan::describe() const {
  std::string text;
  for (const Block& block : blocks_) {
    text += fmt::format("{:<24} {:>14} bytes, stages {} .. {}, at {}\n", block.purpose, block.bytes,
                        block.first_stage, block.last_stage, block.offset);
  }
  return text;
}

}  // namespace cuzk::base::cuda
