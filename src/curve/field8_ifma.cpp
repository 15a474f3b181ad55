#include "curve/field8_ifma.hpp"

#include "curve/vector_lanes_ifma.hpp"

#if defined(__x86_64__)

#define CUZK_ARITHMETIC ifma
#define CUZK_TARGET CUZK_IFMA
#include "curve/field8_products.hpp"

#endif
