# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installed files and their components, which are Debian packages (PiPackage.cmake):
#
#   libraries        libpi_loader, libpi_runtime
#   development      headers, files of CMake and pkg-config, pi-new-plugin and its templates
#   plugin_<name>    a plugin, its manifest
#   tools            programs and their files
#
# Paths between installed files are relative: an installation may be moved as a whole.

# The plugins' folder: linkers do not search it, because nothing links plugins.
set(PI_INSTALL_PLUGIN_DIR "${CMAKE_INSTALL_LIBDIR}/pi")
# The manifests' folder, which the loader derives from its own prefix; it cannot know
# CMAKE_INSTALL_DATADIR.
set(PI_INSTALL_MANIFEST_DIR share/pi/plugins.d)

set(CMAKE_INSTALL_RPATH "$ORIGIN")

# Builds everything that is installed, without the tests.
add_custom_target(pi_installed)

# pi_install_library(NAME): installs the target pi_<NAME>, which other projects find as pi::<NAME>.
function(pi_install_library name)
    set_target_properties(pi_${name} PROPERTIES EXPORT_NAME ${name})
    add_dependencies(pi_installed pi_${name})
    install(
        TARGETS pi_${name}
        EXPORT pi-targets
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
                COMPONENT libraries
                NAMELINK_COMPONENT development)
endfunction()

# pi_install_headers(FOLDER): installs its headers as <pi/...>.
function(pi_install_headers folder)
    install(DIRECTORY "${folder}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development)
endfunction()

# pi_install_plugin(NAME): installs the target pi_plugin_<NAME> and a manifest for the loaders of
# that prefix.
function(pi_install_plugin name)
    set(target pi_plugin_${name})
    add_dependencies(pi_installed ${target})
    install(TARGETS ${target} LIBRARY DESTINATION "${PI_INSTALL_PLUGIN_DIR}"
        COMPONENT plugin_${name})
    file(RELATIVE_PATH folder "/${PI_INSTALL_MANIFEST_DIR}" "/${PI_INSTALL_PLUGIN_DIR}")
    set(manifest "${CMAKE_CURRENT_BINARY_DIR}/${name}.json")
    file(CONFIGURE OUTPUT "${manifest}"
         CONTENT "{\"name\": \"${name}\", \"path\": \"${folder}/lib${target}.so\"}\n")
    install(FILES "${manifest}" DESTINATION "${PI_INSTALL_MANIFEST_DIR}" COMPONENT plugin_${name})
    set_property(GLOBAL APPEND PROPERTY PI_INSTALLED_PLUGINS ${name})
endfunction()

# pi_install_program(TARGET [LIBRARY_FOLDER...]): installs a program that finds PI's libraries, and
# those in the folders, relative to its own place.
function(pi_install_program target)
    set(rpath "")
    foreach(folder IN LISTS CMAKE_INSTALL_LIBDIR ARGN)
        list(APPEND rpath "$ORIGIN/../${folder}")
    endforeach()
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "${rpath}")
    add_dependencies(pi_installed ${target})
    install(TARGETS ${target} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT tools)
endfunction()
