# cmake --install, find_package(daedalus) and the Debian packages `daedalus` and `libdaedalus-dev`.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Packing takes what was built and does not build the tests first.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)

set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/daedalus)
install(TARGETS daedalus EXPORT daedalusTargets COMPONENT library
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT daedalusTargets NAMESPACE daedalus:: DESTINATION ${config_folder} COMPONENT library)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/src/daedalus DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library
  FILES_MATCHING PATTERN "*.hpp")

if(NOT DEFINED BUILD_SHARED_LIBS)
  set(BUILD_SHARED_LIBS OFF)
endif()
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/daedalusConfig.cmake.in ${CMAKE_BINARY_DIR}/daedalusConfig.cmake
  INSTALL_DESTINATION ${config_folder})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${CMAKE_BINARY_DIR}/daedalusConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/daedalusConfig.cmake ${CMAKE_BINARY_DIR}/daedalusConfigVersion.cmake
  ${CMAKE_SOURCE_DIR}/cmake/FindKLU.cmake ${CMAKE_SOURCE_DIR}/cmake/FindReferenceLapack.cmake
  ${CMAKE_SOURCE_DIR}/cmake/FindGMP.cmake ${CMAKE_SOURCE_DIR}/cmake/FindHDF5Serial.cmake
  DESTINATION ${config_folder} COMPONENT library)

install(TARGETS daedalus_cli DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
configure_file(${CMAKE_SOURCE_DIR}/packaging/daedalus.1.in ${CMAKE_BINARY_DIR}/daedalus.1 @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/daedalus.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
install(FILES ${CMAKE_SOURCE_DIR}/packaging/daedalus.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
  RENAME daedalus COMPONENT program)
install(FILES ${CMAKE_SOURCE_DIR}/packaging/_daedalus DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT program)
install(FILES ${CMAKE_SOURCE_DIR}/packaging/daedalus.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
  COMPONENT program)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/models DESTINATION ${CMAKE_INSTALL_DATADIR}/daedalus COMPONENT program
  FILES_MATCHING PATTERN "*.toml")
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright COMPONENT program)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libdaedalus-dev RENAME copyright COMPONENT library)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME daedalus)
set(CPACK_PACKAGE_VENDOR "The Daedalus authors")
set(CPACK_PACKAGE_CONTACT "The Daedalus authors <authors@daedalus.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "differential-algebraic equations, solved without drift")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL program library)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME daedalus)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION math)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "The command daedalus: analyses, derives and simulates mechanisms and other
differential-algebraic equations that are written in a text file.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libdaedalus-dev)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS "libfmt-dev, libsuitesparse-dev, liblapack-dev, libgmp-dev, libhdf5-dev")
if(DAEDALUS_NATIVE)
  string(APPEND CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS ", libasmjit-dev")
endif()
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "The library behind the command daedalus, for C++ programs: headers, the library and
find_package(daedalus).")
include(CPack)
