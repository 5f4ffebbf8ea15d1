# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

find_package(Catch2 2 REQUIRED)

# The label of what runs at night (scripts/test --night) where there is a sanitizer, for it shows little more than other entries.
set(PI_NIGHT_IF_SANITIZED "")
if(PI_SANITIZE)
    set(PI_NIGHT_IF_SANITIZED night)
endif()

# The sanitizers' runtimes, gcc's and clang's, guess where the dynamic thread-local memory of a library begins and how long it
# is: wrongly where it comes from their own malloc at the begin of a page, and then the search for leaks dies ("Tracer caught
# signal 11"), or the thread sanitizer ("failed to allocate 0x1ec... bytes"). Without the guess it is found as any other memory.
set(pi_tls_as_other_memory intercept_tls_get_addr=0)
# Of ASAN_OPTIONS, where leaks are looked for, and of TSAN_OPTIONS, always.
set(PI_DETECT_LEAKS detect_leaks=1:${pi_tls_as_other_memory})
set(PI_TSAN_OPTIONS
    suppressions=${PROJECT_SOURCE_DIR}/cmake/tsan.supp:second_deadlock_stack=1:${pi_tls_as_other_memory})

# The OpenCL implementations that tests are for. Intel's comes with its Level Zero driver: without a GPU neither has devices, both
# take their time to say so, and the address sanitizer ends a process that loads one. Tests of Level Zero name their drivers.
set(PI_OPENCL_VENDORS "${PROJECT_BINARY_DIR}/opencl_vendors")
file(GLOB pi_icd_files /etc/OpenCL/vendors/*.icd)
list(FILTER pi_icd_files EXCLUDE REGEX "/intel\\.icd$")
file(MAKE_DIRECTORY "${PI_OPENCL_VENDORS}")
if(pi_icd_files)
    file(COPY ${pi_icd_files} DESTINATION "${PI_OPENCL_VENDORS}")
endif()

# pi_test_properties(NAME test [LABELS label...] [ENVIRONMENT VARIABLE=value...] [TIMEOUT seconds]
#                    [ALONE])
#
# What every ctest entry gets; call it for each one made by a plain add_test. The label 'opencl' is
# for tests that load a vendor's OpenCL implementation: those leak, so leaks are not looked for.
# 'night' is what `scripts/test --night` runs alone, 'slow' what a sanitizer runs at night alone. All others
# get the label 'fast', which sanitizers and other compilers run for each change.
# TIMEOUT is what a slow one takes on a quiet machine (300); it is ended as hanging after four times that.
# ENVIRONMENT comes last and wins. ctest runs two entries at once; one that fills the processors by itself is ALONE.
function(pi_test_properties)
    cmake_parse_arguments(PARSE_ARGV 0 arg "ALONE" "NAME;TIMEOUT" "LABELS;ENVIRONMENT")
    if(NOT arg_NAME OR arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "pi_test_properties: NAME is needed; "
                            "not understood: '${arg_UNPARSED_ARGUMENTS}'")
    endif()
    if(NOT "night" IN_LIST arg_LABELS AND NOT "slow" IN_LIST arg_LABELS)
        list(APPEND arg_LABELS fast)
    endif()
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 300)
    endif()
    # A limit is for what hangs, not for what a slow or busy machine does.
    math(EXPR arg_TIMEOUT "4 * ${arg_TIMEOUT}")
    if(PI_COVERAGE) # not optimised, and what is killed has counted nothing
        math(EXPR arg_TIMEOUT "10 * ${arg_TIMEOUT}")
    endif()

    set(environment OCL_ICD_VENDORS=${PI_OPENCL_VENDORS} ZE_ENABLE_ALT_DRIVERS=none
                    # No test depends on what an earlier one saw.
                    PI_VERIFIED_FILE= PI_TEST_SEED=${PI_TEST_SEED})
    if("opencl" IN_LIST arg_LABELS)
        # Without a limit PoCL's memory size drifts with the machine's free memory.
        list(APPEND environment POCL_MEMORY_LIMIT=16)
    endif()
    if(PI_SANITIZE MATCHES "address")
        if("opencl" IN_LIST arg_LABELS)
            list(APPEND environment ASAN_OPTIONS=detect_leaks=0)
        else()
            list(APPEND environment ASAN_OPTIONS=${PI_DETECT_LEAKS})
        endif()
    endif()
    if(PI_SANITIZE MATCHES "undefined")
        list(APPEND environment UBSAN_OPTIONS=print_stacktrace=1)
    endif()
    if(PI_SANITIZE MATCHES "thread")
        list(APPEND environment "TSAN_OPTIONS=${PI_TSAN_OPTIONS}")
    endif()

    set_tests_properties(
        ${arg_NAME}
        PROPERTIES LABELS "${arg_LABELS}"
                   ENVIRONMENT "${environment};${arg_ENVIRONMENT}"
                   TIMEOUT ${arg_TIMEOUT})
    if(arg_ALONE)
        set_tests_properties(${arg_NAME} PROPERTIES PROCESSORS 2)
    endif()
endfunction()

# pi_reached_environment(test variable): what makes the processes of a ctest entry count their calls of public functions
# (conformance/support/reached). pi_count_calls_of(target): the target of a program that such entries run.
function(pi_reached_environment test variable)
    set(${variable} "" PARENT_SCOPE)
    if(TARGET pi_reached)
        set(${variable} LD_PRELOAD=$<TARGET_FILE:pi_reached> PI_REACHED_FILE=${PROJECT_BINARY_DIR}/reached/${test}
            PARENT_SCOPE)
    endif()
endfunction()
function(pi_count_calls_of target)
    if(TARGET pi_reached)
        file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/reached")
        add_dependencies(${target} pi_reached)
    endif()
endfunction()

# pi_add_unit_test(NAME name SOURCES file... LIBRARIES target...
#                  [LABELS label...] [ENVIRONMENT VARIABLE=value...] [TIMEOUT seconds])
#
# Makes the program <build>/tests/<name> of Catch2 tests and the ctest entry of that name. The
# program's main is conformance/support/main.cpp; a test skips itself with conformance/support/skip.hpp,
# included as "skip.hpp".
function(pi_add_unit_test)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;TIMEOUT" "SOURCES;LIBRARIES;LABELS;ENVIRONMENT")
    if(NOT arg_NAME OR NOT arg_SOURCES OR arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "pi_add_unit_test: NAME and SOURCES are needed; "
                            "not understood: '${arg_UNPARSED_ARGUMENTS}'")
    endif()

    add_executable(${arg_NAME} ${arg_SOURCES})
    target_link_libraries(
        ${arg_NAME} PRIVATE pi_unit_main pi::warnings Catch2::Catch2 Threads::Threads
                            ${arg_LIBRARIES})
    target_precompile_headers(${arg_NAME} REUSE_FROM pi_unit_headers)
    set_target_properties(${arg_NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                                                 "${PROJECT_BINARY_DIR}/tests")

    add_test(NAME ${arg_NAME} COMMAND ${arg_NAME})
    pi_reached_environment(${arg_NAME} reached)
    pi_test_properties(
        NAME ${arg_NAME}
        LABELS ${arg_LABELS}
        ENVIRONMENT ${reached} ${arg_ENVIRONMENT}
        TIMEOUT ${arg_TIMEOUT})
endfunction()
