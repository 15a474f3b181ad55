#include "groth16/ops/cpu/ntt_passes.hpp"

#include "curve/arithmetic.hpp"

#include <algorithm>

namespace cuzk::groth16 {

using curve::Fr;

std::vector<Fr> powers(const Fr& base, std::size_t count) {
  std::vector<Fr> out(count);
  Fr power = Fr::one();
  for (Fr& value : out) {
    value = power;
    power *= base;
  }
  return out;
}

namespace {

const ntt_kernels::Kernels& kernels_of(curve::Arithmetic arithmetic) {
  const curve::Arithmetic resolved = curve::resolve(arithmetic);
#if defined(__x86_64__)
  if (resolved == curve::Arithmetic::kIfma) return ntt_kernels::ifma_kernels();
  if (resolved == curve::Arithmetic::kAvx2) return ntt_kernels::avx2_kernels();
#endif
  return ntt_kernels::scalar_kernels();
}

}  // namespace

NttPasses::NttPasses(unsigned log_n, const Fr& omega, curve::Arithmetic arithmetic)
    : log_n_(log_n), kernels_(&kernels_of(arithmetic)) {
  // As few passes as tiles allow, of sizes as equal as possible.
  const unsigned needed = (log_n + ntt_kernels::kMaxLogRows - 1) / ntt_kernels::kMaxLogRows;
  const unsigned count = std::max(needed, 2U);
  unsigned left = log_n;
  Fr root = omega;  // of order 2^left
  for (unsigned pass = 0; pass < count; ++pass) {
    const unsigned log_rows = left / (count - pass), log_columns = left - log_rows;
    Fr row_root = root;
    for (unsigned i = 0; i < log_columns; ++i) row_root = row_root.square();
    passes_.push_back({log_rows, log_columns, root, {}});
    passes_.back().row_twiddles.plain = powers(row_root, std::size_t{1} << log_rows >> 1);
    kernels_->prepare(passes_.back().row_twiddles);
    for (unsigned i = 0; i < log_rows; ++i) root = root.square();
    left = log_columns;
  }
}

}  // namespace cuzk::groth16
