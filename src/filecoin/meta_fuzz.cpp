#include "filecoin/meta.hpp"

#include "base/error.hpp"
#include "filecoin/vanilla_file.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

/// The two small text formats: a meta file, and a file of base64 strings, which must come back the
/// same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cuzk;
  try {
    filecoin::decode_meta({reinterpret_cast<const char*>(data), size});
  } catch (const base::InvalidInput&) {
  }
  try {
    const auto blobs = filecoin::decode_vanilla_file({data, size});
    const std::string written = filecoin::encode_vanilla_file(blobs);
    if (filecoin::decode_vanilla_file(base::as_bytes(written)) != blobs) std::abort();
  } catch (const base::InvalidInput&) {
  }
  return 0;
}
