#include "base/error.hpp"
#include "groth16/cuda/device_key.hpp"
#include "groth16/cuda/key_points.cuh"
#include "groth16/ops/cuda/batch_add_plan.hpp"

#include <utility>

namespace cuzk::groth16::cuda {

using curve::device::G1;
using curve::device::G2;

struct DeviceKey::Memory {
  VerifyingKey verifying_key;
  PointMemory<G1> h;
  QueryMemory<G1> l, a, b_g1;
  QueryMemory<G2> b_g2;
};

namespace {

// What a pipe's chunk and its points may take: about 128 MiB pinned, 512 MiB on the device.
constexpr std::size_t kPipeBytes = std::size_t{1} << 26;
constexpr std::size_t kChunkPoints = std::size_t{1} << 20;

template <class G, class Source>
PointMemory<G> make_points(ChunkPipe& pipe, const Source& source, std::size_t count,
                           Placement placement) {
  return pass_array<G>(pipe, source, kChunkPoints, count, placement, "the key's query h");
}
template <class G, class Source>
QueryMemory<G> make_query(ChunkPipe& pipe, const Source& source, const KeyOrder& order,
                          Placement placement) {
  return pass_query<G>(pipe, source, kChunkPoints, order, placement);
}

template <class G>
QueryMemory<G> load_query(ChunkPipe& pipe, const base::MappedFile& file, const Section& section,
                          std::string_view what, const KeyOrder& order, Placement placement,
                          IdentityRule identity = IdentityRule::kForbidden) {
  const FilePoints<G> source(file, section, what, identity, pipe.stream());
  QueryMemory<G> out = make_query<G>(pipe, source, order, placement);
  source.require_good(pipe.stream());
  return out;
}

// A query of a host key, its points brought back into the key's order.
template <class G, class F>
QueryMemory<G> upload_query(ChunkPipe& pipe, const Query<F>& query, std::string_view what,
                            const KeyOrder& order, Placement placement) {
  base::require(
      query.fields.size() == order.field_count() && query.bits.size() == order.bit_count(),
      "proving key: {} has {} fields and {} bits, the circuit {} and {}", what, query.fields.size(),
      query.bits.size(), order.field_count(), order.bit_count());
  const auto point_at = [&](std::size_t p) {
    const std::size_t bits = order.bits_before(p);
    return order.bits_before(p + 1) != bits ? &query.bits[bits] : &query.fields[p - bits];
  };
  return make_query<G>(pipe, HostPoints<G, decltype(point_at)>(point_at), order, placement);
}

// Points p -> logarithms[index of p's variable], inputs first. Without `has_inputs` the logarithms
// are of the aux variables only.
template <class G>
QueryMemory<G> multiply_query(ChunkPipe& pipe, const FixedBaseTable<G>& table,
                              std::span<const curve::Fr> logarithms, std::size_t inputs,
                              const KeyOrder& order, Placement placement) {
  const auto write = [&](std::span<curve::Fr> out, std::size_t begin) {
    base::parallel_ranges(out.size(), 4096, [&](std::size_t first, std::size_t last) {
      order.for_each(begin + first, begin + last,
                     [&](std::size_t point, bool is_aux, std::uint32_t index) {
                       out[point - begin] = logarithms[is_aux ? inputs + index : index];
                     });
    });
  };
  return make_query<G>(pipe, Multiples<G, decltype(write)>(table, write), order, placement);
}
template <class G>
PointMemory<G> multiply_points(ChunkPipe& pipe, const FixedBaseTable<G>& table,
                               std::span<const curve::Fr> logarithms, Placement placement) {
  const auto write = [&](std::span<curve::Fr> out, std::size_t begin) {
    base::parallel_ranges(out.size(), 4096, [&](std::size_t first, std::size_t last) {
      std::copy(logarithms.begin() + static_cast<std::ptrdiff_t>(begin + first),
                logarithms.begin() + static_cast<std::ptrdiff_t>(begin + last),
                out.begin() + static_cast<std::ptrdiff_t>(first));
    });
  };
  return make_points<G>(pipe, Multiples<G, decltype(write)>(table, write), logarithms.size(),
                        placement);
}

}  // namespace

DeviceKey::DeviceKey(std::unique_ptr<Memory> memory) : memory_(std::move(memory)) {}
DeviceKey::DeviceKey(DeviceKey&& other) noexcept = default;
DeviceKey& DeviceKey::operator=(DeviceKey&& other) noexcept = default;
DeviceKey::~DeviceKey() = default;

DeviceKey DeviceKey::load(const KeyFile& file, const DerivedKeyFile* derived,
                          const KeyLayout& layout, const KeyPlacement& placement,
                          base::cuda::StreamRef stream) {
  const bool derivative = layout.form == QuotientForm::kDerivative;
  base::require(!derivative || derived != nullptr,
                "{}: the derivative form needs its derived key file", file.name());
  base::require(derivative || derived == nullptr, "{}: the textbook form needs no derived key file",
                file.name());
  file.require_circuit(layout);
  if (derivative) derived->require_source(file, layout);
  const base::MappedFile& h_file = derivative ? derived->file() : file.file();
  const Section& h_section = derivative ? derived->q() : file.h();
  const Section& l_section = derivative ? derived->l() : file.l();
  const IdentityRule identity = derivative ? IdentityRule::kAllowed : IdentityRule::kForbidden;

  auto memory = std::make_unique<Memory>();
  memory->verifying_key = file.verifying_key();
  ChunkPipe pipe(kPipeBytes, stream);
  {
    const FilePoints<G1> h(h_file, h_section, derivative ? "q" : "h", identity, stream);
    memory->h = make_points<G1>(pipe, h, layout.h_count, placement.h);
    h.require_good(stream);
  }
  memory->l =
      load_query<G1>(pipe, h_file, l_section, "l", KeyOrder(layout.l), placement.l, identity);
  memory->a = load_query<G1>(pipe, file.file(), file.a(), "a", KeyOrder(layout.a), placement.a);
  const KeyOrder b(layout.b);
  memory->b_g1 = load_query<G1>(pipe, file.file(), file.b_g1(), "b_g1", b, placement.b_g1);
  memory->b_g2 = load_query<G2>(pipe, file.file(), file.b_g2(), "b_g2", b, placement.b_g2);
  return DeviceKey(std::move(memory));
}

DeviceKey DeviceKey::upload(const ProvingKey& key, const KeyLayout& layout,
                            const KeyPlacement& placement, base::cuda::StreamRef stream) {
  base::require(key.h.size() == layout.h_count, "proving key: h has {} points, the circuit {}",
                key.h.size(), layout.h_count);
  auto memory = std::make_unique<Memory>();
  memory->verifying_key = key.verifying_key;
  ChunkPipe pipe(kPipeBytes, stream);
  const auto h_at = [&](std::size_t i) { return &key.h[i]; };
  memory->h =
      make_points<G1>(pipe, HostPoints<G1, decltype(h_at)>(h_at), layout.h_count, placement.h);
  memory->l = upload_query<G1>(pipe, key.l, "l", KeyOrder(layout.l), placement.l);
  memory->a = upload_query<G1>(pipe, key.a, "a", KeyOrder(layout.a), placement.a);
  const KeyOrder b(layout.b);
  memory->b_g1 = upload_query<G1>(pipe, key.b_g1, "b_g1", b, placement.b_g1);
  memory->b_g2 = upload_query<G2>(pipe, key.b_g2, "b_g2", b, placement.b_g2);
  base::cuda::synchronize(stream);
  return DeviceKey(std::move(memory));
}

DeviceKey DeviceKey::make(const r1cs::Shape& shape, const KeyLayout& layout,
                          const Trapdoor& trapdoor, const KeyPlacement& placement,
                          base::cuda::StreamRef stream) {
  const std::size_t inputs = shape.num_inputs();
  base::require(layout.num_inputs == inputs && layout.num_rows == shape.num_rows() &&
                    layout.variables.num_aux() == shape.num_aux(),
                "setup: the layout is not the circuit's");
  QueryLogarithms logarithms = query_logarithms(shape, trapdoor);
  auto memory = std::make_unique<Memory>();
  memory->verifying_key = make_verifying_key(trapdoor, logarithms.ic);
  ChunkPipe pipe(kPipeBytes, stream);
  const KeyOrder b(layout.b);
  {
    const FixedBaseTable<G2> g2(stored<G2>(trapdoor.g2), b.size(), stream);
    memory->b_g2 = multiply_query<G2>(pipe, g2, logarithms.b, inputs, b, placement.b_g2);
  }
  const KeyOrder l(layout.l), a(layout.a);
  const FixedBaseTable<G1> g1(stored<G1>(trapdoor.g1),
                              layout.h_count + l.size() + a.size() + b.size(), stream);
  memory->b_g1 = multiply_query<G1>(pipe, g1, logarithms.b, inputs, b, placement.b_g1);
  logarithms.b = {};
  memory->a = multiply_query<G1>(pipe, g1, logarithms.a, inputs, a, placement.a);
  logarithms.a = {};
  std::size_t l_inputs = 0;
  if (layout.form == QuotientForm::kDerivative) {
    logarithms.h = {};
    DerivedLogarithms derived = derived_logarithms(shape, trapdoor, logarithms.l);
    logarithms.h = std::move(derived.q);
    logarithms.l = std::move(derived.l);
    l_inputs = inputs;
  }
  memory->l = multiply_query<G1>(pipe, g1, logarithms.l, l_inputs, l, placement.l);
  logarithms.l = {};
  memory->h = multiply_points<G1>(pipe, g1, logarithms.h, placement.h);
  base::cuda::synchronize(stream);
  return DeviceKey(std::move(memory));
}

namespace {

// Points of each group that a key has on the device and in host memory.
struct PointCounts {
  std::size_t g1_device = 0, g2_device = 0, g1_host = 0, g2_host = 0;
};
PointCounts count_points(const KeyLayout& layout, const KeyPlacement& placement) {
  PointCounts out;
  (placement.h == Placement::kHost ? out.g1_host : out.g1_device) += layout.h_count;
  const auto add = [](const QueryLayout& query, Placement bits, std::size_t& device,
                      std::size_t& host) {
    device += query.field_count();
    if (bits == Placement::kHost) {
      host += query.bit_count;
    } else {
      device += bits == Placement::kTable ? group_table_points(query.bit_count) : query.bit_count;
    }
  };
  add(layout.l, placement.l, out.g1_device, out.g1_host);
  add(layout.a, placement.a, out.g1_device, out.g1_host);
  add(layout.b, placement.b_g1, out.g1_device, out.g1_host);
  add(layout.b, placement.b_g2, out.g2_device, out.g2_host);
  return out;
}

}  // namespace

std::size_t DeviceKey::device_bytes(const KeyLayout& layout, const KeyPlacement& placement) {
  const auto points = count_points(layout, placement);
  return points.g1_device * sizeof(StoredAffine<G1>) + points.g2_device * sizeof(StoredAffine<G2>);
}
std::size_t DeviceKey::host_bytes(const KeyLayout& layout, const KeyPlacement& placement) {
  const auto points = count_points(layout, placement);
  return points.g1_host * sizeof(StoredAffine<G1>) + points.g2_host * sizeof(StoredAffine<G2>);
}

const VerifyingKey& DeviceKey::verifying_key() const { return memory_->verifying_key; }
base::cuda::DeviceSpan<const curve::device::G1Affine> DeviceKey::h() const {
  return memory_->h.device.const_span();
}
std::span<const curve::device::G1Affine> DeviceKey::host_h() const {
  return memory_->h.host.span();
}
const DeviceQuery<G1>& DeviceKey::l() const { return memory_->l.query; }
const DeviceQuery<G1>& DeviceKey::a() const { return memory_->a.query; }
const DeviceQuery<G1>& DeviceKey::b_g1() const { return memory_->b_g1.query; }
const DeviceQuery<G2>& DeviceKey::b_g2() const { return memory_->b_g2.query; }

}  // namespace cuzk::groth16::cuda
