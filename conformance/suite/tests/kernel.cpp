// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "checks.hpp"
#include "fixture.hpp"
#include "launch_fixture.hpp"
#include "memory.hpp"
#include "registry.hpp"

#include <algorithm>
#include <cstring>

namespace pi::suite {
namespace {

CONFORMANCE_TEST("kernel", "a kernel answers every info name by its type") {
    const LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "combine");
    check_info(
        "piKernelGetInfo",
        [&](uint32_t name, uint64_t size, void *value, uint64_t *out_size) {
            return piKernelGetInfo(kernel, name, size, value, out_size);
        },
        kernel_info_names());
    check_info(
        "piKernelGetGroupInfo",
        [&](uint32_t name, uint64_t size, void *value, uint64_t *out_size) {
            return piKernelGetGroupInfo(kernel, fixture.device(), name, size, value, out_size);
        },
        kernel_group_info_names());
}

CONFORMANCE_TEST("kernel", "a kernel answers every sub-group info name by its type") {
    const LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "combine");
    uint64_t size = 0;
    // The loader answers for a missing function, and does not check names.
    if (piKernelGetSubGroupInfo(kernel, fixture.device(), 1000, 0, nullptr, &size) ==
        PI_ERROR_UNSUPPORTED_FEATURE)
        skip("the plugin does not have piKernelGetSubGroupInfo");
    check_info(
        "piKernelGetSubGroupInfo",
        [&](uint32_t name, uint64_t room, void *value, uint64_t *out_size) {
            return piKernelGetSubGroupInfo(kernel, fixture.device(), name, room, value, out_size);
        },
        kernel_sub_group_info_names());
}

CONFORMANCE_TEST("kernel", "a kernel reports its name, program, context and number of arguments") {
    const LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "combine");
    require_equal(
        std::string(
            get_info_list<char>(&piKernelGetInfo, kernel.get(), PI_KERNEL_INFO_NAME).data()),
        "combine", "the kernel's name");
    require(get_info<pi_program>(&piKernelGetInfo, kernel.get(), PI_KERNEL_INFO_PROGRAM) ==
                setup.program.get(),
            "the kernel reports another program");
    require(get_info<pi_context>(&piKernelGetInfo, kernel.get(), PI_KERNEL_INFO_CONTEXT) ==
                fixture.context(),
            "the kernel reports another context");
    uint32_t count = 4;
    if (piKernelGetInfo(kernel, PI_KERNEL_INFO_ARGUMENT_COUNT, sizeof count, &count, nullptr) !=
        PI_ERROR_UNSUPPORTED_FEATURE)
        require_equal(count, 4u, "PI_KERNEL_INFO_ARGUMENT_COUNT of combine");
}

CONFORMANCE_TEST("kernel", "a name that the program does not have is refused") {
    const LaunchFixture setup(fixture);
    for (const char *name : {"no_such_kernel", "", "Add", "add "})
        require_untouched<pi_kernel>(
            join("piKernelCreate of \"", name, "\""), {PI_ERROR_INVALID_NAME},
            [&](pi_kernel *out) { return piKernelCreate(setup.program, name, nullptr, out); });
    require_untouched<pi_kernel>(
        "piKernelCreate with name NULL", {PI_ERROR_INVALID_NULL_POINTER},
        [&](pi_kernel *out) { return piKernelCreate(setup.program, nullptr, nullptr, out); });
    require_error(piKernelCreate(setup.program, "add", nullptr, nullptr),
                  PI_ERROR_INVALID_NULL_POINTER, "piKernelCreate with out_kernel NULL");
}

CONFORMANCE_TEST("kernel", "the descriptor of a kernel obeys the rules of descriptors") {
    const LaunchFixture setup(fixture);
    check_descriptor(
        "piKernelCreate", pi::desc<pi_kernel_desc>(), offsetof(pi_kernel_desc, flags),
        [&](const pi_kernel_desc *given) {
            Kernel kernel;
            return piKernelCreate(setup.program, "add", given, kernel.out());
        },
        true);
}

CONFORMANCE_TEST("kernel", "arguments arrive in the order of the parameters") {
    LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "combine");
    constexpr uint32_t count = 1000;
    std::vector<uint32_t> a(count);
    std::vector<uint32_t> b(count);
    for (uint32_t i = 0; i < count; ++i) {
        a[i] = static_cast<uint32_t>(fixture.random(0, 1000));
        b[i] = static_cast<uint32_t>(fixture.random(0, 1000));
    }
    const auto factor = static_cast<uint32_t>(fixture.random(2, 1000));
    const Mem mem_a = fixture.make_buffer(fixture.place(), bytes_of(a));
    const Mem mem_b = fixture.make_buffer(fixture.place(), bytes_of(b));
    const Mem dst = fixture.make_buffer(count * sizeof(uint32_t));
    Arguments arguments;
    arguments.buffer(dst).buffer(mem_a).buffer(mem_b).value(factor);
    fixture.wait(fixture.enqueue(setup.queue, launch_desc(kernel, arguments, count)));
    const std::vector<uint32_t> got = setup.words(dst, count);
    for (uint32_t i = 0; i < count; ++i)
        require_equal(got[i], a[i] * factor + b[i], join("element ", i, " of combine"));
    fixture.require_contents(setup.queue, mem_a, bytes_of(a), "the first source afterwards");
    fixture.require_contents(setup.queue, mem_b, bytes_of(b), "the second source afterwards");
}

CONFORMANCE_TEST("kernel", "argument values are copied during the call") {
    LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "add");
    const Mem mem = fixture.make_buffer(fixture.place(), bytes_of({0, 0, 0, 0}));
    const Event gate = fixture.make_host_event();
    uint32_t value = 7; // outlives the launch, or a compiler may drop the store
    pi_kernel_argument arguments[2]{};
    arguments[0].kind = PI_ARGUMENT_BUFFER;
    arguments[0].mem = mem;
    arguments[1].kind = PI_ARGUMENT_VALUE;
    arguments[1].value = &value;
    arguments[1].size = sizeof value;
    pi_kernel_launch_desc desc = launch_desc(kernel, Arguments(), 4);
    desc.arguments = arguments;
    desc.argument_count = 2;
    const Event event = fixture.enqueue(setup.queue, desc, {gate});
    value = 1000;
    arguments[0] = arguments[1] = pi_kernel_argument{};
    desc = pi_kernel_launch_desc{};
    fixture.signal(gate);
    fixture.wait(event);
    fixture.require_contents(setup.queue, mem, bytes_of({7, 7, 7, 7}), "what the launch has added");
}

CONFORMANCE_TEST("kernel", "large argument values are copied during the call, too") {
    if (kernel_format(fixture) != PI_PROGRAM_FORMAT_OPENCL_C)
        skip("the suite has kernels with large values in OpenCL C only");
    constexpr const char *text = "typedef struct { uint words[16]; } large;"
                                 "kernel void take(global uint *out, large value) {"
                                 "    for (int i = 0; i < 16; ++i) out[i] = value.words[i];"
                                 "}";
    auto program_desc = pi::desc<pi_program_desc>();
    program_desc.format = PI_PROGRAM_FORMAT_OPENCL_C;
    program_desc.data = text;
    program_desc.size = std::strlen(text);
    Program program;
    require_success(piProgramCreate(fixture.context(), &program_desc, program.out()),
                    "piProgramCreate");
    require_success(piProgramBuild(program, nullptr), "piProgramBuild");
    const Kernel kernel = make_kernel(program, "take");
    const Queue queue = fixture.make_queue();
    std::vector<uint32_t> value = counting(16);
    const Bytes expected = bytes_of(value);
    const Mem mem = fixture.make_buffer(fixture.place(), Bytes(expected.size()));
    const Event gate = fixture.make_host_event();
    pi_kernel_argument arguments[2]{};
    arguments[0].kind = PI_ARGUMENT_BUFFER;
    arguments[0].mem = mem;
    arguments[1].kind = PI_ARGUMENT_VALUE;
    arguments[1].value = value.data();
    arguments[1].size = expected.size();
    pi_kernel_launch_desc desc = launch_desc(kernel, Arguments(), 1);
    desc.arguments = arguments;
    desc.argument_count = 2;
    const Event event = fixture.enqueue(queue, desc, {gate});
    std::fill(value.begin(), value.end(), 1000);
    fixture.signal(gate);
    fixture.wait(event);
    fixture.require_contents(queue, mem, expected, "what a launch was given as a large value");
}

CONFORMANCE_TEST("kernel", "wrong arguments are refused, each with nothing enqueued") {
    LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "combine");
    const Mem mem = fixture.make_buffer(fixture.place(), bytes_of(counting(16)));
    const uint32_t factor = 1;
    const auto refused = [&](const std::string &what, const Arguments &arguments,
                             std::initializer_list<pi_result> allowed) {
        const pi_kernel_launch_desc desc = launch_desc(kernel, arguments, 4);
        require_untouched<pi_event>(what, allowed, [&](pi_event *out) {
            return piEnqueueKernelLaunch(setup.queue, &desc, 0, nullptr, out);
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
    no_mem.buffer(reinterpret_cast<pi_mem>(setup.queue.get()))
        .buffer(mem)
        .buffer(mem)
        .value(factor);
    refused("a queue instead of a buffer", no_mem, {PI_ERROR_INVALID_MEM_OBJECT});
    pi_kernel_launch_desc null_arguments = launch_desc(kernel, none, 4);
    null_arguments.argument_count = 0;
    null_arguments.arguments = nowhere<const pi_kernel_argument>();
    require_untouched<pi_event>(
        "no arguments at an address", {PI_ERROR_INVALID_ARGUMENTS}, [&](pi_event *out) {
            return piEnqueueKernelLaunch(setup.queue, &null_arguments, 0, nullptr, out);
        });
    null_arguments.argument_count = 4;
    null_arguments.arguments = nullptr;
    require_untouched<pi_event>(
        "four arguments at NULL", {PI_ERROR_INVALID_NULL_POINTER}, [&](pi_event *out) {
            return piEnqueueKernelLaunch(setup.queue, &null_arguments, 0, nullptr, out);
        });
    fixture.require_contents(setup.queue, mem, bytes_of(counting(16)),
                             "the buffer after no launch");
}

CONFORMANCE_TEST("kernel", "reserved words of arguments must be zero") {
    LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "add");
    const Mem mem = fixture.make_buffer(fixture.place(), bytes_of(counting(4)));
    Arguments arguments;
    arguments.buffer(mem).value(uint32_t{1});
    arguments[1].reserved = 1;
    const pi_kernel_launch_desc desc = launch_desc(kernel, arguments, 4);
    require_untouched<pi_event>(
        "an argument with a reserved word", {PI_ERROR_UNSUPPORTED_FEATURE},
        [&](pi_event *out) { return piEnqueueKernelLaunch(setup.queue, &desc, 0, nullptr, out); });
}

CONFORMANCE_TEST("kernel",
                 "an argument of the wrong kind or size is refused where the backend knows") {
    LaunchFixture setup(fixture);
    if (kernel_format(fixture) == PI_PROGRAM_FORMAT_NATIVE_TABLE)
        skip("a native function's parameters are not known");
    const Kernel kernel = make_kernel(setup.program, "add");
    const Mem mem = fixture.make_buffer(fixture.place(), bytes_of(counting(4)));
    const auto refused = [&](const std::string &what, const Arguments &arguments) {
        const pi_kernel_launch_desc desc = launch_desc(kernel, arguments, 4);
        require_untouched<pi_event>(what, {PI_ERROR_INVALID_ARGUMENTS}, [&](pi_event *out) {
            return piEnqueueKernelLaunch(setup.queue, &desc, 0, nullptr, out);
        });
    };
    Arguments large;
    large.buffer(mem).value(uint64_t{1});
    refused("8 bytes for a parameter of 4", large);
    if (!is_of_cuda(kernel_format(fixture))) { // there it is an integer like others
        Arguments local;
        local.buffer(mem).local(64);
        refused("work-group memory for a value", local);
    }
    fixture.require_contents(setup.queue, mem, bytes_of(counting(4)), "the buffer after no launch");
}

CONFORMANCE_TEST("kernel", "a buffer argument of an n-D allocation begins at its logical offset") {
    LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "add");
    // Rows that are not as long as any alignment.
    constexpr uint64_t rows = 5, columns = 7, row = columns * sizeof(uint32_t);
    const Shape shape(sizeof(uint32_t), {rows, columns}, {1});
    const pi_mem_layout_desc layout = shape.desc();
    for (const uint32_t scope : scopes_with(fixture, PI_SCOPE_LAYOUT, "PI_SCOPE_LAYOUT")) {
        const uint64_t unit = fixture.scopes()[scope].offset_alignment;
        std::vector<uint32_t> words = counting(rows * columns);
        pi_mem_buffer_desc desc = buffer_desc(words.size() * sizeof(uint32_t));
        desc.scope = scope;
        desc.next = &layout;
        const Mem mem = fixture.make_buffer(fixture.place(), desc);
        fixture.upload(setup.queue, mem, bytes_of(words));
        for (uint64_t y = 0; y < rows; ++y) {
            if (y * row % unit != 0)
                continue;
            Arguments arguments;
            arguments.buffer(mem, y * row, row).value(uint32_t{100});
            fixture.wait(fixture.enqueue(setup.queue, launch_desc(kernel, arguments, columns)),
                         "a launch on a row of an n-D allocation");
            for (uint64_t x = 0; x < columns; ++x)
                words[y * columns + x] += 100;
        }
        fixture.require_contents(setup.queue, mem, bytes_of(words),
                                 "an n-D allocation after a launch on each of its rows");
    }
}

} // namespace
} // namespace pi::suite
