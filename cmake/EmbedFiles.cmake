# cmake -DOUTPUT=page_files.cpp "-DFILES=/=page.html;/page.js=page.js" -DFOLDER=... -P EmbedFiles.cmake
#
# Writes service/page_files.hpp's function: the files of FOLDER as they are, each under its path.
set(types_html "text/html; charset=utf-8")
set(types_js "text/javascript; charset=utf-8")
set(types_css "text/css; charset=utf-8")

set(arrays "")
set(entries "")
set(number 0)
foreach(pair IN LISTS FILES)
  string(REGEX MATCH "^(.+)=(.+\\.([a-z]+))$" matched "${pair}")
  if(NOT matched)
    message(FATAL_ERROR "EmbedFiles: '${pair}' is not PATH=FILE")
  endif()
  set(path "${CMAKE_MATCH_1}")
  set(type "${types_${CMAKE_MATCH_3}}")
  file(READ "${FOLDER}/${CMAKE_MATCH_2}" bytes HEX)
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
  string(APPEND arrays "constexpr char kFile${number}[] = {${bytes}};\n")
  string(APPEND entries "    {\"${path}\", \"${type}\", {kFile${number}, sizeof(kFile${number})}},\n")
  math(EXPR number "${number} + 1")
endforeach()

file(WRITE "${OUTPUT}" "#include \"service/page_files.hpp\"

#include <array>

namespace cuzk::service {

namespace {

${arrays}
constexpr std::array<PageFile, ${number}> kFiles = {{
${entries}}};

}  // namespace

std::span<const PageFile> page_files() { return kFiles; }

}  // namespace cuzk::service
")
