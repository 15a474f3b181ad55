#include "groth16/key_check.hpp"

#include "base/error.hpp"
#include "groth16/point_section.hpp"
#include "groth16/subgroup_check.hpp"
#include "hash/blake2b.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace cuzk::groth16 {

namespace {

constexpr std::size_t kPublishedDigestBytes = 16;

std::filesystem::path record_path(const base::MappedFile& file) {
  std::filesystem::path out = file.path();
  return out += ".checked";
}

nlohmann::json version_json(const base::FileVersion& version) {
  return {{"size", version.size},
          {"mtime_ns", version.mtime_ns},
          {"inode", version.inode},
          {"device", version.device}};
}

void remember(const base::MappedFile& file, const KeyCheck& check) {
  const nlohmann::json record = {{"version", version_json(file.version())},
                                 {"blake2b", check.blake2b}};
  try {
    base::FileWriter writer(record_path(file));
    writer.write(base::as_bytes(record.dump(1) + "\n"));
    writer.commit();
  } catch (const base::ResourceExhausted&) {
    // A read-only folder: the next process checks again.
  }
}

/// Empty if it was stopped.
std::optional<std::string> digest(const base::MappedFile& file, const std::stop_token& stop) {
  constexpr std::size_t kPiece = std::size_t{1} << 22;
  hash::Blake2b hasher;
  for (std::size_t offset = 0; offset < file.bytes().size(); offset += kPiece) {
    if (stop.stop_requested()) return std::nullopt;
    const std::size_t count = std::min(kPiece, file.bytes().size() - offset);
    hasher.update(file.bytes().subspan(offset, count));
    file.require_readable();
    file.discard(offset, count);
  }
  const auto bytes = hasher.finish();
  return base::to_hex(base::ByteView(bytes).first(kPublishedDigestBytes));
}

/// Reads the section piece by piece. False if it was stopped.
template <class F>
bool require_group(const base::MappedFile& file, const Section& section, std::string_view what,
                   const std::stop_token& stop, AllowIdentity identity = AllowIdentity::kNo) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  GroupCheck<F> check(section.count);
  for (std::size_t first = 0; first < section.count; first += kPiece) {
    if (stop.stop_requested()) return false;
    const auto points = read_points<F>(file, section, what, identity, first,
                                       std::min(kPiece, section.count - first));
    check.add(std::span<const curve::AffinePoint<F>>(points));
  }
  if (!check.passes()) {
    base::fail<base::CorruptData>("{}: {} has a point outside the subgroup of order r",
                                  file.path().string(), what);
  }
  return true;
}

template <class CheckSections>
std::optional<KeyCheck> check_once(const base::MappedFile& file, const std::stop_token& stop,
                                   std::string_view known_good, CheckSections&& check_sections) {
  if (const std::optional<KeyCheck> known = remembered_check(file)) return known;
  std::optional<std::string> blake2b = digest(file, stop);
  if (!blake2b) return std::nullopt;
  if (*blake2b != known_good && !check_sections()) return std::nullopt;
  KeyCheck check{std::move(*blake2b)};
  remember(file, check);
  return check;
}

}  // namespace

std::optional<KeyCheck> remembered_check(const base::MappedFile& file) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(record_path(file), none)) return std::nullopt;
  const base::MappedFile record(record_path(file));
  const nlohmann::json json = nlohmann::json::parse(record.bytes(), nullptr, false);
  record.require_readable();
  if (!json.is_object() || json.value("version", nlohmann::json()) != version_json(file.version()))
    return std::nullopt;
  const nlohmann::json blake2b = json.value("blake2b", nlohmann::json());
  if (!blake2b.is_string()) return std::nullopt;
  return KeyCheck{blake2b.get<std::string>()};
}

std::optional<KeyCheck> check_key(const KeyFile& key, const std::stop_token& stop,
                                  std::string_view known_good) {
  return check_once(key.file(), stop, known_good, [&] {
    return require_group<curve::Fp>(key.file(), key.h(), "h", stop) &&
           require_group<curve::Fp>(key.file(), key.l(), "l", stop) &&
           require_group<curve::Fp>(key.file(), key.a(), "a", stop) &&
           require_group<curve::Fp>(key.file(), key.b_g1(), "b_g1", stop) &&
           require_group<curve::Fp2>(key.file(), key.b_g2(), "b_g2", stop);
  });
}

std::optional<KeyCheck> check_key(const DerivedKeyFile& key, const std::stop_token& stop) {
  return check_once(key.file(), stop, {}, [&] {
    return require_group<curve::Fp>(key.file(), key.q(), "q", stop, AllowIdentity::kYes) &&
           require_group<curve::Fp>(key.file(), key.l(), "l", stop, AllowIdentity::kYes);
  });
}

KeyCheck check_key(const KeyFile& key, std::string_view known_good) {
  return check_key(key, std::stop_token(), known_good).value();
}
KeyCheck check_key(const DerivedKeyFile& key) { return check_key(key, std::stop_token()).value(); }

KeyCheck record_checked_key(const std::filesystem::path& path) {
  const base::MappedFile file(path);
  KeyCheck check{digest(file, std::stop_token()).value()};
  remember(file, check);
  return check;
}

}  // namespace cuzk::groth16
