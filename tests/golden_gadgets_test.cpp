#include "filecoin/circuit/inclusion.hpp"
#include "filecoin/porep/circuit_impl.hpp"
#include "gadgets/inclusion.hpp"
#include "hash/sha256.hpp"
#include "r1cs/checked_system.hpp"
#include "r1cs/digest.hpp"
#include "r1cs/shape_builder.hpp"
#include "r1cs/witness_builder.hpp"
#include "support/golden.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

// Every building block of the circuits against the reference's: constraints, variables, values and
// results.
namespace cuzk {
namespace {

using curve::Fr;
using gadgets::AllocatedBit;
using gadgets::AllocatedNum;
using gadgets::Boolean;
using nlohmann::json;

template <class CS>
using Nums = std::vector<AllocatedNum<CS>>;
template <class CS>
using Booleans = std::vector<Boolean<CS>>;

Fr field(const json& hex) {
  const auto bytes = base::bytes32_from_hex(hex.get<std::string>());
  return Fr::from_bytes_le(bytes.value()).value();
}

// One gadget of the golden file: its operands, and the values of the bits that stand for themselves
// in `aux`.
class Golden {
 public:
  explicit Golden(const json& gadget) : gadget_(gadget) {}

  std::size_t num_count() const {
    std::size_t count = 0;
    while (gadget_.at("operands").contains("num " + std::to_string(count))) ++count;
    return count;
  }
  Fr operand(const std::string& name) const { return field(gadget_.at("operands").at(name)); }
  const json& raw_operand(const std::string& name) const { return gadget_.at("operands").at(name); }
  bool aux_bit(std::size_t index) const { return field(gadget_.at("aux").at(index)).is_one(); }

 private:
  const json& gadget_;
};

template <class CS>
Nums<CS> alloc_operands(CS& cs, const Golden& golden) {
  Nums<CS> nums;
  for (std::size_t i = 0; i < golden.num_count(); ++i) {
    nums.push_back(
        gadgets::alloc_num(cs, [&] { return golden.operand("num " + std::to_string(i)); }));
  }
  return nums;
}

template <class CS>
Booleans<CS> alloc_bits(CS& cs, const Golden& golden, std::size_t first_aux, std::size_t count) {
  Booleans<CS> bits;
  for (std::size_t i = 0; i < count; ++i) {
    bits.push_back(gadgets::alloc_bit(cs, [&] { return golden.aux_bit(first_aux + i); }));
  }
  return bits;
}

// Results as field elements; in a system without values, nothing.
class Results {
 public:
  template <class CS>
  void add(const AllocatedNum<CS>& num) {
    if constexpr (CS::kHasValues) values_.push_back(num.value());
  }
  template <class CS>
  void add(const Boolean<CS>& bit) {
    if constexpr (CS::kHasValues) values_.push_back(bit.value() ? Fr::one() : Fr::zero());
  }
  template <class Range>
  void add_all(const Range& range) {
    for (const auto& element : range) add(element);
  }
  const std::vector<Fr>& values() const { return values_; }

 private:
  std::vector<Fr> values_;
};

template <class CS>
void arithmetic(CS& cs, const Golden& golden, Results& results) {
  const auto nums = alloc_operands(cs, golden);
  const auto sum = gadgets::add(cs, nums[0], nums[1]);
  const auto difference = gadgets::sub(cs, sum, nums[1]);
  gadgets::enforce_equal(cs, "equal", difference, nums[0]);
  const auto product = gadgets::mul(cs, nums[0], nums[1]);
  const auto square = gadgets::square(cs, nums[0]);
  results.add_all(Nums<CS>{sum, difference, product, square});
}

template <class CS>
void bit_operations(CS& cs, const Golden& golden, Results& results) {
  const auto bits = alloc_bits(cs, golden, 0, 2);
  const AllocatedBit<CS>&a = bits[0].bit(), &b = bits[1].bit();
  results.add(Boolean<CS>(gadgets::bit_xor(cs, a, b)));
  results.add(Boolean<CS>(gadgets::bit_and(cs, a, b)));
  results.add(Boolean<CS>(gadgets::bit_and_not(cs, a, b)));
  results.add(Boolean<CS>(gadgets::bit_nor(cs, a, b)));
}

template <class CS>
void boolean_cases(CS& cs, const Golden& golden, Results& results) {
  const auto bits = alloc_bits(cs, golden, 0, 2);
  const auto forms = [](const Boolean<CS>& bit) {
    return Booleans<CS>{!bit, bit, Boolean<CS>::constant(true), Boolean<CS>::constant(false)};
  };
  for (const auto& a : forms(bits[0])) {
    for (const auto& b : forms(bits[1])) {
      results.add(gadgets::boolean_xor(cs, a, b));
      results.add(gadgets::boolean_and(cs, a, b));
    }
  }
}

template <class CS>
void conditionally_reverse(CS& cs, const Golden& golden, Results& results) {
  const auto nums = alloc_operands(cs, golden);
  const auto condition = alloc_bits(cs, golden, 2, 1);
  const auto [first, second] = gadgets::conditionally_reverse(cs, nums[0], nums[1], condition[0]);
  results.add_all(Nums<CS>{first, second});
}

template <class CS>
void encode(CS& cs, const Golden& golden, Results& results) {
  const auto nums = alloc_operands(cs, golden);
  results.add(gadgets::add(cs, nums[0], nums[1]));
}

template <class CS>
void inputize(CS& cs, const Golden& golden, Results& results) {
  const auto nums = alloc_operands(cs, golden);
  gadgets::inputize(cs, nums[0]);
  results.add(nums[0]);
}

template <class CS>
void insert(CS& cs, const Golden& golden, Results& results) {
  const auto nums = alloc_operands(cs, golden);
  std::size_t bits = 0;
  while ((std::size_t{1} << bits) < nums.size()) ++bits;
  const auto position = alloc_bits(cs, golden, nums.size(), bits);
  const std::span<const AllocatedNum<CS>> operands = nums;
  results.add_all(gadgets::insert<CS>(cs, operands[0], position, operands.subspan(1)));
}

template <class CS>
void select(CS& cs, const Golden& golden, Results& results) {
  const auto nums = alloc_operands(cs, golden);
  std::size_t bits = 0;
  while ((std::size_t{1} << bits) < nums.size()) ++bits;
  const auto index = alloc_bits(cs, golden, nums.size(), bits);
  results.add(gadgets::select<CS>(cs, nums, index));
}

template <class CS>
void pick(CS& cs, const Golden& golden, Results& results) {
  const auto nums = alloc_operands(cs, golden);
  const auto condition = alloc_bits(cs, golden, 2, 1);
  results.add(gadgets::pick(cs, condition[0], nums[0], nums[1]));
}

template <std::size_t kBits>
struct PackBits {
  template <class CS>
  static void run(CS& cs, const Golden& golden, Results& results) {
    const auto bits = alloc_bits(cs, golden, 0, kBits);
    results.add(gadgets::pack_bits<CS>(cs, bits));
  }
};

template <std::size_t kBits>
struct PackIntoInputs {
  template <class CS>
  static void run(CS& cs, const Golden& golden, Results& results) {
    const auto bits = alloc_bits(cs, golden, 0, kBits);
    gadgets::pack_into_inputs<CS>(cs, bits);
    results.add_all(bits);
  }
};

template <hash::PoseidonDomain kDomain>
struct Poseidon {
  template <class CS>
  static void run(CS& cs, const Golden& golden, Results& results) {
    const auto nums = alloc_operands(cs, golden);
    results.add(gadgets::poseidon<CS>(cs, kDomain, nums));
  }
};

template <class CS>
void sha256_node(CS& cs, const Golden& golden, Results& results) {
  const auto nums = alloc_operands(cs, golden);
  results.add(gadgets::sha256_node(cs, nums[0], nums[1]));
}

template <class CS>
void sha256_of_bytes(CS& cs, const Golden& golden, Results& results) {
  const base::Bytes data = base::from_hex(golden.raw_operand("data").get<std::string>()).value();
  Booleans<CS> bits;
  for (std::size_t i = 0; i < 8 * data.size(); ++i) {
    bits.push_back(gadgets::alloc_bit(cs, [&] { return (data[i / 8] >> (7 - i % 8) & 1) != 0; }));
  }
  results.add_all(gadgets::sha256(cs, bits));
}

template <class CS>
void ch_and_maj(CS& cs, const Golden& golden, Results& results) {
  const auto both = [&](const Boolean<CS>& a, const Boolean<CS>& b, const Boolean<CS>& c) {
    results.add(gadgets::sha256_ch(cs, a, b, c));
    results.add(gadgets::sha256_maj(cs, a, b, c));
  };
  for (std::size_t i = 0; i < 8; ++i) {
    const auto bits = alloc_bits(cs, golden, 6 * i, 3);
    both(bits[0], bits[1], bits[2]);
  }
  const auto bits = alloc_bits(cs, golden, 48, 2);
  const Boolean<CS>&x = bits[0], &y = bits[1];
  const auto yes = Boolean<CS>::constant(true), no = Boolean<CS>::constant(false);
  both(yes, x, y);
  both(no, x, y);
  both(x, yes, y);
  both(x, no, y);
  both(x, y, yes);
  both(x, y, no);
  both(yes, yes, no);
  both(yes, no, yes);
  both(no, yes, yes);
}

template <class CS>
void to_bits(CS& cs, const Golden& golden, Results& results) {
  const auto nums = alloc_operands(cs, golden);
  results.add_all(gadgets::to_bits_le(cs, nums[0]));
}

template <class CS>
void uint32_operations(CS& cs, const Golden& golden, Results& results) {
  using Word = gadgets::UInt32<CS>;
  std::vector<Word> words;
  for (std::size_t i = 0; i < 5; ++i) {
    auto bits = alloc_bits(cs, golden, 32 * i, 32);
    std::reverse(bits.begin(), bits.end());
    words.push_back(gadgets::uint32_from_bits_be<CS>(bits));
  }
  const Word x = Word::bitwise_xor(cs, words[0].rotr(7), words[1].shr(3));
  const Word ch = Word::ch(cs, words[0], words[1], words[2]);
  const Word maj = Word::maj(cs, words[0], words[1], words[2]);
  gadgets::MultiEq<CS> multieq(cs);
  const std::array<Word, 4> operands = {words[3], words[4], x, Word::constant(0x428a2f98)};
  const Word sum = gadgets::add_many<CS>(multieq, operands);
  multieq.finish();
  for (const Word& word : {x, ch, maj, sum}) {
    for (unsigned i = 0; i < 32; ++i) results.add(word.bit(i));
  }
}

template <class CS>
void uint64_input(CS& cs, const Golden& golden, Results& results) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 64; ++i) value |= std::uint64_t{golden.aux_bit(i)} << i;
  const auto bits = gadgets::alloc_uint64(cs, [&] { return value; });
  gadgets::pack_into_inputs<CS>(cs, bits);
  if constexpr (CS::kHasValues) {
    results.add(AllocatedNum<CS>{
        {}, r1cs::KnownFr<CS>(gadgets::packed_value<CS>(std::span<const Boolean<CS>>(bits)))});
  }
}

template <class CS>
void xor_256(CS& cs, const Golden& golden, Results& results) {
  const auto key = alloc_bits(cs, golden, 0, 256);
  const auto input = alloc_bits(cs, golden, 256, 256);
  for (std::size_t i = 0; i < 256; ++i) results.add(gadgets::boolean_xor(cs, input[i], key[i]));
}

template <unsigned kLayer>
struct CreateLabel {
  template <class CS>
  static void run(CS& cs, const Golden& golden, Results& results) {
    const auto bits_of = [&](const std::string& name) {
      const auto num = gadgets::alloc_num(cs, [&] { return golden.operand(name); });
      return gadgets::reverse_bit_numbering(gadgets::to_bits_le(cs, num));
    };
    const auto replica_id = bits_of("replica_id");
    std::vector<Booleans<CS>> parents;
    for (unsigned i = 0; i < (kLayer == 1 ? 6 : 14); ++i)
      parents.push_back(bits_of("parent " + std::to_string(i)));
    const auto node =
        gadgets::alloc_uint64(cs, [&] { return golden.raw_operand("node").get<std::uint64_t>(); });
    results.add(filecoin::porep::create_label(cs, replica_id, kLayer, node, parents));
  }
};

// A Merkle proof of the golden file, with its tree's shape from the numbers of siblings.
struct GoldenPath {
  filecoin::InclusionProof proof;
  filecoin::TreeShape shape{};
  std::uint64_t challenge = 0;
};

GoldenPath golden_path(const Golden& golden, unsigned upper_levels, gadgets::TreeHash tree_hash) {
  const json& from = golden.raw_operand("proof");
  GoldenPath out;
  out.challenge = from.at("challenge");
  out.proof.leaf = field(from.at("leaf"));
  const json& path = from.at("path");
  const auto arity = [&](std::size_t level) {
    return static_cast<unsigned>(path[level][0].size() + 1);
  };
  out.shape.base = arity(0);
  out.shape.base_levels = static_cast<unsigned>(path.size()) - upper_levels;
  if (upper_levels > 0) out.shape.sub = arity(out.shape.base_levels);
  if (upper_levels > 1) out.shape.top = arity(out.shape.base_levels + 1);
  Fr current = out.proof.leaf;
  for (const json& level : path) {
    const std::size_t position = level[1];
    out.proof.positions.push_back(static_cast<std::uint8_t>(position));
    std::vector<Fr> children;
    for (const json& sibling : level[0]) children.push_back(field(sibling));
    out.proof.siblings.insert(out.proof.siblings.end(), children.begin(), children.end());
    children.insert(children.begin() + static_cast<std::ptrdiff_t>(position), current);
    current =
        tree_hash == gadgets::TreeHash::kSha256
            ? hash::sha256_node(children[0], children[1])
            : hash::poseidon(hash::merkle_domain(static_cast<unsigned>(children.size())), children);
  }
  out.proof.root = current;
  return out;
}

template <gadgets::TreeHash kHash, unsigned kUpperLevels>
struct Inclusion {
  template <class CS>
  static void run(CS& cs, const Golden& golden, Results& results) {
    const GoldenPath path = golden_path(golden, kUpperLevels, kHash);
    const auto leaf = gadgets::alloc_num(cs, [&] { return path.proof.leaf; });
    // The reference allocates the root after the path, so it is no variable of ours before.
    const auto root = alloc_late_root(cs, path, leaf);
    results.add_all(Nums<CS>{leaf, root});
    results.add(
        AllocatedNum<CS>{{}, r1cs::known<CS>([&] { return Fr::from_u64(path.challenge); })});
  }

 private:
  template <class CS>
  static AllocatedNum<CS> alloc_late_root(CS& cs, const GoldenPath& path,
                                          const AllocatedNum<CS>& leaf) {
    const auto computed = filecoin::circuit::compute_root(cs, kHash, path.shape, &path.proof, leaf);
    const auto root = gadgets::alloc_num(cs, [&] { return path.proof.root; });
    gadgets::enforce_equal(cs, "enforce root is correct", computed, root);
    return root;
  }
};

template <gadgets::TreeHash kHash, unsigned kUpperLevels>
struct InclusionAt {
  template <class CS>
  static void run(CS& cs, const Golden& golden, Results& results) {
    const GoldenPath path = golden_path(golden, kUpperLevels, kHash);
    std::vector<AllocatedBit<CS>> position;
    unsigned bits = 0;
    for (unsigned level = 0; level < path.shape.levels(); ++level) {
      bits += static_cast<unsigned>(std::countr_zero(path.shape.arity(level)));
    }
    for (unsigned i = 0; i < bits; ++i) {
      position.push_back(gadgets::alloc_bit(cs, [&] { return (path.challenge >> i & 1) != 0; }));
    }
    const auto leaf = gadgets::alloc_num(cs, [&] { return path.proof.leaf; });
    const auto siblings =
        filecoin::circuit::alloc_path(cs, path.shape, path.shape.levels(), &path.proof);
    const auto root = gadgets::alloc_num(cs, [&] { return path.proof.root; });
    gadgets::enforce_inclusion_at<CS>(cs, kHash, position, leaf, siblings, root);
    results.add_all(Nums<CS>{leaf, root});
  }
};

// One gadget for each of the three systems.
struct Gadget {
  std::function<void(r1cs::SymbolicSystem&, const Golden&, Results&)> symbolic;
  std::function<void(r1cs::CheckedSystem&, const Golden&, Results&)> checked;
  std::function<void(r1cs::WitnessBuilder&, const Golden&, Results&)> witness;
};

#define CUZK_GADGET(function)                                                                     \
  Gadget {                                                                                        \
    function<r1cs::SymbolicSystem>, function<r1cs::CheckedSystem>, function<r1cs::WitnessBuilder> \
  }
template <class G>
Gadget gadget() {
  return CUZK_GADGET(G::template run);
}

std::map<std::string, Gadget> all_gadgets() {
  using gadgets::TreeHash;
  using hash::PoseidonDomain;
  std::map<std::string, Gadget> out = {
      {"add sub equal mul", CUZK_GADGET(arithmetic)},
      {"boolean cases", CUZK_GADGET(boolean_cases)},
      {"create_label layer 1", gadget<CreateLabel<1>>()},
      {"create_label layer 2", gadget<CreateLabel<2>>()},
      {"encode", CUZK_GADGET(encode)},
      {"inputize", CUZK_GADGET(inputize)},
      {"insert 16 at 11", CUZK_GADGET(insert)},
      {"pack_bits 0", gadget<PackBits<0>>()},
      {"pack_bits 4", gadget<PackBits<4>>()},
      {"pack_bits 253", gadget<PackBits<253>>()},
      {"pack_into_inputs 10", gadget<PackIntoInputs<10>>()},
      {"pack_into_inputs 253", gadget<PackIntoInputs<253>>()},
      {"pack_into_inputs 254", gadget<PackIntoInputs<254>>()},
      {"pack_into_inputs 256", gadget<PackIntoInputs<256>>()},
      {"poseidon column 11", gadget<Poseidon<PoseidonDomain::kMerkle11>>()},
      {"poseidon column 2", gadget<Poseidon<PoseidonDomain::kMerkle2>>()},
      {"poseidon gen_randomness", gadget<Poseidon<PoseidonDomain::kGenRandomness2>>()},
      {"poseidon hash2_circuit", gadget<Poseidon<PoseidonDomain::kMerkle2>>()},
      {"poseidon merkle 2", gadget<Poseidon<PoseidonDomain::kMerkle2>>()},
      {"poseidon merkle 4", gadget<Poseidon<PoseidonDomain::kMerkle4>>()},
      {"poseidon merkle 8", gadget<Poseidon<PoseidonDomain::kMerkle8>>()},
      {"por poseidon 2", gadget<Inclusion<TreeHash::kPoseidon, 0>>()},
      {"por poseidon 8", gadget<Inclusion<TreeHash::kPoseidon, 0>>()},
      {"por poseidon 8-2", gadget<Inclusion<TreeHash::kPoseidon, 1>>()},
      {"por poseidon 8-8", gadget<Inclusion<TreeHash::kPoseidon, 1>>()},
      {"por poseidon 8-8-2", gadget<Inclusion<TreeHash::kPoseidon, 2>>()},
      {"por sha256 2", gadget<Inclusion<TreeHash::kSha256, 0>>()},
      {"por_no_challenge_input poseidon 2", gadget<InclusionAt<TreeHash::kPoseidon, 0>>()},
      {"por_no_challenge_input poseidon 8", gadget<InclusionAt<TreeHash::kPoseidon, 0>>()},
      {"por_no_challenge_input poseidon 8-2", gadget<InclusionAt<TreeHash::kPoseidon, 1>>()},
      {"por_no_challenge_input poseidon 8-8", gadget<InclusionAt<TreeHash::kPoseidon, 1>>()},
      {"por_no_challenge_input poseidon 8-8-2", gadget<InclusionAt<TreeHash::kPoseidon, 2>>()},
      {"por_no_challenge_input sha256 2", gadget<InclusionAt<TreeHash::kSha256, 0>>()},
      {"sha256 ch maj", CUZK_GADGET(ch_and_maj)},
      {"sha256 hash2_circuit", CUZK_GADGET(sha256_node)},
      {"sha256 merkle 2", CUZK_GADGET(sha256_node)},
      {"sha256 of 64 bytes", CUZK_GADGET(sha256_of_bytes)},
      {"to_bits_le", CUZK_GADGET(to_bits)},
      {"uint32 ops", CUZK_GADGET(uint32_operations)},
      {"uint64 pack_into_input", CUZK_GADGET(uint64_input)},
      {"xor 256", CUZK_GADGET(xor_256)},
  };
  for (const char* bits : {"00", "01", "10", "11"})
    out[std::string("bit ops ") + bits] = CUZK_GADGET(bit_operations);
  for (const char* condition : {"false", "true"}) {
    out[std::string("conditionally_reverse ") + condition] = CUZK_GADGET(conditionally_reverse);
    out[std::string("pick ") + condition] = CUZK_GADGET(pick);
  }
  for (const unsigned size : {2u, 4u, 8u}) {
    for (unsigned i = 0; i < size; ++i) {
      out["insert " + std::to_string(size) + " at " + std::to_string(i)] = CUZK_GADGET(insert);
    }
  }
  for (const unsigned size : {2u, 8u, 128u})
    out["select " + std::to_string(size)] = CUZK_GADGET(select);
  return out;
}
#undef CUZK_GADGET

const json& golden_gadgets() {
  static const json all = testing::golden_json("gadgets.json").at("gadgets");
  return all;
}

void expect_values(const json& golden, const std::vector<Fr>& values) {
  ASSERT_EQ(values.size(), golden.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(to_hex(values[i]), golden[i]) << "value " << i;
}

std::string sha256_of(const std::vector<Fr>& values) {
  hash::Sha256 stream;
  for (const Fr& value : values) stream.update(value.to_bytes_le());
  return base::to_hex(stream.finish());
}

void expect_constraints(const json& golden,
                        const std::vector<r1cs::CheckedSystem::Constraint>& constraints) {
  const json& coefficients = golden.at("coeffs");
  ASSERT_EQ(constraints.size(), golden.at("constraints").size());
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    for (unsigned m = 0; m < 3; ++m) {
      const json& row = golden.at("constraints")[i][m];
      ASSERT_EQ(constraints[i].rows[m].size(), row.size())
          << "constraint " << i << ", matrix " << m;
      for (std::size_t k = 0; k < row.size(); ++k) {
        const r1cs::Term& term = constraints[i].rows[m][k];
        ASSERT_EQ(term.variable.key(), row[k][0])
            << "constraint " << i << ", matrix " << m << ", term " << k;
        ASSERT_EQ(to_hex(term.coefficient), coefficients[row[k][1].get<std::size_t>()])
            << "constraint " << i;
      }
    }
  }
}

class GoldenGadget : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenGadget, ConstraintsWitnessAndResult) {
  const json& golden = golden_gadgets().at(GetParam());
  const Golden operands(golden);
  const Gadget gadget = all_gadgets().at(GetParam());

  r1cs::ShapeBuilder builder;
  Results nothing;
  gadget.symbolic(builder, operands, nothing);
  const r1cs::Shape shape = builder.finish();
  EXPECT_EQ(shape.num_inputs(), golden.at("num_inputs"));
  EXPECT_EQ(shape.num_aux(), golden.at("num_aux"));
  EXPECT_EQ(shape.num_constraints(), golden.at("num_constraints"));
  for (unsigned m = 0; m < 3; ++m) EXPECT_EQ(shape.nnz()[m], golden.at("nnz")[m]);
  r1cs::ConstraintStream stream(golden.at("checkpoint_every").get<std::uint64_t>());
  r1cs::stream_shape(shape, stream);
  ASSERT_EQ(stream.checkpoints().size(), golden.at("checkpoints").size());
  for (std::size_t i = 0; i < stream.checkpoints().size(); ++i) {
    ASSERT_EQ(base::to_hex(stream.checkpoints()[i].digest), golden.at("checkpoints")[i])
        << "checkpoint " << i;
  }
  EXPECT_EQ(base::to_hex(stream.digest()), golden.at("digest"));

  r1cs::CheckedSystem checked({.record = golden.at("full").get<bool>()});
  Results checked_results;
  gadget.checked(checked, operands, checked_results);
  EXPECT_EQ(checked.first_unsatisfied(), std::nullopt);
  expect_values(golden.at("input"), checked.inputs());
  EXPECT_EQ(sha256_of(checked.aux()), golden.at("aux_sha256"));
  expect_values(golden.at("result"), checked_results.values());
  if (golden.at("full").get<bool>()) {
    expect_values(golden.at("aux"), checked.aux());
    expect_constraints(golden, checked.constraints());
  }

  r1cs::WitnessBuilder witness_builder(shape);
  Results witness_results;
  gadget.witness(witness_builder, operands, witness_results);
  const r1cs::Witness witness = witness_builder.finish();
  EXPECT_EQ(witness.inputs, checked.inputs());
  EXPECT_EQ(r1cs::expand_aux(shape, witness), checked.aux());
  EXPECT_EQ(witness_results.values(), checked_results.values());
}

std::vector<std::string> gadget_names() {
  std::vector<std::string> names;
  for (const auto& [name, gadget] : all_gadgets()) names.push_back(name);
  return names;
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == ' ' || c == '-'; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Gadgets, GoldenGadget, ::testing::ValuesIn(gadget_names()), test_name);

TEST(GoldenGadgets, NoneIsMissing) {
  std::vector<std::string> golden;
  for (const auto& [name, gadget] : golden_gadgets().items()) golden.push_back(name);
  EXPECT_EQ(gadget_names(), golden);
}

}  // namespace
}  // namespace cuzk
