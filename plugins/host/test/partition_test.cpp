// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The processors that sub-devices run on, according to the system.
#include "native.hpp"
#include "skip.hpp"

#include <sched.h>

#include <chrono>
#include <thread>

using namespace pi_test;

namespace {

/// The processors that the calling thread may run on.
cpu_set_t processors() {
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    return set;
}

/// Records for each work-item the processors that its thread may run on.
void PI_CALL note_processors(const pi_native_group *group, void *const *arguments) {
    for (uint64_t i = group->begin[0]; i < group->end[0]; ++i)
        static_cast<cpu_set_t *>(arguments[0])[i] = processors();
    // Long enough for all threads of the device to take part.
    std::this_thread::sleep_for(std::chrono::microseconds(200));
}
const pi_native_kernel kernels[] = {{"note_processors", note_processors, 1, 0}};
const pi_native_program program{sizeof program, 1, kernels};

/// The records of note_processors for so many work-groups on the device.
std::vector<cpu_set_t> run_on(pi_device device, uint64_t groups) {
    const Owned<pi_context> context = make_context({device});
    Owned<pi_queue> queue;
    OK(piQueueCreate(context, device, nullptr, queue.out()));
    const Owned<pi_kernel> kernel = make_kernel(make_program(context, program), "note_processors");
    std::vector<cpu_set_t> sets(groups);
    auto import = pi::desc<pi_mem_import_desc>();
    import.size = groups * sizeof(cpu_set_t);
    import.handle.type = PI_EXTERNAL_HOST_POINTER;
    import.handle.pointer = sets.data();
    Owned<pi_mem> mem;
    OK(piMemImport(context, device, &import, mem.out()));
    const pi_kernel_argument argument = buffer_argument(mem);
    auto launch = launch_desc(kernel, groups, &argument, 1);
    launch.local_size[0] = 1;
    launch.flags = PI_COMMAND_BLOCKING; // even then, never on the application's own thread
    OK(piEnqueueKernelLaunch(queue, &launch, 0, nullptr, nullptr));
    return sets;
}

} // namespace

TEST_CASE("kernels on a sub-device run on its processors, which no sibling has") {
    Host host;
    const auto units = info<uint32_t>(piDeviceGetInfo, host.device, PI_DEVICE_INFO_COMPUTE_UNITS);
    if (units < 2 || machine_is_invented())
        return skip("needs two processors that threads can be bound to");
    const cpu_set_t mine = processors();
    const uint32_t counts[] = {1, units - 1};
    auto d = pi::desc<pi_device_partition_desc>();
    d.kind = PI_PARTITION_BY_COUNTS;
    d.count = 2;
    d.counts = counts;
    pi_device parts[2] = {};
    OK(piDevicePartition(host.device, &d, 2, parts, nullptr));
    cpu_set_t of_parts[2];
    for (int i = 0; i < 2; ++i) {
        of_parts[i] = run_on(parts[i], 1).front();
        CHECK(CPU_COUNT(&of_parts[i]) == static_cast<int>(counts[i]));
        for (const cpu_set_t &set : run_on(parts[i], 200))
            REQUIRE(CPU_EQUAL(&set, &of_parts[i]));
    }
    cpu_set_t both;
    CPU_AND(&both, &of_parts[0], &of_parts[1]);
    CHECK(CPU_COUNT(&both) == 0);
    // Neither the application's thread nor those of other devices stay bound.
    const cpu_set_t now = processors();
    CHECK(CPU_EQUAL(&mine, &now));
    for (const pi_device part : parts)
        OK(piDeviceRelease(part));
    for (const cpu_set_t &set : run_on(host.device, 200))
        REQUIRE(CPU_EQUAL(&set, &mine));
}

TEST_CASE("a sub-device is of its parent's NUMA node, and shares its memory") {
    Host host;
    auto d = pi::desc<pi_device_partition_desc>();
    d.kind = PI_PARTITION_BY_NUMA;
    pi_device part = nullptr;
    uint32_t count = 0;
    OK(piDevicePartition(host.device, &d, 1, &part, &count));
    CHECK(count == 1); // a root device is one node
    CHECK(info<uint32_t>(piDeviceGetInfo, part, PI_DEVICE_INFO_NUMA_NODE) ==
          info<uint32_t>(piDeviceGetInfo, host.device, PI_DEVICE_INFO_NUMA_NODE));
    {
        const Owned<pi_context> context = make_context({part});
        auto reported = pi::desc<pi_memory_connection_info>();
        OK(piGetMemoryConnectionInfo(host.device, host.context, part, context, nullptr, &reported));
        CHECK(reported.connection == PI_MEMORY_CONNECTION_UNIFIED);
        CHECK(reported.residency == PI_RESIDENCY_SAME_MEMORY);
    }
    OK(piDeviceRelease(part));
}
