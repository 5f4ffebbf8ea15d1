// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Regions of reads, writes, copies and fills, compared with a byte array.

#include "regions.hpp"
#include "registry.hpp"

#include <algorithm>

namespace pi::suite {
namespace {

// Enqueues, waits, and compares both ends with the model.
void require_moved(Fixture &fixture, pi_queue queue, Transfer transfer, const Regions &regions,
                   uint64_t src_size, uint64_t dst_size) {
    const Bytes src = fixture.random_bytes(src_size);
    Bytes dst = fixture.random_bytes(dst_size);
    Transferred transferred(fixture, fixture.place(), transfer, src, dst);
    const std::string what = join(name_of(transfer), " of ", regions.size(), " regions, one of ",
                                  text_of(regions.front()));
    Event event;
    require_success(transferred.enqueue(queue, regions, {}, event.out()), what);
    fixture.wait(event, what);
    apply(regions, src, dst);
    transferred.require_contents(queue, src, dst, what);
}

void require_random_moves(Fixture &fixture, Transfer transfer) {
    const Queue queue = fixture.make_queue();
    for (int round = 0; round < 25; ++round) {
        const uint64_t src_size = fixture.random(1, 6000);
        const uint64_t dst_size = fixture.random(1, 6000);
        const uint64_t count = fixture.random(1, std::min<uint64_t>(dst_size, 12));
        require_moved(fixture, queue, transfer, random_regions(fixture, count, src_size, dst_size),
                      src_size, dst_size);
    }
}

CONFORMANCE_TEST("enqueue", "a read moves every byte of its random regions and no other") {
    require_random_moves(fixture, Transfer::read);
}

CONFORMANCE_TEST("enqueue", "a write moves every byte of its random regions and no other") {
    require_random_moves(fixture, Transfer::write);
}

CONFORMANCE_TEST("enqueue", "a copy moves every byte of its random regions and no other") {
    require_random_moves(fixture, Transfer::copy);
}

CONFORMANCE_TEST("enqueue", "thousands of regions in one call are all done") {
    const Queue queue = fixture.make_queue();
    const uint64_t size = 3 * 4096;
    for (const Transfer transfer : all_transfers)
        require_moved(fixture, queue, transfer, random_regions(fixture, 4096, size, size), size,
                      size);
}

CONFORMANCE_TEST("enqueue", "a large transfer moves its last bytes, too") {
    const Queue queue = fixture.make_queue();
    const uint64_t size = fixture.at_most(8 << 20) + fixture.random(1, 4095);
    const uint64_t from = fixture.random(0, 63);
    const uint64_t to = fixture.random(0, 63);
    for (const Transfer transfer : all_transfers)
        require_moved(fixture, queue, transfer, {linear(from, to, size - 64)}, size, size);
}

// `columns` columns of a picture: each is a region, and all interleave.
Regions columns(uint64_t count, uint64_t width, uint64_t rows) {
    Regions regions;
    for (uint64_t column = 0; column < count; ++column) {
        pi_region region = linear(column * width * rows, column * width, width);
        region.extent[1] = rows;
        region.dst_pitch[0] = count * width;
        regions.push_back(region);
    }
    return regions;
}

CONFORMANCE_TEST("enqueue", "regions may interleave as long as they share no byte") {
    const Queue queue = fixture.make_queue();
    const uint64_t width = fixture.random(1, 7);
    const uint64_t rows = fixture.random(2, 9);
    for (const Transfer transfer : all_transfers)
        require_moved(fixture, queue, transfer, columns(5, width, rows), 5 * width * rows,
                      5 * width * rows);
}

CONFORMANCE_TEST("enqueue",
                 "extents of 0 rows and slices mean 1, and the pitch of one row is ignored") {
    const Queue queue = fixture.make_queue();
    std::vector<Regions> cases;
    for (const uint64_t rows : {0, 1}) {
        for (const uint64_t slices : {0, 1}) {
            pi_region region = linear(3, 5, 11);
            region.extent[1] = rows;
            region.extent[2] = slices;
            cases.push_back({region});
            region.src_pitch[0] = region.dst_pitch[0] = 1 << 20;
            cases.push_back({region});
            region.src_pitch[1] = region.dst_pitch[1] = uint64_t{1} << 40;
            cases.push_back({region});
        }
    }
    pi_region slices = linear(1, 2, 3);
    slices.extent[2] = 4; // no rows
    slices.src_pitch[1] = 7;
    slices.dst_pitch[1] = 5;
    cases.push_back({slices});
    for (const Transfer transfer : all_transfers) {
        for (const Regions &regions : cases)
            require_moved(fixture, queue, transfer, regions, 64, 64);
    }
}

CONFORMANCE_TEST("enqueue", "an unused pitch may be as large as its type allows") {
    const Queue queue = fixture.make_queue();
    pi_region row = linear(3, 5, 11);
    row.src_pitch[0] = row.dst_pitch[0] = UINT64_MAX;
    pi_region slice = linear(1, 2, 3);
    slice.extent[1] = 4;
    slice.src_pitch[0] = 5;
    slice.src_pitch[1] = UINT64_MAX;
    slice.dst_pitch[1] = UINT64_MAX - 3;
    for (const Transfer transfer : all_transfers)
        for (const pi_region &region : {row, slice})
            require_moved(fixture, queue, transfer, {region}, 64, 64);
}

CONFORMANCE_TEST("enqueue", "a region may end with the buffer's last byte") {
    const Queue queue = fixture.make_queue();
    pi_region box = linear(1, 0, 4);
    box.extent[1] = 3;
    box.extent[2] = 2;
    box.src_pitch[0] = 6; // 1 + 20 + 2 * 6 + 4
    box.src_pitch[1] = 20;
    for (const Transfer transfer : all_transfers) {
        require_moved(fixture, queue, transfer, {box}, 37, 24);
        require_moved(fixture, queue, transfer, {linear(12, 99, 1)}, 13, 100);
    }
}

CONFORMANCE_TEST("enqueue", "a copy of many regions begins after its event of another queue") {
    constexpr uint64_t count = 8, part = 4096, size = count * part;
    const Queue first = fixture.make_queue(), second = fixture.make_queue();
    const Mem src = fixture.make_buffer(size), dst = fixture.make_buffer(size);
    std::vector<pi_region> regions; // with gaps, so that no backend merges them
    for (uint64_t i = 0; i < count; ++i)
        regions.push_back(linear(i * part, i * part, part - 1));
    Bytes expected(size, std::byte{0});
    fixture.upload(second, dst, expected);
    for (unsigned round = 1; round <= 50; ++round) {
        const std::byte value{static_cast<unsigned char>(round)};
        const Event filled = fixture.fill(first, src, 0, size, Bytes(1, value));
        auto desc = pi::desc<pi_buffer_copy_desc>();
        desc.src = src;
        desc.dst = dst;
        desc.region_count = static_cast<uint32_t>(regions.size());
        desc.regions = regions.data();
        const Event copied = fixture.enqueue(second, desc, {filled});
        for (uint64_t i = 0; i < size; ++i)
            if (i % part != part - 1)
                expected[i] = value;
        fixture.require_contents(second, dst, expected, "what was copied behind a fill");
        fixture.wait(copied);
    }
}

CONFORMANCE_TEST("enqueue", "regions are copied during the call") {
    const Queue queue = fixture.make_queue();
    const Bytes src = fixture.random_bytes(1000);
    const Bytes before = fixture.random_bytes(1000);
    for (const Transfer transfer : all_transfers) {
        Transferred transferred(fixture, fixture.place(), transfer, src, before);
        Regions regions = random_regions(fixture, 8, 1000, 1000);
        Bytes after = before;
        apply(regions, src, after);
        const Event gate = fixture.make_host_event();
        Event event;
        require_success(transferred.enqueue(queue, regions, {gate}, event.out()),
                        name_of(transfer));
        std::fill(regions.begin(), regions.end(), linear(0, 0, 1000));
        regions.clear();
        regions.shrink_to_fit();
        fixture.signal(gate);
        fixture.wait(event, name_of(transfer));
        transferred.require_contents(queue, src, after,
                                     join(name_of(transfer), " whose regions were overwritten"));
    }
}

// Within one buffer, where overlap is decided by bytes.
void check_copy_within(Fixture &fixture, pi_queue queue, pi_mem mem, Bytes &model,
                       const pi_region &region) {
    const Regions regions{region};
    const pi_buffer_copy_desc desc = copy_desc(mem, mem, regions);
    const std::string what = "a copy within one buffer, " + text_of(region);
    Event event;
    const pi_result result = try_enqueue(queue, desc, {}, event.out());
    if (overlaps(region)) {
        require_error(result, PI_ERROR_MEM_COPY_OVERLAP, what);
        require(event.get() == nullptr, what, ": failed, but wrote out_event");
    } else {
        require_success(result, what);
        fixture.wait(event, what);
        apply(regions, Bytes(model), model);
    }
    fixture.require_contents(queue, mem, model, what);
}

CONFORMANCE_TEST(
    "enqueue",
    "a copy within one buffer is done, or refused where source and destination overlap") {
    constexpr uint64_t size = 300;
    const Queue queue = fixture.make_queue();
    Bytes model = fixture.random_bytes(size);
    const Mem mem = fixture.make_buffer(fixture.place(), model);
    check_copy_within(fixture, queue, mem, model, linear(0, 0, size));  // all onto itself
    check_copy_within(fixture, queue, mem, model, linear(0, 149, 150)); // one byte is shared
    check_copy_within(fixture, queue, mem, model, linear(149, 0, 150)); // and the other way
    check_copy_within(fixture, queue, mem, model, linear(0, 150, 150)); // none
    pi_region columns = linear(0, 10, 10); // the second half of each row, from its first
    columns.extent[1] = 5;
    columns.src_pitch[0] = columns.dst_pitch[0] = 20;
    check_copy_within(fixture, queue, mem, model, columns);
    columns.dst_offset = 9;
    check_copy_within(fixture, queue, mem, model, columns);
    for (int round = 0; round < 60; ++round)
        check_copy_within(fixture, queue, mem, model, random_region(fixture, {0, size}, {0, size}));
}

CONFORMANCE_TEST("enqueue", "one overlapping region among many refuses the whole copy") {
    const Queue queue = fixture.make_queue();
    const Bytes bytes = fixture.random_bytes(4000);
    const Mem mem = fixture.make_buffer(fixture.place(), bytes);
    Regions regions;
    for (uint64_t i = 0; i < 20; ++i)
        regions.push_back(linear(i * 100, 2000 + i * 100, 100));
    regions[fixture.random(0, 19)].src_offset += 2000 + fixture.random(0, 99);
    regions[19] = linear(3850, 3900, 100);
    const pi_buffer_copy_desc desc = copy_desc(mem, mem, regions);
    require_error(try_enqueue(queue, desc), PI_ERROR_MEM_COPY_OVERLAP,
                  "a copy of which two regions overlap their destinations");
    require_success(piQueueFinish(queue), "piQueueFinish");
    fixture.require_contents(queue, mem, bytes, "the buffer of a refused copy");
}

void check_fill(Fixture &fixture, pi_queue queue, pi_mem mem, Bytes &model, uint64_t pattern_size) {
    const uint64_t units = model.size() / pattern_size;
    const uint64_t first = fixture.random(0, units - 1);
    const uint64_t count = fixture.random(1, units - first);
    const Bytes pattern = fixture.random_bytes(pattern_size);
    const std::string what = join("a fill of ", count, " patterns of ", pattern_size, " bytes at ",
                                  first * pattern_size);
    fixture.wait(fixture.fill(queue, mem, first * pattern_size, count * pattern_size, pattern),
                 what);
    for (uint64_t i = 0; i < count; ++i)
        std::copy(pattern.begin(), pattern.end(),
                  model.begin() + static_cast<std::ptrdiff_t>((first + i) * pattern_size));
    fixture.require_contents(queue, mem, model, what);
}

CONFORMANCE_TEST("enqueue",
                 "a fill repeats patterns of each size over its range and not beyond it") {
    const Queue queue = fixture.make_queue();
    Bytes model = fixture.random_bytes(128 * 33 + 1);
    const Mem mem = fixture.make_buffer(fixture.place(), model);
    for (uint64_t pattern_size = 1; pattern_size <= 128; pattern_size *= 2) {
        for (int round = 0; round < 6; ++round)
            check_fill(fixture, queue, mem, model, pattern_size);
    }
}

CONFORMANCE_TEST("enqueue", "a large fill reaches its last pattern") {
    const Queue queue = fixture.make_queue();
    for (const uint64_t size : {8, 128}) {
        const uint64_t patterns = fixture.at_most(4 << 20) / size + fixture.random(1, 1000);
        const Bytes pattern = fixture.random_bytes(size);
        Bytes expected(patterns * size + size, std::byte{0x5A});
        const Mem mem = fixture.make_buffer(fixture.place(), expected);
        for (uint64_t i = 0; i < patterns; ++i)
            std::copy(pattern.begin(), pattern.end(),
                      expected.begin() + static_cast<std::ptrdiff_t>(i * size));
        fixture.wait(fixture.fill(queue, mem, 0, patterns * size, pattern));
        fixture.require_contents(queue, mem, expected,
                                 join("the buffer after a large fill with ", size, " bytes"));
    }
}

CONFORMANCE_TEST("enqueue", "a fill's pattern is copied during the call") {
    const Queue queue = fixture.make_queue();
    const Mem mem = fixture.make_buffer(fixture.place(), Bytes(64));
    const Event gate = fixture.make_host_event();
    Event event;
    {
        Bytes pattern(4, std::byte{7});
        event = fixture.fill(queue, mem, 0, 64, pattern, {gate});
        std::fill(pattern.begin(), pattern.end(), std::byte{9});
    }
    fixture.signal(gate);
    fixture.wait(event);
    fixture.require_contents(queue, mem, Bytes(64, std::byte{7}), "what the fill has left");
}

} // namespace
} // namespace pi::suite
