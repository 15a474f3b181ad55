#include "hash/poseidon_constants.hpp"

#include "base/error.hpp"
#include "hash/grain.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <span>
#include <utility>

namespace cuzk::hash {

using curve::Fr;

namespace {

/// The least even R_F for which R_P partial rounds resist each known attack: statistical,
/// interpolation and two Gröbner basis attacks. n = bits of the field, taken as 256; M = bits of
/// security.
unsigned secure_full_rounds(unsigned width, unsigned partial) {
  constexpr double kFieldBits = 256, kSecurity = 128;
  const double t = width, r_p = partial;
  const double statistical = kSecurity <= (kFieldBits - 3) * (t + 1) ? 6 : 10;
  const double interpolation = 0.43 * kSecurity + std::log2(t) - r_p;
  const double groebner_1 = 0.21 * kFieldBits - r_p;
  const double groebner_2 = (0.14 * kFieldBits - 1 - r_p) / (t - 1);
  const double bound = std::max({statistical, interpolation, groebner_1, groebner_2});
  const unsigned rounds = static_cast<unsigned>(std::ceil(bound));
  return rounds + rounds % 2;
}

/// Adding a round's constants before its S-boxes equals adding M⁻¹ times them before the previous
/// linear layer. Full rounds move theirs back by that one layer. In a partial round only element 0
/// passes an S-box, so all others move back further, through all partial rounds; what stays is one
/// constant a partial round.
std::vector<Fr> compress_round_constants(std::span<const Fr> constants, unsigned width,
                                         RoundNumbers rounds, const Matrix& mds) {
  const Matrix inverse = invert(mds);
  const auto round_key = [&](unsigned round) {
    return constants.subspan(std::size_t{round} * width, width);
  };
  std::vector<Fr> out;
  const auto append = [&](std::span<const Fr> values) {
    out.insert(out.end(), values.begin(), values.end());
  };

  const unsigned half = rounds.full / 2;
  append(round_key(0));
  for (unsigned round = 1; round < half; ++round) append(multiply(inverse, round_key(round)));

  const unsigned end = half + rounds.partial;  // the first full round after the partial ones
  std::vector<Fr> moved(round_key(end).begin(), round_key(end).end());
  std::vector<Fr> kept(rounds.partial);
  for (unsigned round = end; round-- > half;) {
    moved = multiply(inverse, moved);
    kept[round - half] = std::exchange(moved[0], Fr::zero());
    for (unsigned i = 0; i < width; ++i) moved[i] += round_key(round)[i];
  }
  append(multiply(inverse, moved));
  append(kept);
  for (unsigned round = end + 1; round < end + half; ++round)
    append(multiply(inverse, round_key(round)));
  return out;
}

/// m = [1 0; 0 m_hat] · [m_00 v; m_hat⁻¹·w 1] with v, w the rest of the first row and column of m,
/// m_hat the rest. The right factor is sparse, the left one commutes with the S-box of element 0
/// and so joins the previous round's matrix. Done from the last partial round back to the first;
/// what is left over is the matrix before them.
void factor_sparse(const Matrix& mds, unsigned count, Matrix& pre_sparse,
                   std::vector<SparseMatrix>& sparse) {
  Matrix current = mds;
  sparse.resize(count);
  for (unsigned k = count; k-- > 0;) {
    const Matrix m_hat = lower_right(current);
    std::vector<Fr> w;
    for (std::size_t i = 1; i < current.size(); ++i) w.push_back(current[i][0]);

    SparseMatrix& factor = sparse[k];
    factor.w_hat = multiply(invert(m_hat), w);
    factor.w_hat.insert(factor.w_hat.begin(), current[0][0]);
    factor.v_rest.assign(current[0].begin() + 1, current[0].end());

    Matrix left = identity_matrix(current.size());
    for (std::size_t i = 1; i < left.size(); ++i) {
      std::copy(m_hat[i - 1].begin(), m_hat[i - 1].end(), left[i].begin() + 1);
    }
    current = multiply(mds, left);
  }
  pre_sparse = std::move(current);
}

struct DomainParameters {
  unsigned arity;
  Fr tag;
};

DomainParameters parameters_of(PoseidonDomain domain) {
  const auto merkle = [](unsigned arity) {
    return DomainParameters{arity, Fr::from_u64((1u << arity) - 1)};
  };
  switch (domain) {
    case PoseidonDomain::kMerkle2:
      return merkle(2);
    case PoseidonDomain::kMerkle4:
      return merkle(4);
    case PoseidonDomain::kMerkle8:
      return merkle(8);
    case PoseidonDomain::kMerkle11:
      return merkle(11);
    case PoseidonDomain::kGenRandomness2:
      return {2, Fr::power_of_two(40)};
  }
  base::fail<base::InvalidInput>("Poseidon domain {} is unknown", static_cast<int>(domain));
}

}  // namespace

PoseidonDomain merkle_domain(unsigned arity) {
  switch (arity) {
    case 2:
      return PoseidonDomain::kMerkle2;
    case 4:
      return PoseidonDomain::kMerkle4;
    case 8:
      return PoseidonDomain::kMerkle8;
    case 11:
      return PoseidonDomain::kMerkle11;
    default:
      base::fail<base::InvalidInput>("no Poseidon hash of {} elements; known are 2, 4, 8 and 11",
                                     arity);
  }
}

RoundNumbers poseidon_round_numbers(unsigned width) {
  RoundNumbers best{};
  unsigned fewest = std::numeric_limits<unsigned>::max();
  for (unsigned partial = 4; partial < 200; ++partial) {
    const RoundNumbers margin = {secure_full_rounds(width, partial) + 2,
                                 static_cast<unsigned>(std::ceil(1.075 * partial))};
    const unsigned sboxes = width * margin.full + margin.partial;
    if (sboxes < fewest || (sboxes == fewest && margin.full < best.full)) {
      fewest = sboxes;
      best = margin;
    }
  }
  return best;
}

Matrix poseidon_mds(unsigned width) {
  Matrix out(width, std::vector<Fr>(width));
  for (unsigned i = 0; i < width; ++i) {
    for (unsigned j = 0; j < width; ++j) out[i][j] = Fr::from_u64(i + width + j).inverse();
  }
  return out;
}

PoseidonConstants derive_poseidon_constants(PoseidonDomain domain) {
  const DomainParameters parameters = parameters_of(domain);
  const unsigned width = parameters.arity + 1;
  const RoundNumbers rounds = poseidon_round_numbers(width);
  PoseidonConstants out;
  out.arity = parameters.arity;
  out.width = width;
  out.full_rounds = rounds.full;
  out.partial_rounds = rounds.partial;
  out.domain_tag = parameters.tag;
  out.mds = poseidon_mds(width);
  const std::vector<Fr> constants = grain_constants(
      width, rounds.full, rounds.partial, std::size_t{width} * (rounds.full + rounds.partial));
  out.compressed_round_constants = compress_round_constants(constants, width, rounds, out.mds);
  factor_sparse(out.mds, rounds.partial, out.pre_sparse, out.sparse);
  return out;
}

const PoseidonConstants& poseidon_constants(PoseidonDomain domain) {
  switch (domain) {
    case PoseidonDomain::kMerkle2: {
      static const PoseidonConstants constants = derive_poseidon_constants(domain);
      return constants;
    }
    case PoseidonDomain::kMerkle4: {
      static const PoseidonConstants constants = derive_poseidon_constants(domain);
      return constants;
    }
    case PoseidonDomain::kMerkle8: {
      static const PoseidonConstants constants = derive_poseidon_constants(domain);
      return constants;
    }
    case PoseidonDomain::kMerkle11: {
      static const PoseidonConstants constants = derive_poseidon_constants(domain);
      return constants;
    }
    case PoseidonDomain::kGenRandomness2: {
      static const PoseidonConstants constants = derive_poseidon_constants(domain);
      return constants;
    }
  }
  base::fail<base::InvalidInput>("Poseidon domain {} is unknown", static_cast<int>(domain));
}

}  // namespace cuzk::hash
