# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# PI_COVERAGE=ON counts executed lines and branches; scripts/coverage makes tables of them. A
# process writes its counters in exit(), with those of plugins, which the loader never unloads.
#
# PI_NOT_COUNTED: the options of folders with test equipment, which is not counted. Unit tests are
# counted, because they compile the sdk's headers.

set(PI_NOT_COUNTED "")
if(PI_COVERAGE)
    if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        message(FATAL_ERROR "PI_COVERAGE is for gcc, whose gcov reads the counters; this is "
                            "${CMAKE_CXX_COMPILER_ID}")
    endif()
    set(PI_NOT_COUNTED -fno-profile-arcs -fno-test-coverage)
    # Concurrent threads would lose counts.
    add_compile_options(-fprofile-arcs -ftest-coverage -fprofile-update=atomic)
    add_link_options(--coverage)
endif()
