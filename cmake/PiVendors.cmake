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

# Unified Runtime's headers come with DPC++'s SYCL runtime, which scripts/setup --sycl installs in a
# virtual environment: for the adapter, pi-sycl and their tests. Another version has other tables.
set(PI_SYCL_ENVIRONMENT "" CACHE PATH
    "A virtual environment with the packages of bindings/unified_runtime/test/sycl.txt; empty: that \
of scripts/setup --sycl")
set(PI_UR_INCLUDE_DIR "" CACHE PATH
    "The folder of unified-runtime/ur_api.h, version 0.12; empty: that of PI_SYCL_ENVIRONMENT")
mark_as_advanced(PI_SYCL_ENVIRONMENT PI_UR_INCLUDE_DIR)
set(PI_HAVE_UR_HEADERS OFF)
block(PROPAGATE PI_SYCL_ENVIRONMENT PI_UR_INCLUDE_DIR PI_HAVE_UR_HEADERS)
    set(requirements "${PROJECT_SOURCE_DIR}/bindings/unified_runtime/test/sycl.txt")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${requirements}")
    file(SHA256 "${requirements}" key)
    string(SUBSTRING ${key} 0 12 key)
    set(environment "${PROJECT_SOURCE_DIR}/.cache/sycl-${key}")
    if(NOT PI_SYCL_ENVIRONMENT AND EXISTS "${environment}/complete")
        set(PI_SYCL_ENVIRONMENT "${environment}")
    endif()
    if(NOT PI_UR_INCLUDE_DIR AND PI_SYCL_ENVIRONMENT)
        set(PI_UR_INCLUDE_DIR "${PI_SYCL_ENVIRONMENT}/include")
    endif()
    set(without "without pi-sycl and the adapter for SYCL")
    set(header "${PI_UR_INCLUDE_DIR}/unified-runtime/ur_api.h")
    if(NOT PI_UR_INCLUDE_DIR)
        message(STATUS "Unified Runtime headers: not found (scripts/setup --sycl); ${without}")
    elseif(NOT EXISTS "${header}")
        message(STATUS "Unified Runtime headers: ${header} does not exist; ${without}")
    else()
        file(STRINGS "${header}" version REGEX "UR_API_VERSION_CURRENT = UR_MAKE_VERSION")
        string(REGEX REPLACE ".*\\(([0-9]+), *([0-9]+)\\).*" "\\1.\\2" version "${version}")
        if(version STREQUAL "0.12")
            set(PI_HAVE_UR_HEADERS ON)
            message(STATUS "Unified Runtime headers: ${version}, ${PI_UR_INCLUDE_DIR}")
        else()
            message(STATUS "Unified Runtime headers: version ${version}, PI's adapter is for 0.12; "
                           "${without}")
        endif()
    endif()
    if(NOT PI_HAVE_UR_HEADERS)
        set(PI_UR_INCLUDE_DIR "")
    endif()
endblock()
