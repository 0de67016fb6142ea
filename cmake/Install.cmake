# What `cmake --install` and CPack give: two packages.
#
#   rowtide           the command, its man page, completions, the examples' jobs and data
#   librowtide-dev    headers, static libraries, find_package(rowtide)
#
# The man page and the completions are printed by the command itself, so they are those of this
# build.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# --- the command ---
set(RT_TEXTS "${PROJECT_BINARY_DIR}/texts")
add_custom_command(TARGET rowtide POST_BUILD
  COMMAND ${CMAKE_COMMAND} -E make_directory "${RT_TEXTS}"
  COMMAND rowtide help man > "${RT_TEXTS}/rowtide.1"
  COMMAND rowtide completion bash > "${RT_TEXTS}/rowtide.bash"
  COMMAND rowtide completion zsh > "${RT_TEXTS}/_rowtide"
  COMMAND rowtide completion fish > "${RT_TEXTS}/rowtide.fish"
  VERBATIM)

install(TARGETS rowtide RUNTIME COMPONENT rowtide)
install(FILES "${RT_TEXTS}/rowtide.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1"
        COMPONENT rowtide)
install(FILES "${RT_TEXTS}/rowtide.bash" RENAME rowtide COMPONENT rowtide
        DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
install(FILES "${RT_TEXTS}/_rowtide" COMPONENT rowtide
        DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions")
install(FILES "${RT_TEXTS}/rowtide.fish" COMPONENT rowtide
        DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
set(RT_DOC "${CMAKE_INSTALL_DATADIR}/doc/rowtide")
install(FILES "examples/deploy/rowtide@.service" DESTINATION lib/systemd/system COMPONENT rowtide)
install(FILES LICENSE RENAME copyright DESTINATION "${RT_DOC}" COMPONENT rowtide)
install(FILES README.md DESTINATION "${RT_DOC}" COMPONENT rowtide)
install(DIRECTORY examples/lab DESTINATION "${RT_DOC}/examples" COMPONENT rowtide)

# --- the library ---
set(RT_PACKAGE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/rowtide")
foreach(library engine state operators)
  set_target_properties(rt_${library} PROPERTIES EXPORT_NAME ${library}
                        OUTPUT_NAME rowtide_${library})
  target_compile_features(rt_${library} PUBLIC cxx_std_20)
  install(DIRECTORY ${library} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/rowtide" COMPONENT dev
          FILES_MATCHING PATTERN "*.h")
endforeach()
install(TARGETS rt_engine rt_state rt_operators rt_boost rt_xxhash rt_date rt_re2 rt_simdjson
        EXPORT rowtide ARCHIVE COMPONENT dev)
install(EXPORT rowtide NAMESPACE rowtide:: DESTINATION "${RT_PACKAGE_DIR}" COMPONENT dev)
configure_package_config_file(cmake/rowtide-config.cmake.in
  "${PROJECT_BINARY_DIR}/rowtide-config.cmake" INSTALL_DESTINATION "${RT_PACKAGE_DIR}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/rowtide-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/rowtide-config.cmake"
              "${PROJECT_BINARY_DIR}/rowtide-config-version.cmake"
              cmake/LibraryDependencies.cmake
        DESTINATION "${RT_PACKAGE_DIR}" COMPONENT dev)
install(FILES LICENSE RENAME copyright COMPONENT dev
        DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/librowtide-dev")
install(DIRECTORY examples/embed COMPONENT dev
        DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/librowtide-dev/examples")

# --- Debian packages ---
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME rowtide)
set(CPACK_PACKAGE_VENDOR "The Rowtide authors")
set(CPACK_PACKAGE_CONTACT "The Rowtide authors <rowtide@localhost>")
set(CPACK_PACKAGE_FILE_NAME "rowtide-${PROJECT_VERSION}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL rowtide dev)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION database)
set(CPACK_DEBIAN_ROWTIDE_PACKAGE_NAME rowtide)
set(CPACK_DEBIAN_ROWTIDE_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_ROWTIDE_PACKAGE_DEPENDS tzdata)
string(CONCAT CPACK_COMPONENT_ROWTIDE_DESCRIPTION
  "Runs Flink SQL on one machine: deduplication, Top-N and aggregates over\n"
  "streams of changes, with the changelog that Apache Flink gives.")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME librowtide-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
string(CONCAT CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
  "libboost1.81-dev, libfmt-dev, libhowardhinnant-date-dev, libicu-dev, libre2-dev, "
  "libsimdjson-dev, libspdlog-dev, libxxhash-dev, pkg-config")
string(CONCAT CPACK_COMPONENT_DEV_DESCRIPTION
  "Operators of Rowtide for C++ programs: headers, static libraries and a CMake\n"
  "package. Deduplication, Top-N and aggregates as objects that take and give\n"
  "batches of changes.")
include(CPack)
