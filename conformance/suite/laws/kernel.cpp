// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "bench.hpp"
#include "checks.hpp"
#include "kernels.hpp"
#include "registry.hpp"

#include <numeric>

namespace pi::suite {
namespace {

// The built kernels, a queue, and what most launches need.
struct Workshop {
    Bench &bench;
    Program program;
    Queue queue;

    explicit Workshop(Bench &on) : bench(on), program(make_program(on)), queue(on.make_queue()) {}

    std::vector<uint32_t> words(pi_mem mem, uint64_t count) {
        return words_of(bench.download(queue, mem, count * sizeof(uint32_t)));
    }
};

uint32_t launch_features(Bench &bench) {
    uint32_t features = 0;
    const pi_result result = piDeviceGetInfo(bench.device(), PI_DEVICE_INFO_LAUNCH_FEATURES,
                                             sizeof features, &features, nullptr);
    return result == PI_SUCCESS ? features : 0;
}

std::vector<uint32_t> counting(uint32_t count) {
    std::vector<uint32_t> values(count);
    std::iota(values.begin(), values.end(), 0u);
    return values;
}

LAW("kernel", "a kernel answers every info name by its type") {
    const Workshop shop(bench);
    const Kernel kernel = make_kernel(shop.program, "combine");
    check_info(
        "piKernelGetInfo",
        [&](uint32_t name, uint64_t size, void *value, uint64_t *out_size) {
            return piKernelGetInfo(kernel, name, size, value, out_size);
        },
        kernel_info_names());
    check_info(
        "piKernelGetGroupInfo",
        [&](uint32_t name, uint64_t size, void *value, uint64_t *out_size) {
            return piKernelGetGroupInfo(kernel, bench.device(), name, size, value, out_size);
        },
        kernel_group_info_names());
}

LAW("kernel", "a kernel answers every sub-group info name by its type") {
    const Workshop shop(bench);
    const Kernel kernel = make_kernel(shop.program, "combine");
    uint64_t size = 0;
    // The loader's answer for a function that is not there knows no names.
    if (piKernelGetSubGroupInfo(kernel, bench.device(), 1000, 0, nullptr, &size) ==
        PI_ERROR_UNSUPPORTED_FEATURE)
        skip("the plugin does not have piKernelGetSubGroupInfo");
    check_info(
        "piKernelGetSubGroupInfo",
        [&](uint32_t name, uint64_t room, void *value, uint64_t *out_size) {
            return piKernelGetSubGroupInfo(kernel, bench.device(), name, room, value, out_size);
        },
        kernel_sub_group_info_names());
}

LAW("kernel", "a kernel tells its name, program, context and how many arguments it has") {
    const Workshop shop(bench);
    const Kernel kernel = make_kernel(shop.program, "combine");
    require_equal(
        std::string(
            get_info_list<char>(&piKernelGetInfo, kernel.get(), PI_KERNEL_INFO_NAME).data()),
        "combine", "the kernel's name");
    require(get_info<pi_program>(&piKernelGetInfo, kernel.get(), PI_KERNEL_INFO_PROGRAM) ==
                shop.program.get(),
            "the kernel tells another program");
    require(get_info<pi_context>(&piKernelGetInfo, kernel.get(), PI_KERNEL_INFO_CONTEXT) ==
                bench.context(),
            "the kernel tells another context");
    uint32_t count = 4;
    if (piKernelGetInfo(kernel, PI_KERNEL_INFO_ARGUMENT_COUNT, sizeof count, &count, nullptr) !=
        PI_ERROR_UNSUPPORTED_FEATURE)
        require_equal(count, 4u, "PI_KERNEL_INFO_ARGUMENT_COUNT of combine");
}

LAW("kernel", "a name that the program does not have is refused") {
    const Workshop shop(bench);
    for (const char *name : {"no_such_kernel", "", "Add", "add "})
        require_untouched<pi_kernel>(
            join("piKernelCreate of \"", name, "\""), {PI_ERROR_INVALID_NAME},
            [&](pi_kernel *out) { return piKernelCreate(shop.program, name, out); });
    require_untouched<pi_kernel>(
        "piKernelCreate with name NULL", {PI_ERROR_INVALID_NULL_POINTER},
        [&](pi_kernel *out) { return piKernelCreate(shop.program, nullptr, out); });
    require_error(piKernelCreate(shop.program, "add", nullptr), PI_ERROR_INVALID_NULL_POINTER,
                  "piKernelCreate with out_kernel NULL");
}

LAW("kernel", "arguments arrive in the order of the parameters") {
    Workshop shop(bench);
    const Kernel kernel = make_kernel(shop.program, "combine");
    constexpr uint32_t count = 1000;
    std::vector<uint32_t> a(count);
    std::vector<uint32_t> b(count);
    for (uint32_t i = 0; i < count; ++i) {
        a[i] = static_cast<uint32_t>(bench.random(0, 1000));
        b[i] = static_cast<uint32_t>(bench.random(0, 1000));
    }
    const auto factor = static_cast<uint32_t>(bench.random(2, 1000));
    const Mem mem_a = bench.make_buffer(bench.place(), bytes_of(a));
    const Mem mem_b = bench.make_buffer(bench.place(), bytes_of(b));
    const Mem dst = bench.make_buffer(count * sizeof(uint32_t));
    Arguments arguments;
    arguments.buffer(dst).buffer(mem_a).buffer(mem_b).value(factor);
    bench.wait(bench.enqueue(shop.queue, launch_desc(kernel, arguments, count)));
    const std::vector<uint32_t> got = shop.words(dst, count);
    for (uint32_t i = 0; i < count; ++i)
        require_equal(got[i], a[i] * factor + b[i], join("element ", i, " of combine"));
    bench.require_contents(shop.queue, mem_a, bytes_of(a), "the first source afterwards");
    bench.require_contents(shop.queue, mem_b, bytes_of(b), "the second source afterwards");
}

LAW("kernel", "argument values are copied during the call") {
    Workshop shop(bench);
    const Kernel kernel = make_kernel(shop.program, "add");
    const Mem mem = bench.make_buffer(bench.place(), bytes_of({0, 0, 0, 0}));
    const Event gate = bench.make_host_event();
    Event event;
    {
        uint32_t value = 7;
        pi_kernel_argument arguments[2]{};
        arguments[0].kind = PI_ARGUMENT_BUFFER;
        arguments[0].mem = mem;
        arguments[1].kind = PI_ARGUMENT_VALUE;
        arguments[1].value = &value;
        arguments[1].size = sizeof value;
        pi_kernel_launch_desc desc = launch_desc(kernel, Arguments(), 4);
        desc.arguments = arguments;
        desc.argument_count = 2;
        event = bench.enqueue(shop.queue, desc, {gate});
        value = 1000;
        arguments[0] = arguments[1] = pi_kernel_argument{};
        desc = pi_kernel_launch_desc{};
    }
    bench.signal(gate);
    bench.wait(event);
    bench.require_contents(shop.queue, mem, bytes_of({7, 7, 7, 7}), "what the launch has added");
}

LAW("kernel", "wrong arguments are refused, each with nothing enqueued") {
    Workshop shop(bench);
    const Kernel kernel = make_kernel(shop.program, "combine");
    const Mem mem = bench.make_buffer(bench.place(), bytes_of(counting(16)));
    const uint32_t factor = 1;
    const auto refused = [&](const std::string &what, const Arguments &arguments,
                             std::initializer_list<pi_result> allowed) {
        const pi_kernel_launch_desc desc = launch_desc(kernel, arguments, 4);
        require_untouched<pi_event>(what, allowed, [&](pi_event *out) {
            return piEnqueueKernelLaunch(shop.queue, &desc, 0, nullptr, out);
        });
    };
    Arguments none;
    refused("a launch with no arguments", none, {PI_ERROR_INVALID_ARGUMENTS});
    Arguments few;
    few.buffer(mem).buffer(mem).buffer(mem);
    refused("a launch with one argument less", few, {PI_ERROR_INVALID_ARGUMENTS});
    Arguments many;
    many.buffer(mem).buffer(mem).buffer(mem).value(factor).value(factor);
    refused("a launch with one argument more", many, {PI_ERROR_INVALID_ARGUMENTS});
    Arguments unknown;
    unknown.buffer(mem).buffer(mem).buffer(mem).value(factor);
    unknown[3].kind = 77;
    refused("an argument of the kind 77", unknown,
            {PI_ERROR_INVALID_ARGUMENTS, PI_ERROR_INVALID_ENUMERATION});
    Arguments null_value;
    null_value.buffer(mem).buffer(mem).buffer(mem).value(factor);
    null_value[3].value = nullptr;
    refused("a value at NULL", null_value,
            {PI_ERROR_INVALID_ARGUMENTS, PI_ERROR_INVALID_NULL_POINTER});
    Arguments empty_value;
    empty_value.buffer(mem).buffer(mem).buffer(mem).value(factor);
    empty_value[3].size = 0;
    refused("a value of 0 bytes", empty_value, {PI_ERROR_INVALID_ARGUMENTS, PI_ERROR_INVALID_SIZE});
    Arguments beyond;
    beyond.buffer(mem, 1 << 20).buffer(mem).buffer(mem).value(factor);
    refused("a buffer from behind its end", beyond,
            {PI_ERROR_INVALID_ARGUMENTS, PI_ERROR_INVALID_SIZE});
    Arguments too_long;
    too_long.buffer(mem, 0, 1 << 20).buffer(mem).buffer(mem).value(factor);
    refused("a buffer to behind its end", too_long,
            {PI_ERROR_INVALID_ARGUMENTS, PI_ERROR_INVALID_SIZE});
    Arguments no_mem;
    no_mem.buffer(reinterpret_cast<pi_mem>(shop.queue.get())).buffer(mem).buffer(mem).value(factor);
    refused("a queue instead of a buffer", no_mem, {PI_ERROR_INVALID_MEM_OBJECT});
    pi_kernel_launch_desc null_arguments = launch_desc(kernel, none, 4);
    null_arguments.argument_count = 4;
    null_arguments.arguments = nullptr;
    require_untouched<pi_event>(
        "four arguments at NULL", {PI_ERROR_INVALID_NULL_POINTER, PI_ERROR_INVALID_ARGUMENTS},
        [&](pi_event *out) {
            return piEnqueueKernelLaunch(shop.queue, &null_arguments, 0, nullptr, out);
        });
    bench.require_contents(shop.queue, mem, bytes_of(counting(16)), "the buffer after no launch");
}

LAW("kernel", "reserved words of arguments must be zero") {
    Workshop shop(bench);
    const Kernel kernel = make_kernel(shop.program, "add");
    const Mem mem = bench.make_buffer(bench.place(), bytes_of(counting(4)));
    Arguments arguments;
    arguments.buffer(mem).value(uint32_t{1});
    arguments[1].reserved = 1;
    const pi_kernel_launch_desc desc = launch_desc(kernel, arguments, 4);
    require_untouched<pi_event>(
        "an argument with a reserved word",
        {PI_ERROR_INVALID_VALUE, PI_ERROR_INVALID_ARGUMENTS, PI_ERROR_UNSUPPORTED_FEATURE},
        [&](pi_event *out) { return piEnqueueKernelLaunch(shop.queue, &desc, 0, nullptr, out); });
}

LAW("kernel", "an argument of the wrong kind or size is refused where the backend knows") {
    Workshop shop(bench);
    if (kernel_format(bench) == PI_PROGRAM_FORMAT_NATIVE_TABLE)
        skip("a native function's parameters are not known");
    const Kernel kernel = make_kernel(shop.program, "add");
    const Mem mem = bench.make_buffer(bench.place(), bytes_of(counting(4)));
    const auto refused = [&](const std::string &what, const Arguments &arguments) {
        const pi_kernel_launch_desc desc = launch_desc(kernel, arguments, 4);
        require_untouched<pi_event>(what, {PI_ERROR_INVALID_ARGUMENTS}, [&](pi_event *out) {
            return piEnqueueKernelLaunch(shop.queue, &desc, 0, nullptr, out);
        });
    };
    Arguments large;
    large.buffer(mem).value(uint64_t{1});
    refused("8 bytes for a parameter of 4", large);
    Arguments local;
    local.buffer(mem).local(64);
    refused("work-group memory for a value", local);
    bench.require_contents(shop.queue, mem, bytes_of(counting(4)), "the buffer after no launch");
}

// Of the kernel, where it is known, or of the device.
uint64_t largest_group(Bench &bench, pi_kernel kernel) {
    uint64_t size = 0;
    if (piKernelGetGroupInfo(kernel, bench.device(), PI_KERNEL_GROUP_INFO_MAX_WORK_GROUP_SIZE,
                             sizeof size, &size, nullptr) == PI_SUCCESS)
        return size;
    return get_info<uint64_t>(&piDeviceGetInfo, bench.device(), PI_DEVICE_INFO_MAX_WORK_GROUP_SIZE);
}

// Launches "visit" and requires that each id of the box was visited once, and no other.
void require_visited(Workshop &shop, uint32_t dimensions, const Size3 &offset, const Size3 &size,
                     const Size3 &local) {
    Bench &bench = shop.bench;
    const Kernel kernel = make_kernel(shop.program, "visit");
    Size3 extent{1, 1, 1};
    Size3 begin{0, 0, 0};
    for (uint32_t axis = 0; axis < dimensions; ++axis) {
        begin[axis] = offset[axis];
        extent[axis] = offset[axis] + size[axis];
    }
    const uint64_t count = extent[0] * extent[1] * extent[2];
    const Mem mem = bench.make_buffer(bench.place(), Bytes(count * sizeof(uint32_t)));
    Arguments arguments;
    arguments.buffer(mem).value(extent[0]).value(extent[1]);
    pi_kernel_launch_desc desc = launch_desc(kernel, arguments, dimensions, size, local);
    std::copy(offset.begin(), offset.end(), desc.global_offset);
    bench.wait(bench.enqueue(shop.queue, desc), "a launch of visit");
    const std::vector<uint32_t> visits = shop.words(mem, count);
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

LAW("kernel", "each id is visited once, in one, two and three dimensions") {
    Workshop shop(bench);
    constexpr uint64_t beyond = 99; // entries beyond the dimensions are ignored
    require_visited(shop, 1, {}, {1, beyond, beyond}, {});
    require_visited(shop, 1, {}, {1024, beyond, beyond}, {});
    require_visited(shop, 2, {}, {17, 13, beyond}, {});
    require_visited(shop, 3, {}, {7, 5, 3}, {});
    for (int round = 0; round < 5; ++round)
        require_visited(shop, 3, {},
                        {bench.random(1, 20), bench.random(1, 20), bench.random(1, 20)}, {});
}

LAW("kernel", "each id is visited once with every local size that fits") {
    Workshop shop(bench);
    const auto items =
        get_info<Size3>(&piDeviceGetInfo, bench.device(), PI_DEVICE_INFO_MAX_WORK_ITEM_SIZES);
    const uint64_t most = largest_group(bench, make_kernel(shop.program, "visit"));
    for (const Size3 local : {Size3{1, 1, 1}, Size3{4, 1, 1}, Size3{2, 2, 2}, Size3{8, 4, 1}}) {
        if (local[0] > items[0] || local[1] > items[1] || local[2] > items[2] ||
            local[0] * local[1] * local[2] > most)
            continue;
        require_visited(shop, 3, {}, {local[0] * 3, local[1] * 2, local[2] * 2}, local);
    }
    const uint64_t large = std::min<uint64_t>({items[0], most, 4096});
    require_visited(shop, 1, {}, {large * 2, 0, 0}, {large, 0, 0});
}

LAW("kernel", "a global offset moves the ids, where the device can") {
    Workshop shop(bench);
    if ((launch_features(bench) & PI_LAUNCH_FEATURE_GLOBAL_OFFSET) != 0) {
        require_visited(shop, 1, {5, 0, 0}, {11, 0, 0}, {});
        require_visited(shop, 3, {3, 2, 1}, {4, 5, 6}, {});
        return;
    }
    const Kernel kernel = make_kernel(shop.program, "add");
    const Mem mem = bench.make_buffer(64);
    Arguments arguments;
    arguments.buffer(mem).value(uint32_t{1});
    pi_kernel_launch_desc desc = launch_desc(kernel, arguments, 4);
    desc.global_offset[0] = 1;
    require_untouched<pi_event>(
        "a global offset on a device without the feature", {PI_ERROR_UNSUPPORTED_FEATURE},
        [&](pi_event *out) { return piEnqueueKernelLaunch(shop.queue, &desc, 0, nullptr, out); });
}

LAW("kernel", "groups at the end may be smaller, where the device can") {
    Workshop shop(bench);
    if ((launch_features(bench) & PI_LAUNCH_FEATURE_NON_UNIFORM_GROUPS) != 0) {
        require_visited(shop, 1, {}, {10, 0, 0}, {4, 0, 0});
        require_visited(shop, 2, {}, {7, 5, 0}, {2, 2, 0});
        return;
    }
    const Kernel kernel = make_kernel(shop.program, "add");
    const Mem mem = bench.make_buffer(64);
    Arguments arguments;
    arguments.buffer(mem).value(uint32_t{1});
    const pi_kernel_launch_desc desc = launch_desc(kernel, arguments, 10, 4);
    require_untouched<pi_event>(
        "10 work-items in groups of 4 on a device without the feature",
        {PI_ERROR_INVALID_WORK_SIZE},
        [&](pi_event *out) { return piEnqueueKernelLaunch(shop.queue, &desc, 0, nullptr, out); });
}

LAW("kernel", "work sizes that make no sense are refused") {
    Workshop shop(bench);
    const Kernel kernel = make_kernel(shop.program, "add");
    const Bytes before = bytes_of(counting(16));
    const Mem mem = bench.make_buffer(bench.place(), before);
    Arguments arguments;
    arguments.buffer(mem).value(uint32_t{1});
    const auto refused = [&](const std::string &what, uint32_t dimensions, const Size3 &global,
                             const Size3 &local) {
        const pi_kernel_launch_desc desc =
            launch_desc(kernel, arguments, dimensions, global, local);
        require_untouched<pi_event>(what, {PI_ERROR_INVALID_WORK_SIZE}, [&](pi_event *out) {
            return piEnqueueKernelLaunch(shop.queue, &desc, 0, nullptr, out);
        });
    };
    const auto most =
        get_info<uint64_t>(&piDeviceGetInfo, bench.device(), PI_DEVICE_INFO_MAX_WORK_GROUP_SIZE);
    refused("0 dimensions", 0, {4, 1, 1}, {});
    refused("4 dimensions", 4, {4, 1, 1}, {});
    refused("a global size of 0", 1, {0, 1, 1}, {});
    refused("a global size of 0 on the third axis", 3, {4, 4, 0}, {});
    refused("global sizes whose product overflows", 3, {1ull << 32, 1ull << 32, 1ull << 32}, {});
    refused("a local size of 0 on one axis only", 2, {4, 4, 1}, {2, 0, 1});
    refused("a work-group larger than the device's largest", 1, {(most + 1) * 2, 1, 1},
            {most + 1, 1, 1});
    bench.require_contents(shop.queue, mem, before, "the buffer after no launch");
}

LAW("kernel", "a buffer argument begins at its offset") {
    Workshop shop(bench);
    const Kernel kernel = make_kernel(shop.program, "add");
    const uint64_t alignment = bench.scopes().at(0).offset_alignment;
    const uint64_t offset = std::max<uint64_t>(alignment, sizeof(uint32_t));
    std::vector<uint32_t> expected = counting(static_cast<uint32_t>(offset / 4 + 32));
    const Mem mem = bench.make_buffer(bench.place(), bytes_of(expected));
    Arguments arguments;
    arguments.buffer(mem, offset).value(uint32_t{1000});
    bench.wait(bench.enqueue(shop.queue, launch_desc(kernel, arguments, 16)));
    for (uint64_t i = 0; i < 16; ++i)
        expected[offset / 4 + i] += 1000;
    bench.require_contents(shop.queue, mem, bytes_of(expected), "the buffer after the launch");
    if (alignment <= 1)
        return;
    Arguments misaligned;
    misaligned.buffer(mem, alignment / 2).value(uint32_t{1});
    const pi_kernel_launch_desc desc = launch_desc(kernel, misaligned, 1);
    require_untouched<pi_event>(
        join("an offset of ", alignment / 2, " where ", alignment, " is needed"),
        {PI_ERROR_MISALIGNED_OFFSET},
        [&](pi_event *out) { return piEnqueueKernelLaunch(shop.queue, &desc, 0, nullptr, out); });
}

LAW("kernel", "a view is an argument like a buffer") {
    bench.need(PI_CAPABILITY_VIEW, "PI_CAPABILITY_VIEW");
    Workshop shop(bench);
    const Kernel kernel = make_kernel(shop.program, "add");
    const uint64_t offset =
        std::max<uint64_t>(bench.scopes().at(0).offset_alignment, sizeof(uint32_t));
    std::vector<uint32_t> expected = counting(static_cast<uint32_t>(offset / 4 + 32));
    const Mem mem = bench.make_buffer(bench.place(), bytes_of(expected));
    const Mem view = bench.make_view(mem, offset, 64);
    Arguments arguments;
    arguments.buffer(view).value(uint32_t{1000});
    bench.wait(bench.enqueue(shop.queue, launch_desc(kernel, arguments, 16)));
    for (uint64_t i = 0; i < 16; ++i)
        expected[offset / 4 + i] += 1000;
    bench.require_contents(shop.queue, mem, bytes_of(expected), "the buffer after the launch");
}

LAW("kernel", "work-group memory is each group's own") {
    Workshop shop(bench);
    const Kernel kernel = make_kernel(shop.program, "reverse");
    const auto group = static_cast<uint32_t>(std::min<uint64_t>(largest_group(bench, kernel), 32));
    const uint32_t count = group * 50;
    std::vector<uint32_t> expected = counting(count);
    const Mem mem = bench.make_buffer(bench.place(), bytes_of(expected));
    Arguments arguments;
    arguments.buffer(mem).local(group * sizeof(uint32_t));
    bench.wait(bench.enqueue(shop.queue, launch_desc(kernel, arguments, count, group)));
    for (uint32_t begin = 0; begin < count; begin += group)
        std::reverse(expected.begin() + begin, expected.begin() + begin + group);
    bench.require_contents(shop.queue, mem, bytes_of(expected), "the groups, each reversed");
}

LAW("kernel", "more work-group memory than the device has is refused or fails") {
    Workshop shop(bench);
    const Kernel kernel = make_kernel(shop.program, "reverse");
    const auto most =
        get_info<uint64_t>(&piDeviceGetInfo, bench.device(), PI_DEVICE_INFO_LOCAL_MEMORY_SIZE);
    const Mem mem = bench.make_buffer(64);
    Arguments arguments;
    arguments.buffer(mem).local(most + 64);
    const pi_kernel_launch_desc desc = launch_desc(kernel, arguments, 4, 4);
    const std::string what = join("a launch with work-group memory of ", most + 64,
                                  " bytes where the device has ", most);
    Event event;
    pi_result result = try_enqueue(shop.queue, desc, {}, event.out());
    // Some backends know only when the launch is under way.
    if (result == PI_SUCCESS)
        result = bench.wait_result(event, what);
    require_error(result, {PI_ERROR_INVALID_ARGUMENTS, PI_ERROR_OUT_OF_RESOURCES}, what);
}

LAW("kernel", "one kernel is launched from four threads, each with arguments of its own") {
    constexpr unsigned threads = 4;
    constexpr uint32_t count = 256;
    constexpr uint32_t rounds = 25;
    Workshop shop(bench);
    const Kernel kernel = make_kernel(shop.program, "add");
    const Place place = bench.place();
    std::vector<Mem> mems;
    std::vector<Queue> queues;
    for (unsigned i = 0; i < threads; ++i) {
        mems.push_back(bench.make_buffer(place, Bytes(count * sizeof(uint32_t))));
        queues.push_back(bench.make_queue(place));
    }
    bench.run_threads(threads, [&](unsigned thread) {
        Event last;
        for (uint32_t round = 0; round < rounds; ++round) {
            Arguments arguments;
            arguments.buffer(mems[thread]).value(thread + 1 + round);
            last = bench.enqueue(queues[thread], launch_desc(kernel, arguments, count));
        }
        bench.wait(last, "the last launch of a thread");
    });
    for (unsigned thread = 0; thread < threads; ++thread) {
        const uint32_t sum = rounds * (thread + 1) + rounds * (rounds - 1) / 2;
        require(shop.words(mems[thread], count) == std::vector<uint32_t>(count, sum), "thread ",
                thread, "'s buffer is not ", sum, " everywhere");
    }
}

LAW("kernel", "the suggested local size is one that may be asked for") {
    Workshop shop(bench);
    const Kernel kernel = make_kernel(shop.program, "visit");
    const Mem mem = bench.make_buffer(bench.place(), Bytes(60 * 50 * sizeof(uint32_t)));
    Arguments arguments;
    arguments.buffer(mem).value(uint64_t{60}).value(uint64_t{50});
    const pi_kernel_launch_desc desc = launch_desc(kernel, arguments, 2, {60, 50, 1});
    Size3 local = poison<Size3>();
    require_success(piKernelGetSuggestedLocalSize(shop.queue, &desc, local.data()),
                    "piKernelGetSuggestedLocalSize");
    const auto most =
        get_info<uint64_t>(&piDeviceGetInfo, bench.device(), PI_DEVICE_INFO_MAX_WORK_GROUP_SIZE);
    for (const uint64_t axis : local)
        require(axis >= 1 && axis <= most, "the suggested local size has ", axis,
                ", should be 1 to ", most);
    require(local[0] * local[1] * local[2] <= most, "the suggested group of ",
            local[0] * local[1] * local[2], " work-items is larger than ", most);
    require_visited(shop, 2, {}, {60, 50, 1}, local);
}

LAW("kernel", "features that a device does not have are refused") {
    Workshop shop(bench);
    const Kernel kernel = make_kernel(shop.program, "add");
    const Mem mem = bench.make_buffer(64);
    Arguments arguments;
    arguments.buffer(mem).value(uint32_t{1});
    const auto refused = [&](const std::string &what, const pi_kernel_launch_desc &desc) {
        require_untouched<pi_event>(what, {PI_ERROR_UNSUPPORTED_FEATURE}, [&](pi_event *out) {
            return piEnqueueKernelLaunch(shop.queue, &desc, 0, nullptr, out);
        });
    };
    if ((launch_features(bench) & PI_LAUNCH_FEATURE_CLUSTERS) == 0) {
        pi_kernel_launch_desc clusters = launch_desc(kernel, arguments, 4, 2);
        clusters.cluster_size[0] = 2;
        clusters.cluster_size[1] = clusters.cluster_size[2] = 1;
        refused("a cluster size", clusters);
    }
    if (!bench.can(PI_CAPABILITY_COOPERATIVE)) {
        pi_kernel_launch_desc cooperative = launch_desc(kernel, arguments, 4);
        cooperative.flags = PI_LAUNCH_COOPERATIVE;
        refused("a cooperative launch", cooperative);
    }
}

} // namespace
} // namespace pi::suite
