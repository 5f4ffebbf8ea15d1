// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Queries of groups and sub-groups of kernels, and devices that they run on.

#include "checks.hpp"
#include "fixture.hpp"
#include "launch_fixture.hpp"
#include "partition.hpp"
#include "registry.hpp"

#include <cstring>

namespace pi::suite {
namespace {

// `absent` if the backend does not support the query.
template <typename T>
T group_info(pi_kernel kernel, pi_device device, pi_kernel_group_info name, T absent) {
    const auto ask = [&](pi_kernel of, uint32_t what, uint64_t size, void *value, uint64_t *out) {
        return piKernelGetGroupInfo(of, device, what, size, value, out);
    };
    return info_or(ask, kernel, name, absent);
}

CONFORMANCE_TEST(
    "kernel",
    "a kernel's groups are no larger than the device's, and it requires no size of them") {
    const LaunchFixture setup(fixture);
    const auto device_most =
        get_info<uint64_t>(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_MAX_WORK_GROUP_SIZE);
    const auto device_local =
        info_or(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_LOCAL_MEMORY_SIZE, UINT64_MAX);
    for (const char *name : {"add", "combine", "visit", "reverse", "butterfly"}) {
        const Kernel kernel = make_kernel(setup.program, name);
        const auto most = group_info(kernel, fixture.device(),
                                     PI_KERNEL_GROUP_INFO_MAX_WORK_GROUP_SIZE, device_most);
        require(most >= 1 && most <= device_most, name, ": the largest group has ", most,
                " work-items, should be 1 to ", device_most);
        const auto multiple = group_info(
            kernel, fixture.device(), PI_KERNEL_GROUP_INFO_PREFERRED_GROUP_MULTIPLE, uint64_t{1});
        require(multiple >= 1 && multiple <= most, name, ": the preferred multiple is ", multiple,
                ", should be 1 to ", most);
        require(group_info(kernel, fixture.device(), PI_KERNEL_GROUP_INFO_COMPILE_WORK_GROUP_SIZE,
                           Size3{}) == Size3{},
                name, ": demands a group size, which its source does not");
        require(group_info(kernel, fixture.device(), PI_KERNEL_GROUP_INFO_LOCAL_MEMORY_SIZE,
                           uint64_t{0}) <= device_local,
                name, ": needs more work-group memory than the device has");
    }
}

CONFORMANCE_TEST("kernel",
                 "a group size and work-group memory of the source are reported and honoured") {
    if (kernel_format(fixture) != PI_PROGRAM_FORMAT_OPENCL_C)
        skip("the suite has kernels that demand a group size in OpenCL C only");
    constexpr std::string_view text = R"(
kernel __attribute__((reqd_work_group_size(4, 1, 1))) void fours(global uint *data) {
    local uint copies[256];
    copies[get_local_id(0)] = data[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    data[get_global_id(0)] = copies[3 - get_local_id(0)];
})";
    const Program program =
        make_program(fixture.context(), PI_PROGRAM_FORMAT_OPENCL_C, text.data(), text.size());
    const Kernel kernel = make_kernel(program, "fours");
    constexpr Size3 fours{4, 1, 1};
    require(group_info(kernel, fixture.device(), PI_KERNEL_GROUP_INFO_COMPILE_WORK_GROUP_SIZE,
                       fours) == fours,
            "PI_KERNEL_GROUP_INFO_COMPILE_WORK_GROUP_SIZE is not 4, 1, 1");
    const auto local = group_info(kernel, fixture.device(), PI_KERNEL_GROUP_INFO_LOCAL_MEMORY_SIZE,
                                  uint64_t{1024});
    require(local >= 1024, "the kernel's work-group memory is ", local, " bytes, it has 1024");
    const Queue queue = fixture.make_queue();
    const Mem mem = fixture.make_buffer(fixture.place(), bytes_of({1, 2, 3, 4, 5, 6, 7, 8}));
    Arguments arguments;
    arguments.buffer(mem);
    for (const uint64_t local_size : {0, 4}) {
        fixture.upload(queue, mem, bytes_of({1, 2, 3, 4, 5, 6, 7, 8}));
        fixture.wait(fixture.enqueue(queue, launch_desc(kernel, arguments, 8, local_size)));
        fixture.require_contents(queue, mem, bytes_of({4, 3, 2, 1, 8, 7, 6, 5}),
                                 join("what groups of four have turned, local size ", local_size));
    }
    const pi_kernel_launch_desc eight = launch_desc(kernel, arguments, 8, 8);
    require_untouched<pi_event>("a group of 8 where 4 is demanded", {PI_ERROR_INVALID_WORK_SIZE},
                                [&](pi_event *out) { return try_enqueue(queue, eight, {}, out); });
}

CONFORMANCE_TEST("kernel",
                 "a local size is suggested for kernel, dimensions and global size alone") {
    LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "add");
    const Arguments none;
    const pi_kernel_launch_desc valid = launch_desc(kernel, none, 60);
    const auto suggested = [&](const pi_kernel_launch_desc *desc, Size3 &local) {
        local = poison<Size3>();
        return piKernelGetSuggestedLocalSize(setup.queue, desc, local.data());
    };
    Size3 expected{}, local{};
    require_success(suggested(&valid, expected), "piKernelGetSuggestedLocalSize");
    const auto require_unread = [&](const char *what, const pi_kernel_launch_desc &desc) {
        require_success(suggested(&desc, local), "piKernelGetSuggestedLocalSize of a launch with ",
                        what);
        require(local == expected, "the suggestion is another one with ", what);
    };
    pi_kernel_launch_desc desc = valid;
    desc.flags = PI_COMMAND_BLOCKING | PI_LAUNCH_COOPERATIVE | PI_LAUNCH_INDIRECT_USM_HOST |
                 PI_LAUNCH_INDIRECT_USM_DEVICE | PI_LAUNCH_INDIRECT_USM_SHARED;
    require_unread("flags", desc);
    for (const auto member :
         {&pi_kernel_launch_desc::global_offset, &pi_kernel_launch_desc::local_size,
          &pi_kernel_launch_desc::cluster_size}) {
        desc = valid;
        (desc.*member)[0] = UINT64_MAX;
        (desc.*member)[2] = 7;
        require_unread("another offset, local size or cluster size", desc);
    }
    desc = valid;
    desc.local_memory_size = UINT64_MAX;
    require_unread("a local_memory_size", desc);
    desc = valid;
    desc.argument_count = UINT32_MAX;
    desc.arguments = nowhere<pi_kernel_argument>();
    require_unread("arguments that cannot be read", desc);
    desc = valid;
    desc.global_size[1] = desc.global_size[2] = 0;
    require_unread("global sizes of 0 beyond its dimensions", desc);
    check_descriptor("piKernelGetSuggestedLocalSize", valid, 0,
                     [&](const pi_kernel_launch_desc *given) { return suggested(given, local); });
}

CONFORMANCE_TEST("kernel", "sub-groups are of a size that the device has, and enough for a group") {
    const LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "add");
    uint32_t size = poison<uint32_t>(), count = poison<uint32_t>(), demanded = poison<uint32_t>();
    const auto ask = [&](pi_kernel_sub_group_info name, uint32_t &value) {
        return piKernelGetSubGroupInfo(kernel, fixture.device(), name, sizeof value, &value,
                                       nullptr);
    };
    if (ask(PI_KERNEL_SUB_GROUP_INFO_MAX_SIZE, size) == PI_ERROR_UNSUPPORTED_FEATURE)
        skip("the device reports no sub-groups");
    require_success(ask(PI_KERNEL_SUB_GROUP_INFO_MAX_SIZE, size), "the largest sub-group");
    require_success(ask(PI_KERNEL_SUB_GROUP_INFO_MAX_COUNT, count), "the sub-groups of a group");
    require_success(ask(PI_KERNEL_SUB_GROUP_INFO_COMPILE_SIZE, demanded), "the demanded size");
    uint64_t bytes = 0;
    if (piDeviceGetInfo(fixture.device(), PI_DEVICE_INFO_SUB_GROUP_SIZES, 0, nullptr, &bytes) !=
        PI_ERROR_UNSUPPORTED_FEATURE) {
        const auto sizes = get_info_list<uint32_t>(&piDeviceGetInfo, fixture.device(),
                                                   PI_DEVICE_INFO_SUB_GROUP_SIZES);
        require(std::find(sizes.begin(), sizes.end(), size) != sizes.end(), "sub-groups have ",
                size, " work-items, which is none of PI_DEVICE_INFO_SUB_GROUP_SIZES");
    }
    const auto most =
        group_info(kernel, fixture.device(), PI_KERNEL_GROUP_INFO_MAX_WORK_GROUP_SIZE, uint64_t{1});
    require(uint64_t{size} * count >= most, count, " sub-groups of ", size,
            " do not make the largest group of ", most);
    require_equal(demanded, 0u, "the size of sub-groups that the source demands");
}

CONFORMANCE_TEST("kernel", "groups and sub-groups are reported for devices of the context") {
    const LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "add");
    std::vector<pi_device> wrong{nullptr, reinterpret_cast<pi_device>(setup.queue.get())};
    const SeveralDevices devices(fixture);
    if (devices.size() > 1)
        wrong.push_back(devices[1]);
    uint64_t size = 0;
    const bool sub_groups = piKernelGetSubGroupInfo(kernel, fixture.device(), 1000, 0, nullptr,
                                                    &size) != PI_ERROR_UNSUPPORTED_FEATURE;
    const bool groups =
        piKernelGetGroupInfo(kernel, fixture.device(), PI_KERNEL_GROUP_INFO_MAX_WORK_GROUP_SIZE, 0,
                             nullptr, &size) != PI_ERROR_UNSUPPORTED_FEATURE;
    for (pi_device device : wrong) {
        if (groups)
            require_untouched<uint64_t>("group info for a device that is not of the context",
                                        {PI_ERROR_INVALID_DEVICE}, [&](uint64_t *out) {
                                            return piKernelGetGroupInfo(
                                                kernel, device,
                                                PI_KERNEL_GROUP_INFO_MAX_WORK_GROUP_SIZE,
                                                sizeof *out, out, nullptr);
                                        });
        if (sub_groups)
            require_untouched<uint32_t>("sub-group info for a device that is not of the context",
                                        {PI_ERROR_INVALID_DEVICE}, [&](uint32_t *out) {
                                            return piKernelGetSubGroupInfo(
                                                kernel, device, PI_KERNEL_SUB_GROUP_INFO_MAX_SIZE,
                                                sizeof *out, out, nullptr);
                                        });
    }
    require_error(piKernelGetGroupInfo(nullptr, fixture.device(),
                                       PI_KERNEL_GROUP_INFO_MAX_WORK_GROUP_SIZE, 0, nullptr, &size),
                  PI_ERROR_INVALID_KERNEL, "group info of NULL");
    require_error(piKernelGetSubGroupInfo(nullptr, fixture.device(),
                                          PI_KERNEL_SUB_GROUP_INFO_MAX_SIZE, 0, nullptr, &size),
                  PI_ERROR_INVALID_KERNEL, "sub-group info of NULL");
}

CONFORMANCE_TEST("kernel", "a kernel is launched only on devices that its program is built for") {
    const BuiltForSecond built(fixture);
    const Kernel kernel = make_kernel(built.program, "add");
    const Mem mem = fixture.make_buffer({built.second(), built.context}, bytes_of({1, 2, 3, 4}));
    Arguments arguments;
    arguments.buffer(mem).value(uint32_t{10});
    const pi_kernel_launch_desc launch = launch_desc(kernel, arguments, 4);
    const Queue first = fixture.make_queue({built.first(), built.context});
    const Queue second = fixture.make_queue({built.second(), built.context});
    require_untouched<pi_event>("a launch on a device that the program is not built for",
                                {PI_ERROR_INVALID_KERNEL},
                                [&](pi_event *out) { return try_enqueue(first, launch, {}, out); });
    fixture.wait(fixture.enqueue(second, launch));
    fixture.require_contents(second, mem, bytes_of({11, 12, 13, 14}),
                             "the buffer after one launch");
}

CONFORMANCE_TEST("kernel", "a launch's kernel is of the queue's context") {
    LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "add");
    const Context context = fixture.make_context({fixture.device()});
    const Place place{fixture.device(), context};
    const Queue another = fixture.make_queue(place);
    const Mem mem = fixture.make_buffer(place, bytes_of({1, 2, 3, 4}));
    Arguments arguments;
    arguments.buffer(mem).value(uint32_t{10});
    const pi_kernel_launch_desc launch = launch_desc(kernel, arguments, 4);
    require_untouched<pi_event>(
        "a launch of another context's kernel", {PI_ERROR_INVALID_KERNEL},
        [&](pi_event *out) { return try_enqueue(another, launch, {}, out); });
    fixture.require_contents(another, mem, bytes_of({1, 2, 3, 4}), "the buffer after no launch");
}

} // namespace
} // namespace pi::suite
