#include "curve/field8_avx2.hpp"

#if defined(__x86_64__)

#define CUZK_ARITHMETIC avx2
#define CUZK_TARGET CUZK_AVX2
#include "curve/field8_products.hpp"

#endif
