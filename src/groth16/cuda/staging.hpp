#pragma once

#include "base/cuda/buffer.hpp"
#include "base/cuda/stream.hpp"
#include "groth16/cuda/track.hpp"

#include <cstddef>
#include <exception>
#include <memory>
#include <span>
#include <utility>

namespace cuzk::groth16::cuda {

/// Host memory in which a witness is laid out for its way to the device: page-locked, or ordinary
/// if that is wanted or no more can be locked. From ordinary memory a copy goes through the
/// driver's buffers, and enqueueing it takes as long as the copy.
class Staging {
 public:
  Staging(std::size_t bytes, bool pinned) {
    if (pinned) {
      try {
        pinned_ = {bytes, "a witness on its way to the device"};
        bytes_ = pinned_.span();
        return;
      } catch (const base::ResourceExhausted&) {
        // The slower way does as well.
      }
    }
    ordinary_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    bytes_ = {ordinary_.get(), bytes};
  }

  std::span<std::byte> span() const { return bytes_; }
  bool is_pinned() const { return ordinary_ == nullptr; }
  std::size_t pinned_bytes() const { return is_pinned() ? bytes_.size() : 0; }

 private:
  base::cuda::PinnedBuffer<std::byte> pinned_;
  std::unique_ptr<std::byte[]> ordinary_;
  std::span<std::byte> bytes_;
};

/// A second place on the device for a witness that has to wait for the first: it is there when its
/// turn comes. One thread at a time, from staging() to hand_over().
class SpareWitness {
 public:
  /// Allocates; throws ResourceExhausted.
  SpareWitness(std::size_t bytes, bool pinned)
      : staging_(bytes, pinned), device_(bytes, "a witness that waits for its turn") {}
  ~SpareWitness() {
    try {
      stream_.synchronize();
    } catch (const std::exception&) {
      // What was under way is of no more interest.
    }
  }
  SpareWitness(const SpareWitness&) = delete;
  SpareWitness& operator=(const SpareWitness&) = delete;

  /// Where to lay the witness out; waits for the upload before it.
  std::span<std::byte> staging() const {
    uploaded_.synchronize();
    return staging_.span();
  }
  /// Enqueues the upload, behind the hand-over before it.
  void upload() {
    track_ = std::make_shared<Track>();
    handed_over_.block(stream_.ref());
    track_->mark({}, stream_.ref());
    base::cuda::copy_bytes(device_.data(), staging_.span().data(), device_.size(), stream_.ref());
    track_->mark("upload", stream_.ref());
    uploaded_.record(stream_.ref());
  }
  /// Enqueues the copy to where the witness is used. Returns the upload's times.
  std::shared_ptr<const Track> hand_over(base::cuda::DeviceSpan<std::byte> to,
                                         base::cuda::StreamRef stream) {
    uploaded_.block(stream);
    base::cuda::copy_bytes(to.data, device_.data(), device_.size(), stream);
    handed_over_.record(stream);
    return std::move(track_);
  }

  bool is_pinned() const { return staging_.is_pinned(); }
  std::size_t pinned_bytes() const { return staging_.pinned_bytes(); }

 private:
  Staging staging_;
  base::cuda::DeviceBuffer<std::byte> device_;
  base::cuda::Stream stream_;
  base::cuda::Event uploaded_, handed_over_;
  std::shared_ptr<Track> track_;
};

}  // namespace cuzk::groth16::cuda
