# blst: an installed system library is preferred; otherwise the one that scripts/build-blst made.
# Defines the imported target Blst::blst.
find_path(BLST_INCLUDE_DIR blst.h)
find_library(BLST_LIBRARY NAMES blst)
if(NOT BLST_INCLUDE_DIR OR NOT BLST_LIBRARY)
  unset(BLST_INCLUDE_DIR CACHE)
  unset(BLST_LIBRARY CACHE)
  find_path(BLST_INCLUDE_DIR blst.h PATHS "${CMAKE_SOURCE_DIR}/.deps/blst/include" NO_DEFAULT_PATH)
  find_library(BLST_LIBRARY NAMES blst PATHS "${CMAKE_SOURCE_DIR}/.deps/blst/lib" NO_DEFAULT_PATH)
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  Blst REQUIRED_VARS BLST_LIBRARY BLST_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "run scripts/setup, which builds the pinned blst into .deps/")
if(Blst_FOUND AND NOT TARGET Blst::blst)
  add_library(Blst::blst STATIC IMPORTED)
  set_target_properties(Blst::blst PROPERTIES IMPORTED_LOCATION "${BLST_LIBRARY}"
                        INTERFACE_INCLUDE_DIRECTORIES "${BLST_INCLUDE_DIR}")
endif()
