#include "base/error.hpp"
#include "filecoin/porep/vanilla_codec.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

/// Any text either is refused with InvalidInput or is a C1 output that survives being written and
/// read again. Sizes given by hand let small stand-ins reach the variants with sub-trees and a top
/// tree.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cuzk;
  using filecoin::SectorSize;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const std::optional<SectorSize> sector_size :
       {std::optional<SectorSize>(), std::optional(SectorSize::parse("16KiB")),
        std::optional(SectorSize::parse("32KiB"))}) {
    try {
      const auto output = filecoin::porep::decode_commit_phase1(text, sector_size);
      const std::string written = filecoin::porep::encode_commit_phase1(output);
      auto again = filecoin::porep::decode_commit_phase1(written, output.sector_size);
      again.sector_number = output.sector_number;
      if (again != output) std::abort();
    } catch (const base::InvalidInput&) {
    }
  }
  return 0;
}
