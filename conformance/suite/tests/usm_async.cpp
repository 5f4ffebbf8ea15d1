// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// USM that is allocated and freed in the order of a queue.

#include "usm.hpp"

#include "checks.hpp"
#include "registry.hpp"

#include <algorithm>

namespace pi::suite {
namespace {

void need_async(Fixture &fixture) {
    need_usm(fixture);
    fixture.need(PI_CAPABILITY_USM_ASYNC, "PI_CAPABILITY_USM_ASYNC");
}

pi_usm_alloc_desc alloc_desc(uint64_t size, void **out_pointer) {
    auto desc = pi::desc<pi_usm_alloc_desc>();
    desc.size = size;
    desc.out_pointer = out_pointer;
    return desc;
}

pi_usm_free_desc free_desc(void *pointer) {
    auto desc = pi::desc<pi_usm_free_desc>();
    desc.pointer = pointer;
    return desc;
}

CONFORMANCE_TEST("enqueue", "later commands may use memory allocated in a queue's order at once") {
    need_async(fixture);
    const Queue queue = fixture.make_queue();
    for (const uint64_t size : {uint64_t{64}, uint64_t{1} << 20, fixture.random(1, 9999) * 16}) {
        const Event gate = fixture.make_host_event();
        void *pointer = nullptr;
        const Event allocated = fixture.enqueue(queue, alloc_desc(size, &pointer), {gate});
        require(pointer != nullptr, "no address was written during the call");
        const Bytes pattern = fixture.random_bytes(16);
        Bytes into(size);
        const Regions regions{linear(0, 0, size)};
        const Event filled = fixture.enqueue(queue, usm_fill_desc(pointer, pattern, size));
        const Event copied = fixture.enqueue(queue, usm_copy_desc(pointer, into.data(), regions));
        const Event freed = fixture.enqueue(queue, free_desc(pointer));
        require(!fixture.is_complete(allocated) && !fixture.is_complete(filled) &&
                    !fixture.is_complete(copied) && !fixture.is_complete(freed),
                "commands are complete before the event that they wait for");
        fixture.signal(gate);
        fixture.wait({allocated, filled, copied, freed},
                     "allocating, filling, copying and freeing");
        require(into == repeated(pattern, size), "memory allocated in a queue's order holds other "
                                                 "bytes than it was filled with");
        require(!is_live_usm(fixture.context(), pointer), "it is live after the command freed it");
    }
}

CONFORMANCE_TEST("enqueue",
                 "memory allocated in a queue's order can be queried and freed at once") {
    need_async(fixture);
    const Queue queue = fixture.make_queue();
    const uint64_t sure = fixture.scopes().front().min_alignment;
    for (const UsmSource &source : need_usm_sources(fixture)) {
        if (!source.pool && source.kind != PI_USM_DEVICE)
            continue; // without a pool a command allocates memory of the kind device
        for (uint64_t alignment = 0; alignment <= 4096;
             alignment = alignment == 0 ? 1 : alignment * 2) {
            void *pointer = nullptr;
            pi_usm_alloc_desc desc = alloc_desc(3000, &pointer);
            desc.alignment = alignment;
            desc.pool = source.pool;
            Event allocated;
            const pi_result result = try_enqueue(queue, desc, {}, allocated.out());
            if (result != PI_SUCCESS) {
                require_error(result, PI_ERROR_INVALID_ALIGNMENT, source.name(),
                              " with an alignment of ", alignment);
                require(alignment > sure, source.name(), " with an alignment of ", alignment,
                        ", the scope has ", sure, ", is refused");
                continue;
            }
            fixture.wait(allocated);
            require(reinterpret_cast<uintptr_t>(pointer) % std::max(alignment, sure) == 0,
                    source.name(), " with an alignment of ", alignment, " is at ", pointer);
            Usm usm(fixture.context(), pointer, desc.size);
            require_reported(fixture, usm, source, usm.at(2999));
            usm.free();
        }
    }
}

CONFORMANCE_TEST("enqueue",
                 "a free by command frees USM of any kind when the command runs, not before") {
    need_async(fixture);
    const Queue queue = fixture.make_queue();
    const Queue other = fixture.make_queue();
    for (const UsmSource &source : need_usm_sources(fixture)) {
        Usm usm(fixture.place(), source.desc(4096));
        const Bytes bytes = fixture.random_bytes(4096);
        usm_upload(fixture, queue, usm.at(), bytes);
        const Event gate = fixture.make_host_event();
        void *const pointer = usm.at();
        const Event freed = fixture.enqueue(queue, free_desc(usm.take()), {gate});
        require(is_live_usm(fixture.context(), pointer), "USM is freed before the command runs");
        require_usm_contents(fixture, other, pointer, bytes, "USM that is to be freed");
        require_error(piUsmFree(fixture.context(), pointer), PI_ERROR_INVALID_USM_POINTER,
                      "piUsmFree of what a command will free");
        require_untouched<pi_event>(
            "piEnqueueUsmFree of what a command will free", {PI_ERROR_INVALID_USM_POINTER},
            [&](pi_event *out) { return try_enqueue(other, free_desc(pointer), {}, out); });
        fixture.signal(gate);
        fixture.wait(freed, "piEnqueueUsmFree");
        require(!is_live_usm(fixture.context(), pointer), "USM is live after the command freed it");
    }
    fixture.wait(fixture.enqueue(queue, free_desc(nullptr)), "piEnqueueUsmFree of NULL");
}

CONFORMANCE_TEST("enqueue", "a free of NULL is a command, which waits for its events and fails "
                            "with them") {
    need_async(fixture);
    const Queue other = fixture.make_queue();
    for (const pi_result signalled : {PI_SUCCESS + 0, PI_ERROR_BACKEND + 0}) {
        const Queue queue = fixture.make_queue();
        const Event gate = fixture.make_host_event();
        const Event freed = fixture.enqueue(queue, free_desc(nullptr), {gate});
        require_success(piQueueFlush(queue), "piQueueFlush");
        for (int i = 0; i < 3; ++i) // long enough for a command that waits for nothing
            fixture.wait(fixture.barrier(other));
        require(!fixture.is_complete(freed), "a free of NULL did not wait for its event");
        fixture.signal(gate, signalled);
        fixture.require_result(freed,
                               signalled == PI_SUCCESS ? PI_SUCCESS : PI_ERROR_DEPENDENCY_FAILED,
                               "the result of a free of NULL");
    }
}

CONFORMANCE_TEST("enqueue", "a free whose wait list fails frees nothing; an allocation whose wait "
                            "list fails keeps its memory") {
    need_async(fixture);
    const Queue queue = fixture.make_queue();
    const Event gate = fixture.make_host_event();
    Usm usm(fixture, any_usm_kind(fixture), 256);
    void *pointer = nullptr;
    const Event freed = fixture.enqueue(queue, free_desc(usm.at()), {gate});
    const Event allocated = fixture.enqueue(queue, alloc_desc(256, &pointer), {gate});
    fixture.signal(gate, PI_ERROR_BACKEND);
    fixture.require_result(freed, PI_ERROR_DEPENDENCY_FAILED,
                           "the result of a free that waits for a failed event");
    fixture.require_result(allocated, PI_ERROR_DEPENDENCY_FAILED,
                           "the result of an allocation that waits for a failed event");
    Usm late(fixture.context(), pointer, 256);
    for (Usm *one : {&usm, &late}) {
        const Bytes bytes = fixture.random_bytes(256);
        usm_upload(fixture, queue, one->at(), bytes);
        require_usm_contents(fixture, queue, one->at(), bytes, "USM after a failed wait list");
        one->free();
    }
}

CONFORMANCE_TEST(
    "enqueue",
    "an allocation by command with an invalid descriptor is refused and writes no address") {
    need_async(fixture);
    const Queue queue = fixture.make_queue();
    const auto refused = [&](const std::string &what, std::initializer_list<pi_result> allowed,
                             auto &&change) {
        void *pointer = poison<void *>();
        pi_usm_alloc_desc desc = alloc_desc(256, &pointer);
        change(desc);
        require_untouched<pi_event>("piEnqueueUsmAlloc " + what, allowed, [&](pi_event *out) {
            return try_enqueue(queue, desc, {}, out);
        });
        require(same(pointer, poison<void *>()), "piEnqueueUsmAlloc ", what,
                ": failed, but wrote an address");
    };
    using Desc = pi_usm_alloc_desc;
    refused("of 0 bytes", {PI_ERROR_INVALID_SIZE}, [](Desc &desc) { desc.size = 0; });
    refused("of 2^64 - 1 bytes",
            {PI_ERROR_OUT_OF_DEVICE_MEMORY, PI_ERROR_OUT_OF_HOST_MEMORY, PI_ERROR_INVALID_SIZE},
            [](Desc &desc) { desc.size = UINT64_MAX; });
    for (const UsmSource &source : need_usm_sources(fixture))
        for (const uint64_t alignment : {uint64_t{48}, uint64_t{1} << 63})
            refused(join("of ", source.name(), " with an alignment of ", alignment),
                    {PI_ERROR_INVALID_ALIGNMENT}, [&](Desc &desc) {
                        desc.pool = source.pool;
                        desc.alignment = alignment;
                    });
    refused("from a queue as its pool", {PI_ERROR_INVALID_USM_POOL},
            [&](Desc &desc) { desc.pool = reinterpret_cast<pi_usm_pool>(queue.get()); });
    refused("to NULL", {PI_ERROR_INVALID_NULL_POINTER},
            [](Desc &desc) { desc.out_pointer = nullptr; });
    void *pointer = poison<void *>();
    const pi_usm_alloc_desc desc = alloc_desc(256, &pointer);
    require_error(piEnqueueUsmAlloc(queue, &desc, 1, nullptr, nullptr), PI_ERROR_INVALID_WAIT_LIST,
                  "piEnqueueUsmAlloc with a wait_count of 1 and no list");
    require(same(pointer, poison<void *>()), "piEnqueueUsmAlloc: failed, but wrote an address");
    check_descriptor("piEnqueueUsmAlloc", desc, offsetof(Desc, flags), [&](const Desc *given) {
        const pi_result result = piEnqueueUsmAlloc(queue, given, 0, nullptr, nullptr);
        if (result == PI_SUCCESS) {
            require_success(piQueueFinish(queue), "piQueueFinish");
            require_success(piUsmFree(fixture.context(), pointer), "piUsmFree");
        }
        return result;
    });
}

CONFORMANCE_TEST(
    "enqueue",
    "a free by command accepts only the first address of live USM of the queue's context") {
    need_async(fixture);
    const Queue queue = fixture.make_queue();
    const Context context = fixture.make_context({fixture.device()});
    const Queue another = fixture.make_queue({fixture.device(), context});
    Bytes host(64);
    const auto refused = [&](const std::string &what, pi_queue on, void *pointer) {
        require_untouched<pi_event>(
            "piEnqueueUsmFree of " + what, {PI_ERROR_INVALID_USM_POINTER},
            [&](pi_event *out) { return try_enqueue(on, free_desc(pointer), {}, out); });
    };
    refused("host memory", queue, host.data());
    for (const UsmSource &source : need_usm_sources(fixture)) {
        const Usm usm(fixture.place(), source.desc(256));
        refused("an address within " + source.name(), queue, usm.at(16));
        refused("another context's " + source.name(), another, usm.at());
        const pi_usm_free_desc desc = free_desc(usm.at());
        require_error(piEnqueueUsmFree(queue, &desc, 1, nullptr, nullptr),
                      PI_ERROR_INVALID_WAIT_LIST,
                      "piEnqueueUsmFree with a wait_count of 1 and no list");
        require(is_live_usm(fixture.context(), usm.at(255)), "a refused free has freed USM");
    }
    const pi_usm_free_desc nothing = free_desc(nullptr);
    check_descriptor("piEnqueueUsmFree", nothing, offsetof(pi_usm_free_desc, flags),
                     [&](const pi_usm_free_desc *given) {
                         return piEnqueueUsmFree(queue, given, 0, nullptr, nullptr);
                     });
}

CONFORMANCE_TEST("enqueue", "threads allocate, use and free in the order of their queues") {
    need_async(fixture);
    std::vector<Queue> queues;
    for (int i = 0; i < 5; ++i)
        queues.push_back(fixture.make_queue());
    fixture.run_threads(5, [&](unsigned thread) {
        const Queue &queue = queues[thread];
        for (unsigned round = 0; round < 60; ++round) {
            const uint64_t size = 16 * (1 + (thread * 31 + round * 17) % 900);
            const Bytes pattern(16, static_cast<std::byte>(thread * 60 + round));
            Bytes into(size);
            const Regions regions{linear(0, 0, size)};
            void *pointer = nullptr;
            const Event allocated = fixture.enqueue(queue, alloc_desc(size, &pointer));
            const Event filled = fixture.enqueue(queue, usm_fill_desc(pointer, pattern, size));
            const Event copied =
                fixture.enqueue(queue, usm_copy_desc(pointer, into.data(), regions));
            fixture.wait(fixture.enqueue(queue, free_desc(pointer)));
            fixture.wait(copied);
            require(into == repeated(pattern, size), "a thread's own memory holds other bytes");
        }
    });
}

} // namespace
} // namespace pi::suite
