#include "groth16/setup.hpp"

#include "base/error.hpp"
#include "groth16/assemble.hpp"
#include "groth16/ops/evaluate.hpp"
#include "groth16/ops/ntt.hpp"
#include "groth16/ops/quotient.hpp"
#include "groth16/row_offsets.hpp"
#include "groth16/testing.hpp"
#include "r1cs/evaluate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

// Groth16 in plain arithmetic: a group element is its logarithm, a pairing is a product. Every
// query and the proof equation is then a sum in Fr that can be redone from the definition.
namespace cuzk::groth16 {
namespace {

using curve::Fr;

Fr toy_value(std::uint64_t k) { return Fr::from_u64(1000 + k).inverse(); }

Trapdoor toy_trapdoor() {
  Trapdoor out = Trapdoor::from_seed(1);
  out.alpha = toy_value(1);
  out.beta = toy_value(2);
  out.gamma = toy_value(3);
  out.delta = toy_value(4);
  out.tau = toy_value(5);
  return out;
}

struct ToyKey {
  Fr alpha_g1, beta_g1, beta_g2, gamma_g2, delta_g1, delta_g2;
};

ToyKey toy_key(const Trapdoor& t) { return {t.alpha, t.beta, t.beta, t.gamma, t.delta, t.delta}; }

Fr dot(std::span<const Fr> a, std::span<const Fr> b) {
  EXPECT_EQ(a.size(), b.size());
  Fr out = Fr::zero();
  for (std::size_t i = 0; i < a.size(); ++i) out += a[i] * b[i];
  return out;
}

class ToyGroth16 : public ::testing::Test {
 protected:
  ToyGroth16()
      : toy(4),
        trapdoor(toy_trapdoor()),
        domain(toy.shape.domain_log2()),
        queries(query_logarithms(toy.shape, trapdoor)) {
    assignment = toy.witness.inputs;
    aux = r1cs::expand_aux(toy.shape, toy.witness);
    assignment.insert(assignment.end(), aux.begin(), aux.end());
    const VariableMap variables(toy.shape);
    for (unsigned m = 0; m < 3; ++m) {
      rows[m].resize(domain.n());
      evaluate(toy.shape, variables, toy.witness, static_cast<Matrix>(m), rows[m]);
    }
  }

  // Lagrange's polynomial i of the domain at τ, from its product formula.
  Fr lagrange(std::size_t i) const {
    const Fr point = domain.omega().pow(i);
    Fr out = Fr::one();
    for (std::size_t j = 0; j < domain.n(); ++j) {
      if (j == i) continue;
      const Fr other = domain.omega().pow(j);
      out *= (trapdoor.tau - other) * (point - other).inverse();
    }
    return out;
  }

  // e(A, B) = e(α, β)·e(Σ x ic, γ)·e(C, δ) in logarithms.
  void expect_valid(const ProofElements<Fr, Fr>& proof) const {
    const Fr inputs = dot(toy.witness.inputs, queries.ic);
    EXPECT_EQ(proof.a * proof.b,
              trapdoor.alpha * trapdoor.beta + inputs * trapdoor.gamma + proof.c * trapdoor.delta);
  }

  testing::ToyCircuit toy;
  Trapdoor trapdoor;
  Domain domain;
  QueryLogarithms queries;
  std::vector<Fr> assignment, aux;
  std::array<std::vector<Fr>, 3> rows;
};

TEST_F(ToyGroth16, QueriesEqualTheirDefinitions) {
  const std::size_t inputs = toy.shape.num_inputs(), variables = assignment.size();
  ASSERT_GT(inputs, 1U);
  std::vector<Fr> lagranges;
  for (std::size_t i = 0; i < domain.n(); ++i) lagranges.push_back(lagrange(i));
  // Column k of a matrix at τ: the rows' values for the k-th unit vector.
  for (std::size_t k = 0; k < variables; ++k) {
    std::vector<Fr> unit_inputs(inputs), unit_aux(aux.size());
    (k < inputs ? unit_inputs[k] : unit_aux[k - inputs]) = Fr::one();
    std::array<Fr, 3> column;
    for (unsigned m = 0; m < 3; ++m) {
      const std::vector<Fr> values = r1cs::evaluate(toy.shape, m, unit_inputs, unit_aux);
      column[m] = dot(values, std::span(lagranges).first(values.size()));
    }
    if (k < inputs) column[0] += lagranges[toy.shape.num_constraints() + k];
    EXPECT_EQ(queries.a[k], column[0]) << k;
    EXPECT_EQ(queries.b[k], column[1]) << k;
    const Fr sum = trapdoor.beta * column[0] + trapdoor.alpha * column[1] + column[2];
    EXPECT_EQ(k < inputs ? queries.ic[k] * trapdoor.gamma : queries.l[k - inputs] * trapdoor.delta,
              sum)
        << k;
  }
  ASSERT_EQ(queries.h.size(), domain.n() - 1);
  for (std::size_t j = 0; j < queries.h.size(); ++j) {
    EXPECT_EQ(queries.h[j] * trapdoor.delta, trapdoor.tau.pow(j) * domain.vanishing(trapdoor.tau))
        << j;
  }
}

// Q and L' by the definitions in derived_key.hpp and row_offsets.hpp, the linear map D as a matrix.
TEST_F(ToyGroth16, DerivedLogarithmsEqualTheirDefinition) {
  const DerivedLogarithms derived = derived_logarithms(toy.shape, trapdoor, queries.l);
  std::vector<Fr> q(domain.n()), r(domain.n());
  for (std::size_t j = 0; j < queries.h.size(); ++j) {
    q[j] = queries.h[j] * domain.n_inverse();
    r[j] = q[j] * Fr::from_u64(j);
  }
  intt(domain, q);
  intt(domain, r);
  ASSERT_EQ(derived.q.size(), toy.shape.num_rows());
  for (std::size_t i = 0; i < derived.q.size(); ++i) EXPECT_EQ(derived.q[i], q[i]) << i;
  ASSERT_EQ(derived.l.size(), assignment.size());
  const std::size_t n = domain.n(), inputs = toy.shape.num_inputs();
  const std::vector<std::uint64_t> offsets = row_offsets(toy.shape);
  const auto beta = [&](std::size_t i) {
    return i < derived.q.size() && (offsets[i / 64] >> i % 64 & 1) != 0;
  };
  // D_im = (1/n)·Σ_j j·ω^(j(i - m)).
  std::vector<Fr> entries(n);
  for (std::size_t difference = 0; difference < n; ++difference) {
    for (std::size_t j = 0; j < n; ++j)
      entries[difference] += Fr::from_u64(j) * domain.omega().pow(j * difference);
    entries[difference] *= domain.n_inverse();
  }
  std::vector<Fr> v(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t m = 0; m < n; ++m) {
      if (beta(m)) v[i] += entries[(i + n - m) % n] * q[i];  // β*_i Q_i
      if (beta(m)) v[i] += entries[(m + n - i) % n] * q[m];  // T_i
    }
  }
  for (std::size_t k = 0; k < assignment.size(); ++k) {
    std::vector<Fr> unit_inputs(inputs), unit_aux(aux.size());
    (k < inputs ? unit_inputs[k] : unit_aux[k - inputs]) = Fr::one();
    const std::vector<Fr> column = r1cs::evaluate(toy.shape, 2, unit_inputs, unit_aux);
    const std::vector<Fr> b_column = r1cs::evaluate(toy.shape, 1, unit_inputs, unit_aux);
    const Fr l = k < inputs ? Fr::zero() : queries.l[k - inputs];
    EXPECT_EQ(derived.l[k], l - dot(column, std::span(r).first(column.size())) +
                                dot(b_column, std::span(v).first(b_column.size())))
        << k;
  }
}

TEST_F(ToyGroth16, ProofEquationHoldsInBothForms) {
  const Fr r = Fr::from_u64(3), s = Fr::from_u64(5);
  QuerySums<Fr, Fr> sums{};
  sums.a = dot(assignment, queries.a);
  sums.b_g1 = sums.b_g2 = dot(assignment, queries.b);

  const DerivedLogarithms derived = derived_logarithms(toy.shape, trapdoor, queries.l);
  const std::size_t used = toy.shape.num_rows();
  std::vector<Fr> a(used);
  evaluate(less_row_offsets(toy.shape), VariableMap(toy.shape), toy.witness, Matrix::kA, a);
  const base::LargeArray<Fr> scalars =
      quotient_derivative(domain, a, std::span(rows[1]).first(used));
  sums.h = dot(scalars, derived.q);
  sums.l = dot(assignment, derived.l);
  const auto derivative = assemble(toy_key(trapdoor), sums, r, s);
  expect_valid(derivative);

  quotient_textbook(domain, rows[0], rows[1], rows[2]);
  sums.h = dot(std::span(rows[0]).first(queries.h.size()), queries.h);
  sums.l = dot(aux, queries.l);
  const auto textbook = assemble(toy_key(trapdoor), sums, r, s);
  expect_valid(textbook);
  EXPECT_EQ(textbook.a, derivative.a);
  EXPECT_EQ(textbook.b, derivative.b);
  EXPECT_EQ(textbook.c, derivative.c);
}

TEST_F(ToyGroth16, BlindingChangesTheProofAndKeepsItValid) {
  QuerySums<Fr, Fr> sums{};
  sums.a = dot(assignment, queries.a);
  sums.b_g1 = sums.b_g2 = dot(assignment, queries.b);
  quotient_textbook(domain, rows[0], rows[1], rows[2]);
  sums.h = dot(std::span(rows[0]).first(queries.h.size()), queries.h);
  sums.l = dot(aux, queries.l);
  const auto plain = assemble(toy_key(trapdoor), sums, Fr::zero(), Fr::zero());
  EXPECT_EQ(plain.a, trapdoor.alpha + sums.a);
  EXPECT_EQ(plain.b, trapdoor.beta + sums.b_g2);
  EXPECT_EQ(plain.c, sums.h + sums.l);
  const auto blinded = assemble(toy_key(trapdoor), sums, toy_value(70), toy_value(71));
  expect_valid(plain);
  expect_valid(blinded);
  EXPECT_NE(plain.a, blinded.a);
  EXPECT_NE(plain.b, blinded.b);
  EXPECT_NE(plain.c, blinded.c);
}

TEST_F(ToyGroth16, AWrongWitnessGivesNoValidProof) {
  rows[2][1] += Fr::one();
  QuerySums<Fr, Fr> sums{};
  sums.a = dot(assignment, queries.a);
  sums.b_g1 = sums.b_g2 = dot(assignment, queries.b);
  quotient_textbook(domain, rows[0], rows[1], rows[2]);
  sums.h = dot(std::span(rows[0]).first(queries.h.size()), queries.h);
  sums.l = dot(aux, queries.l);
  const auto proof = assemble(toy_key(trapdoor), sums, Fr::one(), Fr::one());
  EXPECT_NE(proof.a * proof.b, trapdoor.alpha * trapdoor.beta +
                                   dot(toy.witness.inputs, queries.ic) * trapdoor.gamma +
                                   proof.c * trapdoor.delta);
}

TEST(Setup, DegenerateTrapdoorsAreRefused) {
  const testing::ToyCircuit toy;
  for (const auto& spoil : std::vector<void (*)(Trapdoor&)>{
           [](Trapdoor& t) { t.gamma = Fr::zero(); }, [](Trapdoor& t) { t.delta = Fr::zero(); },
           [](Trapdoor& t) { t.tau = Fr::one(); }}) {
    Trapdoor trapdoor = toy_trapdoor();
    spoil(trapdoor);
    EXPECT_THROW(query_logarithms(toy.shape, trapdoor), base::InvalidInput);
  }
}

TEST(Setup, UnusedVariablesAreRefused) {
  r1cs::ShapeBuilder builder;
  builder.alloc_aux({});
  const auto unused = builder.alloc_aux({});
  static_cast<void>(unused);
  const auto first = r1cs::Variable::aux(0);
  builder.enforce(
      "square", [&](auto& lc) { lc.add(first); }, [&](auto& lc) { lc.add(first); },
      [&](auto& lc) { lc.add(first); });
  try {
    query_logarithms(builder.finish(), toy_trapdoor());
    FAIL();
  } catch (const base::InvalidInput& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("aux variable 1"));
  }
}

TEST(Trapdoor, SeedsGiveDifferentReproducibleTrapdoors) {
  const Trapdoor one = Trapdoor::from_seed(1), again = Trapdoor::from_seed(1),
                 two = Trapdoor::from_seed(2);
  EXPECT_EQ(one.g1, again.g1);
  EXPECT_EQ(one.tau, again.tau);
  EXPECT_NE(one.g1, two.g1);
  EXPECT_NE(one.g2, two.g2);
  for (const auto member :
       {&Trapdoor::alpha, &Trapdoor::beta, &Trapdoor::gamma, &Trapdoor::delta, &Trapdoor::tau}) {
    EXPECT_NE(one.*member, two.*member);
  }
  EXPECT_NE(one.alpha, one.beta);
  EXPECT_NE(one.gamma, one.delta);
}

class TrapdoorJson : public ::testing::Test {
 protected:
  TrapdoorJson() {
    const Trapdoor t = toy_trapdoor();
    json = {{"g1", base::to_hex(t.g1.to_uncompressed())},
            {"g2", base::to_hex(t.g2.to_uncompressed())}};
    for (const auto& [name, value] : {std::pair{"alpha", t.alpha},
                                      {"beta", t.beta},
                                      {"gamma", t.gamma},
                                      {"delta", t.delta},
                                      {"tau", t.tau}}) {
      json[name] = base::to_hex(value.to_bytes_le());
    }
  }
  std::string complaint() const {
    try {
      Trapdoor::from_json(json.dump(), "trapdoor.json");
    } catch (const base::InvalidInput& error) {
      return error.what();
    }
    return "accepted";
  }
  nlohmann::json json;
};

TEST_F(TrapdoorJson, ReadsAllMembers) {
  const Trapdoor read = Trapdoor::from_json(json.dump(), "trapdoor.json"),
                 expected = toy_trapdoor();
  EXPECT_EQ(read.g1, expected.g1);
  EXPECT_EQ(read.g2, expected.g2);
  for (const auto member :
       {&Trapdoor::alpha, &Trapdoor::beta, &Trapdoor::gamma, &Trapdoor::delta, &Trapdoor::tau}) {
    EXPECT_EQ(read.*member, expected.*member);
  }
}

TEST_F(TrapdoorJson, EveryBadMemberIsNamed) {
  const nlohmann::json good = json;
  for (const char* member : {"g1", "g2", "alpha", "beta", "gamma", "delta", "tau"}) {
    json = good;
    json.erase(member);
    EXPECT_THAT(complaint(), ::testing::HasSubstr(member));
    for (const char* bad : {"", "12", "zz"}) {
      json[member] = bad;
      EXPECT_THAT(complaint(), ::testing::HasSubstr(member)) << bad;
    }
    json[member] = 5;
    EXPECT_THAT(complaint(), ::testing::HasSubstr(member));
    json[member] = std::string(good[member].get<std::string>().size(), 'f');
    EXPECT_THAT(complaint(), ::testing::HasSubstr(member));
  }
  EXPECT_THROW(Trapdoor::from_json("{", "trapdoor.json"), base::InvalidInput);
  EXPECT_THROW(Trapdoor::from_json("[]", "trapdoor.json"), base::InvalidInput);
}

}  // namespace
}  // namespace cuzk::groth16
