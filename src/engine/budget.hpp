#pragma once

#include "engine/signal.hpp"
#include "engine/status.hpp"

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace cuzk::engine {

/// Who asks. A share of a budget can be kept free for the urgent lane, whose requests also go
/// before all others.
enum class Lane : std::uint8_t { kUrgent, kNormal };

struct BudgetLedger;

/// Bytes of a budget, given back by the destructor. An empty one holds nothing. May outlive the
/// budget, but not its signal.
class Reservation {
 public:
  Reservation() = default;
  ~Reservation() { release(); }
  Reservation(Reservation&& other) noexcept;
  Reservation& operator=(Reservation&& other) noexcept;

  std::uint64_t bytes() const { return bytes_; }
  /// Gives part back, down to `bytes`. More than it has: nothing happens.
  void shrink(std::uint64_t bytes);
  void release() { shrink(0); }

 private:
  friend class MemoryBudget;
  Reservation(std::shared_ptr<BudgetLedger> ledger, std::uint64_t bytes, Lane lane)
      : ledger_(std::move(ledger)), bytes_(bytes), lane_(lane) {}

  std::shared_ptr<BudgetLedger> ledger_;
  std::uint64_t bytes_ = 0;
  Lane lane_ = Lane::kNormal;
};

/// Memory as admission: who wants bytes reserves them before the work, all that a step needs at
/// once, so that nobody waits while holding what another one waits for. Within a lane requests that
/// wait are served in the order of their tickets, and no later request passes them. Raises the
/// signal at every return of bytes. Any thread may call.
///
/// Always: used <= total, unless set_total() went below what was used; the normal lane never
/// touches the urgent share that the urgent lane does not use itself.
class MemoryBudget {
 public:
  /// `source` says where the total comes from, for people: "config", "cgroup", "physical".
  MemoryBudget(std::uint64_t total, std::string source, Signal& changed);
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  /// Keeps bytes free for the urgent lane from now on; at most half of the total.
  void set_urgent_share(std::uint64_t bytes);
  /// What is in use stays in use; new requests wait until the sum fits again.
  void set_total(std::uint64_t total, std::string source);

  /// A place in the line of its lane; the destructor leaves the line.
  class Ticket;

  /// Empty if it does not fit now, or if somebody waits before.
  std::optional<Reservation> try_reserve(std::uint64_t bytes, Lane lane);
  Ticket enqueue(std::uint64_t bytes, Lane lane);
  /// Empty unless the ticket is first in its line, no urgent one waits before it, and it fits. A
  /// ticket that was served has left the line.
  std::optional<Reservation> try_take(Ticket& ticket);
  /// Waits for its turn. Empty if give_up(), asked at every change and a few times a second, said
  /// so. Throws base::ResourceExhausted at once if it can never fit.
  std::optional<Reservation> reserve(std::uint64_t bytes, Lane lane,
                                     const std::function<bool()>& give_up);

  /// Whether it would fit if nothing else were reserved.
  bool can_ever(std::uint64_t bytes, Lane lane) const;
  /// What the lane could have now, if nobody waited.
  std::uint64_t available(Lane lane) const;
  BudgetStatus status() const;

 private:
  std::shared_ptr<BudgetLedger> ledger_;
};

class MemoryBudget::Ticket {
 public:
  Ticket() = default;
  ~Ticket() { leave(); }
  Ticket(Ticket&& other) noexcept;
  Ticket& operator=(Ticket&& other) noexcept;

  explicit operator bool() const { return ledger_ != nullptr; }
  std::uint64_t bytes() const { return bytes_; }
  void leave();

 private:
  friend class MemoryBudget;
  std::shared_ptr<BudgetLedger> ledger_;
  std::uint64_t number_ = 0, bytes_ = 0;
  Lane lane_ = Lane::kNormal;
};

/// "3.1 GiB", "512 B": for people.
std::string format_bytes(std::uint64_t bytes);

}  // namespace cuzk::engine
