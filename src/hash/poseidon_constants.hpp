#pragma once

#include "curve/fr.hpp"
#include "hash/matrix.hpp"

#include <vector>

namespace cuzk::hash {

/// What a Poseidon hash is for. It fixes the arity and the domain tag, the first element of the
/// state.
/// [neptune src/hash_type.rs; rust-fil-proofs storage-proofs-update/src/constants.rs]
enum class PoseidonDomain {
  kMerkle2,         ///< a node of two children, a column of two labels, comm_r; tag 2^2 - 1
  kMerkle4,         ///< tag 2^4 - 1
  kMerkle8,         ///< tag 2^8 - 1
  kMerkle11,        ///< a column of 11 labels; tag 2^11 - 1
  kGenRandomness2,  ///< challenges, phi and rho of a sector update: of two, tag 2^40
};

/// The domain of a Merkle tree's node with `arity` children, or of a column of `arity` labels.
/// Throws InvalidInput unless that is 2, 4, 8 or 11.
PoseidonDomain merkle_domain(unsigned arity);

/// The matrix S of a partial round: S[i][0] = w_hat[i] (the whole first column), S[0][j+1] =
/// v_rest[j] (the rest of the first row), S[i][i] = 1 for i > 0, else 0.
struct SparseMatrix {
  std::vector<curve::Fr> w_hat;
  std::vector<curve::Fr> v_rest;
};

/// One Poseidon permutation of width t = arity + 1 in the optimised form that neptune evaluates and
/// whose circuit allocates variables in this order. [neptune spec/poseidon_spec.md,
/// src/preprocessing.rs, src/mds.rs]
///
/// With state e (a row vector), half = full_rounds / 2, S-box x^5:
///   e += the first t constants
///   half - 1 full rounds:         e_i = e_i^5 + next constant for all i;  e = e·mds
///   one full round:               e_i = e_i^5 + next constant for all i;  e = e·pre_sparse
///   partial round k:              e_0 = e_0^5 + next constant;            e = e·sparse[k]
///   half - 1 full rounds:         e_i = e_i^5 + next constant for all i;  e = e·mds
///   one full round:               e_i = e_i^5 for all i;                  e = e·mds
/// and the hash of the inputs is e_1, starting from e = (domain_tag, inputs...).
struct PoseidonConstants {
  unsigned arity;
  unsigned width;
  unsigned full_rounds;
  unsigned partial_rounds;
  curve::Fr domain_tag;
  std::vector<curve::Fr> compressed_round_constants;  ///< width·full_rounds + partial_rounds
  Matrix mds;                                         ///< symmetric
  Matrix pre_sparse;
  std::vector<SparseMatrix> sparse;  ///< one a partial round
};

/// Derives all of it; some milliseconds. poseidon_constants() keeps what this makes.
PoseidonConstants derive_poseidon_constants(PoseidonDomain domain);

/// The constants of a domain, derived at the first call; any thread, valid for the program's life.
const PoseidonConstants& poseidon_constants(PoseidonDomain domain);

/// Numbers of rounds for 128 bits of security at a width, margin included: the pair with fewest
/// S-boxes t·R_F + R_P that satisfies the inequalities, then R_F + 2 and R_P + 7.5 %.
/// [Poseidon, ePrint 2019/458, section 5.5; neptune src/round_numbers.rs]
struct RoundNumbers {
  unsigned full;
  unsigned partial;
  friend bool operator==(const RoundNumbers&, const RoundNumbers&) = default;
};
RoundNumbers poseidon_round_numbers(unsigned width);

/// Cauchy matrix m[i][j] = 1 / (i + width + j): symmetric, every square submatrix invertible.
Matrix poseidon_mds(unsigned width);

}  // namespace cuzk::hash
