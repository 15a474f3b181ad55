#pragma once

#include "engine/budget.hpp"
#include "engine/circuit_id.hpp"
#include "engine/device_slot.hpp"
#include "engine/parameter_store.hpp"
#include "engine/signal.hpp"
#include "engine/status.hpp"
#include "groth16/verifier.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace cuzk::engine {

/// A circuit ready on a device, with what checks its proofs.
struct LoadedKey {
  Reservation host, device;  ///< first, so that they outlive the memory that they stand for
  std::unique_ptr<LoadedCircuit> circuit;
  std::unique_ptr<const groth16::Verifier> verifier;
  ProvingDevice::Needs needs;
};

/// A reference to a loaded key: it stays loaded while there is one.
class KeyLease {
 public:
  KeyLease() = default;
  ~KeyLease() { release(); }
  KeyLease(KeyLease&&) noexcept = default;
  KeyLease& operator=(KeyLease&& other) noexcept;

  explicit operator bool() const { return key_ != nullptr; }
  LoadedCircuit& circuit() const { return *key_->circuit; }
  const groth16::Verifier& verifier() const { return *key_->verifier; }
  const ProvingDevice::Needs& needs() const { return key_->needs; }
  std::size_t device() const { return device_; }
  void release();

 private:
  friend class KeyCache;
  KeyLease(std::shared_ptr<LoadedKey> key, std::size_t device, Signal& changed)
      : key_(std::move(key)), device_(device), changed_(&changed) {}

  std::shared_ptr<LoadedKey> key_;
  std::size_t device_ = 0;
  Signal* changed_ = nullptr;
};

/// Which circuits are loaded on which device. Loads run in threads of their own, one at a time for
/// a circuit on a device, and hold up no other circuit. Keys without references are dropped, least
/// recently used first, when somebody wants their memory. Any thread may call; the destructor waits
/// for loads that run.
class KeyCache {
 public:
  struct Options {
    std::vector<CircuitId> resident;  ///< never dropped for others; WinningPoSt's never is
    std::chrono::seconds eviction_min_idle{300};
  };
  /// How a load ended, if not well.
  struct Failure {
    CircuitId circuit;
    std::size_t device;
    ErrorCode code;
    std::string text;
    bool device_fault = false;  ///< the device's own, not the key's: another one may do
  };

  /// `on_failure` is called from the loading thread, without locks, while the key still counts as
  /// loading.
  KeyCache(std::vector<std::unique_ptr<DeviceSlot>>& devices, ParameterStore& parameters,
           MemoryBudget& host, Options options, Signal& changed,
           std::function<void(const Failure&)> on_failure);
  ~KeyCache();
  KeyCache(const KeyCache&) = delete;
  KeyCache& operator=(const KeyCache&) = delete;

  /// Memory of the circuit on the device; asked of it once. Throws base::* as
  /// ProvingDevice::needs().
  ProvingDevice::Needs needs(const CircuitId& circuit, std::size_t device);

  /// Empty unless it is loaded there. Counts as a use.
  KeyLease lease(const CircuitId& circuit, std::size_t device);
  bool is_loaded(const CircuitId& circuit, std::size_t device) const;
  /// Since when it is being loaded there.
  std::optional<std::chrono::steady_clock::time_point> loading_since(const CircuitId& circuit,
                                                                     std::size_t device) const;

  /// Called with the cache's lock held: takes no lock of its own.
  using MayDrop = std::function<bool(const CircuitId&)>;
  /// Drops the key that was used longest ago among those without references that may go and were
  /// idle that long; of one device, or of any. False if there is none.
  bool drop_one(std::optional<std::size_t> device, const MayDrop& may_drop,
                std::chrono::seconds min_idle);
  /// Drops keys until the device has room. False if it cannot.
  bool make_device_room(std::size_t device, std::uint64_t bytes, Lane lane, const MayDrop& may_drop,
                        std::chrono::seconds min_idle);
  /// Memory of the device's keys that may go, whether they are in use or not.
  std::uint64_t droppable_bytes(std::size_t device, const MayDrop& may_drop) const;
  /// Never dropped for others.
  bool is_resident(const CircuitId& circuit) const;
  /// Memory of the loaded keys that are never dropped for others, but for the circuit's: of the
  /// host, and of the device.
  struct Kept {
    std::uint64_t host = 0, device = 0;
  };
  Kept kept(const CircuitId& circuit, std::size_t device) const;
  /// How often the circuit was loaded, on any device.
  std::uint64_t loads(const CircuitId& circuit) const;
  /// Starts a load with host memory reserved for it: needs().host_key. Does not wait. False if the
  /// device has no room or is being reset, or no thread can be had; true also if it is loaded or
  /// loading already.
  bool start_load(const CircuitId& circuit, std::size_t device, Lane lane, Reservation host);

  struct Evicted {
    bool was_loaded = false, in_use = false;
    std::uint64_t bytes = 0;
  };
  /// From all devices; nothing happens if any of them uses it.
  Evicted evict(const CircuitId& circuit);
  /// Gives no further leases of a key that may be damaged; drop_discarded() drops it once its last
  /// lease is gone, and the next use loads it anew.
  void discard(const CircuitId& circuit, std::size_t device);
  /// Drops discarded keys that nobody uses any more. Cheap when there are none.
  bool drop_discarded();
  /// Whether there are discarded keys, used or not.
  bool has_discarded() const;
  /// Whether the lease is of a key that is still in the cache, not of a discarded one.
  bool is_current(const KeyLease& lease) const;
  /// Drops all keys of a device, and no load starts there until admit_loads(). False, and nothing
  /// happens, while any is in use or loading.
  bool drop_device(std::size_t device);
  void admit_loads(std::size_t device);

  /// One entry for each circuit of the network and each other that is loaded.
  std::vector<CircuitStatus> status() const;
  /// Sum of the memory that loaded keys have pinned.
  std::uint64_t pinned_bytes() const;

 private:
  using Clock = std::chrono::steady_clock;
  using Place = std::pair<CircuitId, std::size_t>;
  struct Entry {
    std::shared_ptr<LoadedKey> key;  ///< empty: loading
    Clock::time_point since;         ///< of the load, then the last use
  };

  /// Keys that are no longer in the cache, destroyed by the destructor, without the mutex. Until
  /// then their devices count as in use.
  class Dropped;

  static bool idle(const Entry& entry) { return entry.key && entry.key.use_count() == 1; }
  // Discarded keys that nobody uses any more; mutex_ is held.
  void take_unused_discarded(Dropped& dropped);
  void load(const Place& place, std::shared_ptr<LoadedKey> key);
  void failed(const Place& place, ErrorCode code, const std::string& text, bool device_fault);

  // Constant after construction.
  std::vector<std::unique_ptr<DeviceSlot>>& devices_;
  ParameterStore& parameters_;
  MemoryBudget& host_;
  Options options_;
  Signal& changed_;
  std::function<void(const Failure&)> on_failure_;

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<Place, Entry> entries_;
  std::map<Place, ProvingDevice::Needs> needs_;
  std::map<CircuitId, std::uint64_t> loads_;
  std::map<Place, std::jthread> threads_;
  std::vector<std::pair<std::size_t, std::shared_ptr<LoadedKey>>> discarded_;
  std::vector<std::size_t> dropping_;  ///< devices of keys that are being destroyed
  std::set<std::size_t> dropped_;      ///< devices that get no keys
};

}  // namespace cuzk::engine
