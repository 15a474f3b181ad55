# cmake -P toolkit_test.cmake: what cmake/CuzkToolkit.cmake says of toolkits and compilers that are not on this machine.
cmake_minimum_required(VERSION 3.25)
include("${CMAKE_CURRENT_LIST_DIR}/../../cmake/CuzkToolkit.cmake")

function(expect what actual pattern)
  if(pattern STREQUAL "")
    if(NOT actual STREQUAL "")
      message(SEND_ERROR "${what}: '${actual}', expected nothing")
    endif()
  elseif(NOT actual MATCHES "${pattern}" OR actual MATCHES "\n")
    message(SEND_ERROR "${what}: '${actual}', expected one line with '${pattern}'")
  endif()
endfunction()

# As the headers of CUDA 12.4 and 13.0 state their limits.
set(old "#if __GNUC__ > 13
#error -- unsupported GNU version! gcc versions later than 13 are not supported! The nvcc flag
#if (__clang_major__ >= 18) || (__clang_major__ < 3)
#error -- unsupported clang version! clang version must be less than 18 and greater than 3.2 . The nvcc flag")
set(new "#error -- unsupported GNU version! gcc versions later than 15 are not supported! The nvcc flag
#error -- unsupported clang version! clang version must be less than 21 and greater than 3.2 . The nvcc flag")
foreach(case "old;GNU;13.2.0;" "old;GNU;14.1.0;GNU 14.1.0.*up to 13:" "new;GNU;14.1.0;" "new;GNU;15.2;"
             "new;GNU;16.0.1;GNU 16.0.1.*up to 15:" "old;Clang;17.0.6;" "old;Clang;18.1.0;Clang 18.1.0.*up to 17:"
             "new;Clang;20.1;" "old;NVHPC;24.1;" "none;GNU;99.0;")
  list(GET case 0 header)
  list(GET case 1 id)
  list(GET case 2 version)
  list(GET case 3 pattern)
  cuzk_host_compiler_fault(fault "${${header}}" ${id} ${version})
  expect("${header} ${id} ${version}" "${fault}" "${pattern}")
endforeach()

set(list_12 "compute_50\ncompute_60\ncompute_70\ncompute_75\ncompute_80\ncompute_86\ncompute_89\ncompute_90\n")
set(list_13 "compute_75\ncompute_80\ncompute_90\ncompute_100\ncompute_120\n")
foreach(list list_12 list_13)
  # The project's own choice is one that both know.
  cuzk_architecture_fault(fault "90-real" "${${list}}")
  expect("90-real, ${list}" "${fault}" "")
endforeach()
cuzk_architecture_fault(fault "70;90a;100-virtual" "${list_12}")
expect("12" "${fault}" "cannot compile for 100 .*knows 50, 60, 70")
cuzk_architecture_fault(fault "70;90a;100-virtual" "${list_13}")
expect("13" "${fault}" "cannot compile for 70 .*knows 75, 80, 90, 100, 120")
cuzk_architecture_fault(fault "native" "${list_13}")
expect("native" "${fault}" "")
