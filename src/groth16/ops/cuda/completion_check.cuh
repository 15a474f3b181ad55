#pragma once

#include "curve/device/testing.hpp"
#include "groth16/ops/cuda/check.hpp"
#include "groth16/ops/cuda/completion.cuh"
#include "groth16/ops/cuda/residue.hpp"
#include "r1cs/implied_fields.hpp"
#include "r1cs/shape_builder.hpp"
#include "r1cs/witness_builder.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

/// Completion of witnesses against their values, computed as they were made.
namespace cuzk::groth16::cuda::checks {

struct CompletionCase {
  std::uint32_t copies, chains, steps;
  std::uint64_t seed;

  std::string name() const {
    return std::to_string(copies) + " copies, " + std::to_string(chains) + " chains, " +
           std::to_string(steps) + " steps";
  }
};

inline std::vector<CompletionCase> completion_cases() {
  return {{2, 1, 1, 1},   {3, 2, 20, 2},  {31, 3, 40, 3},
          {32, 1, 70, 4}, {33, 2, 30, 5}, {65, 3, 100, 6}};
}

/// A circuit of no meaning whose repeated block has chains of implied fields: sums, products and
/// squares of sums over results, given fields, bits and ONE, and products with nothing, with
/// coefficients ±1, small and of any size, solved for with either sign. A field before the block
/// and one after it.
class ChainCircuit {
 public:
  explicit ChainCircuit(const CompletionCase& c) : shape(make_shape(c)), witness(make_witness(c)) {}

  r1cs::Shape shape;
  r1cs::Witness witness;

 private:
  template <class CS>
  struct Known {
    r1cs::VariableOf<CS> variable{};
    curve::Fr value;
  };
  /// Numbers that depend on the seed and the row, not on the copy.
  class Draws {
   public:
    explicit Draws(std::uint64_t seed) : state_(seed * 1000003) {}
    std::uint64_t below(std::uint64_t bound) {
      return curve::device::testing::mix(state_++) % bound;
    }
    curve::Fr coefficient() {
      switch (below(4)) {
        case 0:
          return curve::Fr::one();
        case 1:
          return -curve::Fr::one();
        case 2:
          return curve::Fr::from_u64(2 + below(6));
        default:
          return residue(curve::device::testing::random_fr(below(1U << 20)));
      }
    }

   private:
    std::uint64_t state_;
  };
  template <class CS>
  using Sum = std::vector<std::pair<Known<CS>, curve::Fr>>;

  template <class CS>
  static Sum<CS> draw_sum(Draws& draws, const std::vector<Known<CS>>& from, std::uint64_t most) {
    // Variables once each: runs of `from`.
    Sum<CS> sum;
    const std::uint64_t count = 1 + draws.below(std::min<std::uint64_t>(most, from.size()));
    const std::uint64_t first = draws.below(from.size() - count + 1);
    for (std::uint64_t i = 0; i < count; ++i)
      sum.emplace_back(from[first + i], draws.coefficient());
    return sum;
  }
  template <class CS>
  static curve::Fr value_of(const Sum<CS>& sum) {
    curve::Fr value;
    for (const auto& [known, coefficient] : sum) value += coefficient * known.value;
    return value;
  }
  template <class CS>
  static auto filler(const Sum<CS>& sum) {
    return [&sum](auto& lc) {
      for (const auto& [known, coefficient] : sum) lc.add(known.variable, coefficient);
    };
  }
  template <class CS>
  static Known<CS> field(CS& cs, const curve::Fr& value) {
    return {cs.alloc_aux(r1cs::known<CS>([&] { return value; })), value};
  }

  template <class CS>
  static void step(CS& cs, Draws& draws, std::vector<Known<CS>>& known) {
    const Sum<CS> a = draw_sum(draws, known, draws.below(8) == 0 ? 80 : 5);
    Sum<CS> b = draw_sum(draws, known, 3);
    const Sum<CS> c = draw_sum(draws, known, 4);
    const std::uint64_t kind = draws.below(8);
    if (kind < 3) b = {{known.front(), curve::Fr::one()}};  // ONE
    if (kind == 3 || kind == 4) b = a;
    if (kind == 5) b.clear();
    const bool negative = draws.below(2) == 0;
    const curve::Fr rest = value_of(a) * value_of(b) - value_of(c);
    const Known<CS> result = field(cs, negative ? -rest : rest);
    cs.enforce("step", filler(a), filler(b), [&](auto& lc) {
      filler(c)(lc);
      lc.add(result.variable, negative ? -curve::Fr::one() : curve::Fr::one());
    });
    known.push_back(result);
  }

  template <class CS>
  static void copy_body(CS& cs, std::size_t i, const CompletionCase& c) {
    Draws draws(c.seed);
    std::vector<Known<CS>> known(1);
    known[0].value = curve::Fr::one();
    if constexpr (CS::kHasConstraints) known[0].variable = r1cs::Variable::one();
    cs.alloc_input(r1cs::known<CS>([&] { return curve::Fr::from_u64(3 + i); }));
    for (unsigned b = 0; b < 5; ++b) {
      const bool bit = (i + b) % 3 == 0;
      known.push_back({cs.alloc_bit(r1cs::known<CS>([&] { return bit; })),
                       bit ? curve::Fr::one() : curve::Fr::zero()});
    }
    const curve::Fr edges[3] = {curve::Fr::zero(), -curve::Fr::one(),
                                residue(curve::device::testing::random_fr(i))};
    for (unsigned g = 0; g < 6; ++g) known.push_back(field(cs, edges[(i + g) % 3]));
    // Mentioned before anything is computed from them.
    cs.enforce(
        "given",
        [&](auto& lc) {
          for (const Known<CS>& k : known) lc.add(k.variable, curve::Fr::one());
        },
        [](auto&) {}, [](auto&) {});
    for (std::uint32_t chain = 0; chain < c.chains; ++chain) {
      std::vector<Known<CS>> own = known;
      for (std::uint32_t s = 0; s < c.steps; ++s) step(cs, draws, own);
    }
  }
  template <class CS>
  static void synthesize(CS& cs, const CompletionCase& c) {
    field(cs, curve::Fr::from_u64(17));
    cs.repeat(c.copies, [&](CS& copy, std::size_t i) { copy_body(copy, i, c); });
    field(cs, curve::Fr::from_u64(19));
  }
  static r1cs::Shape make_shape(const CompletionCase& c) {
    r1cs::ShapeBuilder builder;
    synthesize<r1cs::SymbolicSystem>(builder, c);
    return builder.finish();
  }
  r1cs::Witness make_witness(const CompletionCase& c) const {
    r1cs::WitnessBuilder builder(shape);
    synthesize(builder, c);
    return builder.finish();
  }
};

inline std::string check_completion(const CompletionCase& c, base::cuda::StreamRef stream) {
  const ChainCircuit circuit(c);
  const std::string name = c.name();
  const r1cs::ImpliedFields implied(circuit.shape);
  if (implied.num_given() != 2 + 6 * c.copies) return "what is implied was not found: " + name;
  const CompletionRows rows =
      lay_out_completion(circuit.shape, VariableMap(circuit.shape), implied);
  const Guarded<std::byte> memory(WitnessCompletion::bytes(rows), "steps of a circuit", stream);
  const WitnessCompletion completion(rows, memory.span(), stream);
  base::cuda::synchronize(stream);

  const r1cs::Witness given = r1cs::leave_out_implied(circuit.shape, implied, circuit.witness);
  std::vector<Fr> uploaded, wanted, inputs;
  for (const curve::Fr& x : given.fields) uploaded.push_back(montgomery(x));
  for (const curve::Fr& x : given.inputs) inputs.push_back(plain(x));
  wanted = inputs;
  for (const curve::Fr& x : circuit.witness.fields) wanted.push_back(plain(x));
  std::vector<std::uint64_t> words = given.bits;
  words.push_back(1);
  const base::cuda::DeviceBuffer<Fr> fields = checks::uploaded(uploaded, "given fields", stream);
  const base::cuda::DeviceBuffer<std::uint32_t> bits(2 * words.size(), "bits");
  base::cuda::copy_bytes(bits.data(), words.data(), 8 * words.size(), stream);
  const Guarded<Fr> elements(wanted.size(), "elements", stream);
  base::cuda::fill_bytes(elements.span().data, 0xff, wanted.size() * sizeof(Fr), stream);
  base::cuda::copy_bytes(elements.span().data, inputs.data(), inputs.size() * sizeof(Fr), stream);
  base::cuda::synchronize(stream);
  completion.run(fields.data(), bits.data(), elements.span().data, stream);
  const std::vector<Fr> got = elements.download();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!equal(got[i], wanted[i])) return "element " + std::to_string(i) + " is wrong: " + name;
  }
  if (elements.broken() || memory.broken()) return "written beyond its memory: " + name;
  return {};
}

}  // namespace cuzk::groth16::cuda::checks
