#include "engine/key_cache.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "engine/priority.hpp"
#include "engine/thread_name.hpp"

#include <algorithm>
#include <new>
#include <system_error>

namespace cuzk::engine {

KeyLease& KeyLease::operator=(KeyLease&& other) noexcept {
  if (this == &other) return *this;
  release();
  key_ = std::move(other.key_);
  device_ = other.device_;
  changed_ = other.changed_;
  return *this;
}

void KeyLease::release() {
  if (!key_) return;
  key_.reset();
  changed_->raise();
}

KeyCache::KeyCache(std::vector<std::unique_ptr<DeviceSlot>>& devices, ParameterStore& parameters,
                   MemoryBudget& host, Options options, Signal& changed,
                   std::function<void(const Failure&)> on_failure)
    : devices_(devices),
      parameters_(parameters),
      host_(host),
      options_(std::move(options)),
      changed_(changed),
      on_failure_(std::move(on_failure)) {}

KeyCache::~KeyCache() {
  std::map<Place, std::jthread> running;
  {
    const std::lock_guard lock(mutex_);
    running.swap(threads_);
  }
  running.clear();  // joins
}

ProvingDevice::Needs KeyCache::needs(const CircuitId& circuit, std::size_t device) {
  const Place place{circuit, device};
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = needs_.find(place); known != needs_.end()) return known->second;
  }
  const ProvingDevice::Needs needs =
      devices_[device]->device().needs({circuit.kind, circuit.size, parameters_.folder()});
  const std::lock_guard lock(mutex_);
  needs_.insert_or_assign(place, needs);
  return needs;
}

KeyLease KeyCache::lease(const CircuitId& circuit, std::size_t device) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find({circuit, device});
  if (found == entries_.end() || !found->second.key) return {};
  found->second.since = Clock::now();
  return KeyLease(found->second.key, device, changed_);
}

bool KeyCache::is_loaded(const CircuitId& circuit, std::size_t device) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find({circuit, device});
  return found != entries_.end() && found->second.key;
}

std::optional<std::chrono::steady_clock::time_point> KeyCache::loading_since(
    const CircuitId& circuit, std::size_t device) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find({circuit, device});
  if (found == entries_.end() || found->second.key) return std::nullopt;
  return found->second.since;
}

bool KeyCache::is_resident(const CircuitId& circuit) const {
  return circuit.kind == filecoin::CircuitKind::kWinningPost ||
         std::ranges::find(options_.resident, circuit) != options_.resident.end();
}

class KeyCache::Dropped {
 public:
  explicit Dropped(KeyCache& cache) : cache_(cache) {}
  ~Dropped() {
    std::vector<std::size_t> devices;
    for (auto& [device, key] : keys_) {
      key.reset();
      devices.push_back(device);
    }
    if (devices.empty()) return;
    {
      const std::lock_guard lock(cache_.mutex_);
      for (const std::size_t device : devices)
        cache_.dropping_.erase(std::ranges::find(cache_.dropping_, device));
    }
    cache_.changed_.raise();
  }
  Dropped(const Dropped&) = delete;
  Dropped& operator=(const Dropped&) = delete;

  /// The cache's mutex is held.
  void add(std::size_t device, std::shared_ptr<LoadedKey> key) {
    cache_.dropping_.push_back(device);
    keys_.emplace_back(device, std::move(key));
  }
  bool empty() const { return keys_.empty(); }
  const auto& keys() const { return keys_; }

 private:
  KeyCache& cache_;
  std::vector<std::pair<std::size_t, std::shared_ptr<LoadedKey>>> keys_;
};

void KeyCache::take_unused_discarded(Dropped& dropped) {
  std::erase_if(discarded_, [&](auto& item) {
    if (item.second.use_count() != 1) return false;
    dropped.add(item.first, std::move(item.second));
    return true;
  });
}

bool KeyCache::drop_one(std::optional<std::size_t> device, const MayDrop& may_drop,
                        std::chrono::seconds min_idle) {
  Dropped dropped(*this);
  const std::lock_guard lock(mutex_);
  take_unused_discarded(dropped);
  if (!dropped.empty()) return true;
  const Clock::time_point latest = Clock::now() - min_idle;
  auto victim = entries_.end();
  for (auto it = entries_.begin(); it != entries_.end(); ++it) {
    const auto& [place, entry] = *it;
    if (device && place.second != *device) continue;
    if (!idle(entry) || is_resident(place.first) || entry.since > latest) continue;
    if (!may_drop(place.first)) continue;
    if (victim == entries_.end() || entry.since < victim->second.since) victim = it;
  }
  if (victim == entries_.end()) return false;
  base::process_log().info({.device = devices_[victim->first.second]->name()},
                           "{} is dropped to make room", victim->first.first.to_string());
  dropped.add(victim->first.second, std::move(victim->second.key));
  entries_.erase(victim);
  return true;
}

bool KeyCache::make_device_room(std::size_t device, std::uint64_t bytes, Lane lane,
                                const MayDrop& may_drop, std::chrono::seconds min_idle) {
  while (bytes > devices_[device]->memory().available(lane)) {
    if (!drop_one(device, may_drop, min_idle)) return false;
  }
  return true;
}

std::uint64_t KeyCache::droppable_bytes(std::size_t device, const MayDrop& may_drop) const {
  const std::lock_guard lock(mutex_);
  std::uint64_t sum = 0;
  for (const auto& [place, entry] : entries_) {
    if (place.second == device && entry.key && !is_resident(place.first) && may_drop(place.first))
      sum += entry.key->device.bytes();
  }
  return sum;
}

KeyCache::Kept KeyCache::kept(const CircuitId& circuit, std::size_t device) const {
  const std::lock_guard lock(mutex_);
  Kept out;
  for (const auto& [place, entry] : entries_) {
    if (!entry.key || place.first == circuit || !is_resident(place.first)) continue;
    out.host += entry.key->host.bytes();
    if (place.second == device) out.device += entry.key->device.bytes();
  }
  return out;
}

std::uint64_t KeyCache::loads(const CircuitId& circuit) const {
  const std::lock_guard lock(mutex_);
  const auto found = loads_.find(circuit);
  return found != loads_.end() ? found->second : 0;
}

bool KeyCache::start_load(const CircuitId& circuit, std::size_t device, Lane lane,
                          Reservation host) {
  const Place place{circuit, device};
  auto key = std::make_shared<LoadedKey>();
  key->needs = needs(circuit, device);
  auto memory = devices_[device]->memory().try_reserve(key->needs.device, lane);
  if (!memory) return false;
  key->host = std::move(host);
  key->device = std::move(*memory);
  std::jthread previous;  // of an earlier load that is over; joined without the lock
  const std::lock_guard lock(mutex_);
  if (dropped_.contains(device)) return false;
  if (!entries_.try_emplace(place, Entry{nullptr, Clock::now()}).second) return true;
  std::jthread& thread = threads_[place];
  previous = std::move(thread);
  try {
    thread = std::jthread([this, place, key]() mutable { load(place, std::move(key)); });
  } catch (const std::system_error& error) {
    base::process_log().error({.device = devices_[device]->name()}, "loading {}: no thread: {}",
                              circuit.to_string(), error.what());
    entries_.erase(place);
    return false;
  }
  return true;
}

void KeyCache::load(const Place& place, std::shared_ptr<LoadedKey> key) {
  const auto& [circuit, device] = place;
  set_thread_name("load-" + circuit.to_string());
  const std::string& name = devices_[device]->name();
  base::process_log().info({.device = name}, "loading {}", circuit.to_string());
  const Clock::time_point begin = Clock::now();
  try {
    key->circuit = run_with_priority(WorkPriority::kLow, [&, &circuit = circuit, &device = device] {
      return devices_[device]->device().load({circuit.kind, circuit.size, parameters_.folder()});
    });
    key->verifier = std::make_unique<groth16::Verifier>(key->circuit->verifying_key());
    key->host.shrink(key->circuit->host_bytes());
    key->device.shrink(key->circuit->device_bytes());
  } catch (const DeviceFault& error) {
    const bool memory = error.kind() == DeviceFault::Kind::kMemory;
    return failed(place, memory ? ErrorCode::kGpuMemory : ErrorCode::kGpuFault, error.what(), true);
  } catch (const base::CorruptData& error) {
    parameters_.mark_corrupt(circuit, error.what());
    return failed(place, ErrorCode::kParamsCorrupt, error.what(), false);
  } catch (const base::InvalidInput& error) {
    return failed(place, ErrorCode::kParamsMissing, error.what(), false);
  } catch (const base::ResourceExhausted& error) {
    return failed(place, ErrorCode::kHostMemory, error.what(), false);
  } catch (const std::bad_alloc&) {
    return failed(place, ErrorCode::kHostMemory, "the machine has no memory left for the key",
                  false);
  } catch (const std::exception& error) {
    return failed(place, ErrorCode::kInternal, error.what(), false);
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  base::process_log().info({.device = name}, "{} is loaded after {:.1f} s", circuit.to_string(),
                           seconds);
  {
    const std::lock_guard lock(mutex_);
    entries_[place] = {std::move(key), Clock::now()};
    ++loads_[circuit];
  }
  changed_.raise();
}

void KeyCache::failed(const Place& place, ErrorCode code, const std::string& text,
                      bool device_fault) {
  base::process_log().error({.device = devices_[place.second]->name(), .code = to_string(code)},
                            "loading {} failed: {}", place.first.to_string(), text);
  // The place is free only after the report, which takes the table's lock: whoever starts the next
  // load holds that lock and waits for this thread to end.
  on_failure_({place.first, place.second, code, text, device_fault});
  {
    const std::lock_guard lock(mutex_);
    entries_.erase(place);
    needs_.erase(place);
  }
  changed_.raise();
}

KeyCache::Evicted KeyCache::evict(const CircuitId& circuit) {
  Evicted out;
  Dropped dropped(*this);
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [place, entry] : entries_) {
      if (place.first == circuit && !idle(entry)) out.in_use = true;
    }
    if (out.in_use) return out;
    std::erase_if(entries_, [&](auto& item) {
      if (item.first.first != circuit) return false;
      dropped.add(item.first.second, std::move(item.second.key));
      return true;
    });
  }
  for (const auto& [device, key] : dropped.keys()) {
    out.was_loaded = true;
    out.bytes += key->circuit->host_bytes() + key->circuit->device_bytes();
  }
  return out;
}

void KeyCache::discard(const CircuitId& circuit, std::size_t device) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find({circuit, device});
  if (found == entries_.end() || !found->second.key) return;
  discarded_.emplace_back(device, std::move(found->second.key));
  entries_.erase(found);
}

bool KeyCache::drop_discarded() {
  Dropped dropped(*this);
  const std::lock_guard lock(mutex_);
  take_unused_discarded(dropped);
  return !dropped.empty();
}

bool KeyCache::has_discarded() const {
  const std::lock_guard lock(mutex_);
  return !discarded_.empty();
}

bool KeyCache::is_current(const KeyLease& lease) const {
  const std::lock_guard lock(mutex_);
  return lease.key_ && std::ranges::none_of(
                           discarded_, [&](const auto& item) { return item.second == lease.key_; });
}

bool KeyCache::drop_device(std::size_t device) {
  {
    Dropped dropped(*this);
    const std::lock_guard lock(mutex_);
    if (std::ranges::find(dropping_, device) != dropping_.end()) return false;
    take_unused_discarded(dropped);
    for (const auto& [where, key] : discarded_) {
      if (where == device) return false;
    }
    for (const auto& [place, entry] : entries_) {
      if (place.second == device && !idle(entry)) return false;
    }
    std::erase_if(entries_, [&](auto& item) {
      if (item.first.second != device) return false;
      dropped.add(device, std::move(item.second.key));
      return true;
    });
    dropped_.insert(device);
  }
  return true;
}

void KeyCache::admit_loads(std::size_t device) {
  {
    const std::lock_guard lock(mutex_);
    dropped_.erase(device);
  }
  changed_.raise();
}

std::vector<CircuitStatus> KeyCache::status() const {
  struct Use {
    bool loaded = false, loading = false, streamed = true;
    std::uint64_t bytes = 0;
    std::uint32_t references = 0;
    Clock::time_point last;
  };
  std::map<CircuitId, Use> uses;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [place, entry] : entries_) {
      Use& use = uses[place.first];
      if (!entry.key) {
        use.loading = true;
        continue;
      }
      const LoadedCircuit& circuit = *entry.key->circuit;
      use.streamed &=
          circuit.device_bytes() == 0 && !devices_[place.second]->device().info().is_cpu;
      use.loaded = true;
      use.bytes += circuit.host_bytes() + circuit.device_bytes();
      use.references += static_cast<std::uint32_t>(entry.key.use_count() - 1);
      use.last = std::max(use.last, entry.since);
    }
  }
  std::vector<CircuitId> circuits = CircuitId::of_network();
  for (const auto& [circuit, use] : uses) {
    if (std::ranges::find(circuits, circuit) == circuits.end()) circuits.push_back(circuit);
  }
  std::vector<CircuitStatus> out;
  for (const CircuitId& circuit : circuits) {
    const ParameterStore::State state = parameters_.state(circuit);
    CircuitStatus status;
    status.circuit_id = circuit.to_string();
    status.readiness = state.readiness;
    status.detail = state.detail;
    if (const auto found = uses.find(circuit); found != uses.end()) {
      const Use& use = found->second;
      status.loaded = use.loaded;
      status.loading = use.loading;
      if (use.loaded) {
        status.tier = use.streamed ? KeyTier::kWarm : KeyTier::kHot;
        status.bytes = use.bytes;
        status.references = use.references;
        status.last_used_secs_ago = std::chrono::duration<double>(Clock::now() - use.last).count();
      }
    }
    out.push_back(std::move(status));
  }
  return out;
}

std::uint64_t KeyCache::pinned_bytes() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t sum = 0;
  for (const auto& [place, entry] : entries_) {
    if (entry.key) sum += entry.key->circuit->pinned_bytes();
  }
  return sum;
}

}  // namespace cuzk::engine
