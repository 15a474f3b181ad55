#include "engine/config_settings.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "engine/circuit_id.hpp"
#include "engine/setting_kinds.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

namespace cuzk::engine {

namespace {

using namespace kinds;
using base::fail;
using base::InvalidInput;
using base::require;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr std::uint64_t kTiB = std::uint64_t{1} << 40;

Setting circuits(Text section, Text name, Place<std::vector<std::string>> place, std::string help) {
  return list(section, name, place, "circuit ids", std::move(help),
              [](const std::string& id) { CircuitId::parse(id); });
}

Setting socket_mode(std::string help) {
  Setting setting =
      base_of("daemon", "socket_mode", "file mode", "0o600 to 0o777", std::move(help));
  setting.read = [](Config& config, const ConfigValue& value) -> std::string {
    std::uint32_t mode = 0;
    if (const auto* const number = std::get_if<std::int64_t>(&value.value)) {
      require(value.octal, "{} is not written in octal: write 0o660", *number);
      mode = static_cast<std::uint32_t>(std::clamp<std::int64_t>(*number, 0, 0x7fffffff));
    } else {
      const std::string& text = text_of(value, "a file mode, as 0o660,");
      std::string_view digits = text;
      if (digits.starts_with("0o")) digits.remove_prefix(2);
      const auto [end, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), mode, 8);
      require(error == std::errc{} && end == digits.data() + digits.size(),
              "'{}' is no file mode: write 0o660", text);
    }
    require(mode <= 0777 && (mode & 0600) == 0600,
            "0o{:o} is out of range: the owner needs to read and write, as in 0o660", mode);
    config.daemon.socket_mode = mode;
    return {};
  };
  setting.print = [](const Config& config) {
    return fmt::format("0o{:o}", config.daemon.socket_mode);
  };
  return setting;
}

Setting interlock(std::string help) {
  Setting setting = base_of("pipeline", "interlock", R"("single", "split")", "", std::move(help));
  setting.read = [](Config& config, const ConfigValue& value) -> std::string {
    const std::string& taken = text_of(value);
    require(taken == "single" || taken == "split", R"('{}' is none of "single", "split")", taken);
    config.pipeline.interlock = taken == "split" ? Interlock::kSplit : Interlock::kSingle;
    return {};
  };
  setting.print = [](const Config& config) {
    return config.pipeline.interlock == Interlock::kSplit ? R"("split")" : R"("single")";
  };
  return setting;
}

Setting verify(std::string help) {
  Setting setting = flag(
      "pipeline", "verify", [](Config& c) -> bool& { return c.pipeline.verify; }, std::move(help));
  setting.range = "true";
  setting.read = [read = setting.read](Config& config, const ConfigValue& value) -> std::string {
    std::string remark = read(config, value);
    require(config.pipeline.verify, "no proof leaves unverified: remove the line");
    return remark;
  };
  return setting;
}

/// 0, or 2 to the largest window that the sums take.
Setting window_bits(std::string help) {
  Setting setting = count<std::uint32_t>(
      "pipeline", "window_bits", [](Config & c) -> auto& { return c.pipeline.window_bits; }, 0, 20,
      std::move(help));
  setting.range = "0, or 2 to 20";
  setting.read = [read = setting.read](Config& config, const ConfigValue& value) -> std::string {
    std::string remark = read(config, value);
    require(config.pipeline.window_bits != 1, "1 is out of range: 0, or 2 to 20 are possible");
    return remark;
  };
  return setting;
}

/// A level, or a filter of the Rust daemon's logger, of which the level for everything is taken.
std::string read_level(std::string& taken) {
  std::string remark;
  if (taken.find_first_of(",=") != std::string::npos) {
    std::string level = "info";
    std::string_view rest = taken;
    while (!rest.empty()) {
      const std::string_view part = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(rest.size(), part.size() + 1));
      if (part.find('=') == std::string_view::npos) level = part;
    }
    remark =
        fmt::format("levels for single modules do not exist: '{}' is taken as '{}'", taken, level);
    taken = level;
  }
  std::ranges::transform(taken, taken.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  require(base::parse_log_level(taken).has_value(),
          R"('{}' is none of "trace", "debug", "info", "warn", "error", "off")", taken);
  return remark;
}

void check_device(const std::string& device) {
  const bool ordinal = !device.empty() && device.size() <= 3 &&
                       std::ranges::all_of(device, [](char c) { return c >= '0' && c <= '9'; });
  require(ordinal || (device.starts_with("GPU-") && device.size() > 4),
          "'{}' is no device: write an ordinal, or the UUID that the driver shows, \"GPU-5f2e...\"",
          device);
}

#define CUZK_AT(member) \
  [](Config & c) -> auto& { return c.member; }

void add_daemon(std::vector<Setting>& out) {
  using std::chrono::seconds;
  out.push_back(address("daemon", "listen", CUZK_AT(daemon.listen), false,
                        "Where gRPC is served: unix:///path, host:port or [IPv6]:port."));
  out.push_back(address("daemon", "status_listen", CUZK_AT(daemon.status_listen), true,
                        "Where HTTP is served: the status page, /status, /metrics, /healthz and "
                        "/readyz.\nIt has no authentication."));
  out.push_back(
      flag("daemon", "allow_insecure", CUZK_AT(daemon.allow_insecure),
           "Serve gRPC on a TCP address that other machines reach without TLS and without "
           "token.\nWhoever reaches the port can then have proofs made."));
  out.push_back(file("daemon", "tls_cert", CUZK_AT(daemon.tls_cert),
                     "The server's certificate chain, PEM. Needs tls_key."));
  out.push_back(
      file("daemon", "tls_key", CUZK_AT(daemon.tls_key), "The private key of tls_cert, PEM."));
  out.push_back(file("daemon", "tls_client_ca", CUZK_AT(daemon.tls_client_ca),
                     "Certificates of the authorities that clients' certificates must come from, "
                     "PEM.\nClients without one are then refused. Needs tls_cert."));
  out.push_back(
      reloadable(file("daemon", "token_file", CUZK_AT(daemon.token_file),
                      "Bearer tokens, one a line: every call must then show one of them.")));
  out.push_back(socket_mode("Permissions of the unix socket."));
  out.push_back(size("daemon", "max_message_bytes", CUZK_AT(daemon.max_message_bytes), kMiB,
                     2 * kGiB - kMiB, "The largest request taken. Curio sends up to 256 MiB."));
  out.push_back(
      folder("daemon", "state_dir", CUZK_AT(daemon.state_dir),
             "Folder of the journal of jobs and results, which must outlive a reboot. By default "
             "that of the\nunix socket, or /var/lib/cuzk if there is none or its folder is one of "
             "temporary files, as /run."));
  out.push_back(reloadable(duration<seconds>(
      "daemon", "drain_timeout", CUZK_AT(daemon.drain_timeout), seconds(0), seconds(86'400),
      "How long a stop (SIGTERM) waits for jobs that are being proved. The others stay in "
      "the\njournal and go on after the next start.")));
}

void add_memory(std::vector<Setting>& out) {
  using std::chrono::seconds;
  out.push_back(reloadable(size_or_auto(
      "memory", "total_budget", CUZK_AT(memory.total_budget), 64 * kMiB, 64 * kTiB,
      "Host memory that keys and partitions may take together. \"auto\": the smaller of physical "
      "memory\nand the control group's limit, less safety_margin. Those two bind an explicit value "
      "as well.")));
  out.push_back(
      reloadable(size("memory", "safety_margin", CUZK_AT(memory.safety_margin), 0, 4 * kTiB,
                      "Left free for everything else; at most a quarter of the memory.")));
  out.push_back(size_or_auto("memory", "pinned_budget", CUZK_AT(memory.pinned_budget), 16 * kMiB,
                             64 * kTiB,
                             "The part of it that may be page-locked for transfers to GPUs. "
                             "\"auto\": half of the\nphysical memory. Beyond it, transfers go the "
                             "slower way."));
  out.push_back(
      duration<seconds>("memory", "eviction_min_idle", CUZK_AT(memory.eviction_min_idle),
                        seconds(0), seconds(7 * 86'400),
                        "A key that was used more recently is dropped only if nothing else "
                        "makes room."));
}

void add_srs(std::vector<Setting>& out) {
  out.push_back(folder("srs", "param_cache", CUZK_AT(srs.param_cache),
                       "Folder of the .params and .vk files; only read. By default that of "
                       "FIL_PROOFS_PARAMETER_CACHE\nin the environment, else "
                       "/var/tmp/filecoin-proof-parameters."));
  out.push_back(
      circuits("srs", "preload", CUZK_AT(srs.preload),
               "Circuits whose keys are loaded before the daemon says that it is ready, as "
               "\"porep-32g\".\nThose of WinningPoSt always are."));
  out.push_back(circuits("srs", "enable", CUZK_AT(srs.enable),
                         "The only circuits that are served. Empty: all whose files are there."));
  out.push_back(
      circuits("srs", "resident_keys", CUZK_AT(srs.resident_keys),
               "Circuits whose keys, once loaded, are never dropped. Those of WinningPoSt "
               "never are."));
  out.push_back(flag("srs", "trust_params", CUZK_AT(srs.trust_params),
                     "Do not compare key files with their published digests. Their structure is "
                     "checked anyway."));
}

void add_pipeline(std::vector<Setting>& out) {
  using u32 = std::uint32_t;
  out.push_back(
      count<u32>("synthesis", "threads", CUZK_AT(synthesis.threads), 0, 4096,
                 "Threads for witnesses and other work of the host. 0: all of the machine's."));
  out.push_back(flag("pipeline", "overlap", CUZK_AT(pipeline.overlap),
                     "Compute the next partition's witness while the device works."));
  out.push_back(flag("pipeline", "prestage", CUZK_AT(pipeline.prestage),
                     "Send a partition's witness to the GPU before its turn there, while others "
                     "compute, if there\nis memory for it; counted as hit, skip_vram and skip_pin. "
                     "GPUs only."));
  out.push_back(flag("pipeline", "pinned_uploads", CUZK_AT(pipeline.pinned_uploads),
                     "Send witnesses from page-locked memory; from ordinary memory where that is "
                     "not to be had. GPUs\nonly."));
  out.push_back(
      interlock("How the partitions under way on a GPU share it: \"split\", each has memory and "
                "streams of its\nown, so that one is transferred or ends its sums while another "
                "computes; \"single\", one has the\nGPU from its first kernel to its download. A "
                "streamed key's partitions go one after the other\nanyway. GPUs only."));
  out.push_back(choice("pipeline", "quotient", CUZK_AT(pipeline.quotient),
                       {"auto", "textbook", "derivative"},
                       "The form of keys and quotient; proofs are the same. \"derivative\", the "
                       "faster one, needs each\ncircuit's .derivative file (`cuzk params derive`): "
                       "circuits without are refused. \"auto\": where\nthat file is there."));
  out.push_back(
      window_bits("Bits of a window of the dense multi-scalar multiplications. 0: chosen by their "
                  "size. GPUs have\nnone below 7, nor below 9 for 2^27 points: then the next that "
                  "they have."));
  out.push_back(count<u32>("pipeline", "max_parallel_synthesis",
                           CUZK_AT(pipeline.max_parallel_synthesis), 1, 1024,
                           "Witnesses that are computed at the same time, at most.", 18));
  out.push_back(count<u32>("pipeline", "queue_depth", CUZK_AT(pipeline.queue_depth), 1, 64,
                           "Witnesses that are kept ready for each worker of a device."));
  out.push_back(
      verify("Every proof is verified before it is answered. Cannot be switched off; the "
             "name exists so\nthat a file can say so."));
}

void add_scheduler(std::vector<Setting>& out) {
  using u32 = std::uint32_t;
  out.push_back(count<u32>(
      "scheduler", "max_batch_size", CUZK_AT(scheduler.max_batch_size), 1, 64,
      "Jobs of one circuit whose partitions may share a pass over a key that is "
      "streamed to a GPU.\nThose of one job share passes anyway, and where the key stays "
      "on the GPU there are none.",
      1));
  out.push_back(count<u32>("scheduler", "max_batch_wait_ms", CUZK_AT(scheduler.max_batch_wait_ms),
                           0, 600'000,
                           "How long, in ms, a pass waits for partitions of further jobs, if "
                           "max_batch_size allows any.\nThose of WinningPoSt and WindowPoSt wait "
                           "for none."));
  out.push_back(reloadable(count<u32>("scheduler", "max_queued_jobs",
                                      CUZK_AT(scheduler.max_queued_jobs), 1, 1'000'000,
                                      "Unfinished jobs beyond which new ones are refused "
                                      "(QUEUE-FULL).")));
  out.push_back(
      reloadable(count<u32>("scheduler", "max_queued_low", CUZK_AT(scheduler.max_queued_low), 0,
                            1'000'000, "Likewise for jobs of low priority.")));
  out.push_back(
      flag("scheduler", "reserved_lane", CUZK_AT(scheduler.reserved_lane),
           "Keep a place and memory free for WinningPoSt and WindowPoSt, so that they wait "
           "for at most\none partition."));
}

void add_gpus(std::vector<Setting>& out) {
  using u32 = std::uint32_t;
  out.push_back(list("gpus", "devices", CUZK_AT(gpus.devices), "ordinals or UUIDs",
                     "The devices that are used, as 0 or \"GPU-5f2e...\". Empty: all that CUDA "
                     "shows, in its order,\nwhich CUDA_VISIBLE_DEVICES can change.",
                     check_device));
  out.push_back(count<u32>(
      "gpus", "gpu_threads", CUZK_AT(gpus.gpu_threads), 0, 4096,
      "Threads for the host's part of one partition on a GPU: laying out its witness, its "
      "last sums. 0:\nall of the machine's."));
  out.push_back(count<u32>("gpus", "gpu_workers_per_device", CUZK_AT(gpus.gpu_workers_per_device),
                           1, 16, "Partitions that are on their way on a device at the same time.",
                           1));
  out.push_back(size_or_auto("gpus", "vram_budget", CUZK_AT(gpus.vram_budget), 64 * kMiB, 4 * kTiB,
                             "Device memory to use, of each device. \"auto\": what is free at the "
                             "start."));
  out.push_back(flag("gpus", "allow_cpu", CUZK_AT(gpus.allow_cpu),
                     "Prove on the CPU where there is no usable GPU. Slow; status and results say "
                     "so. Otherwise the\ndaemon does not start without a GPU."));
  out.push_back(
      count<u32>("gpus", "quarantine_after", CUZK_AT(gpus.quarantine_after), 1, 1000,
                 "Faults or invalid proofs in a row after which a device gets no more "
                 "work. Those of\none job, none of whose proofs is valid, count as one."));
}

void add_reliability(std::vector<Setting>& out) {
  using std::chrono::hours;
  using std::chrono::seconds;
  out.push_back(count<std::uint32_t>("reliability", "partition_attempts",
                                     CUZK_AT(reliability.partition_attempts), 1, 10,
                                     "Times that a partition is tried before its job fails."));
  out.push_back(reloadable(duration<seconds>(
      "reliability", "stall_warning", CUZK_AT(reliability.stall_warning), seconds(1),
      seconds(86'400), "A job without progress for so long is reported (STALL).")));
  out.push_back(reloadable(duration<seconds>(
      "reliability", "stall_limit", CUZK_AT(reliability.stall_limit), seconds(1),
      seconds(7 * 86'400), "A job without progress for so long fails, and its device is reset.")));
  out.push_back(reloadable(
      duration<hours>("reliability", "keep_results", CUZK_AT(reliability.keep_results), hours(0),
                      hours(24 * 365), "How long a result can be fetched again.")));
  out.push_back(reloadable(count<std::uint64_t>("reliability", "max_results",
                                                CUZK_AT(reliability.max_results), 0, 10'000'000,
                                                "How many results are kept, at most.")));
}

void add_logging(std::vector<Setting>& out) {
  Setting level = text("logging", "level", CUZK_AT(logging.level),
                       R"("trace", "debug", "info", "warn", "error", "off")",
                       "The least severe lines that are written.", read_level);
  out.push_back(reloadable(std::move(level)));
  out.push_back(reloadable(choice("logging", "format", CUZK_AT(logging.format), {"text", "json"},
                                  "Lines for people, or one JSON object a line.")));
  out.push_back(
      file("logging", "timeline", CUZK_AT(logging.timeline),
           "File for a timeline of the stages of all partitions, for chrome://tracing or "
           "Perfetto: the\nlatest 100,000, written when jobs have ended, at most every 10 s, "
           "and at the end. Each start\nbegins a new one."));
}

#undef CUZK_AT

std::vector<Setting> make_settings() {
  std::vector<Setting> out;
  add_daemon(out);
  add_memory(out);
  add_srs(out);
  add_pipeline(out);
  add_scheduler(out);
  add_gpus(out);
  add_reliability(out);
  add_logging(out);
  return out;
}

constexpr std::array<Section, 9> kSections = {{
    {"daemon", "Addresses, access, state"},
    {"memory", "Host memory"},
    {"srs", "Key files"},
    {"synthesis", "Threads"},
    {"pipeline",
     "How a partition is proved. The switches exist to be compared; see `cuzk bench ab`"},
    {"scheduler", "What goes first, and how much waits"},
    {"gpus", "Devices"},
    {"reliability", "Retries, stalls, results"},
    {"logging", "Logs"},
}};

constexpr std::array<DeprecatedSetting, 8> kDeprecated = {{
    {"memory.working_memory_budget", "set memory.total_budget, which covers everything"},
    {"synthesis.partition_workers",
     "set memory.total_budget; pipeline.max_parallel_synthesis bounds the number"},
    {"pipeline.enabled", "there is one way of proving, and it is a pipeline"},
    {"pipeline.synthesis_lookahead", "set pipeline.queue_depth"},
    {"pipeline.synthesis_concurrency",
     "jobs do not wait for one another here; pipeline.max_parallel_synthesis bounds witnesses"},
    {"pipeline.slot_size", "partitions are proved one by one"},
    {"pipeline.max_gpu_queue_depth", "set pipeline.queue_depth"},
    {"scheduler.sort_by_type", "jobs go by priority, deadline and age"},
}};

constexpr std::array<DeprecatedSetting, 6> kVariables = {{
    {"RUST_LOG", "set logging.level"},
    {"CUZK_GPU_THREADS", "set gpus.gpu_threads"},
    {"CUZK_DISABLE_PCE", "constraints are never recorded at run time"},
    {"CUZK_DISABLE_SPLIT_PROVE", "set pipeline.overlap = false"},
    {"CUZK_VALIDATE_PARTITIONS", "every partition is verified always"},
    {"FIL_PROOFS_WINDOW_POST_SYNTHESIS_NUM_CPUS", "set synthesis.threads"},
}};

}  // namespace

std::string Setting::full_name() const { return fmt::format("{}.{}", section, name); }

std::span<const Section> sections() { return kSections; }

const std::vector<Setting>& settings() {
  static const std::vector<Setting> all = make_settings();
  return all;
}

const Setting* find_setting(std::string_view full_name) {
  const auto found = std::ranges::find_if(settings(), [&](const Setting& setting) {
    return full_name.size() == setting.section.size() + 1 + setting.name.size() &&
           full_name.starts_with(setting.section) && full_name.ends_with(setting.name) &&
           full_name[setting.section.size()] == '.';
  });
  return found == settings().end() ? nullptr : &*found;
}

std::span<const DeprecatedSetting> deprecated_settings() { return kDeprecated; }
std::span<const DeprecatedSetting> deprecated_variables() { return kVariables; }

std::span<const std::string_view> gpu_settings() {
  static constexpr std::array<std::string_view, 7> kNames = {
      "pipeline.prestage",        "pipeline.pinned_uploads",     "pipeline.interlock",
      "scheduler.max_batch_size", "scheduler.max_batch_wait_ms", "gpus.gpu_threads",
      "gpus.vram_budget"};
  return kNames;
}

}  // namespace cuzk::engine
