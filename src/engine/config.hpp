#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cuzk::engine {

/// A byte size in a configuration: a number, or "auto".
struct SizeSetting {
  std::optional<std::uint64_t> bytes;  ///< empty: auto
};

/// How partitions that are under way on one GPU share it.
enum class Interlock : std::uint8_t {
  kSingle,  ///< one has it from its first kernel to its download
  kSplit,   ///< memory and streams of its own each: one is transferred while another computes
};

/// Everything that can be set, with its default. Names are those of the TOML file: config_file.hpp
/// reads it, and docs/configuration.md explains it. The keys of the Rust daemon are among them.
struct Config {
  struct Daemon {
    std::string listen = "unix:///run/curio/cuzk.sock";
    std::string status_listen;    ///< empty: no HTTP
    bool allow_insecure = false;  ///< a TCP address that is not loopback without TLS or token
    std::string tls_cert, tls_key, tls_client_ca;  ///< PEM files; a client CA makes it mTLS
    std::string token_file;                        ///< one bearer token a line
    std::uint32_t socket_mode = 0660;
    std::uint64_t max_message_bytes = std::uint64_t{256} << 20;
    std::filesystem::path
        state_dir;  ///< journal, lock; empty: next to a unix socket, else /var/lib/cuzk
    std::chrono::seconds drain_timeout{120};
  } daemon;

  struct Memory {
    SizeSetting total_budget;
    std::uint64_t safety_margin = std::uint64_t{5} << 30;
    SizeSetting pinned_budget;  ///< auto: half of the physical memory
    std::chrono::seconds eviction_min_idle{300};
  } memory;

  struct Srs {
    std::filesystem::path param_cache;  ///< empty: FIL_PROOFS_PARAMETER_CACHE, then
                                        ///< /var/tmp/filecoin-proof-parameters
    std::string param_cache_source;     ///< "config", "FIL_PROOFS_PARAMETER_CACHE", "default"
    std::vector<std::string> preload;   ///< circuit ids
    std::vector<std::string>
        enable;  ///< circuit ids that are served; empty: all whose files are there
    std::vector<std::string> resident_keys;  ///< never evicted; winning-post circuits always are
    bool trust_params = false;               ///< no digest check
  } srs;

  struct Synthesis {
    std::uint32_t threads = 0;  ///< 0: all
  } synthesis;

  struct Pipeline {
    bool overlap = true;   ///< witness of the next partition while the device works
    bool prestage = true;  ///< upload before the device is free
    bool pinned_uploads = true;
    Interlock interlock = Interlock::kSplit;
    std::string quotient = "auto";  ///< auto, textbook, derivative
    std::uint32_t window_bits = 0;  ///< 0: chosen by size
    std::uint32_t max_parallel_synthesis = 18;
    std::uint32_t queue_depth = 2;  ///< witnesses ready and waiting, for each device worker
    bool verify =
        true;  ///< cannot be switched off outside test builds; named so that the file can say it
  } pipeline;

  struct Scheduler {
    std::uint32_t max_batch_size =
        1;  ///< jobs whose partitions may share a pass over a streamed key
    std::uint32_t max_batch_wait_ms = 10'000;
    std::uint32_t max_queued_jobs = 1000;
    std::uint32_t max_queued_low = 1000;
    bool reserved_lane = true;  ///< keep a witness slot and memory for PoSt
  } scheduler;

  struct Gpus {
    std::vector<std::string> devices;  ///< ordinals or UUIDs; empty: all that the driver lists
    std::uint32_t gpu_threads = 0;     ///< host threads for the device's host part; 0: all
    std::uint32_t gpu_workers_per_device = 2;
    SizeSetting vram_budget;
    bool allow_cpu = false;
    std::uint32_t quarantine_after = 3;  ///< bad proofs or faults in a row
  } gpus;

  struct Reliability {
    std::uint32_t partition_attempts = 2;
    std::chrono::seconds stall_warning{30};
    std::chrono::seconds stall_limit{1800};
    std::chrono::hours keep_results{24};
    std::uint64_t max_results = 10'000;
  } reliability;

  struct Logging {
    std::string level = "info";
    std::string format = "text";  ///< text or json
    std::string timeline;         ///< trace file; empty: none
  } logging;
};

}  // namespace cuzk::engine
