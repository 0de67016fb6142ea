# The language level, warnings, build types, hardening, and the tools around the compiler.
#
# Build types: Release (what users run), Asan, Tsan, Fuzz, or None with flags of your own.

option(RT_TESTS "Build the unit tests and benchmarks" ON)
option(RT_STRICT "Also warn about implicit conversions that can change a value" OFF)
option(RT_PRECOMPILE "Precompile the system headers that nearly every file includes" ON)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Asan, Tsan, Fuzz or None" FORCE)
endif()

set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG -march=x86-64-v2")
set(CMAKE_CXX_FLAGS_ASAN
    "-O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer")
set(CMAKE_CXX_FLAGS_TSAN "-O1 -g1 -fsanitize=thread -fno-omit-frame-pointer")
set(CMAKE_CXX_FLAGS_FUZZ
    "-O1 -g1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all")

# GCC 12 reports false overlaps, bounds and uninitialised reads in inlined std::string and
# std::variant code at -O3; they stay visible as warnings, or are off where they are never right.
add_compile_options(-Wall -Wextra -Werror -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-Wno-restrict -Wno-error=maybe-uninitialized -Wno-error=array-bounds
                      -Wno-error=stringop-overflow -Wno-error=stringop-overread)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")  # of one branch of an `if constexpr`
  add_compile_options(-Wno-unused-lambda-capture)
endif()
if(RT_STRICT)
  add_compile_options(-Wconversion)
endif()

# Every target is compiled as PIE code for threads, with the same flags, so that all share one
# precompiled header.
add_compile_options(-fPIE -pthread)
add_link_options(-pie -pthread)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  add_compile_options(-D_FORTIFY_SOURCE=3 -D_GLIBCXX_ASSERTIONS -fstack-protector-strong
                      -fstack-clash-protection -fcf-protection=full -ftrivial-auto-var-init=zero)
  add_link_options(-Wl,-z,relro,-z,now,-z,noexecstack)
endif()

find_program(RT_MOLD mold)
if(RT_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# ccache needs to be told that it may look through a precompiled header.
find_program(RT_CCACHE ccache)
if(RT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(sloppiness pch_defines,time_macros,include_file_mtime,include_file_ctime)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=${sloppiness}
      "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" ${RT_CCACHE})
endif()
if(RT_CCACHE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-fpch-preprocess)
endif()
