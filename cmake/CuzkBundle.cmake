# cmake -DBUNDLE=folder -DPROGRAMS="a;b" -DSTRIP=strip -P CuzkBundle.cmake
#
# Copies the programs, stripped, and into lib the shared libraries they need, except those that belong to the C library or
# the driver.
file(REMOVE_RECURSE "${BUNDLE}")
file(MAKE_DIRECTORY "${BUNDLE}/lib")
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${PROGRAMS}
     RESOLVED_DEPENDENCIES_VAR found UNRESOLVED_DEPENDENCIES_VAR missing
     PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|resolv|cuda)\\.so")
if(missing)
  message(FATAL_ERROR "bundle: no such library: ${missing}")
endif()
foreach(library IN LISTS found)
  file(COPY "${library}" DESTINATION "${BUNDLE}/lib" FOLLOW_SYMLINK_CHAIN)
endforeach()
foreach(program IN LISTS PROGRAMS)
  file(COPY "${program}" DESTINATION "${BUNDLE}")
endforeach()
file(GLOB files "${BUNDLE}/lib/*.so*" "${BUNDLE}/cuzk*")
set(size 0)
foreach(one IN LISTS files)
  if(NOT IS_SYMLINK "${one}")
    execute_process(COMMAND "${STRIP}" "${one}" COMMAND_ERROR_IS_FATAL ANY)
    file(SIZE "${one}" bytes)
    math(EXPR size "${size} + ${bytes}")
  endif()
endforeach()
math(EXPR mebibytes "${size} >> 20")
message(STATUS "bundle: ${BUNDLE}, ${mebibytes} MiB")
