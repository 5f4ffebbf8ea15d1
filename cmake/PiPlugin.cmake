# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# pi_add_plugin(NAME name SOURCES file... [LIBRARIES target...] [OUTPUT_DIRECTORY folder])
#
# Creates the MODULE library target pi_plugin_<name>, file libpi_plugin_<name>.so, which exports
# only piPluginMain. It is built in the loader's folder and installed with a manifest, unless
# OUTPUT_DIRECTORY is given: test equipment is built elsewhere and not installed.
function(pi_add_plugin)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;OUTPUT_DIRECTORY" "SOURCES;LIBRARIES")
    if(NOT arg_NAME OR NOT arg_SOURCES OR arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "pi_add_plugin: NAME and SOURCES are needed; "
                            "not understood: '${arg_UNPARSED_ARGUMENTS}'")
    endif()

    set(target pi_plugin_${arg_NAME})
    set(map "${PROJECT_SOURCE_DIR}/cmake/plugin.map")

    add_library(${target} MODULE ${arg_SOURCES})
    target_link_libraries(${target} PRIVATE pi::headers pi::plugin_sdk pi::warnings
        ${arg_LIBRARIES})
    target_link_options(${target} PRIVATE "LINKER:--version-script=${map}")
    if(NOT PI_SANITIZE)
        # The executable links the sanitizer's run-time.
        target_link_options(${target} PRIVATE LINKER:--no-undefined)
    endif()
    set_target_properties(
        ${target}
        PROPERTIES PREFIX lib
                   OUTPUT_NAME pi_plugin_${arg_NAME}
                   LINK_DEPENDS "${map}")

    if(arg_OUTPUT_DIRECTORY)
        set_target_properties(${target}
            PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${arg_OUTPUT_DIRECTORY}")
    else()
        target_compile_definitions(${target} PRIVATE PI_PLUGIN_VERSION="${PROJECT_VERSION}")
        set_target_properties(${target} PROPERTIES INSTALL_RPATH "")
        pi_install_plugin(${arg_NAME})
    endif()
endfunction()
