#include "groth16/proving_key.hpp"

#include "base/error.hpp"

namespace cuzk::groth16 {

namespace {

void load_queries(const KeyFile& file, const KeyLayout& layout, ProvingKey& key) {
  key.verifying_key = file.verifying_key();
  key.a = read_query<curve::Fp>(file.file(), file.a(), layout.a, "a");
  key.b_g1 = read_query<curve::Fp>(file.file(), file.b_g1(), layout.b, "b_g1");
  key.b_g2 = read_query<curve::Fp2>(file.file(), file.b_g2(), layout.b, "b_g2");
}

}  // namespace

ProvingKey load_proving_key(const KeyFile& file, const KeyLayout& layout) {
  base::require(layout.form == QuotientForm::kTextbook,
                "{}: the derivative form needs its derived key file", file.name());
  file.require_circuit(layout);
  ProvingKey key;
  key.h = read_points<curve::Fp>(file.file(), file.h(), "h");
  key.l = read_query<curve::Fp>(file.file(), file.l(), layout.l, "l");
  load_queries(file, layout, key);
  return key;
}

ProvingKey load_proving_key(const KeyFile& file, const DerivedKeyFile& derived,
                            const KeyLayout& layout) {
  base::require(layout.form == QuotientForm::kDerivative,
                "{}: the textbook form needs no derived key file", file.name());
  file.require_circuit(layout);
  derived.require_source(file, layout);
  ProvingKey key;
  key.h = read_points<curve::Fp>(derived.file(), derived.q(), "q", AllowIdentity::kYes);
  key.l = read_query<curve::Fp>(derived.file(), derived.l(), layout.l, "l", AllowIdentity::kYes);
  load_queries(file, layout, key);
  return key;
}

}  // namespace cuzk::groth16
