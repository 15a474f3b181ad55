# The CUDA layer: included by the root only with CUZK_CUDA=ON, so that nothing else needs the toolkit.
#
# Device code and what launches it are .cu files; their host-side counterparts stay in the layers' own libraries. Kernels
# are also compiled by the C++ compiler for emulated tests (base/cuda/emulation.hpp), which need none of this.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 90-real)
endif()
if(NOT DEFINED CMAKE_CUDA_COMPILER AND EXISTS /usr/local/cuda/bin/nvcc)
  set(CMAKE_CUDA_COMPILER /usr/local/cuda/bin/nvcc)
endif()
include(CuzkToolkit)
if(CMAKE_CUDA_COMPILER)
  # Before hundreds of lines of nvcc's.
  get_filename_component(toolkit "${CMAKE_CUDA_COMPILER}" DIRECTORY)
  set(host_config "${toolkit}/../include/crt/host_config.h")
  if(EXISTS "${host_config}" AND NOT CMAKE_CUDA_HOST_COMPILER)
    file(READ "${host_config}" header)
    cuzk_host_compiler_fault(fault "${header}" "${CMAKE_CXX_COMPILER_ID}" "${CMAKE_CXX_COMPILER_VERSION}")
    if(fault)
      message(FATAL_ERROR "CUZK_CUDA: ${fault}")
    endif()
  endif()
  execute_process(COMMAND "${CMAKE_CUDA_COMPILER}" --list-gpu-arch OUTPUT_VARIABLE known ERROR_QUIET)
  if(known)
    cuzk_architecture_fault(fault "${CMAKE_CUDA_ARCHITECTURES}" "${known}")
    if(fault)
      message(FATAL_ERROR "CUZK_CUDA: ${fault}")
    endif()
  endif()
endif()
message(STATUS "CUDA architectures: ${CMAKE_CUDA_ARCHITECTURES}")
enable_language(CUDA)
# CMake 3.25 does not know that nvcc has this dialect.
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)
if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.4)
  message(FATAL_ERROR "CUZK_CUDA: CUDA ${CMAKE_CUDA_COMPILER_VERSION} is too old, 12.4 or newer is needed")
endif()
if(CCACHE)
  set(CMAKE_CUDA_COMPILER_LAUNCHER "${CCACHE}")
endif()
find_package(CUDAToolkit 12.4 REQUIRED)

# What every CUDA target is compiled with. The C++ compiler does not know nvcc's "unroll"; diagnostic 20208 is about long
# double in fmt; fmt 9 takes nvcc for a compiler without constexpr.
add_library(cuzk_cuda_options INTERFACE)
target_compile_options(cuzk_cuda_options INTERFACE
  $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr --Werror=all-warnings -diag-suppress=20208
  -Xcompiler=-Wall,-Wextra,-Werror,-Wno-unknown-pragmas -DFMT_USE_CONSTEXPR=1>)
target_include_directories(cuzk_cuda_options INTERFACE "${CMAKE_SOURCE_DIR}/src")
target_link_libraries(cuzk_cuda_options INTERFACE fmt::fmt-header-only)

# cuzk_cuda_library(NAME FOLDER [LIBRARIES libs...]): a static library from the .cu files directly in FOLDER (below src/).
function(cuzk_cuda_library name folder)
  cmake_parse_arguments(ARG "" "" "LIBRARIES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/${folder}/*.cu")
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC cuzk_cuda_options CUDA::cudart_static ${ARG_LIBRARIES})
endfunction()

cuzk_cuda_library(cuzk_base_cuda base/cuda)
# The operations on points and scalars, each compiled in one place: msm_g1.cu alone takes a minute or more.
cuzk_cuda_library(cuzk_ops_cuda groth16/ops/cuda/instances LIBRARIES cuzk_base_cuda Blst::blst)

# The prover (groth16/cuda). Whoever has the host's groth16 layer gets its backend with this library.
cuzk_cuda_library(cuzk_groth16_cuda groth16/cuda LIBRARIES cuzk_ops_cuda cuzk_base_cuda cuzk_groth16)
target_link_libraries(cuzk_cli PUBLIC cuzk_groth16_cuda)
target_compile_definitions(cuzk_cli PRIVATE CUZK_HAS_CUDA)

# cuzk_gpu_check: all tests and timings of device operations in one program that needs nothing but a driver.
file(GLOB gpu_check_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/groth16/ops/cuda/gpu_check/*.cu")
add_executable(cuzk_gpu_check "${CMAKE_SOURCE_DIR}/src/groth16/ops/cuda/gpu_check/gpu_check_main.cpp"
  ${gpu_check_sources} "${CMAKE_SOURCE_DIR}/src/curve/fr.cpp" "${CMAKE_SOURCE_DIR}/src/base/bytes.cpp"
  "${CMAKE_SOURCE_DIR}/src/groth16/variables.cpp" "${CMAKE_SOURCE_DIR}/src/groth16/ops/cuda/circuit_rows.cpp"
  "${CMAKE_SOURCE_DIR}/src/groth16/ops/cuda/completion_rows.cpp"
  "${CMAKE_SOURCE_DIR}/src/groth16/ops/cuda/row_references.cpp" "${CMAKE_SOURCE_DIR}/src/groth16/cuda/key_order.cpp")
target_link_libraries(cuzk_gpu_check PRIVATE cuzk_ops_cuda cuzk_base_cuda cuzk_r1cs cuzk_cuda_options cuzk_options
  Blst::blst TBB::tbb CLI11::CLI11 nlohmann_json::nlohmann_json fmt::fmt-header-only)

# cuzk_gpu_prove_check: golden proofs made on the device, as a GoogleTest program. The environment variable CUZK_GOLDEN
# names the folder of the golden data.
find_package(GTest)
find_library(ZSTD_LIBRARY NAMES zstd)
set(bundled cuzk cuzk_gpu_check)
if(GTest_FOUND AND ZSTD_LIBRARY)
  file(GLOB device_tests CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/tests/device/*.cpp"
    "${CMAKE_SOURCE_DIR}/tests/device/*.cu")
  add_executable(cuzk_gpu_prove_check ${device_tests} "${CMAKE_SOURCE_DIR}/tests/proof_cases.cpp"
    "${CMAKE_SOURCE_DIR}/tests/support/golden.cpp")
  target_include_directories(cuzk_gpu_prove_check PRIVATE "${CMAKE_SOURCE_DIR}/tests")
  target_compile_definitions(cuzk_gpu_prove_check PRIVATE CUZK_GOLDEN_DIR="${CMAKE_SOURCE_DIR}/tests/golden")
  target_link_libraries(cuzk_gpu_prove_check PRIVATE cuzk_cli "${ZSTD_LIBRARY}" GTest::gtest GTest::gtest_main)
  list(APPEND bundled cuzk_gpu_prove_check)
endif()

# bundle: the program and the device checks with every library that a machine with only a driver lacks, in one folder
# that can be copied anywhere: the programs look for them in lib beside themselves.
set(CUZK_BUNDLE_DIR "${CMAKE_BINARY_DIR}/bundle" CACHE PATH "Folder that the target bundle lays out")
set(bundled_files)
foreach(program IN LISTS bundled)
  set_target_properties(${program} PROPERTIES BUILD_RPATH "$ORIGIN/lib" BUILD_RPATH_USE_ORIGIN ON)
  # DT_RPATH, unlike DT_RUNPATH, also serves the libraries' own libraries.
  target_link_options(${program} PRIVATE -static-libstdc++ -static-libgcc -Wl,--disable-new-dtags)
  list(APPEND bundled_files $<TARGET_FILE:${program}>)
endforeach()
add_custom_target(bundle
  COMMAND ${CMAKE_COMMAND} -DBUNDLE=${CUZK_BUNDLE_DIR} -DSTRIP=${CMAKE_STRIP} "-DPROGRAMS=${bundled_files}"
          -P "${CMAKE_SOURCE_DIR}/cmake/CuzkBundle.cmake"
  DEPENDS ${bundled} VERBATIM)
