/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The C about memory in docs/runtime-authors.md, run on each plugin. scripts/check-readme compares
 * both. */
#include "guide.h"

#include <string.h>

static pi_mem use_in_place(pi_context context, pi_device device, void *bytes, uint64_t size) {
    pi_mem_import_desc desc = {sizeof desc, PI_TYPE_MEM_IMPORT_DESC};
    const char *reason;
    pi_mem mem;
    desc.handle.type = PI_EXTERNAL_HOST_POINTER;
    desc.handle.pointer = bytes;
    desc.size = size;
    if (piMemImport(context, device, &desc, &mem) == PI_SUCCESS)
        return mem;                /* no byte is copied, now or later */
    piGetLastError(NULL, &reason); /* "... is aligned to 16 bytes; 128 are needed ..." */
    fprintf(stderr, "not in place: %s\n", reason);
    return NULL;
}

static pi_coherence begin_host_access(pi_queue queue, pi_mem mem, uint64_t size) {
    pi_buffer_map_desc map = {sizeof map, PI_TYPE_BUFFER_MAP_DESC};
    pi_coherence coherence;
    void *same; /* the imported pointer */
    check(piMemGetInfo(mem, PI_MEM_INFO_COHERENCE, sizeof coherence, &coherence, NULL),
          "piMemGetInfo");
    map.flags = PI_MAP_READ | PI_MAP_WRITE | PI_COMMAND_BLOCKING;
    map.mem = mem;
    map.size = size;
    map.out_pointer = &same;
    if (coherence == PI_COHERENCE_MAP_UNMAP)
        check(piEnqueueMemBufferMap(queue, &map, 0, NULL, NULL), "piEnqueueMemBufferMap");
    else
        check(piMemInvalidate(mem, 0, size), "piMemInvalidate"); /* COHERENT: does nothing */
    return coherence;
}

static void end_host_access(pi_queue queue, pi_mem mem, void *bytes, uint64_t size,
                            pi_coherence coherence) {
    pi_unmap_desc unmap = {sizeof unmap, PI_TYPE_UNMAP_DESC};
    unmap.flags = PI_COMMAND_BLOCKING;
    unmap.mem = mem;
    unmap.pointer = bytes;
    if (coherence == PI_COHERENCE_MAP_UNMAP)
        check(piEnqueueMemUnmap(queue, &unmap, 0, NULL, NULL), "piEnqueueMemUnmap");
    else
        check(piMemFlush(mem, 0, size), "piMemFlush");
}

static pi_mem make_matrix(pi_context context, pi_device device, const char *scope_name,
                          uint64_t rows, uint64_t columns, uint64_t *out_row_pitch) {
    const uint64_t extents[] = {rows, columns};
    const uint32_t separator = 1; /* between rows and columns: one physical axis each */
    pi_mem_layout_desc layout = {sizeof layout, PI_TYPE_MEM_LAYOUT_DESC};
    pi_mem_buffer_desc desc = {sizeof desc, PI_TYPE_MEM_BUFFER_DESC};
    pi_memory_scope scopes[16];
    uint64_t pitches[2];
    uint32_t count;
    pi_mem mem;
    layout.rank = 2;
    layout.element_size = sizeof(float);
    layout.extents = extents;
    layout.axis_separator_count = 1;
    layout.axis_separators = &separator;
    desc.next = &layout;
    desc.size = rows * columns * sizeof(float); /* commands use these dense bytes */
    check(piDeviceGetMemoryScopes(device, 16, scopes, &count), "piDeviceGetMemoryScopes");
    for (; desc.scope < count && desc.scope < 16; ++desc.scope)
        if (strcmp(scopes[desc.scope].name, scope_name) == 0 &&
            scopes[desc.scope].flags & PI_SCOPE_LAYOUT) {
            check(piMemBufferCreate(context, device, &desc, &mem), "piMemBufferCreate");
            check(piMemGetInfo(mem, PI_MEM_INFO_PITCHES, sizeof pitches, pitches, NULL),
                  "piMemGetInfo");
            *out_row_pitch = pitches[0]; /* for host pointers and kernels */
            return mem;
        }
    return NULL;
}

static pi_mem view_from(pi_device device, pi_mem mem, uint64_t offset, uint64_t size,
                        uint64_t *out_begin) {
    pi_mem_partition_desc desc = {sizeof desc, PI_TYPE_MEM_PARTITION_DESC};
    pi_memory_scope scope;
    uint32_t count;
    pi_mem view;
    check(piDeviceGetMemoryScopes(device, 1, &scope, &count), "piDeviceGetMemoryScopes");
    /* 1 if a buffer is an address; more if it is a handle and an offset makes a sub-buffer. */
    *out_begin = offset % scope.offset_alignment;
    desc.offset = offset - *out_begin;
    desc.size = size + *out_begin;
    check(piMemBufferPartition(mem, &desc, &view), "piMemBufferPartition");
    return view;
}

/* ----- The program ----- */

static void require(int holds, const char *what) {
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static void fill(pi_queue queue, pi_mem mem, uint64_t offset, uint64_t size, unsigned char byte) {
    pi_buffer_fill_desc desc = {sizeof desc, PI_TYPE_BUFFER_FILL_DESC};
    desc.flags = PI_COMMAND_BLOCKING;
    desc.mem = mem;
    desc.offset = offset;
    desc.size = size;
    desc.pattern = &byte;
    desc.pattern_size = 1;
    check(piEnqueueMemBufferFill(queue, &desc, 0, NULL, NULL), "piEnqueueMemBufferFill");
}

static unsigned char byte_at(pi_queue queue, pi_mem mem, uint64_t offset) {
    pi_region region = {.src_offset = offset, .extent = {1}};
    pi_buffer_read_desc desc = {sizeof desc, PI_TYPE_BUFFER_READ_DESC};
    unsigned char byte = 0;
    desc.flags = PI_COMMAND_BLOCKING;
    desc.mem = mem;
    desc.host_ptr = &byte;
    desc.region_count = 1;
    desc.regions = &region;
    check(piEnqueueMemBufferRead(queue, &desc, 0, NULL, NULL), "piEnqueueMemBufferRead");
    return byte;
}

static void try_in_place(pi_context context, pi_device device, pi_queue queue) {
    enum { size = 8192 };
    unsigned char *bytes = aligned_alloc(4096, size);
    require(bytes != NULL, "no memory");
    const pi_mem mem = use_in_place(context, device, bytes, size);
    if (mem) {
        pi_coherence coherence = begin_host_access(queue, mem, size);
        memset(bytes, 7, size);
        end_host_access(queue, mem, bytes, size, coherence);
        require(byte_at(queue, mem, 100) == 7, "the device does not see the host's write");
        fill(queue, mem, 4000, 100, 9);
        coherence = begin_host_access(queue, mem, size);
        require(bytes[3999] == 7 && bytes[4000] == 9 && bytes[4100] == 7,
                "the host does not see the device's write");
        end_host_access(queue, mem, bytes, size, coherence);
        check(piMemRelease(mem), "piMemRelease");
    }
    free(bytes);
}

static void try_matrix(pi_context context, pi_device device, pi_queue queue) {
    uint64_t pitch = 0;
    const pi_mem mem = make_matrix(context, device, "host.scratchpad", 5, 7, &pitch);
    if (!mem)
        return;
    require(pitch >= 7 * sizeof(float), "rows overlap");
    fill(queue, mem, 0, 5 * 7 * sizeof(float), 3);
    require(byte_at(queue, mem, 5 * 7 * sizeof(float) - 1) == 3, "the last byte was not filled");
    check(piMemRelease(mem), "piMemRelease");
}

static void try_view(pi_context context, pi_device device, pi_queue queue) {
    const pi_mem mem = make_buffer(context, device, 10000);
    uint64_t begin;
    fill(queue, mem, 0, 10000, 1);
    fill(queue, mem, 1234, 1, 2);
    const pi_mem view = view_from(device, mem, 1234, 100, &begin);
    require(byte_at(queue, view, begin) == 2, "the view does not begin where it should");
    check(piMemRelease(view), "piMemRelease");
    check(piMemRelease(mem), "piMemRelease");
}

int main(void) {
    pi_loader loader;
    pi_device devices[16];
    pi_queue queue;
    uint32_t count, i;
    count = find_devices(&loader, devices);
    require(count > 0, "there is no device");
    for (i = 0; i < count; ++i) {
        const pi_context context = make_context(devices[i]);
        check(piQueueCreate(context, devices[i], NULL, &queue), "piQueueCreate");
        try_in_place(context, devices[i], queue);
        try_matrix(context, devices[i], queue);
        try_view(context, devices[i], queue);
        check(piQueueRelease(queue), "piQueueRelease");
        check(piContextRelease(context), "piContextRelease");
    }
    check(piLoaderRelease(loader), "piLoaderRelease");
    printf("passed\n");
    return 0;
}
