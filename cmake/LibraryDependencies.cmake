# The packages that the libraries engine, state and operators need, here and where they are
# installed (rowtide-config.cmake). A library without a CMake package file comes from pkg-config.

find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(Boost 1.81 REQUIRED)
find_package(ICU REQUIRED COMPONENTS uc i18n)
find_package(date REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(re2 REQUIRED IMPORTED_TARGET re2)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(simdjson REQUIRED IMPORTED_TARGET simdjson)
