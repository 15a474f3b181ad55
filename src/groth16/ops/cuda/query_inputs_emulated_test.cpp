#include "groth16/ops/cuda/query_inputs_check.cuh"

#include <gtest/gtest.h>

namespace cuzk::groth16::cuda::checks {
namespace {

TEST(QueryInputsEmulated, Selections) {
  for (const SelectionCase& c : selection_cases(3)) EXPECT_EQ(check_selection(c, {}), "");
}

TEST(QueryInputsEmulated, MontgomeryToPlain) {
  for (const std::size_t count : {0, 1, 4, 255, 256, 257})
    EXPECT_EQ(check_montgomery_to_plain(count, {}), "");
}

TEST(QueryInputsEmulated, RejectWhatDoesNotFit) {
  const std::vector<std::uint64_t> mask(2, ~std::uint64_t{0});
  const Selection selection(mask);
  std::vector<std::byte> memory(4096);
  base::cuda::Carver carver({memory.data(), memory.size()});
  const SelectionView view = SelectionView::carve(selection, carver);
  std::vector<std::uint32_t> bits(4), out(5);
  std::vector<Fr> elements(128);
  EXPECT_THROW(select_bits(view, {bits.data(), 4}, {out.data(), 5}, {}), base::InvalidInput);
  EXPECT_THROW(select_bits(view, {bits.data(), 3}, {out.data(), 4}, {}), base::InvalidInput);
  EXPECT_THROW(select_elements(view, elements.data(), {elements.data(), 127}, {}),
               base::InvalidInput);
}

}  // namespace
}  // namespace cuzk::groth16::cuda::checks
