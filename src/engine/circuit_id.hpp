#pragma once

#include "filecoin/parameter_files.hpp"
#include "filecoin/sector.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cuzk::engine {

/// A circuit of one sector size, by the name that it has on the wire, in configuration and metrics:
/// "porep-32g", "wpost-32g", "winning-32g", "snap-32g"; other sizes "2k", "4k", "16k", "32k", "8m",
/// "16m", "512m", "1g", "64g".
struct CircuitId {
  filecoin::CircuitKind kind;
  filecoin::SectorSize size;

  std::string to_string() const;
  /// Of WindowPoSt or WinningPoSt: of the urgent lane, and with a witness of field elements.
  bool is_post() const {
    return kind == filecoin::CircuitKind::kWindowPost ||
           kind == filecoin::CircuitKind::kWinningPost;
  }
  /// Throws base::InvalidInput that lists the forms for any other text, and for a circuit that does
  /// not exist.
  static CircuitId parse(std::string_view text);
  /// The circuits that the network uses: every kind but the Poseidon update, in every size that has
  /// registered proofs. WinningPoSt first.
  static const std::vector<CircuitId>& of_network();

  friend bool operator==(const CircuitId&, const CircuitId&) = default;
  friend bool operator<(const CircuitId& a, const CircuitId& b) {
    return a.kind != b.kind ? a.kind < b.kind : a.size.bytes() < b.size.bytes();
  }
};

}  // namespace cuzk::engine
