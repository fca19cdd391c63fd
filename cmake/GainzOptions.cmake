# Options, warnings, sanitizers and where things are put. Presets set the options; people seldom do.
include(GNUInstallDirs)

option(GAINZ_TESTS "Build the tests" ON)
option(GAINZ_FUZZ "Build the libFuzzer targets (clang)" OFF)
option(GAINZ_WERROR "Warnings are errors" ON)
set(GAINZ_SANITIZE "" CACHE STRING "Sanitizers: empty, address,undefined or thread")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(GAINZ_PLUGIN_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/gainz/plugins)

# Programs find libgainz beside them, wherever the build folder or the installed tree is moved.
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")

find_program(GAINZ_CCACHE ccache)
if(GAINZ_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${GAINZ_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${GAINZ_CCACHE})
endif()

# The numeric meaning of a kernel is what is written: no fused multiply-add where the source has none, no reassociation.
add_library(gainz_flags INTERFACE)
target_compile_options(gainz_flags INTERFACE -Wall -Wextra -Wshadow -Wno-missing-field-initializers -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 gets these wrong for standard strings and vectors at -O3 (GCC bug 105329 and its kin); AddressSanitizer finds the real ones.
  target_compile_options(gainz_flags INTERFACE -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow
    -Wno-maybe-uninitialized)
endif()
if(GAINZ_WERROR)
  target_compile_options(gainz_flags INTERFACE -Werror)
endif()
if(GAINZ_SANITIZE)
  target_compile_options(gainz_flags INTERFACE -fsanitize=${GAINZ_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_compile_definitions(gainz_flags INTERFACE _GLIBCXX_ASSERTIONS) # an index out of bounds that stays inside an allocation
  target_link_options(gainz_flags INTERFACE -fsanitize=${GAINZ_SANITIZE})
  if(GAINZ_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(gainz_flags INTERFACE -Wno-tsan)
  endif()
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # Clang 14 copies this check's data into each part of a coroutine, where the assembler refuses it.
    target_compile_options(gainz_flags INTERFACE -fno-sanitize=function)
  endif()
endif()
if(GAINZ_FUZZ)
  # Libraries are instrumented for coverage; only the fuzz programs get libFuzzer's main.
  target_compile_options(gainz_flags INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(gainz_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
