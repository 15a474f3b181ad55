# What can be told of a CUDA toolkit before anything is compiled with it. Pure functions, tested by
# tests/cmake/toolkit_test.cmake.

# cuzk_host_compiler_fault(OUT HEADER ID VERSION): why nvcc would refuse the host compiler, or nothing. HEADER is the text
# of the toolkit's crt/host_config.h, which states the newest GCC and Clang; a limit that it does not state is none.
function(cuzk_host_compiler_fault out header id version)
  string(REGEX MATCH "^[0-9]+" major "${version}")
  set(newest "")
  if(id STREQUAL "GNU" AND header MATCHES "gcc versions later than ([0-9]+) are not supported")
    set(newest ${CMAKE_MATCH_1})
  elseif(id MATCHES "Clang" AND header MATCHES "clang version must be less than ([0-9]+)")
    math(EXPR newest "${CMAKE_MATCH_1} - 1")
  endif()
  set(fault "")
  if(newest AND major GREATER newest)
    set(fault "the host compiler is ${id} ${version}, this CUDA toolkit takes ${id} up to ${newest}: name an older one \
with CMAKE_CXX_COMPILER and CMAKE_CUDA_HOST_COMPILER, or use a newer toolkit")
  endif()
  set(${out} "${fault}" PARENT_SCOPE)
endfunction()

# cuzk_architecture_fault(OUT WANTED KNOWN): why a toolkit cannot compile for all of WANTED (CMAKE_CUDA_ARCHITECTURES, such
# as "90-real;100"), or nothing. KNOWN is the output of `nvcc --list-gpu-arch`.
function(cuzk_architecture_fault out wanted known)
  string(REGEX MATCHALL "compute_[0-9]+" names "${known}")
  list(TRANSFORM names REPLACE "compute_" "")
  set(missing)
  foreach(architecture IN LISTS wanted)
    # 90a and 100f are variants of 90 and 100; "native", "all" and "all-major" are CMake's business.
    string(REGEX MATCH "^[0-9]+" number "${architecture}")
    if(number AND NOT number IN_LIST names)
      list(APPEND missing ${number})
    endif()
  endforeach()
  set(fault "")
  if(missing)
    list(JOIN missing ", " missing)
    list(JOIN names ", " names)
    set(fault "this CUDA toolkit cannot compile for ${missing} of CMAKE_CUDA_ARCHITECTURES; it knows ${names}")
  endif()
  set(${out} "${fault}" PARENT_SCOPE)
endfunction()
