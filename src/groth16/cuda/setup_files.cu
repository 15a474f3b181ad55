#include "groth16/cuda/setup_files.cuh"
#include "groth16/cuda/setup_files.hpp"
#include "groth16/derived_key.hpp"

namespace cuzk::groth16::cuda {

using curve::device::G1;
using curve::device::G2;

namespace {

constexpr std::size_t kWriteBytes = std::size_t{1} << 25;

}  // namespace

void write_keys(const r1cs::Shape& shape, const Trapdoor& trapdoor, const SetupFiles& files,
                base::cuda::StreamRef stream) {
  using namespace setup_files_detail;
  QueryLogarithms logarithms = query_logarithms(shape, trapdoor);
  const VerifyingKey verifying_key = make_verifying_key(trapdoor, logarithms.ic);
  ChunkPipe pipe(kWriteBytes, stream);
  const FixedBaseTable<G1> g1(
      stored<G1>(trapdoor.g1),
      logarithms.h.size() + logarithms.l.size() + logarithms.a.size() + logarithms.b.size(),
      stream);
  base::FileWriter params(files.params);
  params.write(verifying_key.to_bytes());
  write_multiples(params, pipe, g1, logarithms.h, false);
  logarithms.h = {};
  write_multiples(params, pipe, g1, logarithms.l, false);
  write_multiples(params, pipe, g1, logarithms.a, true);
  logarithms.a = {};
  write_multiples(params, pipe, g1, logarithms.b, true);
  {
    const FixedBaseTable<G2> g2(stored<G2>(trapdoor.g2), logarithms.b.size(), stream);
    write_multiples(params, pipe, g2, logarithms.b, true);
  }
  logarithms.b = {};
  if (!files.derived.empty()) {
    const DerivedLogarithms derived = derived_logarithms(shape, trapdoor, logarithms.l);
    base::FileWriter writer(files.derived);
    writer.write(derived_key_header(verifying_key));
    write_multiples(writer, pipe, g1, derived.q, false);
    write_multiples(writer, pipe, g1, derived.l, false);
    writer.commit();
  }
  write_verifying_key(verifying_key, files.verifying_key);
  params.commit();
}

}  // namespace cuzk::groth16::cuda
