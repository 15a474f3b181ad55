#include "engine/config_file.hpp"

#include "base/error.hpp"
#include "engine/config_settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <unistd.h>

namespace cuzk::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::optional<std::string> no_environment(const char*) { return std::nullopt; }

LoadedConfig parse(std::string_view toml) {
  return parse_config(toml, "cuzk.toml", no_environment);
}

/// What is wrong with a file; empty if nothing is.
std::string error_of(std::string_view toml) {
  try {
    parse(toml);
    return "";
  } catch (const base::InvalidInput& error) {
    return error.what();
  }
}

std::vector<std::string> lines(const std::vector<Notice>& notices) {
  std::vector<std::string> out;
  for (const Notice& notice : notices) out.push_back(notice.line());
  return out;
}

TEST(ConfigFile, AnEmptyFileGivesTheDefaults) {
  const LoadedConfig loaded = parse("");
  EXPECT_THAT(loaded.notices, IsEmpty());
  Config expected;
  expected.srs.param_cache = "/var/tmp/filecoin-proof-parameters";
  EXPECT_THAT(config_changes(expected, loaded.config), IsEmpty());
  EXPECT_EQ(loaded.config.srs.param_cache_source, "default");
}

TEST(ConfigFile, EverySettingIsRead) {
  const Config config = parse(R"(
[daemon]
listen = "[::1]:9820"
status_listen = "127.0.0.1:9821"
allow_insecure = true
tls_cert = "/etc/cuzk/cert.pem"
tls_key = "/etc/cuzk/key.pem"
tls_client_ca = "/etc/cuzk/ca.pem"
token_file = "/etc/cuzk/tokens"
socket_mode = 0o600
max_message_bytes = "512MiB"
state_dir = "/srv/cuzk"
drain_timeout = "1m30s"
[memory]
total_budget = "1.5 TiB"
safety_margin = "512MB"
pinned_budget = 137438953472
eviction_min_idle = "1h"
[srs]
param_cache = "/data/zk/params"
preload = ["porep-32g", "snap-64g"]
enable = ["porep-32g", "snap-64g", "winning-2k"]
resident_keys = ["porep-32g"]
trust_params = true
[synthesis]
threads = 96
[pipeline]
overlap = false
prestage = false
pinned_uploads = false
interlock = "single"
quotient = "derivative"
window_bits = 13
max_parallel_synthesis = 4
queue_depth = 3
verify = true
[scheduler]
max_batch_size = 2
max_batch_wait_ms = 0
max_queued_jobs = 50
max_queued_low = 0
reserved_lane = false
[gpus]
devices = [0, "GPU-5f2e8c1a"]
gpu_threads = 1
gpu_workers_per_device = 3
vram_budget = "3GiB"
allow_cpu = true
quarantine_after = 1
[reliability]
partition_attempts = 5
stall_warning = 60
stall_limit = "10m"
keep_results = "2d"
max_results = 7
[logging]
level = "debug"
format = "json"
timeline = "/var/lib/cuzk/trace.json"
)")
                            .config;
  EXPECT_EQ(config.daemon.listen, "[::1]:9820");
  EXPECT_EQ(config.daemon.status_listen, "127.0.0.1:9821");
  EXPECT_TRUE(config.daemon.allow_insecure);
  EXPECT_EQ(config.daemon.tls_cert, "/etc/cuzk/cert.pem");
  EXPECT_EQ(config.daemon.tls_key, "/etc/cuzk/key.pem");
  EXPECT_EQ(config.daemon.tls_client_ca, "/etc/cuzk/ca.pem");
  EXPECT_EQ(config.daemon.token_file, "/etc/cuzk/tokens");
  EXPECT_EQ(config.daemon.socket_mode, 0600U);
  EXPECT_EQ(config.daemon.max_message_bytes, std::uint64_t{512} << 20);
  EXPECT_EQ(config.daemon.state_dir, "/srv/cuzk");
  EXPECT_EQ(config.daemon.drain_timeout.count(), 90);
  EXPECT_EQ(config.memory.total_budget.bytes, 1'649'267'441'664U);
  EXPECT_EQ(config.memory.safety_margin, 512'000'000U);
  EXPECT_EQ(config.memory.pinned_budget.bytes, std::uint64_t{128} << 30);
  EXPECT_EQ(config.memory.eviction_min_idle.count(), 3600);
  EXPECT_EQ(config.srs.param_cache, "/data/zk/params");
  EXPECT_EQ(config.srs.param_cache_source, "config");
  EXPECT_THAT(config.srs.preload, ElementsAre("porep-32g", "snap-64g"));
  EXPECT_THAT(config.srs.enable, ElementsAre("porep-32g", "snap-64g", "winning-2k"));
  EXPECT_THAT(config.srs.resident_keys, ElementsAre("porep-32g"));
  EXPECT_TRUE(config.srs.trust_params);
  EXPECT_EQ(config.synthesis.threads, 96U);
  EXPECT_FALSE(config.pipeline.overlap);
  EXPECT_FALSE(config.pipeline.prestage);
  EXPECT_FALSE(config.pipeline.pinned_uploads);
  EXPECT_EQ(config.pipeline.interlock, Interlock::kSingle);
  EXPECT_EQ(config.pipeline.quotient, "derivative");
  EXPECT_EQ(config.pipeline.window_bits, 13U);
  EXPECT_EQ(config.pipeline.max_parallel_synthesis, 4U);
  EXPECT_EQ(config.pipeline.queue_depth, 3U);
  EXPECT_TRUE(config.pipeline.verify);
  EXPECT_EQ(config.scheduler.max_batch_size, 2U);
  EXPECT_EQ(config.scheduler.max_batch_wait_ms, 0U);
  EXPECT_EQ(config.scheduler.max_queued_jobs, 50U);
  EXPECT_EQ(config.scheduler.max_queued_low, 0U);
  EXPECT_FALSE(config.scheduler.reserved_lane);
  EXPECT_THAT(config.gpus.devices, ElementsAre("0", "GPU-5f2e8c1a"));
  EXPECT_EQ(config.gpus.gpu_threads, 1U);
  EXPECT_EQ(config.gpus.gpu_workers_per_device, 3U);
  EXPECT_EQ(config.gpus.vram_budget.bytes, std::uint64_t{3} << 30);
  EXPECT_TRUE(config.gpus.allow_cpu);
  EXPECT_EQ(config.gpus.quarantine_after, 1U);
  EXPECT_EQ(config.reliability.partition_attempts, 5U);
  EXPECT_EQ(config.reliability.stall_warning.count(), 60);
  EXPECT_EQ(config.reliability.stall_limit.count(), 600);
  EXPECT_EQ(config.reliability.keep_results.count(), 48);
  EXPECT_EQ(config.reliability.max_results, 7U);
  EXPECT_EQ(config.logging.level, "debug");
  EXPECT_EQ(config.logging.format, "json");
  EXPECT_EQ(config.logging.timeline, "/var/lib/cuzk/trace.json");

  // No value is its default, so that each comes back through the printed text, not by chance.
  const std::vector<ConfigChange> changes = config_changes(Config{}, config);
  EXPECT_EQ(changes.size(), settings().size() - 1);  // pipeline.verify has only one value
  const LoadedConfig again = parse(print_config(config));
  EXPECT_THAT(again.notices, IsEmpty());
  EXPECT_THAT(config_changes(config, again.config), IsEmpty());
}

TEST(ConfigFile, PrintedDefaultsParseBack) {
  const Config config = default_config(no_environment).config;
  const std::string text = print_config(config);
  EXPECT_THAT(text,
              HasSubstr("param_cache = \"/var/tmp/filecoin-proof-parameters\"  # from: default"));
  const LoadedConfig again = parse(text);
  EXPECT_THAT(again.notices, IsEmpty());
  EXPECT_THAT(config_changes(config, again.config), IsEmpty());
}

TEST(ConfigFile, HostileTextsPrintAsToml) {
  Config config = default_config(no_environment).config;
  config.daemon.tls_cert = "/a \"b\"\\\n\t\x01/c";
  config.daemon.tls_key = config.daemon.tls_cert;
  EXPECT_EQ(parse(print_config(config)).config.daemon.tls_cert, config.daemon.tls_cert);
}

// Each error: the file, and what its message must hold.
struct BadFile {
  const char* name;
  const char* toml;
  const char* message;
};
class ConfigError : public ::testing::TestWithParam<BadFile> {};

TEST_P(ConfigError, IsNamedWithLineAndRemedy) {
  EXPECT_THAT(error_of(GetParam().toml), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    ConfigFile, ConfigError,
    ::testing::Values(
        BadFile{"Misspelt", "[memory]\n\ntotal_budgett = \"1GiB\"",
                "cuzk.toml:3:1: memory.total_budgett: unknown setting; did you mean "
                "memory.total_budget?"},
        BadFile{"OtherSection", "[pipeline]\ngpu_threads = 1",
                "cuzk.toml:2:1: pipeline.gpu_threads: unknown setting; did you mean "
                "gpus.gpu_threads?"},
        BadFile{"Unknown", "[pipeline]\ncolour = 1",
                "unknown setting; `cuzk daemon --print-config`"},
        BadFile{"UnknownSection", "[memroy]\n",
                "cuzk.toml:1:2: [memroy]: unknown section; did you "
                "mean [memory]?"},
        BadFile{"FarSection", "[colours]\n", "there are daemon, memory, srs"},
        BadFile{"NoSection", "total_budget = 1",
                "cuzk.toml:1:1: total_budget: stands before any "
                "section; did you mean memory.total_budget?"},
        BadFile{"SectionAsValue", "memory = 1", "memory: is a section: write [memory]"},
        BadFile{"ValueAsSection", "[memory.total_budget]", "a table is no value of a setting"},
        BadFile{"Syntax", "[memory]\ntotal_budget = 256GiB", "cuzk.toml:2:"},
        BadFile{"Twice", "[memory]\ntotal_budget = 1\ntotal_budget = 2", "cuzk.toml:3:"},
        BadFile{"SizeUnit", "[memory]\ntotal_budget = \"256G\"",
                "cuzk.toml:2:16: memory.total_budget: '256G': the unit G can be read in two ways"},
        BadFile{"SizeBare", "[memory]\ntotal_budget = 256",
                "256 bytes is out of range: 64MiB to 64TiB are possible; without a unit, a number "
                "counts bytes"},
        BadFile{"SizeNegative", "[memory]\nsafety_margin = -1", "-1 is negative"},
        BadFile{"SizeType", "[memory]\ntotal_budget = true", "true found, a size, as \"256GiB\","},
        BadFile{"DurationUnit", "[memory]\neviction_min_idle = \"5min\"",
                "'5min' is no duration: write a duration as \"300s\", \"5m\", \"1h\""},
        BadFile{"DurationRange", "[daemon]\ndrain_timeout = \"3d\"",
                "3d is out of range: 0s to 1d are possible"},
        BadFile{"HalfHours", "[reliability]\nkeep_results = \"90m\"",
                "90m is no whole number of hours: write \"2h\""},
        BadFile{"CountType", "[synthesis]\nthreads = \"8\"",
                "\"8\" found, a whole number is wanted"},
        BadFile{"CountReal", "[synthesis]\nthreads = 8.5", "8.5 found, a whole number is wanted"},
        BadFile{"CountRange", "[synthesis]\nthreads = 100000",
                "100000 is out of range: 0 to 4096 are possible"},
        BadFile{"CountNegative", "[gpus]\ngpu_threads = -1", "-1 is out of range"},
        BadFile{"FlagType", "[gpus]\nallow_cpu = \"yes\"",
                "\"yes\" found, true or false is wanted"},
        BadFile{"Date", "[daemon]\nlisten = 2026-08-20", "a date or time is no value"},
        BadFile{"Address", "[daemon]\nlisten = \"cuzk\"",
                "'cuzk' is no address: write unix:///run/curio/cuzk.sock, 127.0.0.1:9820"},
        BadFile{"RelativePath", "[srs]\nparam_cache = \"params\"", "'params' is no absolute path"},
        BadFile{"Circuit", "[srs]\npreload = [\"porep-33g\"]", "srs.preload: "},
        BadFile{"ListedTwice", "[srs]\npreload = [\"porep-32g\", \"porep-32g\"]",
                "\"porep-32g\" is listed twice"},
        BadFile{"ListType", "[srs]\npreload = \"porep-32g\"", "\"porep-32g\" found, a list"},
        BadFile{"ListItems", "[gpus]\ndevices = [1.5]", "this one has other items"},
        BadFile{"Device", "[gpus]\ndevices = [\"first\"]", "'first' is no device"},
        BadFile{
            "Choice", "[pipeline]\nquotient = \"derivativ\"",
            "'derivativ' is none of \"auto\", \"textbook\", \"derivative\"; nearest: derivative"},
        BadFile{"Interlock", "[pipeline]\ninterlock = \"none\"",
                "'none' is none of \"single\", \"split\""},
        BadFile{"Window", "[pipeline]\nwindow_bits = 1", "1 is out of range: 0, or 2 to 20"},
        BadFile{"Verify", "[pipeline]\nverify = false", "no proof leaves unverified"},
        BadFile{"Level", "[logging]\nlevel = \"loud\"", "'loud' is none of \"trace\", \"debug\""},
        BadFile{"DecimalMode", "[daemon]\nsocket_mode = 660",
                "660 is not written in octal: write 0o660"},
        BadFile{"NoOwner", "[daemon]\nsocket_mode = 0o066", "the owner needs to read and write"},
        BadFile{"CertAlone", "[daemon]\n\ntls_cert = \"/c\"",
                "cuzk.toml:3:1: daemon.tls_cert: one is set without the other"},
        BadFile{"KeyAlone", "[daemon]\ntls_key = \"/c\"",
                "cuzk.toml:2:1: daemon.tls_key: one is set without the other"},
        BadFile{"CaAlone", "[daemon]\ntls_client_ca = \"/c\"", "need a TLS server"},
        BadFile{"Stall", "[reliability]\nstall_limit = 10",
                "the warning, after 30s, does not come before the limit of 10s"},
        BadFile{"PreloadDisabled", "[srs]\nenable = [\"snap-32g\"]\npreload = [\"porep-32g\"]",
                "cuzk.toml:3:1: srs.preload: porep-32g is to be preloaded, but is not enabled"}),
    [](const auto& test) { return test.param.name; });

TEST(ConfigFile, AllErrorsAreToldAtOnceInTheirOrder) {
  EXPECT_EQ(
      error_of("[memory]\ntotal_budget = \"1TiBB\"\n[srs]\nprelod = []\n[gpus]\ndevices = 0\n"),
      "cuzk.toml:2:16: memory.total_budget: '1TiBB' has no known unit: write a size as "
      "\"256GiB\", \"1.5TiB\", \"512MB\" or a number of bytes\n"
      "cuzk.toml:4:1: srs.prelod: unknown setting; did you mean srs.preload?\n"
      "cuzk.toml:6:11: gpus.devices: 0 found, a list, as [\"a\", \"b\"], is wanted");
}

// ---- files of the Rust daemon

TEST(ConfigFile, TheRustDaemonsFileStarts) {
  const LoadedConfig loaded = parse(R"(
[daemon]
listen = "0.0.0.0:9820"
status_listen = "0.0.0.0:9821"
[memory]
total_budget = "auto"
safety_margin = "5GiB"
eviction_min_idle = "5m"
pinned_budget = "50GiB"
working_memory_budget = "100GiB"
[srs]
param_cache = "/data/zk/params"
preload = ["porep-32g", "wpost-32g", "winning-32g", "snap-32g"]
[synthesis]
threads = 0
partition_workers = 20
[pipeline]
enabled = true
synthesis_lookahead = 1
synthesis_concurrency = 1
max_parallel_synthesis = 0
slot_size = 0
max_gpu_queue_depth = 8
[scheduler]
max_batch_size = 1
max_batch_wait_ms = 10000
sort_by_type = true
[gpus]
devices = []
gpu_threads = 32
gpu_workers_per_device = 0
[logging]
level = "info,cuzk_core=debug"
format = "text"
)");
  EXPECT_THAT(
      lines(loaded.notices),
      ElementsAre(
          "cuzk.toml:10:1: memory.working_memory_budget: has no effect: set memory.total_budget, "
          "which covers everything",
          HasSubstr("synthesis.partition_workers: has no effect"),
          HasSubstr("pipeline.enabled: has no effect"),
          HasSubstr("pipeline.synthesis_lookahead: has no effect"),
          HasSubstr("pipeline.synthesis_concurrency: has no effect"),
          HasSubstr("pipeline.max_parallel_synthesis: 0 is taken as 18: write 18"),
          HasSubstr("pipeline.slot_size: has no effect"),
          HasSubstr("pipeline.max_gpu_queue_depth: has no effect: set pipeline.queue_depth"),
          HasSubstr("scheduler.sort_by_type: has no effect"),
          HasSubstr("gpus.gpu_workers_per_device: 0 is taken as 1"),
          HasSubstr("logging.level: levels for single modules do not exist: "
                    "'info,cuzk_core=debug' is taken as 'info'")));
  EXPECT_EQ(loaded.config.gpus.gpu_workers_per_device, 1U);
  EXPECT_EQ(loaded.config.pipeline.max_parallel_synthesis, 18U);
  EXPECT_EQ(loaded.config.logging.level, "info");
  EXPECT_EQ(loaded.config.memory.pinned_budget.bytes, std::uint64_t{50} << 30);
  EXPECT_EQ(loaded.config.srs.preload.size(), 4U);
  EXPECT_EQ(loaded.config.gpus.gpu_threads, 32U);
}

TEST(ConfigFile, DeprecatedKeysNeverFailWhateverTheirValue) {
  for (const DeprecatedSetting& key : deprecated_settings()) {
    EXPECT_EQ(find_setting(key.full_name), nullptr) << "both live and deprecated";
    const std::size_t dot = key.full_name.find('.');
    for (const char* value : {"1", "\"x\"", "[1, 2]", "{ a = 1 }", "-3.5", "1979-05-27"}) {
      const LoadedConfig loaded = parse(fmt::format("[{}]\n{} = {}\n", key.full_name.substr(0, dot),
                                                    key.full_name.substr(dot + 1), value));
      ASSERT_EQ(loaded.notices.size(), 1U) << key.full_name;
      EXPECT_EQ(loaded.notices[0].setting, key.full_name);
    }
  }
}

// ---- environment

TEST(ConfigFile, TheEnvironmentNamesTheParameterFolder) {
  const Environment environment = [](const char* name) -> std::optional<std::string> {
    if (std::string_view(name) == "FIL_PROOFS_PARAMETER_CACHE") return "/params";
    if (std::string_view(name) == "RUST_LOG") return "debug";
    return std::nullopt;
  };
  LoadedConfig loaded = parse_config("", "f", environment);
  EXPECT_EQ(loaded.config.srs.param_cache, "/params");
  EXPECT_EQ(loaded.config.srs.param_cache_source, "FIL_PROOFS_PARAMETER_CACHE");
  EXPECT_THAT(lines(loaded.notices),
              ElementsAre("RUST_LOG: the environment variable has no effect: set logging.level"));
  EXPECT_EQ(loaded.config.logging.level, "info");
  // The file goes before it.
  loaded = parse_config("[srs]\nparam_cache = \"/mine\"", "f", environment);
  EXPECT_EQ(loaded.config.srs.param_cache, "/mine");
  EXPECT_EQ(loaded.config.srs.param_cache_source, "config");
}

TEST(ConfigFile, FilesAreReadFromDisk) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / fmt::format("cuzk-config-{}.toml", ::getpid());
  std::ofstream(path) << "[synthesis]\nthreads = 3\n";
  EXPECT_EQ(load_config(path, no_environment).config.synthesis.threads, 3U);
  std::ofstream(path).flush();
  EXPECT_EQ(load_config(path, no_environment).config.synthesis.threads, 0U);
  std::filesystem::remove(path);
  EXPECT_THROW(load_config(path, no_environment), base::InvalidInput);
  EXPECT_THROW(load_config(path.parent_path(), no_environment), base::InvalidInput);
}

// ---- reloading

TEST(ConfigFile, ChangesSayWhetherTheyNeedARestart) {
  const Config before = parse("").config;
  const Config after = parse(
                           "[memory]\ntotal_budget = \"100GiB\"\n[gpus]\ngpu_threads = "
                           "4\n[logging]\nlevel = \"warn\"")
                           .config;
  const std::vector<ConfigChange> changes = config_changes(before, after);
  ASSERT_EQ(changes.size(), 3U);
  EXPECT_EQ(changes[0].setting, "memory.total_budget");
  EXPECT_EQ(changes[0].before, "\"auto\"");
  EXPECT_EQ(changes[0].after, "\"100GiB\"");
  EXPECT_TRUE(changes[0].reloadable);
  EXPECT_EQ(changes[1].setting, "gpus.gpu_threads");
  EXPECT_FALSE(changes[1].reloadable);
  EXPECT_EQ(changes[2].setting, "logging.level");
  EXPECT_TRUE(changes[2].reloadable);
}

TEST(ConfigFile, TheStateOutlivesAReboot) {
  Config::Daemon daemon;
  EXPECT_EQ(effective_state_dir(daemon), "/var/lib/cuzk");  // the socket is below /run
  daemon.listen = "unix:///srv/cuzk/cuzk.sock";
  EXPECT_EQ(effective_state_dir(daemon), "/srv/cuzk");
  daemon.listen = "unix:/srv/cuzk/cuzk.sock";
  EXPECT_EQ(effective_state_dir(daemon), "/srv/cuzk");
  daemon.listen = "127.0.0.1:9820";
  EXPECT_EQ(effective_state_dir(daemon), "/var/lib/cuzk");
  daemon.state_dir = "/data/cuzk";
  EXPECT_EQ(effective_state_dir(daemon), "/data/cuzk");
}

// ---- texts made from the table

TEST(ConfigTexts, EverySettingIsExplained) {
  std::set<std::string> names;
  for (const Setting& setting : settings()) {
    EXPECT_TRUE(names.insert(setting.full_name()).second) << setting.full_name();
    EXPECT_GT(setting.help.size(), 20U) << setting.full_name();
    EXPECT_EQ(find_setting(setting.full_name()), &setting);
    EXPECT_EQ(std::ranges::count(sections(), setting.section, &Section::name), 1)
        << setting.full_name();
    std::istringstream help(setting.help);
    for (std::string line; std::getline(help, line);) EXPECT_LE(line.size(), 97U) << line;
  }
  EXPECT_EQ(find_setting("memory"), nullptr);
  EXPECT_EQ(find_setting("memory_total_budget"), nullptr);
}

std::string committed(const char* name) {
  std::ifstream file(std::filesystem::path(CUZK_SOURCE_DIR) / name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// With CUZK_UPDATE in the environment the files are written instead of compared.
void expect_committed(const char* name, const std::string& text) {
  if (std::getenv("CUZK_UPDATE") != nullptr) {
    std::ofstream(std::filesystem::path(CUZK_SOURCE_DIR) / name) << text;
  }
  EXPECT_EQ(committed(name), text) << name << " is out of date: CUZK_UPDATE=1 cuzk_engine_test "
                                   << "--gtest_filter='ConfigTexts.*' writes it";
}

TEST(ConfigTexts, TheDocumentationIsUpToDate) {
  expect_committed("docs/configuration.md", config_docs());
}

TEST(ConfigTexts, TheExampleIsUpToDateAndHoldsTheDefaults) {
  expect_committed("packaging/cuzk.toml", example_config());
  const std::string example = committed("packaging/cuzk.toml");
  const Config defaults = parse("").config;
  const LoadedConfig as_it_is = parse(example);
  EXPECT_THAT(as_it_is.notices, IsEmpty());
  EXPECT_THAT(config_changes(defaults, as_it_is.config), IsEmpty());
  // With every line in effect it says the same.
  const std::regex setting("(^|\n)#([a-z_]+ = )");
  const std::string uncommented = std::regex_replace(example, setting, "$1$2");
  const LoadedConfig all = parse(uncommented);
  EXPECT_THAT(all.notices, IsEmpty());
  EXPECT_THAT(config_changes(defaults, all.config), IsEmpty());
  std::size_t lines_in_effect = 0;
  for (std::sregex_iterator it(example.begin(), example.end(), setting), end; it != end; ++it)
    ++lines_in_effect;
  EXPECT_EQ(lines_in_effect, settings().size());
}

}  // namespace
}  // namespace cuzk::engine
