// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PI_MEM_REQUIRE_ flags: together with all else that a descriptor may ask for, and what the system
// says of the memory.

#include "checks.hpp"
#include "memory.hpp"
#include "process_memory.hpp"
#include "registry.hpp"
#include "sanitized.hpp"

#include <algorithm>
#include <fcntl.h>
#include <optional>
#include <unistd.h>

namespace pi::suite {
namespace {

constexpr uint64_t both = PI_MEM_REQUIRE_CONTIGUOUS | PI_MEM_REQUIRE_PINNED;
constexpr uint64_t requirements[] = {PI_MEM_REQUIRE_CONTIGUOUS, PI_MEM_REQUIRE_PINNED, both};

bool possible(const pi_memory_scope &scope, uint64_t required) {
    return ((required & PI_MEM_REQUIRE_CONTIGUOUS) == 0 ||
            (scope.flags & PI_SCOPE_CONTIGUOUS) != 0) &&
           ((required & PI_MEM_REQUIRE_PINNED) == 0 || (scope.flags & PI_SCOPE_PINNED) != 0);
}

// The buffer, or nothing if it is refused as a requirement may be.
Mem try_make(Fixture &fixture, const pi_mem_buffer_desc &desc, const std::string &what) {
    Mem mem;
    const pi_result result =
        piMemBufferCreate(fixture.context(), fixture.device(), &desc, mem.out());
    if (result == PI_SUCCESS)
        return mem;
    if (desc.alignment != 0)
        require_error(result, {PI_ERROR_UNSUPPORTED_FEATURE, PI_ERROR_INVALID_ALIGNMENT}, what);
    else
        require_error(result, PI_ERROR_UNSUPPORTED_FEATURE, what);
    return {};
}

CONFORMANCE_TEST(
    "memory",
    "requirements hold beside alignments, host_ptr, exports and layouts, or are refused") {
    const Queue queue = fixture.make_queue();
    const std::vector<pi_memory_scope> scopes = fixture.scopes();
    uint32_t exports = 0;
    piDeviceGetInfo(fixture.device(), PI_DEVICE_INFO_EXPORT_HANDLE_TYPES, sizeof exports, &exports,
                    nullptr);
    std::vector<uint32_t> export_types{0};
    for (uint32_t type = 0; type < 32; ++type)
        if ((exports & 1u << type) != 0)
            export_types.push_back(1u << type);
    const Shape shape(1, {16, 256}, {1});
    const pi_mem_layout_desc layout = shape.desc();
    const Bytes bytes = fixture.random_bytes(4096);
    Bytes host = bytes;
    for (uint32_t scope = 0; scope < scopes.size(); ++scope) {
        for (const uint64_t required : requirements) {
            pi_mem_buffer_desc desc = buffer_desc(bytes.size());
            desc.scope = scope;
            const auto check = [&](const std::string &with) {
                const std::string what =
                    join("a buffer of scope ", scope, " with requirements ", required, with);
                const Mem mem = try_make(fixture, desc, what);
                if (mem.get() == nullptr)
                    return;
                require(possible(scopes[scope], required), what, ": accepted");
                require_equal(get_info<uint64_t>(&piMemGetInfo, mem.get(), PI_MEM_INFO_FLAGS),
                              desc.flags, "PI_MEM_INFO_FLAGS of " + what);
                const uint64_t aligned = std::max<uint64_t>(desc.alignment, 1);
                require(info_or(&piMemGetInfo, mem.get(), PI_MEM_INFO_ALIGNMENT, aligned) >=
                            aligned,
                        what, ": PI_MEM_INFO_ALIGNMENT is less than ", aligned);
                require(info_or(&piMemGetInfo, mem.get(), PI_MEM_INFO_DEVICE_ADDRESS, aligned) %
                                aligned ==
                            0,
                        what, ": the device address is no multiple of ", aligned);
                if ((desc.flags & PI_MEM_COPY_HOST_PTR) == 0)
                    fixture.upload(queue, mem, bytes);
                fixture.require_contents(queue, mem, bytes, what);
            };
            desc.flags = required;
            check("");
            for (const uint64_t alignment :
                 {uint64_t{4096}, uint64_t{1} << 16, uint64_t{1} << 20}) {
                desc.alignment = alignment;
                check(join(" and an alignment of ", alignment));
            }
            desc.alignment = 0;
            desc.host_ptr = host.data();
            for (const uint64_t flag : {PI_MEM_COPY_HOST_PTR, PI_MEM_USE_HOST_PTR}) {
                desc.flags = required | flag;
                check(join(" and flag ", flag));
            }
            desc.host_ptr = nullptr;
            desc.flags = required;
            for (const uint32_t types : export_types) {
                desc.export_types = types;
                check(join(" and export_types ", types));
                if (types == 0)
                    continue;
                desc.alignment = 1 << 16;
                check(join(", export_types ", types, " and an alignment of 65536"));
                desc.alignment = 0;
            }
            desc.export_types = 0;
            if ((scopes[scope].flags & PI_SCOPE_LAYOUT) != 0) {
                desc.next = &layout;
                check(" and a layout");
            }
        }
    }
    require(host == bytes, "the application's memory has changed");
}

// ----- What the system says -----

void require_locked(pi_mem mem, const std::string &what) {
    void *pointer = nullptr;
    require_success(piMemGetHostPointer(mem, &pointer), "piMemGetHostPointer");
    const auto begin = reinterpret_cast<uintptr_t>(pointer);
    const auto size = get_info<uint64_t>(&piMemGetInfo, mem, PI_MEM_INFO_SIZE);
    const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    for (uintptr_t at = begin / page * page; at < begin + size; at += page) {
        require(never_paged_out(at), what, ": the page at byte ", at - begin / page * page,
                " may be paged out: ", flags_of_mapping(at));
    }
}

CONFORMANCE_TEST("memory", "pinned memory of the process is locked, each buffer for itself") {
    if (is_sanitized)
        skip("a sanitizer locks no pages");
    need_process_memory(fixture);
    for (const uint32_t scope : scopes_with(fixture, PI_SCOPE_PINNED, "PI_SCOPE_PINNED")) {
        if (!fixture.can(PI_CAPABILITY_MEM_HOST_ACCESS) ||
            (fixture.scopes()[scope].flags & PI_SCOPE_HOST_VISIBLE) == 0)
            continue;
        std::vector<Mem> mems;
        for (const uint64_t size : {1, 64, 4096, 100, 20000, 3000, 8192, 7}) {
            pi_mem_buffer_desc desc = buffer_desc(size, PI_MEM_REQUIRE_PINNED);
            desc.scope = scope;
            mems.push_back(fixture.make_buffer(fixture.place(), desc));
        }
        Bytes host(20000);
        for (const uint64_t flag : {PI_MEM_COPY_HOST_PTR, PI_MEM_USE_HOST_PTR}) {
            pi_mem_buffer_desc desc = buffer_desc(host.size(), PI_MEM_REQUIRE_PINNED | flag);
            desc.scope = scope;
            desc.host_ptr = host.data();
            const std::string what = join("a pinned buffer with flag ", flag);
            if (const Mem mem = try_make(fixture, desc, what); mem.get() != nullptr)
                require_locked(mem, what);
        }
        for (const Mem &mem : mems)
            require_locked(mem, "a pinned buffer");
        // Those that stay are locked still: some may share a page with one that goes.
        for (std::size_t i = 0; i < mems.size(); i += 2)
            mems[i].reset();
        for (std::size_t i = 1; i < mems.size(); i += 2)
            require_locked(mems[i], "a pinned buffer after others were released");
    }
}

// The number of the physical page that an address is in; nothing if the system does not show it.
std::optional<uint64_t> physical_page(uintptr_t address) {
    const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    const int pages = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    uint64_t entry = 0;
    const bool known =
        pages >= 0 && pread(pages, &entry, sizeof entry,
                            static_cast<off_t>(address / page * sizeof entry)) == sizeof entry;
    if (pages >= 0)
        close(pages);
    constexpr uint64_t number = (uint64_t{1} << 55) - 1;
    if (!known || (entry >> 63) == 0 || (entry & number) == 0)
        return std::nullopt;
    return entry & number;
}

CONFORMANCE_TEST("memory", "contiguous memory of the process has consecutive physical pages") {
    need_process_memory(fixture);
    bool any = false;
    for (const uint32_t scope : scopes_with(fixture, PI_SCOPE_CONTIGUOUS, "PI_SCOPE_CONTIGUOUS")) {
        for (const uint64_t size : {4096, 3 * 4096 + 1, 1 << 20}) {
            pi_mem_buffer_desc desc = buffer_desc(size, PI_MEM_REQUIRE_CONTIGUOUS);
            desc.scope = scope;
            const Mem mem = try_make(fixture, desc, join(size, " contiguous bytes"));
            void *pointer = nullptr;
            if (mem.get() == nullptr || piMemGetHostPointer(mem, &pointer) != PI_SUCCESS)
                continue;
            const auto begin = reinterpret_cast<uintptr_t>(pointer);
            const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
            const std::optional<uint64_t> first = physical_page(begin);
            for (uint64_t at = page - begin % page, i = 1; at < size; at += page, ++i) {
                const std::optional<uint64_t> next = physical_page(begin + at);
                if (!first || !next)
                    skip("the system does not show physical pages");
                any = true;
                require_equal(*next, *first + i, join("physical page ", i, " of ", size, " bytes"));
            }
        }
    }
    if (!any)
        skip("no contiguous buffer has several pages here");
}

CONFORMANCE_TEST("memory", "the bus addresses of contiguous buffers and their views are apart") {
    const std::vector<pi_memory_scope> scopes = fixture.scopes();
    bool any = false;
    for (const uint32_t scope : scopes_with(fixture, PI_SCOPE_CONTIGUOUS, "PI_SCOPE_CONTIGUOUS")) {
        std::vector<Mem> mems;
        std::vector<uint64_t> begins;
        const uint64_t unit = std::max<uint64_t>(scopes[scope].offset_alignment, 64);
        for (int i = 0; i < 4; ++i) {
            pi_mem_buffer_desc desc = buffer_desc(4096, PI_MEM_REQUIRE_CONTIGUOUS);
            desc.scope = scope;
            const Mem &mem = mems.emplace_back(fixture.make_buffer(fixture.place(), desc));
            const uint64_t none = UINT64_MAX;
            const uint64_t begin = info_or(&piMemGetInfo, mem.get(), PI_MEM_INFO_BUS_ADDRESS, none);
            if (begin == none)
                continue;
            any = true;
            for (const uint64_t other : begins)
                require(begin >= other + 4096 || other >= begin + 4096, "two buffers are at ",
                        begin, " and ", other, " on the bus");
            begins.push_back(begin);
            if (!fixture.can(PI_CAPABILITY_VIEW) || unit >= 4096)
                continue;
            const Mem view = fixture.make_view(mem, unit, 1);
            require_equal(get_info<uint64_t>(&piMemGetInfo, view.get(), PI_MEM_INFO_BUS_ADDRESS),
                          begin + unit, "the bus address of a view");
        }
    }
    if (!any)
        skip("contiguous memory has no bus addresses here");
}

} // namespace
} // namespace pi::suite
