# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

set(PI_EMBED_SCRIPT "${CMAKE_CURRENT_LIST_DIR}/embed.cmake")

# pi_embed(namespace name file.cpp file): a rule that makes file.cpp, a source that has the bytes of `file` as
# namespace::embedded_<name>, and their number as embedded_<name>_size; a 0 is behind them.
function(pi_embed namespace name out file)
    add_custom_command(
        OUTPUT "${out}"
        COMMAND "${CMAKE_COMMAND}" "-DIN=${file}" "-DNAMESPACE=${namespace}" "-DNAME=${name}" "-DOUT=${out}" -P
                "${PI_EMBED_SCRIPT}"
        DEPENDS "${file}" "${PI_EMBED_SCRIPT}"
        VERBATIM)
endfunction()
