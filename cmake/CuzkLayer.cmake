# cuzk_layer(NAME [LAYERS lower...] [LIBRARIES libs...] [ALONE files...])
#
# One layer of the program: the static library cuzk_<NAME> from every source below the calling folder, its unit
# tests from *_test.cpp (one program, cuzk_<NAME>_test), its benchmarks from *_bench.cpp (cuzk_<NAME>_bench) and
# one fuzz target for each *_fuzz.cpp. Which file is what follows from its suffix alone.
# The target cuzk_<NAME>_tests builds all that is tested; the tests are labelled unit-<NAME>.
# ALONE are files that open a namespace for their own use, or share a name of their unnamed namespaces with others on
# purpose: where several files are compiled as one (preset `whole`), these are not.
#
# The order of the layers is CUZK_LAYER_ORDER; naming a layer that is not below NAME in it is an error.
set(CUZK_LAYER_ORDER base curve hash r1cs gadgets filecoin groth16 engine service cli)
# Siblings: neither may use the other.
set(CUZK_LAYER_SIBLINGS "filecoin;groth16")

# Makes every test of a GoogleTest program one of ctest's. Parametrized tests go by their parameter's name, not by its
# printed value. `timeout` is in seconds.
function(cuzk_register_tests program label timeout)
  gtest_discover_tests(${program} NO_PRETTY_VALUES PROPERTIES LABELS ${label} TIMEOUT ${timeout} DISCOVERY_TIMEOUT 60)
endfunction()

function(cuzk_layer name)
  cmake_parse_arguments(ARG "" "" "LAYERS;LIBRARIES;ALONE" ${ARGN})
  list(FIND CUZK_LAYER_ORDER ${name} self)
  if(self EQUAL -1)
    message(FATAL_ERROR "cuzk_layer: unknown layer '${name}'; the layers are ${CUZK_LAYER_ORDER}")
  endif()
  foreach(lower IN LISTS ARG_LAYERS)
    list(FIND CUZK_LAYER_ORDER ${lower} other)
    if(other EQUAL -1 OR other GREATER_EQUAL self)
      message(FATAL_ERROR "cuzk_layer: '${name}' may not depend on '${lower}': dependencies point downwards only")
    endif()
    if("${lower}" IN_LIST CUZK_LAYER_SIBLINGS AND "${name}" IN_LIST CUZK_LAYER_SIBLINGS)
      message(FATAL_ERROR "cuzk_layer: '${name}' and '${lower}' are siblings and may not depend on each other")
    endif()
  endforeach()

  file(GLOB_RECURSE all CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  set(tests ${all})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  set(benches ${all})
  list(FILTER benches INCLUDE REGEX "_bench\\.cpp$")
  set(fuzzers ${all})
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cpp$")
  set(sources ${all})
  list(FILTER sources EXCLUDE REGEX "_(test|bench|fuzz|main)\\.cpp$")

  set_source_files_properties(${ARG_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

  set(lower_targets)
  foreach(lower IN LISTS ARG_LAYERS)
    list(APPEND lower_targets cuzk_${lower})
  endforeach()
  if(sources)
    add_library(cuzk_${name} STATIC ${sources})
    set(scope PUBLIC)
  else()
    add_library(cuzk_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(cuzk_${name} ${scope} "${CMAKE_SOURCE_DIR}/src")
  target_link_libraries(cuzk_${name} ${scope} ${lower_targets} ${ARG_LIBRARIES} cuzk_options)

  if(CUZK_BUILD_TESTS)
    add_custom_target(cuzk_${name}_tests)
  endif()
  if(tests AND CUZK_BUILD_TESTS)
    add_executable(cuzk_${name}_test ${tests})
    target_link_libraries(cuzk_${name}_test PRIVATE cuzk_${name} cuzk_testing GTest::gmock GTest::gtest_main)
    cuzk_register_tests(cuzk_${name}_test unit-${name} 600)
    add_dependencies(cuzk_${name}_tests cuzk_${name}_test)
  endif()
  if(benches AND CUZK_BUILD_BENCHMARKS)
    add_executable(cuzk_${name}_bench ${benches})
    target_link_libraries(cuzk_${name}_bench PRIVATE cuzk_${name} cuzk_testing benchmark::benchmark_main)
  endif()
  foreach(fuzzer IN LISTS fuzzers)
    cuzk_fuzz_target(${name} ${fuzzer})
  endforeach()
endfunction()

# A *_fuzz.cpp defines LLVMFuzzerTestOneInput. With CUZK_BUILD_FUZZERS (clang) it becomes a libFuzzer program;
# in every other build with tests it is linked with a driver that replays the kept corpus, as a test.
function(cuzk_fuzz_target layer source)
  get_filename_component(stem ${source} NAME_WE)
  set(target cuzk_${layer}_${stem})
  if(CUZK_BUILD_FUZZERS)
    add_executable(${target} ${source})
    target_link_libraries(${target} PRIVATE cuzk_${layer})
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  elseif(CUZK_BUILD_TESTS)
    add_executable(${target}_replay ${source} "${CMAKE_SOURCE_DIR}/tests/support/fuzz_replay_main.cpp")
    target_link_libraries(${target}_replay PRIVATE cuzk_${layer})
    get_filename_component(folder ${source} DIRECTORY)
    add_test(NAME fuzz_replay.${layer}.${stem} COMMAND ${target}_replay "${folder}/testdata/corpus/${stem}")
    set_tests_properties(fuzz_replay.${layer}.${stem} PROPERTIES LABELS unit-${layer})
    add_dependencies(cuzk_${layer}_tests ${target}_replay)
  endif()
endfunction()
