#pragma once

#include "base/bytes.hpp"
#include "engine/budget.hpp"
#include "engine/circuit_id.hpp"
#include "engine/job.hpp"
#include "engine/key_cache.hpp"
#include "engine/preparation.hpp"
#include "engine/status.hpp"
#include "groth16/proof.hpp"
#include "r1cs/witness.hpp"

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

/// What the job table keeps. Which lock guards a member is said at each group.
namespace cuzk::engine {

using Clock = std::chrono::steady_clock;

/// Why a partition does not go on; formatted only when somebody asks.
struct WaitReason {
  enum class Kind : std::uint8_t {
    kNone,
    kSlot,          ///< all witness slots are taken, or enough witnesses wait for the devices
    kHostMemory,    ///< bytes: needed, available
    kKeyMemory,     ///< of the host, for the key: bytes
    kDeviceMemory,  ///< for the key: bytes
    kKeyLoading,
    kKeyCheck,       ///< its files are being checked, or wait for it
    kNoDevice,       ///< every device recovers
    kDeviceClaimed,  ///< a job before it needs the place of its key
  } kind = Kind::kNone;
  std::uint64_t needed = 0, available = 0;

  std::string to_string(const CircuitId& circuit) const;
};

using PartitionState = PartitionStatus::State;
inline constexpr std::size_t kPartitionStates = 7;

/// Whether a partition may go from one state to the other. Each state is entered from the one
/// before; work may fall back to kPending to be done again; any unfinished state may end in
/// kFailed.
bool is_transition(PartitionState from, PartitionState to);

/// One partition of a job. Guarded by the table's lock.
struct Partition {
  PartitionState state = PartitionState::kPending;
  Clock::time_point since;    ///< it is in this state
  std::uint32_t attempt = 0;  ///< number of the current one, from 1; names it in events
  std::uint32_t tried = 0;    ///< attempts that count against the limit
  bool stall_reported = false;
  std::optional<std::size_t> avoid;  ///< device not to be tried again while another can
  std::string device;                ///< where it was proved, or is
  std::chrono::nanoseconds witness_time{0}, device_time{0};

  /// From kWitness to the end of kDevice: what the stages hand on.
  std::shared_ptr<const r1cs::Witness> witness;
  KeyLease key;
  Reservation memory;
  std::optional<groth16::Proof> unverified;  ///< in kVerify, until a worker takes it
  std::size_t proved_on = 0;                 ///< number of `device`
  base::Bytes proof;                         ///< in kDone

  /// Throws std::logic_error unless is_transition(). Partitions of jobs in the table change state
  /// through JobTable::enter() alone, which counts them.
  void enter(PartitionState next, Clock::time_point now);
};

/// A job that the table knows.
struct Job {
  // Constant after acceptance.
  std::string id, request_id, digest;
  ProofKind kind = ProofKind::kPorep;
  Priority priority = Priority::kNormal;
  CircuitId circuit;
  std::uint64_t sector_number = 0, miner_id = 0;
  std::uint64_t sequence = 0;  ///< of acceptance
  Clock::time_point accepted;
  Clock::time_point deadline = Clock::time_point::max();

  explicit Job(const CircuitId& of) : circuit(of) {}

  /// PoSt: has a lane of its own, so that it never waits for more than one partition.
  bool is_urgent() const { return engine::is_urgent(kind); }
  Lane lane() const { return is_urgent() ? Lane::kUrgent : Lane::kNormal; }

  // Guarded by the table's lock.
  JobState state = JobState::kQueued;
  bool ending = false;  ///< how it ends is decided; the journal is being told
  std::shared_ptr<const PreparedJob> prepared;  ///< empty: to be decoded again
  Reservation prepared_memory;
  bool decoding = false;
  std::vector<Partition> partitions;  ///< empty until decoded for the first time
  /// Finished before a restart: put into `partitions` when they are made.
  std::vector<std::pair<std::uint32_t, base::Bytes>> recovered;
  std::uint32_t overtaken = 0;  ///< partitions of younger jobs that went before
  WaitReason waiting_for;
  Clock::time_point last_progress;
  std::optional<Clock::time_point> first_start, key_wait_since;
  JobTimings timings;
  std::uint32_t waiters = 0, submits = 0, tied_submits = 0;
  JobResult result;
  std::condition_variable ended;  ///< with the table's lock: the state became final

  std::array<std::size_t, kPartitionStates> counts{};  ///< of partitions, by state; the table's
  std::size_t count(PartitionState wanted) const {
    return counts[static_cast<std::size_t>(wanted)];
  }
  bool has(PartitionState wanted) const { return count(wanted) != 0; }

  /// The journal's marks of this job, one at a time: held around the call, never with the table's
  /// lock.
  std::mutex mark_mutex;
  std::uint32_t in_work = 0;  ///< its WorkMarks; guarded by mark_mutex
};

}  // namespace cuzk::engine
