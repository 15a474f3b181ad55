#pragma once

#include "curve/fr.hpp"

#include <array>
#include <cstdint>

namespace cuzk::hash {

/// Two ways to a sum of products a_0·b_0 + a_1·b_1 + ..., both with add(a, b) and sum(). Poseidon's
/// matrices are most of its work, and they are such sums.

/// Multiplies and adds in the field, term by term.
class ReducedProductSum {
 public:
  void add(const curve::Fr& a, const curve::Fr& b) { sum_ += a * b; }
  curve::Fr sum() const { return sum_; }

 private:
  curve::Fr sum_;
};

/// Whether LazyProductSum can be used: it is built for x86-64 and this processor has the
/// instructions MULX (BMI2), ADCX and ADOX (ADX).
bool lazy_products_supported();

#if defined(__x86_64__) && !defined(CUZK_NO_PRODUCT_SUM_ASM)

/// Adds the 512-bit products as integers in nine limbs and reduces once, at the end: half of the
/// cost of a field multiplication is its reduction. At most kMaxProducts terms.
/// What it gains stands in poseidon.cpp.
class LazyProductSum {
 public:
  /// Of n terms the sum is below n·r², of which Montgomery reduction makes less than
  /// n·r²/2^256 + r; sum() needs that to be below 8·r, and 0.4529·n + 1 < 8.
  static constexpr unsigned kMaxProducts = 15;

  void add(const curve::Fr& a, const curve::Fr& b);
  curve::Fr sum() const;

 private:
  std::uint64_t limbs_[9] = {};
};

// clang-format off

// p += a[i]·b at limb i, whose last limb p4 is new: low halves in the carry chain of ADCX, high
// halves in that of ADOX.
#define CUZK_HASH_ROW(i, p0, p1, p2, p3, p4)                                              \
  "movq 8*" #i "(%[a]), %%rdx\n\t"                                                        \
  "xorl %%eax, %%eax\n\t"                                                                 \
  "mulxq (%[b]), %%rax, %%rcx\n\t    adcxq %%rax, %[" #p0 "]\n\t adoxq %%rcx, %[" #p1 "]\n\t"  \
  "mulxq 8(%[b]), %%rax, %%rcx\n\t   adcxq %%rax, %[" #p1 "]\n\t adoxq %%rcx, %[" #p2 "]\n\t"  \
  "mulxq 16(%[b]), %%rax, %%rcx\n\t  adcxq %%rax, %[" #p2 "]\n\t adoxq %%rcx, %[" #p3 "]\n\t"  \
  "mulxq 24(%[b]), %%rax, %[" #p4 "]\n\t adcxq %%rax, %[" #p3 "]\n\t"                     \
  "movl $0, %%eax\n\t"                                                                    \
  "adoxq %%rax, %[" #p4 "]\n\t"                                                           \
  "adcxq %%rax, %[" #p4 "]\n\t"

inline void LazyProductSum::add(const curve::Fr& a, const curve::Fr& b) {
  std::uint64_t p0, p1, p2, p3, p4, p5, p6, p7;
  asm volatile(
      "movq (%[a]), %%rdx\n\t"
      "mulxq (%[b]), %[p0], %[p1]\n\t"
      "mulxq 8(%[b]), %%rax, %[p2]\n\t   addq %%rax, %[p1]\n\t"
      "mulxq 16(%[b]), %%rax, %[p3]\n\t  adcq %%rax, %[p2]\n\t"
      "mulxq 24(%[b]), %%rax, %[p4]\n\t  adcq %%rax, %[p3]\n\t"
      "adcq $0, %[p4]\n\t"
      CUZK_HASH_ROW(1, p1, p2, p3, p4, p5)
      CUZK_HASH_ROW(2, p2, p3, p4, p5, p6)
      CUZK_HASH_ROW(3, p3, p4, p5, p6, p7)
      "addq %[p0], (%[sum])\n\t"
      "adcq %[p1], 8(%[sum])\n\t"
      "adcq %[p2], 16(%[sum])\n\t"
      "adcq %[p3], 24(%[sum])\n\t"
      "adcq %[p4], 32(%[sum])\n\t"
      "adcq %[p5], 40(%[sum])\n\t"
      "adcq %[p6], 48(%[sum])\n\t"
      "adcq %[p7], 56(%[sum])\n\t"
      "adcq $0, 64(%[sum])\n\t"
      : [p0] "=&r"(p0), [p1] "=&r"(p1), [p2] "=&r"(p2), [p3] "=&r"(p3), [p4] "=&r"(p4),
        [p5] "=&r"(p5), [p6] "=&r"(p6), [p7] "=&r"(p7)
      : [a] "r"(a.limbs()), [b] "r"(b.limbs()), [sum] "r"(limbs_)
      : "rax", "rcx", "rdx", "cc", "memory");  // all registers but two: none left for "m" operands
}

#undef CUZK_HASH_ROW

// clang-format on

#endif

}  // namespace cuzk::hash
