// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// USM as memory: addresses, queries of an address, lifetime.

#include "usm.hpp"

#include "checks.hpp"
#include "partition.hpp"
#include "registry.hpp"

#include <map>

namespace pi::suite {
namespace {

const InfoName usm_info_names[] = {
    {PI_USM_INFO_KIND, "PI_USM_INFO_KIND", value_of<pi_usm_kind>, true},
    {PI_USM_INFO_BASE, "PI_USM_INFO_BASE", value_of<void *>, true},
    {PI_USM_INFO_SIZE, "PI_USM_INFO_SIZE", value_of<uint64_t>, true},
    {PI_USM_INFO_DEVICE, "PI_USM_INFO_DEVICE", value_of<pi_device>, true},
    {PI_USM_INFO_POOL, "PI_USM_INFO_POOL", value_of<pi_usm_pool>, true},
};

CONFORMANCE_TEST("memory", "any address inside USM reports its allocation") {
    for (const UsmSource &source : need_usm_sources(fixture)) {
        for (const uint64_t size : {uint64_t{1}, uint64_t{4096}, fixture.random(2, 100'000)}) {
            const Usm usm(fixture.place(), source.desc(size));
            const std::byte *inside = usm.at(fixture.random(0, size - 1));
            for (const std::byte *address : {static_cast<const std::byte *>(usm.at()), inside,
                                             static_cast<const std::byte *>(usm.at(size - 1))})
                require_reported(fixture, usm, source, address);
            void *base = nullptr;
            const pi_result behind = piUsmGetInfo(fixture.context(), usm.at(size), PI_USM_INFO_BASE,
                                                  sizeof base, &base, nullptr);
            if (behind != PI_SUCCESS)
                require_error(behind, PI_ERROR_INVALID_USM_POINTER, "the byte behind USM");
            require(base != usm.at(), "the byte behind ", size,
                    " bytes of USM is reported as one of them");
            check_info(
                "piUsmGetInfo",
                [&](uint32_t name, uint64_t room, void *value, uint64_t *out_size) {
                    return piUsmGetInfo(fixture.context(), inside, name, room, value, out_size);
                },
                usm_info_names);
        }
    }
}

CONFORMANCE_TEST("memory", "USM of the kind host needs no device, other kinds do") {
    for (const UsmSource &source : need_usm_sources(fixture)) {
        const pi_usm_desc desc = source.desc(256);
        const pi_context context = fixture.context();
        if (source.kind == PI_USM_HOST) {
            const Usm usm(Place{nullptr, context}, desc);
            require_reported(fixture, usm, source, usm.at(255));
        } else {
            require_untouched<void *>(
                "USM without a device", {PI_ERROR_INVALID_DEVICE},
                [&](void **out) { return piUsmAlloc(context, nullptr, &desc, out); });
        }
        const SeveralDevices devices(fixture);
        for (std::size_t i = 1; i < devices.size(); ++i)
            require_untouched<void *>(
                "USM of a device that is not of the context", {PI_ERROR_INVALID_DEVICE},
                [&](void **out) { return piUsmAlloc(context, devices[i], &desc, out); });
        require_untouched<void *>(
            "USM of a device that is a queue", {PI_ERROR_INVALID_DEVICE}, [&](void **out) {
                const Queue queue = fixture.make_queue();
                return piUsmAlloc(context, reinterpret_cast<pi_device>(queue.get()), &desc, out);
            });
    }
}

CONFORMANCE_TEST("memory", "a requested alignment of USM is honoured or refused") {
    const uint64_t sure = fixture.scopes().front().min_alignment;
    for (const UsmSource &source : need_usm_sources(fixture)) {
        for (uint64_t alignment = 0; alignment <= 2u << 20;
             alignment = alignment == 0 ? 1 : alignment * 2) {
            pi_usm_desc desc = source.desc(fixture.random(1, 5000));
            desc.alignment = alignment;
            void *pointer = nullptr;
            const pi_result result =
                piUsmAlloc(fixture.context(), fixture.device(), &desc, &pointer);
            if (result != PI_SUCCESS) {
                require_error(result, PI_ERROR_INVALID_ALIGNMENT, "an alignment of ", alignment);
                require(alignment > sure, "an alignment of ", alignment, ", the scope has ", sure,
                        ", is refused");
                continue;
            }
            const Usm usm(fixture.context(), pointer, desc.size);
            require(reinterpret_cast<uintptr_t>(pointer) % std::max(alignment, sure) == 0,
                    source.name(), " with an alignment of ", alignment, " is at ", pointer);
        }
        for (const uint64_t alignment : {uint64_t{3}, uint64_t{48}, UINT64_MAX}) {
            pi_usm_desc desc = source.desc(64);
            desc.alignment = alignment;
            require_untouched<void *>(join(source.name(), " with an alignment of ", alignment),
                                      {PI_ERROR_INVALID_ALIGNMENT}, [&](void **out) {
                                          return piUsmAlloc(fixture.context(), fixture.device(),
                                                            &desc, out);
                                      });
        }
    }
}

// Many allocations that come and go; a query of each address returns the right allocation, or none.
class Crowd {
public:
    explicit Crowd(Fixture &fixture)
        : fixture_(fixture), sources_(need_usm_sources(fixture)), queue_(fixture.make_queue()) {}

    void add() {
        const UsmSource &source = sources_[fixture_.random(0, sources_.size() - 1)];
        pi_usm_desc desc = source.desc(fixture_.random(1, 3000));
        desc.alignment = uint64_t{1} << fixture_.random(0, 6);
        Usm usm(fixture_.place(), desc);
        require(reinterpret_cast<uintptr_t>(usm.at()) % desc.alignment == 0, source.name(),
                " with an alignment of ", desc.alignment, " is at ", static_cast<void *>(usm.at()));
        const Bytes bytes = fixture_.random_bytes(usm.size());
        usm_upload(fixture_, queue_, usm.at(), bytes);
        const auto next = live_.lower_bound(usm.at());
        require(next == live_.end() || usm.at() + usm.size() <= next->first,
                "an allocation runs into the one behind it");
        require(next == live_.begin() ||
                    std::prev(next)->first + std::prev(next)->second.usm.size() <= usm.at(),
                "an allocation begins within the one before it");
        const std::byte *const begin = usm.at();
        live_.emplace(begin, Member{std::move(usm), &source, bytes});
    }
    void remove() {
        const auto member = pick();
        check(member->second);
        const std::byte *begin = member->first;
        const uint64_t size = member->second.usm.size();
        member->second.usm.free();
        live_.erase(member);
        require(!is_live_usm(fixture_.context(), begin), "freed USM is live, by its begin");
        require(!is_live_usm(fixture_.context(), begin + size - 1),
                "freed USM is live, by its end");
    }
    void check_any() { check(pick()->second); }
    std::size_t size() const { return live_.size(); }

private:
    struct Member {
        Usm usm;
        const UsmSource *source;
        Bytes bytes;
    };
    std::map<const std::byte *, Member>::iterator pick() {
        return std::next(live_.begin(),
                         static_cast<std::ptrdiff_t>(fixture_.random(0, live_.size() - 1)));
    }
    void check(const Member &member) {
        const uint64_t offset = fixture_.random(0, member.usm.size() - 1);
        require_reported(fixture_, member.usm, *member.source, member.usm.at(offset));
        require_usm_contents(fixture_, queue_, member.usm.at(), member.bytes,
                             "an allocation among many");
    }

    Fixture &fixture_;
    std::vector<UsmSource> sources_;
    Queue queue_;
    std::map<const std::byte *, Member> live_;
};

CONFORMANCE_TEST("memory", "allocations of USM come and go without touching each other") {
    Crowd crowd(fixture);
    for (int step = 0; step < 400; ++step) {
        const uint64_t choice = fixture.random(0, 9);
        if (choice < 5 || crowd.size() == 0)
            crowd.add();
        else if (choice < 8)
            crowd.remove();
        else
            crowd.check_any();
    }
}

CONFORMANCE_TEST("memory", "the host may access host and shared USM once events order it") {
    const Queue queue = fixture.make_queue();
    for (const pi_usm_kind kind : need_usm(fixture)) {
        if (kind == PI_USM_DEVICE)
            continue;
        const Usm usm(fixture, kind, 5000);
        const Bytes bytes = fixture.random_bytes(usm.size());
        std::memcpy(usm.at(), bytes.data(), bytes.size());
        require_usm_contents(fixture, queue, usm.at(), bytes, "USM that the host has written");
        const Bytes other = fixture.random_bytes(usm.size());
        usm_upload(fixture, queue, usm.at(), other);
        require_same_bytes(usm.at(), other.data(), other.size(), "USM that the host reads");
    }
}

CONFORMANCE_TEST("memory", "USM with an invalid descriptor is refused") {
    const pi_context context = fixture.context();
    const pi_device device = fixture.device();
    const pi_usm_desc valid = usm_desc(any_usm_kind(fixture), 256);
    const auto refused = [&](const std::string &what, std::initializer_list<pi_result> allowed,
                             const pi_usm_desc &desc) {
        require_untouched<void *>("piUsmAlloc with " + what, allowed, [&](void **out) {
            return piUsmAlloc(context, device, &desc, out);
        });
    };
    pi_usm_desc desc = valid;
    desc.size = 0;
    refused("0 bytes", {PI_ERROR_INVALID_SIZE}, desc);
    desc.size = UINT64_MAX;
    refused("2^64 - 1 bytes",
            {PI_ERROR_OUT_OF_DEVICE_MEMORY, PI_ERROR_OUT_OF_HOST_MEMORY, PI_ERROR_INVALID_SIZE},
            desc);
    for (const pi_usm_kind kind : {pi_usm_kind{0}, pi_usm_kind{4}, UINT32_MAX}) {
        desc = valid;
        desc.kind = kind;
        refused(join("kind ", kind), {PI_ERROR_INVALID_ENUMERATION}, desc);
    }
    desc = valid;
    desc.scope = static_cast<uint32_t>(fixture.scopes().size());
    refused("a scope that is none", {PI_ERROR_INVALID_VALUE}, desc);
    desc = valid;
    desc.pool = reinterpret_cast<pi_usm_pool>(context);
    refused("a context as its pool", {PI_ERROR_INVALID_USM_POOL}, desc);
    check_descriptor("piUsmAlloc", valid, offsetof(pi_usm_desc, flags),
                     [&](const pi_usm_desc *given) {
                         void *pointer = nullptr;
                         const pi_result result = piUsmAlloc(context, device, given, &pointer);
                         if (result == PI_SUCCESS)
                             piUsmFree(context, pointer);
                         return result;
                     });
    require_error(piUsmAlloc(context, device, &valid, nullptr), PI_ERROR_INVALID_NULL_POINTER,
                  "piUsmAlloc with out_pointer NULL");
}

CONFORMANCE_TEST("memory", "a device allocates the kinds of USM that it reports, and no other") {
    const std::vector<pi_usm_kind> kinds = need_usm(fixture);
    for (const pi_usm_kind kind : all_usm_kinds) {
        if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) {
            Usm(fixture, kind, 64).free();
            continue;
        }
        const pi_usm_desc desc = usm_desc(kind, 64);
        require_untouched<void *>(join("USM of the kind ", name_of_kind(kind)),
                                  {PI_ERROR_UNSUPPORTED_FEATURE}, [&](void **out) {
                                      return piUsmAlloc(fixture.context(), fixture.device(), &desc,
                                                        out);
                                  });
    }
}

CONFORMANCE_TEST("memory", "USM is freed by its first address, in its context, and once") {
    const std::vector<UsmSource> sources = need_usm_sources(fixture);
    const Context other = fixture.make_context({fixture.device()});
    Bytes plain(64);
    require_success(piUsmFree(fixture.context(), nullptr), "piUsmFree of NULL");
    for (const UsmSource &source : sources) {
        Usm usm(fixture.place(), source.desc(4096));
        const auto refused = [&](const std::string &what, pi_context context, void *pointer) {
            require_error(piUsmFree(context, pointer), PI_ERROR_INVALID_USM_POINTER,
                          "piUsmFree of ", what, ": ", source.name());
            require(is_live_usm(fixture.context(), usm.at()), "refusing to free ", what,
                    " freed USM");
        };
        refused("an address within", fixture.context(), usm.at(1));
        refused("the last byte", fixture.context(), usm.at(4095));
        refused("another context's USM", other, usm.at());
        refused("plain host memory", fixture.context(), plain.data());
        std::byte *const begin = usm.at();
        usm.free();
        require_error(piUsmFree(fixture.context(), begin), PI_ERROR_INVALID_USM_POINTER,
                      "piUsmFree of freed USM");
    }
}

CONFORMANCE_TEST("memory", "USM is found while other threads allocate and free their own") {
    const std::vector<pi_usm_kind> kinds = need_usm(fixture);
    const pi_context context = fixture.context();
    // Among allocations that come and go, at any address.
    std::vector<Usm> constant;
    for (int i = 0; i < 64; ++i)
        constant.emplace_back(fixture, kinds.front(), 256);
    fixture.run_threads(3, [&](unsigned thread) {
        for (unsigned round = 0; round < 1000; ++round) {
            if (thread == 0) {
                std::vector<Usm> own;
                for (int i = 0; i < 8; ++i)
                    own.emplace_back(fixture.place(), usm_desc(kinds.front(), 256));
                continue;
            }
            for (const Usm &usm : constant)
                require(usm_info<void *>(context, usm.at(255), PI_USM_INFO_BASE) == usm.at(),
                        "the begin of USM that stays is another");
        }
    });
}

CONFORMANCE_TEST("memory", "USM that was not freed is freed with its context") {
    const Queue queue = fixture.make_queue();
    const std::size_t count = need_usm_sources(fixture).size();
    for (std::size_t i = 0; i < count; ++i) {
        Context other = fixture.make_context({fixture.device()});
        std::vector<UsmSource> sources = need_usm_sources(fixture, {fixture.device(), other});
        void *const pointer = Usm({fixture.device(), other}, sources[i].desc(4096)).take();
        require(is_live_usm(other, pointer), "new USM is not live");
        sources.clear();
        other.reset();
        require(!is_live_usm(fixture.context(), pointer), "USM of a released context is live");
        const auto is_used = [&] {
            Event filled;
            const pi_result result = try_enqueue(
                queue, usm_fill_desc(pointer, Bytes(1, std::byte{7}), 4096), {}, filled.out());
            if (result == PI_SUCCESS)
                fixture.wait(filled);
            else
                require_error(result, PI_ERROR_INVALID_USM_POINTER, "a fill of USM that is gone");
            return result == PI_SUCCESS;
        };
        // The layer validate defers the release of the newest released objects.
        for (int more = 0; more < 3000 && is_used(); ++more)
            fixture.make_host_event();
        require(!is_used(), "USM of a context that was released long ago is filled");
    }
}

CONFORMANCE_TEST("memory", "a query for an address outside live USM of the context is refused") {
    const std::vector<UsmSource> sources = need_usm_sources(fixture);
    const Context other = fixture.make_context({fixture.device()});
    Bytes plain(64);
    const auto refused = [&](const std::string &what, pi_context context, const void *pointer,
                             pi_result error) {
        require_untouched<uint64_t>("piUsmGetInfo of " + what, {error}, [&](uint64_t *out) {
            return piUsmGetInfo(context, pointer, PI_USM_INFO_SIZE, sizeof *out, out, nullptr);
        });
    };
    refused("plain host memory", fixture.context(), plain.data(), PI_ERROR_INVALID_USM_POINTER);
    refused("NULL", fixture.context(), nullptr, PI_ERROR_INVALID_NULL_POINTER);
    for (const UsmSource &source : sources) {
        Usm usm(fixture.place(), source.desc(4096));
        refused("another context's " + source.name(), other, usm.at(),
                PI_ERROR_INVALID_USM_POINTER);
        std::byte *const begin = usm.at();
        usm.free();
        refused("freed " + source.name(), fixture.context(), begin, PI_ERROR_INVALID_USM_POINTER);
    }
}

CONFORMANCE_TEST("memory", "many threads may allocate, query and free USM at once") {
    const std::vector<pi_usm_kind> kinds = need_usm(fixture);
    const pi_context context = fixture.context();
    const Usm constant(fixture, kinds.front(), 1000);
    fixture.run_threads(6, [&](unsigned thread) {
        for (unsigned round = 0; round < 200; ++round) {
            const pi_usm_kind kind = kinds[(thread + round) % kinds.size()];
            const uint64_t size = 1 + (thread * 7919 + round * 104'729) % 20'000;
            Usm usm(fixture.place(), usm_desc(kind, size));
            require_equal(usm_info<uint64_t>(context, usm.at(size - 1), PI_USM_INFO_SIZE), size,
                          "the size of a thread's own USM");
            require(usm_info<void *>(context, constant.at(999), PI_USM_INFO_BASE) == constant.at(),
                    "the begin of USM that all threads ask for is another");
            usm.free();
        }
    });
}

} // namespace
} // namespace pi::suite
