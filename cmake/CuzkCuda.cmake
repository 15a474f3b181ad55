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

# cuzk_gpu_check: all tests and timings of device code in one program that needs nothing but a driver.
file(GLOB gpu_check_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/groth16/ops/cuda/gpu_check/*.cu")
add_executable(cuzk_gpu_check "${CMAKE_SOURCE_DIR}/src/groth16/ops/cuda/gpu_check/gpu_check_main.cpp"
  ${gpu_check_sources} "${CMAKE_SOURCE_DIR}/src/curve/fr.cpp" "${CMAKE_SOURCE_DIR}/src/base/bytes.cpp")
target_link_libraries(cuzk_gpu_check PRIVATE cuzk_base_cuda cuzk_cuda_options cuzk_options Blst::blst CLI11::CLI11
  nlohmann_json::nlohmann_json fmt::fmt-header-only)
target_link_options(cuzk_gpu_check PRIVATE -static-libstdc++ -static-libgcc)
