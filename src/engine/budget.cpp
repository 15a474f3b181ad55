#include "engine/budget.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

namespace cuzk::engine {

/// The books. All members are guarded by `mutex`, the signal excepted.
struct BudgetLedger {
  std::mutex mutex;
  std::uint64_t total = 0, urgent_share = 0;
  std::array<std::uint64_t, 2> used{};  // by lane
  std::array<std::list<std::uint64_t>, 2> lines;
  std::uint64_t next_ticket = 0;
  std::string source;
  Signal* changed = nullptr;

  std::uint64_t used_of(Lane lane) const { return used[static_cast<std::size_t>(lane)]; }
  std::list<std::uint64_t>& line(Lane lane) { return lines[static_cast<std::size_t>(lane)]; }

  std::uint64_t available(Lane lane) const {
    const std::uint64_t all = used[0] + used[1];
    const std::uint64_t share = std::min(urgent_share, total / 2);
    const std::uint64_t kept =
        lane == Lane::kUrgent ? 0 : share - std::min(share, used_of(Lane::kUrgent));
    return total > all + kept ? total - all - kept : 0;
  }
  // Whether somebody stands before a request of that lane with that ticket.
  bool is_first(Lane lane, std::optional<std::uint64_t> ticket) {
    if (lane == Lane::kNormal && !line(Lane::kUrgent).empty()) return false;
    if (!ticket) return line(lane).empty();
    return !line(lane).empty() && line(lane).front() == *ticket;
  }
  void take(std::uint64_t bytes, Lane lane) { used[static_cast<std::size_t>(lane)] += bytes; }
};

Reservation::Reservation(Reservation&& other) noexcept
    : ledger_(std::move(other.ledger_)),
      bytes_(std::exchange(other.bytes_, 0)),
      lane_(other.lane_) {}

Reservation& Reservation::operator=(Reservation&& other) noexcept {
  if (this == &other) return *this;
  release();
  ledger_ = std::move(other.ledger_);
  bytes_ = std::exchange(other.bytes_, 0);
  lane_ = other.lane_;
  return *this;
}

void Reservation::shrink(std::uint64_t bytes) {
  if (!ledger_ || bytes >= bytes_) return;
  Signal* changed = nullptr;
  {
    const std::lock_guard lock(ledger_->mutex);
    std::uint64_t& used = ledger_->used[static_cast<std::size_t>(lane_)];
    assert(used >= bytes_ - bytes);
    used -= bytes_ - bytes;
    changed = ledger_->changed;
  }
  bytes_ = bytes;
  if (changed != nullptr) changed->raise();
}

MemoryBudget::MemoryBudget(std::uint64_t total, std::string source, Signal& changed)
    : ledger_(std::make_shared<BudgetLedger>()) {
  ledger_->total = total;
  ledger_->source = std::move(source);
  ledger_->changed = &changed;
}

void MemoryBudget::set_urgent_share(std::uint64_t bytes) {
  const std::lock_guard lock(ledger_->mutex);
  ledger_->urgent_share = bytes;
}

void MemoryBudget::set_total(std::uint64_t total, std::string source) {
  {
    const std::lock_guard lock(ledger_->mutex);
    ledger_->total = total;
    ledger_->source = std::move(source);
  }
  ledger_->changed->raise();
}

std::optional<Reservation> MemoryBudget::try_reserve(std::uint64_t bytes, Lane lane) {
  const std::lock_guard lock(ledger_->mutex);
  if (!ledger_->is_first(lane, std::nullopt) || bytes > ledger_->available(lane))
    return std::nullopt;
  ledger_->take(bytes, lane);
  return Reservation(ledger_, bytes, lane);
}

MemoryBudget::Ticket MemoryBudget::enqueue(std::uint64_t bytes, Lane lane) {
  Ticket ticket;
  const std::lock_guard lock(ledger_->mutex);
  ticket.ledger_ = ledger_;
  ticket.number_ = ledger_->next_ticket++;
  ticket.bytes_ = bytes;
  ticket.lane_ = lane;
  ledger_->line(lane).push_back(ticket.number_);
  return ticket;
}

std::optional<Reservation> MemoryBudget::try_take(Ticket& ticket) {
  if (!ticket.ledger_) return std::nullopt;
  {
    const std::lock_guard lock(ledger_->mutex);
    if (!ledger_->is_first(ticket.lane_, ticket.number_) ||
        ticket.bytes_ > ledger_->available(ticket.lane_)) {
      return std::nullopt;
    }
    ledger_->take(ticket.bytes_, ticket.lane_);
  }
  const std::uint64_t bytes = ticket.bytes_;
  ticket.leave();
  return Reservation(ledger_, bytes, ticket.lane_);
}

std::optional<Reservation> MemoryBudget::reserve(std::uint64_t bytes, Lane lane,
                                                 const std::function<bool()>& give_up) {
  Ticket ticket = enqueue(bytes, lane);
  for (;;) {
    const std::uint64_t seen = ledger_->changed->generation();
    if (!can_ever(bytes, lane)) {
      base::fail<base::ResourceExhausted>("{} asked for; the budget is {} ({})",
                                          format_bytes(bytes), format_bytes(status().total),
                                          status().source);
    }
    if (auto taken = try_take(ticket)) return taken;
    if (give_up && give_up()) return std::nullopt;
    ledger_->changed->wait(seen, std::chrono::milliseconds(200));
  }
}

bool MemoryBudget::can_ever(std::uint64_t bytes, Lane lane) const {
  const std::lock_guard lock(ledger_->mutex);
  const std::uint64_t kept =
      lane == Lane::kUrgent ? 0 : std::min(ledger_->urgent_share, ledger_->total / 2);
  return bytes <= ledger_->total - kept;
}

std::uint64_t MemoryBudget::available(Lane lane) const {
  const std::lock_guard lock(ledger_->mutex);
  return ledger_->available(lane);
}

BudgetStatus MemoryBudget::status() const {
  const std::lock_guard lock(ledger_->mutex);
  const auto waiting = ledger_->lines[0].size() + ledger_->lines[1].size();
  return {.total = ledger_->total,
          .used = ledger_->used[0] + ledger_->used[1],
          .waiting = static_cast<std::uint32_t>(waiting),
          .source = ledger_->source};
}

MemoryBudget::Ticket::Ticket(Ticket&& other) noexcept
    : ledger_(std::move(other.ledger_)),
      number_(other.number_),
      bytes_(other.bytes_),
      lane_(other.lane_) {}

MemoryBudget::Ticket& MemoryBudget::Ticket::operator=(Ticket&& other) noexcept {
  if (this == &other) return *this;
  leave();
  ledger_ = std::move(other.ledger_);
  number_ = other.number_;
  bytes_ = other.bytes_;
  lane_ = other.lane_;
  return *this;
}

void MemoryBudget::Ticket::leave() {
  if (!ledger_) return;
  Signal* changed = nullptr;
  {
    const std::lock_guard lock(ledger_->mutex);
    ledger_->line(lane_).remove(number_);
    changed = ledger_->changed;
  }
  ledger_.reset();
  if (changed != nullptr) changed->raise();
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

}  // namespace cuzk::engine
