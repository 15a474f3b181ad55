#pragma once

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/mapped_file.hpp"
#include "filecoin/meta.hpp"

#include <string>

namespace cuzk::cli {

/// call(), with the file's name before what it throws as InvalidInput.
template <class Call>
auto blame_file(const std::string& path, Call&& call) {
  try {
    return call();
  } catch (const base::InvalidInput& error) {
    base::fail<base::InvalidInput>("{}: {}", path, error.what());
  }
}

/// read(the file's bytes), likewise. Throws CorruptData if the file cannot be read.
template <class Read>
auto read_input(const std::string& path, Read&& read) {
  const base::MappedFile file(path);
  return blame_file(path,
                    [&] { return base::read_mapped(file, [&] { return read(file.bytes()); }); });
}

inline filecoin::Meta read_meta_file(const std::string& path) {
  return read_input(
      path, [](base::ByteView bytes) { return filecoin::decode_meta(base::as_text(bytes)); });
}

}  // namespace cuzk::cli
