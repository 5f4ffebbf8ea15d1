# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# clang compiles OpenCL C to LLVM's IR, and LLVM's translator converts that to SPIR-V.
find_program(PI_SPIRV_CLANG NAMES clang-14 clang-15)
find_program(PI_LLVM_SPIRV NAMES llvm-spirv-15)
if(PI_SPIRV_CLANG AND PI_LLVM_SPIRV)
    message(STATUS "SPIR-V: ${PI_SPIRV_CLANG}, ${PI_LLVM_SPIRV}")
else()
    message(STATUS "SPIR-V: clang or llvm-spirv-15 not found; plugins are not tested with SPIR-V, "
                   "and devices of Level Zero get no kernels from OpenCL C")
endif()

# pi_compile_spirv(source.cl file.spv): a rule that compiles OpenCL C to SPIR-V. Without a compiler
# the file is empty.
function(pi_compile_spirv source file)
    if(NOT PI_SPIRV_CLANG OR NOT PI_LLVM_SPIRV)
        file(WRITE "${file}" "")
        return()
    endif()
    add_custom_command(
        OUTPUT "${file}"
        COMMAND "${PI_SPIRV_CLANG}" -c -x cl -cl-std=CL1.2 -target spir64 -emit-llvm -O1
                -cl-kernel-arg-info -Xclang -finclude-default-header -o "${file}.bc" "${source}"
        COMMAND "${PI_LLVM_SPIRV}" --spirv-max-version=1.2 "${file}.bc" -o "${file}"
        DEPENDS "${source}"
        VERBATIM)
endfunction()
