# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# PI_COVERAGE=ON counts which lines and branches are executed; scripts/coverage makes tables of it. A process writes its
# counters when it ends by exit(), those of plugins as well, which the loader never unloads.
#
# PI_NOT_COUNTED: the options of folders that are test equipment, whose code is not counted. Unit tests are: the sdk is
# headers, which are compiled with what uses them.

set(PI_NOT_COUNTED "")
if(PI_COVERAGE)
    if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        message(FATAL_ERROR "PI_COVERAGE is for gcc, whose gcov reads the counters; this is ${CMAKE_CXX_COMPILER_ID}")
    endif()
    set(PI_NOT_COUNTED -fno-profile-arcs -fno-test-coverage)
    # Threads that count at the same time would lose counts.
    add_compile_options(-fprofile-arcs -ftest-coverage -fprofile-update=atomic)
    add_link_options(--coverage)
endif()
