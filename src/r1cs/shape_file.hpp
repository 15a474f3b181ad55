#pragma once

#include "r1cs/shape.hpp"

#include <filesystem>
#include <string_view>

namespace cuzk::r1cs {

/// A shape on disk, so that it is built once: docs/shape-file.md has the format. `identity` names
/// the circuit (its parameter files' cache id) and is written into the file.

/// Writes the file whole or not at all. Throws ResourceExhausted if it cannot be written.
void save_shape(const Shape& shape, std::string_view identity, const std::filesystem::path& path);

/// Maps a file; the shape reads from the mapping. Throws CorruptData, naming the file, what was
/// found and what to do, if it is no shape file, of another version, of another circuit, truncated
/// or damaged.
Shape load_shape(const std::filesystem::path& path, std::string_view identity);

}  // namespace cuzk::r1cs
