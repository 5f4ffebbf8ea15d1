# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cmake -DIN=kernels.ptx -DOUT=ptx_kernels.cpp -P ptx_kernels.cmake: the text as a function of kernels.hpp.
file(READ "${IN}" text)
file(WRITE "${OUT}" "#include \"kernels.hpp\"\n\n"
     "std::string_view image_pipeline::ptx_kernels() {\n    return R\"ptx(${text})ptx\";\n}\n")
