// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Large reads and writes of unpinned memory, which several threads share.
#include "plugin_busy.hpp"

#include <algorithm>
#include <atomic>
#include <sys/mman.h>

using namespace cuda_test;

namespace {

/// Bytes in which no two blocks are alike.
Bytes made(uint64_t size, uint32_t seed) {
    Bytes bytes(size);
    for (uint64_t i = 0; i < size; ++i) {
        seed = seed * 1664525 + 1013904223;
        bytes[i] = static_cast<uint8_t>(seed >> 24);
    }
    return bytes;
}

/// The whole buffer, by reads that are too small to be shared.
Bytes contents(pi_queue queue, pi_mem mem, uint64_t size) {
    Bytes bytes(size);
    constexpr uint64_t most = 1 << 20;
    for (uint64_t at = 0; at < size; at += most) {
        const pi_region region = range(at, at, std::min(most, size - at));
        const auto d = read_desc(mem, bytes.data(), region, PI_COMMAND_BLOCKING);
        OK(piEnqueueMemBufferRead(queue, &d, 0, nullptr, nullptr));
    }
    return bytes;
}

void fill(pi_queue queue, pi_mem mem, uint8_t value, uint64_t offset, uint64_t size) {
    const auto d = fill_desc(mem, &value, 1, offset, size);
    OK(piEnqueueMemBufferFill(queue, &d, 0, nullptr, nullptr));
}

/// The expected effect of the region on `to`.
void apply(const pi_region &region, const Bytes &from, Bytes &to) {
    const auto pitch = [&](const uint64_t(&given)[2], int axis) {
        const uint64_t row = given[0] ? given[0] : region.extent[0];
        return axis == 0 ? row : given[1] ? given[1] : row * region.extent[1];
    };
    for (uint64_t z = 0; z < std::max<uint64_t>(region.extent[2], 1); ++z)
        for (uint64_t y = 0; y < std::max<uint64_t>(region.extent[1], 1); ++y)
            std::copy_n(from.begin() + static_cast<ptrdiff_t>(region.src_offset +
                                                              z * pitch(region.src_pitch, 1) +
                                                              y * pitch(region.src_pitch, 0)),
                        region.extent[0],
                        to.begin() + static_cast<ptrdiff_t>(region.dst_offset +
                                                            z * pitch(region.dst_pitch, 1) +
                                                            y * pitch(region.dst_pitch, 0)));
}

/// Moves the region with a write, and back with a read; compares both with the expected effect.
void check_both_ways(const Machine &machine, const pi_region &region, uint64_t src_size,
                     uint64_t dst_size) {
    const Owned<pi_queue> queue = machine.queue();
    for (const uint64_t flags : {uint64_t{0}, uint64_t{PI_COMMAND_BLOCKING}}) {
        const Bytes from = made(src_size, 1);
        {
            const Owned<pi_mem> mem = machine.buffer(first, dst_size);
            fill(queue, mem, 0x55, 0, dst_size);
            const auto d = write_desc(mem, from.data(), region, flags);
            OK(piEnqueueMemBufferWrite(queue, &d, 0, nullptr, nullptr));
            Bytes expected(dst_size, 0x55);
            apply(region, from, expected);
            CHECK(contents(queue, mem, dst_size) == expected);
        }
        const Owned<pi_mem> mem = machine.buffer(first, src_size);
        constexpr uint64_t most = 1 << 20;
        for (uint64_t at = 0; at < src_size; at += most) {
            const pi_region part = range(at, at, std::min(most, src_size - at));
            const auto d = write_desc(mem, from.data(), part, PI_COMMAND_BLOCKING);
            OK(piEnqueueMemBufferWrite(queue, &d, 0, nullptr, nullptr));
        }
        Bytes seen(dst_size, 0x55), expected = seen;
        const auto d = read_desc(mem, seen.data(), region, flags);
        OK(piEnqueueMemBufferRead(queue, &d, 0, nullptr, nullptr));
        OK(piQueueFinish(queue));
        apply(region, from, expected);
        CHECK(seen == expected);
    }
}

} // namespace

TEST_CASE("large transfers of pageable memory move each byte of ranges and no other") {
    const Machine machine({first});
    // At, just above and far above the size from which threads share; ends within a block.
    for (const uint64_t size :
         {uint64_t{4} << 20, (uint64_t{4} << 20) + 1, (uint64_t{9} << 20) + 4093})
        check_both_ways(machine, range(5, 3, size), size + 8, size + 16);
}

TEST_CASE("large transfers of pageable memory move each row and no gap") {
    const Machine machine({first});
    SECTION("several per block") {
        pi_region rows = range(7, 1, 4099);
        rows.extent[1] = 1031;
        rows.extent[2] = 2;
        rows.src_pitch[0] = 4111;
        rows.dst_pitch[0] = 4123;
        rows.src_pitch[1] = 4111 * 1033;
        rows.dst_pitch[1] = 4123 * 1039;
        check_both_ways(machine, rows, 7 + 2 * rows.src_pitch[1], 1 + 2 * rows.dst_pitch[1]);
    }
    SECTION("farther apart than the driver's largest pitch") {
        pi_region rows = range(0, 9, 70'001);
        rows.extent[1] = 83;
        rows.src_pitch[0] = 70'003;
        rows.dst_pitch[0] = 80'021;
        check_both_ways(machine, rows, 83 * rows.src_pitch[0], 9 + 83 * rows.dst_pitch[0]);
    }
    SECTION("each longer than a block") {
        pi_region rows = range(1, 0, (3u << 20) + 5);
        rows.extent[1] = 3;
        rows.src_pitch[0] = (3u << 20) + 11;
        check_both_ways(machine, rows, 1 + 3 * rows.src_pitch[0], 3 * rows.extent[0]);
    }
}

TEST_CASE("several regions of one large transfer are all done") {
    const Machine machine({first});
    const Owned<pi_queue> queue = machine.queue();
    constexpr uint64_t size = 12 << 20;
    const Owned<pi_mem> mem = machine.buffer(first, size);
    fill(queue, mem, 0, 0, size);
    const Bytes from = made(size, 2);
    Bytes expected(size, 0);
    std::vector<pi_region> regions; // small and large in turn
    for (uint64_t at = 0; at + 1'000'003 < size; at += 1'000'003)
        regions.push_back(range(size - at - 500'000, at, at % 2 ? 77 : 500'000));
    for (const pi_region &region : regions)
        apply(region, from, expected);
    auto d = write_desc(mem, from.data(), regions.front());
    d.region_count = static_cast<uint32_t>(regions.size());
    d.regions = regions.data();
    OK(piEnqueueMemBufferWrite(queue, &d, 0, nullptr, nullptr));
    CHECK(contents(queue, mem, size) == expected);
}

TEST_CASE("large transfers keep their place in an in-order queue") {
    const Machine machine({first});
    const Owned<pi_queue> queue = machine.queue();
    constexpr uint64_t size = (8 << 20) + 3;
    const Owned<pi_mem> mem = machine.buffer(first, size), copy = machine.buffer(first, size);
    Bytes seen(size), expected;
    std::vector<Bytes> sources;
    for (uint32_t round = 0; round < 4; ++round)
        sources.push_back(made(size, round));
    for (const Bytes &from : sources) {
        fill(queue, mem, 1, 0, size);
        const pi_region all = range(0, 0, size);
        const auto write = write_desc(mem, from.data(), all);
        OK(piEnqueueMemBufferWrite(queue, &write, 0, nullptr, nullptr));
        fill(queue, mem, 2, 1000, 2 << 20);
        const auto aside = copy_desc(mem, copy, all);
        OK(piEnqueueMemBufferCopy(queue, &aside, 0, nullptr, nullptr));
        const auto read = read_desc(copy, seen.data(), all);
        OK(piEnqueueMemBufferRead(queue, &read, 0, nullptr, nullptr));
        fill(queue, copy, 3, 0, size);
        OK(piQueueFinish(queue));
        expected = from;
        std::fill_n(expected.begin() + 1000, 2 << 20, uint8_t{2});
        CHECK(seen == expected);
    }
}

TEST_CASE("large transfers of several queues and threads at once move each their own bytes") {
    const Machine machine({first, second});
    constexpr uint64_t size = (6 << 20) + 11;
    struct Lane {
        Owned<pi_queue> queue;
        Owned<pi_mem> mem;
    };
    std::vector<Lane> lanes; // prepared here: Catch2's assertions are for one thread
    for (size_t i = 0; i < 5; ++i) {
        const size_t device = i % 2 ? second : first;
        lanes.push_back({machine.queue(device), machine.buffer(device, size)});
    }
    const auto there_and_back = [&](const Lane &lane, uint32_t seed) {
        const pi_region all = range(0, 0, size);
        bool good = true;
        for (const uint64_t flags : {uint64_t{0}, uint64_t{PI_COMMAND_BLOCKING}}) {
            const Bytes from = made(size, seed);
            Bytes seen(size);
            const auto write = write_desc(lane.mem, from.data(), all, flags);
            const auto read = read_desc(lane.mem, seen.data(), all, flags);
            good &=
                piEnqueueMemBufferWrite(lane.queue, &write, 0, nullptr, nullptr) == PI_SUCCESS &&
                piEnqueueMemBufferRead(lane.queue, &read, 0, nullptr, nullptr) == PI_SUCCESS &&
                piQueueFinish(lane.queue) == PI_SUCCESS && seen == from;
        }
        return good;
    };
    std::atomic<unsigned> good{0};
    {
        std::vector<std::jthread> threads;
        for (uint32_t i = 0; i < lanes.size(); ++i)
            threads.emplace_back([&, i] { good += there_and_back(lanes[i], i); });
    }
    CHECK(good == 5);
}

namespace {

/// Pages that nothing may access after this is destroyed: an access ends the process.
class Pages {
public:
    explicit Pages(uint64_t size)
        : size_(size),
          begin_(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
        REQUIRE(begin_ != MAP_FAILED);
    }
    Pages(const Pages &) = delete;
    ~Pages() {
        madvise(begin_, size_, MADV_DONTNEED);
        mprotect(begin_, size_, PROT_NONE); // and nothing else is mapped there
    }
    uint32_t *begin() const { return static_cast<uint32_t *>(begin_); }

private:
    const uint64_t size_;
    void *const begin_;
};

/// The result of a large transfer whose context is lost meanwhile, unless it completes first.
pi_result lost_transfer(bool to_device) {
    const Machine machine({first});
    const Word go(machine);
    const Owned<pi_program> program =
        machine.program(std::string(count_up) + "function hold pointer\n");
    const Owned<pi_kernel> hold = make_kernel(program, "hold"),
                           wrong = make_kernel(program, "count_up");
    const Owned<pi_queue> queue = machine.queue(), other = machine.queue();
    constexpr uint64_t size = 24 << 20;
    const Owned<pi_mem> mem = machine.buffer(first, size);
    fill(queue, mem, 7, 0, size);
    OK(piQueueFinish(queue));
    const std::vector until{pointer_argument(go.pointer())};
    const auto wait = launch_desc(hold, until, 1);
    OK(piEnqueueKernelLaunch(other, &wait, 0, nullptr, nullptr));
    const uint64_t nowhere = 0x1000;
    const uint32_t from = 0;
    const std::vector arguments{value_argument(nowhere), value_argument(from)};
    const auto illegal = launch_desc(wrong, arguments, 32);
    OK(piEnqueueKernelLaunch(other, &illegal, 0, nullptr, nullptr));

    Owned<pi_event> event;
    const Pages pages(size);
    std::fill_n(pages.begin(), size / 4, 9u);
    const pi_region all = range(0, 0, size);
    if (to_device) {
        const auto d = write_desc(mem, pages.begin(), all);
        OK(piEnqueueMemBufferWrite(queue, &d, 0, nullptr, event.out()));
    } else {
        const auto d = read_desc(mem, pages.begin(), all);
        OK(piEnqueueMemBufferRead(queue, &d, 0, nullptr, event.out()));
    }
    CHECK(comes_true([&] {
        const auto status = info<int32_t>(piEventGetInfo, event, PI_EVENT_INFO_STATUS);
        return status != PI_EVENT_QUEUED && status != PI_EVENT_SUBMITTED;
    }));
    go.set();
    const pi_result result = piEventWait(event, patience);
    const auto of_either = [&](uint32_t word) {
        return word == 9 || (!to_device && word == 0x07070707);
    };
    CHECK(std::all_of(pages.begin(), pages.begin() + size / 4, of_either));
    return result;
}

} // namespace

TEST_CASE("after a large transfer fails half-way, the host memory is not accessed any more") {
    for (const bool to_device : {true, false}) {
        pi_result result = PI_SUCCESS;
        // On a busy machine the transfer may complete first.
        CHECK(comes_true([&] {
            result = lost_transfer(to_device);
            CHECK((result == PI_SUCCESS || result == PI_ERROR_DEVICE_LOST));
            return result != PI_SUCCESS;
        }));
    }
}
