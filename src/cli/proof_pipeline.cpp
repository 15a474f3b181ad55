#include "cli/proof_pipeline.hpp"

#include "base/error.hpp"
#include "groth16/verifier.hpp"

#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace cuzk::cli {

namespace {

/// A queue between two threads. push() waits while it is full, pop() while it is empty; after
/// close() the one does nothing and the other returns nothing.
template <class T>
class Channel {
 public:
  explicit Channel(std::size_t capacity) : capacity_(capacity) {}

  void push(T item) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || items_.size() < capacity_; });
    if (closed_) return;
    items_.push_back(std::move(item));
    changed_.notify_all();
  }
  std::optional<T> pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || !items_.empty(); });
    if (closed_) return std::nullopt;
    std::optional<T> item(std::move(items_.front()));
    items_.pop_front();
    changed_.notify_all();
    return item;
  }
  void close() {
    std::deque<T> dropped;  // destroyed without the lock: items may wait for a device
    const std::lock_guard lock(mutex_);
    closed_ = true;
    dropped.swap(items_);
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  const std::size_t capacity_;
  std::deque<T> items_;  // guarded by mutex_, and:
  bool closed_ = false;
};

/// A partition on its way.
struct Partition {
  std::size_t index = 0;
  r1cs::Witness witness;
  base::StageTimer timer;
  std::unique_ptr<groth16::Prover::Pending> pending;
};

class Pipeline {
 public:
  Pipeline(const r1cs::Shape& shape, LoadedProver& prover, const ProofRequest& request,
           std::size_t count, const std::function<groth16::Blinding()>& make_blinding)
      : shape_(shape),
        prover_(*prover.prover),
        request_(request),
        count_(count),
        make_blinding_(make_blinding),
        witnesses_(1),
        started_(prover.lanes) {}

  std::vector<ProvedPartition> run() {
    {
      const std::jthread witnesses([&] { guarded([&] { make_witnesses(); }); });
      const std::jthread finisher([&] { guarded([&] { finish_proofs(); }); });
      guarded([&] { start_proofs(); });
    }
    if (error_ != nullptr) std::rethrow_exception(error_);
    return std::move(proved_);
  }

 private:
  template <class Work>
  void guarded(Work&& work) {
    try {
      work();
    } catch (...) {
      {
        const std::lock_guard lock(mutex_);
        if (error_ == nullptr) error_ = std::current_exception();
      }
      witnesses_.close();
      started_.close();
    }
  }
  void make_witnesses() {
    for (std::size_t k = 0; k < count_; ++k) {
      Partition partition;
      partition.index = k % request_.statement.public_inputs.size();
      partition.witness = partition.timer.measure(
          "witness", [&] { return request_.witness(shape_, partition.index); });
      witnesses_.push(std::move(partition));
    }
  }
  void start_proofs() {
    for (std::size_t k = 0; k < count_; ++k) {
      std::optional<Partition> partition = witnesses_.pop();
      if (!partition) return;
      partition->pending = prover_.start(partition->witness, partition->timer);
      partition->witness = {};
      started_.push(std::move(*partition));
    }
  }
  void finish_proofs() {
    const groth16::Verifier verifier(prover_.verifying_key());
    for (std::size_t k = 0; k < count_; ++k) {
      std::optional<Partition> partition = started_.pop();
      if (!partition) return;
      base::StageTimer& timer = partition->timer;
      const groth16::Proof proof = partition->pending->finish(make_blinding_(), timer);
      const bool valid = timer.measure("verify", [&] {
        return verifier.verify(proof, request_.statement.public_inputs[partition->index]);
      });
      base::require(valid,
                    "partition {}: the proof made does not verify: the vanilla proof or the public "
                    "values are wrong; "
                    "`cuzk vanilla check` tells which",
                    partition->index);
      proved_.push_back({proof, std::move(timer), std::chrono::steady_clock::now()});
    }
  }

  const r1cs::Shape& shape_;
  groth16::Prover& prover_;
  const ProofRequest& request_;
  const std::size_t count_;
  const std::function<groth16::Blinding()>& make_blinding_;
  Channel<Partition> witnesses_, started_;
  std::vector<ProvedPartition> proved_;  // the finisher's
  std::mutex mutex_;
  std::exception_ptr error_;  // guarded by mutex_
};

}  // namespace

std::vector<ProvedPartition> prove_partitions(
    const r1cs::Shape& shape, LoadedProver& prover, const ProofRequest& request, std::size_t count,
    const std::function<groth16::Blinding()>& make_blinding) {
  return Pipeline(shape, prover, request, count, make_blinding).run();
}

}  // namespace cuzk::cli
