#pragma once

#include "filecoin/parameter_files.hpp"
#include "filecoin/sector.hpp"
#include "r1cs/shape.hpp"

#include <filesystem>
#include <string>

/// What the program keeps between its runs and can make again at any time.
namespace cuzk::cli {

/// $XDG_CACHE_HOME/cuzk, or else $HOME/.cache/cuzk; empty if neither variable is an absolute path.
std::filesystem::path default_cache_folder();

/// Names this very program: the linker's build id in hex. Empty if it was linked without one.
std::string program_version();

/// A circuit's shape out of `<folder>/<cache id>.shape` (r1cs/shape_file.hpp), or built, and then
/// written there for the next run. The file belongs to one build of the program, since the witness
/// is filled by the same code that made the shape; a file of another build, or a damaged one, is
/// replaced. Where the folder cannot be written, or is empty, the shape is built all the same.
r1cs::Shape cached_shape(const std::filesystem::path& folder, filecoin::CircuitKind circuit,
                         filecoin::SectorSize size);

}  // namespace cuzk::cli
