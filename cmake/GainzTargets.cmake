# The few kinds of target there are. Every one names its sources and what it may include; nothing else is on its path.

# gainz_library(NAME SOURCES ... [LIBS ...] [INCLUDE dir])  static, position independent. INCLUDE is the root for its includes.
function(gainz_library name)
  cmake_parse_arguments(ARG "" "INCLUDE" "SOURCES;LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  if(ARG_INCLUDE)
    target_include_directories(${name} PUBLIC ${ARG_INCLUDE})
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LIBS} PRIVATE gainz_flags)
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
  target_link_options(gainz_plugin_${name} PRIVATE -Wl,--exclude-libs,ALL)
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/gainz_${name}.plugin.toml)
    configure_file(gainz_${name}.plugin.toml ${GAINZ_PLUGIN_OUTPUT_DIRECTORY}/gainz_${name}.plugin.toml COPYONLY)
    install(FILES gainz_${name}.plugin.toml DESTINATION ${CMAKE_INSTALL_LIBDIR}/gainz/plugins)
  endif()
  install(TARGETS gainz_plugin_${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/gainz/plugins)
endfunction()

# gainz_test(NAME SOURCES ... [LIBS ...] [LABELS ...])  one GoogleTest program, one ctest entry per test case.
function(gainz_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${name} PRIVATE GAINZ_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data" GAINZ_BUILD_DIR="${CMAKE_BINARY_DIR}")
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} GTest::gmock GTest::gtest_main gainz_flags)
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 600)
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
  add_test(NAME ${name}_corpus COMMAND ${name} ${PROJECT_SOURCE_DIR}/tests/data/fuzz/${name})
endfunction()
