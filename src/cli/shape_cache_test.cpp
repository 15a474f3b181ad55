#include "cli/shape_cache.hpp"

#include "base/mapped_file.hpp"
#include "filecoin/circuit/circuits.hpp"
#include "r1cs/shape_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <unistd.h>

namespace cuzk::cli {
namespace {

constexpr auto kCircuit = filecoin::CircuitKind::kWinningPost;

class ShapeCache : public ::testing::Test {
 protected:
  ShapeCache()
      : folder(std::filesystem::temp_directory_path() /
               ("cuzk-shape-cache-" + std::to_string(::getpid()))),
        file(folder / (filecoin::cache_id(kCircuit, size) + ".shape")) {}
  ~ShapeCache() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }

  // The shape that it must be, whatever the cache holds.
  void expect_right(const r1cs::Shape& shape) const {
    const r1cs::Shape expected = filecoin::build_shape(kCircuit, size);
    EXPECT_EQ(shape.num_constraints(), expected.num_constraints());
    EXPECT_EQ(shape.num_aux(), expected.num_aux());
    EXPECT_EQ(shape.nnz(), expected.nnz());
    ASSERT_EQ(shape.blocks().size(), expected.blocks().size());
    for (std::size_t i = 0; i < expected.blocks().size(); ++i) {
      for (unsigned m = 0; m < 3; ++m) {
        EXPECT_TRUE(std::ranges::equal(shape.blocks()[i].matrices[m].columns,
                                       expected.blocks()[i].matrices[m].columns));
      }
    }
  }
  base::FileVersion version() const { return base::file_version(file); }

  filecoin::SectorSize size = filecoin::SectorSize::parse("2KiB");
  std::filesystem::path folder, file;
};

TEST_F(ShapeCache, KeepsTheShapeForTheNextRun) {
  expect_right(cached_shape(folder, kCircuit, size));
  ASSERT_TRUE(std::filesystem::exists(file));
  const base::FileVersion first = version();
  expect_right(cached_shape(folder, kCircuit, size));
  EXPECT_EQ(version(), first);
}

TEST_F(ShapeCache, ReplacesADamagedFile) {
  cached_shape(folder, kCircuit, size);
  const auto length = std::filesystem::file_size(file);
  {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(static_cast<std::streamoff>(length / 2));
    stream.put('\x5a').put('\xa5');
  }
  const base::FileVersion damaged = version();
  expect_right(cached_shape(folder, kCircuit, size));
  EXPECT_NE(version(), damaged);
  const base::FileVersion repaired = version();
  std::filesystem::resize_file(file, length - 8);
  expect_right(cached_shape(folder, kCircuit, size));
  EXPECT_EQ(std::filesystem::file_size(file), length);
  std::filesystem::resize_file(file, 0);
  expect_right(cached_shape(folder, kCircuit, size));
  EXPECT_NE(version(), repaired);
}

TEST_F(ShapeCache, ReplacesAnotherBuildsFile) {
  std::filesystem::create_directories(folder);
  const r1cs::Shape shape = filecoin::build_shape(kCircuit, size);
  r1cs::save_shape(shape, filecoin::cache_id(kCircuit, size) + " another build", file);
  const base::FileVersion foreign = version();
  expect_right(cached_shape(folder, kCircuit, size));
  EXPECT_NE(version(), foreign);
}

TEST_F(ShapeCache, DoesWithoutAFolder) {
  expect_right(cached_shape({}, kCircuit, size));
  expect_right(cached_shape("/proc/none", kCircuit, size));
  EXPECT_FALSE(std::filesystem::exists("/proc/none"));
}

TEST(ProgramVersion, IsTheBuildIdOfThisProgram) {
  const std::string version = program_version();
  EXPECT_GE(version.size(), 16U);
  EXPECT_TRUE(std::ranges::all_of(version, [](char c) {
    return ('0' <= c && c <= '9') || ('a' <= c && c <= 'f');
  })) << version;
  // It stands in the program's own file.
  const base::MappedFile program("/proc/self/exe");
  std::string bytes;
  for (std::size_t i = 0; i < version.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(version.substr(i, 2), nullptr, 16)));
  const std::string_view text(reinterpret_cast<const char*>(program.bytes().data()),
                              program.bytes().size());
  EXPECT_NE(text.find(bytes), std::string_view::npos);
}

// Sets a variable for a scope.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name); old != nullptr) old_ = old;
    value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1);
  }
  ~Variable() { old_ ? ::setenv(name_, old_->c_str(), 1) : ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

TEST(DefaultCacheFolder, FollowsTheEnvironment) {
  const Variable home("HOME", "/home/someone");
  {
    const Variable cache("XDG_CACHE_HOME", "/somewhere");
    EXPECT_EQ(default_cache_folder(), "/somewhere/cuzk");
  }
  for (const char* value : {static_cast<const char*>(nullptr), "", "relative"}) {
    const Variable cache("XDG_CACHE_HOME", value);
    EXPECT_EQ(default_cache_folder(), "/home/someone/.cache/cuzk");
    const Variable no_home("HOME", nullptr);
    EXPECT_TRUE(default_cache_folder().empty());
  }
}

}  // namespace
}  // namespace cuzk::cli
