#include "groth16/cuda/pass_queue.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <set>

namespace cuzk::groth16::cuda {

PassQueue::PassQueue(Options options) : options_(options) {
  base::require(options_.places >= 1 && options_.jobs >= 1,
                "a pass of {} proofs of {} jobs: at least one of each", options_.places,
                options_.jobs);
}

void PassQueue::announce(Clock::time_point now) {
  ++starting_;
  last_arrival_ = now;
}

void PassQueue::give_up() { --starting_; }

void PassQueue::add(const Entry& entry) {
  --starting_;
  last_arrival_ = entry.since;
  open_.push_back(entry);
}

void PassQueue::remove(std::size_t place) {
  std::erase_if(open_, [&](const Entry& entry) { return entry.place == place; });
}

std::vector<PassQueue::Entry> PassQueue::next() const {
  std::vector<std::uint64_t> jobs;
  std::vector<Entry> out;
  for (const Entry& entry : open_) {
    if (std::ranges::find(jobs, entry.job) == jobs.end()) {
      if (jobs.size() == options_.jobs) continue;
      jobs.push_back(entry.job);
    }
    out.push_back(entry);
  }
  return out;
}

bool PassQueue::is_due(Clock::time_point now) const {
  if (open_.empty()) return false;
  if (open_.size() == options_.places) return true;
  const std::vector<Entry> pass = next();
  if (std::ranges::any_of(pass, &Entry::urgent)) return true;
  if (starting_ > 0 || now < last_arrival_ + kMoment) return false;
  std::set<std::uint64_t> jobs;
  for (const Entry& entry : pass) jobs.insert(entry.job);
  return jobs.size() == options_.jobs || now >= pass.front().since + options_.wait;
}

std::vector<std::size_t> PassQueue::take(Clock::time_point now) {
  if (!is_due(now)) return {};
  std::vector<std::size_t> places;
  for (const Entry& entry : next()) places.push_back(entry.place);
  for (const std::size_t place : places) remove(place);
  return places;
}

}  // namespace cuzk::groth16::cuda
