#include "engine/host_memory.hpp"

#include "engine/config_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>

namespace cuzk::engine {

namespace {

constexpr std::uint64_t kFallbackBudget = std::uint64_t{8} << 30;
/// Version 1 writes "no limit" as the largest multiple of a page that fits.
constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 62;

std::optional<std::string> read_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  if (!file || text.str().empty()) return std::nullopt;
  return text.str();
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end == text.data()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> read_number(const std::filesystem::path& path) {
  const std::optional<std::string> text = read_file(path);
  return text ? parse_number(*text) : std::nullopt;
}

/// The number after "<name>:" at the start of a line, as in /proc/meminfo.
std::optional<std::uint64_t> field(const std::string& text, std::string_view name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ':') continue;
    const std::size_t digit = line.find_first_not_of(" \t", name.size() + 1);
    return digit == std::string::npos ? std::nullopt
                                      : parse_number(std::string_view(line).substr(digit));
  }
  return std::nullopt;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool lists(std::string_view commas, std::string_view word) {
  return std::ranges::count(split(commas, ','), word) != 0;
}

/// A hierarchy of control groups: where it is mounted, and the process's place in it.
struct Hierarchy {
  bool version_2 = false;
  std::filesystem::path mount;  ///< below the root
  std::string mounted_group;    ///< the group that the mount shows as its top
  std::string group;            ///< of the process, as "/system.slice/cuzk.service"
};

/// The process's group in the hierarchy that governs memory. [cgroups(7), /proc/self/cgroup]
std::optional<std::string> group_of(const std::string& cgroup_file, bool version_2) {
  std::istringstream lines(cgroup_file);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool wanted = version_2 ? controllers.empty() : lists(controllers, "memory");
    if (wanted) return line.substr(second + 1);
  }
  return std::nullopt;
}

/// Both versions can be mounted at once; the one with the memory controller counts.
std::vector<Hierarchy> hierarchies(const std::filesystem::path& root) {
  const std::optional<std::string> groups = read_file(root / "proc/self/cgroup");
  const std::optional<std::string> mounts = read_file(root / "proc/self/mountinfo");
  std::vector<Hierarchy> found;
  if (!groups || !mounts) return found;
  std::istringstream lines(*mounts);
  for (std::string line; std::getline(lines, line);) {
    // id parent device root mount-point options ... - type source super-options [proc(5)]
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    const std::vector<std::string> front = split(std::string_view(line).substr(0, dash), ' ');
    const std::vector<std::string> back = split(std::string_view(line).substr(dash + 3), ' ');
    if (front.size() < 5 || back.size() < 3) continue;
    const bool version_2 = back[0] == "cgroup2";
    if (!version_2 && !(back[0] == "cgroup" && lists(back[2], "memory"))) continue;
    const std::optional<std::string> group = group_of(*groups, version_2);
    if (!group) continue;
    found.push_back(
        {version_2, root / std::filesystem::path(front[4]).relative_path(), front[3], *group});
  }
  return found;
}

/// The process's group as the mount shows it. In a container the mount's top often is the group
/// itself, and the name in /proc/self/cgroup may be one that only the host knows.
std::filesystem::path group_folder(const Hierarchy& hierarchy) {
  std::string below = hierarchy.group;
  if (hierarchy.mounted_group != "/" && below.starts_with(hierarchy.mounted_group))
    below = below.substr(hierarchy.mounted_group.size());
  const std::filesystem::path folder =
      hierarchy.mount / std::filesystem::path(below).relative_path();
  std::error_code error;
  return std::filesystem::is_directory(folder, error) ? folder : hierarchy.mount;
}

void tighten(std::optional<HostMemory::Limit>& limit, const std::filesystem::path& folder,
             const char* limit_file, const char* usage_file) {
  const std::optional<std::uint64_t> bytes = read_number(folder / limit_file);
  if (!bytes || *bytes >= kNoLimit || (limit && limit->bytes <= *bytes)) return;
  limit = {*bytes, read_number(folder / usage_file).value_or(0), folder / limit_file};
}

std::optional<HostMemory::Limit> cgroup_limit(const std::filesystem::path& root) {
  std::optional<HostMemory::Limit> limit;
  for (const Hierarchy& hierarchy : hierarchies(root)) {
    // A limit of a group binds all below it.
    for (std::filesystem::path folder = group_folder(hierarchy);; folder = folder.parent_path()) {
      if (hierarchy.version_2) {
        tighten(limit, folder, "memory.max", "memory.current");
        tighten(limit, folder, "memory.high", "memory.current");
      } else {
        tighten(limit, folder, "memory.limit_in_bytes", "memory.usage_in_bytes");
      }
      if (folder == hierarchy.mount || folder == folder.parent_path()) break;
    }
  }
  return limit;
}

std::uint64_t less_margin(std::uint64_t bytes, std::uint64_t margin) {
  return bytes - std::min(margin, bytes / 4);
}

}  // namespace

HostMemory read_host_memory(const std::filesystem::path& root) {
  HostMemory memory;
  const std::filesystem::path path = root / "proc/meminfo";
  const std::optional<std::string> text = read_file(path);
  const auto kilobytes = [&](std::string_view name) {
    return text ? field(*text, name).value_or(0) * 1024 : 0;
  };
  const std::uint64_t total = kilobytes("MemTotal");
  // Not of use to ordinary allocations, whether used or not.
  memory.physical = total - std::min(total, kilobytes("Hugetlb"));
  memory.available = kilobytes("MemAvailable");
  if (total == 0)
    memory.notes.push_back(
        fmt::format("{} cannot be read: the physical memory is not known", path.string()));
  memory.cgroup = cgroup_limit(root);
  if (!read_file(root / "proc/self/cgroup"))
    memory.notes.push_back(
        fmt::format("{} cannot be read: a limit of a control group would not be noticed",
                    (root / "proc/self/cgroup").string()));
  return memory;
}

HostBudget host_budget(const Config::Memory& config, const HostMemory& memory) {
  HostBudget budget;
  budget.warnings = memory.notes;
  const auto offer = [&](std::uint64_t bytes, std::string_view source, std::string explanation) {
    if (!budget.source.empty() && bytes >= budget.bytes) return;
    budget.bytes = bytes;
    budget.source = source;
    budget.explanation = std::move(explanation);
  };
  if (config.total_budget.bytes) {
    offer(*config.total_budget.bytes, "config",
          fmt::format("{} (memory.total_budget)", format_size(*config.total_budget.bytes)));
  }
  if (memory.physical > 0) {
    const std::uint64_t bytes = less_margin(memory.physical, config.safety_margin);
    offer(bytes, "physical",
          fmt::format("{} (physical memory of {}, {} left free)", format_size(bytes),
                      format_size(memory.physical), format_size(memory.physical - bytes)));
  }
  if (memory.cgroup) {
    const std::uint64_t limit = memory.cgroup->bytes;
    const std::uint64_t bytes = less_margin(limit, config.safety_margin);
    offer(
        bytes, "cgroup",
        fmt::format("{} (control group's limit of {} in {}, {} left free)", format_size(bytes),
                    format_size(limit), memory.cgroup->file.string(), format_size(limit - bytes)));
  }
  if (budget.source.empty()) {
    offer(kFallbackBudget, "physical", fmt::format("{} (assumed)", format_size(kFallbackBudget)));
    budget.warnings.push_back(fmt::format(
        "neither physical memory nor a limit is known: {} are assumed; set memory.total_budget",
        format_size(kFallbackBudget)));
  }
  if (config.total_budget.bytes && budget.source != "config") {
    budget.warnings.push_back(fmt::format("memory.total_budget = {} is more than there is: {}",
                                          format_size(*config.total_budget.bytes),
                                          budget.explanation));
  }
  if (memory.available > 0 && memory.available < budget.bytes) {
    budget.warnings.push_back(
        fmt::format("only {} of the budget's {} are free now: other programs hold the rest",
                    format_size(memory.available), format_size(budget.bytes)));
  }
  return budget;
}

HostBudget pinned_budget(const Config::Memory& config, const HostMemory& memory,
                         const HostBudget& host) {
  HostBudget budget;
  if (config.pinned_budget.bytes) {
    budget = {*config.pinned_budget.bytes,
              "config",
              fmt::format("{} (memory.pinned_budget)", format_size(*config.pinned_budget.bytes)),
              {}};
  } else {
    const std::uint64_t half = (memory.physical > 0 ? memory.physical : host.bytes) / 2;
    budget = {half, "physical", fmt::format("{} (half of the memory)", format_size(half)), {}};
  }
  if (budget.bytes > host.bytes)
    budget = {host.bytes,
              host.source,
              fmt::format("{} (all of the budget)", format_size(host.bytes)),
              {}};
  return budget;
}

ProcessUsage read_process_usage(const std::filesystem::path& root) {
  ProcessUsage usage;
  if (const std::optional<std::string> text = read_file(root / "proc/self/status")) {
    usage.resident = field(*text, "VmRSS").value_or(0) * 1024;
    usage.peak_resident = field(*text, "VmHWM").value_or(0) * 1024;
    usage.threads = field(*text, "Threads").value_or(0);
  }
  std::error_code error;
  std::filesystem::directory_iterator entry(root / "proc/self/fd", error), end;
  for (; !error && entry != end; entry.increment(error)) ++usage.descriptors;
  return usage;
}

}  // namespace cuzk::engine
