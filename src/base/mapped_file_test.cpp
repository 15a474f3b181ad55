#include "base/mapped_file.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <unistd.h>
#include <vector>

namespace cuzk::base {
namespace {

class MappedFileTest : public ::testing::Test {
 protected:
  MappedFileTest() {
    folder_ =
        std::filesystem::temp_directory_path() / ("cuzk-mapped-file-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  ~MappedFileTest() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
};

TEST_F(MappedFileTest, ReadsBackWhatWasWritten) {
  const Bytes content(100'000, 0x5a);
  {
    FileWriter writer(folder_ / "file");
    writer.write(ByteView(content).first(1));
    writer.write(ByteView(content).subspan(1));
    EXPECT_FALSE(std::filesystem::exists(folder_ / "file"));
    writer.commit();
  }
  MappedFile file(folder_ / "file");
  EXPECT_TRUE(std::ranges::equal(file.bytes(), content));
  file.discard(0, content.size());
  EXPECT_TRUE(std::ranges::equal(file.bytes(), content));
  EXPECT_EQ(file.version(), file_version(folder_ / "file"));
  const MappedFile moved = std::move(file);
  EXPECT_EQ(moved.bytes().size(), content.size());
}

TEST_F(MappedFileTest, AnUncommittedFileLeavesTheOldOne) {
  std::ofstream(folder_ / "file") << "old";
  {
    FileWriter writer(folder_ / "file");
    writer.write(as_bytes("new"));
  }
  EXPECT_EQ(MappedFile(folder_ / "file").bytes().size(), 3U);
  EXPECT_EQ(MappedFile(folder_ / "file").bytes()[0], 'o');
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(MappedFileTest, AnotherContentIsAnotherVersion) {
  std::ofstream(folder_ / "file") << "one";
  const FileVersion before = file_version(folder_ / "file");
  std::ofstream(folder_ / "file") << "longer";
  EXPECT_NE(before, file_version(folder_ / "file"));
}

TEST_F(MappedFileTest, MissingFilesAndFoldersAreNamed) {
  EXPECT_THROW(MappedFile(folder_ / "none"), CorruptData);
  EXPECT_THROW(MappedFile{folder_}, CorruptData);
  EXPECT_THROW(file_version(folder_ / "none"), CorruptData);
  EXPECT_THROW(FileWriter(folder_ / "none" / "file"), ResourceExhausted);
}

TEST_F(MappedFileTest, WhatWasCutOffReadsAsZerosAndIsNamed) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::ofstream(folder_ / "file") << std::string(3 * page, 'x');
  const MappedFile other(folder_ / "file");
  MappedFile file(folder_ / "file");
  std::filesystem::resize_file(folder_ / "file", page);
  EXPECT_NO_THROW(file.require_readable());
  EXPECT_EQ(file.bytes()[2 * page + 5], 0);
  EXPECT_EQ(file.bytes()[page], 0);
  EXPECT_EQ(file.bytes()[page - 1], 'x');
  const MappedFile moved = std::move(file);
  try {
    moved.require_readable();
    FAIL() << "a file that was cut counts as readable";
  } catch (const CorruptData& error) {
    EXPECT_EQ(error.what(),
              fmt::format("{}: cannot be read at byte {}: the disk failed, or the "
                          "file was cut meanwhile. Look at dmesg, then fetch it again",
                          (folder_ / "file").string(), 2 * page));
  }
  EXPECT_NO_THROW(other.require_readable());
  EXPECT_EQ(other.bytes()[0], 'x');
}

TEST_F(MappedFileTest, AMappingThatWasUsedBeforeHasNoFault) {
  for (unsigned i = 0; i < 3; ++i) {
    std::ofstream(folder_ / "file") << "content";
    const MappedFile file(folder_ / "file");
    EXPECT_NO_THROW(file.require_readable());
    std::filesystem::resize_file(folder_ / "file", 0);
    EXPECT_EQ(file.bytes()[0], 0);
    EXPECT_THROW(file.require_readable(), CorruptData);
  }
}

TEST_F(MappedFileTest, WhatAReaderMakesOfUnreadableBytesDoesNotCount) {
  std::ofstream(folder_ / "file") << "content";
  const MappedFile file(folder_ / "file");
  const auto first = [&] {
    const volatile int byte = file.bytes()[0];
    require(byte != 0, "a zero");
    return byte;
  };
  EXPECT_EQ(read_mapped(file, first), 'c');
  std::filesystem::resize_file(folder_ / "file", 0);
  EXPECT_THROW(read_mapped(file, first), CorruptData);
}

TEST_F(MappedFileTest, OtherBusErrorsKill) {
  std::ofstream(folder_ / "file") << "content";
  const MappedFile file(folder_ / "file"), fatal(folder_ / "file", ReadFault::kKills);
  EXPECT_DEATH(::raise(SIGBUS), "");
  std::filesystem::resize_file(folder_ / "file", 0);
  EXPECT_DEATH(std::printf("%d", fatal.bytes()[0]), "");
}

TEST_F(MappedFileTest, AnEmptyFileHasNoBytes) {
  std::ofstream(folder_ / "file").flush();
  EXPECT_TRUE(MappedFile(folder_ / "file").bytes().empty());
}

}  // namespace
}  // namespace cuzk::base
