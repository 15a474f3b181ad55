#include "engine/key_files.hpp"

#include "base/error.hpp"
#include "base/mapped_file.hpp"
#include "filecoin/parameter_files.hpp"
#include "groth16/derived_key.hpp"
#include "groth16/key_check.hpp"
#include "hash/blake2b.hpp"

#include <fmt/format.h>

#include <string>
#include <system_error>

namespace cuzk::engine {

namespace {

using base::CorruptData;

constexpr std::size_t kPublishedDigestBytes = 16;

std::string short_blake2b(base::ByteView bytes) {
  return base::to_hex(base::ByteView(hash::blake2b(bytes)).first(kPublishedDigestBytes));
}

/// A file's digest must be the published one, or the key marked as another.
void require_known(const KeyPaths& paths, const std::filesystem::path& file,
                   std::string_view published, std::string_view digest) {
  if (key_origin(paths, published, digest) != KeyOrigin::kForeign) return;
  base::fail<CorruptData>(
      "{}: digest {}, expected {}: not the network's file. Fetch it again, or set "
      "srs.trust_params = true if it is meant to be another",
      file.string(), digest, published);
}

void inspect_verifying_key(const KeyPaths& paths, const groth16::VerifyingKey& of_params) {
  if (groth16::read_verifying_key(paths.verifying_key) != of_params) {
    base::fail<CorruptData>(
        "{}: it is not the verifying key in {}: the two files belong to "
        "different keys. Fetch both again",
        paths.verifying_key.string(), paths.params.filename().string());
  }
}

}  // namespace

bool is_there(const std::filesystem::path& path) {
  std::error_code hidden;
  return std::filesystem::exists(path, hidden);
}

KeyPaths::KeyPaths(const std::filesystem::path& folder, const CircuitId& circuit)
    : params(folder / filecoin::params_file_name(circuit.kind, circuit.size)),
      verifying_key(folder / filecoin::vk_file_name(circuit.kind, circuit.size)),
      derived(groth16::derived_key_path(params)),
      development_marker(params) {
  development_marker.replace_extension(".INSECURE-DEVELOPMENT-KEY");
}

KeyOrigin key_origin(const KeyPaths& paths, const std::optional<std::string_view>& published,
                     std::string_view digest) {
  if (published && *published == digest) return KeyOrigin::kNetwork;
  if (is_there(paths.development_marker)) return KeyOrigin::kDevelopment;
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

std::optional<KeyOrigin> inspect_key_files(const KeyPaths& paths, const CircuitId& circuit,
                                           bool trust, const std::stop_token& stop) {
  const auto published = filecoin::published_digests(circuit.kind, circuit.size);
  const bool has_verifying_key = is_there(paths.verifying_key);
  // First what takes no minutes.
  if (has_verifying_key && published && !trust) {
    const base::MappedFile file(paths.verifying_key);
    const std::string digest = base::read_mapped(file, [&] { return short_blake2b(file.bytes()); });
    require_known(paths, paths.verifying_key, published->vk, digest);
  }
  const groth16::KeyFile file(paths.params);
  const std::optional<groth16::KeyCheck> check =
      groth16::check_key(file, stop, published ? published->params : std::string_view());
  if (!check) return std::nullopt;
  if (published && !trust) require_known(paths, paths.params, published->params, check->blake2b);
  if (has_verifying_key) inspect_verifying_key(paths, file.verifying_key());
  if (is_there(paths.derived) &&
      !groth16::check_key(groth16::DerivedKeyFile(paths.derived), stop)) {
    return std::nullopt;
  }
  return key_origin(paths, published ? std::optional(published->params) : std::nullopt,
                    check->blake2b);
}

namespace {

// Makes the circuit's derived key.
std::string derive_command(const KeyPaths& paths, const CircuitId& circuit) {
  return fmt::format("cuzk params derive --params-dir {} --circuit {} --sector-size {}",
                     paths.params.parent_path().string(), filecoin::to_string(circuit.kind),
                     circuit.size.to_string());
}

}  // namespace

std::string missing_derivative(const KeyPaths& paths, const CircuitId& circuit,
                               std::string_view quotient) {
  if (quotient != "derivative" || is_there(paths.derived)) return {};
  return fmt::format(
      "{}: pipeline.quotient is \"derivative\", but {} is not there. Make it with `{}`, or set "
      "pipeline.quotient = \"auto\"",
      circuit.to_string(), paths.derived.filename().string(), derive_command(paths, circuit));
}

std::string slower_without_derivative(const KeyPaths& paths, const CircuitId& circuit,
                                      std::string_view quotient) {
  if (quotient != "auto" || is_there(paths.derived)) return {};
  return fmt::format(
      "{}: {} is not there, so its proofs take longer than they need to. Make it once, here or "
      "elsewhere, with `{}`; it is used from the next start on. pipeline.quotient = \"textbook\" "
      "says that it is not wanted",
      circuit.to_string(), paths.derived.filename().string(), derive_command(paths, circuit));
}

OpenKey open_key(const KeyPaths& paths, const r1cs::Shape& shape, std::string_view quotient) {
  groth16::KeyFile file(paths.params);
  std::optional<groth16::DerivedKeyFile> derived;
  const bool derivative =
      quotient == "derivative" || (quotient == "auto" && is_there(paths.derived));
  base::require(quotient != "derivative" || is_there(paths.derived),
                "{}: not there, and pipeline.quotient is \"derivative\"", paths.derived.string());
  if (derivative) derived.emplace(paths.derived);
  groth16::KeyLayout layout(
      shape, derived ? groth16::QuotientForm::kDerivative : groth16::QuotientForm::kTextbook);
  file.require_circuit(layout);
  if (derived) derived->require_source(file, layout);
  return {std::move(layout), std::move(file), std::move(derived)};
}

namespace {

// A parameter file: alpha_g1, beta_g1, beta_g2, gamma_g2, delta_g1, delta_g2, then ic, h, l, a,
// b_g1, b_g2, each after its count.
constexpr std::uint64_t kG1 = curve::G1Affine::kUncompressedBytes,
                        kG2 = curve::G2Affine::kUncompressedBytes;
constexpr std::uint64_t kBeforeIc = 3 * kG1 + 3 * kG2;

}  // namespace

KeyCounts peek_key_counts(const std::filesystem::path& params) {
  base::require(is_there(params), "{}: there is no such file", params.string());
  const base::MappedFile file(params);
  const base::ByteView bytes = file.bytes();
  const auto count_at = [&](std::uint64_t offset) -> std::uint64_t {
    if (offset + 4 > bytes.size()) {
      base::fail<CorruptData>("{}: too short for a Groth16 parameter file ({} bytes)",
                              params.string(), bytes.size());
    }
    const std::uint8_t* at = bytes.data() + offset;
    return std::uint64_t{at[0]} << 24 | std::uint64_t{at[1]} << 16 | std::uint64_t{at[2]} << 8 |
           at[3];
  };
  const std::uint64_t inputs = count_at(kBeforeIc);
  const std::uint64_t h = count_at(kBeforeIc + 4 + inputs * kG1);
  file.require_readable();
  return {.inputs = inputs, .h = h, .file_bytes = bytes.size()};
}

KeyCounts key_counts_of(const r1cs::Shape& shape) {
  const groth16::KeyLayout layout(shape, groth16::QuotientForm::kTextbook);
  const std::uint64_t g1 = layout.num_inputs + layout.h_count + layout.variables.num_aux() +
                           layout.a.size() + layout.b.size();
  return {.inputs = layout.num_inputs,
          .h = layout.h_count,
          .file_bytes = kBeforeIc + 6 * 4 + g1 * kG1 + layout.b.size() * kG2};
}

}  // namespace cuzk::engine
