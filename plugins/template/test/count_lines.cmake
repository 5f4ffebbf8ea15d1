# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cmake -D FILE=... -D LIMIT=150 -P count_lines.cmake: fails unless the file has fewer lines than
# that which are not blank.
file(STRINGS "${FILE}" lines REGEX "[^ \t]")
list(LENGTH lines count)
message("${FILE}: ${count} lines that are not blank; fewer than ${LIMIT} are allowed")
if(count LESS 1 OR NOT count LESS LIMIT)
    message(FATAL_ERROR "the template grows: move what every plugin needs to the sdk")
endif()
