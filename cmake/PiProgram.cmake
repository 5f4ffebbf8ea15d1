# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# pi_add_program(target OPTIONS file [LIBRARY_FOLDERS folder...])
#
# For a program that declares its command line with pi::command_line in that file: installs the
# program, its man page and its completions for bash, zsh and fish (LIBRARY_FOLDERS: see
# PiInstall.cmake). After each build the program writes these to <build>/share. The global property
# PI_PROGRAM_FILES lists all of them.
function(pi_add_program target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "OPTIONS" "LIBRARY_FOLDERS")
    if(NOT arg_OPTIONS OR arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR
            "pi_add_program: OPTIONS is needed; not understood: '${arg_UNPARSED_ARGUMENTS}'")
    endif()
    # Its header is only for the file that declares the options; other files need not be recompiled.
    target_link_libraries(${target} PRIVATE $<LINK_ONLY:pi::command_line>)
    set_property(SOURCE ${arg_OPTIONS} APPEND PROPERTY INCLUDE_DIRECTORIES
                 "${PROJECT_SOURCE_DIR}/tools/command_line/include")
    pi_install_program(${target} ${arg_LIBRARY_FOLDERS})
    if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
        message(STATUS "${target}: cannot run here: no man page and no completion")
        return()
    endif()
    set(share "${PROJECT_BINARY_DIR}/share")
    set(made)
    macro(pi_made folder name)
        set(file "${share}/${folder}/${name}")
        file(MAKE_DIRECTORY "${share}/${folder}")
        # No search for leaks during the build.
        add_custom_command(
            OUTPUT "${file}"
            COMMAND ${CMAKE_COMMAND} -E env ASAN_OPTIONS=detect_leaks=0 $<TARGET_FILE:${target}>
            ${ARGN} > "${file}"
            DEPENDS ${target}
            COMMENT "Writing share/${folder}/${name}"
            VERBATIM)
        list(APPEND made "${file}")
    endmacro()
    pi_made(man/man1 ${target}.1 --help-man)
    pi_made(bash-completion/completions ${target} --help-completion bash)
    pi_made(zsh/site-functions _${target} --help-completion zsh)
    pi_made(fish/vendor_completions.d ${target}.fish --help-completion fish)
    add_custom_target(${target}_pages ALL DEPENDS ${made})
    add_dependencies(pi_installed ${target}_pages)
    set_property(GLOBAL APPEND PROPERTY PI_PROGRAM_FILES $<TARGET_FILE:${target}> ${made})
    install(FILES "${share}/man/man1/${target}.1" DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
            COMPONENT tools)
    foreach(folder bash-completion/completions zsh/site-functions fish/vendor_completions.d)
        set(files ${made})
        list(FILTER files INCLUDE REGEX "/${folder}/")
        install(FILES ${files} DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder} COMPONENT tools)
    endforeach()
endfunction()
