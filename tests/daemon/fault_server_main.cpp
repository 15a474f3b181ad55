// The daemon as `cuzk daemon` runs it, service, engine, journal and all, but over devices that
// prove toy circuits and fail as they are told to, and with a disk that can be made slow. Only
// tests run it; the program has none of this.

#include "base/error.hpp"
#include "engine/config_file.hpp"
#include "engine/engine.hpp"
#include "engine/testing/toy_engine.hpp"
#include "service/daemon.hpp"
#include "service/engine_adapter.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

using cuzk::engine::testing::Fault;

/// Random numbers for several threads.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}
  double roll() {
    const std::lock_guard lock(mutex_);
    return std::uniform_real_distribution<double>(0, 1)(random_);
  }

 private:
  std::mutex mutex_;
  std::mt19937_64 random_;  // guarded by mutex_
};

struct Options {
  std::string config;
  unsigned devices = 1, workers = 1;
  std::uint64_t seed = 1;
  int partition_us = 0;
  int check_s = 0;  ///< of PoRep's parameter files, at the start
  double device_fault = 0, out_of_memory = 0, wrong_proof = 0, unknown = 0;
  unsigned lost_at = 0;  ///< the number of the partition at which a device is lost; 0: at none
};

std::atomic<int> slow_disk_ms = 0;
Dice disk_dice(1);  // NOLINT: of fsync, which gets no argument

/// One in twenty is slow.
void wait_for_disk() {
  const int longest = slow_disk_ms;
  if (longest == 0 || disk_dice.roll() > 0.05) return;
  std::this_thread::sleep_for(
      std::chrono::duration<double, std::milli>(longest * disk_dice.roll()));
}

std::unique_ptr<cuzk::engine::ProvingDevice> make_device(unsigned ordinal, const Options& options,
                                                         const std::shared_ptr<Dice>& dice) {
  auto hooks = std::make_shared<cuzk::engine::testing::FakeHooks>();
  hooks->delay_us = options.partition_us;
  hooks->fault = [options, dice, partitions = std::make_shared<std::atomic<unsigned>>(0)](
                     std::uint64_t, unsigned) {
    if (++*partitions == options.lost_at) return Fault::kLost;
    double left = dice->roll();
    const std::pair<double, Fault> all[] = {{options.device_fault / 2, Fault::kAtStart},
                                            {options.device_fault / 2, Fault::kAtFinish},
                                            {options.out_of_memory, Fault::kOutOfMemory},
                                            {options.wrong_proof, Fault::kWrongProof},
                                            {options.unknown, Fault::kUnknown}};
    for (const auto& [probability, fault] : all) {
      if (left < probability) return fault;
      left -= probability;
    }
    return Fault::kNone;
  };
  return std::make_unique<cuzk::engine::testing::FakeDevice>(
      cuzk::engine::testing::FakeDevice::Options{.name = fmt::format("fake:{}", ordinal),
                                                 .workers = options.workers},
      std::move(hooks));
}

/// The files of `porep-2k` are checked for so long, unless the check is stopped.
std::unique_ptr<cuzk::engine::ParameterStore> make_parameters(const Options& options) {
  using cuzk::engine::ParameterStore;
  using Readiness = cuzk::engine::CircuitStatus::Readiness;
  auto store = std::make_unique<cuzk::engine::testing::ToyParameters>();
  if (options.check_s == 0) return store;
  const ParameterStore::State unchecked{Readiness::kChecking, "porep-2k: to be checked"};
  store->set("porep-2k", unchecked);
  store->on_inspect = [unchecked, time = std::chrono::seconds(options.check_s)](
                          const cuzk::engine::CircuitId&, const std::stop_token& stop) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
      if (stop.stop_requested()) return unchecked;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return ParameterStore::State{Readiness::kReady, {}};
  };
  return store;
}

void serve(const Options& options) {
  using namespace cuzk;
  const engine::Config config = engine::load_config(options.config).config;
  const auto dice = std::make_shared<Dice>(options.seed);
  std::vector<std::unique_ptr<engine::ProvingDevice>> devices;
  for (unsigned i = 0; i < options.devices; ++i) devices.push_back(make_device(i, options, dice));
  engine::Journal::Options journal;
  journal.keep_results = config.reliability.keep_results;
  journal.max_results = config.reliability.max_results;
  const auto path = engine::effective_state_dir(config.daemon) / "journal.sqlite";
  engine::Engine engine(config, std::move(devices),
                        std::make_unique<engine::Journal>(path, journal),
                        std::make_unique<engine::testing::ToyPreparation>(
                            std::make_shared<std::function<void(std::uint64_t root)>>()),
                        make_parameters(options));
  service::EngineAdapter adapter(engine);
  service::Daemon daemon(adapter, config, {});
  const std::string restart_because = daemon.run();
  if (!restart_because.empty()) throw std::runtime_error(restart_because);
}

}  // namespace

// The C library's, for SQLite: it calls them by these names.
extern "C" int fsync(int file) {
  wait_for_disk();
  return static_cast<int>(::syscall(SYS_fsync, file));
}
extern "C" int fdatasync(int file) {
  wait_for_disk();
  return static_cast<int>(::syscall(SYS_fdatasync, file));
}

int main(int argc, char** argv) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // no server outlives its test
  cuzk::service::Daemon::block_signals();
  Options options;
  int disk_ms = 0;
  CLI::App app;
  app.add_option("--config", options.config)->required();
  app.add_option("--devices", options.devices);
  app.add_option("--workers", options.workers);
  app.add_option("--seed", options.seed);
  app.add_option("--partition-us", options.partition_us);
  app.add_option("--check-s", options.check_s);
  app.add_option("--device-fault", options.device_fault);
  app.add_option("--out-of-memory", options.out_of_memory);
  app.add_option("--wrong-proof", options.wrong_proof);
  app.add_option("--unknown", options.unknown);
  app.add_option("--lost-at", options.lost_at);
  app.add_option("--slow-disk-ms", disk_ms);
  CLI11_PARSE(app, argc, argv);
  slow_disk_ms = disk_ms;
  try {
    serve(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
