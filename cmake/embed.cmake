# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cmake -DIN=file -DNAMESPACE=namespace -DNAME=name -DOUT=file.cpp -P embed.cmake: see
# PiEmbed.cmake.
file(READ "${IN}" digits HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${digits}")
file(WRITE "${OUT}"
     "#include <cstddef>\n"
     "namespace ${NAMESPACE} {\n"
     "extern const unsigned char embedded_${NAME}[];\n"
     "extern const std::size_t embedded_${NAME}_size;\n"
     "alignas(8) const unsigned char embedded_${NAME}[] = {${bytes}0};\n"
     "const std::size_t embedded_${NAME}_size = sizeof embedded_${NAME} - 1;\n"
     "}\n")
