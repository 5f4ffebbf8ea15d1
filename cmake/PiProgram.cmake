# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# pi_add_program(target OPTIONS file [LIBRARY_FOLDERS folder...])
#
# For a program whose command line is pi::command_line's, declared in that file: installs it, its man page and its completions for bash, zsh
# and fish (PiInstall.cmake has the folders' meaning). Those lie in <build>/share, where the program itself writes them whenever it is built. The global property
# PI_PROGRAM_FILES has all of these files.
function(pi_add_program target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "OPTIONS" "LIBRARY_FOLDERS")
    if(NOT arg_OPTIONS OR arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "pi_add_program: OPTIONS is needed; not understood: '${arg_UNPARSED_ARGUMENTS}'")
    endif()
    # Its header is for the one file that declares the options: all others are not compiled again because of it.
    target_link_libraries(${target} PRIVATE $<LINK_ONLY:pi::command_line>)
    set_property(SOURCE ${arg_OPTIONS} APPEND PROPERTY INCLUDE_DIRECTORIES
                 "${PROJECT_SOURCE_DIR}/tools/command_line/include")
    pi_install_program(${target} ${arg_LIBRARY_FOLDERS})
    if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
        message(STATUS "${target}: cannot run here, so there is no man page and no completion")
        return()
    endif()
    set(share "${PROJECT_BINARY_DIR}/share")
    set(made)
    macro(pi_made folder name)
        set(file "${share}/${folder}/${name}")
        file(MAKE_DIRECTORY "${share}/${folder}")
        # What a program does not free before it ends is not asked while it is built.
        add_custom_command(
            OUTPUT "${file}"
            COMMAND ${CMAKE_COMMAND} -E env ASAN_OPTIONS=detect_leaks=0 $<TARGET_FILE:${target}> ${ARGN} > "${file}"
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
