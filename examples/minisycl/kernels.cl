// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels for devices that run no C++ functions, in OpenCL C. classics.cpp has the same as
// lambdas; device_forms.cpp defines OpenCL's keywords in CUDA C++. All arithmetic is exact, so
// every device computes the same bits.

__kernel void vector_add(__global const float *a, __global const float *b, __global float *sum) {
    const uint i = (uint)get_global_id(0);
    sum[i] = a[i] + b[i];
}

// One step of the row `first_row` + the item's; its neighbours are in `before`.
__kernel void stencil(__global const uint *before, uint before_first, __global uint *after,
                      uint after_first, uint first_row, uint rows, uint columns) {
    const uint column = (uint)get_global_id(0);
    const uint row = first_row + (uint)get_global_id(1);
    const uint here = row * columns + column - before_first;
    const uint up = row > 0 ? here - columns : here;
    const uint down = row + 1 < rows ? here + columns : here;
    const uint left = column > 0 ? here - 1 : here;
    const uint right = column + 1 < columns ? here + 1 : here;
    after[row * columns + column - after_first] =
        (4 * before[here] + before[up] + before[down] + before[left] + before[right]) / 8;
}

__kernel void matrix_product(__global const float *a, __global const float *b,
                             __global float *product, uint n) {
    const uint column = (uint)get_global_id(0);
    const uint row = (uint)get_global_id(1);
    float sum = 0;
    for (uint k = 0; k < n; ++k) {
        sum += a[row * n + k] * b[k * n + column];
    }
    product[row * n + column] = sum;
}

// The sum of every stride-th number from the item's on.
__kernel void sums(__global const uint *numbers, __global uint *sum, uint count, uint stride) {
    const uint i = (uint)get_global_id(0);
    uint total = 0;
    for (uint k = i; k < count; k += stride) {
        total += numbers[k];
    }
    sum[i] = total;
}
