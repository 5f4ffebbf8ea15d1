// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Queries of memory, and host access without a command.

#include "checks.hpp"
#include "host_memory.hpp"
#include "memory.hpp"
#include "native.hpp"
#include "partition.hpp"
#include "registry.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace pi::suite {
namespace {

constexpr uint64_t size = 4096;

CONFORMANCE_TEST("memory", "a buffer answers every info name by its type") {
    const Mem mem = fixture.make_buffer(size);
    check_info(
        "piMemGetInfo",
        [&](uint32_t name, uint64_t room, void *value, uint64_t *out_size) {
            return piMemGetInfo(mem, name, room, value, out_size);
        },
        mem_info_names());
}

CONFORMANCE_TEST("memory", "a buffer reports its context, device, flags and kind, and no parent") {
    Bytes bytes(size);
    for (const uint64_t flags :
         {uint64_t{0}, uint64_t{PI_MEM_READ_ONLY}, uint64_t{PI_MEM_WRITE_ONLY},
          uint64_t{PI_MEM_COPY_HOST_PTR}, uint64_t{PI_MEM_READ_ONLY | PI_MEM_COPY_HOST_PTR}}) {
        auto desc = pi::desc<pi_mem_buffer_desc>();
        desc.size = size;
        desc.flags = flags;
        if ((flags & PI_MEM_COPY_HOST_PTR) != 0)
            desc.host_ptr = bytes.data();
        const Mem owner = fixture.make_buffer(fixture.place(), desc);
        const pi_mem mem = owner;
        require_equal(get_info<uint64_t>(&piMemGetInfo, mem, PI_MEM_INFO_FLAGS), flags,
                      "PI_MEM_INFO_FLAGS");
        require(get_info<pi_context>(&piMemGetInfo, mem, PI_MEM_INFO_CONTEXT) == fixture.context(),
                "the buffer reports another context");
        require(get_info<pi_device>(&piMemGetInfo, mem, PI_MEM_INFO_DEVICE) == fixture.device(),
                "the buffer reports another device");
        require(get_info<pi_mem>(&piMemGetInfo, mem, PI_MEM_INFO_PARENT) == nullptr,
                "a root reports a parent");
        require_equal(get_info<uint64_t>(&piMemGetInfo, mem, PI_MEM_INFO_OFFSET), uint64_t{0},
                      "PI_MEM_INFO_OFFSET of a root");
        require_equal(get_info<uint32_t>(&piMemGetInfo, mem, PI_MEM_INFO_SCOPE), 0u,
                      "PI_MEM_INFO_SCOPE");
        require_equal(get_info<pi_memory_kind>(&piMemGetInfo, mem, PI_MEM_INFO_KIND),
                      pi_memory_kind{PI_MEMORY_KIND_BUFFER}, "PI_MEM_INFO_KIND");
    }
}

CONFORMANCE_TEST("memory", "a linear buffer and its view have pitches where n-D allocations do") {
    for (const uint32_t scope : scopes_with(fixture, PI_SCOPE_LAYOUT, "PI_SCOPE_LAYOUT")) {
        pi_mem_buffer_desc desc = buffer_desc(2 * size);
        desc.scope = scope;
        const Mem mem = fixture.make_buffer(fixture.place(), desc);
        const auto require_pitch = [](pi_mem of, const char *what) {
            const auto pitches = get_info_list<uint64_t>(&piMemGetInfo, of, PI_MEM_INFO_PITCHES);
            require(pitches == std::vector<uint64_t>{1}, "PI_MEM_INFO_PITCHES of ", what,
                    ": the only axis is that of bytes");
        };
        require_pitch(mem, "a buffer without a layout");
        if (!fixture.can(PI_CAPABILITY_VIEW))
            continue;
        const uint64_t unit = fixture.scopes()[scope].offset_alignment;
        require_pitch(fixture.make_view(mem, unit <= size ? unit : 0, 64),
                      "a view of a buffer without a layout");
        const Shape shape(1, {64, 128}, {1});
        const pi_mem_layout_desc layout = shape.desc();
        desc.next = &layout;
        const Mem rows = fixture.make_buffer(fixture.place(), desc);
        const Mem view = fixture.make_view(rows, 0, size);
        require(get_info_list<uint64_t>(&piMemGetInfo, view.get(), PI_MEM_INFO_PITCHES) ==
                    get_info_list<uint64_t>(&piMemGetInfo, rows.get(), PI_MEM_INFO_PITCHES),
                "PI_MEM_INFO_PITCHES of a view is not its root's");
    }
}

CONFORMANCE_TEST("memory", "a buffer is created on the requested device, in a context of several") {
    const SeveralDevices devices(fixture);
    const Context context = fixture.make_context(devices);
    for (const pi_device device : devices) {
        const Mem mem = fixture.make_buffer(Place{device, context}, 64);
        require(get_info<pi_device>(&piMemGetInfo, mem.get(), PI_MEM_INFO_DEVICE) == device,
                "the buffer reports another device");
        require(get_info<pi_context>(&piMemGetInfo, mem.get(), PI_MEM_INFO_CONTEXT) == context,
                "the buffer reports another context");
    }
}

CONFORMANCE_TEST("memory", "a retained buffer outlives its first release") {
    const Queue queue = fixture.make_queue();
    std::vector<Mem> others;
    for (int round = 0; round < 10; ++round) {
        const Bytes bytes = fixture.random_bytes(size);
        Mem mem = fixture.make_buffer(fixture.place(), bytes);
        require_success(piMemRetain(mem), "piMemRetain");
        const Mem again(mem.get());
        mem.reset();
        // Objects that may get the same address.
        for (int i = 0; i < 4; ++i)
            others.push_back(fixture.make_buffer(fixture.place(), Bytes(size, std::byte{0xEE})));
        fixture.require_contents(queue, again, bytes, "a buffer with one of two references left");
        require(info_or(&piMemGetInfo, again.get(), PI_MEM_INFO_REFERENCE_COUNT, 1u) >= 1,
                "a buffer that is held has a reference count of 0");
    }
}

CONFORMANCE_TEST("memory",
                 "every function of memory refuses a handle that is not a memory object") {
    const Queue queue = fixture.make_queue();
    const auto wrong = reinterpret_cast<pi_mem>(queue.get());
    const std::initializer_list<pi_result> allowed{PI_ERROR_INVALID_MEM_OBJECT};
    require_error(piMemRetain(wrong), allowed, "piMemRetain of a queue");
    require_error(piMemRelease(wrong), allowed, "piMemRelease of a queue");
    require_untouched<uint64_t>("piMemGetInfo of a queue", allowed, [&](uint64_t *out) {
        return piMemGetInfo(wrong, PI_MEM_INFO_SIZE, sizeof *out, out, nullptr);
    });
    require_untouched<uint64_t>("the size of piMemGetInfo of a queue", allowed, [&](uint64_t *out) {
        return piMemGetInfo(wrong, PI_MEM_INFO_SIZE, 0, nullptr, out);
    });
    if (fixture.can(PI_CAPABILITY_MEM_HOST_ACCESS)) {
        require_untouched<void *>("piMemGetHostPointer of a queue", allowed,
                                  [&](void **out) { return piMemGetHostPointer(wrong, out); });
        require_error(piMemFlush(wrong, 0, 1), allowed, "piMemFlush of a queue");
        require_error(piMemInvalidate(wrong, 0, 1), allowed, "piMemInvalidate of a queue");
    }
    if (fixture.can(PI_CAPABILITY_VIEW)) {
        auto desc = pi::desc<pi_mem_partition_desc>();
        desc.size = 1;
        require_untouched<pi_mem>("piMemBufferPartition of a queue", allowed, [&](pi_mem *out) {
            return piMemBufferPartition(wrong, &desc, out);
        });
    }
    if (fixture.can(PI_CAPABILITY_NATIVE))
        require_untouched<pi_native_handle>(
            "piMemGetNativeHandle of a queue", allowed, [&](pi_native_handle *out) {
                return piMemGetNativeHandle(wrong, fixture.device(), out);
            });
    require_success(piQueueFinish(queue), "piQueueFinish of what was taken for memory");
}

pi_coherence coherence_of(pi_mem mem) {
    const auto coherence = get_info<pi_coherence>(&piMemGetInfo, mem, PI_MEM_INFO_COHERENCE);
    require(coherence <= PI_COHERENCE_MAP_UNMAP, "PI_MEM_INFO_COHERENCE of a buffer is ",
            coherence);
    return coherence;
}

// The host's view of a buffer, under the object's own rule. With MAP_UNMAP a range that is mapped.
class HostView {
public:
    HostView(Fixture &fixture, pi_queue queue, pi_mem mem)
        : fixture_(fixture), queue_(queue), mem_(mem) {
        require_success(piMemGetHostPointer(mem, &pointer_), "piMemGetHostPointer");
        require(pointer_ != nullptr, "piMemGetHostPointer succeeded, but returned NULL");
        coherence_ = coherence_of(mem);
        if (coherence_ == PI_COHERENCE_UNKNOWN)
            skip("the device does not report how the host may use the memory");
    }

    /// Only the range is invalidated, or flushed.
    Bytes read(uint64_t offset, uint64_t length) {
        void *mapped = begin(PI_MAP_READ);
        invalidate(offset, length);
        Bytes bytes(at(offset), at(offset) + length);
        end(mapped);
        return bytes;
    }
    void write(const Bytes &bytes, uint64_t offset) {
        void *mapped = begin(PI_MAP_READ | PI_MAP_WRITE);
        invalidate(offset, bytes.size()); // a flush publishes whole units
        std::memcpy(at(offset), bytes.data(), bytes.size());
        if (coherence_ == PI_COHERENCE_FLUSH_INVALIDATE)
            require_success(piMemFlush(mem_, offset, bytes.size()), "piMemFlush");
        end(mapped);
    }

private:
    std::byte *at(uint64_t offset) const { return static_cast<std::byte *>(pointer_) + offset; }
    void invalidate(uint64_t offset, uint64_t length) {
        if (coherence_ == PI_COHERENCE_FLUSH_INVALIDATE)
            require_success(piMemInvalidate(mem_, offset, length), "piMemInvalidate");
    }
    void *begin(uint64_t flags) {
        if (coherence_ != PI_COHERENCE_MAP_UNMAP)
            return nullptr;
        void *mapped = nullptr;
        fixture_.wait(fixture_.map(queue_, mem_, flags, 0, size, &mapped), "mapping");
        require(mapped == pointer_, "a map returned ", mapped, ", piMemGetHostPointer ", pointer_);
        return mapped;
    }
    void end(void *mapped) {
        if (mapped != nullptr)
            fixture_.wait(fixture_.unmap(queue_, mem_, mapped), "unmapping");
    }

    Fixture &fixture_;
    pi_queue queue_;
    pi_mem mem_;
    void *pointer_ = nullptr;
    pi_coherence coherence_ = PI_COHERENCE_UNKNOWN;
};

CONFORMANCE_TEST("memory", "the coherence of a buffer agrees with its scope") {
    const std::vector<pi_memory_scope> scopes = fixture.scopes();
    for (uint32_t scope = 0; scope < scopes.size(); ++scope) {
        auto desc = pi::desc<pi_mem_buffer_desc>();
        desc.size = size;
        desc.scope = scope;
        const Mem mem = fixture.make_buffer(fixture.place(), desc);
        const pi_coherence coherence = coherence_of(mem);
        if ((scopes[scope].flags & PI_SCOPE_COHERENT) != 0)
            require_equal(coherence, pi_coherence{PI_COHERENCE_COHERENT},
                          "the coherence of memory in a scope that is coherent");
    }
}

// Bytes go both ways through the host pointer.
void require_seen(Fixture &fixture, pi_mem mem, const std::string &what) {
    const Queue queue = fixture.make_queue();
    HostView view(fixture, queue, mem);
    for (int round = 0; round < 5; ++round) {
        Bytes model = fixture.random_bytes(size);
        fixture.upload(queue, mem, model);
        const uint64_t length = round == 0 ? size : fixture.random(1, 200);
        const uint64_t from = fixture.random(0, size - length);
        const Bytes is = view.read(from, length);
        require_same_bytes(is.data(), model.data() + from, length, what + " as the host sees it");
        const uint64_t offset = fixture.random(0, size - 100);
        const Bytes part = fixture.random_bytes(fixture.random(1, 100));
        view.write(part, offset);
        std::copy(part.begin(), part.end(), model.begin() + static_cast<std::ptrdiff_t>(offset));
        fixture.require_contents(queue, mem, model, what + " as the device sees the host's bytes");
    }
}

CONFORMANCE_TEST("memory", "host and device see each other's bytes through the host pointer") {
    fixture.need(PI_CAPABILITY_MEM_HOST_ACCESS, "PI_CAPABILITY_MEM_HOST_ACCESS");
    const Mem mem = fixture.make_buffer(size);
    const bool visible = (fixture.scopes().at(0).flags & PI_SCOPE_HOST_VISIBLE) != 0;
    void *pointer = poison<void *>();
    if (!visible && piMemGetHostPointer(mem, &pointer) != PI_SUCCESS) {
        require_untouched<void *>("the host pointer of memory that the host cannot address",
                                  {PI_ERROR_UNSUPPORTED_FEATURE},
                                  [&](void **out) { return piMemGetHostPointer(mem, out); });
        skip("the host cannot address the device's memory");
    }
    require_seen(fixture, mem, "a buffer");
    require_error(piMemGetHostPointer(mem, nullptr), PI_ERROR_INVALID_NULL_POINTER,
                  "piMemGetHostPointer with out_pointer NULL");
}

CONFORMANCE_TEST("memory", "in every host-visible scope host and device see each other's bytes") {
    fixture.need(PI_CAPABILITY_MEM_HOST_ACCESS, "PI_CAPABILITY_MEM_HOST_ACCESS");
    for (const uint32_t scope :
         scopes_with(fixture, PI_SCOPE_HOST_VISIBLE, "PI_SCOPE_HOST_VISIBLE")) {
        const pi_memory_scope reported = fixture.scopes().at(scope);
        // The view shares no unit of a flush with the bytes before it.
        const uint64_t begin =
            std::lcm(reported.offset_alignment, std::max<uint64_t>(reported.flush_atom, 1));
        auto desc = pi::desc<pi_mem_buffer_desc>();
        desc.scope = scope;
        desc.size = size;
        const Mem mem = fixture.make_buffer(fixture.place(), desc);
        require_seen(fixture, mem, join("a buffer of scope ", scope));
        if (!fixture.can(PI_CAPABILITY_VIEW))
            continue;
        desc.size = begin + size;
        const Mem root = fixture.make_buffer(fixture.place(), desc);
        require_seen(fixture, fixture.make_view(root, begin, size),
                     join("a view in scope ", scope));
    }
}

CONFORMANCE_TEST("memory", "memory of a scope that the host cannot address has no host pointer") {
    fixture.need(PI_CAPABILITY_MEM_HOST_ACCESS, "PI_CAPABILITY_MEM_HOST_ACCESS");
    const std::vector<pi_memory_scope> scopes = fixture.scopes();
    bool any = false;
    for (uint32_t scope = 0; scope < scopes.size(); ++scope) {
        if ((scopes[scope].flags & PI_SCOPE_HOST_VISIBLE) != 0)
            continue;
        auto desc = pi::desc<pi_mem_buffer_desc>();
        desc.size = size;
        desc.scope = scope;
        const Mem mem = fixture.make_buffer(fixture.place(), desc);
        void *pointer = nullptr;
        if (piMemGetHostPointer(mem, &pointer) == PI_SUCCESS)
            continue; // it can, all the same: another test looks at the bytes
        any = true;
        require_untouched<void *>(join("the host pointer of memory in scope ", scope),
                                  {PI_ERROR_UNSUPPORTED_FEATURE},
                                  [&](void **out) { return piMemGetHostPointer(mem, out); });
    }
    if (!any)
        skip("the host can address the memory of each scope");
}

// What piMemFlush and piMemInvalidate accept of an object with these bytes.
void check_maintenance(Fixture &fixture, pi_mem mem, const Bytes &bytes, uint64_t atom) {
    const uint64_t whole = bytes.size();
    // Invalidated first: a flush may publish what the host sees.
    for (const auto function : {&piMemInvalidate, &piMemFlush}) {
        const char *name = function == &piMemFlush ? "piMemFlush" : "piMemInvalidate";
        if (coherence_of(mem) == PI_COHERENCE_MAP_UNMAP) {
            // The host's bytes reach the device by maps only.
            require_error(function(mem, 0, whole), PI_ERROR_UNSUPPORTED_FEATURE, name,
                          " of memory that is mapped and unmapped");
            require_error(function(mem, 0, whole + 1),
                          {PI_ERROR_INVALID_SIZE, PI_ERROR_UNSUPPORTED_FEATURE}, name,
                          " one byte past the end");
            continue;
        }
        require_success(function(mem, 0, whole), name, " of all bytes");
        require_success(function(mem, atom, atom), name, " of one atom");
        require_success(function(mem, whole - 1, 1), name, " of the last byte");
        require_error(function(mem, 0, whole + 1), PI_ERROR_INVALID_SIZE, name,
                      " one byte past the end");
        require_error(function(mem, whole, atom), PI_ERROR_INVALID_SIZE, name, " behind the end");
        require_error(function(mem, atom, UINT64_MAX), PI_ERROR_INVALID_SIZE, name,
                      " of a range that overflows");
    }
    const Queue queue = fixture.make_queue();
    fixture.require_contents(queue, mem, bytes, "the buffer after flushes and invalidates");
}

CONFORMANCE_TEST("memory", "flush and invalidate accept ranges of the object and no other") {
    fixture.need(PI_CAPABILITY_MEM_HOST_ACCESS, "PI_CAPABILITY_MEM_HOST_ACCESS");
    const std::vector<pi_memory_scope> scopes = fixture.scopes();
    const Queue queue = fixture.make_queue();
    bool any = false;
    for (uint32_t scope = 0; scope < scopes.size(); ++scope) {
        const uint64_t atom = std::max<uint64_t>(scopes[scope].flush_atom, 1);
        const uint64_t part = 4 * std::lcm(std::max<uint64_t>(atom, 1024),
                                           std::max<uint64_t>(scopes[scope].offset_alignment, 1));
        auto desc = pi::desc<pi_mem_buffer_desc>();
        desc.size = 2 * part;
        desc.scope = scope;
        const Bytes bytes = fixture.random_bytes(desc.size);
        const Mem mem = fixture.make_buffer(fixture.place(), desc);
        fixture.upload(queue, mem, bytes);
        void *pointer = nullptr;
        if (coherence_of(mem) == PI_COHERENCE_UNKNOWN ||
            (coherence_of(mem) != PI_COHERENCE_MAP_UNMAP &&
             piMemGetHostPointer(mem, &pointer) != PI_SUCCESS))
            continue;
        any = true;
        check_maintenance(fixture, mem, bytes, atom);
        if (fixture.can(PI_CAPABILITY_VIEW))
            check_maintenance(fixture, fixture.make_view(mem, part, part),
                              Bytes(bytes.begin() + static_cast<std::ptrdiff_t>(part), bytes.end()),
                              atom);
    }
    const std::optional<uint64_t> alignment = import_alignment(fixture, fixture.device());
    if (alignment) {
        HostMemory memory(4 * std::max<uint64_t>(*alignment, 4096), *alignment);
        memory.assign(fixture.random_bytes(memory.size()));
        const Mem mem = make_import(fixture.place(), memory);
        if (coherence_of(mem) != PI_COHERENCE_UNKNOWN) {
            any = true;
            check_maintenance(fixture, mem, memory.bytes(),
                              std::max<uint64_t>(scopes.at(0).flush_atom, 1));
        }
    }
    if (!any)
        skip("the device does not report how the host may use the memory");
}

CONFORMANCE_TEST("memory",
                 "a native handle is borrowed, of a known type, and the same on each query") {
    fixture.need(PI_CAPABILITY_NATIVE, "PI_CAPABILITY_NATIVE");
    const Mem mem = fixture.make_buffer(size);
    const Mem other = fixture.make_buffer(size);
    const auto ask = [&](pi_mem of) {
        auto handle = poison<pi_native_handle>();
        require_success(piMemGetNativeHandle(of, fixture.device(), &handle),
                        "piMemGetNativeHandle");
        require(handle.type != PI_NATIVE_NONE && !same(handle, poison<pi_native_handle>()),
                "the native handle has no type");
        require(handle.count >= 1 && handle.count <= std::size(handle.value),
                "the native handle has ", handle.count, " values");
        return handle;
    };
    const pi_native_handle first = ask(mem);
    void *pointer = nullptr;
    if (first.type == PI_NATIVE_HOST_POINTER && piMemGetHostPointer(mem, &pointer) == PI_SUCCESS)
        require(first.value[0] == reinterpret_cast<uintptr_t>(pointer),
                "the native handle is not the address of the bytes");
    for (int i = 0; i < 100; ++i)
        require(same_handle(ask(mem), first),
                "the native handle is another one on the second call");
    require(!same_handle(ask(other), first), "two buffers have one native handle");
    require_error(piMemGetNativeHandle(mem, fixture.device(), nullptr),
                  PI_ERROR_INVALID_NULL_POINTER, "piMemGetNativeHandle with out_handle NULL");
    const Bytes bytes = fixture.random_bytes(size);
    const Queue queue = fixture.make_queue();
    fixture.upload(queue, mem, bytes);
    fixture.require_contents(queue, mem, bytes, "a buffer whose native handle was taken");
}

} // namespace
} // namespace pi::suite
