#include "base/error.hpp"
#include "groth16/ops/cuda/index_list.cuh"
#include "groth16/ops/cuda/instances/quotient.hpp"
#include "groth16/ops/cuda/quotient.cuh"

#include <optional>

namespace cuzk::groth16::cuda {

using base::cuda::DeviceSpan;
using base::cuda::StreamRef;

namespace {

/// Places of the transform's tables and, in the textbook form, the quotient's.
struct TableMemory {
  DeviceSpan<std::byte> ntt, textbook;

  static TableMemory carve(const Quotient::Options& options, base::cuda::Carver& carver) {
    TableMemory memory;
    memory.ntt =
        carver.take<std::byte>(Ntt::table_bytes(options.log_n, {options.full_twist_table}));
    if (options.form == QuotientForm::kTextbook)
      memory.textbook = carver.take<std::byte>(TextbookQuotient::table_bytes(options.log_n));
    return memory;
  }
};

struct Workspace {
  DeviceSpan<std::uint32_t> nonzero;
  IndexList list;

  static Workspace carve(int log_n, base::cuda::Carver& carver) {
    const std::size_t n = std::size_t{1} << log_n;
    return {carver.take<std::uint32_t>((n + 31) / 32), IndexList::carve(n, carver)};
  }
};

}  // namespace

struct Quotient::Tables {
  Tables(const Options& options, const TableMemory& memory, StreamRef stream)
      : ntt(options.log_n, {options.full_twist_table}, memory.ntt, stream) {
    if (options.form == QuotientForm::kTextbook)
      textbook.emplace(options.log_n, memory.textbook, stream);
  }

  Ntt ntt;
  std::optional<TextbookQuotient> textbook;
};

std::size_t Quotient::table_bytes(const Options& options) {
  base::cuda::Carver measure;
  TableMemory::carve(options, measure);
  return measure.bytes_used();
}

Quotient::Quotient(const Options& options, DeviceSpan<std::byte> memory, StreamRef stream) {
  base::cuda::Carver carver(memory);
  const TableMemory places = TableMemory::carve(options, carver);
  base::require(carver.fits(), "tables of a quotient of 2^{} rows need {} bytes, given {}",
                options.log_n, carver.bytes_used(), memory.size);
  tables_ = std::make_unique<const Tables>(options, places, stream);
}
Quotient::~Quotient() = default;
Quotient::Quotient(Quotient&&) noexcept = default;
Quotient& Quotient::operator=(Quotient&&) noexcept = default;

std::size_t Quotient::workspace_bytes(int log_n) {
  base::cuda::Carver measure;
  Workspace::carve(log_n, measure);
  return measure.bytes_used();
}

Quotient::Nonzero Quotient::derivative(DeviceSpan<curve::device::Fr> a,
                                       DeviceSpan<curve::device::Fr> b,
                                       const ConstraintValues& values,
                                       DeviceSpan<std::byte> workspace, StreamRef stream) const {
  const std::size_t n = tables_->ntt.n();
  base::require(a.size == n && b.size == n, "quotient of {} rows: given {} and {} values", n,
                a.size, b.size);
  base::cuda::Carver carver(workspace);
  const Workspace w = Workspace::carve(tables_->ntt.log_n(), carver);
  base::require(carver.fits(), "quotient of {} rows needs a workspace of {} bytes, given {}", n,
                carver.bytes_used(), workspace.size);
  derivative_scalars(tables_->ntt, a.data, b.data, values, w.nonzero.data, stream);
  list_ones(w.nonzero.data, n, w.list, stream);
  return {w.list.indices.data, w.list.count(n)};
}

void Quotient::textbook(DeviceSpan<curve::device::Fr> a, DeviceSpan<curve::device::Fr> b,
                        DeviceSpan<curve::device::Fr> c, StreamRef stream) const {
  const std::size_t n = tables_->ntt.n();
  base::require(tables_->textbook.has_value(), "textbook quotient: made for the other form");
  base::require(a.size == n && b.size == n && c.size == n,
                "quotient of {} rows: given {}, {} and {} values", n, a.size, b.size, c.size);
  tables_->textbook->run(tables_->ntt, a.data, b.data, c.data, stream);
}

}  // namespace cuzk::groth16::cuda
