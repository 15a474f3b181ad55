#include "filecoin/vanilla_file.hpp"

#include "base/json_reader.hpp"

#include <string_view>

namespace cuzk::filecoin {

std::vector<base::Bytes> decode_vanilla_file(base::ByteView file) {
  const std::string_view text = base::as_text(file);
  if (text.find('\0') != std::string_view::npos) return {base::Bytes(file.begin(), file.end())};
  base::JsonReader reader(text, "vanilla proofs");
  std::vector<base::Bytes> blobs;
  std::string scratch;
  reader.array([&](std::size_t) {
    auto blob = base::from_base64(reader.string(scratch));
    if (!blob) reader.reject("the string is no base64");
    blobs.push_back(std::move(*blob));
  });
  reader.finish();
  return blobs;
}

std::string encode_vanilla_file(std::span<const base::Bytes> blobs) {
  std::string out = "[";
  for (const base::Bytes& blob : blobs) {
    if (out.size() > 1) out += ',';
    out += '"';
    out += base::to_base64(blob);
    out += '"';
  }
  return out + "]";
}

}  // namespace cuzk::filecoin
