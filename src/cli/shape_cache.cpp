#include "cli/shape_cache.hpp"

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "filecoin/circuit/circuits.hpp"
#include "r1cs/shape_file.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <cstdlib>
#include <cstring>
#include <system_error>

namespace cuzk::cli {

namespace {

constexpr std::size_t padded(std::size_t bytes) { return (bytes + 3) / 4 * 4; }

// The build id among an ELF segment's notes: each is a header, a name and a description.
std::string build_id_of(base::ByteView notes) {
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes.data(), sizeof header);
    notes = notes.subspan(sizeof header);
    const std::size_t name = padded(header.n_namesz), description = padded(header.n_descsz);
    if (name > notes.size() || description > notes.size() - name) break;
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
        std::memcmp(notes.data(), "GNU", 4) == 0) {
      return base::to_hex(notes.subspan(name, header.n_descsz));
    }
    notes = notes.subspan(name + description);
  }
  return {};
}

// Called for the program first, then for its libraries.
int find_build_id(dl_phdr_info* object, std::size_t, void* out) {
  for (unsigned i = 0; i < object->dlpi_phnum; ++i) {
    const auto& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto* notes = reinterpret_cast<const std::uint8_t*>(object->dlpi_addr + segment.p_vaddr);
    std::string id = build_id_of({notes, segment.p_memsz});
    if (!id.empty()) *static_cast<std::string*>(out) = std::move(id);
  }
  return 1;
}

std::filesystem::path folder_from(const char* variable, const char* below) {
  const char* const value = std::getenv(variable);
  const std::filesystem::path folder = value == nullptr ? "" : value;
  return folder.is_absolute() ? folder / below : std::filesystem::path();
}

}  // namespace

std::filesystem::path default_cache_folder() {
  const std::filesystem::path folder = folder_from("XDG_CACHE_HOME", "cuzk");
  return folder.empty() ? folder_from("HOME", ".cache/cuzk") : folder;
}

std::string program_version() {
  std::string out;
  ::dl_iterate_phdr(find_build_id, &out);
  return out;
}

r1cs::Shape cached_shape(const std::filesystem::path& folder, filecoin::CircuitKind circuit,
                         filecoin::SectorSize size) {
  const std::string version = program_version();
  if (folder.empty() || version.empty()) return filecoin::build_shape(circuit, size);
  const std::string id = filecoin::cache_id(circuit, size);
  const std::string identity = fmt::format("{} {}", id, version);
  const std::filesystem::path path = folder / (id + ".shape");
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) {
    try {
      return r1cs::load_shape(path, identity);
    } catch (const base::CorruptData&) {
      // Damaged, or of another build: replaced below.
    }
  }
  r1cs::Shape shape = filecoin::build_shape(circuit, size);
  std::filesystem::create_directories(folder, error);
  try {
    r1cs::save_shape(shape, identity, path);
  } catch (const base::ResourceExhausted&) {
    // A folder that cannot be written to, or a full disk: the next run builds again.
  }
  return shape;
}

}  // namespace cuzk::cli
