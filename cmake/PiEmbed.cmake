# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

set(PI_EMBED_SCRIPT "${CMAKE_CURRENT_LIST_DIR}/embed.cmake")

# pi_embed(namespace name file.cpp file): a rule that generates file.cpp with the bytes of `file` as
# namespace::embedded_<name>, followed by a 0, and their number as embedded_<name>_size.
function(pi_embed namespace name out file)
    add_custom_command(
        OUTPUT "${out}"
        COMMAND "${CMAKE_COMMAND}" "-DIN=${file}" "-DNAMESPACE=${namespace}" "-DNAME=${name}"
                "-DOUT=${out}" -P "${PI_EMBED_SCRIPT}"
        DEPENDS "${file}" "${PI_EMBED_SCRIPT}"
        VERBATIM)
endfunction()
