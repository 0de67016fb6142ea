# How the folders of the tree become targets.

# One precompiled header of system headers for all targets.
if(RT_PRECOMPILE)
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/precompiled.cc"
       CONTENT "// Compiled once to make the precompiled header.\n")
  add_library(rt_precompiled OBJECT "${PROJECT_BINARY_DIR}/precompiled.cc")
  target_precompile_headers(rt_precompiled PRIVATE
    <algorithm> <array> <charconv> <chrono> <cstddef> <cstdint> <cstring> <functional> <limits>
    <map> <memory> <optional> <set> <span> <string> <string_view> <tuple> <type_traits>
    <unordered_map> <unordered_set> <utility> <variant> <vector> <fmt/format.h>)
  target_link_libraries(rt_precompiled PRIVATE fmt::fmt spdlog::spdlog)
endif()

# Settings that all our targets share.
function(rt_finish_target target)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
  if(RT_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM rt_precompiled)
  endif()
endfunction()

# rt_library(<folder> LINKS <target>... EXCEPT <pattern>...): the static library rt_<folder> of all
# sources under the folder but those that match; state/durable becomes rt_state_durable.
function(rt_library folder)
  cmake_parse_arguments(arg "" "" "LINKS;EXCEPT" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" "${folder}/*.cc")
  foreach(pattern ${arg_EXCEPT})
    list(FILTER sources EXCLUDE REGEX "^${pattern}")
  endforeach()
  string(REPLACE "/" "_" name "${folder}")
  if(sources)
    add_library(rt_${name} STATIC ${sources})
    target_include_directories(rt_${name} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>"
                               "$<INSTALL_INTERFACE:include/rowtide>")
    target_link_libraries(rt_${name} PUBLIC ${arg_LINKS})
    rt_finish_target(rt_${name})
  else()
    add_library(rt_${name} INTERFACE)
    target_include_directories(rt_${name} INTERFACE "${PROJECT_SOURCE_DIR}")
    target_link_libraries(rt_${name} INTERFACE ${arg_LINKS})
  endif()
endfunction()

# rt_protobuf_sources(<library> <file>.proto): compiled into rt_<library>, included by its path.
function(rt_protobuf_sources library file)
  get_filename_component(folder "${file}" DIRECTORY)
  get_filename_component(stem "${file}" NAME_WE)
  set(out "${PROJECT_BINARY_DIR}/protobuf")
  set(made "${out}/${folder}/${stem}.pb.cc" "${out}/${folder}/${stem}.pb.h")
  add_custom_command(OUTPUT ${made}
    COMMAND ${CMAKE_COMMAND} -E make_directory "${out}"
    COMMAND protobuf::protoc --cpp_out=${out} -I "${PROJECT_SOURCE_DIR}"
            "${PROJECT_SOURCE_DIR}/${file}"
    DEPENDS "${file}" VERBATIM)
  target_sources(rt_${library} PRIVATE ${made})
  set_source_files_properties(${made} PROPERTIES COMPILE_OPTIONS "-w" SKIP_PRECOMPILE_HEADERS ON)
  target_include_directories(rt_${library} SYSTEM PRIVATE "${out}")
endfunction()

# rt_unit_tests(<folder> LINKS <target>...): unit_tests_<folder> of tests/<folder>/*_test.cc and
# whatever other sources lie beside them.
function(rt_unit_tests folder)
  cmake_parse_arguments(arg "" "" "LINKS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
       "tests/${folder}/*.cc")
  if(sources)
    add_executable(unit_tests_${folder} ${sources})
    target_link_libraries(unit_tests_${folder} PRIVATE ${arg_LINKS} GTest::gtest_main GTest::gtest)
    rt_finish_target(unit_tests_${folder})
  endif()
endfunction()

# rt_programs(<prefix> <folder> LINKS <target>...): each source of the folder as a program
# <prefix>_<stem>, built only when asked for by name.
function(rt_programs prefix folder)
  cmake_parse_arguments(arg "" "" "LINKS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" "${folder}/*.cc")
  foreach(source ${sources})
    get_filename_component(stem "${source}" NAME_WE)
    add_executable(${prefix}_${stem} EXCLUDE_FROM_ALL ${source})
    target_link_libraries(${prefix}_${stem} PRIVATE ${arg_LINKS} benchmark::benchmark)
    rt_finish_target(${prefix}_${stem})
  endforeach()
endfunction()

# rt_fuzz_targets(LINKS <target>...): each tests/fuzz/fuzz_*.cc as a program, with libFuzzer in the
# build type Fuzz and with tests/fuzz/driver.cc elsewhere. What users run is built without them.
function(rt_fuzz_targets)
  cmake_parse_arguments(arg "" "" "LINKS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" "tests/fuzz/fuzz_*.cc")
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Fuzz")
    add_library(rt_fuzz_driver OBJECT EXCLUDE_FROM_ALL tests/fuzz/driver.cc)
    target_link_libraries(rt_fuzz_driver PRIVATE ${arg_LINKS})
    rt_finish_target(rt_fuzz_driver)
  endif()
  foreach(source ${sources})
    get_filename_component(target "${source}" NAME_WE)
    add_executable(${target} ${source})
    if(CMAKE_BUILD_TYPE STREQUAL "Release")
      set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL TRUE)
    endif()
    target_link_libraries(${target} PRIVATE ${arg_LINKS})
    if(CMAKE_BUILD_TYPE STREQUAL "Fuzz")
      target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    else()
      target_sources(${target} PRIVATE $<TARGET_OBJECTS:rt_fuzz_driver>)
    endif()
    rt_finish_target(${target})
  endforeach()
  # The operators' batch answers are those of the oracle.
  target_sources(fuzz_operators PRIVATE tests/oracle/cases.cc)
  target_link_libraries(fuzz_operators PRIVATE GTest::gtest)
endfunction()

# rt_header_checks(<folder>... LINKS <target>...): header_checks compiles every header alone,
# without the precompiled ones, so a header that needs another before it does not compile.
function(rt_header_checks)
  cmake_parse_arguments(arg "" "" "LINKS" ${ARGN})
  list(TRANSFORM arg_UNPARSED_ARGUMENTS APPEND "/*.h")
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
       ${arg_UNPARSED_ARGUMENTS})
  if(headers)
    foreach(header ${headers})
      file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/headers/${header}.cc"
           CONTENT "#include \"${header}\"\n")
      list(APPEND sources "${PROJECT_BINARY_DIR}/headers/${header}.cc")
    endforeach()
    add_library(header_checks OBJECT EXCLUDE_FROM_ALL ${sources})
    target_include_directories(header_checks PRIVATE "${PROJECT_SOURCE_DIR}")
    target_compile_options(header_checks PRIVATE -O0 -U_FORTIFY_SOURCE -Wno-unused-function
                           -Wno-unused-const-variable)
    target_link_libraries(header_checks PRIVATE ${arg_LINKS})
  endif()
endfunction()
