#pragma once

#include "base/cuda/span.hpp"
#include "base/cuda/stream_ref.hpp"
#include "curve/device/fr.hpp"
#include "groth16/ops/cuda/quotient_rows.hpp"
#include "groth16/variables.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

/// The quotient of a proof, whole, for whoever only calls it: ntt.cu compiles the transforms and
/// what goes with them (ntt.cuh, quotient.cuh, index_list.cuh), once for the whole
/// program.
namespace cuzk::groth16::cuda {

/// From the values of the rows to the scalars of the sum over the key's h, in one form and for one
/// domain. Constant after construction: any number of threads may use it, each on its own vectors.
/// Does not own its tables.
class Quotient {
 public:
  struct Options {
    QuotientForm form = QuotientForm::kDerivative;
    int log_n = 0;                 // n = 2^log_n, 0 .. 27
    bool full_twist_table = true;  // NttOptions
  };

  /// Bytes that the tables take. Throws InvalidInput if log_n is out of range.
  static std::size_t table_bytes(const Options& options);
  /// Enqueues the making of the tables in `memory` (at least table_bytes()), which must outlive
  /// this object.
  Quotient(const Options& options, base::cuda::DeviceSpan<std::byte> memory,
           base::cuda::StreamRef stream);
  ~Quotient();
  Quotient(Quotient&&) noexcept;
  Quotient& operator=(Quotient&&) noexcept;

  /// What derivative() works in besides its operands.
  static std::size_t workspace_bytes(int log_n);

  /// Which scalars derivative() found not to be zero; both in its workspace.
  struct Nonzero {
    const std::uint32_t* list;   // their rows, ascending
    const std::uint32_t* count;  // how many they are
  };
  /// Enqueues the derivative form. In: the rows as `values` says; a and b (n each) hold the values
  /// of wide rows, plain, at their places. Out: a holds the scalars s_i·n/2^64, canonical; b is
  /// scratch.
  Nonzero derivative(base::cuda::DeviceSpan<curve::device::Fr> a,
                     base::cuda::DeviceSpan<curve::device::Fr> b, const ConstraintValues& values,
                     base::cuda::DeviceSpan<std::byte> workspace,
                     base::cuda::StreamRef stream) const;

  /// Enqueues the textbook form. In: values of A·w, B·w, C·w, n each, lazy and plain. Out: a holds
  /// h_0 .. h_(n-1), canonical; b and c are scratch.
  void textbook(base::cuda::DeviceSpan<curve::device::Fr> a,
                base::cuda::DeviceSpan<curve::device::Fr> b,
                base::cuda::DeviceSpan<curve::device::Fr> c, base::cuda::StreamRef stream) const;

 private:
  struct Tables;
  std::unique_ptr<const Tables> tables_;
};

}  // namespace cuzk::groth16::cuda
