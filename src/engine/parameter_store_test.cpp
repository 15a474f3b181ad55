#include "engine/parameter_store.hpp"

#include "base/error.hpp"
#include "engine/testing/development_key.hpp"
#include "engine/testing/log_capture.hpp"
#include "filecoin/circuit/circuits.hpp"
#include "filecoin/parameter_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <thread>
#include <unistd.h>

namespace cuzk::engine {
namespace {

using Readiness = CircuitStatus::Readiness;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ParameterStoreTest : public ::testing::Test {
 protected:
  ParameterStoreTest() { config.param_cache = folder.path(); }

  // The textbook form alone, which is checked in a tenth of the time.
  void put() { testing::DevelopmentKeys::put(window, folder.path(), false); }
  void open(std::chrono::milliseconds settle = {}) {
    store = make_parameter_store(config, "auto", settle);
  }
  ParameterStore::State inspected(const CircuitId& id) {
    store->inspect(id, {});
    return store->state(id);
  }
  static void flip(const std::filesystem::path& path, std::streamoff at) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(at);
    const int byte = file.get();
    file.seekp(at);
    file.put(static_cast<char>(byte ^ 1));
  }
  void replace(const std::filesystem::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
  }
  /// The most that this process has ever mapped, in bytes.
  static std::uint64_t peak_address_space() {
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);)
      if (line.starts_with("VmPeak:")) return std::stoull(line.substr(7)) << 10;
    ADD_FAILURE() << "no VmPeak";
    return 0;
  }

  testing::TemporaryFolder folder;
  Config::Srs config;
  const CircuitId window = CircuitId::parse("wpost-2k"), porep = CircuitId::parse("porep-2k");
  const KeyPaths paths{folder.path(), window};
  std::unique_ptr<ParameterStore> store;
};

TEST_F(ParameterStoreTest, MissingFilesAreNamedWithFolderSourceAndRemedy) {
  config.param_cache_source = "FIL_PROOFS_PARAMETER_CACHE";
  open();
  const ParameterStore::State state = store->state(porep);
  EXPECT_EQ(state.readiness, Readiness::kMissing);
  EXPECT_EQ(state.detail,
            "porep-2k: " + KeyPaths(folder.path(), porep).params.filename().string() + " not in " +
                folder.path().string() +
                " (from FIL_PROOFS_PARAMETER_CACHE). Fetch it with 'curio fetch-params', then "
                "retry; no restart needed");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "nothing is made";
}

TEST_F(ParameterStoreTest, AFolderThatIsNotThereOrIsNoneIsNamed) {
  config.param_cache = folder.path() / "none";
  open();
  EXPECT_EQ(store->state(porep).readiness, Readiness::kMissing);
  EXPECT_EQ(store->state(porep).detail, "porep-2k: srs.param_cache " + config.param_cache.string() +
                                            " (from config): no such folder");
  replace(config.param_cache, "a file");
  EXPECT_THAT(store->state(porep).detail, HasSubstr("(from config): is no folder"));
}

// Once access is given, the same version of the file counts.
TEST_F(ParameterStoreTest, FilesThatMayNotBeReadAreNotCorrupt) {
  put();
  open();
  std::filesystem::permissions(folder.path(), std::filesystem::perms{0755});
  const auto as_other_user = [this](const std::filesystem::path& hidden) {
    const auto before = std::filesystem::status(hidden).permissions();
    std::filesystem::permissions(hidden, std::filesystem::perms::none);
    const bool is_root = ::geteuid() == 0;  // who may read everything
    EXPECT_EQ(is_root ? ::seteuid(65534) : 0, 0);
    const ParameterStore::State seen = store->state(window), checked = inspected(window);
    store->mark_corrupt(window, "cannot be opened");
    EXPECT_EQ(is_root ? ::seteuid(0) : 0, 0);
    std::filesystem::permissions(hidden, before);
    for (const ParameterStore::State& state : {seen, checked, store->known(window)}) {
      EXPECT_EQ(state.readiness, Readiness::kMissing);
      EXPECT_THAT(state.detail, AllOf(StartsWith("wpost-2k: " + hidden.string()),
                                      HasSubstr("cannot be read: Permission denied. Give"),
                                      HasSubstr("BindReadOnlyPaths=")));
    }
  };
  as_other_user(paths.params);
  as_other_user(paths.verifying_key);
  as_other_user(folder.path());
  EXPECT_EQ(store->state(window).readiness, Readiness::kChecking);
  EXPECT_EQ(inspected(window).readiness, Readiness::kReady);
}

TEST_F(ParameterStoreTest, AFileThatIsAddedCountsAtOnce) {
  open();
  EXPECT_EQ(inspected(window).readiness, Readiness::kMissing);
  put();
  EXPECT_EQ(store->known(window).readiness, Readiness::kMissing) << "without a look at the folder";
  EXPECT_EQ(store->state(window).readiness, Readiness::kChecking);
  EXPECT_EQ(store->known(window).readiness, Readiness::kChecking);
  EXPECT_THAT(store->known(window).detail, HasSubstr("wpost-2k: its files wait to be checked"));
  EXPECT_THAT(store->unchecked(), ::testing::ElementsAre(window));
  EXPECT_EQ(inspected(window).readiness, Readiness::kReady);
  EXPECT_EQ(store->known(window).readiness, Readiness::kReady);
  EXPECT_THAT(store->unchecked(), ::testing::IsEmpty());
  EXPECT_EQ(store->state(porep).readiness, Readiness::kMissing) << "others are not touched";
}

TEST_F(ParameterStoreTest, AStoppedCheckLeavesEverythingToBeChecked) {
  put();
  open();
  {
    std::jthread check([this](const std::stop_token& stop) { store->inspect(window, stop); });
    while (store->state(window).detail.find("are being checked") == std::string::npos)
      std::this_thread::yield();
  }  // stopped long before its end
  EXPECT_EQ(store->state(window).readiness, Readiness::kChecking);
  EXPECT_THAT(store->state(window).detail, HasSubstr("wait to be checked"));
  EXPECT_EQ(inspected(window).readiness, Readiness::kReady);
}

// As 'curio fetch-params' leaves it for minutes beside a running daemon.
TEST_F(ParameterStoreTest, AFileThatIsStillBeingWrittenIsNotCorrupt) {
  constexpr auto kSettle = std::chrono::seconds(10);
  put();
  open(kSettle);
  const auto whole = std::filesystem::file_size(paths.params);
  std::filesystem::resize_file(paths.params, whole / 2);
  ParameterStore::State state = inspected(window);
  EXPECT_EQ(state.readiness, Readiness::kChecking);
  EXPECT_THAT(state.detail, AllOf(HasSubstr("written to less than 10 s ago"),
                                  HasSubstr("ends within "), HasSubstr("jobs are taken and wait")));
  EXPECT_THAT(store->unchecked(), ::testing::IsEmpty()) << "not before that time is over";
  std::filesystem::resize_file(paths.params, whole - 1);
  EXPECT_THAT(store->state(window).detail, HasSubstr("wait to be checked"));
  EXPECT_THAT(store->unchecked(), ::testing::ElementsAre(window)) << "it has grown";
  EXPECT_EQ(inspected(window).readiness, Readiness::kChecking);
  store->mark_corrupt(window, "too short");
  EXPECT_EQ(store->known(window).readiness, Readiness::kChecking);
  put();
  EXPECT_EQ(inspected(window).readiness, Readiness::kReady) << "at once when it is whole";

  std::filesystem::resize_file(paths.params, whole - 1);
  const auto now = std::filesystem::file_time_type::clock::now();
  for (const auto& file : std::filesystem::directory_iterator(folder.path()))
    std::filesystem::last_write_time(file, now - kSettle);
  EXPECT_EQ(inspected(window).readiness, Readiness::kCorrupt) << "nothing is written any more";
  std::filesystem::last_write_time(paths.params, now + std::chrono::hours(1));
  EXPECT_EQ(inspected(window).readiness, Readiness::kCorrupt) << "nor to come";
}

TEST_F(ParameterStoreTest, AFaultThatStaysCountsInTheEnd) {
  put();
  std::filesystem::resize_file(paths.params, 1000);
  open(std::chrono::milliseconds(300));
  EXPECT_EQ(inspected(window).readiness, Readiness::kChecking);
  while (store->unchecked().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(store->state(window).readiness, Readiness::kChecking) << "until it is found again";
  EXPECT_EQ(inspected(window).readiness, Readiness::kCorrupt);
  EXPECT_THAT(store->unchecked(), ::testing::IsEmpty());
}

// The finding is of files that are no more.
TEST_F(ParameterStoreTest, FilesThatChangeDuringTheirCheckAreCheckedAgain) {
  put();
  flip(paths.verifying_key, 100);  // seen only after the points
  open();
  std::jthread check([this](const std::stop_token& stop) { store->inspect(window, stop); });
  while (store->state(window).detail.find("are being checked") == std::string::npos)
    std::this_thread::yield();
  put();
  check.join();
  EXPECT_EQ(store->known(window).readiness, Readiness::kChecking);
  EXPECT_THAT(store->unchecked(), ::testing::ElementsAre(window));
  EXPECT_EQ(inspected(window).readiness, Readiness::kReady);
  flip(paths.params, 5000);
  store->mark_corrupt(window, "what was there before");
  EXPECT_EQ(store->known(window).readiness, Readiness::kChecking);
}

TEST_F(ParameterStoreTest, SaysHowToMakeADerivedKeyThatWouldBeUsed) {
  const auto said = [this](const std::string& quotient) {
    const testing::LogCapture log;
    store = make_parameter_store(config, quotient);
    EXPECT_EQ(inspected(window).readiness, Readiness::kReady);
    return log.text();
  };
  put();
  EXPECT_THAT(said("auto"),
              AllOf(HasSubstr("PARAMS-DERIVED"), HasSubstr("wpost-2k"),
                    HasSubstr("cuzk params derive --params-dir " + folder.path().string() +
                              " --circuit window-post --sector-size 2KiB")));
  EXPECT_THAT(said("textbook"), Not(HasSubstr("PARAMS-DERIVED")));
  testing::DevelopmentKeys::put(window, folder.path());
  EXPECT_THAT(said("auto"), Not(HasSubstr("PARAMS-DERIVED")));
}

TEST_F(ParameterStoreTest, OnlyEnabledCircuitsAreServed) {
  config.enable = {"porep-2k"};
  put();
  open();
  EXPECT_EQ(store->state(window).readiness, Readiness::kNotEnabled);
  EXPECT_THAT(store->state(window).detail, HasSubstr("srs.enable"));
  EXPECT_EQ(store->state(porep).readiness, Readiness::kMissing);
}

TEST_F(ParameterStoreTest, DamageIsFoundAndGoesWithTheFile) {
  put();
  open();
  const auto size = std::filesystem::file_size(paths.params);
  const auto expect_corrupt = [&](const std::string& what, const std::filesystem::path& file) {
    SCOPED_TRACE(what);
    const ParameterStore::State state = inspected(window);
    EXPECT_EQ(state.readiness, Readiness::kCorrupt);
    EXPECT_THAT(state.detail, HasSubstr(file.filename().string()));
  };
  flip(paths.params, 5000);
  expect_corrupt("a flipped bit in the first array", paths.params);
  EXPECT_EQ(store->state(window).readiness, Readiness::kCorrupt) << "it stays so";
  for (const std::uintmax_t length : {size - 1, size / 2, std::uintmax_t{179}, std::uintmax_t{0}}) {
    std::filesystem::resize_file(paths.params, length);
    expect_corrupt("cut to " + std::to_string(length), paths.params);
  }
  replace(paths.params, std::string(179, 'x'));
  expect_corrupt("an error page", paths.params);
  put();
  EXPECT_EQ(store->state(window).readiness, Readiness::kChecking) << "until the file is replaced";
  EXPECT_EQ(inspected(window).readiness, Readiness::kReady);
  flip(paths.verifying_key, 100);
  expect_corrupt("a flipped bit in the verifying key", paths.verifying_key);
}

TEST_F(ParameterStoreTest, ForeignKeysAreCorruptUnlessTrusted) {
  put();
  std::filesystem::remove(paths.development_marker);
  open();
  const ParameterStore::State state = inspected(window);
  EXPECT_EQ(state.readiness, Readiness::kCorrupt);
  EXPECT_THAT(state.detail, AllOf(HasSubstr("expected "), HasSubstr("srs.trust_params")));
  config.trust_params = true;
  open();
  EXPECT_EQ(inspected(window).readiness, Readiness::kReady);
}

// Found before the key's points are read, which takes minutes at 32 GiB.
TEST_F(ParameterStoreTest, AForeignVerifyingKeyIsNamedWithBothDigests) {
  put();
  std::filesystem::remove(paths.development_marker);
  std::filesystem::resize_file(paths.params, 1000);
  open();
  const std::string vk = paths.verifying_key.string();
  const std::string published(filecoin::published_digests(window.kind, window.size).value().vk);
  EXPECT_THAT(inspected(window).detail,
              AllOf(StartsWith(vk + ": digest "), HasSubstr(", expected " + published)));
}

// A page of text that was saved instead of the file.
TEST_F(ParameterStoreTest, PagesOfTextAreNoKeysAndCostNoMemory) {
  std::string page = "<html><body>502 Bad Gateway</body></html>\n";
  page.append(179 - page.size(), 'x');
  for (const std::size_t size : {std::size_t{179}, std::size_t{100'000}}) {
    page.resize(size, 'x');
    for (const bool of_params : {true, false}) {
      if (!of_params && size > 179) continue;  // read after the key's points, in seconds
      const std::filesystem::path& file = of_params ? paths.params : paths.verifying_key;
      put();
      replace(file, page);
      open();
      const std::uint64_t before = peak_address_space();
      const ParameterStore::State state = inspected(window);
      EXPECT_EQ(state.readiness, Readiness::kCorrupt) << file;
      EXPECT_THAT(state.detail, HasSubstr(file.filename().string()));
      EXPECT_LT(peak_address_space() - before, std::uint64_t{256} << 20);
      EXPECT_EQ(store->state(porep).readiness, Readiness::kMissing);
    }
  }
}

TEST_F(ParameterStoreTest, ACutFileIsNamedWithWhatIsMissing) {
  put();
  open();
  std::filesystem::resize_file(paths.params, std::filesystem::file_size(paths.params) - 1);
  EXPECT_THAT(inspected(window).detail,
              ::testing::ContainsRegex("ends within b_g2: ([0-9]+) bytes wanted .*, [0-9]+ left"));
}

TEST_F(ParameterStoreTest, KeysOfDifferentMakesDoNotMix) {
  put();
  groth16::VerifyingKey other = groth16::read_verifying_key(paths.verifying_key);
  std::swap(other.ic[0], other.ic[1]);
  groth16::write_verifying_key(other, paths.verifying_key);
  open();
  const ParameterStore::State state = inspected(window);
  EXPECT_EQ(state.readiness, Readiness::kCorrupt);
  EXPECT_THAT(state.detail, HasSubstr("belong to different keys"));
}

TEST_F(ParameterStoreTest, WhatLoadingFoundIsRemembered) {
  put();
  open();
  store->mark_corrupt(window, "h: point 3 is not on the curve");
  EXPECT_EQ(store->state(window).readiness, Readiness::kCorrupt);
  EXPECT_EQ(store->state(window).detail, "h: point 3 is not on the curve");
  put();
  EXPECT_EQ(store->state(window).readiness, Readiness::kChecking);
}

TEST_F(ParameterStoreTest, CountsComeFromTheFirstBytes) {
  put();
  const KeyCounts counts = peek_key_counts(paths.params);
  const groth16::KeyFile file(paths.params);
  EXPECT_EQ(counts.h, file.h().count);
  EXPECT_EQ(counts.inputs, file.verifying_key().ic.size());
  EXPECT_EQ(counts.file_bytes, std::filesystem::file_size(paths.params));
  const KeyCounts expected = key_counts_of(filecoin::build_shape(window.kind, window.size));
  EXPECT_EQ(counts.h, expected.h);
  EXPECT_EQ(counts.inputs, expected.inputs);
  EXPECT_EQ(counts.file_bytes, expected.file_bytes);
  std::filesystem::resize_file(paths.params, 1000);
  EXPECT_THROW(peek_key_counts(paths.params), base::CorruptData);
  std::filesystem::remove(paths.params);
  EXPECT_THROW(peek_key_counts(paths.params), base::InvalidInput);
}

}  // namespace
}  // namespace cuzk::engine
