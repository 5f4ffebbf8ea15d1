# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Files for find_package(pi), also in the build tree (with CMAKE_PREFIX_PATH set to it), and for
# pkg-config; and Debian packages, which CPack makes of the components (PiInstall.cmake).
include(CMakePackageConfigHelpers)

set(pi_cmake "${CMAKE_INSTALL_LIBDIR}/cmake/pi")

install(EXPORT pi-targets NAMESPACE pi:: DESTINATION "${pi_cmake}" COMPONENT development)
set(pi_bin "${CMAKE_INSTALL_BINDIR}")
set(pi_plugins "${PI_INSTALL_PLUGIN_DIR}")
set(pi_manifests "${PI_INSTALL_MANIFEST_DIR}")
set(made "${CMAKE_CURRENT_BINARY_DIR}/package")
configure_package_config_file(
    cmake/pi-config.cmake.in "${made}/pi-config.cmake"
    INSTALL_DESTINATION "${pi_cmake}"
    PATH_VARS pi_bin pi_plugins pi_manifests)
write_basic_package_version_file("${made}/pi-config-version.cmake" COMPATIBILITY SameMajorVersion)
install(FILES "${made}/pi-config.cmake" "${made}/pi-config-version.cmake" DESTINATION "${pi_cmake}"
        COMPONENT development)

if(PROJECT_IS_TOP_LEVEL)
    set(pi_bin bin)
    set(pi_plugins lib)
    set(tree_cmake "${CMAKE_CURRENT_BINARY_DIR}/lib/cmake/pi")
    export(EXPORT pi-targets NAMESPACE pi:: FILE "${tree_cmake}/pi-targets.cmake")
    configure_package_config_file(
        cmake/pi-config.cmake.in "${tree_cmake}/pi-config.cmake"
        INSTALL_DESTINATION lib/cmake/pi
        INSTALL_PREFIX "${CMAKE_CURRENT_BINARY_DIR}"
        PATH_VARS pi_bin pi_plugins pi_manifests)
    configure_file("${made}/pi-config-version.cmake" "${tree_cmake}/pi-config-version.cmake"
        COPYONLY)
endif()

# pi_add_pkg_config(NAME description requires libs)
function(pi_add_pkg_config name description requires libs)
    set(folder "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
    file(RELATIVE_PATH prefix "/${folder}" /)
    string(REGEX REPLACE "/$" "" prefix "${prefix}")
    configure_file(cmake/pi.pc.in "${made}/${name}.pc" @ONLY)
    install(FILES "${made}/${name}.pc" DESTINATION "${folder}" COMPONENT development)
endfunction()
pi_add_pkg_config(pi-loader "Finds and opens plugins for device runtimes" ""
    "-L\${libdir} -lpi_loader")
pi_add_pkg_config(pi-runtime "Moves data between devices with the fewest bytes" pi-loader
    "-L\${libdir} -lpi_runtime")
pi_add_pkg_config(pi-plugin-sdk "Headers for authors of PI plugins" "" -pthread)

# Templates for new plugins.
install(PROGRAMS scripts/new-plugin DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT development
    RENAME pi-new-plugin)
install(DIRECTORY plugins/template DESTINATION share/pi/new-plugin COMPONENT development
        PATTERN CMakeLists.txt EXCLUDE)
install(DIRECTORY scripts/lib/new-plugin/ DESTINATION share/pi/new-plugin/project
    COMPONENT development)
# The guides and their first program. Without Python, links to the sources are not replaced.
find_package(Python3 QUIET COMPONENTS Interpreter)
set(pages "${CMAKE_CURRENT_SOURCE_DIR}")
if(Python3_FOUND)
    set(pages "${made}/pages")
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS "docs/*.md" "docs/*.svg" "docs/*.yml")
    add_custom_command(
        OUTPUT "${made}/pages.stamp"
        COMMAND "${CMAKE_COMMAND}" -E rm -rf "${pages}"
        COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/scripts/lib/installed-pages"
        "${pages}"
        COMMAND "${CMAKE_COMMAND}" -E touch "${made}/pages.stamp"
        DEPENDS README.md CHANGELOG.md api/MAPPING.md ${sources} scripts/lib/installed-pages)
    add_custom_target(pi_pages ALL DEPENDS "${made}/pages.stamp")
    add_dependencies(pi_installed pi_pages)
endif()
install(FILES "${pages}/README.md" "${pages}/CHANGELOG.md" DESTINATION share/doc/libpi-dev
    COMPONENT development)
install(FILES "${pages}/api/MAPPING.md" DESTINATION share/doc/libpi-dev/api COMPONENT development)
install(DIRECTORY "${pages}/docs" DESTINATION share/doc/libpi-dev COMPONENT development
        FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.yml"
        PATTERN site EXCLUDE)
install(FILES examples/first_program/main.cpp DESTINATION share/doc/libpi-dev/examples/first_program
    COMPONENT development)

if(NOT PROJECT_IS_TOP_LEVEL)
    return()
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME pi)
set(CPACK_PACKAGE_CONTACT "The authors of PI <nobody@pi.invalid>"
    CACHE STRING "Who answers for packages made of this build")
set(CPACK_PACKAGE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/packages")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# PI's own libraries, for dpkg-shlibdeps; dependencies between the packages are below.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS
    "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}"
    "${CMAKE_CURRENT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}/pi-bench")
set(CPACK_COMPONENTS_ALL "")
set(libraries "libpi${PROJECT_VERSION_MAJOR}")
set(same "(= ${PROJECT_VERSION})")

# pi_add_debian_package(COMPONENT package section summary description [DEPENDS text] [RECOMMENDS
# text] [SUGGESTS text])
macro(pi_add_debian_package component package section summary description)
    cmake_parse_arguments(arg "" "DEPENDS;RECOMMENDS;SUGGESTS" "" ${ARGN})
    string(TOUPPER "${component}" upper)
    list(APPEND CPACK_COMPONENTS_ALL ${component})
    set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package})
    set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
    set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${arg_DEPENDS}")
    set(CPACK_DEBIAN_${upper}_PACKAGE_RECOMMENDS "${arg_RECOMMENDS}")
    set(CPACK_DEBIAN_${upper}_PACKAGE_SUGGESTS "${arg_SUGGESTS}")
    set(CPACK_DEBIAN_${upper}_DESCRIPTION "${summary}. ${description}")
    install(FILES LICENSE DESTINATION share/doc/${package} COMPONENT ${component} RENAME copyright)
endmacro()

pi_add_debian_package(
    libraries ${libraries} libs "Libraries"
    "The loader, which finds and opens plugins for the devices of a machine, and the runtime, \
which moves data between them with the fewest bytes."
    RECOMMENDS "pi-plugins-host ${same}")
pi_add_debian_package(
    development libpi-dev libdevel "Development files"
    "Headers of the loader, of the runtime and for authors of plugins, files for CMake and \
pkg-config, and pi-new-plugin, which begins a plugin."
    DEPENDS "${libraries} ${same}"
    RECOMMENDS "pi-tools ${same}")
pi_add_debian_package(
    tools pi-tools utils "Programs"
    "pi-info shows plugins, devices and what their memory is to each other, pi-bench measures, \
pi-conformance holds plugins to the specification, pi-run runs cases and recorded calls."
    DEPENDS "${libraries} ${same}"
    RECOMMENDS "pi-plugins-host ${same}")
get_property(plugins GLOBAL PROPERTY PI_INSTALLED_PLUGINS)
# Libraries that plugins open at run time: Debian's loaders are recommended, drivers are suggested.
set(loader_of_opencl "ocl-icd-libopencl1 | libopencl1")
set(drivers_of_opencl "opencl-icd")
set(loader_of_level_zero "libze1")
set(drivers_of_cuda "libcuda1")
foreach(plugin IN LISTS plugins)
    string(REPLACE "_" "-" package "pi-plugins-${plugin}")
    pi_add_debian_package(
        plugin_${plugin} ${package} libs "Plugin ${plugin}"
        "The devices of ${plugin}, for all programs that use PI."
        DEPENDS "${libraries} ${same}"
        RECOMMENDS "${loader_of_${plugin}}"
        SUGGESTS "${drivers_of_${plugin}}")
endforeach()

# Dependencies of packages that link the libraries.
set(major ${PROJECT_VERSION_MAJOR})
set(minor ${PROJECT_VERSION_MINOR})
math(EXPR next "${minor} + 1")
set(needed "${libraries} (>= ${major}.${minor})")
file(CONFIGURE OUTPUT "${made}/shlibs" CONTENT
"libpi_loader ${major} ${needed}
libpi_runtime ${major}.${minor} ${needed}, ${libraries} (<< ${major}.${next}~)
")
set(CPACK_DEBIAN_LIBRARIES_PACKAGE_CONTROL_EXTRA "${made}/shlibs")
include(CPack)
