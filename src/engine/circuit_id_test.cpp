#include "engine/circuit_id.hpp"

#include "base/error.hpp"

#include <gtest/gtest.h>

#include <set>

namespace cuzk::engine {
namespace {

using filecoin::CircuitKind;
using filecoin::SectorSize;

TEST(CircuitId, HasTheNamesOfTheWire) {
  const auto name = [](CircuitKind kind, std::string_view size) {
    return CircuitId{kind, SectorSize::parse(size)}.to_string();
  };
  EXPECT_EQ(name(CircuitKind::kPorep, "32GiB"), "porep-32g");
  EXPECT_EQ(name(CircuitKind::kPorep, "64GiB"), "porep-64g");
  EXPECT_EQ(name(CircuitKind::kWindowPost, "32GiB"), "wpost-32g");
  EXPECT_EQ(name(CircuitKind::kWinningPost, "32GiB"), "winning-32g");
  EXPECT_EQ(name(CircuitKind::kUpdate, "32GiB"), "snap-32g");
  EXPECT_EQ(name(CircuitKind::kPorep, "2KiB"), "porep-2k");
  EXPECT_EQ(name(CircuitKind::kUpdate, "512MiB"), "snap-512m");
}

TEST(CircuitId, EveryNameParsesBack) {
  std::set<std::string> names;
  for (const CircuitKind kind : {CircuitKind::kPorep, CircuitKind::kWinningPost,
                                 CircuitKind::kWindowPost, CircuitKind::kUpdate}) {
    for (const SectorSize size : SectorSize::all()) {
      const CircuitId id{kind, size};
      EXPECT_TRUE(names.insert(id.to_string()).second) << id.to_string();
      if (filecoin::circuit_exists(kind, size)) {
        EXPECT_EQ(CircuitId::parse(id.to_string()), id);
      } else {
        EXPECT_THROW(CircuitId::parse(id.to_string()), base::InvalidInput);
      }
    }
  }
  for (const char* text : {"", "porep", "porep-", "porep-32G", "porep-32gib", "post-32g",
                           "porep-33g", " porep-32g", "porep-32g ", "update-32g"}) {
    EXPECT_THROW(CircuitId::parse(text), base::InvalidInput) << text;
  }
}

TEST(CircuitId, TheNetworkHasFourKindsInFiveSizes) {
  const auto& all = CircuitId::of_network();
  EXPECT_EQ(all.size(), 20U);
  EXPECT_EQ(all.front().kind, CircuitKind::kWinningPost) << "first to be loaded";
  for (const char* name : {"porep-2k", "wpost-8m", "winning-512m", "snap-32g", "porep-64g"})
    EXPECT_NE(std::find(all.begin(), all.end(), CircuitId::parse(name)), all.end()) << name;
}

}  // namespace
}  // namespace cuzk::engine
