#include "base/bytes.hpp"
#include "base/mapped_file.hpp"
#include "cli/commands.hpp"
#include "cli/key_store.hpp"
#include "groth16/key_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

// `cuzk params` over a development key of the smallest circuit. One test, since making the key
// takes most of the time.
namespace cuzk {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr auto kCircuit = filecoin::CircuitKind::kWindowPost;

class ParamsCommand : public ::testing::Test {
 protected:
  static constexpr int kOk = 0, kInvalid = 1, kDamaged = 2;

  ParamsCommand()
      : folder(std::filesystem::temp_directory_path() /
               ("cuzk-params-test-" + std::to_string(::getpid()))),
        paths(folder, kCircuit, filecoin::SectorSize::parse("2KiB")) {
    std::filesystem::create_directories(folder);
  }
  ~ParamsCommand() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }

  // Status of the program; what it wrote to both outputs goes to `text`.
  static int run(const std::vector<std::string>& arguments, std::string& text) {
    std::vector<std::string> words = {"cuzk"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int status = cli::run(static_cast<int>(argv.size()), argv.data());
    std::fflush(stdout);
    text = ::testing::internal::GetCapturedStdout() + ::testing::internal::GetCapturedStderr();
    return status;
  }
  int check(std::string& text) const {
    return run({"params", "check", "--params-dir", folder.string()}, text);
  }
  static base::Bytes read(const std::filesystem::path& path) {
    const base::MappedFile file(path);
    return {file.bytes().begin(), file.bytes().end()};
  }
  static void write(const std::filesystem::path& path, base::ByteView bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  // `params check` with the file changed says that it is damaged, and what `what` says.
  template <class Change>
  void expect_damaged(const std::filesystem::path& path, Change&& change, const auto& what) const {
    const base::Bytes good = read(path);
    base::Bytes bad = good;
    change(bad);
    write(path, bad);
    std::string text;
    EXPECT_EQ(check(text), kDamaged) << text;
    EXPECT_THAT(text, AllOf(HasSubstr("DAMAGED"), HasSubstr(path.filename().string()), what));
    write(path, good);
  }

  void lists_what_is_there() const;
  void says_whose_an_intact_key_is() const;
  void names_every_damage() const;
  void finds_files_of_other_keys() const;
  void refuses_wrong_requests() const;

  std::filesystem::path folder;
  cli::KeyPaths paths;
};

void ParamsCommand::lists_what_is_there() const {
  std::string text;
  ASSERT_EQ(run({"params", "list", "--params-dir", folder.string(), "--sector-size", "2KiB"}, text),
            kOk);
  EXPECT_THAT(text, AllOf(HasSubstr(std::to_string(std::filesystem::file_size(paths.params))),
                          HasSubstr(std::to_string(std::filesystem::file_size(paths.derived))),
                          HasSubstr("missing"), HasSubstr("porep")));
  ASSERT_EQ(run({"params", "list", "--params-dir", folder.string(), "--circuit", "window-post",
                 "--sector-size", "2KiB"},
                text),
            kOk);
  EXPECT_THAT(text, ::testing::Not(HasSubstr("missing")));
}

void ParamsCommand::says_whose_an_intact_key_is() const {
  std::string text;
  EXPECT_EQ(check(text), kOk);
  EXPECT_THAT(text, AllOf(HasSubstr("window-post 2KiB: intact"), HasSubstr("INSECURE")));
  // Without its marker it is not the network's, and the daemon would refuse it.
  const auto published =
      filecoin::published_digests(kCircuit, filecoin::SectorSize::parse("2KiB")).value();
  std::filesystem::rename(paths.development_marker, folder / "marker");
  EXPECT_EQ(check(text), kDamaged);
  EXPECT_THAT(text, AllOf(HasSubstr(".vk: digest "), HasSubstr(std::string(published.vk)),
                          HasSubstr("foreign"), HasSubstr("not the network's file")));
  std::filesystem::rename(paths.verifying_key, folder / "vk");
  EXPECT_EQ(check(text), kDamaged);
  EXPECT_THAT(text, AllOf(HasSubstr(".params: digest "), HasSubstr(std::string(published.params))));
  std::filesystem::rename(folder / "marker", paths.development_marker);
  EXPECT_EQ(check(text), kOk);
  EXPECT_THAT(text, HasSubstr("; no .vk (verify takes it from .params)"));
  std::filesystem::rename(folder / "vk", paths.verifying_key);
}

void ParamsCommand::names_every_damage() const {
  const groth16::KeyFile file(paths.params);
  const auto flip_in = [](const groth16::Section& section, std::size_t index) {
    const std::size_t at = section.offset + (index + 1) * section.point_bytes - 1;
    return [at](base::Bytes& bytes) { bytes[at] ^= 1; };
  };
  const auto& params = paths.params;
  expect_damaged(params, flip_in(file.h(), 7),
                 AllOf(HasSubstr("h[7]"), HasSubstr("not on the curve")));
  expect_damaged(params, flip_in(file.b_g2(), file.b_g2().count - 1),
                 HasSubstr(fmt::format("b_g2[{}]", file.b_g2().count - 1)));
  expect_damaged(
      params, [](base::Bytes& bytes) { bytes.resize(bytes.size() - 1); }, HasSubstr("ends within"));
  expect_damaged(
      params, [](base::Bytes& bytes) { bytes.push_back(0); }, HasSubstr("after its end"));
  expect_damaged(
      params, [](base::Bytes& bytes) { bytes[100] ^= 1; }, HasSubstr("beta_g1"));
  expect_damaged(
      paths.verifying_key, [](base::Bytes& bytes) { bytes[bytes.size() - 1] ^= 1; },
      HasSubstr("ic["));
  expect_damaged(
      paths.derived, [](base::Bytes& bytes) { bytes[bytes.size() - 1] ^= 1; },
      AllOf(HasSubstr("l["), HasSubstr("not on the curve")));
  expect_damaged(
      paths.derived, [](base::Bytes& bytes) { bytes[12] ^= 1; }, HasSubstr("another key"));
  std::string text;
  EXPECT_EQ(check(text), kOk) << text;
}

void ParamsCommand::finds_files_of_other_keys() const {
  expect_damaged(
      paths.verifying_key,
      [](base::Bytes& bytes) {
        // Valid on its own: two points of ic change places.
        std::swap_ranges(bytes.end() - 96, bytes.end(), bytes.end() - 192);
      },
      HasSubstr("not the verifying key in"));
  const cli::KeyPaths winning(folder, filecoin::CircuitKind::kWinningPost,
                              filecoin::SectorSize::parse("2KiB"));
  std::filesystem::copy_file(paths.params, winning.params);
  std::string text;
  EXPECT_EQ(check(text), kDamaged);
  EXPECT_THAT(text, AllOf(HasSubstr("winning-post 2KiB: DAMAGED"), HasSubstr("another circuit"),
                          HasSubstr("window-post 2KiB: intact"), HasSubstr("1 of 2 keys")));
  std::filesystem::rename(winning.params, winning.verifying_key);
  EXPECT_EQ(check(text), kOk);
  EXPECT_THAT(text, HasSubstr("winning-post 2KiB: MISSING: " + winning.params.filename().string()));
  std::filesystem::remove(winning.verifying_key);
}

void ParamsCommand::refuses_wrong_requests() const {
  std::string text;
  EXPECT_EQ(run({"params", "check", "--params-dir", (folder / "none").string()}, text), kInvalid);
  EXPECT_THAT(text, HasSubstr("none: no folder that can be read: No such file or directory"));
  EXPECT_EQ(run({"params", "list", "--params-dir", paths.params.string()}, text), kInvalid);
  EXPECT_THAT(text, HasSubstr("no folder that can be read: Not a directory"));
  EXPECT_EQ(run({"params", "check", "--params-dir", folder.string(), "--circuit", "seal"}, text),
            kInvalid);
  EXPECT_EQ(run({"params", "list", "--params-dir", folder.string(), "--circuit", "update",
                 "--sector-size", "1GiB"},
                text),
            kInvalid);
  EXPECT_EQ(run({"params", "derive", "--params-dir", folder.string(), "--circuit", "porep",
                 "--sector-size", "2KiB"},
                text),
            kInvalid);
  EXPECT_THAT(text, HasSubstr("there is no such file"));
}

TEST_F(ParamsCommand, KnowsAFolderOfKeys) {
  std::string text;
  ASSERT_EQ(run({"setup", "--circuit", "window-post", "--sector-size", "2KiB", "--params-dir",
                 folder.string(), "--seed", "5"},
                text),
            kOk)
      << text;
  lists_what_is_there();
  says_whose_an_intact_key_is();
  names_every_damage();
  finds_files_of_other_keys();
  refuses_wrong_requests();
}

}  // namespace
}  // namespace cuzk
