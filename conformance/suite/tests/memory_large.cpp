// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bytes past 2^32: offsets, sizes and views that 32 bits do not hold.

#include "kernels.hpp"
#include "link.hpp"
#include "memory.hpp"
#include "registry.hpp"

#include <cstring>

namespace pi::suite {
namespace {

constexpr uint64_t limit = uint64_t{1} << 32;
constexpr uint64_t part = 3000;

// A buffer that ends behind 2^32; skips the test where the device has none.
Mem make_large(const Place &place, uint64_t size) {
    need_allocation(place.device, size);
    auto desc = pi::desc<pi_mem_buffer_desc>();
    desc.size = size;
    Mem mem;
    const pi_result result = piMemBufferCreate(place.context, place.device, &desc, mem.out());
    if (result == PI_ERROR_OUT_OF_DEVICE_MEMORY || result == PI_ERROR_OUT_OF_HOST_MEMORY)
        skip(join("there is no memory for ", size, " bytes now: ", last_error_text()));
    require_success(result, "piMemBufferCreate of ", size, " bytes");
    return mem;
}

// Where 32 bits wrap: the same offset, cut to 32 bits, is that of other bytes.
constexpr uint64_t offsets[] = {limit - 1000, limit, limit + 8192};

CONFORMANCE_TEST("memory", "commands and views reach the bytes past 2^32") {
    constexpr uint64_t size = limit + 65536 + 1;
    const Mem mem = make_large(fixture.place(), size);
    const Queue queue = fixture.make_queue();
    require_equal(get_info<uint64_t>(&piMemGetInfo, mem.get(), PI_MEM_INFO_SIZE), size,
                  "PI_MEM_INFO_SIZE");
    const Bytes low(3 * 8192, std::byte{0x11}); // what a command with 32 bits would hit
    fixture.upload(queue, mem, low);
    for (const uint64_t offset : offsets) {
        const std::string where = join("bytes from ", offset, " on");
        Bytes bytes = fixture.random_bytes(part);
        fixture.upload(queue, mem, bytes, offset);
        require(fixture.download(queue, mem, part, offset) == bytes, where,
                ": not what was written there");
        const Mem apart = fixture.make_buffer(fixture.place(), bytes);
        fixture.wait(fixture.fill(queue, mem, offset + 8, 512, Bytes(4, std::byte{0x77})));
        std::fill_n(bytes.begin() + 8, 512, std::byte{0x77});
        require(fixture.download(queue, mem, part, offset) == bytes, where, ": after a fill");
        fixture.wait(fixture.copy(queue, mem, offset, apart, 0, part));
        fixture.require_contents(queue, apart, bytes, where + ", copied");
        bytes = fixture.random_bytes(part);
        fixture.upload(queue, apart, bytes);
        fixture.wait(fixture.copy(queue, apart, 0, mem, offset, part));
        void *pointer = nullptr;
        fixture.wait(fixture.map(queue, mem, PI_MAP_READ | PI_MAP_WRITE, offset, part, &pointer));
        require_same_bytes(pointer, bytes.data(), part, where + ", mapped");
        bytes = fixture.random_bytes(part);
        std::memcpy(pointer, bytes.data(), part);
        fixture.wait(fixture.unmap(queue, mem, pointer));
        if (fixture.can(PI_CAPABILITY_VIEW)) {
            const uint64_t unit = std::max<uint64_t>(fixture.scopes().at(0).offset_alignment, 1);
            const uint64_t begin = offset / unit * unit;
            const Mem view = fixture.make_view(mem, begin, size - begin);
            require_equal(get_info<uint64_t>(&piMemGetInfo, view.get(), PI_MEM_INFO_OFFSET), begin,
                          "PI_MEM_INFO_OFFSET of a view");
            require(fixture.download(queue, view, part, offset - begin) == bytes, where,
                    ": in a view");
            const Mem inner = fixture.make_view(fixture.make_view(mem, unit, size - unit),
                                                begin - unit, size - begin);
            require(fixture.download(queue, inner, part, offset - begin) == bytes, where,
                    ": in a view of a view");
        }
        require(fixture.download(queue, mem, part, offset) == bytes, where, ": after a map");
    }
    const Bytes last(1, std::byte{0x42});
    fixture.upload(queue, mem, last, size - 1);
    require(fixture.download(queue, mem, 1, size - 1) == last, "the last byte of ", size);
    require(fixture.download(queue, mem, low.size()) == low,
            "commands past 2^32 have changed the first bytes");
    // Rows with a pitch of 2^31 bytes: the last begins past 2^32.
    pi_region rows{};
    rows.extent[0] = 16;
    rows.extent[1] = 3;
    rows.src_pitch[0] = 16;
    rows.dst_pitch[0] = limit / 2;
    rows.dst_offset = 32768;
    const Bytes bytes = fixture.random_bytes(48);
    auto write = pi::desc<pi_buffer_write_desc>();
    write.mem = mem;
    write.host_ptr = bytes.data();
    write.region_count = 1;
    write.regions = &rows;
    fixture.wait(fixture.enqueue(queue, write));
    for (uint64_t row = 0; row < 3; ++row) {
        const Bytes is = fixture.download(queue, mem, 16, 32768 + row * (limit / 2));
        require_same_bytes(is.data(), bytes.data() + 16 * row, 16, join("row ", row, " of three"));
    }
}

CONFORMANCE_TEST("kernel", "a kernel works on a view that begins past 2^32") {
    fixture.need(PI_CAPABILITY_VIEW, "PI_CAPABILITY_VIEW");
    const Program program = make_program(fixture);
    const Kernel kernel = make_kernel(program, "add");
    const Mem mem = make_large(fixture.place(), limit + 65536);
    const Queue queue = fixture.make_queue();
    const Bytes low(4096, std::byte{0x11}), bytes = fixture.random_bytes(4096);
    fixture.upload(queue, mem, low);
    fixture.upload(queue, mem, bytes, limit);
    const Mem view = fixture.make_view(mem, limit, 4096);
    Arguments arguments;
    arguments.buffer(view).value(uint32_t{7});
    fixture.wait(fixture.enqueue(queue, launch_desc(kernel, arguments, 1024)));
    std::vector<uint32_t> expected = words_of(bytes);
    for (uint32_t &word : expected)
        word += 7;
    fixture.require_contents(queue, view, bytes_of(expected), "what a kernel has made past 2^32");
    fixture.require_contents(queue, mem, low, "the first bytes");
}

CONFORMANCE_TEST_PAIRS("connection", "copies between places reach the bytes past 2^32") {
    if (fixture.connection(fixture.src(), fixture.dst()) == PI_MEMORY_CONNECTION_NONE)
        skip("there is no connection");
    const Mem src = make_large(fixture.src(), limit + 65536);
    const Mem dst = make_large(fixture.dst(), limit + 65536);
    const Queue src_queue = fixture.make_queue(fixture.src()),
                dst_queue = fixture.make_queue(fixture.dst());
    const Bytes low(16384, std::byte{0x11});
    fixture.upload(src_queue, src, low);
    fixture.upload(dst_queue, dst, low);
    for (const pi_queue queue : {src_queue.get(), dst_queue.get()}) {
        if (queue == src_queue.get() &&
            fixture.connection(fixture.dst(), fixture.src()) != PI_MEMORY_CONNECTION_UNIFIED &&
            fixture.connection(fixture.src(), fixture.dst()) == PI_MEMORY_CONNECTION_UNIFIED)
            continue; // src's queue does not use dst's memory
        for (const uint64_t from : offsets) {
            for (const uint64_t to : offsets) {
                const Bytes bytes = fixture.random_bytes(part);
                fixture.upload(src_queue, src, bytes, from);
                fixture.wait(fixture.copy(queue, src, from, dst, to, part));
                require(fixture.download(dst_queue, dst, part, to) == bytes, "a copy from byte ",
                        from, " of src to byte ", to, " of dst");
            }
        }
    }
    fixture.require_contents(src_queue, src, low, "src's first bytes");
    fixture.require_contents(dst_queue, dst, low, "dst's first bytes");
}

} // namespace
} // namespace pi::suite
