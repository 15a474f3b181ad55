#pragma once

#include "engine/config.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace cuzk::engine {

/// What this machine lets the process have. Everything is in bytes and read from below `root`,
/// which is "/" but in tests.
struct HostMemory {
  /// MemTotal, less what is set aside as huge pages. 0: cannot be told.
  std::uint64_t physical = 0;
  /// MemAvailable: what could be had now without swapping.
  std::uint64_t available = 0;
  /// The tightest limit of the process's control group and those above it, and what that group
  /// uses. Empty: there is no limit.
  struct Limit {
    std::uint64_t bytes = 0;
    std::uint64_t used = 0;
    std::filesystem::path file;  ///< which says so
  };
  std::optional<Limit> cgroup;
  /// What could not be read, and what was taken instead; for the log.
  std::vector<std::string> notes;
};

/// Reads /proc/meminfo and the control groups of version 2 (memory.max, memory.high) or 1
/// (memory.limit_in_bytes), wherever /proc/self/mountinfo says that they are mounted. Never throws
/// for something that is missing.
HostMemory read_host_memory(const std::filesystem::path& root = "/");

/// The memory that may be reserved, and why it is not more.
struct HostBudget {
  std::uint64_t bytes = 0;
  std::string source;       ///< "config", "cgroup", "physical"
  std::string explanation;  ///< one line for the log
  std::vector<std::string> warnings;
};

/// The smallest of memory.total_budget, the control group's limit, and physical memory; of the last
/// two memory.safety_margin is left free, but at most a quarter of them. Where neither can be told
/// and none is set, 8 GiB, with a warning.
HostBudget host_budget(const Config::Memory& config, const HostMemory& memory);

/// Likewise for page-locked memory: memory.pinned_budget, by default half of the physical memory,
/// and never more than `host`.
HostBudget pinned_budget(const Config::Memory& config, const HostMemory& memory,
                         const HostBudget& host);

/// What the process uses. 0: cannot be told.
struct ProcessUsage {
  std::uint64_t resident = 0, peak_resident = 0;  ///< bytes
  std::uint64_t threads = 0;
  std::uint64_t descriptors = 0;  ///< open files
};
ProcessUsage read_process_usage(const std::filesystem::path& root = "/");

}  // namespace cuzk::engine
