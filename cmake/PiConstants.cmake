# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# The constants of pi.h: a list of PI_CONSTANT(name).
block()
    set(specification "${PROJECT_SOURCE_DIR}/api/include/pi/pi.h")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${specification}")
    file(STRINGS "${specification}" constants REGEX "^    PI_[A-Z0-9_]+( =|,|$)")
    file(STRINGS "${specification}" lines REGEX "^enum { PI_")
    string(REGEX MATCHALL "PI_[A-Z0-9_]+ =" lines "${lines}")
    list(APPEND constants ${lines})
    list(TRANSFORM constants REPLACE "^ *(PI_[A-Z0-9_]+).*" "PI_CONSTANT(\\1)")
    list(JOIN constants "\n" constants)
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/constants/constants.inc" CONTENT "@constants@\n"
        @ONLY)
endblock()

# pi_constants(target): the target's sources may include constants.inc.
function(pi_constants target)
    target_include_directories(${target} PRIVATE "${PROJECT_BINARY_DIR}/constants")
endfunction()
