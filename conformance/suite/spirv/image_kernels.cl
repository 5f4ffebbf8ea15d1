// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The suite's kernels on images (image_kernels.hpp): as they are for OpenCL C, and compiled to
// SPIR-V.
kernel void transpose(read_only image2d_t src, write_only image2d_t dst) {
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imageui(dst, (int2)(at.y, at.x), read_imageui(src, at));
}
kernel void flatten(read_only image3d_t src, global uint4 *out) {
    int4 at = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);
    out[(at.z * get_image_height(src) + at.y) * get_image_width(src) + at.x] =
        read_imageui(src, at);
}
kernel void flatten_layers(read_only image2d_array_t src, global uint4 *out) {
    int4 at = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);
    out[(at.z * get_image_height(src) + at.y) * get_image_width(src) + at.x] =
        read_imageui(src, at);
}
kernel void flatten_line(read_only image1d_t src, global uint4 *out) {
    int x = get_global_id(0);
    out[x] = read_imageui(src, x);
}
kernel void flatten_view(read_only image1d_buffer_t src, global uint4 *out) {
    int x = get_global_id(0);
    out[x] = read_imageui(src, x);
}
kernel void flatten_lines(read_only image1d_array_t src, global uint4 *out) {
    int2 at = (int2)(get_global_id(0), get_global_id(2));
    out[at.y * get_image_width(src) + at.x] = read_imageui(src, at);
}
kernel void sample(read_only image2d_t image, sampler_t sampler, global const float2 *at,
                   global float4 *out) {
    size_t i = get_global_id(0);
    out[i] = read_imagef(image, sampler, at[i]);
}
