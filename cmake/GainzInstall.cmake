# What is installed, in two components, and how other projects find it.
#
#   runtime   libgainz, gainz.h, the program, the plugins; find_package(gainz COMPONENTS runtime) gives gainz::gainz
#   sdk       the plugin ABI, its C++ helper, the conformance kit; find_package(gainz COMPONENTS sdk) gives gainz::sdk ...
#
# Each component has its own export set, so that either can be installed alone: gainz-targets belongs to the sdk, gainz-runtime-targets
# to the runtime.
include(CMakePackageConfigHelpers)

set(GAINZ_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/gainz)

if(TARGET gainz)
  install(TARGETS gainz EXPORT gainz-runtime-targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT runtime
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT runtime)
  install(EXPORT gainz-runtime-targets NAMESPACE gainz:: DESTINATION ${GAINZ_CMAKE_DIR} COMPONENT runtime)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/gainz.pc.in ${CMAKE_BINARY_DIR}/gainz.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/gainz.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT runtime)
endif()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/gainz-config.cmake.in ${CMAKE_BINARY_DIR}/gainz-config.cmake
  INSTALL_DESTINATION ${GAINZ_CMAKE_DIR})
# Before 1.0 host and plugin must have the same minor version, and so must what is compiled against them.
write_basic_package_version_file(${CMAKE_BINARY_DIR}/gainz-config-version.cmake COMPATIBILITY SameMinorVersion)
foreach(component IN ITEMS runtime sdk)
  install(FILES ${CMAKE_BINARY_DIR}/gainz-config.cmake ${CMAKE_BINARY_DIR}/gainz-config-version.cmake DESTINATION ${GAINZ_CMAKE_DIR}
    COMPONENT ${component})
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/gainz COMPONENT ${component})
endforeach()
