#pragma once

#include "base/cuda/arena_plan.hpp"
#include "base/cuda/buffer.hpp"

namespace cuzk::base::cuda {

/// The device memory of one worker: a single allocation, made when the worker starts and laid out
/// by a plan. Handing out blocks neither allocates nor waits; that two users of the same memory do
/// not run at once is what the plan's stages say.
class Arena {
 public:
  /// `plan` must be placed. Throws ResourceExhausted.
  explicit Arena(ArenaPlan plan)
      : plan_(std::move(plan)), memory_(plan_.bytes(), "the worker's arena") {
    require(plan_.placed(), "arena: the plan is not placed");
  }

  const ArenaPlan& plan() const { return plan_; }

  /// The block as objects of T, as many as fit.
  template <class T>
  DeviceSpan<T> block(ArenaPlan::Id id) const {
    const ArenaPlan::Block& b = plan_.block(id);
    return {reinterpret_cast<T*>(memory_.data() + b.offset), b.bytes / sizeof(T)};
  }

 private:
  ArenaPlan plan_;
  DeviceBuffer<std::byte> memory_;
};

}  // namespace cuzk::base::cuda
