#include "base/json_reader.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace {

using cuzk::base::InvalidInput;
using cuzk::base::JsonReader;

/// Reads a value with the function of its kind; numbers are skipped, since not all are integers.
void read(JsonReader& reader) {
  std::string scratch;
  switch (reader.peek()) {
    case JsonReader::Kind::kObject:
      return reader.object([&](std::string_view) { read(reader); });
    case JsonReader::Kind::kArray:
      reader.array([&](std::size_t) { read(reader); });
      return;
    case JsonReader::Kind::kString:
      reader.string(scratch);
      return;
    case JsonReader::Kind::kNull:
      return reader.null();
    default:
      return reader.skip();
  }
}

template <class Read>
bool accepts(std::string_view text, Read&& read_value) {
  try {
    JsonReader reader(text, "text");
    read_value(reader);
    reader.finish();
    return true;
  } catch (const InvalidInput&) {
    return false;
  }
}

}  // namespace

/// A text that is skipped is also read, and the other way round; an array of bytes is read the same
/// in its compact spelling, which has its own code, as with white space.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const bool skipped = accepts(text, [](JsonReader& reader) { reader.skip(); });
  if (skipped != accepts(text, [](JsonReader& reader) { read(reader); })) std::abort();

  cuzk::base::Bytes32 compact{}, spaced{};
  // Long enough for the compact way, which looks further ahead than the value; and a text where it
  // cannot apply.
  const std::string padded = std::string(text) + std::string(160, ' ');
  std::string opened(text);
  if (!opened.empty() && opened.front() == '[') opened.insert(1, 1, ' ');
  const bool first = accepts(padded, [&](JsonReader& reader) { compact = reader.bytes32(); });
  const bool second = accepts(opened, [&](JsonReader& reader) { spaced = reader.bytes32(); });
  if (first != second || (first && compact != spaced)) std::abort();
  return 0;
}
