#include "cli/key_store.hpp"

#include "base/error.hpp"
#include "hash/blake2b.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace cuzk::cli {

namespace {

void require_file(const std::filesystem::path& path, std::string_view remedy) {
  base::require(std::filesystem::exists(path), "{}: there is no such file; {}", path.string(),
                remedy);
}

void warn_of_origin(const std::filesystem::path& path, KeyOrigin origin) {
  if (origin == KeyOrigin::kNetwork) return;
  fmt::print(stderr, "cuzk: WARNING: {}: {}\n", path.filename().string(), describe(origin));
}

std::optional<std::string_view> published_params(filecoin::CircuitKind circuit,
                                                 filecoin::SectorSize size) {
  const auto published = filecoin::published_digests(circuit, size);
  return published ? std::optional(published->params) : std::nullopt;
}

}  // namespace

KeyPaths::KeyPaths(const std::filesystem::path& folder, filecoin::CircuitKind circuit,
                   filecoin::SectorSize size)
    : params(folder / filecoin::params_file_name(circuit, size)),
      verifying_key(folder / filecoin::vk_file_name(circuit, size)),
      derived(groth16::derived_key_path(params)),
      development_marker(params) {
  development_marker.replace_extension(".INSECURE-DEVELOPMENT-KEY");
}

QuotientChoice parse_quotient(std::string_view text) {
  if (text == "auto") return QuotientChoice::kAuto;
  if (text == "textbook") return QuotientChoice::kTextbook;
  base::require(text == "derivative",
                "unknown quotient \"{}\": auto, textbook and derivative are known", text);
  return QuotientChoice::kDerivative;
}

KeyOrigin key_origin(const KeyPaths& paths, const std::optional<std::string_view>& published,
                     std::string_view digest) {
  if (published && *published == digest) return KeyOrigin::kNetwork;
  if (std::filesystem::exists(paths.development_marker)) return KeyOrigin::kDevelopment;
  return published ? KeyOrigin::kForeign : KeyOrigin::kUnpublished;
}

std::string_view describe(KeyOrigin origin) {
  switch (origin) {
    case KeyOrigin::kNetwork:
      return "the network's key";
    case KeyOrigin::kDevelopment:
      return "an INSECURE development key: anyone can forge proofs for it, and no network accepts "
             "them";
    case KeyOrigin::kUnpublished:
      return "a key of unknown origin: no digest is published for this circuit";
    case KeyOrigin::kForeign:
      return "NOT the network's key (its digest is another than the published one): the network "
             "will reject its proofs";
  }
  return "";
}

OpenKey open_key(const KeyPaths& paths, filecoin::CircuitKind circuit, filecoin::SectorSize size,
                 const r1cs::Shape& shape, QuotientChoice quotient) {
  require_file(paths.params,
               "fetch the network's parameters, or make a development key with `cuzk setup`");
  groth16::KeyFile file(paths.params);
  const bool derivative =
      quotient == QuotientChoice::kDerivative ||
      (quotient == QuotientChoice::kAuto && std::filesystem::exists(paths.derived));
  groth16::KeyLayout layout(
      shape, derivative ? groth16::QuotientForm::kDerivative : groth16::QuotientForm::kTextbook);
  file.require_circuit(layout);
  const auto published = published_params(circuit, size);
  const groth16::KeyCheck check = groth16::check_key(file, published.value_or(std::string_view()));
  warn_of_origin(paths.params, key_origin(paths, published, check.blake2b));
  if (!derivative) return {std::move(layout), std::move(file), std::nullopt};
  require_file(paths.derived, "make it with `cuzk params derive`, or use --quotient textbook");
  groth16::DerivedKeyFile derived(paths.derived);
  derived.require_source(file, layout);
  groth16::check_key(derived);
  return {std::move(layout), std::move(file), std::move(derived)};
}

LoadedKey load_key(const KeyPaths& paths, filecoin::CircuitKind circuit, filecoin::SectorSize size,
                   const r1cs::Shape& shape, QuotientChoice quotient) {
  OpenKey open = open_key(paths, circuit, size, shape, quotient);
  groth16::ProvingKey key = open.derived
                                ? groth16::load_proving_key(open.file, *open.derived, open.layout)
                                : groth16::load_proving_key(open.file, open.layout);
  return {std::move(open.layout), std::move(key)};
}

groth16::VerifyingKey load_verifying_key(const KeyPaths& paths, filecoin::CircuitKind circuit,
                                         filecoin::SectorSize size) {
  if (!std::filesystem::exists(paths.verifying_key)) {
    require_file(paths.params,
                 "fetch the network's parameters, or make a development key with `cuzk setup`");
    fmt::print(stderr,
               "cuzk: WARNING: no {}; the key is taken from {}, whose origin was not checked\n",
               paths.verifying_key.filename().string(), paths.params.filename().string());
    return groth16::KeyFile(paths.params).verifying_key();
  }
  groth16::VerifyingKey key = groth16::read_verifying_key(paths.verifying_key);
  const auto digest = hash::blake2b(key.to_bytes());
  const auto published = filecoin::published_digests(circuit, size);
  warn_of_origin(paths.verifying_key,
                 key_origin(paths, published ? std::optional(published->vk) : std::nullopt,
                            base::to_hex(base::ByteView(digest).first(16))));
  return key;
}

}  // namespace cuzk::cli
