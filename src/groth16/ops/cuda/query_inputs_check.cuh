#pragma once

#include "groth16/ops/cuda/check.hpp"
#include "groth16/ops/cuda/query_inputs.cuh"
#include "groth16/ops/cuda/residue.hpp"

#include <string>
#include <vector>

/// Selections and conversions of a witness against loops.
namespace cuzk::groth16::cuda::checks {

struct SelectionCase {
  std::size_t size;     // entries
  unsigned of_1024;     // how many of 1,024 entries are selected, on the average
  std::size_t run = 1;  // in runs of so many
};

inline std::vector<SelectionCase> selection_cases(std::size_t scale) {
  return {{0, 512},
          {1, 1024},
          {1, 0},
          {31, 1024},
          {32, 1024},
          {33, 1024},
          {64, 512},
          {65, 512},
          {1000, 0},
          {1000, 1024},
          {1000, 1021},
          {1000, 256},
          {5000, 3},
          {2048 * scale, 512},
          {2048 * scale, 1020},
          {2048 * scale, 10},
          {2048 * scale, 300, 7},
          {2048 * scale, 512, 64}};
}

inline std::vector<std::uint64_t> selection_mask(const SelectionCase& c) {
  std::vector<std::uint64_t> mask((c.size + 63) / 64);
  for (std::size_t i = 0; i < c.size; ++i) {
    if (mix(i / c.run + 77) % 1024 < c.of_1024) mask[i / 64] |= std::uint64_t{1} << i % 64;
  }
  return mask;
}

inline std::string check_selection(const SelectionCase& c, base::cuda::StreamRef stream) {
  const std::string name = "selection of " + std::to_string(c.of_1024) + " in 1024 of " +
                           std::to_string(c.size) + " in runs of " + std::to_string(c.run);
  const std::vector<std::uint64_t> mask = selection_mask(c);
  const Selection selection(mask);
  base::cuda::Carver measure;
  SelectionView::carve(selection, measure);
  const Guarded<std::byte> memory(measure.bytes_used(), "selection", stream);
  base::cuda::Carver carver(memory.span());
  const SelectionView view = SelectionView::carve(selection, carver);
  view.upload(selection, stream);

  std::vector<std::uint32_t> bits(2 * mask.size());
  std::vector<Fr> elements(c.size);
  for (std::size_t w = 0; w < bits.size(); ++w) bits[w] = static_cast<std::uint32_t>(mix(w + 5));
  for (std::size_t i = 0; i < c.size; ++i) elements[i] = curve::device::testing::random_fr(i);
  std::vector<std::uint32_t> wanted_bits;
  std::vector<Fr> wanted_elements;
  for (std::size_t i = 0; i < c.size; ++i) {
    if ((mask[i / 64] >> i % 64 & 1) == 0) continue;
    const std::size_t k = wanted_elements.size();
    if (k % 32 == 0) wanted_bits.push_back(0);
    wanted_bits.back() |= (bits[i / 32] >> i % 32 & 1u) << k % 32;
    wanted_elements.push_back(elements[i]);
  }
  if (view.count != wanted_elements.size()) return "count of " + name + " is wrong";

  const auto device_bits = uploaded(bits, "bits", stream);
  const auto device_elements = uploaded(elements, "elements", stream);
  const Guarded<std::uint32_t> out_bits(view.words(), "selected bits", stream);
  const Guarded<Fr> out_elements(view.count, "selected elements", stream);
  select_bits(view, device_bits.const_span(), out_bits.span(), stream);
  select_elements(view, device_elements.data(), out_elements.span(), stream);
  if (out_bits.download() != wanted_bits) return "bits of " + name + " are wrong";
  const std::vector<Fr> got = out_elements.download();
  for (std::size_t k = 0; k < got.size(); ++k) {
    if (!equal(got[k], wanted_elements[k]))
      return "element " + std::to_string(k) + " of " + name + " is wrong";
  }
  if (out_bits.broken() || out_elements.broken() || memory.broken())
    return name + " wrote beyond its memory";
  return {};
}

inline std::string check_montgomery_to_plain(std::size_t count, base::cuda::StreamRef stream) {
  std::vector<curve::Fr> values = {curve::Fr::zero(), curve::Fr::one(), -curve::Fr::one(),
                                   curve::Fr::from_montgomery({1, 0, 0, 0})};
  for (std::size_t i = values.size(); i < count; ++i)
    values.push_back(residue(curve::device::testing::random_fr(i)));
  values.resize(count);
  const Guarded<Fr> elements(count, "elements", stream);
  std::vector<Fr> uploaded(count);
  for (std::size_t i = 0; i < count; ++i) uploaded[i] = montgomery(values[i]);
  base::cuda::copy_bytes(elements.data(), uploaded.data(), count * sizeof(Fr), stream);
  montgomery_to_plain(elements.span(), stream);
  const std::vector<Fr> got = elements.download();
  for (std::size_t i = 0; i < count; ++i) {
    if (!equal(got[i], plain(values[i]))) return "element " + std::to_string(i) + " is wrong";
  }
  return elements.broken() ? "the conversion wrote beyond its memory" : "";
}

}  // namespace cuzk::groth16::cuda::checks
