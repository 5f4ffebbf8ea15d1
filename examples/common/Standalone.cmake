# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# For an example that is built on its own, with an installed PI; it also needs this folder and PI's
# folder cmake. Included after project().

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug or Release" FORCE)
endif()

find_package(pi CONFIG REQUIRED)
foreach(module PiEmbed PiPtx PiSpirv)
    include("${CMAKE_CURRENT_LIST_DIR}/../../cmake/${module}.cmake")
endforeach()
add_subdirectory("${CMAKE_CURRENT_LIST_DIR}" common)
