// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels, written once. Devices with OpenCL C compile this file; for devices that run native
// functions native_kernels.cpp includes it as C++, with its own definitions of the macros below.
//
// All numbers are sums of few powers of two, so no operation rounds, and every device computes the
// same bits whether or not it fuses a product with a sum. One work-item writes one pixel.
#ifndef KERNEL
#define KERNEL(name) __kernel void name
#define WORK_ITEM // C++ passes the work-item here
#define COLUMN ((int)get_global_id(0))
#define ROW ((int)get_global_id(1))
#define GLOBAL __global
#define CONSTANT __constant
#define FUNCTION
#define COUNT_ONE(address) atomic_inc(address)
#endif

// Four filters of 3 x 3: steps to the right and downwards, a spot, and a smooth brightness.
CONSTANT float filters[36] = {
    -0.25f,  0.0f,    0.25f,   -0.5f,   0.0f,  0.5f,    -0.25f,  0.0f,    0.25f,   // right
    -0.25f,  -0.5f,   -0.25f,  0.0f,    0.0f,  0.0f,    0.25f,   0.5f,    0.25f,   // down
    -0.125f, -0.125f, -0.125f, -0.125f, 1.0f,  -0.125f, -0.125f, -0.125f, -0.125f, // spot
    0.0625f, 0.125f,  0.0625f, 0.125f,  0.25f, 0.125f,  0.0625f, 0.125f,  0.0625f, // smooth
};

FUNCTION int inside(int value, int count) {
    return value < 0 ? 0 : value >= count ? count - 1 : value;
}

// Bytes to numbers from -1 to below 1.
KERNEL(normalise)(WORK_ITEM GLOBAL const uchar *frame, GLOBAL float *plane, int width) {
    const int i = ROW * width + COLUMN;
    plane[i] = ((float)frame[i] - 128.0f) * 0.0078125f;
}

// Each filter's response at each pixel, or 0 if it is negative (ReLU). Features are planes, one
// after the other.
KERNEL(convolve)(WORK_ITEM GLOBAL const float *plane, GLOBAL float *features, int width,
                 int height) {
    for (int filter = 0; filter < 4; ++filter) {
        float sum = 0.0f;
        for (int dy = 0; dy < 3; ++dy) {
            for (int dx = 0; dx < 3; ++dx) {
                const int x = inside(COLUMN + dx - 1, width);
                const int y = inside(ROW + dy - 1, height);
                sum += filters[9 * filter + 3 * dy + dx] * plane[y * width + x];
            }
        }
        features[(filter * height + ROW) * width + COLUMN] = sum > 0.0f ? sum : 0.0f;
    }
}

// The number, from 1, of the filter with the largest response (the first of equal ones), or 0 if
// there is none; and a histogram of these numbers.
KERNEL(classify)(WORK_ITEM GLOBAL const float *features, GLOBAL uchar *labels,
                 GLOBAL uint *histogram, int width, int height) {
    int label = 0;
    float most = 0.0f;
    for (int filter = 0; filter < 4; ++filter) {
        const float answer = features[(filter * height + ROW) * width + COLUMN];
        if (answer > most) {
            most = answer;
            label = filter + 1;
        }
    }
    labels[ROW * width + COLUMN] = (uchar)label;
    COUNT_ONE(histogram + label);
}
