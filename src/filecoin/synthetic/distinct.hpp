#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace cuzk::filecoin::synthetic {

/// The different ones of `values`, ascending.
inline std::vector<std::uint64_t> distinct(std::vector<std::uint64_t> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

}  // namespace cuzk::filecoin::synthetic
