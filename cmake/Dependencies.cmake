# The libraries Rowtide is built on, all from Debian 12; tools/packages.txt names their packages.
# A library without a CMake package file gets a target of ours, named rt_<library>.

include(LibraryDependencies)
find_package(ZLIB REQUIRED)

add_library(rt_boost INTERFACE)
target_link_libraries(rt_boost INTERFACE Boost::headers)

# rt_pkg_config(<name> <module>): the pkg-config module as the target rt_<name>.
function(rt_pkg_config name module)
  pkg_check_modules(${name} REQUIRED IMPORTED_TARGET ${module})
  add_library(rt_${name} INTERFACE)
  target_link_libraries(rt_${name} INTERFACE PkgConfig::${name})
endfunction()

rt_pkg_config(re2 re2)
rt_pkg_config(xxhash libxxhash)
rt_pkg_config(simdjson simdjson)
rt_pkg_config(zstd libzstd)
rt_pkg_config(snappy snappy)
rt_pkg_config(httplib cpp-httplib)
rt_pkg_config(libedit libedit)
rt_pkg_config(rocksdb rocksdb)
rt_pkg_config(rdkafka rdkafka)

# With descriptors, which the format protobuf reads.
find_package(Protobuf REQUIRED)
add_library(rt_protobuf INTERFACE)
target_link_libraries(rt_protobuf INTERFACE protobuf::libprotobuf)

find_package(nlohmann_json REQUIRED)
add_library(rt_nlohmann_json INTERFACE)
target_link_libraries(rt_nlohmann_json INTERFACE nlohmann_json::nlohmann_json)

find_package(CLI11 REQUIRED)
add_library(rt_cli11 INTERFACE)
target_link_libraries(rt_cli11 INTERFACE CLI11::CLI11)

# Howard Hinnant's date library with time zones from the system's tzdata.
add_library(rt_date INTERFACE)
target_link_libraries(rt_date INTERFACE date::date date::date-tz)

if(RT_TESTS)
  find_package(GTest REQUIRED)
  find_package(benchmark REQUIRED)
endif()
