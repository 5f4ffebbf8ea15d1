# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cmake -D FILE=... -D LIMIT=150 -P count_lines.cmake: fails when the file has that many lines that are not blank.
file(STRINGS "${FILE}" lines REGEX "[^ \t]")
list(LENGTH lines count)
message("${FILE}: ${count} lines that are not blank; fewer than ${LIMIT} are wanted")
if(count LESS 1 OR NOT count LESS LIMIT)
    message(FATAL_ERROR "the template grows: what every plugin needs belongs to the sdk")
endif()
