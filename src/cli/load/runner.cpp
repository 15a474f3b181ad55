#include "cli/load/runner.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <numeric>
#include <optional>
#include <random>
#include <thread>
#include <utility>

namespace cuzk::cli::load {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The moments at which jobs are to be sent.
class Arrivals {
 public:
  Arrivals(const Load& load, Clock::time_point start)
      : load_(load), start_(start), random_(load.seed), gap_(load.rate > 0 ? load.rate : 1) {}

  struct Arrival {
    std::uint64_t job;
    double at;  ///< seconds since the start
  };
  /// The next job; empty when all are sent. Any thread may call.
  std::optional<Arrival> next() {
    const std::lock_guard lock(mutex_);
    if (load_.jobs > 0 && sent_ == load_.jobs) return std::nullopt;
    if (load_.rate > 0) {
      at_ += gap_(random_);
    } else {
      at_ = seconds_since(start_);
    }
    if (load_.duration.count() > 0 && at_ >= load_.duration.count()) return std::nullopt;
    return Arrival{sent_++, at_};
  }

 private:
  const Load& load_;
  const Clock::time_point start_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::mt19937_64 random_;
  std::exponential_distribution<double> gap_;
  double at_ = 0;
  std::uint64_t sent_ = 0;
};

/// Cuts off half of what is to be proved.
void damage(engine::JobRequest& request) {
  base::Bytes& bytes =
      request.vanilla_proofs.empty() ? request.vanilla_proof : request.vanilla_proofs.back();
  bytes.resize(bytes.size() / 2);
}

class Runner {
 public:
  Runner(Target& target, const Load& load, const ProofCheck& check)
      : target_(target), load_(load), check_(check), arrivals_(load, start_) {}

  std::vector<Sample> run() {
    {
      std::vector<std::jthread> clients;
      for (unsigned i = 0; i < load_.clients; ++i) clients.emplace_back([this] { be_client(); });
    }
    if (error_ != nullptr) std::rethrow_exception(error_);
    std::ranges::sort(samples_, {}, &Sample::job);
    return std::move(samples_);
  }

 private:
  void be_client() {
    try {
      while (!failed_) {
        const auto arrival = arrivals_.next();
        if (!arrival) return;
        std::this_thread::sleep_until(start_ + std::chrono::duration_cast<Clock::duration>(
                                                   std::chrono::duration<double>(arrival->at)));
        Sample sample = send(*arrival);
        const std::lock_guard lock(mutex_);
        samples_.push_back(std::move(sample));
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (error_ == nullptr) error_ = std::current_exception();
      failed_ = true;
    }
  }

  const MixItem& choose(double share) const {
    double sum = 0;
    for (const MixItem& item : load_.mix) sum += item.weight;
    double left = share * sum;
    for (const MixItem& item : load_.mix) {
      if (left < item.weight) return item;
      left -= item.weight;
    }
    return load_.mix.back();
  }

  Sample send(const Arrivals::Arrival& arrival) {
    std::seed_seq seeds{load_.seed, arrival.job};
    std::mt19937_64 random(seeds);
    std::uniform_real_distribution<double> share(0, 1);
    const MixItem& item = choose(share(random));
    const Payload& payload = *item.payloads[arrival.job % item.payloads.size()];
    const bool vanishes = share(random) < load_.vanishing;
    const bool twin = share(random) < load_.twins;
    const bool damaged = share(random) < load_.damaged;

    engine::JobRequest request = payload.request;
    request.request_id = fmt::format("{}-{}", load_.id_prefix, arrival.job);
    const auto limit = vanishes ? load_.vanish_after : std::chrono::milliseconds(0);
    if (damaged) damage(request);
    Sample sample;
    sample.damaged = damaged;
    sample.job = arrival.job;
    sample.kind = request.kind;
    sample.start = arrival.at;
    std::optional<Answer> other;
    {
      std::optional<std::jthread> second;
      if (twin) second.emplace([&] { other = target_.prove(request, {}); });
      sample.answer = target_.prove(request, limit);
      sample.seconds = seconds_since(start_) - arrival.at;
    }
    const bool completed = sample.answer.outcome == Answer::Outcome::kCompleted;
    sample.valid = completed && check_(payload, sample.answer.proof);
    sample.differs = completed && other && other->outcome == Answer::Outcome::kCompleted &&
                     other->proof != sample.answer.proof;
    return sample;
  }

  Target& target_;
  const Load& load_;
  const ProofCheck& check_;
  const Clock::time_point start_ = Clock::now();
  Arrivals arrivals_;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<Sample> samples_;
  std::exception_ptr error_;
};

}  // namespace

std::vector<Sample> run(Target& target, const Load& load, const ProofCheck& check) {
  base::require(load.jobs > 0 || load.duration.count() > 0,
                "a load needs a number of jobs or a duration");
  base::require(load.clients > 0, "a load needs a client");
  base::require(!load.mix.empty(), "a load needs at least one kind of job");
  for (const MixItem& item : load.mix) {
    base::require(!item.payloads.empty() && item.weight > 0,
                  "each kind of a load needs a payload and a weight above 0");
  }
  return Runner(target, load, check).run();
}

}  // namespace cuzk::cli::load
