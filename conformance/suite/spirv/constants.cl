// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Specialization constants of all sizes, by their ids and with their defaults (spirv.hpp).
uint __attribute__((overloadable)) __spirv_SpecConstant(int id, uint value);
ulong __attribute__((overloadable)) __spirv_SpecConstant(int id, ulong value);
ushort __attribute__((overloadable)) __spirv_SpecConstant(int id, ushort value);
uchar __attribute__((overloadable)) __spirv_SpecConstant(int id, uchar value);
float __attribute__((overloadable)) __spirv_SpecConstant(int id, float value);
bool __attribute__((overloadable)) __spirv_SpecConstant(int id, bool value);

kernel void constants(global ulong *out) {
    out[0] = __spirv_SpecConstant(10, (uint)42);
    out[1] = __spirv_SpecConstant(7, (ulong)0x123456789abcdef0);
    out[2] = __spirv_SpecConstant(300, (ushort)60000);
    out[3] = __spirv_SpecConstant(0, (uchar)200);
    out[4] = as_uint(__spirv_SpecConstant(5, 1.5f));
    out[5] = __spirv_SpecConstant(6, (bool)true) ? 1 : 0;
}
kernel void add(global uint *data, uint value) {
    data[get_global_id(0)] += value;
}
