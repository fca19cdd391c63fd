# The few kinds of target there are. Every one names its sources and what it may include; nothing else is on its path.

add_custom_target(gainz_plugins) # every plugin; a user needs these and the program, nothing else
foreach(label IN ITEMS threads slow source fuzz)
  add_custom_target(gainz_tests_${label}) # the test programs that have this label, see gainz_test
endforeach()


# gainz_library(NAME SOURCES ... [LIBS ...] [INCLUDE dir])  static, position independent. INCLUDE is the root for its includes.
function(gainz_library name)
  cmake_parse_arguments(ARG "" "INCLUDE" "SOURCES;LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  if(ARG_INCLUDE)
    target_include_directories(${name} PUBLIC ${ARG_INCLUDE})
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LIBS} PRIVATE $<BUILD_INTERFACE:gainz_flags>)
endfunction()

# gainz_runtime_library(NAME SOURCES ... [LIBS ...])  a part of the runtime; includes are relative to runtime/.
function(gainz_runtime_library name)
  gainz_library(${name} INCLUDE ${PROJECT_SOURCE_DIR}/runtime ${ARGN})
endfunction()

# gainz_plugin(NAME SOURCES ... [LIBS ...])  a shared object that exports gainz_plugin_query_v0 and nothing else.
function(gainz_plugin name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  add_library(gainz_plugin_${name} MODULE ${ARG_SOURCES})
  set_target_properties(gainz_plugin_${name} PROPERTIES PREFIX "" OUTPUT_NAME gainz_${name} LIBRARY_OUTPUT_DIRECTORY ${GAINZ_PLUGIN_OUTPUT_DIRECTORY})
  target_include_directories(gainz_plugin_${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(gainz_plugin_${name} PRIVATE gainz_sdk ${ARG_LIBS} gainz_flags)
  target_link_options(gainz_plugin_${name} PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/plugin.map)
  set_target_properties(gainz_plugin_${name} PROPERTIES LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/plugin.map INSTALL_RPATH "")
  add_dependencies(gainz_plugins gainz_plugin_${name})
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/gainz_${name}.plugin.toml)
    configure_file(gainz_${name}.plugin.toml ${GAINZ_PLUGIN_OUTPUT_DIRECTORY}/gainz_${name}.plugin.toml COPYONLY)
    install(FILES gainz_${name}.plugin.toml DESTINATION ${CMAKE_INSTALL_LIBDIR}/gainz/plugins COMPONENT runtime)
  endif()
  install(TARGETS gainz_plugin_${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/gainz/plugins COMPONENT runtime)
endfunction()

# gainz_test(NAME SOURCES ... [LIBS ...] [LABELS ...])  one GoogleTest program, one ctest entry per test case. Labels that the
# test script knows: threads (also run under ThreadSanitizer), slow (not run under AddressSanitizer), source (checks of the source
# tree and of the installed package; run once, in release).
function(gainz_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${name} PRIVATE GAINZ_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data" GAINZ_BUILD_DIR="${CMAKE_BINARY_DIR}")
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} GTest::gmock GTest::gtest_main gainz_flags)
  set(properties TIMEOUT 600)
  if(ARG_LABELS) # an empty value would be dropped and TIMEOUT taken for the label
    list(APPEND properties LABELS "${ARG_LABELS}")
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES ${properties})
  gainz_label(${name} ${ARG_LABELS})
endfunction()

# gainz_label(TARGET labels...)  gathers the programs of a label in the target gainz_tests_<label>, so that they can be built alone.
function(gainz_label name)
  foreach(label IN LISTS ARGN)
    if(NOT TARGET gainz_tests_${label})
      message(FATAL_ERROR "${name}: the label ${label} is none of threads, slow, source, fuzz")
    endif()
    add_dependencies(gainz_tests_${label} ${name})
  endforeach()
endfunction()

# gainz_fuzz(NAME SOURCE file LIBS ...)  a libFuzzer program under the fuzz preset; elsewhere a test that replays its corpus in
# tests/data/fuzz/NAME (same source, a main of our own).
function(gainz_fuzz name)
  cmake_parse_arguments(ARG "" "SOURCE" "LIBS" ${ARGN})
  add_executable(${name} ${ARG_SOURCE})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} gainz_flags)
  if(GAINZ_FUZZ)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/fuzz/replay_main.cc)
  endif()
  if(GAINZ_FUZZ)
    add_test(NAME ${name}_corpus COMMAND ${name} -runs=0 ${PROJECT_SOURCE_DIR}/tests/data/fuzz/${name})
  else()
    add_test(NAME ${name}_corpus COMMAND ${name} ${PROJECT_SOURCE_DIR}/tests/data/fuzz/${name})
  endif()
  set_tests_properties(${name}_corpus PROPERTIES LABELS fuzz TIMEOUT 600)
  gainz_label(${name} fuzz)
endfunction()
