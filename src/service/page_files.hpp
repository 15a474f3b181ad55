#pragma once

#include <span>
#include <string_view>

namespace cuzk::service {

/// A file of page/, as it was when the program was built.
struct PageFile {
  std::string_view path;  ///< "/", "/page.js"
  std::string_view content_type;
  std::string_view content;
};
std::span<const PageFile> page_files();

}  // namespace cuzk::service
