# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# pi_warnings: the warnings of all code of the project.

add_library(pi_warnings INTERFACE)
add_library(pi::warnings ALIAS pi_warnings)

target_compile_options(
    pi_warnings
    INTERFACE
        -Wall
        -Wextra
        -Wshadow
        -Wvla
        -Wundef
        -Wpointer-arith
        -Wformat=2
        -Wimplicit-fallthrough
        # Tables and descriptors use designated initialisers; other members are zero.
        -Wno-missing-field-initializers
        $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>
        $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>
        $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
        $<$<COMPILE_LANGUAGE:CXX>:-Woverloaded-virtual>
        $<$<COMPILE_LANGUAGE:CXX>:-Wextra-semi>)

# gcc 12 wrongly sees overlapping copies in "text" + std::string at -O3 (its bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(pi_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()

if(PI_WERROR)
    target_compile_options(pi_warnings INTERFACE -Werror)
endif()
