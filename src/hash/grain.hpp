#pragma once

#include "curve/fr.hpp"

#include <vector>

namespace cuzk::hash {

/// Poseidon's round constants: `count` elements drawn from the Grain LFSR in self-shrinking mode,
/// seeded by what describes the permutation. [Poseidon, ePrint 2019/458, appendix E]
///
/// State: 80 bits b_0 ... b_79 = field (2 bits, 1 = prime), S-box (4 bits, 1 = x^5 as Filecoin
/// numbers it), bits of the modulus (12 bits, 255), width (12), full rounds (10), partial rounds
/// (10), then 30 ones; each number most significant bit first. Step: b_(i+80) = b_(i+62) + b_(i+51)
/// + b_(i+38) + b_(i+23) + b_(i+13) + b_i. The first 160 new bits are discarded; of each following
/// pair the second is output if the first is 1. 255 output bits, most significant first, are an
/// integer, discarded unless below r.
std::vector<curve::Fr> grain_constants(unsigned width, unsigned full_rounds,
                                       unsigned partial_rounds, std::size_t count);

}  // namespace cuzk::hash
