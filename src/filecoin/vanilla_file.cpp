#include "filecoin/vanilla_file.hpp"

#include "base/json_reader.hpp"

#include <algorithm>

namespace cuzk::filecoin {

std::vector<base::Bytes> decode_vanilla_file(base::ByteView file) {
  if (std::find(file.begin(), file.end(), 0) != file.end())
    return {base::Bytes(file.begin(), file.end())};
  base::JsonReader reader({reinterpret_cast<const char*>(file.data()), file.size()},
                          "vanilla proofs");
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
