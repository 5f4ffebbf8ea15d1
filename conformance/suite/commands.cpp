// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fixture's short forms of the buffer commands.

#include "fixture.hpp"

namespace pi::suite {

pi_region linear(uint64_t src_offset, uint64_t dst_offset, uint64_t size) {
    pi_region region{};
    region.src_offset = src_offset;
    region.dst_offset = dst_offset;
    region.extent[0] = size;
    return region;
}

Event Fixture::write(pi_queue queue, pi_mem mem, uint64_t offset, const Bytes &bytes,
                     const Waits &waits) {
    const pi_region region = linear(0, offset, bytes.size());
    auto desc = pi::desc<pi_buffer_write_desc>();
    desc.mem = mem;
    desc.host_ptr = bytes.data();
    desc.region_count = 1;
    desc.regions = &region;
    return enqueue(queue, desc, waits);
}

Event Fixture::read(pi_queue queue, pi_mem mem, uint64_t offset, Bytes &into, const Waits &waits) {
    const pi_region region = linear(offset, 0, into.size());
    auto desc = pi::desc<pi_buffer_read_desc>();
    desc.mem = mem;
    desc.host_ptr = into.data();
    desc.region_count = 1;
    desc.regions = &region;
    return enqueue(queue, desc, waits);
}

Event Fixture::copy(pi_queue queue, pi_mem src, uint64_t src_offset, pi_mem dst,
                    uint64_t dst_offset, uint64_t size, const Waits &waits) {
    const pi_region region = linear(src_offset, dst_offset, size);
    auto desc = pi::desc<pi_buffer_copy_desc>();
    desc.src = src;
    desc.dst = dst;
    desc.region_count = 1;
    desc.regions = &region;
    return enqueue(queue, desc, waits);
}

Event Fixture::fill(pi_queue queue, pi_mem mem, uint64_t offset, uint64_t size,
                    const Bytes &pattern, const Waits &waits) {
    auto desc = pi::desc<pi_buffer_fill_desc>();
    desc.mem = mem;
    desc.pattern = pattern.data();
    desc.pattern_size = pattern.size();
    desc.offset = offset;
    desc.size = size;
    return enqueue(queue, desc, waits);
}

Event Fixture::map(pi_queue queue, pi_mem mem, uint64_t map_flags, uint64_t offset, uint64_t size,
                   void **out_pointer, const Waits &waits) {
    auto desc = pi::desc<pi_buffer_map_desc>();
    desc.flags = map_flags;
    desc.mem = mem;
    desc.offset = offset;
    desc.size = size;
    desc.out_pointer = out_pointer;
    return enqueue(queue, desc, waits);
}

Event Fixture::unmap(pi_queue queue, pi_mem mem, void *pointer, const Waits &waits) {
    auto desc = pi::desc<pi_unmap_desc>();
    desc.mem = mem;
    desc.pointer = pointer;
    return enqueue(queue, desc, waits);
}

Event Fixture::barrier(pi_queue queue, const Waits &waits) {
    return enqueue(queue, pi::desc<pi_barrier_desc>(), waits);
}

Event Fixture::events_wait(pi_queue queue, const Waits &waits) {
    return enqueue(queue, pi::desc<pi_events_wait_desc>(), waits);
}

} // namespace pi::suite
