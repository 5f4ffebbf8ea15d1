// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that are launched again: each launch has its own arguments, whatever a backend caches of
// earlier launches. Objects are released in between, so that new ones get their addresses.

#include "checks.hpp"
#include "fixture.hpp"
#include "launch_fixture.hpp"
#include "registry.hpp"
#include "usm.hpp"

#include <algorithm>
#include <bit>

namespace pi::suite {
namespace {

constexpr uint32_t count = 16;

/// Launches in one of the ways in which an application may, by turns or at random; done when it
/// returns.
void launch(Fixture &fixture, pi_queue queue, pi_kernel_launch_desc desc, uint64_t way) {
    desc.flags |= way % 3 != 0 ? PI_COMMAND_BLOCKING : 0;
    Event event;
    require_success(try_enqueue(queue, desc, {}, way % 3 == 1 ? nullptr : event.out()),
                    "piEnqueueKernelLaunch");
    if (event)
        fixture.wait(event, "a launch");
}

/// A buffer of random words, and what they should be.
struct Words {
    std::vector<uint32_t> expected;
    Mem mem;

    explicit Words(Fixture &fixture, uint64_t size = count, uint64_t flags = 0) : expected(size) {
        for (uint32_t &word : expected)
            word = static_cast<uint32_t>(fixture.random(0, 1000));
        auto desc = pi::desc<pi_mem_buffer_desc>();
        desc.flags = flags | PI_MEM_COPY_HOST_PTR;
        desc.size = size * sizeof(uint32_t);
        desc.host_ptr = expected.data();
        mem = fixture.make_buffer(fixture.place(), desc);
    }
};

CONFORMANCE_TEST("kernel",
                 "a kernel that is launched again and again has each launch's own arguments") {
    LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "combine");
    const uint64_t step = std::max<uint64_t>(fixture.scopes().at(0).offset_alignment, 4) / 4;
    std::vector<Words> words;
    for (int i = 0; i < 4; ++i)
        words.emplace_back(fixture, 3 * step + count);
    const bool views = fixture.can(PI_CAPABILITY_VIEW);
    struct Part {
        std::size_t words;
        uint64_t begin;
        bool is_view;
    };
    std::array<Part, 3> parts{Part{0, 0, false}, Part{1, 0, false}, Part{2, 0, false}};
    uint32_t factor = 1;
    for (int round = 0; round < 300; ++round) {
        // Mostly as before.
        if (fixture.random(0, 2) == 0)
            factor = static_cast<uint32_t>(fixture.random(1, 1000));
        for (Part &part : parts)
            if (fixture.random(0, 3) == 0)
                part = {fixture.random(0, words.size() - 1), step * fixture.random(0, 2),
                        views && fixture.random(0, 1) == 0};
        if (parts[0].words == parts[1].words || parts[0].words == parts[2].words)
            continue;
        std::vector<Mem> kept;
        Arguments arguments;
        for (const Part &part : parts) {
            const Mem &whole = words[part.words].mem;
            if (part.is_view) {
                kept.push_back(fixture.make_view(whole, part.begin * 4, count * 4));
                arguments.buffer(kept.back());
            } else {
                arguments.buffer(whole, part.begin * 4);
            }
        }
        arguments.value(factor);
        launch(fixture, setup.queue, launch_desc(kernel, arguments, count), fixture.random(0, 2));
        const auto at = [&](std::size_t part, uint32_t i) -> uint32_t & {
            return words[parts[part].words].expected[parts[part].begin + i];
        };
        for (uint32_t i = 0; i < count; ++i)
            at(0, i) = at(1, i) * factor + at(2, i);
        const Words &dst = words[parts[0].words];
        fixture.require_contents(setup.queue, dst.mem, bytes_of(dst.expected),
                                 join("the destination of launch ", round));
    }
    for (const Words &one : words)
        fixture.require_contents(setup.queue, one.mem, bytes_of(one.expected), "a buffer at last");
}

CONFORMANCE_TEST("kernel",
                 "a new buffer is not confused with the one that was released before it") {
    LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "add");
    for (uint32_t round = 0; round < 200; ++round) {
        const Words words(fixture, count * (1 + round % 3));
        // The same value each time, so that the buffer alone has changed.
        Arguments arguments;
        arguments.buffer(words.mem).value(uint32_t{5});
        launch(fixture, setup.queue, launch_desc(kernel, arguments, count), round / 2);
        std::vector<uint32_t> expected = words.expected;
        for (uint32_t i = 0; i < count; ++i)
            expected[i] += 5;
        fixture.require_contents(setup.queue, words.mem, bytes_of(expected),
                                 join("the buffer of round ", round));
    }
}

CONFORMANCE_TEST("kernel", "a new view is not confused with the one that was released before it") {
    fixture.need(PI_CAPABILITY_VIEW, "PI_CAPABILITY_VIEW");
    LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "add");
    const uint64_t step = std::max<uint64_t>(fixture.scopes().at(0).offset_alignment, 4) / 4;
    Words words(fixture, 4 * step + count);
    for (uint32_t round = 0; round < 120; ++round) {
        const uint64_t begin = step * fixture.random(0, 4);
        const Mem view = fixture.make_view(words.mem, begin * 4, count * 4);
        Arguments arguments;
        arguments.buffer(view).value(uint32_t{3});
        launch(fixture, setup.queue, launch_desc(kernel, arguments, count), round);
        for (uint32_t i = 0; i < count; ++i)
            words.expected[begin + i] += 3;
    }
    fixture.require_contents(setup.queue, words.mem, bytes_of(words.expected),
                             "what the views show");
}

CONFORMANCE_TEST("kernel", "a null buffer or USM address arrives as NULL") {
    LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "is_null");
    const bool usm = fixture.can(PI_CAPABILITY_USM);
    const Mem out = fixture.make_buffer(sizeof(uint32_t));
    const Words words(fixture);
    for (uint32_t round = 0; round < 24; ++round) {
        const uint64_t turn = round < 3 ? round : fixture.random(0, 2);
        fixture.upload(setup.queue, out, bytes_of({7}));
        Arguments arguments;
        arguments.buffer(out);
        if (turn == 1 && usm)
            arguments.pointer(nullptr);
        else
            arguments.buffer(turn == 2 ? words.mem.get() : nullptr);
        launch(fixture, setup.queue, launch_desc(kernel, arguments, 1), round);
        fixture.require_contents(setup.queue, out, bytes_of({turn != 2}),
                                 join("in round ", round, ": whether an argument of kind ",
                                      arguments[1].kind, turn == 2 ? "" : ", NULL,", " is null"));
    }
}

CONFORMANCE_TEST("kernel", "a launch after a refused one has its own arguments") {
    LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "combine");
    Words dst(fixture), other(fixture);
    const Words a(fixture), b(fixture);
    const auto most =
        get_info<uint64_t>(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_MAX_WORK_GROUP_SIZE);
    for (uint64_t round = 0; round < 30; ++round) {
        const auto factor = static_cast<uint32_t>(round / 3 + 2);
        Arguments good;
        good.buffer(dst.mem).buffer(a.mem).buffer(b.mem).value(factor);
        launch(fixture, setup.queue, launch_desc(kernel, good, count), round);
        // All but the last would do, and are others.
        Arguments bad;
        bad.buffer(other.mem).buffer(b.mem).buffer(a.mem);
        if (round % 2 == 0)
            bad.value(uint16_t{1}).value(factor);
        else
            bad.buffer(a.mem)[3].reserved = 1;
        pi_kernel_launch_desc desc = launch_desc(kernel, bad, count);
        desc.flags |= round % 3 != 0 ? PI_COMMAND_BLOCKING : 0;
        require_error(try_enqueue(setup.queue, desc, {}, nullptr),
                      {PI_ERROR_INVALID_ARGUMENTS, PI_ERROR_UNSUPPORTED_FEATURE},
                      "a launch with a wrong argument");
        // No group is as large: refused late, if by the driver.
        Arguments fitting;
        fitting.buffer(other.mem).buffer(b.mem).buffer(a.mem).value(factor);
        desc = launch_desc(kernel, fitting, most + 1, most + 1);
        desc.flags |= round % 3 != 0 ? PI_COMMAND_BLOCKING : 0;
        require_error(try_enqueue(setup.queue, desc, {}, nullptr), PI_ERROR_INVALID_WORK_SIZE,
                      "a launch of a group larger than the largest");
        launch(fixture, setup.queue, launch_desc(kernel, good, count), round + 1);
        for (uint32_t i = 0; i < count; ++i)
            dst.expected[i] = a.expected[i] * factor + b.expected[i];
        fixture.require_contents(setup.queue, dst.mem, bytes_of(dst.expected),
                                 "what the launch after a refused one has written");
    }
    fixture.require_contents(setup.queue, other.mem, bytes_of(other.expected),
                             "what refused launches name");
}

CONFORMANCE_TEST("kernel", "work-group memory and values of eight bytes are each launch's own") {
    LaunchFixture setup(fixture);
    const Kernel reverse = make_kernel(setup.program, "reverse");
    const uint32_t largest = group_size(fixture, reverse, 8);
    need_local_memory(fixture, largest * sizeof(uint32_t));
    Words words(fixture, 32);
    const Kernel visit = make_kernel(setup.program, "visit");
    const Mem visits = fixture.make_buffer(fixture.place(), Bytes(64 * sizeof(uint32_t)));
    std::vector<uint32_t> visited(64);
    for (uint32_t round = 0; round < 60; ++round) {
        const auto group = uint32_t{1} << fixture.random(0, std::bit_width(largest) - 1);
        Arguments scratch;
        scratch.buffer(words.mem).local(group * sizeof(uint32_t));
        launch(fixture, setup.queue, launch_desc(reverse, scratch, 32, group), round);
        for (uint32_t begin = 0; begin < 32; begin += group)
            std::reverse(words.expected.begin() + begin, words.expected.begin() + begin + group);
        const uint64_t width = fixture.random(2, 8);
        Arguments sizes;
        sizes.buffer(visits).value(width).value(fixture.random(2, 4));
        launch(fixture, setup.queue, launch_desc(visit, sizes, 2, {2, 2, 1}), round);
        for (const uint64_t at : {uint64_t{0}, uint64_t{1}, width, width + 1})
            ++visited[at];
    }
    fixture.require_contents(setup.queue, words.mem, bytes_of(words.expected),
                             "the reversed groups");
    fixture.require_contents(setup.queue, visits, bytes_of(visited), "how often each was visited");
}

CONFORMANCE_TEST("kernel", "threads launch one kernel with arguments that some of them share") {
    constexpr unsigned threads = 4;
    constexpr uint32_t rounds = 60;
    LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "combine");
    const Words a(fixture, count, PI_MEM_READ_ONLY), b(fixture, count, PI_MEM_READ_ONLY);
    std::vector<Queue> queues;
    for (unsigned i = 0; i < threads; ++i)
        queues.push_back(fixture.make_queue(fixture.place()));
    fixture.run_threads(threads, [&](unsigned thread) {
        for (uint32_t round = 0; round < rounds; ++round) {
            const Mem dst = fixture.make_buffer(fixture.place(), Bytes(count * 4));
            const bool swapped = (thread + round) % 4 == 0;
            const uint32_t factor = (thread + round) / 3;
            Arguments arguments;
            arguments.buffer(dst).buffer(swapped ? b.mem : a.mem).buffer(swapped ? a.mem : b.mem);
            arguments.value(factor);
            launch(fixture, queues[thread], launch_desc(kernel, arguments, count), thread + round);
            std::vector<uint32_t> expected(count);
            for (uint32_t i = 0; i < count; ++i)
                expected[i] = swapped ? b.expected[i] * factor + a.expected[i]
                                      : a.expected[i] * factor + b.expected[i];
            fixture.require_contents(queues[thread], dst, bytes_of(expected),
                                     join("what thread ", thread, " computed in round ", round));
        }
    });
}

CONFORMANCE_TEST("kernel",
                 "new USM is not confused with an allocation that was freed at its address") {
    const std::vector<pi_usm_kind> kinds = need_usm(fixture);
    LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "add");
    const Words buffer(fixture);
    uint32_t added = 0;
    for (uint32_t round = 0; round < 120; ++round) {
        const Usm usm(fixture, kinds[round / 8 % kinds.size()], 4096);
        usm_upload(fixture, setup.queue, usm.at(), Bytes(4096));
        const uint64_t begin = 64 * fixture.random(0, 1);
        const auto times = static_cast<uint32_t>(fixture.random(1, 2));
        for (uint32_t i = 0; i < times; ++i) {
            Arguments arguments;
            arguments.pointer(usm.at(begin)).value(uint32_t{5});
            launch(fixture, setup.queue, launch_desc(kernel, arguments, count), round + i);
        }
        require_usm_contents(fixture, setup.queue, usm.at(begin),
                             repeated(bytes_of({5 * times}), count * 4),
                             join("the USM of round ", round));
        if (round % 4 == 0) { // the parameter is another kind's by turns
            Arguments arguments;
            arguments.buffer(buffer.mem).value(uint32_t{5});
            launch(fixture, setup.queue, launch_desc(kernel, arguments, count), round);
            added += 5;
        }
    }
    std::vector<uint32_t> expected = buffer.expected;
    for (uint32_t &word : expected)
        word += added;
    fixture.require_contents(setup.queue, buffer.mem, bytes_of(expected), "the buffer between");
}

} // namespace
} // namespace pi::suite
