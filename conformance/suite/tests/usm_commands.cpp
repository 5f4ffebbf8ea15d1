// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies, fills and hints on USM, compared with a byte array. They are command cases, which the
// tests of all commands use, too.

#include "usm.hpp"

#include "checks.hpp"
#include "registry.hpp"

#include <algorithm>
#include <optional>

namespace pi::suite {
namespace {

// One end of a copy: somewhere in USM of a kind, or plain host memory.
class End {
public:
    End(Fixture &fixture, pi_queue queue, pi_usm_kind kind, const Bytes &bytes)
        : offset_(kind == no_kind ? 0 : fixture.random(0, 40)), size_(bytes.size()) {
        if (kind == no_kind) {
            host_ = bytes;
            return;
        }
        usm_.emplace(fixture, kind, offset_ + size_);
        usm_upload(fixture, queue, usm_->at(offset_), bytes);
    }
    static constexpr pi_usm_kind no_kind = 0;

    void *pointer() { return usm_ ? static_cast<void *>(usm_->at(offset_)) : host_.data(); }
    void require_contents(Fixture &fixture, pi_queue queue, const Bytes &expected,
                          const std::string &what) {
        if (usm_)
            return require_usm_contents(fixture, queue, usm_->at(offset_), expected, what);
        require_same_bytes(host_.data(), expected.data(), size_, what);
    }

private:
    uint64_t offset_;
    uint64_t size_;
    std::optional<Usm> usm_;
    Bytes host_;
};

struct Kinds {
    pi_usm_kind src, dst;
};

// From each kind to each, and to and from plain host memory.
std::vector<Kinds> copies_between(Fixture &fixture) {
    std::vector<pi_usm_kind> ends = need_usm(fixture);
    ends.push_back(End::no_kind);
    std::vector<Kinds> copies;
    for (const pi_usm_kind src : ends)
        for (const pi_usm_kind dst : ends)
            if (src != End::no_kind || dst != End::no_kind)
                copies.push_back({src, dst});
    return copies;
}

std::string name_of(Kinds kinds) {
    const auto name = [](pi_usm_kind kind) {
        return kind == End::no_kind ? "plain host" : name_of_kind(kind);
    };
    return join("a copy from ", name(kinds.src), " to ", name(kinds.dst), " memory");
}

void require_copied(Fixture &fixture, pi_queue queue, Kinds kinds, const Regions &regions,
                    uint64_t src_size, uint64_t dst_size) {
    const Bytes src = fixture.random_bytes(src_size);
    Bytes dst = fixture.random_bytes(dst_size);
    End from(fixture, queue, kinds.src, src);
    End to(fixture, queue, kinds.dst, dst);
    const std::string what =
        join(name_of(kinds), " of ", regions.size(), " regions, one of ", text_of(regions.front()));
    fixture.wait(fixture.enqueue(queue, usm_copy_desc(from.pointer(), to.pointer(), regions)),
                 what);
    apply(regions, src, dst);
    from.require_contents(fixture, queue, src, what + ": the source");
    to.require_contents(fixture, queue, dst, what + ": the destination");
}

CONFORMANCE_TEST("enqueue", "a copy of USM moves every byte of its random regions and no other") {
    const Queue queue = fixture.make_queue();
    for (const Kinds kinds : copies_between(fixture)) {
        for (int round = 0; round < 6; ++round) {
            const uint64_t src_size = fixture.random(1, 6000);
            const uint64_t dst_size = fixture.random(1, 6000);
            const uint64_t count = fixture.random(1, std::min<uint64_t>(dst_size, 12));
            require_copied(fixture, queue, kinds,
                           random_regions(fixture, count, src_size, dst_size), src_size, dst_size);
        }
    }
}

CONFORMANCE_TEST("enqueue", "a copy of USM may have thousands of regions, and many megabytes") {
    const Queue queue = fixture.make_queue();
    const uint64_t size = fixture.at_most(4 << 20) + fixture.random(1, 4095);
    for (const Kinds kinds : copies_between(fixture)) {
        require_copied(fixture, queue, kinds, random_regions(fixture, 2048, 3 * 2048, 3 * 2048),
                       3 * 2048, 3 * 2048);
        require_copied(fixture, queue, kinds,
                       {linear(fixture.random(0, 63), fixture.random(0, 63), size - 64)}, size,
                       size);
    }
}

CONFORMANCE_TEST("enqueue", "the regions of a copy of USM are copied during the call") {
    const Queue queue = fixture.make_queue();
    const Bytes src = fixture.random_bytes(1000);
    Bytes dst = fixture.random_bytes(1000);
    const Usm usm(fixture, any_usm_kind(fixture), 1000);
    usm_upload(fixture, queue, usm.at(), dst);
    Regions regions = random_regions(fixture, 8, 1000, 1000);
    apply(regions, src, dst);
    const Event gate = fixture.make_host_event();
    const Event event =
        fixture.enqueue(queue, usm_copy_desc(src.data(), usm.at(), regions), {gate});
    std::fill(regions.begin(), regions.end(), linear(0, 0, 1000));
    regions.clear();
    regions.shrink_to_fit();
    fixture.signal(gate);
    fixture.wait(event, "a copy whose regions were overwritten");
    require_usm_contents(fixture, queue, usm.at(), dst, "a copy whose regions were overwritten");
}

CONFORMANCE_TEST("enqueue",
                 "a copy within USM is done, or refused where source and destination overlap") {
    constexpr uint64_t size = 300;
    const Queue queue = fixture.make_queue();
    for (const pi_usm_kind kind : need_usm(fixture)) {
        const Usm usm(fixture, kind, size + 2);
        Bytes model = fixture.random_bytes(size + 2);
        usm_upload(fixture, queue, usm.at(), model);
        std::vector<pi_region> regions{linear(0, 149, 150), linear(149, 0, 150), linear(0, 0, size),
                                       linear(0, 150, 150), linear(150, 0, 150)};
        for (int round = 0; round < 30; ++round)
            regions.push_back(random_region(fixture, {0, size}, {0, size}));
        for (const pi_region &region : regions) {
            // Its addresses are two of the allocation, and other regions come before it.
            Regions all(fixture.random(0, 1), linear(size, size + 1, 1));
            all.push_back(region);
            const uint64_t src = fixture.random(0, region.src_offset);
            const uint64_t dst = fixture.random(0, region.dst_offset);
            Regions given = all;
            for (pi_region &each : given) {
                each.src_offset -= src;
                each.dst_offset -= dst;
            }
            const pi_usm_copy_desc desc = usm_copy_desc(usm.at(src), usm.at(dst), given);
            const std::string what = join("a copy within USM from byte ", src, " to byte ", dst,
                                          ", region ", given.size(), ": ", text_of(region));
            if (overlaps(region)) {
                require_untouched<pi_event>(what, {PI_ERROR_MEM_COPY_OVERLAP}, [&](pi_event *out) {
                    return try_enqueue(queue, desc, {}, out);
                });
            } else {
                fixture.wait(fixture.enqueue(queue, desc), what);
                apply(all, Bytes(model), model);
            }
            require_usm_contents(fixture, queue, usm.at(), model, what);
        }
    }
}

template <typename Desc>
void require_refused(pi_queue queue, const std::string &what,
                     std::initializer_list<pi_result> allowed, const Desc &desc) {
    require_untouched<pi_event>(join(Description<Desc>::name, " ", what), allowed,
                                [&](pi_event *out) { return try_enqueue(queue, desc, {}, out); });
}
template <typename Desc>
void require_refused(pi_queue queue, const std::string &what, pi_result error, const Desc &desc) {
    require_refused(queue, what, {error}, desc);
}

CONFORMANCE_TEST("enqueue",
                 "a copy of USM with an invalid descriptor is refused and moves nothing") {
    const Queue queue = fixture.make_queue();
    for (const pi_usm_kind kind : need_usm(fixture)) {
        const Usm usm(fixture, kind, 4096);
        const Bytes before = fixture.random_bytes(4096);
        usm_upload(fixture, queue, usm.at(), before);
        Bytes host(8192), host_before = host;
        const auto refused = [&](const std::string &what, pi_result error, const void *src,
                                 void *dst, const Regions &regions) {
            require_refused(queue, what, error, usm_copy_desc(src, dst, regions));
        };
        const Regions fits{linear(0, 0, 64)};
        refused("of two host pointers", PI_ERROR_INVALID_USM_POINTER, host.data(),
                host.data() + 4096, fits);
        refused("from NULL", PI_ERROR_INVALID_NULL_POINTER, nullptr, usm.at(), fits);
        refused("to NULL", PI_ERROR_INVALID_NULL_POINTER, usm.at(), nullptr, fits);
        refused("past the source's end", PI_ERROR_INVALID_SIZE, usm.at(), host.data(),
                {linear(1, 0, 4096)});
        refused("past the destination's end", PI_ERROR_INVALID_SIZE, host.data(), usm.at(),
                {linear(0, 4096, 1)});
        refused("past the end from within", PI_ERROR_INVALID_SIZE, usm.at(4000), host.data(),
                {linear(0, 0, 97)});
        refused("of a second region past the end", PI_ERROR_INVALID_SIZE, host.data(), usm.at(),
                {linear(0, 0, 64), linear(0, UINT64_MAX - 10, 5)});
        refused("of 0 bytes", PI_ERROR_INVALID_SIZE, host.data(), usm.at(), {linear(0, 0, 0)});
        refused("of no regions", PI_ERROR_INVALID_SIZE, host.data(), usm.at(), {});
        pi_region region = linear(0, 0, 16);
        region.extent[1] = 4;
        region.src_pitch[0] = 15;
        refused("with a pitch less than a row", PI_ERROR_INVALID_SIZE, host.data(), usm.at(),
                {region});
        region = linear(0, 0, 16);
        region.reserved = 1;
        refused("with a region's reserved word", PI_ERROR_UNSUPPORTED_FEATURE, host.data(),
                usm.at(), {region});
        pi_usm_copy_desc desc = usm_copy_desc(host.data(), usm.at(), fits);
        desc.regions = nullptr;
        require_refused(queue, "of a region at NULL", PI_ERROR_INVALID_NULL_POINTER, desc);
        require_usm_contents(fixture, queue, usm.at(), before, "USM after refused copies");
        require(host == host_before, "a refused copy wrote host memory");
    }
}

CONFORMANCE_TEST("enqueue",
                 "a fill of USM repeats patterns of every size, and touches no other byte") {
    const Queue queue = fixture.make_queue();
    for (const pi_usm_kind kind : need_usm(fixture)) {
        pi_usm_desc described = usm_desc(kind, 200'000);
        described.alignment = fixture.scopes().front().min_alignment;
        const Usm usm(fixture.place(), described);
        Bytes model = fixture.random_bytes(usm.size());
        usm_upload(fixture, queue, usm.at(), model);
        const uint64_t first = (128 - reinterpret_cast<uintptr_t>(usm.at()) % 128) % 128;
        for (int round = 0; round < 24; ++round) {
            const uint64_t pattern_size = uint64_t{1} << (round % 8);
            const uint64_t room = (usm.size() - first) / pattern_size;
            const uint64_t from = fixture.random(0, room - 1);
            const uint64_t count =
                fixture.random(1, round < 16 ? std::min<uint64_t>(room - from, 40) : room - from);
            const Bytes pattern = fixture.random_bytes(pattern_size);
            const uint64_t offset = first + from * pattern_size;
            const Bytes filled = repeated(pattern, count * pattern_size);
            fixture.wait(
                fixture.enqueue(queue, usm_fill_desc(usm.at(offset), pattern, filled.size())),
                "a fill of USM");
            std::copy(filled.begin(), filled.end(),
                      model.begin() + static_cast<std::ptrdiff_t>(offset));
            require_usm_contents(fixture, queue, usm.at(), model,
                                 join("USM filled with ", count, " patterns of ", pattern_size,
                                      " bytes at ", offset));
        }
    }
}

CONFORMANCE_TEST("enqueue", "the pattern of a fill of USM is copied during the call") {
    const Queue queue = fixture.make_queue();
    const Usm usm(fixture, any_usm_kind(fixture), 64);
    Bytes pattern = fixture.random_bytes(16);
    const Bytes expected = repeated(pattern, 64);
    const Event gate = fixture.make_host_event();
    const Event event = fixture.enqueue(queue, usm_fill_desc(usm.at(), pattern, 64), {gate});
    std::fill(pattern.begin(), pattern.end(), std::byte{0});
    fixture.signal(gate);
    fixture.wait(event, "a fill whose pattern was overwritten");
    require_usm_contents(fixture, queue, usm.at(), expected,
                         "a fill whose pattern was overwritten");
}

CONFORMANCE_TEST("enqueue",
                 "a fill of USM with an invalid descriptor is refused and changes nothing") {
    const Queue queue = fixture.make_queue();
    const Bytes pattern = fixture.random_bytes(256);
    Bytes host(4096);
    for (const pi_usm_kind kind : need_usm(fixture)) {
        const Usm usm(fixture, kind, 4096);
        const Bytes before = fixture.random_bytes(4096);
        usm_upload(fixture, queue, usm.at(), before);
        const auto refused = [&](const std::string &what, std::initializer_list<pi_result> allowed,
                                 void *pointer, uint64_t pattern_size, uint64_t size) {
            pi_usm_fill_desc desc = usm_fill_desc(pointer, pattern, size);
            desc.pattern_size = pattern_size;
            require_refused(queue, what, allowed, desc);
        };
        // As for buffers, pi.h leaves open which of these codes an invalid pattern has.
        const std::initializer_list<pi_result> pattern_codes{PI_ERROR_INVALID_SIZE,
                                                             PI_ERROR_INVALID_VALUE};
        refused("of host memory", {PI_ERROR_INVALID_USM_POINTER}, host.data(), 4, 64);
        refused("of NULL", {PI_ERROR_INVALID_NULL_POINTER}, nullptr, 4, 64);
        refused("of 0 bytes", {PI_ERROR_INVALID_SIZE}, usm.at(), 4, 0);
        refused("past the end", {PI_ERROR_INVALID_SIZE}, usm.at(64), 4, 4096);
        refused("of half a pattern", pattern_codes, usm.at(), 8, 20);
        for (const uint64_t size : {0, 3, 256})
            refused(join("with a pattern of ", size), pattern_codes, usm.at(), size,
                    size == 0 ? 64 : 3 * 256);
        refused("at half a pattern", {PI_ERROR_MISALIGNED_POINTER}, usm.at(4), 8, 64);
        refused("at an odd byte", {PI_ERROR_MISALIGNED_POINTER}, usm.at(1), 2, 64);
        pi_usm_fill_desc desc = usm_fill_desc(usm.at(), pattern, 64);
        desc.pattern_size = 4;
        desc.pattern = nullptr;
        require_refused(queue, "with a pattern at NULL", PI_ERROR_INVALID_NULL_POINTER, desc);
        require_usm_contents(fixture, queue, usm.at(), before, "USM after refused fills");
    }
}

pi_usm_prefetch_desc prefetch_desc(const void *pointer, uint64_t size) {
    auto desc = pi::desc<pi_usm_prefetch_desc>();
    desc.pointer = pointer;
    desc.size = size;
    return desc;
}

pi_usm_advise_desc advise_desc(const void *pointer, uint64_t size, pi_usm_advice advice) {
    auto desc = pi::desc<pi_usm_advise_desc>();
    desc.pointer = pointer;
    desc.size = size;
    desc.advice = advice;
    return desc;
}

CONFORMANCE_TEST("enqueue", "prefetch and advise change no byte, for any kind and range of USM") {
    const Queue queue = fixture.make_queue();
    for (const pi_usm_kind kind : need_usm(fixture)) {
        const Usm usm(fixture, kind, 50'000);
        const Bytes bytes = fixture.random_bytes(usm.size());
        usm_upload(fixture, queue, usm.at(), bytes);
        for (int round = 0; round < 10; ++round) {
            const uint64_t offset = round == 0 ? 0 : fixture.random(0, usm.size() - 1);
            const uint64_t size = round == 0 ? usm.size() : fixture.random(1, usm.size() - offset);
            pi_usm_prefetch_desc prefetch = prefetch_desc(usm.at(offset), size);
            fixture.wait(fixture.enqueue(queue, prefetch), "a prefetch");
            prefetch.flags = PI_USM_PREFETCH_TO_HOST;
            fixture.wait(fixture.enqueue(queue, prefetch), "a prefetch to the host");
            for (pi_usm_advice advice = PI_USM_ADVICE_READ_MOSTLY; advice <= PI_USM_ADVICE_RESET;
                 ++advice)
                fixture.wait(fixture.enqueue(queue, advise_desc(usm.at(offset), size, advice)),
                             "an advice");
        }
        require_usm_contents(fixture, queue, usm.at(), bytes, "USM after hints");
    }
}

CONFORMANCE_TEST("enqueue", "a prefetch or advise with an invalid descriptor is refused") {
    const Queue queue = fixture.make_queue();
    const Usm usm(fixture, any_usm_kind(fixture), 4096);
    Bytes host(64);
    const auto refused = [&](const std::string &what, pi_result error, const void *pointer,
                             uint64_t size) {
        pi_usm_prefetch_desc prefetch = prefetch_desc(pointer, size);
        require_refused(queue, what, error, prefetch);
        prefetch.flags = PI_USM_PREFETCH_TO_HOST;
        require_refused(queue, what + " to the host", error, prefetch);
        require_refused(queue, what, error, advise_desc(pointer, size, PI_USM_ADVICE_RESET));
    };
    refused("of host memory", PI_ERROR_INVALID_USM_POINTER, host.data(), 64);
    refused("of NULL", PI_ERROR_INVALID_NULL_POINTER, nullptr, 64);
    refused("of 0 bytes", PI_ERROR_INVALID_SIZE, usm.at(), 0);
    refused("past the end", PI_ERROR_INVALID_SIZE, usm.at(4095), 2);
    refused("of 2^64 - 1 bytes", PI_ERROR_INVALID_SIZE, usm.at(16), UINT64_MAX);
    for (const pi_usm_advice advice :
         {pi_usm_advice{0}, pi_usm_advice{PI_USM_ADVICE_RESET + 1}, UINT32_MAX})
        require_refused(queue, join("of advice ", advice), PI_ERROR_INVALID_ENUMERATION,
                        advise_desc(usm.at(), 64, advice));
}

CONFORMANCE_TEST_PAIRS("connection",
                       "commands of a place accept USM of a kind that is unified with it") {
    const Queue here = fixture.make_queue(fixture.dst());
    bool any = false;
    for (const pi_usm_kind kind : need_usm(fixture)) {
        fixture.need(PI_CAPABILITY_USM, "PI_CAPABILITY_USM", fixture.dst().device);
        auto query = pi::desc<pi_memory_connection_query>();
        query.kind = PI_MEMORY_KIND_USM_HOST + kind - PI_USM_HOST;
        auto info = pi::desc<pi_memory_connection_info>();
        const pi_result result =
            piGetMemoryConnectionInfo(fixture.src().device, fixture.src().context,
                                      fixture.dst().device, fixture.dst().context, &query, &info);
        if (result != PI_SUCCESS || info.connection != PI_MEMORY_CONNECTION_UNIFIED)
            continue;
        any = true;
        const Usm there(fixture.src(), usm_desc(kind, 3000));
        Bytes model = fixture.random_bytes(3000);
        usm_upload(fixture, here, there.at(), model);
        const Bytes pattern = fixture.random_bytes(4);
        const Bytes filled = repeated(pattern, 400);
        fixture.wait(fixture.enqueue(here, usm_fill_desc(there.at(800), pattern, 400)));
        std::copy(filled.begin(), filled.end(), model.begin() + 800);
        require_usm_contents(fixture, fixture.make_queue(fixture.src()), there.at(), model,
                             join(name_of_kind(kind), " memory written by another place"));
    }
    if (!any)
        skip("no kind of USM is unified");
}

} // namespace
} // namespace pi::suite
