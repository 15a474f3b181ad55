// The operator's documents and the package's files against the program.

#include "engine/config.hpp"
#include "engine/config_settings.hpp"
#include "engine/job.hpp"
#include "service/errors.hpp"
#include "service/metrics.hpp"
#include "service/testing/fake_engine.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace cuzk::daemon_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using Set = std::set<std::string>;

const std::filesystem::path kRoot = CUZK_SOURCE_DIR;

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.is_open()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// First capture of every match.
Set matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  Set found;
  for (std::sregex_iterator match(text.begin(), text.end(), regex), end; match != end; ++match)
    found.insert((*match)[1]);
  return found;
}

/// Cells of the rows whose first cell begins like that, of the document's tables.
std::vector<std::vector<std::string>> rows(const std::string& document, const std::string& begin) {
  std::vector<std::vector<std::string>> found;
  for (const std::string& line : lines_of(document)) {
    if (!line.starts_with("| " + begin)) continue;
    std::vector<std::string> cells;
    std::istringstream stream(line.substr(1));
    for (std::string cell; std::getline(stream, cell, '|');) {
      const auto first = cell.find_first_not_of(' ');
      cells.push_back(first == std::string::npos
                          ? ""
                          : cell.substr(first, cell.find_last_not_of(' ') - first + 1));
    }
    found.push_back(cells);
  }
  return found;
}

std::string operations() { return read(kRoot / "docs/operations.md"); }
std::string metrics() { return service::prometheus_text(service::testing::sample_status()); }

std::string grpc_name(grpc::StatusCode code) {
  static const std::map<grpc::StatusCode, std::string> names{
      {grpc::StatusCode::INVALID_ARGUMENT, "INVALID_ARGUMENT"},
      {grpc::StatusCode::FAILED_PRECONDITION, "FAILED_PRECONDITION"},
      {grpc::StatusCode::RESOURCE_EXHAUSTED, "RESOURCE_EXHAUSTED"},
      {grpc::StatusCode::UNAVAILABLE, "UNAVAILABLE"},
      {grpc::StatusCode::NOT_FOUND, "NOT_FOUND"},
      {grpc::StatusCode::CANCELLED, "CANCELLED"},
      {grpc::StatusCode::DEADLINE_EXCEEDED, "DEADLINE_EXCEEDED"},
      {grpc::StatusCode::ABORTED, "ABORTED"},
      {grpc::StatusCode::INTERNAL, "INTERNAL"}};
  const auto found = names.find(code);
  return found == names.end() ? "?" : found->second;
}

TEST(Operations, EveryErrorCodeIsExplained) {
  using engine::ErrorCode;
  std::map<std::string, std::vector<std::string>> table;
  for (auto& cells : rows(operations(), "`")) {
    if (cells.size() == 5) table[cells[0].substr(1, cells[0].size() - 2)] = cells;
  }
  Set codes;
  for (int value = 1; value <= static_cast<int>(ErrorCode::kInternal); ++value) {
    const auto code = static_cast<ErrorCode>(value);
    const std::string name(engine::to_string(code));
    codes.insert(name);
    ASSERT_TRUE(table.contains(name)) << name << " has no row in docs/operations.md";
    EXPECT_EQ(table[name][1], grpc_name(service::status_code(code))) << name;
    EXPECT_EQ(table[name][2], engine::is_retryable(code) ? "yes" : "no") << name;
    EXPECT_GT(table[name][3].size(), 3u) << name;
    EXPECT_GT(table[name][4].size(), 3u) << name;
  }
  for (const auto& [name, cells] : table) EXPECT_TRUE(codes.contains(name)) << name;
}

TEST(Operations, EveryMetricIsExplained) {
  const Set written = matches(metrics(), "# TYPE (\\w+) ");
  Set explained;
  for (const auto& cells : rows(operations(), "`cuzk_")) {
    for (const std::string& name : matches(cells[0], "`(cuzk_\\w+)`")) explained.insert(name);
  }
  EXPECT_EQ(explained, written);
  EXPECT_THAT(written, IsSupersetOf(matches(operations(), "(cuzk_\\w+[a-z])[`{]")));
}

TEST(Operations, AlertsAreOfMetricsThatExistAndAreExplained) {
  const std::string alerts = read(kRoot / "packaging/alerts.yml");
  Set used;
  for (const std::string& line : lines_of(alerts)) {
    if (line.find("expr:") == std::string::npos) continue;
    for (const std::string& name : matches(line, "(cuzk_\\w+)"))
      used.insert(std::regex_replace(name, std::regex("_(bucket|sum|count)$"), ""));
  }
  EXPECT_GE(used.size(), 8u);
  EXPECT_THAT(matches(metrics(), "# TYPE (\\w+) "), IsSupersetOf(used));

  const Set rules = matches(alerts, "alert: (\\w+)");
  Set explained;
  for (const auto& cells : rows(operations(), "Cuzk")) {
    for (const std::string& name : matches(cells[0], "(Cuzk\\w+)")) explained.insert(name);
  }
  EXPECT_EQ(explained, rules);
}

TEST(Operations, SettingsThatItNamesExist) {
  const Set sections{"daemon",    "memory", "srs",         "synthesis", "pipeline",
                     "scheduler", "gpus",   "reliability", "logging"};
  std::size_t named = 0;
  for (const std::string& name : matches(operations(), "`([a-z]+\\.[a-z_]+)[ `]")) {
    if (!sections.contains(name.substr(0, name.find('.')))) continue;
    ++named;
    EXPECT_NE(engine::find_setting(name), nullptr) << name;
  }
  EXPECT_GE(named, 20u);
}

// Anchors as GitHub makes them.
std::string anchor_of(std::string heading) {
  std::string anchor;
  for (const char c : heading) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '-' || c == '_') {
      anchor += static_cast<char>(std::tolower(byte));
    } else if (c == ' ') {
      anchor += '-';
    }
  }
  return anchor;
}

Set anchors_of(const std::string& document) {
  Set anchors;
  for (const std::string& line : lines_of(document)) {
    const auto text = line.find_first_not_of('#');
    if (text != 0 && text != std::string::npos && line[text] == ' ')
      anchors.insert(anchor_of(line.substr(text + 1)));
  }
  return anchors;
}

TEST(Operations, LinksLeadSomewhere) {
  const std::string document = operations();
  const Set anchors = anchors_of(document);
  for (const std::string& link : matches(document, "\\]\\(([^)\\s]+)\\)")) {
    if (link.find("://") != std::string::npos) continue;
    const std::string file = link.substr(0, link.find('#'));
    if (file.empty()) {
      EXPECT_TRUE(anchors.contains(link.substr(1))) << link;
    } else {
      EXPECT_TRUE(std::filesystem::exists(kRoot / "docs" / file)) << link;
    }
  }
}

// Each known fault has tests, and they exist in the files that the table names.
TEST(Operations, TestsOfKnownFaultsExist) {
  const std::string document = read(kRoot / "docs/checked-faults.md");
  std::size_t faults = 0;
  for (const char* kind : {"C", "B", "H"}) {
    for (const auto& row : rows(document, kind)) {
      ASSERT_EQ(row.size(), 4U) << row[0];
      ++faults;
      std::string text;
      for (const std::string& file : matches(row[3] + ",", "([^, ]+),")) text += read(kRoot / file);
      const Set names = matches(row[2], "`(\\w+\\.\\w+)`");
      EXPECT_FALSE(names.empty()) << row[0];
      for (const std::string& name : names) {
        const auto dot = name.find('.');
        const std::string suite = name.substr(0, dot), test = name.substr(dot + 1);
        const bool is_ctests = std::islower(static_cast<unsigned char>(name[0])) != 0;
        const std::regex definition("TEST(_F|_P)?\\(" + suite + ",\\s*" + test + "\\)");
        EXPECT_TRUE(is_ctests ? text.find(test) != std::string::npos
                              : std::regex_search(text, definition))
            << row[0] << ": no test " << name << " in " << row[3];
      }
    }
  }
  EXPECT_EQ(faults, 31U);
}

/// Values of the unit's settings.
std::multimap<std::string, std::string> unit() {
  std::multimap<std::string, std::string> settings;
  for (const std::string& line : lines_of(read(kRoot / "packaging/cuzk.service"))) {
    const auto equals = line.find('=');
    if (line.starts_with('#') || equals == std::string::npos) continue;
    settings.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  return settings;
}

std::string setting(const char* name) {
  const auto settings = unit();
  EXPECT_EQ(settings.count(name), 1u) << name;
  const auto found = settings.find(name);
  return found == settings.end() ? "" : found->second;
}

TEST(Packaging, UnitLeavesTimeToDrainAndToStart) {
  const auto drain = engine::Config::Daemon().drain_timeout;
  EXPECT_GE(std::stoi(setting("TimeoutStopSec")), drain.count() + 30);
  EXPECT_THAT(operations(), HasSubstr("(" + std::to_string(drain.count()) + " s)"));
  EXPECT_EQ(setting("Type"), "notify");
  EXPECT_EQ(setting("KillMode"), "mixed");  // SIGTERM for the daemon, SIGKILL for all
  EXPECT_EQ(setting("ExecReload"), "/bin/kill -HUP $MAINPID");
  EXPECT_EQ(setting("LimitMEMLOCK"), "infinity");
}

TEST(Packaging, UnitHidesNeitherGpuNorParameters) {
  const auto settings = unit();
  for (const char* name : {"PrivateDevices", "DevicePolicy", "DeviceAllow", "ProtectClock",
                           "MemoryDenyWriteExecute", "ProcSubset", "PrivateTmp", "PrivateUsers"})
    EXPECT_EQ(settings.count(name), 0u) << name;
  EXPECT_EQ(setting("ProtectSystem"), "strict");
  EXPECT_EQ(setting("NoNewPrivileges"), "yes");
  EXPECT_EQ(setting("CapabilityBoundingSet"), "");
}

// What the unit names is what the package installs.
TEST(Packaging, FilesAreWhereTheUnitLooks) {
  const std::string rules = read(kRoot / "cmake/CuzkPackage.cmake");
  const std::string conffiles = read(kRoot / "packaging/debian/conffiles");
  EXPECT_EQ(setting("ExecStart"), "/usr/bin/cuzk daemon --config /etc/cuzk/cuzk.toml");
  EXPECT_THAT(rules, HasSubstr("cuzk.toml\" DESTINATION /etc/cuzk)"));
  EXPECT_THAT(conffiles, HasSubstr("/etc/cuzk/cuzk.toml\n"));
  EXPECT_EQ(setting("EnvironmentFile"), "-/etc/default/cuzk");
  EXPECT_THAT(conffiles, HasSubstr("/etc/default/cuzk\n"));
  EXPECT_THAT(setting("Documentation"), HasSubstr("/usr/share/doc/cuzk/operations.md"));
  // The folder of the default socket is made, and may be written to.
  const std::string socket = engine::Config::Daemon().listen;
  const std::string folder =
      std::filesystem::path(socket.substr(std::string("unix://").size())).parent_path();
  EXPECT_THAT(read(kRoot / "packaging/cuzk.tmpfiles"), HasSubstr("d " + folder + " "));
  EXPECT_THAT(setting("ReadWritePaths"), HasSubstr(folder));
  for (const std::string& name : matches(rules, "\\$\\{packaging\\}/([\\w./]+)"))
    EXPECT_TRUE(std::filesystem::exists(kRoot / "packaging" / name)) << name;
}

TEST(Packaging, ScriptsOfThePackageStartNothing) {
  for (const char* name : {"postinst", "prerm", "postrm"}) {
    const std::string script = read(kRoot / "packaging/debian" / name);
    EXPECT_THAT(script, HasSubstr("set -e"));
    EXPECT_THAT(script, Not(HasSubstr("systemctl start")));
    EXPECT_THAT(script, Not(HasSubstr("systemctl restart cuzk\n")));
  }
}

}  // namespace
}  // namespace cuzk::daemon_test
