#include "engine/device_memory_plan.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace cuzk::engine {

std::vector<std::uint64_t> share_device_memory(std::uint64_t total,
                                               std::span<const CircuitMemory> circuits) {
  std::vector<std::uint64_t> shares(circuits.size(), 0);
  std::vector<std::size_t> together;
  std::uint64_t left = total, staying = 0;
  for (std::size_t i = 0; i < circuits.size(); ++i) {
    if (circuits[i].least > left) continue;
    together.push_back(i);
    shares[i] = circuits[i].least;
    left -= shares[i];
    if (circuits[i].stays) staying += shares[i];
  }
  const auto is_together = [&](std::size_t i) { return shares[i] != 0; };
  // What the others need of the memory that is not of those that stay.
  std::uint64_t kept = 0;
  for (std::size_t i = 0; i < circuits.size(); ++i) {
    if (is_together(i)) continue;
    const std::uint64_t room = total - staying;
    kept = std::max(
        kept, circuits[i].least <= room ? circuits[i].least : std::min(circuits[i].streamed, room));
  }
  const auto room_for = [&](std::size_t i) {
    return circuits[i].stays ? std::min(left, total - kept - staying) : left;
  };
  const auto add = [&](std::size_t i, std::uint64_t bytes) {
    shares[i] += bytes;
    left -= bytes;
    if (circuits[i].stays) staying += bytes;
  };
  for (const std::size_t i : together) {
    if (circuits[i].lanes <= room_for(i)) add(i, circuits[i].lanes);
  }
  for (const std::size_t i : together) add(i, std::min(circuits[i].tables, room_for(i)));
  for (std::size_t i = 0; i < circuits.size(); ++i) {
    if (is_together(i)) continue;
    const std::uint64_t room = total - staying;
    shares[i] = circuits[i].least <= room
                    ? circuits[i].least
                    : std::max(std::min(circuits[i].all(), room), circuits[i].streamed);
  }
  return shares;
}

std::vector<CircuitId> memory_order(std::vector<CircuitId> circuits,
                                    std::span<const CircuitId> first) {
  using filecoin::CircuitKind;
  constexpr std::uint64_t kUsualSector = std::uint64_t{32} << 30;
  const auto rank = [&](const CircuitId& circuit) {
    const auto named = std::ranges::find(first, circuit) - first.begin();
    const int kind = circuit.kind == CircuitKind::kPorep    ? 0
                     : circuit.kind == CircuitKind::kUpdate ? 1
                                                            : 2;
    const std::uint64_t bytes = circuit.size.bytes();
    return std::tuple(circuit.kind != CircuitKind::kWinningPost, named, kind, bytes != kUsualSector,
                      ~bytes);
  };
  std::ranges::stable_sort(circuits, {}, rank);
  return circuits;
}

ExpectedCircuits expected_circuits(const Config::Srs& config, ParameterStore& parameters) {
  std::vector<CircuitId> there, resident, first;
  for (const CircuitId& circuit : CircuitId::of_network()) {
    if (has_files(parameters.state(circuit).readiness)) there.push_back(circuit);
  }
  for (const std::string& name : config.resident_keys) resident.push_back(CircuitId::parse(name));
  first = resident;
  for (const std::string& name : config.preload) first.push_back(CircuitId::parse(name));
  ExpectedCircuits out;
  for (const CircuitId& circuit : memory_order(std::move(there), first)) {
    out.circuits.push_back({circuit.kind, circuit.size, parameters.folder()});
    if (circuit.kind == filecoin::CircuitKind::kWinningPost ||
        std::ranges::find(resident, circuit) != resident.end()) {
      out.stays.push_back(out.circuits.back());
    }
  }
  return out;
}

}  // namespace cuzk::engine
