// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches: ids, work sizes, offsets, work-group memory, threads.

#include "checks.hpp"
#include "fixture.hpp"
#include "launch_fixture.hpp"
#include "registry.hpp"

namespace pi::suite {
namespace {

uint32_t launch_features(Fixture &fixture) {
    uint32_t features = 0;
    const pi_result result = piDeviceGetInfo(fixture.device(), PI_DEVICE_INFO_LAUNCH_FEATURES,
                                             sizeof features, &features, nullptr);
    return result == PI_SUCCESS ? features : 0;
}

// Launches `kernel`, a "visit", and requires that each id of the box was visited once, and no
// other.
void require_visited(LaunchFixture &setup, pi_kernel kernel, uint32_t dimensions,
                     const Size3 &offset, const Size3 &size, const Size3 &local,
                     const Size3 &cluster = {}) {
    Fixture &fixture = setup.fixture;
    Size3 extent{1, 1, 1};
    Size3 begin{0, 0, 0};
    for (uint32_t axis = 0; axis < dimensions; ++axis) {
        begin[axis] = offset[axis];
        extent[axis] = offset[axis] + size[axis];
    }
    const uint64_t count = extent[0] * extent[1] * extent[2];
    const Mem mem = fixture.make_buffer(fixture.place(), Bytes(count * sizeof(uint32_t)));
    Arguments arguments;
    arguments.buffer(mem).value(extent[0]).value(extent[1]);
    pi_kernel_launch_desc desc = launch_desc(kernel, arguments, dimensions, size, local);
    std::copy(offset.begin(), offset.end(), desc.global_offset);
    std::copy(cluster.begin(), cluster.end(), desc.cluster_size);
    fixture.wait(fixture.enqueue(setup.queue, desc), "a launch of visit");
    const std::vector<uint32_t> visits = setup.words(mem, count);
    for (uint64_t i = 0; i < count; ++i) {
        const Size3 id{i % extent[0], i / extent[0] % extent[1], i / extent[0] / extent[1]};
        const bool inside = id[0] >= begin[0] && id[1] >= begin[1] && id[2] >= begin[2];
        require_equal(visits[i], inside ? 1u : 0u,
                      join("with ", dimensions, " dimensions of ", size[0], " x ", size[1], " x ",
                           size[2], " from ", offset[0], ", ", offset[1], ", ", offset[2],
                           " in groups of ", local[0], ", ", local[1], ", ", local[2],
                           ": how often (", id[0], ", ", id[1], ", ", id[2], ") was visited"));
    }
}

void require_visited(LaunchFixture &setup, uint32_t dimensions, const Size3 &offset,
                     const Size3 &size, const Size3 &local) {
    const Kernel kernel = make_kernel(setup.program, "visit");
    require_visited(setup, kernel, dimensions, offset, size, local);
}

CONFORMANCE_TEST("kernel", "each id is visited once, in one, two and three dimensions") {
    LaunchFixture setup(fixture);
    constexpr uint64_t beyond = 99; // entries beyond the dimensions are ignored
    require_visited(setup, 1, {}, {1, beyond, beyond}, {});
    require_visited(setup, 1, {}, {1024, beyond, beyond}, {});
    require_visited(setup, 2, {}, {17, 13, beyond}, {});
    require_visited(setup, 3, {}, {7, 5, 3}, {});
    for (int round = 0; round < 5; ++round)
        require_visited(setup, 3, {},
                        {fixture.random(1, 20), fixture.random(1, 20), fixture.random(1, 20)}, {});
}

CONFORMANCE_TEST("kernel", "a launch reads the entries of its axes and no other") {
    LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "visit");
    const uint64_t group = group_size(fixture, kernel, 4);
    for (const uint64_t beyond : {uint64_t{0}, uint64_t{77}, UINT64_MAX}) {
        for (const uint64_t local : {uint64_t{0}, group}) {
            require_visited(setup, kernel, 1, {0, beyond, beyond}, {3 * group, beyond, beyond},
                            {local, beyond, beyond}, {0, beyond, beyond});
            require_visited(setup, kernel, 2, {0, 0, beyond}, {3 * group, 2, beyond},
                            {local, std::min<uint64_t>(local, 1), beyond}, {0, 0, beyond});
        }
    }
}

CONFORMANCE_TEST("kernel", "each id is visited once with every local size that fits") {
    LaunchFixture setup(fixture);
    const auto items =
        get_info<Size3>(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_MAX_WORK_ITEM_SIZES);
    const Kernel kernel = make_kernel(setup.program, "visit");
    const uint64_t most = largest_group(fixture, kernel);
    for (const Size3 local : {Size3{1, 1, 1}, Size3{4, 1, 1}, Size3{2, 2, 2}, Size3{8, 4, 1}}) {
        if (local[0] > items[0] || local[1] > items[1] || local[2] > items[2] ||
            local[0] * local[1] * local[2] > most)
            continue;
        require_visited(setup, 3, {}, {local[0] * 3, local[1] * 2, local[2] * 2}, local);
    }
    // Exactly the largest group, in a row and with the other axes, too.
    const uint64_t large = group_size(fixture, kernel, UINT32_MAX);
    require_visited(setup, 1, {}, {large * 2, 0, 0}, {large, 0, 0});
    for (uint32_t axis = 0; axis < 3; ++axis) {
        Size3 local{1, 1, 1};
        local[axis] = std::min(items[axis], most);
        const uint32_t next = (axis + 1) % 3;
        local[next] = std::min(items[next], most / local[axis]);
        Size3 global = local;
        global[(axis + 2) % 3] = 2;
        require_visited(setup, 3, {}, global, local);
    }
}

CONFORMANCE_TEST("kernel", "a global offset moves the ids, where the device can") {
    LaunchFixture setup(fixture);
    if ((launch_features(fixture) & PI_LAUNCH_FEATURE_GLOBAL_OFFSET) != 0) {
        const uint64_t group = group_size(fixture, make_kernel(setup.program, "visit"), 4);
        require_visited(setup, 1, {5, 0, 0}, {11, 0, 0}, {});
        require_visited(setup, 3, {3, 2, 1}, {4, 5, 6}, {});
        require_visited(setup, 1, {5, 0, 0}, {group * 3, 0, 0}, {group, 0, 0});
        require_visited(setup, 3, {3, 2, 1}, {group * 2, 5, 6}, {group, 1, 1});
        return;
    }
    const Kernel kernel = make_kernel(setup.program, "add");
    const Mem mem = fixture.make_buffer(64);
    Arguments arguments;
    arguments.buffer(mem).value(uint32_t{1});
    pi_kernel_launch_desc desc = launch_desc(kernel, arguments, 4);
    desc.global_offset[0] = 1;
    require_untouched<pi_event>(
        "a global offset on a device without the feature", {PI_ERROR_UNSUPPORTED_FEATURE},
        [&](pi_event *out) { return piEnqueueKernelLaunch(setup.queue, &desc, 0, nullptr, out); });
}

CONFORMANCE_TEST("kernel", "a global offset may be 2^32 or more, or is refused") {
    LaunchFixture setup(fixture);
    if ((launch_features(fixture) & PI_LAUNCH_FEATURE_GLOBAL_OFFSET) == 0)
        skip("the device has no global offsets");
    constexpr uint64_t large = uint64_t{1} << 32;
    constexpr uint32_t count = 8;
    const Kernel kernel = make_kernel(setup.program, "visit");
    // Ids of 2^32 and more whose product with the buffer's sizes is small again, modulo 2^64.
    struct Case {
        Size3 offset;
        uint64_t size_x, size_y;
    };
    for (const auto &[offset, size_x, size_y] :
         {Case{{large, 1, 0}, 0 - large, 1}, Case{{0, large + 1, 0}, 1 - large, 1},
          Case{{0, 0, large + 1}, 1, 1 - large}}) {
        const Mem mem = fixture.make_buffer(fixture.place(), bytes_of(counting(2 * count)));
        Arguments arguments;
        arguments.buffer(mem).value(size_x).value(size_y);
        pi_kernel_launch_desc desc = launch_desc(kernel, arguments, 3, {count, 1, 1});
        std::copy(offset.begin(), offset.end(), desc.global_offset);
        Event event;
        const pi_result result = try_enqueue(setup.queue, desc, {}, event.out());
        if (result != PI_SUCCESS) {
            require_error(result, {PI_ERROR_INVALID_WORK_SIZE, PI_ERROR_UNSUPPORTED_FEATURE},
                          "a global offset of 2^32");
            continue;
        }
        fixture.wait(event, "a launch with a global offset of 2^32");
        std::vector<uint32_t> expected = counting(2 * count);
        const uint32_t first = offset[0] != 0 ? 0 : 1;
        for (uint32_t i = 0; i < count; ++i)
            ++expected[first + i];
        fixture.require_contents(setup.queue, mem, bytes_of(expected),
                                 "what was visited from an offset of 2^32 on");
    }
}

CONFORMANCE_TEST("kernel", "launches of one kernel have each their own global offset, or none") {
    LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "visit");
    const bool can = (launch_features(fixture) & PI_LAUNCH_FEATURE_GLOBAL_OFFSET) != 0;
    for (const uint64_t offset : {5, 0, 3, 3, 7, 0}) {
        if (offset == 0 || can) {
            require_visited(setup, kernel, 1, {offset, 0, 0}, {8, 0, 0}, {});
            require_visited(setup, kernel, 2, {offset, offset / 2, 0}, {4, 3, 0}, {});
            continue;
        }
        const Mem mem = fixture.make_buffer(64);
        Arguments arguments;
        arguments.buffer(mem).value(uint64_t{16}).value(uint64_t{1});
        pi_kernel_launch_desc desc = launch_desc(kernel, arguments, 8);
        desc.global_offset[0] = offset;
        Event event;
        require_error(try_enqueue(setup.queue, desc, {}, event.out()),
                      {PI_ERROR_UNSUPPORTED_FEATURE},
                      "a global offset on a device without the feature");
    }
}

CONFORMANCE_TEST("kernel", "groups at the end may be smaller, where the device can") {
    LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "add");
    const uint64_t group = group_size(fixture, kernel, 4);
    if (group == 1)
        skip("the device's groups have one work-item");
    if ((launch_features(fixture) & PI_LAUNCH_FEATURE_NON_UNIFORM_GROUPS) != 0) {
        require_visited(setup, 1, {}, {11, 0, 0}, {group, 0, 0});
        require_visited(setup, 2, {}, {7, 5, 0}, {2, group / 2, 0});
        return;
    }
    const Mem mem = fixture.make_buffer(64);
    Arguments arguments;
    arguments.buffer(mem).value(uint32_t{1});
    const pi_kernel_launch_desc desc = launch_desc(kernel, arguments, 11, group);
    require_untouched<pi_event>(
        join("11 work-items in groups of ", group, " on a device without the feature"),
        {PI_ERROR_INVALID_WORK_SIZE},
        [&](pi_event *out) { return piEnqueueKernelLaunch(setup.queue, &desc, 0, nullptr, out); });
}

CONFORMANCE_TEST("kernel", "work sizes that make no sense are refused") {
    LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "add");
    const Bytes before = bytes_of(counting(16));
    const Mem mem = fixture.make_buffer(fixture.place(), before);
    Arguments arguments;
    arguments.buffer(mem).value(uint32_t{1});
    const auto refused = [&](const std::string &what, uint32_t dimensions, const Size3 &global,
                             const Size3 &local) {
        const pi_kernel_launch_desc desc =
            launch_desc(kernel, arguments, dimensions, global, local);
        require_untouched<pi_event>(what, {PI_ERROR_INVALID_WORK_SIZE}, [&](pi_event *out) {
            return piEnqueueKernelLaunch(setup.queue, &desc, 0, nullptr, out);
        });
    };
    const auto most =
        get_info<uint64_t>(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_MAX_WORK_GROUP_SIZE);
    refused("0 dimensions", 0, {4, 1, 1}, {});
    refused("4 dimensions", 4, {4, 1, 1}, {});
    refused("a global size of 0", 1, {0, 1, 1}, {});
    refused("a global size of 0 on the third axis", 3, {4, 4, 0}, {});
    refused("global sizes whose product overflows", 3, {1ull << 32, 1ull << 32, 1ull << 32}, {});
    refused("a local size of 0 on one axis only", 2, {4, 4, 1}, {2, 0, 1});
    refused("a work-group larger than the device's largest", 1, {(most + 1) * 2, 1, 1},
            {most + 1, 1, 1});
    refused("a work-group larger than the kernel's largest", 1,
            {(largest_group(fixture, kernel) + 1) * 2, 1, 1},
            {largest_group(fixture, kernel) + 1, 1, 1});
    const auto items =
        get_info<Size3>(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_MAX_WORK_ITEM_SIZES);
    for (std::size_t axis = 0; axis < 3; ++axis) {
        Size3 local{1, 1, 1};
        local[axis] = items[axis] + 1;
        refused(join("a work-group larger than the device's largest on axis ", axis), 3, local,
                local);
    }
    // Each axis fits, their product does not.
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::size_t next = (axis + 1) % 3;
        Size3 local{1, 1, 1};
        local[axis] = std::min(items[axis], most);
        local[next] = most / local[axis] + 1;
        if (local[next] <= items[next])
            refused(join("a work-group larger than the largest by axes ", axis, " and ", next), 3,
                    local, local);
    }
    constexpr uint64_t half = uint64_t{1} << 32;
    refused("a local size whose product is 0 modulo 2^64", 3, {half, half, 1}, {half, half, 1});
    refused("a local size whose product is 1 modulo 2^64", 2, {half + 1, 1 - half, 1},
            {half + 1, 1 - half, 1});
    fixture.require_contents(setup.queue, mem, before, "the buffer after no launch");
}

CONFORMANCE_TEST("kernel", "a buffer argument begins at its offset") {
    LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "add");
    const uint64_t alignment = fixture.scopes().at(0).offset_alignment;
    const uint64_t offset = std::max<uint64_t>(alignment, sizeof(uint32_t));
    std::vector<uint32_t> expected = counting(static_cast<uint32_t>(offset / 4 + 32));
    const Mem mem = fixture.make_buffer(fixture.place(), bytes_of(expected));
    Arguments arguments;
    arguments.buffer(mem, offset).value(uint32_t{1000});
    fixture.wait(fixture.enqueue(setup.queue, launch_desc(kernel, arguments, 16)));
    for (uint64_t i = 0; i < 16; ++i)
        expected[offset / 4 + i] += 1000;
    fixture.require_contents(setup.queue, mem, bytes_of(expected), "the buffer after the launch");
    // A part of it, all but its end, and exactly up to its end.
    for (const uint64_t size : {uint64_t{64}, uint64_t{124}, uint64_t{128}}) {
        Arguments sized;
        sized.buffer(mem, offset, size).value(uint32_t{7});
        fixture.wait(fixture.enqueue(setup.queue, launch_desc(kernel, sized, 16)));
        for (uint64_t i = 0; i < 16; ++i)
            expected[offset / 4 + i] += 7;
        fixture.require_contents(setup.queue, mem, bytes_of(expected),
                                 join("the buffer after a launch on ", size, " bytes of it"));
    }
    if (alignment <= 1)
        return;
    const uint64_t between = alignment / 2;
    Arguments misaligned;
    misaligned.buffer(mem, between).value(uint32_t{1});
    const pi_kernel_launch_desc desc = launch_desc(kernel, misaligned, 1);
    uint32_t mode = PI_BUFFER_OFFSET_SUB_BUFFER; // if the device does not report it
    piDeviceGetInfo(fixture.device(), PI_DEVICE_INFO_BUFFER_OFFSET_MODE, sizeof mode, &mode,
                    nullptr);
    if ((mode & PI_BUFFER_OFFSET_POINTER) == 0) {
        require_untouched<pi_event>(
            join("an offset of ", between, " where ", alignment, " is needed"),
            {PI_ERROR_MISALIGNED_OFFSET}, [&](pi_event *out) {
                return piEnqueueKernelLaunch(setup.queue, &desc, 0, nullptr, out);
            });
        return;
    }
    // An address may begin between what views need, but not between words.
    if (between % sizeof(uint32_t) != 0)
        return;
    Event event;
    const pi_result result = try_enqueue(setup.queue, desc, {}, event.out());
    if (result == PI_SUCCESS) {
        fixture.wait(event);
        expected[between / 4] += 1;
    } else {
        require_error(result, PI_ERROR_MISALIGNED_OFFSET, "an offset of ", between, " where ",
                      alignment, " is reported");
    }
    fixture.require_contents(setup.queue, mem, bytes_of(expected),
                             "the buffer after another launch");
}

CONFORMANCE_TEST("kernel", "a view is an argument like a buffer") {
    fixture.need(PI_CAPABILITY_VIEW, "PI_CAPABILITY_VIEW");
    LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "add");
    const uint64_t offset =
        std::max<uint64_t>(fixture.scopes().at(0).offset_alignment, sizeof(uint32_t));
    std::vector<uint32_t> expected = counting(static_cast<uint32_t>(offset / 2 + 32));
    const Mem mem = fixture.make_buffer(fixture.place(), bytes_of(expected));
    const Mem view = fixture.make_view(mem, offset, offset + 64);
    for (const uint64_t within : {uint64_t{0}, offset}) {
        Arguments arguments;
        arguments.buffer(view, within).value(uint32_t{1000});
        fixture.wait(fixture.enqueue(setup.queue, launch_desc(kernel, arguments, 16)));
        for (uint64_t i = 0; i < 16; ++i)
            expected[(offset + within) / 4 + i] += 1000;
        fixture.require_contents(setup.queue, mem, bytes_of(expected),
                                 join("the buffer after a launch at byte ", within, " of a view"));
    }
}

CONFORMANCE_TEST("kernel", "work-group memory is each group's own") {
    LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "reverse");
    const uint32_t group = group_size(fixture, kernel, 32);
    need_local_memory(fixture, group * sizeof(uint32_t));
    const uint32_t count = group * 50;
    std::vector<uint32_t> expected = counting(count);
    const Mem mem = fixture.make_buffer(fixture.place(), bytes_of(expected));
    Arguments arguments;
    arguments.buffer(mem).local(group * sizeof(uint32_t));
    fixture.wait(fixture.enqueue(setup.queue, launch_desc(kernel, arguments, count, group)));
    for (uint32_t begin = 0; begin < count; begin += group)
        std::reverse(expected.begin() + begin, expected.begin() + begin + group);
    fixture.require_contents(setup.queue, mem, bytes_of(expected), "the groups, each reversed");
}

CONFORMANCE_TEST("kernel",
                 "two arguments of work-group memory do not overlap, whatever their sizes") {
    LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "butterfly");
    const uint32_t group = group_size(fixture, kernel, 30);
    need_local_memory(fixture, 2 * group * sizeof(uint32_t) + 64);
    const uint32_t count = group * 20;
    std::vector<uint32_t> expected = counting(count);
    const Mem mem = fixture.make_buffer(fixture.place(), bytes_of(expected));
    // Both ways round, one is larger than the kernel needs, and of a size that is no multiple of a
    // word's.
    for (const uint64_t more : {uint64_t{0}, uint64_t{33}}) {
        const uint64_t size = group * sizeof(uint32_t);
        for (const auto &[sums, differences] :
             {std::pair{size + more, size}, {size, size + more}}) {
            Arguments arguments;
            arguments.buffer(mem).local(sums).local(differences);
            fixture.wait(
                fixture.enqueue(setup.queue, launch_desc(kernel, arguments, count, group)));
            for (uint32_t begin = 0; begin < count; begin += group) {
                for (uint32_t i = 0; i < group / 2; ++i) {
                    uint32_t &one = expected[begin + i];
                    uint32_t &other = expected[begin + group - 1 - i];
                    const uint32_t difference = one - other;
                    one += other;
                    other = difference;
                }
                if (group % 2 == 1) // the word in the middle mirrors itself
                    expected[begin + group / 2] = 0;
            }
            fixture.require_contents(setup.queue, mem, bytes_of(expected),
                                     join("the words of groups with ", sums, " and ", differences,
                                          " bytes of work-group memory"));
        }
    }
}

CONFORMANCE_TEST(
    "kernel", "a launch may use all work-group memory of the device that its kernel does not use") {
    LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "reverse");
    const uint64_t most = local_memory_size(fixture);
    uint64_t taken = 0; // of a plugin without the query
    piKernelGetGroupInfo(kernel, fixture.device(), PI_KERNEL_GROUP_INFO_LOCAL_MEMORY_SIZE,
                         sizeof taken, &taken, nullptr);
    const uint64_t size = (most - std::min(most, taken)) / 64 * 64;
    if (size == 0)
        skip("the device has no work-group memory");
    const uint32_t group = group_size(fixture, kernel, 4);
    std::vector<uint32_t> expected = counting(group * 2);
    const Mem mem = fixture.make_buffer(fixture.place(), bytes_of(expected));
    Arguments arguments;
    arguments.buffer(mem).local(size);
    fixture.wait(fixture.enqueue(setup.queue, launch_desc(kernel, arguments, group * 2, group)),
                 join("a launch with ", size, " bytes of work-group memory, of ", most));
    std::reverse(expected.begin(), expected.begin() + group);
    std::reverse(expected.begin() + group, expected.end());
    fixture.require_contents(setup.queue, mem, bytes_of(expected), "the groups, each reversed");
}

CONFORMANCE_TEST(
    "kernel",
    "a launch has work-group memory without a parameter only where the device supports it") {
    LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "add");
    const Mem mem = fixture.make_buffer(fixture.place(), bytes_of(counting(4)));
    Arguments arguments;
    arguments.buffer(mem).value(uint32_t{1});
    pi_kernel_launch_desc desc = launch_desc(kernel, arguments, 4);
    desc.local_memory_size = 64;
    if (is_of_cuda(kernel_format(fixture))) {
        need_local_memory(fixture, desc.local_memory_size);
        fixture.wait(fixture.enqueue(setup.queue, desc));
        fixture.require_contents(setup.queue, mem, bytes_of({1, 2, 3, 4}),
                                 "what a launch has added");
        return;
    }
    require_untouched<pi_event>(
        "local_memory_size 64", {PI_ERROR_UNSUPPORTED_FEATURE},
        [&](pi_event *out) { return try_enqueue(setup.queue, desc, {}, out); });
    fixture.require_contents(setup.queue, mem, bytes_of(counting(4)), "the buffer after no launch");
}

CONFORMANCE_TEST("kernel", "more work-group memory than the device has is refused or fails") {
    LaunchFixture setup(fixture);
    const auto most =
        info_or(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_LOCAL_MEMORY_SIZE, UINT64_MAX);
    if (most == UINT64_MAX)
        skip("the device does not say how much work-group memory it has");
    const Mem mem = fixture.make_buffer(64);
    const auto refused = [&](const char *name, const Arguments &arguments, uint64_t bytes) {
        const Kernel kernel = make_kernel(setup.program, name);
        const uint32_t group = group_size(fixture, kernel, 4);
        const pi_kernel_launch_desc desc = launch_desc(kernel, arguments, group, group);
        const std::string what = join("a launch of ", name, " with work-group memory of ", bytes,
                                      " bytes where the device has ", most);
        Event event;
        pi_result result = try_enqueue(setup.queue, desc, {}, event.out());
        // Some backends know only when the launch is under way.
        if (result == PI_SUCCESS)
            result = fixture.wait_result(event, what);
        require_error(result, {PI_ERROR_INVALID_ARGUMENTS, PI_ERROR_OUT_OF_RESOURCES}, what);
    };
    Arguments one;
    one.buffer(mem).local(most + 64);
    refused("reverse", one, most + 64);
    Arguments two; // the device has either
    two.buffer(mem).local(most / 2 + 64).local(most / 2 + 64);
    refused("butterfly", two, most + 128);
}

CONFORMANCE_TEST("kernel",
                 "one kernel is launched from four threads, each with arguments of its own") {
    constexpr unsigned threads = 4;
    constexpr uint32_t count = 256;
    constexpr uint32_t rounds = 25;
    LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "add");
    const Place place = fixture.place();
    std::vector<Mem> mems;
    std::vector<Queue> queues;
    for (unsigned i = 0; i < threads; ++i) {
        mems.push_back(fixture.make_buffer(place, Bytes(count * sizeof(uint32_t))));
        queues.push_back(fixture.make_queue(place));
    }
    fixture.run_threads(threads, [&](unsigned thread) {
        Event last;
        for (uint32_t round = 0; round < rounds; ++round) {
            Arguments arguments;
            arguments.buffer(mems[thread]).value(thread + 1 + round);
            last = fixture.enqueue(queues[thread], launch_desc(kernel, arguments, count));
        }
        fixture.wait(last, "the last launch of a thread");
    });
    for (unsigned thread = 0; thread < threads; ++thread) {
        const uint32_t sum = rounds * (thread + 1) + rounds * (rounds - 1) / 2;
        require(setup.words(mems[thread], count) == std::vector<uint32_t>(count, sum), "thread ",
                thread, "'s buffer is not ", sum, " everywhere");
    }
}

CONFORMANCE_TEST("kernel", "a launch accepts the suggested local size") {
    LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "visit");
    const Mem mem = fixture.make_buffer(fixture.place(), Bytes(60 * 50 * sizeof(uint32_t)));
    Arguments arguments;
    arguments.buffer(mem).value(uint64_t{60}).value(uint64_t{50});
    const pi_kernel_launch_desc desc = launch_desc(kernel, arguments, 2, {60, 50, 1});
    const auto most =
        get_info<uint64_t>(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_MAX_WORK_GROUP_SIZE);
    const auto suggested = [&](const pi_kernel_launch_desc &launch) {
        Size3 local = poison<Size3>();
        require_success(piKernelGetSuggestedLocalSize(setup.queue, &launch, local.data()),
                        "piKernelGetSuggestedLocalSize");
        for (const uint64_t axis : local)
            require(axis >= 1 && axis <= most, "the suggested local size has ", axis,
                    ", should be 1 to ", most);
        require(local[0] * local[1] * local[2] <= most, "the suggested group of ",
                local[0] * local[1] * local[2], " work-items is larger than ", most);
        return local;
    };
    const Size3 local = suggested(desc);
    // With this many items there are more groups than a group may have items.
    suggested(launch_desc(kernel, arguments, 1, {std::min<uint64_t>(most, 1024) * 2048, 1, 1}));
    require_visited(setup, 2, {}, {60, 50, 1}, local);
}

CONFORMANCE_TEST("kernel", "each id is visited once in clusters of groups, where the device can") {
    LaunchFixture setup(fixture);
    if ((launch_features(fixture) & PI_LAUNCH_FEATURE_CLUSTERS) == 0)
        skip("the device has no clusters of groups");
    const Kernel kernel = make_kernel(setup.program, "visit");
    const uint64_t group = group_size(fixture, kernel, 4);
    require_visited(setup, kernel, 1, {}, {4 * group, 0, 0}, {group, 0, 0}, {2, 1, 1});
    require_visited(setup, kernel, 2, {}, {4 * group, 2, 0}, {group, 1, 0}, {2, 2, 1});
    require_visited(setup, kernel, 3, {}, {2 * group, 2, 2}, {group, 1, 1}, {1, 2, 1});
}

CONFORMANCE_TEST("kernel", "a launch of many work-items returns before they have run") {
    LaunchFixture setup(fixture);
    const uint64_t count = fixture.at_most(uint64_t{1} << 22) / sizeof(uint32_t);
    const Kernel kernel = make_kernel(setup.program, "add");
    const Mem mem = fixture.make_buffer(count * sizeof(uint32_t));
    Arguments arguments;
    arguments.buffer(mem).value(uint32_t{1});
    // Threads may be interrupted while the launch is enqueued, but not each time.
    bool returned_early = false;
    for (int i = 0; i < 50 && !returned_early; ++i) {
        const Event launched = fixture.enqueue(setup.queue, launch_desc(kernel, arguments, count));
        returned_early = !fixture.is_complete(launched);
        fixture.wait(launched, "a launch of many work-items");
    }
    require(returned_early, "each of 50 launches of ", count,
            " work-items was complete when its call returned");
}

CONFORMANCE_TEST("kernel", "features that a device does not have are refused") {
    LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "add");
    const Mem mem = fixture.make_buffer(64);
    Arguments arguments;
    arguments.buffer(mem).value(uint32_t{1});
    const auto refused = [&](const std::string &what, const pi_kernel_launch_desc &desc) {
        require_untouched<pi_event>(what, {PI_ERROR_UNSUPPORTED_FEATURE}, [&](pi_event *out) {
            return piEnqueueKernelLaunch(setup.queue, &desc, 0, nullptr, out);
        });
    };
    if ((launch_features(fixture) & PI_LAUNCH_FEATURE_CLUSTERS) == 0) {
        pi_kernel_launch_desc clusters =
            launch_desc(kernel, arguments, 4, group_size(fixture, kernel, 2));
        std::fill_n(clusters.cluster_size, 3, 1); // only 0 is none
        refused("clusters of one group", clusters);
        clusters.cluster_size[0] = 2;
        refused("clusters of two groups", clusters);
    }
    if (!fixture.can(PI_CAPABILITY_COOPERATIVE)) {
        pi_kernel_launch_desc cooperative = launch_desc(kernel, arguments, 4);
        cooperative.flags = PI_LAUNCH_COOPERATIVE;
        refused("a cooperative launch", cooperative);
    }
}

CONFORMANCE_TEST("kernel", "each id is visited once where the last group of any axis is smaller") {
    LaunchFixture setup(fixture);
    if ((launch_features(fixture) & PI_LAUNCH_FEATURE_NON_UNIFORM_GROUPS) == 0)
        skip("the device has no work-groups of different sizes");
    const auto items =
        get_info<Size3>(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_MAX_WORK_ITEM_SIZES);
    for (uint32_t axis = 0; axis < 3; ++axis) {
        Size3 local{1, 1, 1}, global{3, 3, 3};
        local[axis] = std::min<uint64_t>(items[axis], 4);
        global[axis] = 2 * local[axis] + 1;
        require_visited(setup, 3, {}, global, local);
    }
    if (items[0] > 1 && items[1] > 1 && items[2] > 1)
        require_visited(setup, 3, {}, {5, 3, 7}, {2, 2, 2});
}

} // namespace
} // namespace pi::suite
