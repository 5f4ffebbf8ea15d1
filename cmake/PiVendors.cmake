# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Searches for vendors' headers. Every plugin opens its vendor's library at run time, so missing
# headers are not an error; each vendor is one line of the configuration's output.

find_package(CUDAToolkit QUIET)
if(CUDAToolkit_FOUND)
    set(PI_HAVE_CUDA_HEADERS ON)
    message(STATUS "CUDA headers: ${CUDAToolkit_VERSION}, ${CUDAToolkit_INCLUDE_DIRS}")
else()
    set(PI_HAVE_CUDA_HEADERS OFF)
    message(STATUS "CUDA headers: not found")
endif()

find_path(PI_LEVEL_ZERO_INCLUDE_DIR ze_api.h PATH_SUFFIXES level_zero)
mark_as_advanced(PI_LEVEL_ZERO_INCLUDE_DIR)
if(PI_LEVEL_ZERO_INCLUDE_DIR)
    set(PI_HAVE_LEVEL_ZERO_HEADERS ON)
    message(STATUS "Level Zero headers: ${PI_LEVEL_ZERO_INCLUDE_DIR}")
else()
    set(PI_HAVE_LEVEL_ZERO_HEADERS OFF)
    message(STATUS "Level Zero headers: not found")
endif()
