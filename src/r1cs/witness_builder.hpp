#pragma once

#include "base/parallel.hpp"
#include "r1cs/constraint_system.hpp"
#include "r1cs/implied_fields.hpp"
#include "r1cs/witness.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>

namespace cuzk::r1cs {

/// Computes the values of a circuit and nothing else: no variables, no constraints. Where each
/// repeat's copies go is known from the shape, so copies run in parallel, each writing its own
/// range. Throws std::logic_error if the circuit is not the shape's. One builder is used by one
/// thread; the copies of a repeat get builders of their own.
class WitnessBuilder {
 public:
  static constexpr bool kHasValues = true;
  static constexpr bool kHasConstraints = false;

  /// Both must outlive the builder.
  explicit WitnessBuilder(const Shape& shape, const ImpliedFields* left_out = nullptr);
  WitnessBuilder(const WitnessBuilder&) = delete;
  WitnessBuilder& operator=(const WitnessBuilder&) = delete;

  NoVariable alloc_input(const Known<curve::Fr, true>& value) {
    if (input_ == end_input_) throw_overrun();
    witness_->inputs[input_++] = value.get();
    return {};
  }
  NoVariable alloc_aux(const Known<curve::Fr, true>& value) {
    if (leave_out(1)) return {};
    if (field_ == end_field_) throw_overrun();
    witness_->fields[field_++] = value.get();
    ++copy_field_;
    advance(0, 1);
    return {};
  }
  /// Allocates the next `count` field elements, or does nothing and returns false if they are not
  /// left out. Throws std::logic_error if some are and some are not.
  bool leave_out(std::size_t count) {
    if (implied_ == nullptr) return false;
    return leave_out_implied(count);
  }
  /// `count` variables at once, which the caller writes.
  std::span<curve::Fr> alloc_fields(std::size_t count) {
    if (count > end_field_ - field_) throw_overrun();
    const std::span<curve::Fr> out(witness_->fields.data() + field_, count);
    field_ += static_cast<std::uint32_t>(count);
    copy_field_ += static_cast<std::uint32_t>(count);
    advance_fields(count);
    return out;
  }
  NoVariable alloc_bit(Known<bool, true> value) {
    advance(value.get(), 1);
    return {};
  }
  /// The low `count` bits of `bits`, lowest first, as that many alloc_bit(); the bits above must be
  /// zero. count <= 64.
  void alloc_bits(std::uint64_t bits, unsigned count) { advance(bits, count); }

  template <class A, class B, class C>
  void enforce(const char*, A&&, B&&, C&&) {}

  template <class... Numbers>
  [[nodiscard]] NoScope scope(const char*, Numbers...) {
    return {};
  }

  template <class Body>
  void repeat(std::size_t n, Body&& body);
  template <class Ports, class Body>
  void repeat(std::size_t n, Ports&&, Body&& body) {
    repeat(n, body);
  }

  /// The finished witness. Throws std::logic_error unless the whole shape was filled.
  Witness finish();

 private:
  // A builder for one copy of the shape's block of this number.
  WitnessBuilder(const WitnessBuilder& parent, std::size_t block, std::uint32_t copy);

  bool leave_out_implied(std::size_t count);
  // `count` zeros: a field element has no bit.
  void advance_fields(std::size_t count) {
    for (; count > 64; count -= 64) advance(0, 64);
    advance(0, static_cast<unsigned>(count));
  }

  // Appends bits; whole words are stored as they fill up. A word that two copies share is or-ed in.
  void advance(std::uint64_t bits, unsigned count) {
    if (count > end_aux_ - aux_) throw_overrun();
    const unsigned used = aux_ % 64;
    word_ |= bits << used;
    if (used + count >= 64) {
      store_word();
      word_ = used == 0 ? 0 : bits >> (64 - used);
    }
    aux_ += count;
  }
  void store_word() {
    std::uint64_t& target = witness_->bits[aux_ / 64];
    if (aux_ / 64 == first_word_) {
      std::atomic_ref<std::uint64_t>(target).fetch_or(word_, std::memory_order_relaxed);
    } else {
      target = word_;
    }
  }
  // Stores the bits of the last, unfinished word.
  void flush() {
    if (aux_ % 64 != 0) {
      std::atomic_ref<std::uint64_t>(witness_->bits[aux_ / 64])
          .fetch_or(word_, std::memory_order_relaxed);
    }
    word_ = 0;
  }
  void expect_filled() const;
  /// Number of the next block of the shape with more than one copy, which must start here and have
  /// `copies`.
  std::size_t enter_repeat(std::size_t copies);
  void leave_repeat(std::size_t block);
  /// Fields of each copy that the witness has, and of the first copy the first one's place.
  std::uint32_t fields_of(std::size_t block) const;
  std::uint32_t first_field_of(std::size_t block) const;
  [[noreturn]] static void throw_overrun();

  const Shape* shape_;
  const ImpliedFields* left_out_;
  const ImpliedFields::Block* implied_ = nullptr;  // of the copy's block, if some are
  std::uint32_t copy_field_ = 0;                   // fields of the copy so far, with those left out
  Witness owned_;
  Witness* witness_;
  bool is_copy_ = false;
  std::size_t next_block_ = 0;
  std::uint32_t input_ = 1, field_ = 0, aux_ = 0;
  std::uint32_t end_input_, end_field_, end_aux_;
  std::uint32_t first_word_ = 0;
  std::uint64_t word_ = 0;
};

template <class Body>
void WitnessBuilder::repeat(std::size_t n, Body&& body) {
  if (is_copy_ || n < 2) {
    for (std::size_t i = 0; i < n; ++i) body(*this, i);
    return;
  }
  flush();
  const std::size_t block = enter_repeat(n);
  base::parallel_for(n, [&](std::size_t i) {
    WitnessBuilder copy(*this, block, static_cast<std::uint32_t>(i));
    body(copy, i);
    copy.flush();
    copy.expect_filled();
  });
  leave_repeat(block);
}

static_assert(ConstraintSystem<WitnessBuilder>);

}  // namespace cuzk::r1cs
