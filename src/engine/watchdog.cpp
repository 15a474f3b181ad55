#include "engine/watchdog.hpp"

#include "base/log.hpp"

#include <fmt/format.h>

namespace cuzk::engine {

namespace {

bool is_worked_on(PartitionState state) {
  return state == PartitionState::kWitness || state == PartitionState::kDevice ||
         state == PartitionState::kVerify;
}

double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

void Watchdog::look_at(const std::shared_ptr<Job>& job, const Options& options,
                       Clock::time_point now, std::vector<Stall>& warnings,
                       std::vector<Stall>& failures) const {
  for (std::size_t k = 0; k < job->partitions.size(); ++k) {
    Partition& partition = job->partitions[k];
    if (!is_worked_on(partition.state)) continue;
    const auto age = now - partition.since;
    if (age < options.warning) continue;
    Stall stall{job,
                fmt::format("partition {} of {} stands in stage {} for {:.0f} s{}{}", k,
                            job->partitions.size(), to_string(partition.state), seconds(age),
                            partition.state == PartitionState::kDevice ? " on " : "",
                            partition.state == PartitionState::kDevice ? partition.device : ""),
                std::nullopt};
    if (age >= options.limit) {
      if (partition.state == PartitionState::kDevice) stall.device = partition.proved_on;
      failures.push_back(std::move(stall));
      return;
    }
    if (!partition.stall_reported) warnings.push_back(std::move(stall));
    partition.stall_reported = true;
  }
  if (!job->key_wait_since) return;
  const auto usable = std::ranges::count_if(devices_, [](const auto& s) { return s->usable(); });
  for (const auto& slot : devices_) {
    if (!slot->usable()) continue;
    const auto since = keys_.loading_since(job->circuit, slot->index());
    if (since && now - *since >= options.limit) {
      // Another device takes over; the only one goes on with the keys that it has.
      const bool only = usable == 1;
      failures.push_back(
          {only ? job : nullptr,
           fmt::format("key {} is being loaded on {} for {:.0f} s", job->circuit.to_string(),
                       slot->name(), seconds(now - *since)),
           only ? std::nullopt : std::optional(slot->index())});
      return;
    }
  }
}

void Watchdog::look(const Options& options, Clock::time_point now) {
  std::vector<Stall> warnings, failures;
  {
    const JobTable::Lock lock = table_.lock();
    table_.for_each_in_order(lock, [&](const std::shared_ptr<Job>& job) {
      look_at(job, options, now, warnings, failures);
      return true;
    });
  }
  for (const Stall& stall : warnings) {
    base::process_log().warn(
        {.job = stall.job->id, .kind = label(stall.job->kind), .code = "STALL"}, "{}", stall.text);
  }
  for (const Stall& stall : failures) {
    if (stall.device) devices_[*stall.device]->record_stall(stall.text);
    if (stall.job) {
      lifecycle_.fail(stall.job, ErrorCode::kStalled, stall.text);
    } else {
      base::process_log().error({.device = devices_[*stall.device]->name(), .code = "STALL"}, "{}",
                                stall.text);
    }
  }
}

}  // namespace cuzk::engine
