// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pools of USM.

#include "usm.hpp"

#include "checks.hpp"
#include "partition.hpp"
#include "registry.hpp"

#include <atomic>
#include <deque>

namespace pi::suite {
namespace {

/// Reports a failure, which the destructor of Usm does not.
void free_all(std::deque<Usm> &live) {
    for (Usm &usm : live)
        usm.free();
    live.clear();
}

std::vector<pi_usm_kind> need_pools(Fixture &fixture) {
    fixture.need(PI_CAPABILITY_USM_POOL, "PI_CAPABILITY_USM_POOL");
    return need_usm(fixture);
}

uint64_t pool_info(pi_usm_pool pool, pi_usm_pool_info name) {
    return get_info<uint64_t>(&piUsmPoolGetInfo, pool, name);
}

const InfoName pool_info_names[] = {
    {PI_USM_POOL_INFO_CONTEXT, "PI_USM_POOL_INFO_CONTEXT", value_of<pi_context>, true},
    {PI_USM_POOL_INFO_RESERVED, "PI_USM_POOL_INFO_RESERVED", value_of<uint64_t>, true},
    {PI_USM_POOL_INFO_USED, "PI_USM_POOL_INFO_USED", value_of<uint64_t>, true},
    {PI_USM_POOL_INFO_REFERENCE_COUNT, "PI_USM_POOL_INFO_REFERENCE_COUNT", value_of<uint32_t>},
};

CONFORMANCE_TEST("memory", "a pool of USM reports its context and how much of it is allocated") {
    for (const pi_usm_kind kind : need_pools(fixture)) {
        const Pool pool = make_pool(fixture.place(), pool_desc(kind));
        check_info(
            "piUsmPoolGetInfo",
            [&](uint32_t name, uint64_t size, void *value, uint64_t *out_size) {
                return piUsmPoolGetInfo(pool, name, size, value, out_size);
            },
            pool_info_names);
        require(get_info<pi_context>(&piUsmPoolGetInfo, pool.get(), PI_USM_POOL_INFO_CONTEXT) ==
                    fixture.context(),
                "a pool is of another context");
        std::deque<Usm> live;
        uint64_t used = 0;
        for (int step = 0; step < 200; ++step) {
            if (live.empty() || fixture.random(0, 2) != 0) {
                live.emplace_back(fixture.place(), from_pool(pool, kind, fixture.random(1, 9000)));
                used += live.back().size();
                require(usm_info<pi_usm_pool>(fixture.context(), live.back().at(),
                                              PI_USM_INFO_POOL) == pool.get(),
                        "memory of a pool reports another pool");
                require(
                    usm_info<pi_device>(fixture.context(), live.back().at(), PI_USM_INFO_DEVICE) ==
                        (kind == PI_USM_HOST ? nullptr : fixture.device()),
                    "memory of a pool reports another device");
            } else {
                used -= live.front().size();
                live.front().free();
                live.pop_front();
            }
            // A pool may round sizes up, but not down.
            require(pool_info(pool, PI_USM_POOL_INFO_USED) >= used, "PI_USM_POOL_INFO_USED is ",
                    pool_info(pool, PI_USM_POOL_INFO_USED), " with ", used, " bytes handed out");
            require(pool_info(pool, PI_USM_POOL_INFO_RESERVED) >=
                        pool_info(pool, PI_USM_POOL_INFO_USED),
                    "a pool has handed out more than it has reserved");
        }
        free_all(live);
        require_equal(pool_info(pool, PI_USM_POOL_INFO_USED), uint64_t{0},
                      "PI_USM_POOL_INFO_USED with nothing handed out");
    }
}

CONFORMANCE_TEST("memory", "memory that a pool reuses has the alignment that is requested now") {
    for (const pi_usm_kind kind : need_pools(fixture)) {
        const Pool pool = make_pool(fixture.place(), pool_desc(kind));
        std::deque<Usm> live;
        for (int step = 0; step < 100; ++step) {
            // Small ones first, which leave blocks of little alignment.
            pi_usm_desc desc = from_pool(pool, kind, 4096);
            desc.alignment = step % 4 == 3 ? uint64_t{1} << fixture.random(7, 12) : 0;
            void *pointer = nullptr;
            const pi_result result =
                piUsmAlloc(fixture.context(), fixture.device(), &desc, &pointer);
            if (desc.alignment != 0 && result == PI_ERROR_INVALID_ALIGNMENT)
                continue; // more than can be honoured
            require_success(result, "piUsmAlloc with an alignment of ", desc.alignment);
            live.emplace_back(fixture.context(), pointer, desc.size);
            require(desc.alignment == 0 ||
                        reinterpret_cast<uintptr_t>(pointer) % desc.alignment == 0,
                    "memory of a pool with an alignment of ", desc.alignment, " is at ", pointer);
            if (live.size() > 3)
                live.pop_front();
        }
    }
}

CONFORMANCE_TEST("memory", "a pool allocates no more than its limit") {
    const uint64_t unit = fixture.at_most(8 << 20) / 8;
    for (const pi_usm_kind kind : need_pools(fixture)) {
        pi_usm_pool_desc desc = pool_desc(kind);
        desc.limit = 8 * unit;
        const Pool pool = make_pool(fixture.place(), desc);
        const auto refused = [&](uint64_t size) {
            const pi_usm_desc asked = from_pool(pool, kind, size);
            require_untouched<void *>(join(size, " bytes beyond a pool's limit"),
                                      {PI_ERROR_OUT_OF_DEVICE_MEMORY}, [&](void **out) {
                                          return piUsmAlloc(fixture.context(), fixture.device(),
                                                            &asked, out);
                                      });
        };
        refused(desc.limit + 1);
        Usm most(fixture.place(), from_pool(pool, kind, 6 * unit));
        refused(3 * unit);
        refused(0 - 5 * unit); // with what is in use it would be less than the limit, modulo 2^64
        require(pool_info(pool, PI_USM_POOL_INFO_USED) < desc.limit,
                "a pool counts what it has refused");
        const Usm rest(fixture.place(), from_pool(pool, kind, 2 * unit)); // that is all
        refused(1);
        most.free();
        const Usm again(fixture.place(), from_pool(pool, kind, 6 * unit));
        const Usm whole(fixture.place(),
                        from_pool(make_pool(fixture.place(), desc), kind, desc.limit));
        desc.limit = 0; // none
        const Usm more(fixture.place(), from_pool(make_pool(fixture.place(), desc), kind,
                                                  fixture.at_most(96 << 20)));
    }
}

CONFORMANCE_TEST("memory", "a pool counts no memory that there is not") {
    for (const pi_usm_kind kind : need_pools(fixture)) {
        pi_usm_pool_desc desc = pool_desc(kind);
        desc.limit = UINT64_MAX;
        const Pool pool = make_pool(fixture.place(), desc);
        for (int round = 0; round < 3; ++round) {
            const pi_usm_desc asked = from_pool(pool, kind, uint64_t{3} << 61);
            require_untouched<void *>(
                "3 * 2^61 bytes of a pool",
                {PI_ERROR_OUT_OF_DEVICE_MEMORY, PI_ERROR_OUT_OF_HOST_MEMORY, PI_ERROR_INVALID_SIZE},
                [&](void **out) {
                    return piUsmAlloc(fixture.context(), fixture.device(), &asked, out);
                });
            for (const pi_usm_pool_info name : {PI_USM_POOL_INFO_USED, PI_USM_POOL_INFO_RESERVED})
                require_equal(pool_info(pool, name), uint64_t{0},
                              join("info ", name, " of a pool after what was refused"));
        }
        const Usm usm(fixture.place(), from_pool(pool, kind, 4096));
    }
}

CONFORMANCE_TEST("memory", "a pool keeps no more for reuse than its threshold") {
    const uint64_t unit = fixture.at_most(36 << 20) / 36; // so many at once
    for (const pi_usm_kind kind : need_pools(fixture)) {
        pi_usm_pool_desc desc = pool_desc(kind);
        desc.release_threshold = 4 * unit;
        const Pool pool = make_pool(fixture.place(), desc);
        std::deque<Usm> live;
        for (uint64_t i = 0; i < 8; ++i)
            live.emplace_back(fixture.place(), from_pool(pool, kind, (i + 1) * unit));
        free_all(live);
        require_equal(pool_info(pool, PI_USM_POOL_INFO_USED), uint64_t{0},
                      "PI_USM_POOL_INFO_USED with nothing handed out");
        require(pool_info(pool, PI_USM_POOL_INFO_RESERVED) <= desc.release_threshold,
                "PI_USM_POOL_INFO_RESERVED is ", pool_info(pool, PI_USM_POOL_INFO_RESERVED),
                " with nothing handed out, and a release_threshold of ", desc.release_threshold);
        const Usm again(fixture.place(), from_pool(pool, kind, 3 * unit));
    }
}

CONFORMANCE_TEST("memory",
                 "a pool's limit and threshold hold while many threads allocate and free") {
    constexpr uint64_t units = 8, unit = 64 * 1024;
    for (const pi_usm_kind kind : need_pools(fixture)) {
        pi_usm_pool_desc desc = pool_desc(kind);
        desc.limit = units * unit;
        desc.release_threshold = 2 * unit;
        const Pool pool = make_pool(fixture.place(), desc);
        std::atomic<uint64_t> live{0}, refusals{0};
        fixture.run_threads(6, [&](unsigned thread) {
            for (unsigned round = 0; round < 200; ++round) {
                const uint64_t count = 1 + (thread + round) % 4;
                const pi_usm_desc asked = from_pool(pool, kind, count * unit);
                void *pointer = nullptr;
                const pi_result result =
                    piUsmAlloc(fixture.context(), fixture.device(), &asked, &pointer);
                if (result != PI_SUCCESS) {
                    require_error(result, PI_ERROR_OUT_OF_DEVICE_MEMORY, "piUsmAlloc of a pool");
                    ++refusals;
                    continue;
                }
                Usm usm(fixture.context(), pointer, asked.size);
                const uint64_t used = live += count;
                require(used <= units, used, " units of a pool are in use, its limit is ", units);
                live -= count;
                usm.free();
            }
        });
        require_equal(pool_info(pool, PI_USM_POOL_INFO_USED), uint64_t{0},
                      "PI_USM_POOL_INFO_USED after all threads have freed");
        require(pool_info(pool, PI_USM_POOL_INFO_RESERVED) <= desc.release_threshold,
                "PI_USM_POOL_INFO_RESERVED is ", pool_info(pool, PI_USM_POOL_INFO_RESERVED),
                " after all threads have freed, the release_threshold is ", desc.release_threshold);
        const Usm whole(fixture.place(), from_pool(pool, kind, desc.limit)); // nothing is lost
    }
}

CONFORMANCE_TEST("memory", "memory of a pool that was not freed is freed with its context") {
    for (const pi_usm_kind kind : need_pools(fixture)) {
        Context other = fixture.make_context({fixture.device()});
        const Place place{fixture.device(), other};
        Pool pool = make_pool(place, pool_desc(kind));
        std::vector<void *> left{Usm(place, from_pool(pool, kind, 4096)).take()};
        if (fixture.can(PI_CAPABILITY_USM_ASYNC)) {
            const Queue queue = fixture.make_queue(place);
            for (const pi_usm_pool of : {pool.get(), pi_usm_pool{}}) {
                auto desc = pi::desc<pi_usm_alloc_desc>();
                desc.pool = of;
                desc.size = 4096;
                void *pointer = nullptr;
                desc.out_pointer = &pointer;
                fixture.wait(fixture.enqueue(queue, desc), "piEnqueueUsmAlloc");
                left.push_back(pointer);
            }
        }
        pool.reset();
        for (void *const pointer : left)
            require(is_live_usm(other, pointer), "new memory is not live");
        other.reset();
        for (void *const pointer : left)
            require(!is_live_usm(fixture.context(), pointer),
                    "memory of a context is live in another");
    }
}

CONFORMANCE_TEST("memory", "a pool's memory outlives the pool's references") {
    const Queue queue = fixture.make_queue();
    for (const pi_usm_kind kind : need_pools(fixture)) {
        Pool pool = make_pool(fixture.place(), pool_desc(kind));
        Usm usm(fixture.place(), from_pool(pool, kind, 5000));
        const Bytes bytes = fixture.random_bytes(5000);
        for (int i = 0; i < 3; ++i)
            require_success(piUsmPoolRetain(pool), "piUsmPoolRetain");
        for (int i = 0; i < 3; ++i)
            require_success(piUsmPoolRelease(pool), "piUsmPoolRelease");
        require(pool_info(pool, PI_USM_POOL_INFO_USED) >= 5000, "a retained and released pool has "
                                                                "forgotten its memory");
        require_success(piUsmPoolRelease(pool.take()), "piUsmPoolRelease");
        require(usm_info<pi_usm_pool>(fixture.context(), usm.at(), PI_USM_INFO_POOL) == nullptr,
                "memory reports a pool that is released");
        usm_upload(fixture, queue, usm.at(), bytes);
        require_usm_contents(fixture, queue, usm.at(), bytes, "memory whose pool is released");
        require_equal(usm_info<uint64_t>(fixture.context(), usm.at(4999), PI_USM_INFO_SIZE),
                      uint64_t{5000}, "the size of memory whose pool is released");
        usm.free();
    }
}

CONFORMANCE_TEST("lifetime", "a pool of USM lives until its last reference is released") {
    const pi_usm_kind kind = need_pools(fixture).front();
    const auto count = [](pi_usm_pool pool) {
        return info_or(&piUsmPoolGetInfo, pool, PI_USM_POOL_INFO_REFERENCE_COUNT, 1u);
    };
    Pool pool = make_pool(fixture.place(), pool_desc(kind));
    require(count(pool) >= 1, "a pool's reference count is 0");
    require_success(piUsmPoolRetain(pool), "piUsmPoolRetain");
    const Pool second(pool.get());
    pool.reset();
    require(count(second) >= 1, "a pool's reference count is 0 after one of two releases");
    const Usm usm(fixture.place(), from_pool(second, kind, 64));
    fixture.run_threads(4, [&](unsigned) {
        for (int i = 0; i < 500; ++i) {
            require_success(piUsmPoolRetain(second), "piUsmPoolRetain");
            require_success(piUsmPoolRelease(second), "piUsmPoolRelease");
        }
    });
    require(pool_info(second, PI_USM_POOL_INFO_USED) >= 64, "a pool has forgotten its memory");
}

CONFORMANCE_TEST("memory", "a pool with an invalid descriptor is refused") {
    const pi_usm_kind kind = need_pools(fixture).front();
    const pi_context context = fixture.context();
    const auto refused = [&](const std::string &what, pi_result error, pi_device device,
                             const pi_usm_pool_desc &desc) {
        require_untouched<pi_usm_pool>(
            "piUsmPoolCreate with " + what, {error},
            [&](pi_usm_pool *out) { return piUsmPoolCreate(context, device, &desc, out); });
    };
    const pi_usm_pool_desc valid = pool_desc(kind);
    pi_usm_pool_desc desc = valid;
    desc.kind = 0;
    refused("kind 0", PI_ERROR_INVALID_ENUMERATION, fixture.device(), desc);
    desc.kind = 9;
    refused("kind 9", PI_ERROR_INVALID_ENUMERATION, fixture.device(), desc);
    desc = valid;
    desc.scope = static_cast<uint32_t>(fixture.scopes().size());
    refused("a scope that is none", PI_ERROR_INVALID_VALUE, fixture.device(), desc);
    for (const pi_usm_kind each : need_usm(fixture))
        if (each != PI_USM_HOST)
            refused("no device", PI_ERROR_INVALID_DEVICE, nullptr, pool_desc(each));
    check_descriptor("piUsmPoolCreate", valid, offsetof(pi_usm_pool_desc, flags),
                     [&](const pi_usm_pool_desc *given) {
                         Pool pool;
                         return piUsmPoolCreate(context, fixture.device(), given, pool.out());
                     });
    require_error(piUsmPoolCreate(context, fixture.device(), &valid, nullptr),
                  PI_ERROR_INVALID_NULL_POINTER, "piUsmPoolCreate with out_pool NULL");
}

CONFORMANCE_TEST("memory", "there are pools only in scopes whose memory a pool may recycle") {
    const std::vector<pi_memory_scope> scopes = fixture.scopes();
    for (const pi_usm_kind kind : need_pools(fixture)) {
        for (uint32_t scope = 0; scope < scopes.size(); ++scope) {
            if (scopes[scope].flags & PI_SCOPE_POOLABLE)
                continue;
            pi_usm_pool_desc desc = pool_desc(kind);
            desc.scope = scope;
            require_untouched<pi_usm_pool>(
                join("a pool of ", name_of_kind(kind), " memory in scope ", scope, " (",
                     scopes[scope].name, "), which is not poolable"),
                {PI_ERROR_UNSUPPORTED_FEATURE}, [&](pi_usm_pool *out) {
                    return piUsmPoolCreate(fixture.context(), fixture.device(), &desc, out);
                });
        }
    }
}

CONFORMANCE_TEST("memory", "memory is allocated only from pools of its kind and context") {
    const std::vector<pi_usm_kind> kinds = need_pools(fixture);
    const Context other = fixture.make_context({fixture.device()});
    const auto refused = [&](const std::string &what, const pi_usm_desc &desc) {
        require_untouched<void *>(what, {PI_ERROR_INVALID_USM_POOL}, [&](void **out) {
            return piUsmAlloc(fixture.context(), fixture.device(), &desc, out);
        });
    };
    for (const pi_usm_kind kind : kinds) {
        const Pool another = make_pool({fixture.device(), other}, pool_desc(kind));
        refused("memory of another context's pool", from_pool(another, kind, 64));
        const Pool pool = make_pool(fixture.place(), pool_desc(kind));
        for (const pi_usm_kind wrong : kinds)
            if (wrong != kind)
                refused(join(name_of_kind(wrong), " memory of a pool of ", name_of_kind(kind)),
                        from_pool(pool, wrong, 64));
    }
}

CONFORMANCE_TEST("memory", "memory is allocated only from pools of its device") {
    const std::vector<pi_usm_kind> kinds = need_pools(fixture);
    const TwoDevices two(fixture);
    const std::vector<pi_device> &pair = two.devices;
    const Context context = fixture.make_context(pair);
    for (const pi_usm_kind kind : kinds) {
        if (kind == PI_USM_HOST)
            continue; // belongs to no device
        const Place own{pair[0], context};
        Pool pool, other;
        const pi_usm_pool_desc described = pool_desc(kind);
        if (piUsmPoolCreate(context, pair[1], &described, other.out()) != PI_SUCCESS)
            continue; // the other device has no such memory
        pool = make_pool(own, described);
        const pi_usm_desc desc = from_pool(other, kind, 64);
        require_untouched<void *>(join(name_of_kind(kind), " memory of another device's pool"),
                                  {PI_ERROR_INVALID_USM_POOL}, [&](void **out) {
                                      return piUsmAlloc(context, pair[0], &desc, out);
                                  });
        const Usm usm(own, from_pool(pool, kind, 64));
        require(usm_info<pi_device>(context, usm.at(), PI_USM_INFO_DEVICE) == pair[0],
                "memory of a pool is of another device");
    }
}

CONFORMANCE_TEST("enqueue",
                 "commands allocate from a pool, which may be released right after the enqueue") {
    fixture.need(PI_CAPABILITY_USM_ASYNC, "PI_CAPABILITY_USM_ASYNC");
    const Queue queue = fixture.make_queue();
    const Context other = fixture.make_context({fixture.device()});
    for (const pi_usm_kind kind : need_pools(fixture)) {
        Pool pool = make_pool(fixture.place(), pool_desc(kind));
        const Pool another = make_pool({fixture.device(), other}, pool_desc(kind));
        void *pointer = poison<void *>();
        auto desc = pi::desc<pi_usm_alloc_desc>();
        desc.size = 4096;
        desc.out_pointer = &pointer;
        desc.pool = another;
        require_untouched<pi_event>(
            "piEnqueueUsmAlloc from another context's pool", {PI_ERROR_INVALID_USM_POOL},
            [&](pi_event *out) { return try_enqueue(queue, desc, {}, out); });
        require(same(pointer, poison<void *>()), "a refused allocation wrote an address");
        desc.pool = pool;
        // A call that fails must not leave an allocation behind.
        require_error(piEnqueueUsmAlloc(queue, &desc, 1, nullptr, nullptr),
                      PI_ERROR_INVALID_WAIT_LIST,
                      "piEnqueueUsmAlloc with a wait_count of 1 and no list");
        require_equal(pool_info(pool, PI_USM_POOL_INFO_USED), uint64_t{0},
                      "PI_USM_POOL_INFO_USED after a refused allocation");
        const Event gate = fixture.make_host_event();
        const Event allocated = fixture.enqueue(queue, desc, {gate});
        require(usm_info<pi_usm_pool>(fixture.context(), pointer, PI_USM_INFO_POOL) == pool.get(),
                "memory of a pool reports another pool");
        require_equal(usm_info<pi_usm_kind>(fixture.context(), pointer, PI_USM_INFO_KIND), kind,
                      "the kind of a pool's memory");
        pool.reset();
        const Bytes pattern = fixture.random_bytes(16);
        const Event filled = fixture.enqueue(queue, usm_fill_desc(pointer, pattern, 4096));
        fixture.signal(gate);
        fixture.wait({allocated, filled}, "allocating from a pool and filling");
        require_usm_contents(fixture, queue, pointer, repeated(pattern, 4096), "a pool's memory");
        auto freeing = pi::desc<pi_usm_free_desc>();
        freeing.pointer = pointer;
        fixture.wait(fixture.enqueue(queue, freeing), "piEnqueueUsmFree");
        require(!is_live_usm(fixture.context(), pointer), "freed memory of a pool is live");
    }
}

CONFORMANCE_TEST(
    "memory",
    "a pool's limit holds for commands, and memory that they free can be allocated again") {
    fixture.need(PI_CAPABILITY_USM_ASYNC, "PI_CAPABILITY_USM_ASYNC");
    const Queue queue = fixture.make_queue();
    for (const pi_usm_kind kind : need_pools(fixture)) {
        pi_usm_pool_desc limited = pool_desc(kind);
        limited.limit = 1u << 20;
        const Pool pool = make_pool(fixture.place(), limited);
        void *pointer = nullptr;
        auto desc = pi::desc<pi_usm_alloc_desc>();
        desc.pool = pool;
        desc.size = limited.limit;
        for (int round = 0; round < 2; ++round) {
            desc.out_pointer = &pointer;
            fixture.wait(fixture.enqueue(queue, desc), "allocating all that a pool may allocate");
            void *more = poison<void *>();
            pi_usm_alloc_desc beyond = desc;
            beyond.size = 1;
            beyond.out_pointer = &more;
            require_untouched<pi_event>(
                "piEnqueueUsmAlloc beyond a pool's limit", {PI_ERROR_OUT_OF_DEVICE_MEMORY},
                [&](pi_event *out) { return try_enqueue(queue, beyond, {}, out); });
            require(same(more, poison<void *>()), "a refused allocation wrote an address");
            auto freeing = pi::desc<pi_usm_free_desc>();
            freeing.pointer = pointer;
            fixture.wait(fixture.enqueue(queue, freeing), "piEnqueueUsmFree");
            require_equal(pool_info(pool, PI_USM_POOL_INFO_USED), uint64_t{0},
                          "PI_USM_POOL_INFO_USED after a command has freed everything");
        }
    }
}

CONFORMANCE_TEST("memory", "a pool serves many threads at once") {
    const pi_usm_kind kind = need_pools(fixture).front();
    const Pool pool = make_pool(fixture.place(), pool_desc(kind));
    fixture.run_threads(6, [&](unsigned thread) {
        for (unsigned round = 0; round < 150; ++round) {
            const uint64_t size = 1 + (thread * 911 + round * 7919) % 20'000;
            Usm usm(fixture.place(), from_pool(pool, kind, size));
            require_equal(usm_info<uint64_t>(fixture.context(), usm.at(size - 1), PI_USM_INFO_SIZE),
                          size, "the size of a thread's own memory of a pool");
            usm.free();
        }
    });
    require_equal(pool_info(pool, PI_USM_POOL_INFO_USED), uint64_t{0},
                  "PI_USM_POOL_INFO_USED after all threads have freed");
}

CONFORMANCE_TEST("memory", "memory that a pool reuses is as large as requested now") {
    for (const pi_usm_kind kind : need_pools(fixture)) {
        for (const uint64_t size : {1u, 63u, 64u, 128u, 256u, 4096u, 65536u, 1u << 20}) {
            const Pool pool = make_pool(fixture.place(), pool_desc(kind));
            Usm(fixture.place(), from_pool(pool, kind, size)).free();
            const Usm larger(fixture.place(), from_pool(pool, kind, size + 1));
            require_equal(usm_info<uint64_t>(fixture.context(), larger.at(), PI_USM_INFO_SIZE),
                          size + 1, "PI_USM_INFO_SIZE");
            const uint64_t used = pool_info(pool, PI_USM_POOL_INFO_USED);
            require(used > size, "PI_USM_POOL_INFO_USED is ", used, " with ", size + 1,
                    " bytes handed out");
            require(pool_info(pool, PI_USM_POOL_INFO_RESERVED) >= used, "a pool that reuses ", size,
                    " bytes for ", size + 1, " has handed out more than it has reserved");
        }
    }
}

CONFORMANCE_TEST("enqueue",
                 "memory that a command allocates from another device's pool is of that device") {
    fixture.need(PI_CAPABILITY_USM_ASYNC, "PI_CAPABILITY_USM_ASYNC");
    const std::vector<pi_usm_kind> kinds = need_pools(fixture);
    const TwoDevices two(fixture);
    const Context context = fixture.make_context(two.devices);
    const Queue queue = fixture.make_queue({two.devices[1], context});
    for (const pi_usm_kind kind : kinds) {
        if (kind == PI_USM_HOST)
            continue; // belongs to no device
        const Pool pool = make_pool({two.devices[0], context}, pool_desc(kind));
        void *pointer = nullptr;
        auto desc = pi::desc<pi_usm_alloc_desc>();
        desc.pool = pool;
        desc.size = 64;
        desc.out_pointer = &pointer;
        Event event;
        const pi_result result = try_enqueue(queue, desc, {}, event.out());
        if (result == PI_ERROR_INVALID_USM_POOL)
            continue; // pools are for queues of their device
        require_success(result, "piEnqueueUsmAlloc from another device's pool");
        const Usm usm(context, pointer, 64);
        fixture.wait(event);
        require(usm_info<pi_device>(context, usm.at(), PI_USM_INFO_DEVICE) == two.devices[0],
                "memory of a pool is of another device than its pool");
    }
}

CONFORMANCE_TEST("memory", "a pool refuses sizes next to 2^64") {
    for (const pi_usm_kind kind : need_pools(fixture)) {
        const Pool pool = make_pool(fixture.place(), pool_desc(kind));
        for (const uint64_t below : {1u, 2u, 63u, 64u, 65u, 4096u}) {
            const pi_usm_desc desc = from_pool(pool, kind, 0 - uint64_t{below});
            require_untouched<void *>(
                join("2^64 - ", below, " bytes of a pool"),
                {PI_ERROR_INVALID_SIZE, PI_ERROR_OUT_OF_DEVICE_MEMORY, PI_ERROR_OUT_OF_HOST_MEMORY},
                [&](void **out) {
                    return piUsmAlloc(fixture.context(), fixture.device(), &desc, out);
                });
        }
        require_equal(pool_info(pool, PI_USM_POOL_INFO_USED), uint64_t{0},
                      "PI_USM_POOL_INFO_USED after refused allocations");
    }
}

} // namespace
} // namespace pi::suite
