#pragma once

#include "gadgets/multipack.hpp"
#include "gadgets/uint32.hpp"

/// SHA-256 in a circuit. [bellman src/gadgets/sha256.rs; FIPS 180-4 for the function and its
/// constants]
namespace cuzk::gadgets {

/// First 32 bits of the fractional parts of the cube roots of the first 64 primes, and of the
/// square roots of the first 8. Computed, not typed in.
const std::array<std::uint32_t, 64>& sha256_round_constants();
const std::array<std::uint32_t, 8>& sha256_initial_state();

template <class CS>
using Sha256State = std::array<UInt32<CS>, 8>;

/// The message schedule: 16 words of the block and 48 that follow from them.
template <class CS>
std::array<UInt32<CS>, 64> sha256_schedule(CS& cs, MultiEq<CS>& multieq,
                                           std::span<const Boolean<CS>> block) {
  using Word = UInt32<CS>;
  std::array<Word, 64> w;
  for (unsigned i = 0; i < 16; ++i) w[i] = uint32_from_bits_be<CS>(block.subspan(32 * i, 32));
  for (unsigned i = 16; i < 64; ++i) {
    const auto scope = cs.scope("w extension {}", i);
    const Word& x = w[i - 15];
    const Word& y = w[i - 2];
    const Word s0 = Word::bitwise_xor(cs, Word::bitwise_xor(cs, x.rotr(7), x.rotr(18)), x.shr(3));
    const Word s1 = Word::bitwise_xor(cs, Word::bitwise_xor(cs, y.rotr(17), y.rotr(19)), y.shr(10));
    w[i] = add_many<CS>(multieq, std::array{w[i - 16], s0, w[i - 7], s1});
  }
  return w;
}

/// One application of the compression function. `block` has 512 bits, the most significant of each
/// word first. The sums that make a and e of a round are added up only where the next round (or the
/// end) needs the words, which allows longer sums and so fewer variables.
template <class CS>
Sha256State<CS> sha256_compress(CS& cs, std::span<const Boolean<CS>> block,
                                const Sha256State<CS>& state) {
  using Word = UInt32<CS>;
  MultiEq<CS> multieq(cs);
  const std::array<Word, 64> w = sha256_schedule(cs, multieq, block);

  Word a = state[0], b = state[1], c = state[2], d = state[3];
  Word e = state[4], f = state[5], g = state[6], h = state[7];
  std::array<Word, 7> a_terms;  // h, S1, ch, k, w, S0, maj of the round before
  std::array<Word, 6> e_terms;  // h, S1, ch, k, w, d
  for (unsigned i = 0; i < 64; ++i) {
    const auto scope = cs.scope("compression round {}", i);
    if (i > 0) e = add_many<CS>(multieq, e_terms);
    const Word s1 = Word::bitwise_xor(cs, Word::bitwise_xor(cs, e.rotr(6), e.rotr(11)), e.rotr(25));
    const Word ch = Word::ch(cs, e, f, g);
    const Word k = Word::constant(sha256_round_constants()[i]);
    if (i > 0) a = add_many<CS>(multieq, a_terms);
    const Word s0 = Word::bitwise_xor(cs, Word::bitwise_xor(cs, a.rotr(2), a.rotr(13)), a.rotr(22));
    const Word maj = Word::maj(cs, a, b, c);
    e_terms = {h, s1, ch, k, w[i], d};
    a_terms = {h, s1, ch, k, w[i], s0, maj};
    h = g;
    g = f;
    f = e;
    d = c;
    c = b;
    b = a;
  }

  const auto deferred_sum = [&](const auto& terms, const Word& last) {
    std::vector<Word> operands(terms.begin(), terms.end());
    operands.push_back(last);
    return add_many<CS>(multieq, operands);
  };
  Sha256State<CS> out;
  out[0] = deferred_sum(a_terms, state[0]);
  out[1] = add_many<CS>(multieq, std::array{state[1], b});
  out[2] = add_many<CS>(multieq, std::array{state[2], c});
  out[3] = add_many<CS>(multieq, std::array{state[3], d});
  out[4] = deferred_sum(e_terms, state[4]);
  out[5] = add_many<CS>(multieq, std::array{state[5], f});
  out[6] = add_many<CS>(multieq, std::array{state[6], g});
  out[7] = add_many<CS>(multieq, std::array{state[7], h});
  multieq.finish();
  return out;
}

/// SHA-256 of whole bytes, the most significant bit of each first; 256 bits in the same order.
template <class CS>
std::vector<Boolean<CS>> sha256(CS& cs, std::vector<Boolean<CS>> message) {
  const std::uint64_t length = message.size();
  message.push_back(Boolean<CS>::constant(true));
  while (message.size() % 512 != 448) message.push_back(Boolean<CS>::constant(false));
  for (unsigned i = 64; i-- > 0;) message.push_back(Boolean<CS>::constant((length >> i & 1) != 0));

  Sha256State<CS> state;
  for (unsigned i = 0; i < 8; ++i) state[i] = UInt32<CS>::constant(sha256_initial_state()[i]);
  const std::span<const Boolean<CS>> padded = message;
  for (std::size_t block = 0; block < message.size() / 512; ++block) {
    const auto scope = cs.scope("block {}", block);
    state = sha256_compress(cs, padded.subspan(512 * block, 512), state);
  }
  std::vector<Boolean<CS>> digest;
  digest.reserve(256);
  for (const auto& word : state) append_bits_be<CS>(word, digest);
  return digest;
}

/// The parent of two nodes of tree D: SHA-256 of both as little-endian numbers, its low 254 bits as
/// a number. [rust-fil-proofs filecoin-hashers/src/sha256.rs hash_multi_leaf_circuit,
/// hash2_circuit]
template <class CS>
AllocatedNum<CS> sha256_node(CS& cs, const AllocatedNum<CS>& left, const AllocatedNum<CS>& right) {
  std::vector<Boolean<CS>> preimage;
  preimage.reserve(1024);
  unsigned i = 0;
  for (const AllocatedNum<CS>* node : {&left, &right}) {
    const auto scope = cs.scope("{}_num_into_bits", i++);
    const auto bits = reverse_bit_numbering(to_bits_le(cs, *node));
    preimage.insert(preimage.end(), bits.begin(), bits.end());
  }
  const auto scope = cs.scope("hash");
  const auto digest = reverse_bit_numbering(sha256(cs, std::move(preimage)));
  return pack_bits<CS>(cs, digest);
}

}  // namespace cuzk::gadgets
