// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The suite's kernels (kernels.hpp): as they are for OpenCL C, and compiled to SPIR-V.
kernel void add(global uint *data, uint value) {
    data[get_global_id(0)] += value;
}
kernel void combine(global uint *dst, global const uint *a, global const uint *b, uint factor) {
    size_t i = get_global_id(0);
    dst[i] = a[i] * factor + b[i];
}
kernel void visit(global uint *visits, ulong size_x, ulong size_y) {
    visits[(get_global_id(2) * size_y + get_global_id(1)) * size_x + get_global_id(0)] += 1;
}
kernel void reverse(global uint *data, local uint *scratch) {
    size_t i = get_local_id(0);
    scratch[i] = data[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    data[get_global_id(0)] = scratch[get_local_size(0) - 1 - i];
}
kernel void butterfly(global uint *data, local uint *sums, local uint *differences) {
    size_t i = get_local_id(0), mirrored = get_local_size(0) - 1 - i;
    uint mine = data[get_global_id(0)], other = data[get_global_id(0) - i + mirrored];
    sums[i] = mine + other;
    differences[i] = mine - other;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    data[get_global_id(0)] = i < mirrored ? sums[i] : differences[mirrored];
}
kernel void is_null(global uint *out, global const uint *a) {
    out[0] = a == 0;
}
kernel void follow(global const ulong *addresses, uint value) {
    *(global uint *)(uintptr_t)addresses[get_global_id(0)] += value;
}
