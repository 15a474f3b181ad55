# cpp-httplib as Debian builds it: a header and a library, which must be of one version.
# Defines the imported target CppHttplib::httplib.
find_path(CPPHTTPLIB_INCLUDE_DIR httplib.h)
find_library(CPPHTTPLIB_LIBRARY NAMES cpp-httplib)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CppHttplib REQUIRED_VARS CPPHTTPLIB_LIBRARY CPPHTTPLIB_INCLUDE_DIR)
if(CppHttplib_FOUND AND NOT TARGET CppHttplib::httplib)
  add_library(CppHttplib::httplib UNKNOWN IMPORTED)
  set_target_properties(CppHttplib::httplib PROPERTIES IMPORTED_LOCATION "${CPPHTTPLIB_LIBRARY}"
                        INTERFACE_INCLUDE_DIRECTORIES "${CPPHTTPLIB_INCLUDE_DIR}")
endif()
