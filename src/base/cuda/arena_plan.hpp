#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace cuzk::base::cuda {

/// Where each of a fixed set of blocks lies in one piece of device memory, decided before anything
/// is allocated. Stages are numbered by whoever plans; a block lives from its first to its last
/// stage, and blocks that never live at the same time may share memory. Nothing moves once planned.
///
///   ArenaPlan plan;
///   const auto a = plan.add("a", 32 << 27, 0, 3), digits = plan.add("digits", 1 << 30, 3, 4);
///   plan.place();                       // plan.bytes() is what to allocate
///   arena.block<Fr>(a)                  // arena.hpp
class ArenaPlan {
 public:
  static constexpr std::size_t kAlignment = 256;

  struct Block {
    std::string purpose;
    std::size_t bytes = 0;
    int first_stage = 0, last_stage = 0;
    std::size_t offset = 0;  // after place()
  };
  using Id = std::size_t;

  /// A block of `bytes` that lives in stages first_stage .. last_stage. Throws InvalidInput if
  /// first_stage > last_stage, or after place().
  Id add(std::string purpose, std::size_t bytes, int first_stage, int last_stage);

  /// Gives every block its place: the longest-lived and largest first, each at the lowest address
  /// where it meets no block placed before it that lives at the same time.
  void place();

  bool placed() const { return placed_; }
  const std::vector<Block>& blocks() const { return blocks_; }
  const Block& block(Id id) const { return blocks_.at(id); }
  /// Bytes of the whole, after place().
  std::size_t bytes() const { return bytes_; }
  /// The most that lives in any one stage: no placing can do with less.
  std::size_t least_bytes() const;
  /// One line a block, for a status page: purpose, bytes, stages, offset.
  std::string describe() const;

 private:
  std::vector<Block> blocks_;
  std::size_t bytes_ = 0;
  bool placed_ = false;
};

}  // namespace cuzk::base::cuda
