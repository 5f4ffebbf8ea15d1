# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

find_package(Catch2 2 REQUIRED)

# The label of entries that sanitizers run only at night (scripts/test --night), because they find
# little more than others.
set(PI_NIGHT_IF_SANITIZED "")
if(PI_SANITIZE)
    set(PI_NIGHT_IF_SANITIZED night)
endif()

# The sanitizers' run-times, gcc's and clang's, guess the begin and size of a library's dynamic
# thread-local memory. If that is at the begin of a page from their own malloc, the guess is wrong,
# and the search for leaks crashes ("Tracer caught signal 11"), or the thread sanitizer ("failed to
# allocate 0x1ec... bytes"). Without the guess the memory is found like any other.
set(pi_tls_as_other_memory intercept_tls_get_addr=0)
# Part of ASAN_OPTIONS if leaks are searched for, and always of TSAN_OPTIONS.
set(PI_DETECT_LEAKS detect_leaks=1:${pi_tls_as_other_memory})
set(PI_TSAN_OPTIONS
    suppressions=${PROJECT_SOURCE_DIR}/cmake/tsan.supp:second_deadlock_stack=1:${pi_tls_as_other_memory})

# The OpenCL implementations of the tests. Intel's OpenCL for GPUs comes with its Level Zero driver:
# without a GPU neither has devices, both are slow to report that, and the address sanitizer ends a
# process that loads one. Tests of Level Zero name their drivers.
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
# The properties of every ctest entry; call it for each plain add_test. The label 'opencl' is for
# tests that load a vendor's OpenCL implementation, which leaks, so leaks are not searched for.
# Entries with 'night' run only in `scripts/test --night`; entries with 'slow' run under sanitizers
# only at night. All others get the label 'fast': sanitizers and other compilers run them for each
# change. TIMEOUT is the time of a slow run on a quiet machine (300); after four times that the
# entry is ended as hanging. ENVIRONMENT has precedence. ctest runs two entries at once; an entry
# that uses all processors is ALONE.
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
    # The limit is for hangs, not for slow or busy machines.
    math(EXPR arg_TIMEOUT "4 * ${arg_TIMEOUT}")
    if(PI_COVERAGE) # not optimised, and what is killed has counted nothing
        math(EXPR arg_TIMEOUT "10 * ${arg_TIMEOUT}")
    endif()

    set(environment OCL_ICD_VENDORS=${PI_OPENCL_VENDORS} ZE_ENABLE_ALT_DRIVERS=none
                    # No test depends on results of an earlier one.
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

# pi_remove_fork_ways(variable): without the ways to end a program ("fork…") that a sanitizer's own
# fork() does not allow. gcc's address sanitizer does not free the locks of its allocator in the
# child of a process with threads, so that the child may wait in free() forever; the thread
# sanitizer cannot start threads in such a child, which new loaders do.
function(pi_remove_fork_ways variable)
    set(ways ${${variable}})
    if(PI_SANITIZE MATCHES "address")
        list(FILTER ways EXCLUDE REGEX "^fork")
    elseif(PI_SANITIZE MATCHES "thread")
        list(REMOVE_ITEM ways fork_works fork_unavailable)
    endif()
    set(${variable} ${ways} PARENT_SCOPE)
endfunction()

# pi_reached_environment(test variable): the environment in which the processes of a ctest entry
# count their calls of public functions (conformance/support/reached). pi_count_calls_of(target): a
# program that such entries run.
function(pi_reached_environment test variable)
    set(${variable} "" PARENT_SCOPE)
    if(TARGET pi_reached)
        set(${variable} LD_PRELOAD=$<TARGET_FILE:pi_reached>
            PI_REACHED_FILE=${PROJECT_BINARY_DIR}/reached/${test} PARENT_SCOPE)
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
# Creates the Catch2 program <build>/tests/<name> and the ctest entry of that name. Its main is
# conformance/support/main.cpp; a test skips itself with conformance/support/skip.hpp, included as
# "skip.hpp".
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
