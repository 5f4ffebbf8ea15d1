/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "old_plugin.h"

#include <stdlib.h>

/* Fills in what the zeros of one end mean and checks that it lies in the buffer. */
static pi_result settle_end(const pi_host *host, const char *end, uint64_t offset,
                            const uint64_t extent[3], uint64_t pitch[2], uint64_t size) {
    uint64_t rows, slices, last;
    if (!pitch[0])
        pitch[0] = extent[0];
    if (!pitch[1] && __builtin_mul_overflow(pitch[0], extent[1], &pitch[1]))
        pitch[1] = UINT64_MAX;
    if (pitch[0] < extent[0] || __builtin_mul_overflow(pitch[0], extent[1], &rows) ||
        (extent[2] > 1 && pitch[1] < rows))
        return pi_sdk_fail(host, PI_ERROR_INVALID_SIZE, "%s: a pitch is too small", end);
    if (__builtin_mul_overflow(pitch[0], extent[1] - 1, &rows) ||
        __builtin_mul_overflow(pitch[1], extent[2] - 1, &slices) ||
        __builtin_add_overflow(offset, extent[0], &last) ||
        __builtin_add_overflow(last, rows, &last) || __builtin_add_overflow(last, slices, &last) ||
        last > size)
        return pi_sdk_fail(host, PI_ERROR_INVALID_SIZE, "%s: a region ends past its %llu bytes",
                           end, (unsigned long long)size);
    return PI_SUCCESS;
}

static uint64_t row_at(uint64_t offset, const uint64_t pitch[2], uint64_t rows, uint64_t i) {
    return offset + i / rows * pitch[1] + i % rows * pitch[0];
}

static int overlaps_itself(const pi_region *r) {
    const uint64_t rows = r->extent[1], all = rows * r->extent[2], bytes = r->extent[0];
    for (uint64_t i = 0; i < all; ++i) {
        uint64_t src = row_at(r->src_offset, r->src_pitch, rows, i);
        for (uint64_t j = 0; j < all; ++j) {
            uint64_t dst = row_at(r->dst_offset, r->dst_pitch, rows, j);
            if (src < dst + bytes && dst < src + bytes)
                return 1;
        }
    }
    return 0;
}

static pi_result settle_region(const pi_host *host, pi_region *r, const command *work) {
    if (r->reserved)
        return pi_sdk_fail(host, PI_ERROR_UNSUPPORTED_FEATURE, "a region's reserved word is not 0");
    if (!r->extent[0])
        return pi_sdk_fail(host, PI_ERROR_INVALID_SIZE, "a region's row has 0 bytes");
    r->extent[1] = r->extent[1] ? r->extent[1] : 1;
    r->extent[2] = r->extent[2] ? r->extent[2] : 1;
    pi_result result =
        settle_end(host, "src", r->src_offset, r->extent, r->src_pitch, work->src->size);
    if (!result)
        result = settle_end(host, "dst", r->dst_offset, r->extent, r->dst_pitch, work->dst->size);
    if (!result && work->src->bytes == work->dst->bytes && overlaps_itself(r))
        result = pi_sdk_fail(host, PI_ERROR_MEM_COPY_OVERLAP, "a region overlaps itself");
    return result;
}

pi_result old_enqueue_copy(pi_queue queue, const pi_buffer_copy_desc *desc, uint32_t wait_count,
                           const pi_event *wait_list, pi_event *out_event) {
    const pi_host *host = host_of(queue);
    pi_buffer_copy_desc read;
    pi_result result =
        pi_sdk_read_desc(host, desc, PI_TYPE_BUFFER_COPY_DESC, 0, &read, sizeof read);
    if (!result)
        result = check_kind(queue, read.src, PI_KIND_MEM);
    if (!result)
        result = check_kind(queue, read.dst, PI_KIND_MEM);
    if (!result && read.region_count && !read.regions)
        result = pi_sdk_fail(host, PI_ERROR_INVALID_NULL_POINTER, "regions is NULL");
    if (result)
        return result;
    command work = {.type = read.type, .src = read.src, .dst = read.dst};
    work.region_count = read.region_count;
    work.regions = malloc((read.region_count + 1) * sizeof *work.regions);
    if (!work.regions)
        return pi_sdk_fail(host, PI_ERROR_OUT_OF_HOST_MEMORY, "no memory for a command");
    for (uint32_t i = 0; i < read.region_count && !result; ++i) {
        work.regions[i] = read.regions[i];
        result = settle_region(host, &work.regions[i], &work);
    }
    if (result) {
        free(work.regions);
        return result;
    }
    return submit(queue, &work, read.flags, wait_count, wait_list, out_event);
}

pi_result old_enqueue_map(pi_queue queue, const pi_buffer_map_desc *desc, uint32_t wait_count,
                          const pi_event *wait_list, pi_event *out_event) {
    const pi_host *host = host_of(queue);
    const uint64_t map_flags = PI_MAP_READ | PI_MAP_WRITE | PI_MAP_WRITE_DISCARD;
    pi_buffer_map_desc read;
    pi_result result = pi_sdk_read_desc(host, desc, PI_TYPE_BUFFER_MAP_DESC, 0, &read, sizeof read);
    if (!result)
        result = check_kind(queue, read.mem, PI_KIND_MEM);
    if (result)
        return result;
    if (!read.out_pointer)
        return pi_sdk_fail(host, PI_ERROR_INVALID_NULL_POINTER, "out_pointer is NULL");
    if (!(read.flags & map_flags))
        return pi_sdk_fail(host, PI_ERROR_INVALID_VALUE, "no PI_MAP_ flag is set");
    if (!read.size || read.offset > read.mem->size || read.size > read.mem->size - read.offset)
        return pi_sdk_fail(host, PI_ERROR_INVALID_SIZE, "%llu bytes at %llu of %llu",
                           (unsigned long long)read.size, (unsigned long long)read.offset,
                           (unsigned long long)read.mem->size);
    command work = {.type = read.type,
                    .dst = read.mem,
                    .out_pointer = read.out_pointer,
                    .pointer = read.mem->bytes + read.offset};
    return submit(queue, &work, read.flags & ~map_flags, wait_count, wait_list, out_event);
}

pi_result old_enqueue_unmap(pi_queue queue, const pi_unmap_desc *desc, uint32_t wait_count,
                            const pi_event *wait_list, pi_event *out_event) {
    const pi_host *host = host_of(queue);
    pi_unmap_desc read;
    pi_result result = pi_sdk_read_desc(host, desc, PI_TYPE_UNMAP_DESC, 0, &read, sizeof read);
    if (!result)
        result = check_kind(queue, read.mem, PI_KIND_MEM);
    if (result)
        return result;
    uintptr_t at = (uintptr_t)read.pointer, begin = (uintptr_t)read.mem->bytes;
    if (at < begin || at - begin >= read.mem->size)
        return pi_sdk_fail(host, PI_ERROR_INVALID_VALUE, "pointer is none that a map gave");
    command work = {.type = read.type, .dst = read.mem};
    return submit(queue, &work, read.flags, wait_count, wait_list, out_event);
}

/* The bare descriptors, which may be NULL. */
static pi_result enqueue_bare(pi_queue queue, const void *desc, pi_struct_type type,
                              uint32_t wait_count, const pi_event *wait_list, pi_event *out_event) {
    pi_barrier_desc read = {0};
    pi_result result =
        desc ? pi_sdk_read_desc(host_of(queue), desc, type, 0, &read, sizeof read) : PI_SUCCESS;
    if (result)
        return result;
    command work = {.type = type};
    return submit(queue, &work, read.flags, wait_count, wait_list, out_event);
}

pi_result old_enqueue_events_wait(pi_queue queue, const pi_events_wait_desc *desc,
                                  uint32_t wait_count, const pi_event *wait_list,
                                  pi_event *out_event) {
    return enqueue_bare(queue, desc, PI_TYPE_EVENTS_WAIT_DESC, wait_count, wait_list, out_event);
}

pi_result old_enqueue_barrier(pi_queue queue, const pi_barrier_desc *desc, uint32_t wait_count,
                              const pi_event *wait_list, pi_event *out_event) {
    return enqueue_bare(queue, desc, PI_TYPE_BARRIER_DESC, wait_count, wait_list, out_event);
}

void execute(command *work) {
    if (work->out_pointer)
        *work->out_pointer = work->pointer;
    for (uint32_t i = 0; i < work->region_count; ++i) {
        const pi_region *r = &work->regions[i];
        for (uint64_t row = 0; row < r->extent[1] * r->extent[2]; ++row)
            memcpy(work->dst->bytes + row_at(r->dst_offset, r->dst_pitch, r->extent[1], row),
                   work->src->bytes + row_at(r->src_offset, r->src_pitch, r->extent[1], row),
                   r->extent[0]);
    }
}
