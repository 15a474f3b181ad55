#include "engine/circuit_id.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace cuzk::engine {

namespace {

using filecoin::CircuitKind;
using filecoin::SectorSize;

constexpr std::array<std::pair<CircuitKind, std::string_view>, 4> kKinds = {
    {{CircuitKind::kWinningPost, "winning"},
     {CircuitKind::kWindowPost, "wpost"},
     {CircuitKind::kPorep, "porep"},
     {CircuitKind::kUpdate, "snap"}}};

// "32GiB" -> "32g".
std::string suffix_of(SectorSize size) {
  std::string text = size.to_string();
  text.resize(text.size() - 2);
  text.back() = static_cast<char>(text.back() - 'A' + 'a');
  return text;
}

}  // namespace

std::string CircuitId::to_string() const {
  const auto* const found =
      std::ranges::find(kKinds, kind, &std::pair<CircuitKind, std::string_view>::first);
  const std::string_view name = found == kKinds.end() ? filecoin::to_string(kind) : found->second;
  return std::string(name) + "-" + suffix_of(size);
}

CircuitId CircuitId::parse(std::string_view text) {
  for (const auto& [kind, name] : kKinds) {
    for (const SectorSize size : SectorSize::all()) {
      const CircuitId id{kind, size};
      if (filecoin::circuit_exists(kind, size) && id.to_string() == text) return id;
    }
  }
  base::fail<base::InvalidInput>(
      "unknown circuit \"{}\": known are porep-, wpost-, winning- and snap- with a sector size of "
      "2k, 8m, 512m, 32g, 64g, for example porep-32g",
      text);
}

const std::vector<CircuitId>& CircuitId::of_network() {
  static const std::vector<CircuitId> all = [] {
    std::vector<CircuitId> out;
    for (const auto& [kind, name] : kKinds) {
      for (const SectorSize size : SectorSize::all()) {
        if (filecoin::published_digests(kind, size)) out.push_back({kind, size});
      }
    }
    return out;
  }();
  return all;
}

}  // namespace cuzk::engine
