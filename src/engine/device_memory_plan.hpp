#pragma once

#include "engine/circuit_id.hpp"
#include "engine/config.hpp"
#include "engine/parameter_store.hpp"
#include "engine/proving_device.hpp"

#include <cstdint>
#include <span>
#include <vector>

/// Who gets how much of a device's memory: plain numbers, the same for the same circuits.
namespace cuzk::engine {

/// Memory of one circuit on a device, in bytes.
struct CircuitMemory {
  std::uint64_t least = 0;  ///< its key and working memory of one proof, everything on the device
  std::uint64_t streamed = 0;  ///< the same with most of its key in host memory, at least
  std::uint64_t lanes = 0;     ///< working memory of the other proofs that may be under way
  std::uint64_t tables = 0;    ///< whatever else makes it faster; a part of it helps as well
  bool stays = false;          ///< its key is never dropped for others

  std::uint64_t all() const { return least + lanes + tables; }
};

/// What each may take of `total`; `circuits` with the most important first.
///
/// Going through them in order, a circuit whose `least` fits beside those before it is given that,
/// so that all of these stay on the device together. From what is left each of them, in order, gets
/// its `lanes` if there is room for all of them, then, in order, of its `tables` what there is.
///
/// A circuit that does not fit beside the others takes their place while it is used, but never that
/// of those that stay: it is given its `least`, or, where even that does not fit, everything but
/// the memory of those that stay, and its key has to be streamed. What it is given so is kept from
/// the lanes and tables of those that stay. It is never given less than `streamed`, even where that
/// is more than there is: with less it could not work.
std::vector<std::uint64_t> share_device_memory(std::uint64_t total,
                                               std::span<const CircuitMemory> circuits);

/// Circuits in the order in which a device's memory is given to them: those of WinningPoSt, whose
/// answer is due in seconds; `first`, as they stand there; then PoRep, updates and WindowPoSt, of
/// each 32 GiB sectors, then the larger size before the smaller.
std::vector<CircuitId> memory_order(std::vector<CircuitId> circuits,
                                    std::span<const CircuitId> first);

/// What a device is to expect (ProvingDevice::expect): the circuits whose files are there, in
/// memory_order() with those of srs.resident_keys and srs.preload first; and which of them stay.
struct ExpectedCircuits {
  std::vector<ProvingDevice::Circuit> circuits, stays;
};
ExpectedCircuits expected_circuits(const Config::Srs& config, ParameterStore& parameters);

}  // namespace cuzk::engine
