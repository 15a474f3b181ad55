#include "r1cs/shape_file.hpp"

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "hash/sha256.hpp"
#include "r1cs/digest.hpp"
#include "r1cs/shape_builder.hpp"
#include "r1cs/toy_circuit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace cuzk::r1cs {
namespace {

using ::testing::HasSubstr;

class ShapeFile : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("cuzk_shape_file_test_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    path_ = folder_ / "toy.shape";
    ShapeBuilder builder;
    toy::circuit<SymbolicSystem>(builder, 5);
    shape_ = std::make_unique<Shape>(builder.finish());
    save_shape(*shape_, "toy-5", path_);
    std::ifstream file(path_, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& bytes) {
    std::ofstream file(path_, std::ios::binary | std::ios::trunc);
    file << bytes;
  }
  // What load_shape says of these bytes; empty if it takes them.
  std::string error_of(const std::string& bytes) {
    write(bytes);
    try {
      load_shape(path_, "toy-5");
    } catch (const base::CorruptData& error) {
      return error.what();
    }
    return {};
  }
  // With a digest that fits, so that what is behind the digest is tested.
  static std::string sealed(std::string bytes) {
    hash::Sha256 digest;
    digest.update(base::as_bytes(std::string_view(bytes).substr(64)));
    const base::Bytes32 sha256 = digest.finish();
    std::copy(sha256.begin(), sha256.end(), bytes.begin() + 32);
    return bytes;
  }

  std::filesystem::path folder_, path_;
  std::unique_ptr<Shape> shape_;
  std::string bytes_;
};

TEST_F(ShapeFile, RoundTrips) {
  const Shape loaded = load_shape(path_, "toy-5");
  ConstraintStream original, read;
  stream_shape(*shape_, original);
  stream_shape(loaded, read);
  EXPECT_EQ(read.digest(), original.digest());
  EXPECT_EQ(loaded.num_inputs(), shape_->num_inputs());
  EXPECT_EQ(loaded.num_aux(), shape_->num_aux());
  EXPECT_EQ(loaded.num_fields(), shape_->num_fields());
  EXPECT_EQ(loaded.num_constraints(), shape_->num_constraints());
  EXPECT_EQ(loaded.densities().a_aux, shape_->densities().a_aux);
  for (std::size_t i = 0; i < loaded.blocks().size(); ++i) {
    EXPECT_TRUE(std::ranges::equal(loaded.blocks()[i].bit_mask, shape_->blocks()[i].bit_mask));
  }
}

TEST_F(ShapeFile, EveryChangedByteIsRefused) {
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    std::string changed = bytes_;
    changed[i] = static_cast<char>(changed[i] ^ 0x20);
    EXPECT_THAT(error_of(changed), HasSubstr(path_.string())) << "byte " << i;
  }
}

TEST_F(ShapeFile, EveryTruncationIsRefused) {
  for (std::size_t length = 0; length < bytes_.size(); ++length) {
    EXPECT_THAT(error_of(bytes_.substr(0, length)), HasSubstr(path_.string()))
        << length << " bytes";
  }
  EXPECT_THAT(error_of(bytes_ + "x"), HasSubstr("bytes after its header"));
}

TEST_F(ShapeFile, NamesWhatIsWrong) {
  std::string other_version = bytes_;
  other_version[8] = 9;
  EXPECT_THAT(error_of(other_version), HasSubstr("version 9"));
  EXPECT_THAT(error_of("no shape at all, but long enough to hold a header of sixty-four bytes."),
              HasSubstr("is no shape file"));
  std::string damaged = bytes_;
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  EXPECT_THAT(error_of(damaged), HasSubstr("SHA-256"));
  write(bytes_);
  try {
    load_shape(path_, "toy-6");
    FAIL() << "took another circuit's file";
  } catch (const base::CorruptData& error) {
    EXPECT_THAT(error.what(), HasSubstr("is of the circuit toy-5, not toy-6"));
  }
}

// Whatever the payload says, reading it stays within the file and ends in a shape or a named error.
TEST_F(ShapeFile, ForgedPayloadsAreCheckedBehindTheDigest) {
  ASSERT_EQ(sealed(bytes_), bytes_);
  std::size_t refused = 0, changed_words = 0;
  for (std::size_t i = 64; i + 4 <= bytes_.size(); i += 4) {
    for (const std::uint32_t value : {0xffffffffu, 0x7fffffffu, 0x1000u}) {
      std::string forged = bytes_;
      base::store_u32_le(value, reinterpret_cast<std::uint8_t*>(forged.data() + i));
      refused += !error_of(sealed(forged)).empty();
      ++changed_words;
    }
  }
  EXPECT_GT(refused, changed_words / 2);
}

TEST_F(ShapeFile, AMissingFileIsNamed) {
  std::filesystem::remove(path_);
  try {
    load_shape(path_, "toy-5");
    FAIL();
  } catch (const base::CorruptData& error) {
    EXPECT_THAT(error.what(), HasSubstr(path_.string()));
  }
}

}  // namespace
}  // namespace cuzk::r1cs
