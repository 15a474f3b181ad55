#pragma once

#include "base/bytes.hpp"
#include "hash/sha256.hpp"
#include "r1cs/shape.hpp"
#include "r1cs/symbolic_system.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace cuzk::r1cs {

/// The digest of the stream up to and including a number of constraints.
struct Checkpoint {
  std::uint64_t constraints;
  base::Bytes32 digest;

  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

/// The identity of a circuit: SHA-256 over the constraint stream. For each constraint in order, for
/// A, B, C in turn: u32 little-endian number of terms, then for each term the u32 little-endian key
/// and the 32-byte canonical coefficient; terms merged by variable, zeros dropped, ascending by
/// key.
class ConstraintStream {
 public:
  /// Takes a checkpoint every `checkpoint_every` constraints; 0: none.
  explicit ConstraintStream(std::uint64_t checkpoint_every = 0);

  void row_length(std::uint32_t terms) { put(&terms, 4); }
  void term(std::uint32_t key, const base::Bytes32& coefficient) {
    put(&key, 4);
    put(coefficient.data(), 32);
  }
  /// To be called after each constraint's three rows.
  void end_constraint();

  base::Bytes32 digest();
  const std::vector<Checkpoint>& checkpoints() const { return checkpoints_; }

 private:
  void put(const void* bytes, std::size_t count) {
    if (used_ + count > buffer_.size()) flush();
    std::memcpy(buffer_.data() + used_, bytes, count);
    used_ += count;
  }
  void flush();

  std::uint64_t checkpoint_every_;
  std::uint64_t constraints_ = 0;
  hash::Sha256 hash_;
  std::vector<Checkpoint> checkpoints_;
  base::Bytes buffer_;
  std::size_t used_ = 0;
};

/// Streams a circuit into its digest as it runs, every copy of every repeat.
class DigestSystem final : public SymbolicSystem {
 public:
  explicit DigestSystem(std::uint64_t checkpoint_every = 0) : stream_(checkpoint_every) {}
  ConstraintStream& stream() { return stream_; }

 private:
  void on_constraint(const LinearCombination& a, const LinearCombination& b,
                     const LinearCombination& c) override;
  ConstraintStream stream_;
};

/// Streams a shape's constraints, all copies expanded: the same stream as DigestSystem's of the
/// same circuit.
void stream_shape(const Shape& shape, ConstraintStream& stream);

}  // namespace cuzk::r1cs
