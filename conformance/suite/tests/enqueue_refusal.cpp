// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buffer commands that must be refused, with the right code and nothing enqueued.

#include "checks.hpp"
#include "regions.hpp"
#include "registry.hpp"

namespace pi::suite {
namespace {

constexpr uint64_t size = 64; // of both ends
constexpr uint64_t huge = UINT64_MAX;

struct Misdescribed {
    const char *what;
    pi_region region;
    bool of_src; // the source is wrong, else the destination; ignored if neither is
    bool of_dst;
};

pi_region box(uint64_t row, uint64_t rows, uint64_t slices) {
    pi_region region = linear(0, 0, row);
    region.extent[1] = rows;
    region.extent[2] = slices;
    return region;
}

// The wrong numbers, in the members of the source and in those of the destination.
void add_both_ends(std::vector<Misdescribed> &list, const char *what, const pi_region &src_wrong) {
    list.push_back({what, src_wrong, true, false});
    pi_region dst_wrong = src_wrong;
    std::swap(dst_wrong.src_offset, dst_wrong.dst_offset);
    std::swap(dst_wrong.src_pitch, dst_wrong.dst_pitch);
    list.push_back({what, dst_wrong, false, true});
}

std::vector<Misdescribed> sizes_that_are_wrong() {
    std::vector<Misdescribed> list;
    list.push_back({"0 bytes", linear(0, 0, 0), true, true});
    list.push_back({"0 bytes of two rows", box(0, 2, 1), true, true});
    add_both_ends(list, "one byte past the end", linear(1, 0, size));
    add_both_ends(list, "an offset behind the end", linear(size, 0, 1));
    add_both_ends(list, "an offset that overflows", linear(huge, 0, 1));
    add_both_ends(list, "an offset that overflows to a good end", linear(huge - 7, 0, 16));
    list.push_back({"a row that overflows", linear(0, 0, huge), true, true});
    list.push_back({"rows that overflow", box(16, huge, 1), true, true});
    list.push_back({"rows that overflow to 0", box(16, uint64_t{1} << 60, 1), true, true});
    list.push_back({"slices that overflow to 0", box(4, 4, uint64_t{1} << 60), true, true});
    list.push_back({"rows past the end", box(8, 9, 1), true, true});
    list.push_back({"slices past the end", box(4, 4, 5), true, true});
    pi_region region = box(8, 2, 1);
    region.src_pitch[0] = size - 7; // 57 + 8
    add_both_ends(list, "a row pitch that steps one byte past the end", region);
    region.src_pitch[0] = 7;
    add_both_ends(list, "a row pitch smaller than the row", region);
    region.src_pitch[0] = huge - 3;
    add_both_ends(list, "a row pitch that overflows", region);
    region = box(4, 4, 2);
    region.src_pitch[1] = 11; // of 3 rows and the last one
    add_both_ends(list, "a slice pitch smaller than the slice", region);
    region.src_pitch[1] = size - 15;
    add_both_ends(list, "a slice pitch that steps one byte past the end", region);
    region.src_pitch[1] = huge - 3;
    add_both_ends(list, "a slice pitch that overflows", region);
    return list;
}

// The regions are refused, whichever is wrong, and nothing is moved.
void require_refused(Fixture &fixture, pi_queue queue, Transfer transfer, const std::string &what,
                     const Regions &regions, std::initializer_list<pi_result> allowed) {
    const Bytes src = fixture.random_bytes(size);
    const Bytes dst = fixture.random_bytes(size);
    Transferred transferred(fixture, fixture.place(), transfer, src, dst);
    const std::string whole = join(name_of(transfer), " with ", what);
    require_untouched<pi_event>(whole, allowed, [&](pi_event *event) {
        return transferred.enqueue(queue, regions, {}, event);
    });
    require_success(piQueueFinish(queue), "piQueueFinish");
    transferred.require_contents(queue, src, dst, whole);
}

// The plugin cannot know the size of host memory.
bool at_fault(Transfer transfer, const Misdescribed &one) {
    return (one.of_src && transfer != Transfer::write) ||
           (one.of_dst && transfer != Transfer::read);
}

void require_sizes_refused(Fixture &fixture, Transfer transfer) {
    const Queue queue = fixture.make_queue();
    for (const Misdescribed &one : sizes_that_are_wrong()) {
        if (!at_fault(transfer, one))
            continue;
        const std::string what = join(one.what, ", ", text_of(one.region));
        require_refused(fixture, queue, transfer, what, {one.region}, {PI_ERROR_INVALID_SIZE});
        require_refused(fixture, queue, transfer, "a second region of " + what,
                        {linear(0, 1, 1), one.region}, {PI_ERROR_INVALID_SIZE});
    }
}

CONFORMANCE_TEST("enqueue", "a read with an invalid region is refused and moves nothing") {
    require_sizes_refused(fixture, Transfer::read);
}

CONFORMANCE_TEST("enqueue", "a write with an invalid region is refused and moves nothing") {
    require_sizes_refused(fixture, Transfer::write);
}

CONFORMANCE_TEST("enqueue", "a copy with an invalid region is refused and moves nothing") {
    require_sizes_refused(fixture, Transfer::copy);
}

CONFORMANCE_TEST("enqueue", "reserved words of regions must be zero") {
    const Queue queue = fixture.make_queue();
    pi_region reserved = linear(0, 0, 4);
    reserved.reserved = 1;
    for (const Transfer transfer : all_transfers)
        require_refused(fixture, queue, transfer, "a reserved word", {linear(8, 8, 4), reserved},
                        {PI_ERROR_UNSUPPORTED_FEATURE});
}

CONFORMANCE_TEST("enqueue", "a transfer of no regions, or of regions at NULL, is refused") {
    const Queue queue = fixture.make_queue();
    const Bytes bytes = fixture.random_bytes(size);
    for (const Transfer transfer : all_transfers) {
        Transferred transferred(fixture, fixture.place(), transfer, bytes, bytes);
        require_untouched<pi_event>(
            join(name_of(transfer), " of no regions"), {PI_ERROR_INVALID_SIZE},
            [&](pi_event *out) { return transferred.enqueue(queue, {}, {}, out); });
        transferred.require_contents(queue, bytes, bytes, "after a transfer of no regions");
    }
    const Mem mem = fixture.make_buffer(fixture.place(), bytes);
    const Mem other = fixture.make_buffer(size);
    const Regions one{linear(0, 0, 4)};
    Bytes host(size);
    const auto refused = [&](auto desc) {
        desc.regions = nullptr;
        require_untouched<pi_event>(join(Description<decltype(desc)>::name, " with regions NULL"),
                                    {PI_ERROR_INVALID_NULL_POINTER}, [&](pi_event *out) {
                                        return try_enqueue(queue, desc, {}, out);
                                    });
    };
    refused(read_desc(mem, host, one));
    refused(write_desc(mem, host, one));
    refused(copy_desc(mem, other, one));
}

CONFORMANCE_TEST("enqueue", "a host pointer of NULL is refused") {
    const Queue queue = fixture.make_queue();
    const Mem mem = fixture.make_buffer(size);
    const Regions one{linear(0, 0, 4)};
    Bytes host(size);
    pi_buffer_read_desc read = read_desc(mem, host, one);
    read.host_ptr = nullptr;
    pi_buffer_write_desc write = write_desc(mem, host, one);
    write.host_ptr = nullptr;
    require_untouched<pi_event>("a read to NULL", {PI_ERROR_INVALID_NULL_POINTER},
                                [&](pi_event *out) { return try_enqueue(queue, read, {}, out); });
    require_untouched<pi_event>("a write from NULL", {PI_ERROR_INVALID_NULL_POINTER},
                                [&](pi_event *out) { return try_enqueue(queue, write, {}, out); });
}

CONFORMANCE_TEST("enqueue", "a fill with an invalid descriptor is refused and changes nothing") {
    const Queue queue = fixture.make_queue();
    const Bytes bytes = fixture.random_bytes(size);
    const Mem mem = fixture.make_buffer(fixture.place(), bytes);
    const Bytes pattern(256, std::byte{1});
    const auto refused = [&](const std::string &what, uint64_t pattern_size, uint64_t offset,
                             uint64_t length, std::initializer_list<pi_result> allowed) {
        auto desc = pi::desc<pi_buffer_fill_desc>();
        desc.mem = mem;
        desc.pattern = pattern.data();
        desc.pattern_size = pattern_size;
        desc.offset = offset;
        desc.size = length;
        require_untouched<pi_event>("a fill with " + what, allowed, [&](pi_event *out) {
            return try_enqueue(queue, desc, {}, out);
        });
    };
    const std::initializer_list<pi_result> range{PI_ERROR_INVALID_SIZE};
    // pi.h leaves open which of these codes an invalid pattern has.
    const std::initializer_list<pi_result> pattern_codes{PI_ERROR_INVALID_SIZE,
                                                         PI_ERROR_INVALID_VALUE};
    for (const uint64_t bad : {uint64_t{0}, uint64_t{3}, uint64_t{24}, uint64_t{256}, huge})
        refused(join("a pattern of ", bad, " bytes"), bad, 0, 48, pattern_codes);
    refused("an offset that is no multiple of its pattern", 4, 2, 8, pattern_codes);
    refused("a size that is no multiple of its pattern", 4, 4, 6, pattern_codes);
    refused("0 bytes", 4, 0, 0, range);
    refused("one pattern past the end", 4, 4, size, range);
    refused("an offset behind the end", 4, size, 4, range);
    refused("a size that overflows", 4, 8, huge - 3, range);
    refused("an offset that overflows", 4, huge - 3, 8, range);
    auto null_pattern = pi::desc<pi_buffer_fill_desc>();
    null_pattern.mem = mem;
    null_pattern.pattern_size = null_pattern.size = 4;
    require_untouched<pi_event>(
        "a fill with its pattern at NULL", {PI_ERROR_INVALID_NULL_POINTER},
        [&](pi_event *out) { return try_enqueue(queue, null_pattern, {}, out); });
    require_success(piQueueFinish(queue), "piQueueFinish");
    fixture.require_contents(queue, mem, bytes, "the buffer of refused fills");
}

CONFORMANCE_TEST("enqueue", "a map with an invalid descriptor is refused and writes no address") {
    const Queue queue = fixture.make_queue();
    const Mem mem = fixture.make_buffer(size);
    void *pointer = poison<void *>();
    const auto refused = [&](const std::string &what, uint64_t flags, uint64_t offset,
                             uint64_t length, void **out_pointer,
                             std::initializer_list<pi_result> allowed) {
        auto desc = pi::desc<pi_buffer_map_desc>();
        desc.flags = flags;
        desc.mem = mem;
        desc.offset = offset;
        desc.size = length;
        desc.out_pointer = out_pointer;
        require_untouched<pi_event>("a map with " + what, allowed, [&](pi_event *out) {
            return try_enqueue(queue, desc, {}, out);
        });
        require_success(piQueueFinish(queue), "piQueueFinish");
        require(same(pointer, poison<void *>()), "a map with ", what, " returned an address");
    };
    const std::initializer_list<pi_result> range{PI_ERROR_INVALID_SIZE};
    for (const uint64_t flags : {PI_MAP_READ, PI_MAP_WRITE, PI_MAP_WRITE_DISCARD}) {
        refused("0 bytes", flags, 0, 0, &pointer, range);
        refused("one byte past the end", flags, 1, size, &pointer, range);
        refused("an offset behind the end", flags, size, 1, &pointer, range);
        refused("a size that overflows", flags, 8, huge - 3, &pointer, range);
        refused("an offset that overflows", flags, huge - 3, 8, &pointer, range);
        refused("out_pointer NULL", flags, 0, 8, nullptr, {PI_ERROR_INVALID_NULL_POINTER});
    }
    refused("no PI_MAP_ flag", 0, 0, 8, &pointer, {PI_ERROR_INVALID_VALUE});
    refused("PI_COMMAND_BLOCKING alone", PI_COMMAND_BLOCKING, 0, 8, &pointer,
            {PI_ERROR_INVALID_VALUE});
}

CONFORMANCE_TEST("enqueue", "only an address that a map returned can be unmapped, and only once") {
    const Queue queue = fixture.make_queue();
    const Bytes bytes = fixture.random_bytes(size);
    const Mem mem = fixture.make_buffer(fixture.place(), bytes);
    const Mem other = fixture.make_buffer(fixture.place(), bytes);
    // Refused by the call, or by the command when it runs.
    const auto refused = [&](const std::string &what, pi_mem of, void *pointer) {
        auto desc = pi::desc<pi_unmap_desc>();
        desc.mem = of;
        desc.pointer = pointer;
        Event event;
        pi_result result = try_enqueue(queue, desc, {}, event.out());
        if (result == PI_SUCCESS)
            result = fixture.wait_result(event, what);
        require_error(result, {PI_ERROR_INVALID_VALUE, PI_ERROR_INVALID_NULL_POINTER}, what);
    };
    int nothing = 0;
    refused("unmapping NULL", mem, nullptr);
    refused("unmapping a pointer of the application's", mem, &nothing);
    void *pointer = nullptr;
    fixture.wait(fixture.map(queue, mem, PI_MAP_READ, 0, size, &pointer));
    refused("unmapping from another buffer", other, pointer);
    for (const uint64_t within : {uint64_t{1}, size / 2, size - 1})
        refused(join("unmapping a pointer ", within, " bytes into a map"), mem,
                static_cast<std::byte *>(pointer) + within);
    if (fixture.can(PI_CAPABILITY_VIEW)) {
        const Mem view = fixture.make_view(mem, 0, size);
        refused("unmapping by a view what its root has mapped", view, pointer);
        void *of_view = nullptr;
        fixture.wait(fixture.map(queue, view, PI_MAP_READ, size / 2, size / 2, &of_view));
        refused("unmapping by the root what a view has mapped", mem, of_view);
        fixture.wait(fixture.unmap(queue, view, of_view));
    }
    require_same_bytes(pointer, bytes.data(), size, "what is mapped after refused unmaps");
    fixture.wait(fixture.unmap(queue, mem, pointer));
    refused("unmapping twice", mem, pointer);

    fixture.wait(fixture.map(queue, mem, PI_MAP_READ, 0, size, &pointer));
    const Event gate = fixture.make_host_event();
    const Event first = fixture.unmap(queue, mem, pointer, {gate});
    auto again = pi::desc<pi_unmap_desc>();
    again.mem = mem;
    again.pointer = pointer;
    Event second;
    pi_result result = try_enqueue(queue, again, {}, second.out());
    fixture.signal(gate);
    fixture.wait(first);
    if (result == PI_SUCCESS)
        result = fixture.wait_result(second, "an unmap behind another one");
    require_error(result, PI_ERROR_INVALID_VALUE, "unmapping what an unmap on its way is for");
    fixture.require_contents(queue, mem, bytes, "the buffer after refused unmaps");
}

} // namespace
} // namespace pi::suite
