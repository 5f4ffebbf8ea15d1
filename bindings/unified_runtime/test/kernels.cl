// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of the tests, which are compiled to SPIR-V.
uint __attribute__((overloadable)) __spirv_SpecConstant(int id, uint value);

kernel void add(global uint *data, uint value) {
    data[get_global_id(0)] += value;
}
kernel void combine(global const uint *a, uint factor, global const uint *b, global uint *out) {
    out[get_global_id(0)] = a[get_global_id(0)] * factor + b[get_global_id(0)];
}
// Reverses each work-group.
kernel void reverse(global uint *data, local uint *copies) {
    copies[get_local_id(0)] = data[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    data[get_global_id(0)] = copies[get_local_size(0) - 1 - get_local_id(0)];
}
kernel void positions(global uint *out) {
    uint x = get_global_id(0), y = get_global_id(1);
    out[y * get_global_size(0) + x] = 100 * y + x;
}
kernel __attribute__((reqd_work_group_size(4, 1, 1))) void fours(global uint *data) {
    data[get_global_id(0)] = get_local_size(0);
}
kernel void is_null(global uint *data, global uint *out) {
    out[0] = data == 0;
}
kernel void nothing() {}
kernel void constant_value(global uint *out) {
    out[0] = __spirv_SpecConstant(7, (uint)42);
}
kernel void sample(read_only image2d_t image, sampler_t sampler, global uint4 *out) {
    int x = get_global_id(0);
    out[x] = read_imageui(image, sampler, (float2)(x - 0.5f, 0.5f));
}
kernel void follow(global ulong *pointers) {
    global uint *data = (global uint *)pointers[get_global_id(0)];
    data[0] += 1;
}
