#include "curve/field8_ifma.hpp"

#include "curve/vector_lanes_ifma.hpp"

#if defined(__x86_64__)

namespace cuzk::curve::ifma {

CUZK_IFMA void multiply_fp(const Fp8& a, const Fp8& b, Fp8& out) {
  multiply_pairs<1, FpVectorField, Fp8>({&a}, {&b}, out);
}

CUZK_IFMA void multiply_sum_fp(const Fp8& a, const Fp8& b, const Fp8& c, const Fp8& d, Fp8& out) {
  multiply_pairs<2, FpVectorField, Fp8>({&a, &c}, {&b, &d}, out);
}

CUZK_IFMA void square_fp(const Fp8& a, Fp8& out) { square(a, out); }

CUZK_IFMA void load_fp(const std::uint64_t* const (&sources)[8], Fp8& out) {
  load_lanes(sources, out);
}

CUZK_IFMA void store_fp(const Fp8& value, std::uint64_t* const (&targets)[8]) {
  store_lanes(value, targets);
}

}  // namespace cuzk::curve::ifma

#endif
