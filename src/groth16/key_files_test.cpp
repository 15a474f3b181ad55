#include "base/error.hpp"
#include "base/mapped_file.hpp"
#include "groth16/derivation.hpp"
#include "groth16/derived_key.hpp"
#include "groth16/key_check.hpp"
#include "groth16/key_file.hpp"
#include "groth16/proving_key.hpp"
#include "groth16/setup.hpp"
#include "groth16/testing.hpp"
#include "groth16/verifying_key.hpp"
#include "hash/blake2b.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <tuple>
#include <unistd.h>

// Key files of the toy circuit: what is written is read back, and every damage has a name.
namespace cuzk::groth16 {
namespace {

using base::CorruptData;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

class KeyFiles : public ::testing::Test {
 protected:
  KeyFiles()
      : folder(std::filesystem::temp_directory_path() /
               ("cuzk-key-files-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder);
    files = {folder / "toy.params", folder / "toy.vk", folder / "toy.derivative"};
    write_keys(toy.shape, Trapdoor::from_seed(7), files);
  }
  ~KeyFiles() override { std::filesystem::remove_all(folder); }

  static base::Bytes read(const std::filesystem::path& path) {
    const base::MappedFile file(path);
    return {file.bytes().begin(), file.bytes().end()};
  }
  static void write(const std::filesystem::path& path, base::ByteView bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  template <class Action>
  static std::string complaint(Action&& action) {
    try {
      action();
    } catch (const CorruptData& error) {
      return error.what();
    }
    return "accepted";
  }
  void load() const { load_proving_key(KeyFile(files.params), textbook); }

  testing::ToyCircuit toy;
  KeyLayout textbook{toy.shape, QuotientForm::kTextbook};
  KeyLayout derivative{toy.shape, QuotientForm::kDerivative};
  std::filesystem::path folder;
  SetupFiles files;
};

TEST_F(KeyFiles, VerifyingKeyIsTheHeadOfTheParameterFile) {
  const VerifyingKey key = read_verifying_key(files.verifying_key);
  EXPECT_EQ(key, KeyFile(files.params).verifying_key());
  EXPECT_EQ(key.ic.size(), toy.shape.num_inputs());
  const base::Bytes bytes = read(files.verifying_key), params = read(files.params);
  EXPECT_EQ(key.to_bytes(), bytes);
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), params.begin()));
}

TEST_F(KeyFiles, PointsAreTheTrapdoorsMultiples) {
  const Trapdoor trapdoor = Trapdoor::from_seed(7);
  const QueryLogarithms expected = query_logarithms(toy.shape, trapdoor);
  const ProvingKey key = load_proving_key(KeyFile(files.params), textbook);
  ASSERT_EQ(key.h.size(), expected.h.size());
  for (std::size_t j = 0; j < key.h.size(); ++j)
    ASSERT_EQ(key.h[j], (trapdoor.g1 * expected.h[j]).to_affine());
  // Of a query: fields and bits, each in order, against the logarithms of the variables that have a
  // point.
  const auto expect_query = [&](const auto& query, const QueryLayout& layout, const auto& generator,
                                std::span<const curve::Fr> logarithms, std::size_t inputs) {
    ASSERT_EQ(query.fields.size(), layout.field_count());
    ASSERT_EQ(query.bits.size(), layout.bit_count);
    std::size_t field = 0, bit = 0;
    for (const std::uint32_t input : layout.inputs) {
      ASSERT_EQ(query.fields[field++], (generator * logarithms[input]).to_affine());
    }
    for (std::uint32_t i = 0; i < toy.shape.num_aux(); ++i) {
      if ((layout.aux_mask[i / 64] >> i % 64 & 1) == 0) continue;
      const auto point = (generator * logarithms[inputs + i]).to_affine();
      ASSERT_EQ(textbook.variables.is_bit(i) ? query.bits[bit++] : query.fields[field++], point)
          << i;
    }
    EXPECT_EQ(field, query.fields.size());
    EXPECT_EQ(bit, query.bits.size());
  };
  const std::size_t inputs = toy.shape.num_inputs();
  expect_query(key.l, textbook.l, trapdoor.g1, expected.l, 0);
  expect_query(key.a, textbook.a, trapdoor.g1, expected.a, inputs);
  expect_query(key.b_g1, textbook.b, trapdoor.g1, expected.b, inputs);
  expect_query(key.b_g2, textbook.b, trapdoor.g2, expected.b, inputs);
}

TEST_F(KeyFiles, EveryTruncationIsRefused) {
  const base::Bytes params = read(files.params), vk = read(files.verifying_key);
  for (std::size_t length = 0; length < vk.size(); length += length < 100 ? 1 : 37) {
    write(files.verifying_key, base::ByteView(vk).first(length));
    EXPECT_THAT(complaint([&] { read_verifying_key(files.verifying_key); }), HasSubstr("toy.vk"))
        << length;
  }
  for (std::size_t length = 0; length < params.size(); length += 1 + params.size() / 150) {
    write(files.params, base::ByteView(params).first(length));
    EXPECT_THAT(complaint([&] { load(); }), HasSubstr("toy.params")) << length;
  }
  base::Bytes longer = params;
  longer.push_back(0);
  write(files.params, longer);
  EXPECT_THAT(complaint([&] { load(); }), HasSubstr("1 bytes after its end"));
  longer = vk;
  longer.push_back(0);
  write(files.verifying_key, longer);
  EXPECT_THAT(complaint([&] { read_verifying_key(files.verifying_key); }),
              HasSubstr("1 bytes after the end"));
}

TEST_F(KeyFiles, AFileThatIsCutWhileItIsReadIsNoBadPoint) {
  const KeyFile key(files.params);
  const DerivedKeyFile derived(files.derived);
  std::filesystem::resize_file(files.params, 0);
  std::filesystem::resize_file(files.derived, 0);
  EXPECT_THAT(complaint([&] { load_proving_key(key, textbook); }),
              AllOf(HasSubstr("toy.params"), HasSubstr("cannot be read at byte 0")));
  EXPECT_THAT(complaint([&] { check_key(key); }), HasSubstr("cannot be read at byte 0"));
  EXPECT_THAT(complaint([&] { check_key(derived); }),
              AllOf(HasSubstr("toy.derivative"), HasSubstr("cannot be read at byte 0")));
  EXPECT_FALSE(std::filesystem::exists(files.params.string() + ".checked"));
}

// One damaged point in each array, at both ends.
TEST_F(KeyFiles, DamagedPointsAreNamedWithTheirPlace) {
  const base::Bytes params = read(files.params);
  const KeyFile good(files.params);
  const std::pair<const char*, Section> arrays[] = {{"h", good.h()},
                                                    {"l", good.l()},
                                                    {"a", good.a()},
                                                    {"b_g1", good.b_g1()},
                                                    {"b_g2", good.b_g2()}};
  for (const auto& [name, section] : arrays) {
    for (const std::size_t index : {std::size_t{0}, section.count - 1}) {
      base::Bytes damaged = params;
      const std::size_t offset = section.offset + index * section.point_bytes;
      damaged[offset + section.point_bytes - 1] ^= 1;
      write(files.params, damaged);
      EXPECT_THAT(complaint([&] { load(); }), AllOf(HasSubstr(fmt::format("{}[{}]", name, index)),
                                                    HasSubstr("not on the curve")));
      damaged = params;
      std::fill_n(damaged.begin() + static_cast<std::ptrdiff_t>(offset), section.point_bytes,
                  std::uint8_t{0});
      damaged[offset] = 0x40;
      write(files.params, damaged);
      EXPECT_THAT(complaint([&] { load(); }),
                  AllOf(HasSubstr(fmt::format("{}[{}]", name, index)), HasSubstr("infinity")));
    }
  }
}

// A count of each array, too large by far, by one, and too small by one.
TEST_F(KeyFiles, ForgedCountsAreNamedAndAllocateNothing) {
  const base::Bytes params = read(files.params);
  const KeyFile good(files.params);
  const std::pair<const char*, Section> arrays[] = {{"h", good.h()},
                                                    {"l", good.l()},
                                                    {"a", good.a()},
                                                    {"b_g1", good.b_g1()},
                                                    {"b_g2", good.b_g2()}};
  const auto forge = [&](const Section& section, std::uint32_t count) {
    base::Bytes forged = params;
    for (unsigned i = 0; i < 4; ++i)
      forged[section.offset - 4 + i] = static_cast<std::uint8_t>(count >> (24 - 8 * i));
    write(files.params, forged);
    return complaint([&] { load(); });
  };
  for (const auto& [name, section] : arrays) {
    EXPECT_THAT(forge(section, 0xffffffff),
                AllOf(HasSubstr("toy.params"), HasSubstr(fmt::format("ends within {}", name))));
    // Everything behind is read from the wrong place.
    for (const std::size_t count : {section.count - 1, section.count + 1}) {
      EXPECT_THAT(forge(section, static_cast<std::uint32_t>(count)), HasSubstr("toy.params"))
          << name;
    }
  }
}

TEST_F(KeyFiles, AnotherCircuitsKeyIsRefusedByTheArray) {
  const testing::ToyCircuit other(4);
  const KeyLayout layout(other.shape, QuotientForm::kTextbook);
  const KeyFile file(files.params);
  EXPECT_THAT(complaint([&] { load_proving_key(file, layout); }),
              AllOf(HasSubstr("ic"), HasSubstr("another circuit")));
  EXPECT_THROW(load_proving_key(file, derivative), base::InvalidInput);
}

TEST_F(KeyFiles, DerivedKeyFromPointsEqualsTheTrapdoors) {
  const base::Bytes expected = read(files.derived);
  std::filesystem::remove(files.derived);
  const auto transforms = make_cpu_point_transforms(Domain(derivative.domain_log2));
  std::vector<std::string> steps;
  derive_key(toy.shape, derivative, KeyFile(files.params), files.derived, *transforms,
             [&](std::string_view step, double share) {
               if (share == 0) steps.emplace_back(step);
             });
  EXPECT_THAT(steps, Contains("R: transform 4 of 4"));
  EXPECT_EQ(read(files.derived), expected);
}

TEST_F(KeyFiles, DerivedKeyIsBoundToItsSource) {
  const KeyFile file(files.params);
  DerivedKeyFile(files.derived).require_source(file, derivative);
  const SetupFiles other = {folder / "other.params", folder / "other.vk",
                            folder / "other.derivative"};
  write_keys(toy.shape, Trapdoor::from_seed(8), other);
  const DerivedKeyFile foreign(other.derived);
  EXPECT_THAT(complaint([&] { load_proving_key(file, foreign, derivative); }),
              HasSubstr("made from another key"));
  base::Bytes bytes = read(files.derived);
  bytes[3] ^= 1;
  write(files.derived, bytes);
  EXPECT_THAT(complaint([&] { DerivedKeyFile{files.derived}; }), HasSubstr("not a derived key"));
  bytes[3] ^= 1;
  for (std::size_t length = 0; length < bytes.size(); length += 1 + bytes.size() / 100) {
    write(files.derived, base::ByteView(bytes).first(length));
    EXPECT_THAT(complaint([&] { DerivedKeyFile{files.derived}; }), HasSubstr("toy.derivative"))
        << length;
  }
}

TEST_F(KeyFiles, ChecksAreRememberedForTheVersion) {
  const KeyFile file(files.params);
  EXPECT_FALSE(remembered_check(file.file()).has_value());
  const KeyCheck check = check_key(file);
  EXPECT_EQ(check.blake2b.size(), 32U);
  ASSERT_TRUE(remembered_check(file.file()).has_value());
  EXPECT_EQ(remembered_check(file.file())->blake2b, check.blake2b);
  // The same bytes again are another version.
  write(files.params, read(files.params));
  EXPECT_FALSE(remembered_check(KeyFile(files.params).file()).has_value());
  // A damaged record is no record.
  std::ofstream(folder / "toy.params.checked") << "{\"version\":";
  EXPECT_FALSE(remembered_check(KeyFile(files.params).file()).has_value());
  EXPECT_EQ(check_key(KeyFile(files.params)).blake2b, check.blake2b);
  check_key(DerivedKeyFile(files.derived));
  EXPECT_TRUE(std::filesystem::exists(folder / "toy.derivative.checked"));
}

// What whoever made a key records is what a check finds, and saves it.
TEST_F(KeyFiles, AKeyJustMadeCanBeRecordedAsChecked) {
  const KeyCheck recorded = record_checked_key(files.params);
  ASSERT_TRUE(remembered_check(KeyFile(files.params).file()).has_value());
  EXPECT_EQ(remembered_check(KeyFile(files.params).file())->blake2b, recorded.blake2b);
  std::filesystem::remove(folder / "toy.params.checked");
  EXPECT_EQ(check_key(KeyFile(files.params)).blake2b, recorded.blake2b);
  record_checked_key(files.derived);
  EXPECT_TRUE(remembered_check(DerivedKeyFile(files.derived).file()).has_value());
  EXPECT_THROW(record_checked_key(folder / "absent.params"), CorruptData);
}

TEST_F(KeyFiles, AStoppedCheckFindsNothingAndRemembersNothing) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(check_key(KeyFile(files.params), stop.get_token()).has_value());
  EXPECT_FALSE(check_key(DerivedKeyFile(files.derived), stop.get_token()).has_value());
  EXPECT_FALSE(remembered_check(KeyFile(files.params).file()).has_value());
  EXPECT_FALSE(remembered_check(DerivedKeyFile(files.derived).file()).has_value());
  EXPECT_TRUE(check_key(KeyFile(files.params), std::stop_token()).has_value());
  // What is known needs no time.
  EXPECT_TRUE(check_key(KeyFile(files.params), stop.get_token()).has_value());
}

TEST_F(KeyFiles, PointsOutsideTheSubgroupPassLoadingAndFailTheCheck) {
  const base::Bytes params = read(files.params);
  const KeyFile good(files.params);
  const auto g1 = testing::outside_the_subgroup<curve::Fp>().to_uncompressed();
  const auto g2 = testing::outside_the_subgroup<curve::Fp2>().to_uncompressed();
  const auto put = [](base::Bytes bytes, std::size_t offset, base::ByteView encoding) {
    std::copy(encoding.begin(), encoding.end(),
              bytes.begin() + static_cast<std::ptrdiff_t>(offset));
    return bytes;
  };
  const std::tuple<const char*, Section, base::ByteView> arrays[] = {{"h", good.h(), g1},
                                                                     {"l", good.l(), g1},
                                                                     {"a", good.a(), g1},
                                                                     {"b_g1", good.b_g1(), g1},
                                                                     {"b_g2", good.b_g2(), g2}};
  for (const auto& [name, section, encoding] : arrays) {
    const std::size_t last = section.offset + (section.count - 1) * section.point_bytes;
    write(files.params, put(params, last, encoding));
    EXPECT_NO_THROW(load()) << name;
    EXPECT_THAT(complaint([&] { check_key(KeyFile(files.params)); }),
                AllOf(HasSubstr(fmt::format("{} has a point", name)), HasSubstr("subgroup")));
    EXPECT_FALSE(remembered_check(KeyFile(files.params).file()).has_value());
  }
  // Of a file with a digest that is known to be good, only the digest is looked at.
  const base::Bytes bad = read(files.params);
  const std::string digest = base::to_hex(base::ByteView(hash::blake2b(bad)).first(16));
  EXPECT_THROW(check_key(KeyFile(files.params), std::string(32, '0')), CorruptData);
  EXPECT_EQ(check_key(KeyFile(files.params), digest).blake2b, digest);
  const base::Bytes derived = read(files.derived);
  const std::size_t q = DerivedKeyFile(files.derived).q().offset;
  write(files.derived, put(derived, q, g1));
  EXPECT_THAT(complaint([&] { check_key(DerivedKeyFile(files.derived)); }),
              AllOf(HasSubstr("q has a point"), HasSubstr("subgroup")));
}

TEST_F(KeyFiles, DamagedDerivedPointsAreNamedWithTheirPlace) {
  write_keys(toy.shape, Trapdoor::from_seed(7), files);
  const base::Bytes derived = read(files.derived);
  const DerivedKeyFile good(files.derived);
  const std::pair<const char*, Section> arrays[] = {{"q", good.q()}, {"l", good.l()}};
  for (const auto& [name, section] : arrays) {
    for (const std::size_t index : {std::size_t{0}, section.count - 1}) {
      base::Bytes damaged = derived;
      damaged[section.offset + (index + 1) * section.point_bytes - 1] ^= 1;
      write(files.derived, damaged);
      EXPECT_THAT(complaint([&] {
                    load_proving_key(KeyFile(files.params), DerivedKeyFile(files.derived),
                                     derivative);
                  }),
                  AllOf(HasSubstr("toy.derivative"), HasSubstr(fmt::format("{}[{}]", name, index)),
                        HasSubstr("not on the curve")));
    }
  }
  base::Bytes longer = derived;
  longer.push_back(0);
  write(files.derived, longer);
  EXPECT_THAT(complaint([&] { DerivedKeyFile{files.derived}; }),
              HasSubstr("1 bytes after its end"));
}

// Each element of the verifying key: off the curve, infinite, outside the subgroup.
TEST_F(KeyFiles, DamagedVerifyingKeysAreNamedWithTheElement) {
  const base::Bytes good = read(files.verifying_key);
  const auto g1 = testing::outside_the_subgroup<curve::Fp>().to_uncompressed();
  const auto g2 = testing::outside_the_subgroup<curve::Fp2>().to_uncompressed();
  struct Element {
    const char* name;
    std::size_t offset, bytes;
  };
  const Element elements[] = {{"alpha_g1", 0, 96},    {"beta_g1", 96, 96},   {"beta_g2", 192, 192},
                              {"gamma_g2", 384, 192}, {"delta_g1", 576, 96}, {"delta_g2", 672, 192},
                              {"ic[0]", 868, 96}};
  const auto complaint_with = [&](const Element& element, auto&& change) {
    base::Bytes bad = good;
    change(std::span(bad).subspan(element.offset, element.bytes));
    write(files.verifying_key, bad);
    return complaint([&] { read_verifying_key(files.verifying_key); });
  };
  for (const Element& element : elements) {
    const auto names_it = AllOf(HasSubstr("toy.vk"), HasSubstr(element.name));
    EXPECT_THAT(complaint_with(element, [](auto bytes) { bytes.back() ^= 1; }),
                AllOf(names_it, HasSubstr("not on the curve")));
    EXPECT_THAT(complaint_with(element, [](auto bytes) { bytes[0] |= 0x80; }),
                AllOf(names_it, HasSubstr("bad encoding")));
    EXPECT_THAT(complaint_with(element,
                               [](auto bytes) {
                                 std::fill(bytes.begin(), bytes.end(), std::uint8_t{0});
                                 bytes[0] = 0x40;
                               }),
                AllOf(names_it, HasSubstr("infinity")));
    EXPECT_THAT(complaint_with(element,
                               [&](auto bytes) {
                                 const base::ByteView outside =
                                     bytes.size() == 96 ? base::ByteView(g1) : base::ByteView(g2);
                                 std::copy(outside.begin(), outside.end(), bytes.begin());
                               }),
                AllOf(names_it, HasSubstr("subgroup")));
  }
}

}  // namespace
}  // namespace cuzk::groth16
