# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# PI_SANITIZE=address,undefined or PI_SANITIZE=thread instruments the whole build.

if(PI_SANITIZE)
    add_compile_options(-fsanitize=${PI_SANITIZE} -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${PI_SANITIZE})

    if(PI_SANITIZE MATCHES "undefined")
        add_compile_options(-fno-sanitize-recover=undefined)
    endif()

    if(PI_FUZZ)
        # All code counts coverage of inputs; only the fuzz targets have libFuzzer's main.
        add_compile_options(-fsanitize=fuzzer-no-link)
    endif()

    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # Instrumentation hides initialisations from GCC's flow analysis.
        target_compile_options(pi_warnings INTERFACE -Wno-maybe-uninitialized)
        if(PI_SANITIZE MATCHES "thread")
            # GCC warns about every atomic_thread_fence, also in third-party headers.
            target_compile_options(pi_warnings INTERFACE -Wno-tsan)
        endif()
    endif()
endif()
