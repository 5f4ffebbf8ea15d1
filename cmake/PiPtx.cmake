# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# clang has a back end for PTX, so the vendor's toolkit is not needed.
find_program(PI_PTX_CLANG NAMES clang-14 clang-15)
if(PI_PTX_CLANG)
    message(STATUS "PTX: ${PI_PTX_CLANG}")
else()
    message(STATUS "PTX: clang not found; real CUDA devices get no kernels from OpenCL C")
endif()
set(PI_PTX_BUILT_INS "${CMAKE_CURRENT_LIST_DIR}/opencl_for_ptx.cl")

# pi_compile_ptx(source.cl file.ptx): a rule that compiles OpenCL C to PTX, for compute capability
# 5.0 and later. Without a compiler the file is empty.
function(pi_compile_ptx source file)
    if(NOT PI_PTX_CLANG)
        file(WRITE "${file}" "")
        return()
    endif()
    add_custom_command(
        OUTPUT "${file}"
        COMMAND
            "${PI_PTX_CLANG}" -S -x cl -cl-std=CL1.2 -target nvptx64-nvidia-cuda -Xclang -target-cpu
            -Xclang sm_50 -O2 -Xclang -finclude-default-header -include "${PI_PTX_BUILT_INS}" -o
            "${file}" "${source}"
        DEPENDS "${source}" "${PI_PTX_BUILT_INS}"
        VERBATIM)
endfunction()
