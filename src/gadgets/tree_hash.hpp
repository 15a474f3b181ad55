#pragma once

namespace cuzk::gadgets {

/// How the nodes of a tree hash: tree D, or trees C and R-last.
enum class TreeHash { kSha256, kPoseidon };

}  // namespace cuzk::gadgets
