/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Rectangles of bytes (pi_region) for plugins in C: size checks, overlap, and copying, with the
 * rules of region.hpp.
 */
#ifndef PI_SDK_PI_SDK_REGION_H
#define PI_SDK_PI_SDK_REGION_H

#include <pi/sdk/pi_sdk_object.h>

/* One end of a region with the defaults filled in: at least 1 row and slice, and the real
 * pitches. */
typedef struct pi_sdk_rectangle {
    uint64_t offset;
    uint64_t row; /* bytes */
    uint64_t rows, slices;
    uint64_t row_pitch, slice_pitch;
} pi_sdk_rectangle;

/* The offset behind the last byte that a checked rectangle touches. */
static inline uint64_t pi_sdk_rectangle_end(const pi_sdk_rectangle *r) {
    return r->offset + (r->slices - 1) * r->slice_pitch + (r->rows - 1) * r->row_pitch + r->row;
}
static inline int pi_sdk_rectangle_is_dense(const pi_sdk_rectangle *r) {
    return (r->rows == 1 || r->row_pitch == r->row) &&
           (r->slices == 1 || r->slice_pitch == r->row * r->rows);
}
/* The offset of row `index`, counted through all slices. */
static inline uint64_t pi_sdk_row_offset(const pi_sdk_rectangle *r, uint64_t index) {
    return r->offset + index / r->rows * r->slice_pitch + index % r->rows * r->row_pitch;
}

/* The two ends of a region. */
static inline pi_sdk_rectangle pi_sdk_rectangle_of(uint64_t offset, const uint64_t *extent,
                                                   const uint64_t *pitch) {
    pi_sdk_rectangle r = {offset,
                          extent[0],
                          extent[1] ? extent[1] : 1,
                          extent[2] ? extent[2] : 1,
                          pitch[0] ? pitch[0] : extent[0],
                          pitch[1]};
    if (!r.slice_pitch)
        r.slice_pitch = r.row_pitch * r.rows;
    return r;
}
static inline pi_sdk_rectangle pi_sdk_source(const pi_region *region) {
    return pi_sdk_rectangle_of(region->src_offset, region->extent, region->src_pitch);
}
static inline pi_sdk_rectangle pi_sdk_destination(const pi_region *region) {
    return pi_sdk_rectangle_of(region->dst_offset, region->extent, region->dst_pitch);
}

/* Returns PI_ERROR_INVALID_SIZE unless the rectangle is well formed and ends within `limit` bytes.
 * `end` names it in messages. */
static inline pi_result pi_sdk_check_rectangle(const pi_host *host, const pi_sdk_rectangle *r,
                                               uint64_t limit, const char *end) {
    uint64_t slice, slices, end_of_all;
    if (!r->row)
        return pi_sdk_fail(host, PI_ERROR_INVALID_SIZE,
                           "a region's extent[0] is 0 bytes; at least 1 is needed");
    if (__builtin_mul_overflow(r->row_pitch, r->rows, &slice))
        return pi_sdk_fail(host, PI_ERROR_INVALID_SIZE, "a slice overflows 64 bits in %s", end);
    if (r->row_pitch < r->row || r->slice_pitch < slice)
        return pi_sdk_fail(
            host, PI_ERROR_INVALID_SIZE,
            "a region's pitches {%llu, %llu} in %s are smaller than its rows {%llu, %llu}",
            (unsigned long long)r->row_pitch, (unsigned long long)r->slice_pitch, end,
            (unsigned long long)r->row, (unsigned long long)slice);
    /* The last slice counts with all its rows, the last row only with its own bytes. */
    if (__builtin_mul_overflow(r->slices - 1, r->slice_pitch, &slices) ||
        __builtin_add_overflow(slices, slice - r->row_pitch + r->row, &end_of_all) ||
        __builtin_add_overflow(r->offset, end_of_all, &end_of_all))
        return pi_sdk_fail(host, PI_ERROR_INVALID_SIZE, "a region overflows 64 bits in %s", end);
    if (end_of_all > limit)
        return pi_sdk_fail(host, PI_ERROR_INVALID_SIZE,
                           "a region of bytes %llu to %llu goes past the end of %s, which has %llu",
                           (unsigned long long)r->offset, (unsigned long long)end_of_all, end,
                           (unsigned long long)limit);
    return PI_SUCCESS;
}

/* Returns PI_ERROR_INVALID_SIZE unless `size` is at least 1 and the range from `offset` ends within
 * `limit`. */
static inline pi_result pi_sdk_check_range(const pi_host *host, uint64_t offset, uint64_t size,
                                           uint64_t limit) {
    if (!size)
        return pi_sdk_fail(host, PI_ERROR_INVALID_SIZE, "size is 0 bytes; at least 1 is needed");
    if (offset > limit || size > limit - offset)
        return pi_sdk_fail(host, PI_ERROR_INVALID_SIZE,
                           "the range of %llu bytes from %llu goes past the end of %llu bytes",
                           (unsigned long long)size, (unsigned long long)offset,
                           (unsigned long long)limit);
    return PI_SUCCESS;
}

/* True if two checked rectangles of one storage share a byte. Rows ascend, so one pass decides. */
static inline int pi_sdk_overlap(const pi_sdk_rectangle *a, const pi_sdk_rectangle *b) {
    const uint64_t a_rows = a->rows * a->slices, b_rows = b->rows * b->slices;
    uint64_t i = 0, j = 0;
    if (pi_sdk_rectangle_end(a) <= b->offset || pi_sdk_rectangle_end(b) <= a->offset)
        return 0;
    while (i < a_rows && j < b_rows) {
        const uint64_t x = pi_sdk_row_offset(a, i), y = pi_sdk_row_offset(b, j);
        if (x < y + b->row && y < x + a->row)
            return 1;
        x < y ? ++i : ++j;
    }
    return 0;
}

/* Checks the regions of a copy: both ends well formed and within src_size and dst_size bytes,
 * reserved words zero. If both storages have an address (else NULL), no source may overlap its
 * destination. */
static inline pi_result pi_sdk_check_regions(const pi_host *host, uint32_t count,
                                             const pi_region *regions, const void *src,
                                             uint64_t src_size, const void *dst,
                                             uint64_t dst_size) {
    uint32_t i;
    if (!count)
        return pi_sdk_fail(host, PI_ERROR_INVALID_SIZE, "region_count is 0; at least 1 is needed");
    if (!regions)
        return pi_sdk_fail(host, PI_ERROR_INVALID_NULL_POINTER,
                           "regions is NULL, but region_count is %u", (unsigned)count);
    for (i = 0; i < count; ++i) {
        pi_sdk_rectangle from = pi_sdk_source(&regions[i]), to = pi_sdk_destination(&regions[i]);
        pi_result result = pi_sdk_check_reserved(host, regions[i].reserved);
        if (!result)
            result = pi_sdk_check_rectangle(host, &from, src_size, "src");
        if (!result)
            result = pi_sdk_check_rectangle(host, &to, dst_size, "dst");
        if (result)
            return result;
        if (!src || !dst)
            continue;
        /* By address: two buffers may use the same host memory. */
        from.offset += (uintptr_t)src;
        to.offset += (uintptr_t)dst;
        if (pi_sdk_overlap(&from, &to))
            return pi_sdk_fail(host, PI_ERROR_MEM_COPY_OVERLAP,
                               "the source and the destination of regions[%u] overlap",
                               (unsigned)i);
    }
    return PI_SUCCESS;
}

/* Copies the bytes of checked regions between host-addressable memories. */
static inline void pi_sdk_copy_regions(size_t count, const pi_region *regions, const void *src,
                                       void *dst) {
    size_t i;
    for (i = 0; i < count; ++i) {
        const pi_sdk_rectangle from = pi_sdk_source(&regions[i]);
        const pi_sdk_rectangle to = pi_sdk_destination(&regions[i]);
        const int dense = pi_sdk_rectangle_is_dense(&from) && pi_sdk_rectangle_is_dense(&to);
        const uint64_t rows = from.rows * from.slices;
        uint64_t row;
        for (row = 0; row < (dense ? 1 : rows); ++row)
            memcpy((char *)dst + pi_sdk_row_offset(&to, row),
                   (const char *)src + pi_sdk_row_offset(&from, row),
                   (size_t)(dense ? from.row * rows : from.row));
    }
}

#endif
