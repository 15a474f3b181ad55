// What field8_avx2.hpp and field8_ifma.hpp declare to be compiled once. One text for all vector
// arithmetics, included by their sources, hence without an include guard. CUZK_ARITHMETIC is the
// arithmetic's namespace in cuzk::curve, and CUZK_TARGET the attribute of its functions.
#ifndef CUZK_ARITHMETIC
#error "this text is included by an arithmetic's source"
#endif

namespace cuzk::curve::CUZK_ARITHMETIC {

CUZK_TARGET void multiply_fp(const Fp8& a, const Fp8& b, Fp8& out) {
  multiply_pairs<1, FpVectorField, Fp8>({&a}, {&b}, out);
}

CUZK_TARGET void multiply_sum_fp(const Fp8& a, const Fp8& b, const Fp8& c, const Fp8& d, Fp8& out) {
  multiply_pairs<2, FpVectorField, Fp8>({&a, &c}, {&b, &d}, out);
}

CUZK_TARGET void square_fp(const Fp8& a, Fp8& out) { square(a, out); }

CUZK_TARGET void load_fp(const std::uint64_t* const (&sources)[8], Fp8& out) {
  load_lanes(sources, out);
}

CUZK_TARGET void store_fp(const Fp8& value, std::uint64_t* const (&targets)[8]) {
  store_lanes(value, targets);
}

}  // namespace cuzk::curve::CUZK_ARITHMETIC

#undef CUZK_ARITHMETIC
#undef CUZK_TARGET
