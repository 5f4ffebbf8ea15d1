// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Properties of the cuda plugin's USM that the conformance suite cannot see: pools of the driver,
// access, pins.
#include "plugin_fixture.hpp"

#include "fixture.hpp"
#include "growing_pool.hpp"
#include "program.hpp"

#include <cstdlib>
#include <memory>

using namespace cuda_test;
using pi_cuda_test::cu;

namespace {

/// USM that is freed at the end of the block.
class Usm {
public:
    Usm(const Machine &machine, size_t device, pi_usm_kind kind, uint64_t size)
        : context_(machine.context) {
        auto d = pi::desc<pi_usm_desc>();
        d.kind = kind;
        d.size = size;
        OK(piUsmAlloc(context_, machine.devices[device], &d, &pointer));
    }
    /// Allocates with a command on the queue, from the default pool.
    Usm(const Machine &machine, pi_queue queue, uint64_t size) : context_(machine.context) {
        auto d = pi::desc<pi_usm_alloc_desc>();
        d.flags = PI_COMMAND_BLOCKING;
        d.size = size;
        d.out_pointer = &pointer;
        OK(piEnqueueUsmAlloc(queue, &d, 0, nullptr, nullptr));
    }
    Usm(const Usm &) = delete;
    ~Usm() {
        if (pointer)
            piUsmFree(context_, pointer);
    }
    void free(pi_queue queue) {
        auto d = pi::desc<pi_usm_free_desc>();
        d.flags = PI_COMMAND_BLOCKING;
        d.pointer = std::exchange(pointer, nullptr);
        OK(piEnqueueUsmFree(queue, &d, 0, nullptr, nullptr));
    }
    void *pointer = nullptr;

private:
    const pi_context context_;
};

constexpr uint32_t pattern = 0x5eed;

pi_result fill(pi_queue queue, void *pointer, uint64_t size) {
    auto d = pi::desc<pi_usm_fill_desc>();
    d.flags = PI_COMMAND_BLOCKING;
    d.pointer = pointer;
    d.pattern = &pattern;
    d.pattern_size = sizeof pattern;
    d.size = size;
    return piEnqueueUsmFill(queue, &d, 0, nullptr, nullptr);
}

pi_result copy(pi_queue queue, const void *src, void *dst, const pi_region &region) {
    auto d = pi::desc<pi_usm_copy_desc>();
    d.flags = PI_COMMAND_BLOCKING;
    d.src = src;
    d.dst = dst;
    d.region_count = 1;
    d.regions = &region;
    return piEnqueueUsmCopy(queue, &d, 0, nullptr, nullptr);
}

std::vector<uint32_t> read(pi_queue queue, const void *src, size_t count) {
    std::vector<uint32_t> words(count);
    OK(copy(queue, src, words.data(), range(0, 0, count * sizeof(uint32_t))));
    return words;
}

constexpr uint64_t size = 4096;
const std::vector<uint32_t> filled(size / 4, pattern);

} // namespace

TEST_CASE("peer access includes a device's pools, also those that have memory already") {
    const Machine machine;
    const Owned<pi_queue> here = machine.queue(first), there = machine.queue(second);
    const Usm early(machine, there, size);
    REQUIRE(machine.connection(second, first).connection == PI_MEMORY_CONNECTION_UNIFIED);
    const Usm late(machine, there, size), plain(machine, second, PI_USM_DEVICE, size);
    for (const Usm *usm : {&early, &late, &plain}) {
        OK(fill(here, usm->pointer, size));
        CHECK(read(there, usm->pointer, size / 4) == filled);
    }
}

TEST_CASE("USM of a device without peer access is refused, but copied by queues of either end") {
    const Machine machine;
    const Owned<pi_queue> here = machine.queue(first), there = machine.queue(lone),
                          neither = machine.queue(second);
    const Usm near(machine, first, PI_USM_DEVICE, size), far(machine, lone, PI_USM_DEVICE, size);
    REFUSED(PI_ERROR_INVALID_USM_POINTER, "UNIFIED", fill(here, far.pointer, size));
    std::vector<uint32_t> words(size / 4);
    REFUSED(PI_ERROR_INVALID_USM_POINTER, "src",
            copy(here, far.pointer, words.data(), range(0, 0, size)));
    const Owned<pi_program> program = machine.program(count_up);
    const Owned<pi_kernel> kernel = make_kernel(program, "count_up");
    const uint32_t from = 1;
    pi_kernel_argument pointer{};
    pointer.kind = PI_ARGUMENT_POINTER;
    pointer.pointer = far.pointer;
    const std::vector arguments{pointer, value_argument(from)};
    const auto launch = launch_desc(kernel, arguments, 16);
    REFUSED(PI_ERROR_INVALID_USM_POINTER, "arguments[0].pointer",
            piEnqueueKernelLaunch(here, &launch, 0, nullptr, nullptr));
    OK(fill(there, far.pointer, size));
    pi_region boxes = range(0, 0, 100);
    boxes.extent[1] = 10;
    boxes.src_pitch[0] = boxes.dst_pitch[0] = 400;
    OK(fill(here, near.pointer, size));
    REFUSED(PI_ERROR_INVALID_USM_POINTER, "UNIFIED",
            copy(neither, far.pointer, near.pointer, boxes));
    for (const pi_queue queue : std::initializer_list<pi_queue>{here, there}) {
        OK(copy(queue, far.pointer, near.pointer, boxes));
        OK(copy(queue, far.pointer, near.pointer, range(0, 0, size)));
        CHECK(read(here, near.pointer, size / 4) == filled);
    }
}

TEST_CASE("USM is allocated and freed by commands while the device is busy") {
    const Machine machine({first});
    const Owned<pi_queue> queue = machine.queue();
    const pi_cuda_test::Current current(first); // the context that the plugin uses
    const pi_cuda_test::Stream busy;
    const pi_cuda_test::Gate gate(busy.handle);
    // The device has 64 MiB: if frees waited for the device, the third allocation would wait for
    // ever.
    for (int round = 0; round < 10; ++round) {
        Usm usm(machine, queue, 24 << 20);
        OK(fill(queue, usm.pointer, size));
        CHECK(read(queue, usm.pointer, size / 4) == filled);
        usm.free(queue);
    }
}

TEST_CASE("an allocation command that does not fit reports the requested and the free size") {
    const Machine machine({first});
    const Owned<pi_queue> queue = machine.queue();
    const Usm most(machine, first, PI_USM_DEVICE, 48 << 20);
    auto d = pi::desc<pi_usm_alloc_desc>();
    void *pointer = nullptr;
    d.size = 48 << 20;
    d.out_pointer = &pointer;
    REFUSED(PI_ERROR_OUT_OF_DEVICE_MEMORY, "48 MiB requested, 16 MiB of 64 MiB free on first",
            piEnqueueUsmAlloc(queue, &d, 0, nullptr, nullptr));
}

TEST_CASE("pages stay pinned from the first registration to the last, imports included") {
    const Machine machine({first, second});
    constexpr uint64_t page = 4096;
    const std::unique_ptr<std::byte, void (*)(void *)> memory(
        static_cast<std::byte *>(std::aligned_alloc(page, 8 * page)), std::free);
    const auto at = [&](uint64_t offset) { return memory.get() + offset; };
    const pi_cuda_test::Current current(first);
    const auto pinned = [&](uint64_t index) {
        const auto code = cu().cuMemHostRegister_v2(at(index * page), page, 0);
        if (code == pi_cuda_test::CUDA_SUCCESS)
            cu().cuMemHostUnregister(at(index * page));
        else
            REQUIRE(code == pi_cuda_test::CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
        return code != pi_cuda_test::CUDA_SUCCESS;
    };
    const auto all_pinned = [&] {
        std::string all;
        for (uint64_t i = 0; i < 8; ++i)
            all += pinned(i) ? 'x' : '.';
        return all;
    };
    Owned<pi_mem> imported;
    auto d = pi::desc<pi_mem_import_desc>();
    d.size = page;
    d.offset = 3 * page;
    d.handle.type = PI_EXTERNAL_HOST_POINTER;
    d.handle.pointer = memory.get();
    OK(piMemImport(machine.context, machine.devices[first], &d, imported.out()));
    CHECK(all_pinned() == "...x....");
    OK(piUsmHostRegister(machine.context, at(page + 7), 4 * page, 0));
    CHECK(all_pinned() == ".xxxxx..");
    OK(piUsmHostRegister(machine.context, at(5 * page + 1), page + 1, 0));
    CHECK(all_pinned() == ".xxxxxx.");
    imported.reset();
    CHECK(all_pinned() == ".xxxxxx.");
    // An import must lie in one pinned range.
    d.offset = 5 * page;
    d.size = 2 * page;
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "no byte is pinned twice",
            piMemImport(machine.context, machine.devices[first], &d, imported.out()));
    OK(piUsmHostUnregister(machine.context, at(page + 7)));
    CHECK(all_pinned().substr(0, 4) == "....");
    CHECK(all_pinned().substr(5) == "xx.");
    OK(piUsmHostUnregister(machine.context, at(5 * page + 1)));
    CHECK(all_pinned() == "........");
}

TEST_CASE("connections of USM depend on its kind: DEVICE as buffers, the rest for all devices") {
    const Machine machine; // PI_SIMULATED_CUDA_MAX_PEERS=1
    const auto info = [&](size_t src, size_t dst, pi_memory_kind kind, uint32_t scope = 0) {
        auto query = pi::desc<pi_memory_connection_query>();
        query.kind = kind;
        query.src_scope = scope;
        auto answer = pi::desc<pi_memory_connection_info>();
        OK(piGetMemoryConnectionInfo(machine.devices[src], machine.context, machine.devices[dst],
                                     machine.context, &query, &answer));
        return answer;
    };
    for (const pi_memory_kind kind : {PI_MEMORY_KIND_USM_HOST, PI_MEMORY_KIND_USM_SHARED}) {
        CHECK(info(lone, first, kind).connection == PI_MEMORY_CONNECTION_UNIFIED);
        CHECK(info(lone, first, kind, 1).connection == PI_MEMORY_CONNECTION_NONE);
    }
    CHECK(info(lone, first, PI_MEMORY_KIND_USM_SHARED).residency ==
          PI_RESIDENCY_MIGRATES_WHOLE_OBJECT);
    CHECK(info(lone, first, PI_MEMORY_KIND_USM_HOST).residency == PI_RESIDENCY_REMOTE_ACCESS);
    const pi_memory_kind own = PI_MEMORY_KIND_USM_DEVICE;
    CHECK(info(first, first, own).connection == PI_MEMORY_CONNECTION_UNIFIED);
    CHECK(info(second, first, own).connection == PI_MEMORY_CONNECTION_UNIFIED);
    const auto refused = info(third, first, own);
    CHECK(refused.connection == PI_MEMORY_CONNECTION_MIGRATABLE);
    CHECK_THAT(refused.reason, Catch::Contains("CUDA_ERROR_TOO_MANY_PEERS"));
    CHECK(info(lone, first, own).connection == PI_MEMORY_CONNECTION_MIGRATABLE);
}

TEST_CASE("memory that pools keep for reuse does not make allocations fail") {
    const Machine machine;
    const auto code_of = [&](pi_context context, uint64_t bytes) {
        auto d = pi::desc<pi_mem_buffer_desc>();
        d.size = bytes;
        Owned<pi_mem> mem;
        return piMemBufferCreate(context, machine.devices[first], &d, mem.out());
    };
    constexpr uint64_t most = 60 << 20; // of 64 MiB
    const GrowingPool pool(machine.context, machine.devices[first]);
    CHECK(pool.reserved() > 0);
    SECTION("a buffer") {
        CHECK(code_of(machine.context, most) == PI_SUCCESS);
        CHECK(pool.reserved() == 0);
    }
    SECTION("a buffer of another context") {
        const Owned<pi_context> other = machine.make_context({first});
        CHECK(code_of(other, most) == PI_SUCCESS);
    }
    SECTION("USM without a pool") {
        const Usm usm(machine, first, PI_USM_DEVICE, most);
    }
    SECTION("another pool") {
        const GrowingPool other(machine.context, machine.devices[first]);
    }
    SECTION("another device's is not released") {
        const uint64_t before = pool.reserved();
        const GrowingPool other(machine.context, machine.devices[second]);
        CHECK(pool.reserved() == before);
    }
}
