// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory of every scope, linear or n-D: maps with every combination of flags, long fills; and the
// addresses that memory reports.

#include "memory.hpp"
#include "registry.hpp"
#include "usm.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

namespace pi::suite {
namespace {

// Calls function(mem, its bytes, name) for memory of each scope: linear, and n-D.
void in_each_scope(Fixture &fixture, const Shape &shape,
                   const std::function<void(pi_mem, Bytes &, const std::string &)> &function) {
    const std::vector<pi_memory_scope> scopes = fixture.scopes();
    const pi_mem_layout_desc layout = shape.desc();
    for (uint32_t scope = 0; scope < scopes.size(); ++scope) {
        for (const bool rows : {false, true}) {
            if (rows && (scopes[scope].flags & PI_SCOPE_LAYOUT) == 0)
                continue;
            Bytes bytes = fixture.random_bytes(shape.size());
            pi_mem_buffer_desc desc = buffer_desc(bytes.size(), PI_MEM_COPY_HOST_PTR, bytes.data());
            desc.scope = scope;
            desc.next = rows ? &layout : nullptr;
            Mem mem;
            const pi_result result =
                piMemBufferCreate(fixture.context(), fixture.device(), &desc, mem.out());
            if (result == PI_ERROR_UNSUPPORTED_FEATURE && !rows)
                continue; // a scope may be for n-D allocations only
            require_success(result, "piMemBufferCreate in scope ", scope);
            function(mem, bytes,
                     join("scope ", scope, rows ? ", n-D, " + shape.text() : std::string{}));
        }
    }
}

CONFORMANCE_TEST("memory", "in every scope a map has the effect of its flags, in any combination") {
    const Queue queue = fixture.make_queue();
    const Shape shape(4, {9, 5, 7}, {1});
    in_each_scope(fixture, shape, [&](pi_mem mem, Bytes &bytes, const std::string &where) {
        for (uint64_t flags = PI_MAP_READ; flags < uint64_t{PI_MAP_READ} << 3;
             flags += PI_MAP_READ) {
            const std::string what = join("a map with flags ", flags, " in ", where);
            const bool keeps = (flags & PI_MAP_READ) != 0 || (flags & PI_MAP_WRITE_DISCARD) == 0;
            const bool writes = (flags & (PI_MAP_WRITE | PI_MAP_WRITE_DISCARD)) != 0;
            const uint64_t size = fixture.random(2, bytes.size());
            const uint64_t offset = fixture.random(0, bytes.size() - size);
            void *pointer = nullptr;
            fixture.wait(fixture.map(queue, mem, flags, offset, size, &pointer), what);
            if ((flags & PI_MAP_READ) != 0)
                require_same_bytes(static_cast<std::byte *>(pointer), bytes.data() + offset, size,
                                   what);
            if (writes) {
                // What it preserves, the host need not write.
                const Bytes written = fixture.random_bytes(keeps ? size / 2 : size);
                std::memcpy(pointer, written.data(), written.size());
                std::memcpy(bytes.data() + offset, written.data(), written.size());
            }
            fixture.wait(fixture.unmap(queue, mem, pointer), "the unmap of " + what);
            fixture.require_contents(queue, mem, bytes, "the bytes after " + what);
        }
    });
}

CONFORMANCE_TEST("enqueue", "in every scope a long fill repeats its pattern to the end") {
    const Queue queue = fixture.make_queue();
    // Rows that end within a pattern.
    const Shape shape(4, {300, 333}, {1});
    in_each_scope(fixture, shape, [&](pi_mem mem, Bytes &bytes, const std::string &where) {
        for (uint64_t size = 1; size <= 128; size *= 2) {
            const Bytes pattern = fixture.random_bytes(size);
            const uint64_t offset = fixture.random(0, 3) * size;
            const uint64_t filled = (bytes.size() - offset) / size * size;
            fixture.wait(fixture.fill(queue, mem, offset, filled, pattern));
            const Bytes expected = repeated(pattern, filled);
            std::memcpy(bytes.data() + offset, expected.data(), filled);
            fixture.require_contents(queue, mem, bytes,
                                     join("a fill of ", size, " bytes in ", where));
        }
    });
}

CONFORMANCE_TEST("memory",
                 "memory over host_ptr and its views have the alignment that they report") {
    constexpr uint64_t size = 8192;
    alignas(64) static std::byte memory[2 * size];
    const auto check = [&](pi_mem mem, const std::string &what) {
        const auto alignment = info_or(&piMemGetInfo, mem, PI_MEM_INFO_ALIGNMENT, uint64_t{1});
        require(alignment != 0 && (alignment & (alignment - 1)) == 0, "PI_MEM_INFO_ALIGNMENT of ",
                what, " is ", alignment);
        require_equal(info_or(&piMemGetInfo, mem, PI_MEM_INFO_DEVICE_ADDRESS, uint64_t{0}) %
                          alignment,
                      uint64_t{0}, "the device address modulo the alignment, of " + what);
        void *pointer = nullptr;
        if (fixture.can(PI_CAPABILITY_MEM_HOST_ACCESS) &&
            piMemGetHostPointer(mem, &pointer) == PI_SUCCESS)
            require_equal(reinterpret_cast<uintptr_t>(pointer) % alignment, uint64_t{0},
                          "the host pointer modulo the alignment, of " + what);
    };
    for (const uint64_t begin : {0, 1, 2, 4, 24, 48, 4096, 4100}) {
        const Mem root = fixture.make_buffer(
            fixture.place(), buffer_desc(size, PI_MEM_USE_HOST_PTR, memory + begin));
        check(root, join("a buffer over host memory, ", begin, " bytes into it"));
        if (!fixture.can(PI_CAPABILITY_VIEW))
            continue;
        const uint64_t unit = fixture.scopes().front().offset_alignment;
        for (const uint64_t offset : {unit, 3 * unit, 8 * unit})
            if (offset < size)
                check(fixture.make_view(root, offset, size - offset),
                      join("a view at ", offset, " of a buffer over host memory"));
    }
}

CONFORMANCE_TEST("memory", "in a scope that maps in place a map has the memory's own address") {
    fixture.need(PI_CAPABILITY_MEM_HOST_ACCESS, "PI_CAPABILITY_MEM_HOST_ACCESS");
    const std::vector<uint32_t> in_place =
        scopes_with(fixture, PI_SCOPE_MAPS_IN_PLACE, "PI_SCOPE_MAPS_IN_PLACE");
    const std::vector<pi_memory_scope> scopes = fixture.scopes();
    const Queue queue = fixture.make_queue();
    bool any = false;
    in_each_scope(fixture, Shape(4, {9, 5, 7}, {1}),
                  [&](pi_mem mem, Bytes &bytes, const std::string &where) {
                      const auto scope = get_info<uint32_t>(&piMemGetInfo, mem, PI_MEM_INFO_SCOPE);
                      void *own = nullptr, *pointer = nullptr;
                      if (std::find(in_place.begin(), in_place.end(), scope) == in_place.end() ||
                          piMemGetHostPointer(mem, &own) != PI_SUCCESS)
                          return;
                      any = true;
                      fixture.wait(fixture.map(queue, mem, PI_MAP_READ, 0, bytes.size(), &pointer));
                      require(pointer == own, "a map in ", where, " returned ", pointer,
                              ", the memory is at ", own);
                      fixture.wait(fixture.unmap(queue, mem, pointer));
                  });
    if (!any)
        skip("the host does not address memory of such a scope");
}

CONFORMANCE_TEST("memory", "an alignment is honoured beside copied bytes and access flags") {
    Bytes bytes = fixture.random_bytes(1000);
    for (const uint64_t flags : {PI_MEM_COPY_HOST_PTR + 0, PI_MEM_COPY_HOST_PTR | PI_MEM_READ_ONLY,
                                 PI_MEM_READ_ONLY + 0, PI_MEM_WRITE_ONLY + 0}) {
        // Several, since memory may have the alignment by chance.
        std::vector<Mem> buffers;
        for (int i = 0; i < 8; ++i) {
            const bool copied = (flags & PI_MEM_COPY_HOST_PTR) != 0;
            pi_mem_buffer_desc desc =
                buffer_desc(bytes.size(), flags, copied ? bytes.data() : nullptr);
            desc.alignment = 4096;
            Mem mem;
            const pi_result result =
                piMemBufferCreate(fixture.context(), fixture.device(), &desc, mem.out());
            if (result == PI_ERROR_INVALID_ALIGNMENT)
                skip("the device does not align memory to 4096 bytes");
            require_success(result, "piMemBufferCreate with flags ", flags);
            require_equal(
                info_or(&piMemGetInfo, mem.get(), PI_MEM_INFO_DEVICE_ADDRESS, uint64_t{0}) % 4096,
                uint64_t{0}, join("the device address modulo 4096, with flags ", flags));
            void *pointer = nullptr;
            if (fixture.can(PI_CAPABILITY_MEM_HOST_ACCESS) &&
                piMemGetHostPointer(mem, &pointer) == PI_SUCCESS)
                require_equal(reinterpret_cast<uintptr_t>(pointer) % 4096, uint64_t{0},
                              join("the host pointer modulo 4096, with flags ", flags));
            buffers.push_back(std::move(mem));
        }
    }
}

} // namespace
} // namespace pi::suite
