// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A part of a program without kernels; its factor is the specialization constant 1.
uint __attribute__((overloadable)) __spirv_SpecConstant(int id, uint value);
uint changed(uint value) {
    return value * __spirv_SpecConstant(1, (uint)3) + 1;
}
