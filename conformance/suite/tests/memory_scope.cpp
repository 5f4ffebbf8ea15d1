// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory scopes of a device: each has its own memory, and commands accept all of them.

#include "host_memory.hpp"
#include "image.hpp"
#include "memory.hpp"
#include "registry.hpp"
#include "usm.hpp"

#include <algorithm>

namespace pi::suite {
namespace {

CONFORMANCE_TEST("memory", "a scope that is not in the device's list is refused") {
    const auto count = static_cast<uint32_t>(fixture.scopes().size());
    for (const uint32_t scope : {count, count + 7, UINT32_MAX}) {
        pi_mem_buffer_desc desc = buffer_desc(64);
        desc.scope = scope;
        require_refused(fixture.place(), join("scope ", scope, " of ", count), desc,
                        {PI_ERROR_INVALID_VALUE});
    }
}

// The addresses that the buffer reports, if any, are multiples of this.
void require_addresses(pi_mem mem, uint64_t alignment, const std::string &what) {
    const auto device = info_or(&piMemGetInfo, mem, PI_MEM_INFO_DEVICE_ADDRESS, uint64_t{0});
    require(device % alignment == 0, what, " is at ", hex(device), ", should be at a multiple of ",
            alignment);
    void *pointer = nullptr;
    if (piMemGetHostPointer(mem, &pointer) == PI_SUCCESS)
        require(reinterpret_cast<uintptr_t>(pointer) % alignment == 0, what, " is at ", pointer,
                " for the host, should be at a multiple of ", alignment);
}

CONFORMANCE_TEST("memory", "every allocation in a scope is aligned as the scope says") {
    const std::vector<pi_memory_scope> scopes = fixture.scopes();
    for (uint32_t scope = 0; scope < scopes.size(); ++scope) {
        std::vector<Mem> mems;
        for (const uint64_t size : {1, 3, 64, 100, 4095, 4097, 1, 20000, 7, 65536, 5}) {
            pi_mem_buffer_desc desc = buffer_desc(size);
            desc.scope = scope;
            mems.push_back(fixture.make_buffer(fixture.place(), desc));
            require_addresses(mems.back(), scopes[scope].min_alignment,
                              join("a buffer of ", size, " bytes in scope ", scope));
        }
    }
}

CONFORMANCE_TEST("memory", "every scope of the device has memory, aligned as it says") {
    const Queue queue = fixture.make_queue();
    const std::vector<pi_memory_scope> scopes = fixture.scopes();
    for (uint32_t scope = 0; scope < scopes.size(); ++scope) {
        const Bytes bytes = fixture.random_bytes(777);
        pi_mem_buffer_desc desc = buffer_desc(bytes.size());
        desc.scope = scope;
        const Mem mem = fixture.make_buffer(fixture.place(), desc);
        fixture.upload(queue, mem, bytes);
        fixture.require_contents(queue, mem, bytes, join("a buffer of scope ", scope));
        require_equal(get_info<uint32_t>(&piMemGetInfo, mem.get(), PI_MEM_INFO_SCOPE), scope,
                      "PI_MEM_INFO_SCOPE");
        uint64_t alignment = UINT64_MAX;
        if (piMemGetInfo(mem, PI_MEM_INFO_ALIGNMENT, sizeof alignment, &alignment, nullptr) ==
            PI_SUCCESS)
            require(alignment >= scopes[scope].min_alignment, "scope ", scope,
                    " has an alignment of ", alignment, ", promises ", scopes[scope].min_alignment);
        if (scopes[scope].max_allocation != 0 && scopes[scope].max_allocation != UINT64_MAX) {
            desc.size = scopes[scope].max_allocation + 1;
            require_refused(fixture.place(), "more than its scope's max_allocation", desc,
                            {PI_ERROR_INVALID_SIZE, PI_ERROR_OUT_OF_DEVICE_MEMORY,
                             PI_ERROR_OUT_OF_HOST_MEMORY});
        }
        if (scopes[scope].capacity != 0 && scopes[scope].capacity != UINT64_MAX) {
            desc.size = scopes[scope].capacity + 1;
            require_refused(fixture.place(), "more than its scope's capacity", desc,
                            {PI_ERROR_INVALID_SIZE, PI_ERROR_OUT_OF_DEVICE_MEMORY,
                             PI_ERROR_OUT_OF_HOST_MEMORY});
        }
    }
}

constexpr struct {
    uint64_t demand;
    uint64_t scope_flag;
    const char *name;
} demands[] = {{PI_MEM_REQUIRE_CONTIGUOUS, PI_SCOPE_CONTIGUOUS, "PI_MEM_REQUIRE_CONTIGUOUS"},
               {PI_MEM_REQUIRE_PINNED, PI_SCOPE_PINNED, "PI_MEM_REQUIRE_PINNED"}};

CONFORMANCE_TEST("memory",
                 "a requirement holds in scopes that support it and is refused in others") {
    const std::vector<pi_memory_scope> scopes = fixture.scopes();
    for (uint32_t scope = 0; scope < scopes.size(); ++scope) {
        for (const auto &[demand, scope_flag, name] : demands) {
            pi_mem_buffer_desc desc = buffer_desc(4096, demand);
            desc.scope = scope;
            if ((scopes[scope].flags & scope_flag) == 0) {
                require_refused(fixture.place(), name, desc, {PI_ERROR_UNSUPPORTED_FEATURE});
                continue;
            }
            const Mem mem = fixture.make_buffer(fixture.place(), desc);
            require_equal(get_info<uint64_t>(&piMemGetInfo, mem.get(), PI_MEM_INFO_FLAGS), demand,
                          join("PI_MEM_INFO_FLAGS with ", name));
        }
    }
}

CONFORMANCE_TEST("memory", "bytes are copied between any two scopes of a device") {
    const Queue queue = fixture.make_queue();
    const auto count = static_cast<uint32_t>(fixture.scopes().size());
    for (uint32_t from = 0; from < count; ++from) {
        for (uint32_t to = 0; to < count; ++to) {
            const Bytes bytes = fixture.random_bytes(4099);
            pi_mem_buffer_desc desc = buffer_desc(bytes.size());
            desc.scope = from;
            const Mem src = fixture.make_buffer(fixture.place(), desc);
            desc.scope = to;
            const Mem dst = fixture.make_buffer(fixture.place(), desc);
            fixture.upload(queue, src, bytes);
            fixture.wait(fixture.copy(queue, src, 0, dst, 0, bytes.size()));
            fixture.require_contents(queue, dst, bytes,
                                     join("a copy from scope ", from, " to scope ", to));
        }
    }
}

pi_mem_buffer_desc in_scope(uint32_t scope, uint64_t size, uint64_t flags = 0,
                            void *host_ptr = nullptr) {
    pi_mem_buffer_desc desc = buffer_desc(size, flags, host_ptr);
    desc.scope = scope;
    return desc;
}

CONFORMANCE_TEST(
    "memory",
    "buffers of every scope are filled, mapped and viewed, and a view is of its buffer's scope") {
    const Queue queue = fixture.make_queue();
    const std::vector<pi_memory_scope> scopes = fixture.scopes();
    for (uint32_t scope = 0; scope < scopes.size(); ++scope) {
        const uint64_t half = std::max<uint64_t>(scopes[scope].offset_alignment, 512);
        Bytes model = fixture.random_bytes(2 * half);
        const Mem mem = fixture.make_buffer(fixture.place(), in_scope(scope, model.size()));
        fixture.upload(queue, mem, model);
        const Bytes value(1, std::byte{0x5A});
        fixture.wait(fixture.fill(queue, mem, 3, half, value));
        std::fill_n(model.data() + 3, half, value[0]);
        void *pointer = nullptr;
        fixture.wait(fixture.map(queue, mem, PI_MAP_READ | PI_MAP_WRITE, 1, half, &pointer));
        require_same_bytes(pointer, model.data() + 1, half, join("a map in scope ", scope));
        static_cast<std::byte *>(pointer)[0] = model[1] = std::byte{7};
        fixture.wait(fixture.unmap(queue, mem, pointer));
        fixture.require_contents(queue, mem, model, join("a buffer of scope ", scope));
        if (!fixture.can(PI_CAPABILITY_VIEW))
            continue;
        const Mem view = fixture.make_view(mem, half, half);
        require_equal(get_info<uint32_t>(&piMemGetInfo, view.get(), PI_MEM_INFO_SCOPE), scope,
                      "PI_MEM_INFO_SCOPE of a view");
        fixture.require_contents(
            queue, view, Bytes(model.begin() + static_cast<std::ptrdiff_t>(half), model.end()),
            join("a view in scope ", scope));
    }
}

CONFORMANCE_TEST("memory", "where a scope maps in place, all maps of a byte have one address") {
    const Queue queue = fixture.make_queue();
    const std::vector<pi_memory_scope> scopes = fixture.scopes();
    uint32_t count = 0;
    for (uint32_t scope = 0; scope < scopes.size(); ++scope) {
        if ((scopes[scope].flags & PI_SCOPE_MAPS_IN_PLACE) == 0)
            continue;
        ++count;
        const Mem mem = fixture.make_buffer(fixture.place(), in_scope(scope, 5000));
        void *whole = nullptr, *part = nullptr;
        fixture.wait(fixture.map(queue, mem, PI_MAP_READ, 0, 5000, &whole));
        fixture.wait(fixture.map(queue, mem, PI_MAP_READ, 1000, 77, &part));
        require(static_cast<std::byte *>(whole) + 1000 == part, "scope ", scope,
                " maps in place: byte 1000 is at ", part, ", byte 0 at ", whole);
        if ((scopes[scope].flags & PI_SCOPE_HOST_VISIBLE) != 0) {
            void *memory = nullptr;
            require_success(piMemGetHostPointer(mem, &memory), "piMemGetHostPointer");
            require(whole == memory, "scope ", scope, " maps in place: a map is at ", whole,
                    ", the memory at ", memory);
        }
        fixture.wait(fixture.unmap(queue, mem, part));
        fixture.wait(fixture.unmap(queue, mem, whole));
    }
    if (count == 0)
        skip("no scope of the device has PI_SCOPE_MAPS_IN_PLACE");
}

CONFORMANCE_TEST("memory",
                 "host_ptr is copied in every scope, and used in place in those that support it") {
    const Queue queue = fixture.make_queue();
    constexpr uint64_t size = 8192;
    HostMemory memory(size, 4096);
    const auto scopes = static_cast<uint32_t>(fixture.scopes().size());
    for (uint32_t scope = 0; scope < scopes; ++scope) {
        const Bytes bytes = fixture.random_bytes(size);
        memory.assign(bytes);
        const Mem copy = fixture.make_buffer(
            fixture.place(), in_scope(scope, size, PI_MEM_COPY_HOST_PTR, memory.data()));
        const pi_mem_buffer_desc desc = in_scope(scope, size, PI_MEM_USE_HOST_PTR, memory.data());
        Mem used;
        const pi_result result =
            piMemBufferCreate(fixture.context(), fixture.device(), &desc, used.out());
        if (result == PI_SUCCESS) {
            fixture.require_contents(queue, used, bytes, join("host_ptr used in scope ", scope));
            used.reset();
        } else {
            require(scope != 0, "scope 0 does not use host_ptr: ", last_error());
            require_error(result, PI_ERROR_UNSUPPORTED_FEATURE, "host_ptr used in scope ", scope);
        }
        memory.assign(Bytes(size));
        fixture.require_contents(queue, copy, bytes, join("host_ptr copied in scope ", scope));
    }
}

CONFORMANCE_TEST("memory", "USM is allocated in every scope, or refused there") {
    const Queue queue = fixture.make_queue();
    const std::vector<pi_memory_scope> own = fixture.scopes();
    const auto scopes = static_cast<uint32_t>(own.size());
    for (const pi_usm_kind kind : need_usm(fixture)) {
        for (uint32_t scope = 0; scope < scopes; ++scope) {
            pi_usm_desc desc = usm_desc(kind, 999);
            desc.scope = scope;
            void *pointer = nullptr;
            const pi_result result =
                piUsmAlloc(fixture.context(), fixture.device(), &desc, &pointer);
            const std::string what = join(name_of_kind(kind), " USM in scope ", scope);
            if (result != PI_SUCCESS) {
                require(scope != 0, what, " is refused: ", last_error());
                require_error(result, PI_ERROR_UNSUPPORTED_FEATURE, what);
                continue;
            }
            const Usm usm(fixture.context(), pointer, desc.size);
            require(reinterpret_cast<uintptr_t>(pointer) % own[scope].min_alignment == 0, what,
                    " is at ", pointer, ", should be at a multiple of ", own[scope].min_alignment);
            const Bytes bytes = fixture.random_bytes(desc.size);
            usm_upload(fixture, queue, pointer, bytes);
            require_usm_contents(fixture, queue, pointer, bytes, what);
        }
    }
}

// The memory has the scope's alignment; other memory like it has the one requested, or is refused.
void require_aligned(Fixture &fixture, pi_usm_desc desc, uint64_t sure, const void *pointer,
                     const std::string &what) {
    const auto is_at = [&](const void *address, uint64_t alignment) {
        require(reinterpret_cast<uintptr_t>(address) % alignment == 0, what,
                " with an alignment of ", desc.alignment, " is at ", address,
                ", should be at a multiple of ", alignment);
    };
    is_at(pointer, sure);
    for (const uint64_t alignment :
         {uint64_t{1}, sure, 2 * sure, uint64_t{4096}, uint64_t{1} << 16, uint64_t{2} << 20}) {
        desc.alignment = alignment;
        void *aligned = nullptr;
        const pi_result result = piUsmAlloc(fixture.context(), fixture.device(), &desc, &aligned);
        if (result != PI_SUCCESS) {
            require_error(result, PI_ERROR_INVALID_ALIGNMENT, what, " with an alignment of ",
                          alignment);
            require(alignment > sure, what, " with an alignment of ", alignment,
                    ", which the scope has, is refused");
            continue;
        }
        const Usm usm(fixture.context(), aligned, desc.size);
        is_at(aligned, std::max(alignment, sure));
    }
}

CONFORMANCE_TEST("memory", "requirements on USM hold, or are refused") {
    const Queue queue = fixture.make_queue();
    const std::vector<pi_memory_scope> scopes = fixture.scopes();
    for (const pi_usm_kind kind : need_usm(fixture)) {
        for (uint32_t scope = 0; scope < scopes.size(); ++scope) {
            for (const auto &[demand, flag, name] : demands) {
                const auto has = [flag = flag](const pi_memory_scope &one) {
                    return (one.flags & flag) != 0;
                };
                // The host's memory, and what moves there, may be as the scope that the host's
                // memory is in.
                const bool possible =
                    kind == PI_USM_DEVICE ? has(scopes[scope]) : std::ranges::any_of(scopes, has);
                const std::string what =
                    join(name_of_kind(kind), " USM in scope ", scope, " with ", name);
                pi_usm_desc desc = usm_desc(kind, 4096);
                desc.scope = scope;
                desc.flags = demand;
                void *pointer = nullptr;
                const pi_result result =
                    piUsmAlloc(fixture.context(), fixture.device(), &desc, &pointer);
                if (result == PI_SUCCESS) {
                    const Usm usm(fixture.context(), pointer, desc.size);
                    require(possible, what, " succeeded, should be PI_ERROR_UNSUPPORTED_FEATURE");
                    require_aligned(fixture, desc, scopes[scope].min_alignment, pointer, what);
                    const Bytes bytes = fixture.random_bytes(desc.size);
                    usm_upload(fixture, queue, pointer, bytes);
                    require_usm_contents(fixture, queue, pointer, bytes, what);
                    continue;
                }
                require(scope != 0 || kind != PI_USM_DEVICE || !possible, what,
                        " is refused: ", last_error());
                require_error(result, PI_ERROR_UNSUPPORTED_FEATURE, "piUsmAlloc of ", what);
                require_untouched<void *>(what, {PI_ERROR_UNSUPPORTED_FEATURE}, [&](void **out) {
                    return piUsmAlloc(fixture.context(), fixture.device(), &desc, out);
                });
            }
        }
    }
}

CONFORMANCE_TEST("image", "images are created in every scope, or refused there") {
    need_images(fixture);
    const Queue queue = fixture.make_queue();
    const auto scopes = static_cast<uint32_t>(fixture.scopes().size());
    for (uint32_t scope = 0; scope < scopes; ++scope) {
        pi_mem_image_desc desc = any_image_desc(fixture);
        desc.scope = scope;
        Mem image;
        const pi_result result =
            piMemImageCreate(fixture.context(), fixture.device(), &desc, image.out());
        if (result != PI_SUCCESS) {
            require(scope != 0, "an image in scope 0 is refused: ", last_error());
            require_error(result, PI_ERROR_UNSUPPORTED_FEATURE, "an image in scope ", scope);
            continue;
        }
        require_equal(get_info<uint32_t>(&piMemGetInfo, image.get(), PI_MEM_INFO_SCOPE), scope,
                      "PI_MEM_INFO_SCOPE of an image");
        const Bytes pixels = random_pixels(fixture, desc);
        image_upload(fixture, queue, image, desc, pixels);
        require_pixels(fixture, queue, image, desc, pixels, join("an image in scope ", scope));
    }
}

} // namespace
} // namespace pi::suite
