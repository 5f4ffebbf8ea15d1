// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches: every work-item runs once, arguments arrive, invalid ones are refused.
#include "native.hpp"

#include <array>
#include <atomic>
#include <functional>
#include <random>
#include <thread>

namespace pi_test {

namespace {

void PI_CALL add(const pi_native_group *group, void *const *arguments) {
    auto *data = static_cast<uint32_t *>(arguments[0]);
    const uint32_t summand = *static_cast<const uint32_t *>(arguments[1]);
    for (uint64_t z = group->begin[2]; z < group->end[2]; ++z)
        for (uint64_t y = group->begin[1]; y < group->end[1]; ++y)
            for (uint64_t x = group->begin[0]; x < group->end[0]; ++x) {
                const uint64_t at =
                    (x - group->global_offset[0]) +
                    group->global_size[0] * ((y - group->global_offset[1]) +
                                             group->global_size[1] * (z - group->global_offset[2]));
                data[at] += summand;
            }
}

/// Records every deviation of a work-group's data from the header's definition.
struct Seen {
    std::atomic<uint64_t> groups{0}, items{0}, wrong{0};
};
void PI_CALL inspect(const pi_native_group *group, void *const *arguments) {
    auto &seen = *static_cast<Seen *>(arguments[0]);
    bool right = group->struct_size == sizeof *group;
    uint64_t items = 1;
    for (int i = 0; i < 3; ++i) {
        right &= group->group_id[i] < group->group_count[i];
        right &=
            group->begin[i] == group->global_offset[i] + group->group_id[i] * group->local_size[i];
        right &= group->begin[i] < group->end[i];
        right &= group->end[i] <= group->global_offset[i] + group->global_size[i];
        right &= group->end[i] - group->begin[i] <= group->local_size[i];
        items *= group->end[i] - group->begin[i];
    }
    ++seen.groups;
    seen.items += items;
    seen.wrong += !right;
}

/// Sums a work-group's items in local memory and adds the sum to out[0]; out[1] counts misaligned
/// scratch.
void PI_CALL reduce(const pi_native_group *group, void *const *arguments) {
    const auto *data = static_cast<const uint32_t *>(arguments[0]);
    auto *scratch = static_cast<uint32_t *>(arguments[1]);
    auto *out = static_cast<std::atomic<uint64_t> *>(arguments[2]);
    auto *more = static_cast<uint64_t *>(arguments[3]);
    if (reinterpret_cast<uintptr_t>(scratch) % 64 || reinterpret_cast<uintptr_t>(more) % 64)
        ++out[1];
    const uint64_t count = group->end[0] - group->begin[0];
    for (uint64_t i = 0; i < count; ++i)
        scratch[i] = data[group->begin[0] + i];
    *more = 0;
    for (uint64_t i = 0; i < count; ++i)
        *more += scratch[i];
    out[0] += *more;
}

/// out[0] = whether the buffer is null, out[1] = the pointer.
void PI_CALL pointers(const pi_native_group *, void *const *arguments) {
    auto *out = static_cast<uint64_t *>(arguments[2]);
    out[0] = arguments[0] == nullptr;
    out[1] = reinterpret_cast<uintptr_t>(arguments[1]);
}

/// Keeps a thread until the flag is set.
void PI_CALL hold(const pi_native_group *, void *const *arguments) {
    auto &flag = *static_cast<std::atomic<bool> *>(arguments[0]);
    while (!flag)
        std::this_thread::yield();
}

} // namespace

const pi_native_kernel table_kernels[] = {
    {"add", add, 2, 0},           {"inspect", inspect, 1, 0}, {"reduce", reduce, 4, 0},
    {"pointers", pointers, 3, 0}, {"hold", hold, 1, 0},
};
const pi_native_program table = {sizeof table, 5, table_kernels};

} // namespace pi_test

using namespace pi_test;

namespace {

struct Kernels {
    Host host;
    Owned<pi_queue> queue = host.make_queue();
    Owned<pi_program> program = make_program(host);
    Owned<pi_kernel> kernel(const char *name) const { return make_kernel(program, name); }
};

pi_kernel_argument pointer(const void *to) {
    pi_kernel_argument argument{};
    argument.kind = PI_ARGUMENT_POINTER;
    argument.pointer = to;
    return argument;
}

} // namespace

TEST_CASE("every work-item runs once, whatever the geometry") {
    Kernels t;
    const Owned<pi_kernel> add_kernel = t.kernel("add"), inspect_kernel = t.kernel("inspect");
    const uint32_t seed = Catch::rngSeed();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    for (int round = 0; round < 60; ++round) {
        const auto dimensions = static_cast<uint32_t>(1 + random() % 3);
        auto d = launch_desc(add_kernel, 1, nullptr, 0);
        d.dimensions = dimensions;
        uint64_t items = 1, groups = 1;
        const bool choose = random() % 3 == 0;
        for (uint32_t i = 0; i < 3; ++i) {
            d.global_size[i] = i < dimensions ? 1 + random() % (dimensions == 1 ? 5000 : 30) : 999;
            d.global_offset[i] = random() % 4 ? 0 : random() % 1000;
            d.local_size[i] = choose ? 0 : 1 + random() % 9;
            if (i < dimensions) {
                items *= d.global_size[i];
                if (!choose)
                    groups *= (d.global_size[i] + d.local_size[i] - 1) / d.local_size[i];
            }
        }
        std::vector<uint32_t> data(items, 5);
        const Owned<pi_mem> mem = t.host.make_import(data.data(), items * 4);
        const uint32_t summand = 7;
        const pi_kernel_argument arguments[] = {buffer_argument(mem), value_argument(summand)};
        d.arguments = arguments;
        d.argument_count = 2;
        d.flags = random() % 2 ? PI_COMMAND_BLOCKING : 0;
        OK(piEnqueueKernelLaunch(t.queue, &d, 0, nullptr, nullptr));
        OK(piQueueFinish(t.queue));
        REQUIRE(data == std::vector<uint32_t>(items, 12));
        Seen seen;
        const pi_kernel_argument look = pointer(&seen);
        d.kernel = inspect_kernel;
        d.arguments = &look;
        d.argument_count = 1;
        OK(piEnqueueKernelLaunch(t.queue, &d, 0, nullptr, nullptr));
        OK(piQueueFinish(t.queue));
        REQUIRE(seen.wrong == 0);
        REQUIRE(seen.items == items);
        if (!choose)
            REQUIRE(seen.groups == groups);
    }
}

TEST_CASE("each work-group has its own local memory, aligned to 64 bytes") {
    Kernels t;
    std::vector<uint32_t> data(100'000);
    uint64_t expected = 0;
    for (uint32_t i = 0; i < data.size(); ++i)
        expected += data[i] = i * 7;
    std::atomic<uint64_t> out[2] = {};
    const Owned<pi_mem> mem = t.host.make_import(data.data(), data.size() * 4);
    const pi_kernel_argument arguments[] = {buffer_argument(mem), local_argument(100 * 4),
                                            pointer(out), local_argument(8)};
    const Owned<pi_kernel> kernel = t.kernel("reduce");
    auto d = launch_desc(kernel, data.size(), arguments, 4);
    d.local_size[0] = 100;
    OK(piEnqueueKernelLaunch(t.queue, &d, 0, nullptr, nullptr));
    OK(piQueueFinish(t.queue));
    CHECK(out[0] == expected);
    CHECK(out[1] == 0);
}

TEST_CASE("null buffers and addresses arrive unchanged") {
    Kernels t;
    uint64_t out[2] = {};
    const pi_kernel_argument arguments[] = {buffer_argument(nullptr), pointer(&t), pointer(out)};
    const Owned<pi_kernel> kernel = t.kernel("pointers");
    auto d = launch_desc(kernel, 1, arguments, 3);
    OK(piEnqueueKernelLaunch(t.queue, &d, 0, nullptr, nullptr));
    OK(piQueueFinish(t.queue));
    CHECK(out[0] == 1);
    CHECK(out[1] == reinterpret_cast<uintptr_t>(&t));
}

TEST_CASE("an enqueue returns while its kernel still runs") {
    Kernels t;
    std::atomic<bool> flag{false};
    const pi_kernel_argument argument = pointer(&flag);
    const Owned<pi_kernel> kernel = t.kernel("hold");
    const auto d = launch_desc(kernel, 1, &argument, 1);
    Owned<pi_event> event, behind;
    OK(piEnqueueKernelLaunch(t.queue, &d, 0, nullptr, event.out()));
    OK(piEnqueueEventsWait(t.queue, nullptr, 0, nullptr, behind.out()));
    REFUSED(PI_ERROR_TIMEOUT, "not complete", piEventWait(event, 0));
    CHECK(status(behind) == PI_EVENT_QUEUED);
    flag = true;
    OK(piEventWait(behind, patience));
}

TEST_CASE("a bad launch is refused") {
    Kernels t;
    const Owned<pi_kernel> kernel = t.kernel("add");
    const Owned<pi_mem> mem = t.host.make_buffer(4000);
    const uint32_t summand = 1;
    const auto with =
        [&](std::function<void(pi_kernel_launch_desc &, std::array<pi_kernel_argument, 2> &)>
                change) {
            std::array<pi_kernel_argument, 2> arguments = {buffer_argument(mem),
                                                           value_argument(summand)};
            auto d = launch_desc(kernel, 1000, arguments.data(), 2);
            change(d, arguments);
            return piEnqueueKernelLaunch(t.queue, &d, 0, nullptr, nullptr);
        };
    const auto work = [&](auto change) { return with([&](auto &d, auto &) { change(d); }); };
    const auto arg = [&](int index, auto change) {
        return with([&](auto &, auto &a) { change(a[size_t(index)]); });
    };
    REFUSED(PI_ERROR_INVALID_WORK_SIZE, "dimensions is 0", work([](auto &d) { d.dimensions = 0; }));
    REFUSED(PI_ERROR_INVALID_WORK_SIZE, "dimensions is 4", work([](auto &d) { d.dimensions = 4; }));
    REFUSED(PI_ERROR_INVALID_WORK_SIZE, "global_size[0] is 0",
            work([](auto &d) { d.global_size[0] = 0; }));
    REFUSED(PI_ERROR_INVALID_WORK_SIZE, "global_size[1] is 0",
            work([](auto &d) { d.dimensions = 2; }));
    REFUSED(PI_ERROR_INVALID_WORK_SIZE, "64 bits", work([](auto &d) {
                d.dimensions = 2;
                d.global_size[0] = d.global_size[1] = UINT64_C(1) << 33;
            }));
    REFUSED(PI_ERROR_INVALID_WORK_SIZE, "64 bits",
            work([](auto &d) { d.global_offset[0] = UINT64_MAX; }));
    REFUSED(PI_ERROR_INVALID_WORK_SIZE, "at most 65536",
            work([](auto &d) { d.local_size[0] = 65537; }));
    REFUSED(PI_ERROR_INVALID_WORK_SIZE, "at most 65536", work([](auto &d) {
                d.dimensions = 3;
                d.global_size[1] = d.global_size[2] = 4;
                d.local_size[0] = d.local_size[1] = d.local_size[2] = 64;
            }));
    REFUSED(PI_ERROR_INVALID_WORK_SIZE, "set all axes or none", work([](auto &d) {
                d.dimensions = 2;
                d.global_size[1] = 4;
                d.local_size[1] = 2;
            }));
    REFUSED(PI_ERROR_INVALID_WORK_SIZE, "cooperative launch of 4294967296 work-groups",
            work([](auto &d) {
                d.flags = PI_LAUNCH_COOPERATIVE;
                d.global_size[0] = UINT64_C(1) << 32;
                d.local_size[0] = 1;
            }));
    REFUSED(PI_ERROR_INVALID_WORK_SIZE, "groups of at most 65536 together", work([](auto &d) {
                d.flags = PI_LAUNCH_COOPERATIVE;
                d.global_size[0] = UINT64_C(1) << 40;
            }));
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "cluster_size",
            work([](auto &d) { d.cluster_size[0] = 2; }));
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "local_memory_size",
            work([](auto &d) { d.local_memory_size = 64; }));
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "flags", work([](auto &d) { d.flags = 1 << 30; }));
    REFUSED(PI_ERROR_INVALID_KERNEL, "kernel is NULL", work([](auto &d) { d.kernel = nullptr; }));
    REFUSED(PI_ERROR_INVALID_ARGUMENTS, "argument_count is 1; kernel \"add\" has 2",
            work([](auto &d) { d.argument_count = 1; }));
    REFUSED(PI_ERROR_INVALID_NULL_POINTER, "arguments is NULL",
            work([](auto &d) { d.arguments = nullptr; }));
    REFUSED(PI_ERROR_INVALID_ARGUMENTS, "arguments[1].kind is 0",
            arg(1, [](auto &a) { a.kind = 0; }));
    REFUSED(PI_ERROR_INVALID_MEM_OBJECT, "arguments[0] is a buffer; an image is needed",
            arg(0, [](auto &a) { a.kind = PI_ARGUMENT_IMAGE; }));
    REFUSED(PI_ERROR_INVALID_ARGUMENTS, "arguments[1].size is 4; for a sampler",
            arg(1, [](auto &a) { a.kind = PI_ARGUMENT_SAMPLER; }));
    REFUSED(PI_ERROR_INVALID_ARGUMENTS, "arguments[1].value is NULL",
            arg(1, [](auto &a) { a.value = nullptr; }));
    REFUSED(PI_ERROR_INVALID_ARGUMENTS, "arguments[1].size is 0",
            arg(1, [](auto &a) { a.size = 0; }));
    REFUSED(PI_ERROR_INVALID_ARGUMENTS, "arguments[0].offset is 4000", arg(0, [](auto &a) {
                a.offset = 4000;
                a.size = 1;
            }));
    REFUSED(PI_ERROR_INVALID_ARGUMENTS, "arguments[0]", arg(0, [](auto &a) { a.size = 4001; }));
    REFUSED(PI_ERROR_INVALID_ARGUMENTS, "arguments[0]",
            arg(0, [](auto &a) { a.offset = UINT64_MAX; }));
    REFUSED(PI_ERROR_INVALID_ARGUMENTS, "NULL buffer", arg(0, [](auto &a) {
                a.mem = nullptr;
                a.offset = 4;
            }));
    REFUSED(PI_ERROR_INVALID_MEM_OBJECT, "arguments[0] is not a mem", arg(0, [&](auto &a) {
                a.mem = reinterpret_cast<pi_mem>(static_cast<pi_kernel>(kernel));
            }));
    REFUSED(PI_ERROR_INVALID_ARGUMENTS, "arguments[1].size is 0",
            arg(1, [](auto &a) { a = local_argument(0); }));
    REFUSED(PI_ERROR_INVALID_ARGUMENTS, "local memory",
            arg(1, [](auto &a) { a = local_argument(UINT64_C(1) << 40); }));
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "arguments[0].reserved is 1",
            arg(0, [](auto &a) { a.reserved = 1; }));
    OK(with([](auto &, auto &) {}));
    OK(piQueueFinish(t.queue));
}

TEST_CASE("a kernel of another context is refused") {
    Kernels t;
    const Owned<pi_kernel> kernel = t.kernel("inspect");
    const Owned<pi_context> other = make_context(t.host.devices);
    Owned<pi_queue> queue;
    OK(piQueueCreate(other, t.host.device, nullptr, queue.out()));
    Seen seen;
    const pi_kernel_argument argument = pointer(&seen);
    const auto d = launch_desc(kernel, 1, &argument, 1);
    REFUSED(PI_ERROR_INVALID_KERNEL, "another context",
            piEnqueueKernelLaunch(queue, &d, 0, nullptr, nullptr));
}
