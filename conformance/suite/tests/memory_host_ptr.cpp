// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The application's memory at its worst: at odd addresses, next to pages that cannot be accessed.

#include "checks.hpp"
#include "host_memory.hpp"
#include "memory.hpp"
#include "registry.hpp"

#include <cstring>

namespace pi::suite {
namespace {

using Side = GuardedMemory::Side;

// Of these sizes one end or the other is at an odd address.
constexpr uint64_t sizes[] = {1, 4097, 8192, 70001};

// Calls body(memory, "where it is") for each size, next to an inaccessible page at either side.
template <typename Body>
void for_each_guarded(Body &&body) {
    for (const Side side : {Side::begin, Side::end}) {
        for (const uint64_t size : sizes) {
            GuardedMemory memory(size, side);
            body(memory, join(size, " bytes ", side == Side::begin ? "behind" : "before",
                              " a page that cannot be accessed"));
        }
    }
}

CONFORMANCE_TEST("memory",
                 "host_ptr may begin and end at any address, next to inaccessible pages") {
    const Queue queue = fixture.make_queue();
    const auto scopes = static_cast<uint32_t>(fixture.scopes().size());
    for_each_guarded([&](GuardedMemory &memory, const std::string &where) {
        for (uint32_t scope = 0; scope < scopes; ++scope) {
            for (const uint64_t flag : {PI_MEM_COPY_HOST_PTR, PI_MEM_USE_HOST_PTR}) {
                const Bytes bytes = fixture.random_bytes(memory.size());
                memory.assign(bytes);
                pi_mem_buffer_desc desc = buffer_desc(memory.size(), flag, memory.data());
                desc.scope = scope;
                Mem mem;
                const pi_result result =
                    piMemBufferCreate(fixture.context(), fixture.device(), &desc, mem.out());
                if (result == PI_ERROR_UNSUPPORTED_FEATURE && scope != 0 &&
                    flag == PI_MEM_USE_HOST_PTR)
                    continue; // not every scope uses host_ptr
                require_success(result, "piMemBufferCreate of ", where, " in scope ", scope);
                fixture.require_contents(queue, mem, bytes, where);
                const Bytes next = fixture.random_bytes(memory.size());
                fixture.upload(queue, mem, next);
                fixture.require_contents(queue, mem, next, where);
            }
        }
    });
}

CONFORMANCE_TEST("memory",
                 "commands read and write host memory up to inaccessible pages, no byte more") {
    const Queue queue = fixture.make_queue();
    for_each_guarded([&](GuardedMemory &memory, const std::string &where) {
        const Bytes bytes = fixture.random_bytes(memory.size()),
                    next = fixture.random_bytes(memory.size());
        memory.assign(bytes);
        const Mem mem = fixture.make_buffer(memory.size());
        const pi_region whole = linear(0, 0, memory.size());
        auto write = pi::desc<pi_buffer_write_desc>();
        write.mem = mem;
        write.host_ptr = memory.data();
        write.region_count = 1;
        write.regions = &whole;
        fixture.wait(fixture.enqueue(queue, write), "writing " + where);
        fixture.require_contents(queue, mem, bytes, where);
        fixture.upload(queue, mem, next);
        auto read = pi::desc<pi_buffer_read_desc>();
        read.mem = mem;
        read.host_ptr = memory.data();
        read.region_count = 1;
        read.regions = &whole;
        fixture.wait(fixture.enqueue(queue, read), "reading to " + where);
        require_same_bytes(memory.data(), next.data(), next.size(), where);
    });
}

CONFORMANCE_TEST("memory", "imported memory may end where no byte can be accessed") {
    const uint64_t atom = need_import(fixture);
    const Queue queue = fixture.make_queue();
    for (const Side side : {Side::begin, Side::end}) {
        // Both ends at multiples of the alignment.
        GuardedMemory memory((8192 / atom + 1) * atom, side);
        const Bytes bytes = fixture.random_bytes(memory.size());
        memory.assign(bytes);
        const pi_mem_import_desc desc = import_desc(memory.data(), memory.size());
        Mem mem;
        require_success(piMemImport(fixture.context(), fixture.device(), &desc, mem.out()),
                        "piMemImport next to a page that cannot be accessed");
        fixture.require_contents(queue, mem, bytes, "imported memory");
        fixture.upload(queue, mem, bytes);
    }
}

// Maps a range for each use; the pointer is host_ptr's, and what the host writes arrives.
void check_maps(Fixture &fixture, pi_queue queue, pi_mem mem, std::byte *begin, Bytes &model,
                const std::string &what) {
    for (const uint64_t flags : {PI_MAP_READ + 0, PI_MAP_WRITE + 0, PI_MAP_READ | PI_MAP_WRITE,
                                 PI_MAP_WRITE_DISCARD + 0}) {
        const uint64_t length = fixture.random(1, model.size());
        const uint64_t offset = fixture.random(0, model.size() - length);
        void *pointer = nullptr;
        fixture.wait(fixture.map(queue, mem, flags, offset, length, &pointer), "mapping " + what);
        require(pointer == begin + offset, what, ": a map at ", offset, " returned ", pointer,
                ", its first byte is at ", static_cast<void *>(begin));
        if ((flags & PI_MAP_READ) != 0)
            require_same_bytes(pointer, model.data() + offset, length, what + " while mapped");
        if (flags != PI_MAP_READ) {
            const Bytes bytes = fixture.random_bytes(length);
            std::memcpy(pointer, bytes.data(), length);
            std::memcpy(model.data() + offset, bytes.data(), length);
        }
        fixture.wait(fixture.unmap(queue, mem, pointer), "unmapping " + what);
        fixture.require_contents(queue, mem, model, what + " after a map");
    }
}

CONFORMANCE_TEST("memory", "maps of memory at host_ptr return its addresses, also those of views") {
    const Queue queue = fixture.make_queue();
    const std::vector<pi_memory_scope> scopes = fixture.scopes();
    for (uint32_t scope = 0; scope < scopes.size(); ++scope) {
        for (const uint64_t shift : {0, 1, 12}) {
            const uint64_t unit = std::max<uint64_t>(scopes[scope].offset_alignment, 1);
            const uint64_t size = 4096 + 3 * unit;
            HostMemory memory(size + shift, 4096);
            std::byte *const begin = memory.data() + shift;
            Bytes model = fixture.random_bytes(size);
            memory.assign(model, shift);
            pi_mem_buffer_desc desc = buffer_desc(size, PI_MEM_USE_HOST_PTR, begin);
            desc.scope = scope;
            Mem mem;
            const pi_result result =
                piMemBufferCreate(fixture.context(), fixture.device(), &desc, mem.out());
            if (result == PI_ERROR_UNSUPPORTED_FEATURE && scope != 0)
                continue;
            require_success(result, "piMemBufferCreate with PI_MEM_USE_HOST_PTR");
            const std::string what = join("memory at host_ptr ", static_cast<void *>(begin));
            check_maps(fixture, queue, mem, begin, model, what);
            if (!fixture.can(PI_CAPABILITY_VIEW))
                continue;
            const uint64_t outer = unit, inner = 2 * unit;
            const Mem view = fixture.make_view(mem, outer, size - outer);
            Bytes part(model.begin() + static_cast<std::ptrdiff_t>(outer), model.end());
            check_maps(fixture, queue, view, begin + outer, part, "a view of " + what);
            const Mem both = fixture.make_view(view, inner - outer, size - inner);
            part.erase(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(inner - outer));
            check_maps(fixture, queue, both, begin + inner, part, "a view of a view of " + what);
        }
    }
}

} // namespace
} // namespace pi::suite
