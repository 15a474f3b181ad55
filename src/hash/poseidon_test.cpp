#include "hash/poseidon.hpp"

#include "base/error.hpp"
#include "hash/grain.hpp"
#include "hash/poseidon_permutation.hpp"
#include "hash/product_sum.hpp"
#include "hash/sha256.hpp"
#include "support/golden.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace cuzk::hash {
namespace {

using curve::Fr;

Fr fr_from_hex(const std::string& hex) {
  return Fr::from_bytes_le(base::bytes32_from_hex(hex).value()).value();
}

std::string digest_of(const std::vector<Fr>& elements) {
  Sha256 hasher;
  for (const Fr& element : elements) hasher.update(element.to_bytes_le());
  return base::to_hex(hasher.finish());
}

std::vector<Fr> row_major(const Matrix& m) {
  std::vector<Fr> out;
  for (const auto& row : m) out.insert(out.end(), row.begin(), row.end());
  return out;
}

const std::vector<std::pair<std::string, PoseidonDomain>> kDomains = {
    {"merkle 2", PoseidonDomain::kMerkle2},
    {"merkle 4", PoseidonDomain::kMerkle4},
    {"merkle 8", PoseidonDomain::kMerkle8},
    {"merkle 11", PoseidonDomain::kMerkle11},
    {"gen_randomness 2", PoseidonDomain::kGenRandomness2}};

/// The permutation as the paper defines it: dense matrix, all constants before the S-boxes.
Fr poseidon_by_definition(PoseidonDomain domain, std::span<const Fr> inputs) {
  const PoseidonConstants& constants = poseidon_constants(domain);
  const unsigned t = constants.width, half = constants.full_rounds / 2;
  const unsigned rounds = constants.full_rounds + constants.partial_rounds;
  const std::vector<Fr> keys =
      grain_constants(t, constants.full_rounds, constants.partial_rounds, rounds * t);
  std::vector<Fr> state = {constants.domain_tag};
  state.insert(state.end(), inputs.begin(), inputs.end());
  for (unsigned round = 0; round < rounds; ++round) {
    const bool partial = round >= half && round < half + constants.partial_rounds;
    for (unsigned i = 0; i < t; ++i) {
      state[i] += keys[round * t + i];
      if (i == 0 || !partial) state[i] = state[i].pow(5);
    }
    state = multiply(constants.mds, state);
  }
  return state[1];
}

TEST(Poseidon, GoldenConstantsAndHashes) {
  const nlohmann::json golden = testing::golden_json("vectors.json").at("poseidon");
  ASSERT_EQ(golden.size(), kDomains.size());
  for (const auto& [name, domain] : kDomains) {
    SCOPED_TRACE(name);
    const nlohmann::json& expected = golden.at(name);
    const PoseidonConstants& constants = poseidon_constants(domain);
    EXPECT_EQ(constants.arity, expected.at("arity").get<unsigned>());
    EXPECT_EQ(constants.width, constants.arity + 1);
    EXPECT_EQ(constants.full_rounds, expected.at("full_rounds").get<unsigned>());
    EXPECT_EQ(constants.partial_rounds, expected.at("partial_rounds").get<unsigned>());
    EXPECT_EQ(constants.domain_tag, fr_from_hex(expected.at("domain_tag")));
    const nlohmann::json& compressed = expected.at("compressed_round_constants");
    ASSERT_EQ(constants.compressed_round_constants.size(),
              compressed.at("count").get<std::size_t>());
    EXPECT_EQ(constants.compressed_round_constants.front(), fr_from_hex(compressed.at("first")));
    EXPECT_EQ(constants.compressed_round_constants.back(), fr_from_hex(compressed.at("last")));
    EXPECT_EQ(digest_of(constants.compressed_round_constants), compressed.at("sha256"));
    EXPECT_EQ(digest_of(row_major(constants.mds)), expected.at("mds_sha256"));
    EXPECT_EQ(digest_of(row_major(constants.pre_sparse)), expected.at("pre_sparse_sha256"));
    ASSERT_GE(expected.at("cases").size(), 7u);
    for (const nlohmann::json& test : expected.at("cases")) {
      std::vector<Fr> inputs;
      for (const nlohmann::json& input : test.at("in")) inputs.push_back(fr_from_hex(input));
      EXPECT_EQ(poseidon(domain, inputs), fr_from_hex(test.at("out")));
      EXPECT_EQ(poseidon_by_definition(domain, inputs), fr_from_hex(test.at("out")));
    }
  }
}

/// Both ways to sum products, on values that fill the limbs.
std::vector<Fr> edge_values() {
  std::vector<Fr> out = {Fr::zero(),
                         Fr::one(),
                         -Fr::one(),
                         Fr::from_u64(~std::uint64_t{0}),
                         Fr::power_of_two(253),
                         -Fr::power_of_two(32)};
  // The greatest Montgomery form, r - 1, and the one whose low limbs are all ones.
  out.push_back(Fr::from_montgomery(
      {Fr::kModulus[0] - 1, Fr::kModulus[1], Fr::kModulus[2], Fr::kModulus[3]}));
  out.push_back(Fr::from_montgomery(
      {~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0}, Fr::kModulus[3] - 1}));
  for (unsigned i = 2; i < 20; ++i) out.push_back(Fr::from_u64(i).inverse());
  return out;
}

#if defined(__x86_64__) && !defined(CUZK_NO_PRODUCT_SUM_ASM)
TEST(LazyProductSum, EqualsTheReducedSum) {
  if (!lazy_products_supported()) GTEST_SKIP() << "this processor lacks BMI2 or ADX";
  const std::vector<Fr> values = edge_values();
  for (std::size_t first = 0; first < values.size(); ++first) {
    for (std::size_t step = 0; step < values.size(); ++step) {
      LazyProductSum lazy;
      ReducedProductSum reduced;
      EXPECT_EQ(lazy.sum(), Fr::zero());
      for (unsigned i = 0; i < LazyProductSum::kMaxProducts; ++i) {
        const Fr& a = values[first];
        const Fr& b = values[(first + i * step) % values.size()];
        lazy.add(a, b);
        reduced.add(a, b);
        const Fr sum = lazy.sum();
        ASSERT_EQ(sum, reduced.sum()) << first << " " << step << " terms " << i + 1;
        ASSERT_EQ(Fr::from_bytes_le(sum.to_bytes_le()), sum) << "canonical";
      }
    }
  }
}
#endif

TEST(Poseidon, BothPermutationsAgree) {
  const PoseidonConstants& constants = poseidon_constants(PoseidonDomain::kMerkle8);
  const std::vector<Fr> values = edge_values();
  for (std::size_t i = 0; i + 8 <= values.size(); ++i) {
    const std::span<const Fr> inputs(values.data() + i, 8);
    const Fr reduced = PoseidonPermutation<9, ReducedProductSum>(constants, inputs).run();
    EXPECT_EQ(poseidon(PoseidonDomain::kMerkle8, inputs), reduced);
    EXPECT_EQ(poseidon_by_definition(PoseidonDomain::kMerkle8, inputs), reduced);
  }
}

TEST(Poseidon, VariablesObeyTheCircuit) {
  const std::vector<Fr> values = edge_values();
  for (const auto& [name, domain] : kDomains) {
    const PoseidonConstants& constants = poseidon_constants(domain);
    const std::span<const Fr> inputs(values.data(), constants.arity);
    std::vector<Fr> out(poseidon_variable_count(domain));
    poseidon_variables(domain, inputs, out);
    EXPECT_EQ(out.back(), poseidon(domain, inputs)) << name;
    // The first round's S-boxes: of input + key, without the first.
    const std::vector<Fr>& keys = constants.compressed_round_constants;
    for (unsigned i = 0; i < constants.arity; ++i) {
      const Fr x = inputs[i] + keys[i + 1];
      EXPECT_EQ(out[3 * i], x.square()) << name;
      EXPECT_EQ(out[3 * i + 1], x.square().square()) << name;
      EXPECT_EQ(out[3 * i + 2], x.square().square() * x + keys[constants.width + i + 1]) << name;
    }
    // All others: x, x², x⁴, x·x⁴ + the next constant, which is zero in the last round.
    std::size_t key = 2 * constants.width;
    for (std::size_t i = 3 * constants.arity; i + 1 < out.size(); i += 4) {
      EXPECT_EQ(out[i + 1], out[i].square()) << name;
      EXPECT_EQ(out[i + 2], out[i + 1].square()) << name;
      const Fr post = key < keys.size() ? keys[key] : Fr::zero();
      EXPECT_EQ(out[i + 3], out[i + 2] * out[i] + post) << name;
      ++key;
    }
    EXPECT_EQ(key, keys.size() + constants.width) << name;
    out.pop_back();
    EXPECT_THROW(poseidon_variables(domain, inputs, out), base::InvalidInput) << name;
  }
}

TEST(Poseidon, RoundNumbersOfTheReference) {
  // Widths and partial rounds as the Poseidon authors' calc_round_numbers.py prints them; eight
  // full rounds each.
  for (const auto& [width, partial] : std::vector<std::pair<unsigned, unsigned>>{{2, 55},
                                                                                 {3, 55},
                                                                                 {4, 56},
                                                                                 {5, 56},
                                                                                 {6, 56},
                                                                                 {7, 56},
                                                                                 {8, 57},
                                                                                 {9, 57},
                                                                                 {10, 57},
                                                                                 {11, 57},
                                                                                 {12, 57},
                                                                                 {13, 57},
                                                                                 {14, 57},
                                                                                 {15, 57},
                                                                                 {16, 59},
                                                                                 {17, 59},
                                                                                 {25, 59},
                                                                                 {37, 60},
                                                                                 {65, 61}}) {
    EXPECT_EQ(poseidon_round_numbers(width), (RoundNumbers{8, partial})) << "width " << width;
  }
}

TEST(Poseidon, SparseFactorsMultiplyBackToTheDenseRounds) {
  // pre_sparse times the left-over factors: e·pre_sparse·sparse[0]·...·sparse[n-1] is linear only
  // without S-boxes, and then equals e·mds^(n+1).
  for (const auto& [name, domain] : kDomains) {
    const PoseidonConstants& constants = poseidon_constants(domain);
    Matrix product = constants.pre_sparse;
    Matrix power = constants.mds;
    for (const SparseMatrix& sparse : constants.sparse) {
      Matrix dense = identity_matrix(constants.width);
      for (unsigned i = 0; i < constants.width; ++i) dense[i][0] = sparse.w_hat[i];
      for (unsigned j = 1; j < constants.width; ++j) dense[0][j] = sparse.v_rest[j - 1];
      product = multiply(product, dense);
      power = multiply(power, constants.mds);
    }
    EXPECT_EQ(product, power) << name;
  }
}

TEST(Poseidon, WrongNumberOfInputs) {
  EXPECT_THROW(poseidon(PoseidonDomain::kMerkle8, std::vector<Fr>(7)), base::InvalidInput);
  EXPECT_THROW(poseidon(PoseidonDomain::kMerkle2, std::vector<Fr>(3)), base::InvalidInput);
  EXPECT_THROW(poseidon(PoseidonDomain::kMerkle2, std::vector<Fr>()), base::InvalidInput);
}

TEST(Poseidon, DomainOfAnArity) {
  EXPECT_EQ(merkle_domain(2), PoseidonDomain::kMerkle2);
  EXPECT_EQ(merkle_domain(4), PoseidonDomain::kMerkle4);
  EXPECT_EQ(merkle_domain(8), PoseidonDomain::kMerkle8);
  EXPECT_EQ(merkle_domain(11), PoseidonDomain::kMerkle11);
  for (const unsigned arity : {0u, 1u, 3u, 16u})
    EXPECT_THROW(merkle_domain(arity), base::InvalidInput);
}

TEST(Poseidon, DomainsOfOneArityDiffer) {
  const Fr one = Fr::one();
  EXPECT_NE(poseidon(PoseidonDomain::kMerkle2, {one, one}),
            poseidon(PoseidonDomain::kGenRandomness2, {one, one}));
}

TEST(Matrix, InverseTimesMatrixIsIdentity) {
  for (const unsigned size : {1u, 2u, 3u, 12u}) {
    const Matrix m = poseidon_mds(size);
    EXPECT_EQ(multiply(m, invert(m)), identity_matrix(size));
    EXPECT_EQ(multiply(invert(m), m), identity_matrix(size));
  }
}

TEST(Matrix, InverseNeedsRowExchanges) {
  const Fr zero, one = Fr::one(), two = Fr::from_u64(2);
  const Matrix m = {{zero, one, zero}, {one, zero, zero}, {zero, zero, two}};
  EXPECT_EQ(multiply(invert(m), m), identity_matrix(3));
}

TEST(Matrix, SingularIsRejected) {
  const Fr one = Fr::one();
  EXPECT_THROW(invert({{one, one}, {one, one}}), base::InvalidInput);
}

}  // namespace
}  // namespace cuzk::hash
