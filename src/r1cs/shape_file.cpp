#include "r1cs/shape_file.hpp"

#include "base/error.hpp"
#include "base/mapped_file.hpp"
#include "hash/sha256.hpp"

#include <algorithm>
#include <cstring>

namespace cuzk::r1cs {

namespace {

using base::ByteView;
using base::CorruptData;
using base::fail;

constexpr char kMagic[8] = {'c', 'u', 'z', 'k', 's', 'h', 'p', '\n'};
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kAlignment = 8;

struct Header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t reserved;
  std::uint64_t payload_bytes;
  std::uint64_t reserved2;
  std::uint8_t digest[32];  // SHA-256 of the payload
};
static_assert(sizeof(Header) == 64);

struct PayloadHeader {
  std::uint32_t identity_bytes;
  std::uint32_t num_inputs, num_aux, num_fields;
  std::uint64_t num_constraints;
  std::uint32_t palette_size;
  std::uint32_t blocks;
};
static_assert(sizeof(PayloadHeader) == 32);

struct BlockHeader {
  std::uint32_t copies, first_input, inputs, first_aux, aux, first_field, fields, constraints,
      ports, terms[3];
  std::uint64_t first_constraint;
};
static_assert(sizeof(BlockHeader) == 56);

// Writes the payload twice: once into the digest, then into the file.
class Sink {
 public:
  virtual ~Sink() = default;
  template <class T>
  void value(const T& value) {
    put({reinterpret_cast<const std::uint8_t*>(&value), sizeof value});
  }
  template <class T>
  void array(std::span<const T> values) {
    put({reinterpret_cast<const std::uint8_t*>(values.data()), values.size_bytes()});
    pad();
  }
  void pad() {
    static constexpr std::uint8_t kZeros[kAlignment] = {};
    put(ByteView(kZeros, (kAlignment - bytes_ % kAlignment) % kAlignment));
  }
  std::uint64_t bytes() const { return bytes_; }

 protected:
  void put(ByteView bytes) {
    bytes_ += bytes.size();
    write(bytes);
  }
  virtual void write(ByteView bytes) = 0;

 private:
  std::uint64_t bytes_ = 0;
};

class DigestSink final : public Sink {
 public:
  base::Bytes32 digest() { return hash_.finish(); }

 private:
  void write(ByteView bytes) override { hash_.update(bytes); }
  hash::Sha256 hash_;
};

class FileSink final : public Sink {
 public:
  explicit FileSink(base::FileWriter& file) : file_(file) {}

 private:
  void write(ByteView bytes) override { file_.write(bytes); }
  base::FileWriter& file_;
};

void write_payload(const Shape& shape, std::string_view identity, Sink& sink) {
  sink.value(PayloadHeader{static_cast<std::uint32_t>(identity.size()), shape.num_inputs(),
                           shape.num_aux(), shape.num_fields(), shape.num_constraints(),
                           static_cast<std::uint32_t>(shape.palette().size()),
                           static_cast<std::uint32_t>(shape.blocks().size())});
  sink.array(base::as_bytes(identity));
  for (const curve::Fr& coefficient : shape.palette()) sink.value(coefficient.to_bytes_le());
  for (const Block& block : shape.blocks()) {
    BlockHeader header{
        block.copies,          block.first_input, block.inputs,      block.first_aux, block.aux,
        block.first_field,     block.fields,      block.constraints, block.ports,     {},
        block.first_constraint};
    for (unsigned m = 0; m < 3; ++m)
      header.terms[m] = static_cast<std::uint32_t>(block.matrices[m].columns.size());
    sink.value(header);
    for (const Rows& rows : block.matrices) {
      sink.array(rows.offsets);
      sink.array(rows.columns);
      sink.array(rows.coefficients);
    }
    sink.array(block.bit_mask);
    sink.array(block.port_keys);
  }
}

// Reads the payload in place; every read is checked against the end.
class PayloadReader {
 public:
  PayloadReader(const base::MappedFile& file, ByteView payload) : file_(file), payload_(payload) {}

  template <class T>
  T value() {
    T out;
    std::memcpy(&out, take(sizeof out).data(), sizeof out);
    return out;
  }
  template <class T>
  std::span<const T> array(std::uint64_t count) {
    if (count > payload_.size() / sizeof(T)) damaged("an array reaches beyond the end");
    const ByteView bytes = take(count * sizeof(T));
    take((kAlignment - offset_ % kAlignment) % kAlignment);
    return {reinterpret_cast<const T*>(bytes.data()), count};
  }
  bool at_end() const { return offset_ == payload_.size(); }
  void expect(bool condition, const char* what) const {
    if (!condition) damaged(what);
  }
  [[noreturn]] void damaged(const char* what) const {
    fail<CorruptData>("shape file {} is damaged: {}; remove it and it will be built again",
                      file_.path().string(), what);
  }

 private:
  ByteView take(std::uint64_t count) {
    if (count > payload_.size() - offset_) damaged("it ends too early");
    const ByteView out = payload_.subspan(offset_, count);
    offset_ += count;
    return out;
  }

  const base::MappedFile& file_;
  ByteView payload_;
  std::size_t offset_ = 0;
};

void check_rows(const PayloadReader& reader, const Block& block, const Rows& rows,
                std::size_t palette_size) {
  reader.expect(rows.offsets.front() == 0 && rows.offsets.back() == rows.columns.size() &&
                    std::is_sorted(rows.offsets.begin(), rows.offsets.end()),
                "row offsets are out of order");
  const std::uint32_t limits[Column::kKinds] = {
      block.first_input, block.copies > 1 ? block.inputs : 0, block.first_aux, block.ports,
      block.copies > 1 ? block.aux : 0};
  // A block with one copy names its own variables by number, like earlier ones.
  const std::uint32_t own_inputs = block.copies == 1 ? block.inputs : 0,
                      own_aux = block.copies == 1 ? block.aux : 0;
  bool columns_ok = true, coefficients_ok = true;
  for (const std::uint32_t word : rows.columns) {
    const std::uint32_t kind = word >> 29, index = word & Column::kMaxIndex;
    if (kind >= Column::kKinds) {
      columns_ok = false;
      break;
    }
    const std::uint32_t own = kind == static_cast<std::uint32_t>(Column::Kind::kInput) ? own_inputs
                              : kind == static_cast<std::uint32_t>(Column::Kind::kAux) ? own_aux
                                                                                       : 0;
    columns_ok = columns_ok && index < limits[kind] + own;
  }
  for (const std::uint16_t coefficient : rows.coefficients)
    coefficients_ok = coefficients_ok && coefficient < palette_size;
  reader.expect(columns_ok, "a column is out of range");
  reader.expect(coefficients_ok, "a coefficient is out of range");
}

Block read_block(PayloadReader& reader, std::size_t palette_size) {
  const auto header = reader.value<BlockHeader>();
  Block block;
  block.copies = header.copies;
  block.first_input = header.first_input;
  block.inputs = header.inputs;
  block.first_aux = header.first_aux;
  block.aux = header.aux;
  block.first_field = header.first_field;
  block.fields = header.fields;
  block.first_constraint = header.first_constraint;
  block.constraints = header.constraints;
  block.ports = header.ports;
  for (unsigned m = 0; m < 3; ++m) {
    Rows& rows = block.matrices[m];
    rows.offsets = reader.array<std::uint32_t>(std::uint64_t{header.constraints} + 1);
    rows.columns = reader.array<std::uint32_t>(header.terms[m]);
    rows.coefficients = reader.array<std::uint16_t>(header.terms[m]);
    check_rows(reader, block, rows, palette_size);
  }
  block.bit_mask = reader.array<std::uint64_t>((std::uint64_t{block.aux} + 63) / 64);
  block.port_keys = reader.array<std::uint32_t>(std::uint64_t{block.copies} * block.ports);
  for (const std::uint32_t key : block.port_keys) {
    const Variable port = Variable::from_key(key);
    reader.expect(port.is_aux() && port.index() < block.first_aux, "a port is out of range");
  }
  std::uint64_t bits = 0;
  for (const std::uint64_t word : block.bit_mask)
    bits += static_cast<std::uint64_t>(std::popcount(word));
  reader.expect(block.copies > 0 && bits + block.fields == block.aux,
                "a block's variables do not add up");
  return block;
}

// The payload, after the header was found to be right.
ByteView checked_payload(const base::MappedFile& file) {
  const std::string name = file.path().string();
  Header header;
  if (file.bytes().size() < sizeof header)
    fail<CorruptData>("{} is no shape file: it has {} bytes", name, file.bytes().size());
  std::memcpy(&header, file.bytes().data(), sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0)
    fail<CorruptData>("{} is no shape file", name);
  if (header.version != kVersion) {
    fail<CorruptData>(
        "shape file {} has version {}, this program reads {}; remove it and it will be built again",
        name, header.version, kVersion);
  }
  const ByteView payload = file.bytes().subspan(sizeof header);
  if (header.reserved != 0 || header.reserved2 != 0)
    fail<CorruptData>("shape file {} is damaged: its header is not version 1's", name);
  if (payload.size() != header.payload_bytes) {
    fail<CorruptData>(
        "shape file {} has {} bytes after its header, not {}; remove it and it will be built again",
        name, payload.size(), header.payload_bytes);
  }
  hash::Sha256 digest;
  digest.update(payload);
  const base::Bytes32 found = digest.finish();
  if (std::memcmp(found.data(), header.digest, sizeof header.digest) != 0) {
    fail<CorruptData>(
        "shape file {} is damaged: its SHA-256 is {}, not {}; remove it and it will be built again",
        name, base::to_hex(found), base::to_hex(ByteView(header.digest, sizeof header.digest)));
  }
  return payload;
}

}  // namespace

void save_shape(const Shape& shape, std::string_view identity, const std::filesystem::path& path) {
  DigestSink digest;
  write_payload(shape, identity, digest);
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kVersion;
  header.payload_bytes = digest.bytes();
  const base::Bytes32 sha256 = digest.digest();
  std::memcpy(header.digest, sha256.data(), sha256.size());

  base::FileWriter file(path);
  file.write({reinterpret_cast<const std::uint8_t*>(&header), sizeof header});
  FileSink sink(file);
  write_payload(shape, identity, sink);
  file.commit();
}

Shape load_shape(const std::filesystem::path& path, std::string_view identity) {
  // Read as long as the shape lives, by those who take its rows for granted.
  const auto file = std::make_shared<base::MappedFile>(path, base::ReadFault::kKills);
  PayloadReader reader(*file, checked_payload(*file));
  const auto header = reader.value<PayloadHeader>();
  const auto found_identity = reader.array<std::uint8_t>(header.identity_bytes);
  const std::string_view found(reinterpret_cast<const char*>(found_identity.data()),
                               found_identity.size());
  if (found != identity) {
    fail<CorruptData>("shape file {} is of the circuit {}, not {}", path.string(), found, identity);
  }
  std::vector<curve::Fr> palette;
  for (const base::Bytes32& bytes : reader.array<base::Bytes32>(header.palette_size)) {
    const auto coefficient = curve::Fr::from_bytes_le(bytes);
    reader.expect(coefficient.has_value(), "a coefficient is no field element");
    palette.push_back(*coefficient);
  }
  std::vector<Block> blocks;
  std::uint64_t inputs = 1, aux = 0, fields = 0, constraints = 0;
  for (std::uint32_t i = 0; i < header.blocks; ++i) {
    const Block block = read_block(reader, palette.size());
    reader.expect(block.first_input == inputs && block.first_aux == aux &&
                      block.first_field == fields && block.first_constraint == constraints,
                  "its blocks do not follow each other");
    inputs += std::uint64_t{block.copies} * block.inputs;
    aux += std::uint64_t{block.copies} * block.aux;
    fields += std::uint64_t{block.copies} * block.fields;
    constraints += std::uint64_t{block.copies} * block.constraints;
    blocks.push_back(block);
  }
  reader.expect(reader.at_end() && inputs == header.num_inputs && aux == header.num_aux &&
                    fields == header.num_fields && constraints == header.num_constraints,
                "its counts do not add up");
  return Shape({.inputs = header.num_inputs,
                .aux = header.num_aux,
                .fields = header.num_fields,
                .constraints = header.num_constraints},
               std::move(blocks), std::move(palette), file);
}

}  // namespace cuzk::r1cs
