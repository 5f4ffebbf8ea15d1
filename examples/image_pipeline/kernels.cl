// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels, written once. Devices with OpenCL C compile this file; for devices that run native
// functions native_kernels.cpp includes it as C++, with its own definitions of the macros below.
//
// All arithmetic uses integers, so every device computes the same bits. Pictures are dense rows of
// RGBA, one byte per channel; one work-item writes one pixel.
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

// A row of Pascal's triangle: a gaussian's weights in integers. Their sum is 1 << 6.
CONSTANT int gaussian[7] = {1, 6, 15, 20, 15, 6, 1};

FUNCTION int clamped(int value, int last) {
    return value < 0 ? 0 : value > last ? last : value;
}

// The pixel at (x, y), or the nearest one inside the picture.
FUNCTION GLOBAL const uchar *pixel(GLOBAL const uchar *rgba, int x, int y, int width, int height) {
    return rgba + 4 * (clamped(y, height - 1) * width + clamped(x, width - 1));
}

// Brightness as the eye weighs the colours; the weights' sum is 1 << 8.
FUNCTION int luminance(GLOBAL const uchar *rgba) {
    return (77 * rgba[0] + 150 * rgba[1] + 29 * rgba[2]) >> 8;
}

// The integer square root of `value`, bit by bit. Values are below 1 << 22.
FUNCTION int integer_sqrt(int value) {
    int root = 0;
    for (int bit = 1 << 10; bit > 0; bit >>= 1) {
        if ((root + bit) * (root + bit) <= value) {
            root += bit;
        }
    }
    return root;
}

// A gaussian blur over 7 x 7 pixels.
KERNEL(blur)(WORK_ITEM GLOBAL const uchar *picture, GLOBAL uchar *blurred, int width, int height) {
    const int x = COLUMN;
    const int y = ROW;
    int sum[4] = {1 << 11, 1 << 11, 1 << 11, 1 << 11}; // a half, to round to the nearest
    for (int dy = -3; dy <= 3; ++dy) {
        for (int dx = -3; dx <= 3; ++dx) {
            GLOBAL const uchar *near = pixel(picture, x + dx, y + dy, width, height);
            const int weight = gaussian[dx + 3] * gaussian[dy + 3];
            for (int channel = 0; channel < 4; ++channel) {
                sum[channel] += weight * near[channel];
            }
        }
    }
    for (int channel = 0; channel < 4; ++channel) {
        blurred[4 * (y * width + x) + channel] = (uchar)(sum[channel] >> 12);
    }
}

// How steep the brightness is at each pixel: the length of Sobel's gradient, one byte a pixel.
KERNEL(edges)(WORK_ITEM GLOBAL const uchar *blurred, GLOBAL uchar *edges, int width, int height) {
    const int x = COLUMN;
    const int y = ROW;
    int light[3][3];
    for (int dy = 0; dy < 3; ++dy) {
        for (int dx = 0; dx < 3; ++dx) {
            light[dy][dx] = luminance(pixel(blurred, x + dx - 1, y + dy - 1, width, height));
        }
    }
    const int right = (light[0][2] + 2 * light[1][2] + light[2][2]) -
                      (light[0][0] + 2 * light[1][0] + light[2][0]);
    const int down = (light[2][0] + 2 * light[2][1] + light[2][2]) -
                     (light[0][0] + 2 * light[0][1] + light[0][2]);
    edges[y * width + x] = (uchar)clamped(integer_sqrt(right * right + down * down), 255);
}

// Counts each brightness in bins 0..255, and each steepness in bins 256..511. The bins are zero
// before.
KERNEL(histogram)(WORK_ITEM GLOBAL const uchar *blurred, GLOBAL const uchar *edges,
                  GLOBAL uint *bins, int width) {
    const int at = ROW * width + COLUMN;
    COUNT_ONE(&bins[luminance(blurred + 4 * at)]);
    COUNT_ONE(&bins[256 + edges[at]]);
}

// Lights the edges up over the darkened picture: each glows in its picture's colour.
KERNEL(overlay)(WORK_ITEM GLOBAL const uchar *picture, GLOBAL const uchar *blurred,
                GLOBAL const uchar *edges, GLOBAL uchar *result, int width) {
    const int at = ROW * width + COLUMN;
    const int glow = clamped(2 * edges[at], 255);
    for (int channel = 0; channel < 3; ++channel) {
        const int dark = blurred[4 * at + channel] * 72;
        const int bright = (picture[4 * at + channel] + 64) * glow;
        result[4 * at + channel] = (uchar)clamped((dark + bright) >> 8, 255);
    }
    result[4 * at + 3] = picture[4 * at + 3];
}

// The highest of 256 counts, at least 1.
FUNCTION uint highest(GLOBAL const uint *bins) {
    uint most = 1;
    for (int i = 0; i < 256; ++i) {
        most = bins[i] > most ? bins[i] : most;
    }
    return most;
}

// The height of a count's bar if the highest bar has `height`. Heights are square roots of the
// counts, so that small counts are visible.
FUNCTION int drawn(uint count, uint most, int height) {
    int shift = 0; // brings counts below 1 << 22, the range of the square root
    while ((most >> shift) >= (1u << 22)) {
        ++shift;
    }
    return integer_sqrt((int)(count >> shift)) * height / integer_sqrt((int)(most >> shift));
}

// Draws the histogram: brightness as an area, steepness as a line over it.
KERNEL(chart)(WORK_ITEM GLOBAL const uint *bins, GLOBAL uchar *chart, int width, int height) {
    const int x = COLUMN;
    const int y = ROW;
    const int bin = x * 256 / width;
    const int above = height - 1 - y;

    const int area = drawn(bins[bin], highest(bins), height - 8);
    GLOBAL const uint *steepness = bins + 256;
    const uint most = highest(steepness);
    const int here = drawn(steepness[bin], most, height - 8);
    const int next = drawn(steepness[clamped(bin + 1, 255)], most, height - 8);
    const int low = here < next ? here : next;
    const int high = here < next ? next : here;

    const int on_area = above < area;
    const int on_line = above >= low && above <= high + 1;
    GLOBAL uchar *out = chart + 4 * (y * width + x);
    out[0] = (uchar)(on_line ? 255 : on_area ? 60 + bin * 150 / 255 : 24);
    out[1] = (uchar)(on_line ? 176 : on_area ? 84 + bin * 140 / 255 : 27);
    out[2] = (uchar)(on_line ? 59 : on_area ? 120 + bin * 110 / 255 : 38);
    out[3] = 255;
}
