#include "groth16/prover.hpp"

#include "base/large_array.hpp"
#include "base/random.hpp"
#include "groth16/assemble.hpp"
#include "groth16/ops/domain.hpp"
#include "groth16/ops/evaluate.hpp"
#include "groth16/ops/msm.hpp"
#include "groth16/ops/quotient.hpp"
#include "groth16/row_offsets.hpp"
#include "r1cs/implied_fields.hpp"

#include <array>
#include <vector>

namespace cuzk::groth16 {

using curve::Fr;
using curve::G1Jacobian;
using curve::G2Jacobian;

namespace {

using Sums = QuerySums<G1Jacobian, G2Jacobian>;

Fr random_fr() {
  std::array<std::uint8_t, Fr::kBytes> bytes;
  for (;;) {
    base::random_bytes(bytes);
    bytes[31] &= 0x7f;  // r is just below 2^255: more than half of the draws are used
    if (const std::optional<Fr> value = Fr::from_bytes_le(bytes)) return *value;
  }
}

class CpuPending final : public Prover::Pending {
 public:
  CpuPending(const VerifyingKey& key, const Sums& sums) : key_(key), sums_(sums) {}

  Proof finish(const Blinding& blinding, base::StageTimer& timer) override {
    return timer.measure("assemble", [&] {
      const auto elements = assemble(key_, sums_, blinding.r, blinding.s);
      return Proof{elements.a.to_affine(), elements.b.to_affine(), elements.c.to_affine()};
    });
  }

 private:
  const VerifyingKey& key_;
  Sums sums_;
};

class CpuProver final : public Prover {
 public:
  CpuProver(const CircuitKey& circuit, unsigned window_bits)
      : circuit_(circuit),
        evaluated_(evaluated_circuit(circuit.shape, circuit.layout)),
        dense_{.window_bits = window_bits} {}

  const VerifyingKey& verifying_key() const override { return circuit_.key.verifying_key; }

  std::unique_ptr<Pending> start(const r1cs::Witness& witness, base::StageTimer& timer) override {
    if (!r1cs::is_incomplete(circuit_.shape, witness)) return start_whole(witness, timer);
    const r1cs::Witness whole = timer.measure("complete_witness", [&] {
      return r1cs::complete(circuit_.shape, r1cs::ImpliedFields(circuit_.shape), witness);
    });
    return start_whole(whole, timer);
  }

 private:
  std::unique_ptr<Pending> start_whole(const r1cs::Witness& witness,
                                       base::StageTimer& timer) const {
    const CircuitKey circuit{evaluated_, circuit_.layout, circuit_.key};
    const KeyLayout& layout = circuit.layout;
    Sums sums;
    {
      const base::LargeArray<Fr> scalars = layout.form == QuotientForm::kTextbook
                                               ? textbook(circuit, witness, timer)
                                               : derivative(circuit, witness, timer);
      // A proof needs h and l added up only: one set of buckets for the dense part of both.
      sums.h = timer.measure("msm_h", [&] {
        const std::vector<Fr> of_l = layout.l.scalars(witness);
        const std::array<MsmTerms<curve::Fp>, 2> terms = {
            {{circuit.key.h, std::span<const Fr>(scalars).first(circuit.key.h.size())},
             {circuit.key.l.fields, of_l}}};
        return msm<curve::Fp>(terms, dense_);
      });
    }
    sums.l = timer.measure("msm_l.batch_add", [&] {
      return batch_add<curve::Fp>(circuit.key.l.bits, layout.l.bit_mask, witness.bits);
    });
    sums.a = query_sum(circuit.key.a, layout.a, witness, timer, "msm_a.tail", "msm_a.batch_add");
    sums.b_g1 = query_sum(circuit.key.b_g1, layout.b, witness, timer, "msm_b_g1.tail",
                          "msm_b_g1.batch_add");
    sums.b_g2 = query_sum(circuit.key.b_g2, layout.b, witness, timer, "msm_b_g2.tail",
                          "msm_b_g2.batch_add");
    return std::make_unique<CpuPending>(circuit.key.verifying_key, sums);
  }

  static base::LargeArray<Fr> textbook(const CircuitKey& circuit, const r1cs::Witness& witness,
                                       base::StageTimer& timer) {
    const Domain domain(circuit.layout.domain_log2);
    std::array<base::LargeArray<Fr>, 3> rows;
    timer.measure("evaluate", [&] {
      for (unsigned m = 0; m < 3; ++m) {
        rows[m] = base::LargeArray<Fr>(domain.n(), base::LargePages::kNo);
        evaluate(circuit.shape, circuit.layout.variables, witness, static_cast<Matrix>(m), rows[m]);
      }
    });
    timer.measure("ntt_h", [&] { quotient_textbook(domain, rows[0], rows[1], rows[2]); });
    return std::move(rows[0]);
  }

  static base::LargeArray<Fr> derivative(const CircuitKey& circuit, const r1cs::Witness& witness,
                                         base::StageTimer& timer) {
    base::LargeArray<Fr> a(circuit.layout.num_rows, base::LargePages::kNo),
        b(circuit.layout.num_rows, base::LargePages::kNo);
    timer.measure("evaluate", [&] {
      evaluate(circuit.shape, circuit.layout.variables, witness, Matrix::kA, a);
      evaluate(circuit.shape, circuit.layout.variables, witness, Matrix::kB, b);
    });
    return timer.measure(
        "ntt_h", [&] { return quotient_derivative(Domain(circuit.layout.domain_log2), a, b); });
  }

  template <class F>
  curve::JacobianPoint<F> query_sum(const Query<F>& query, const QueryLayout& layout,
                                    const r1cs::Witness& witness, base::StageTimer& timer,
                                    std::string_view tail, std::string_view bits) const {
    const curve::JacobianPoint<F> of_bits = timer.measure(
        bits, [&] { return batch_add<F>(query.bits, layout.bit_mask, witness.bits); });
    return of_bits + timer.measure(tail, [&] {
      return msm<F>(query.fields, layout.scalars(witness), dense_);
    });
  }

  CircuitKey circuit_;
  r1cs::Shape evaluated_;  // what the quotient's form evaluates
  MsmOptions dense_;
};

}  // namespace

Blinding Blinding::random() { return {random_fr(), random_fr()}; }

std::unique_ptr<Prover> make_cpu_prover(const CircuitKey& circuit, unsigned window_bits) {
  return std::make_unique<CpuProver>(circuit, window_bits);
}

}  // namespace cuzk::groth16
