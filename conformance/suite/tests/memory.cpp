// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Creating buffers: what a descriptor requires holds, or is refused.

#include "memory.hpp"
#include "checks.hpp"
#include "host_memory.hpp"
#include "partition.hpp"
#include "registry.hpp"
#include "second_loader.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

namespace pi::suite {
namespace {

CONFORMANCE_TEST("memory", "a buffer returns the bytes that were written to it") {
    const uint64_t size = fixture.random(1, 1 << 20);
    const Mem mem = fixture.make_buffer(size);
    const Queue queue = fixture.make_queue();
    const Bytes bytes = fixture.random_bytes(size);
    fixture.upload(queue, mem, bytes);
    fixture.require_contents(queue, mem, bytes, "what was written");
}

CONFORMANCE_TEST("memory", "a buffer of any size has that size, and a last byte") {
    const Queue queue = fixture.make_queue();
    for (const uint64_t size :
         {1u, 2u, 3u, 7u, 13u, 63u, 64u, 65u, 127u, 509u, 4095u, 4096u, 4097u, 65537u, 1048573u}) {
        const Bytes bytes = fixture.random_bytes(size);
        const Mem mem = fixture.make_buffer(fixture.place(), bytes);
        require_equal(get_info<uint64_t>(&piMemGetInfo, mem.get(), PI_MEM_INFO_SIZE), size,
                      "PI_MEM_INFO_SIZE");
        fixture.require_contents(queue, mem, bytes, join("a buffer of ", size, " bytes"));
        const Bytes last(1, std::byte{0x42});
        fixture.upload(queue, mem, last, size - 1);
        require(fixture.download(queue, mem, 1, size - 1) == last, "a buffer of ", size,
                " bytes: its last byte is not what was written");
    }
}

CONFORMANCE_TEST("memory", "a large buffer holds its bytes") {
    const uint64_t size = fixture.at_most((48 << 20) + 1);
    const Queue queue = fixture.make_queue();
    const Bytes bytes = fixture.random_bytes(size);
    const Mem mem = fixture.make_buffer(fixture.place(), bytes);
    fixture.require_contents(queue, mem, bytes, join("a buffer of ", size, " bytes"));
}

CONFORMANCE_TEST("memory", "released memory can be allocated again") {
    // Together more than the device has, if that is not too much for a test.
    constexpr uint64_t piece = 256u << 20, most_rounds = 64;
    uint64_t size = piece;
    uint64_t capacity = 0;
    for (const pi_device_info name :
         {PI_DEVICE_INFO_MAX_ALLOCATION_SIZE, PI_DEVICE_INFO_GLOBAL_MEMORY_SIZE}) {
        if (piDeviceGetInfo(fixture.device(), name, sizeof capacity, &capacity, nullptr) !=
                PI_SUCCESS ||
            capacity == 0)
            capacity = piece * most_rounds;
        size = std::min(size, std::max<uint64_t>(capacity / 2, 1));
    }
    const Queue queue = fixture.make_queue();
    const uint64_t rounds = std::min(capacity / size + 2, most_rounds);
    for (uint64_t round = 0; round < rounds; ++round) {
        const Bytes bytes = fixture.random_bytes(64);
        const Mem mem = fixture.make_buffer(size);
        fixture.upload(queue, mem, bytes, size - std::min<uint64_t>(size, bytes.size()));
    }
}

CONFORMANCE_TEST("memory", "buffers have storage of their own") {
    const Queue queue = fixture.make_queue();
    std::vector<Bytes> bytes;
    std::vector<Mem> mems;
    for (int i = 0; i < 64; ++i) {
        bytes.push_back(fixture.random_bytes(fixture.random(1, 3000)));
        mems.push_back(fixture.make_buffer(bytes.back().size()));
    }
    for (std::size_t i = 0; i < mems.size(); ++i)
        fixture.upload(queue, mems[i], bytes[i]);
    for (std::size_t i = 0; i < mems.size(); ++i)
        fixture.require_contents(queue, mems[i], bytes[i], join("buffer ", i, " of 64"));
}

CONFORMANCE_TEST("memory", "buffers come and go on many threads") {
    fixture.context(); // made here: the threads share it
    fixture.run_threads(6, [&](unsigned thread) {
        const Queue queue = fixture.make_queue();
        for (unsigned round = 0; round < 20; ++round) {
            const Bytes bytes(1000 + 37 * thread, static_cast<std::byte>(thread * 20 + round));
            const Mem mem = fixture.make_buffer(bytes.size());
            fixture.upload(queue, mem, bytes);
            fixture.require_contents(queue, mem, bytes, "a thread's buffer");
        }
    });
}

// ----- Sizes and devices that must be refused -----

CONFORMANCE_TEST("memory", "sizes of 0 and beyond the device's maximum are refused") {
    const Place place = fixture.place();
    require_refused(place, "0 bytes", buffer_desc(0), {PI_ERROR_INVALID_SIZE});
    for (const uint64_t size :
         {UINT64_MAX, UINT64_MAX - 4095, uint64_t{1} << 63, uint64_t{1} << 62})
        require_refused(
            place, join(size, " bytes"), buffer_desc(size),
            {PI_ERROR_INVALID_SIZE, PI_ERROR_OUT_OF_DEVICE_MEMORY, PI_ERROR_OUT_OF_HOST_MEMORY});
    // A refused allocation uses no memory.
    fixture.make_buffer(fixture.place(), Bytes(4096));
}

CONFORMANCE_TEST("memory", "memory of a device that is not of the context is refused") {
    const SeveralDevices devices(fixture);
    for (std::size_t i = 1; i < devices.size(); ++i)
        require_refused({devices[i], fixture.context()}, "a device outside of the context",
                        buffer_desc(64), {PI_ERROR_INVALID_DEVICE});
    const SecondLoader second(fixture);
    require_refused({second.place().device, fixture.context()},
                    "a device of another plugin instance", buffer_desc(64),
                    {PI_ERROR_INVALID_DEVICE});
}

// ----- Alignment -----

// The addresses that the object reports; it may report none.
void require_aligned(pi_mem mem, uint64_t alignment) {
    uint64_t reported = 0;
    if (piMemGetInfo(mem, PI_MEM_INFO_ALIGNMENT, sizeof reported, &reported, nullptr) ==
        PI_SUCCESS) {
        require(reported >= alignment && (reported & (reported - 1)) == 0,
                "PI_MEM_INFO_ALIGNMENT is ", reported, ", should be ", alignment, " at least");
    }
    uint64_t address = 0;
    if (piMemGetInfo(mem, PI_MEM_INFO_DEVICE_ADDRESS, sizeof address, &address, nullptr) ==
        PI_SUCCESS) {
        require(address % alignment == 0, "PI_MEM_INFO_DEVICE_ADDRESS is ", address,
                ", no multiple of ", alignment);
        require(reported == 0 || address % reported == 0, "the device address ", address,
                " is no multiple of PI_MEM_INFO_ALIGNMENT, ", reported);
    }
    void *pointer = nullptr;
    if (piMemGetHostPointer(mem, &pointer) == PI_SUCCESS) {
        const auto host = reinterpret_cast<uintptr_t>(pointer);
        require(host % alignment == 0 && host != 0, "the host pointer ", pointer,
                " is no multiple of ", alignment);
    }
}

// The same of a buffer in a scope that maps in place.
void require_aligned_map(Fixture &fixture, pi_queue queue, pi_mem mem, uint64_t alignment) {
    const auto size = get_info<uint64_t>(&piMemGetInfo, mem, PI_MEM_INFO_SIZE);
    const uint64_t reported = info_or(&piMemGetInfo, mem, PI_MEM_INFO_ALIGNMENT, alignment);
    void *pointer = nullptr;
    fixture.wait(fixture.map(queue, mem, PI_MAP_READ, 0, size, &pointer));
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    require(address % alignment == 0, "a map in place is at ", pointer, ", no multiple of ",
            alignment);
    require(address % reported == 0, "a map in place is at ", pointer,
            ", no multiple of PI_MEM_INFO_ALIGNMENT, ", reported);
    fixture.wait(fixture.unmap(queue, mem, pointer));
}

CONFORMANCE_TEST("memory", "an alignment is honoured in all that the buffer reports, or refused") {
    const Queue queue = fixture.make_queue();
    const std::vector<pi_memory_scope> scopes = fixture.scopes();
    for (uint32_t scope = 0; scope < scopes.size(); ++scope) {
        const uint64_t sure = scopes[scope].min_alignment;
        for (unsigned bit = 0; bit <= 64; ++bit) {
            const uint64_t alignment = bit == 64 ? 0 : uint64_t{1} << bit;
            pi_mem_buffer_desc desc = buffer_desc(1000);
            desc.scope = scope;
            desc.alignment = alignment;
            Mem mem;
            const pi_result result =
                piMemBufferCreate(fixture.context(), fixture.device(), &desc, mem.out());
            if (result != PI_SUCCESS) {
                require_error(result, PI_ERROR_INVALID_ALIGNMENT, "an alignment of ", alignment);
                require(alignment > sure, "an alignment of ", alignment,
                        " is refused, but the scope's is ", sure);
                continue;
            }
            require_aligned(mem, std::max(alignment, sure));
            if ((scopes[scope].flags & PI_SCOPE_MAPS_IN_PLACE) != 0)
                require_aligned_map(fixture, queue, mem, std::max(alignment, sure));
            const Bytes bytes = fixture.random_bytes(1000);
            fixture.upload(queue, mem, bytes);
            fixture.require_contents(queue, mem, bytes, join("a buffer aligned to ", alignment));
        }
    }
}

// A buffer over `pointer`, which is a multiple of `has`, has the alignment, or is refused.
void require_aligned_or_refused(Fixture &fixture, void *pointer, uint64_t has, uint64_t alignment,
                                std::initializer_list<pi_result> allowed) {
    pi_mem_buffer_desc desc = buffer_desc(4096, PI_MEM_USE_HOST_PTR, pointer);
    desc.alignment = alignment;
    Mem mem;
    const pi_result result =
        piMemBufferCreate(fixture.context(), fixture.device(), &desc, mem.out());
    if (result == PI_SUCCESS)
        require_aligned(mem, alignment);
    else
        require_error(result, allowed, "an alignment of ", alignment, " for a host_ptr of ", has);
}

CONFORMANCE_TEST("memory", "an alignment that host_ptr does not have is refused or honoured") {
    for (const uint64_t has : {uint64_t{64}, uint64_t{256}}) {
        HostMemory memory(4096, has);
        for (const uint64_t alignment : {has, 2 * has, uint64_t{4096}})
            require_aligned_or_refused(fixture, memory.data(), has, alignment,
                                       {PI_ERROR_MISALIGNED_POINTER, PI_ERROR_INVALID_ALIGNMENT,
                                        PI_ERROR_UNSUPPORTED_FEATURE});
    }
}

CONFORMANCE_TEST("memory", "a misaligned host_ptr is PI_ERROR_MISALIGNED_POINTER, unless the "
                           "alignment is honoured nevertheless") {
    // Alignments that the scope has anyway, so that only the pointer can be wrong.
    const uint64_t sure = fixture.scopes().at(0).min_alignment;
    HostMemory memory(sure + 4096, std::max<uint64_t>(sure, sizeof(void *)));
    for (uint64_t alignment = 2; alignment <= sure; alignment *= 2)
        require_aligned_or_refused(fixture, memory.data() + alignment / 2, alignment / 2, alignment,
                                   {PI_ERROR_MISALIGNED_POINTER});
}

CONFORMANCE_TEST("memory", "an alignment that is not a power of two is refused") {
    for (const uint64_t alignment : {uint64_t{3}, uint64_t{6}, uint64_t{48}, uint64_t{4097},
                                     (uint64_t{1} << 63) + 1, UINT64_MAX}) {
        pi_mem_buffer_desc desc = buffer_desc(64);
        desc.alignment = alignment;
        require_refused(fixture.place(), join("an alignment of ", alignment), desc,
                        {PI_ERROR_INVALID_ALIGNMENT});
    }
}

// ----- Host pointers -----

CONFORMANCE_TEST("memory", "PI_MEM_COPY_HOST_PTR copies during the call") {
    const Queue queue = fixture.make_queue();
    for (const uint64_t alignment : {uint64_t{0}, fixture.scopes().at(0).min_alignment * 4}) {
        for (const uint64_t size : {uint64_t{1}, uint64_t{4099}, uint64_t{1} << 20}) {
            const Bytes bytes = fixture.random_bytes(size);
            Bytes source = bytes;
            pi_mem_buffer_desc desc = buffer_desc(size, PI_MEM_COPY_HOST_PTR, source.data());
            desc.alignment = alignment;
            Mem mem;
            const pi_result result =
                piMemBufferCreate(fixture.context(), fixture.device(), &desc, mem.out());
            if (result == PI_ERROR_INVALID_ALIGNMENT && alignment != 0)
                continue;
            require_success(result, "piMemBufferCreate with PI_MEM_COPY_HOST_PTR");
            std::fill(source.begin(), source.end(), std::byte{0xEE});
            source.clear();
            source.shrink_to_fit();
            fixture.require_contents(queue, mem, bytes, "a buffer whose source has changed since");
            // And nothing goes back to it.
            fixture.upload(queue, mem, Bytes(size, std::byte{1}));
        }
    }
}

CONFORMANCE_TEST("memory",
                 "PI_MEM_USE_HOST_PTR begins with the pointer's bytes, and a map returns it") {
    const Queue queue = fixture.make_queue();
    constexpr uint64_t size = 8192;
    const Bytes bytes = fixture.random_bytes(size);
    HostMemory memory(size, 4096);
    memory.assign(bytes);
    const Mem mem =
        fixture.make_buffer(fixture.place(), buffer_desc(size, PI_MEM_USE_HOST_PTR, memory.data()));
    fixture.require_contents(queue, mem, bytes, "a buffer that uses a host pointer");
    const Bytes next = fixture.random_bytes(size);
    fixture.upload(queue, mem, next);
    for (const uint64_t offset : {0, 1000}) {
        void *pointer = nullptr;
        fixture.wait(fixture.map(queue, mem, PI_MAP_READ, offset, size - offset, &pointer));
        require(pointer == memory.data() + offset, "a map at ", offset, " returned ", pointer,
                ", the host pointer is ", static_cast<void *>(memory.data()));
        require_same_bytes(memory.data() + offset, next.data() + offset, size - offset,
                           "the host's memory while it is mapped");
        fixture.wait(fixture.unmap(queue, mem, pointer));
    }
}

CONFORMANCE_TEST("memory", "a host_ptr of a large alignment is accepted like any other") {
    constexpr std::align_val_t much{uint64_t{128} << 20};
    constexpr uint64_t size = 4096;
    const auto free = [&](std::byte *bytes) { ::operator delete(bytes, much); };
    const std::unique_ptr<std::byte, decltype(free)> memory(
        static_cast<std::byte *>(::operator new(2 * size, much)), free);
    const Queue queue = fixture.make_queue();
    const Mem first = fixture.make_buffer(fixture.place(), size); // where memory begins is taken
    for (const uint64_t offset : {uint64_t{0}, size}) {
        std::byte *const pointer = memory.get() + offset;
        const Bytes bytes = fixture.random_bytes(size);
        std::copy(bytes.begin(), bytes.end(), pointer);
        pi_mem_buffer_desc desc = buffer_desc(size, PI_MEM_USE_HOST_PTR, pointer);
        Mem mem;
        require_success(piMemBufferCreate(fixture.context(), fixture.device(), &desc, mem.out()),
                        "piMemBufferCreate with PI_MEM_USE_HOST_PTR at ", pointer);
        require_aligned(mem, 1);
        fixture.require_contents(queue, mem, bytes, join("a buffer of what lies at ", pointer));
    }
}

CONFORMANCE_TEST("memory", "host_ptr and its flags belong together") {
    Bytes bytes(64);
    const Place place = fixture.place();
    require_refused(place, "a host_ptr and no flag for it", buffer_desc(64, 0, bytes.data()),
                    {PI_ERROR_INVALID_VALUE});
    require_refused(place, "both PI_MEM_COPY_HOST_PTR and PI_MEM_USE_HOST_PTR",
                    buffer_desc(64, PI_MEM_COPY_HOST_PTR | PI_MEM_USE_HOST_PTR, bytes.data()),
                    {PI_ERROR_INVALID_VALUE});
    for (const uint64_t flag : {PI_MEM_COPY_HOST_PTR, PI_MEM_USE_HOST_PTR})
        require_refused(place, join("flag ", flag, " and host_ptr NULL"), buffer_desc(64, flag),
                        {PI_ERROR_INVALID_NULL_POINTER});
}

// ----- Access -----

// Each way in which commands read and write.
void require_commands_work(Fixture &fixture, pi_mem mem, uint64_t size, const std::string &what) {
    const Queue queue = fixture.make_queue();
    Bytes bytes = fixture.random_bytes(size);
    fixture.upload(queue, mem, bytes);
    fixture.require_contents(queue, mem, bytes, what + " after a write");
    fixture.wait(fixture.fill(queue, mem, 0, size, Bytes(1, std::byte{0x5A})), "filling " + what);
    fixture.require_contents(queue, mem, Bytes(size, std::byte{0x5A}), what + " after a fill");
    bytes = fixture.random_bytes(size);
    const Mem src = fixture.make_buffer(fixture.place(), bytes);
    const Mem dst = fixture.make_buffer(size);
    fixture.wait(fixture.copy(queue, src, 0, mem, 0, size), "copying to " + what);
    fixture.wait(fixture.copy(queue, mem, 0, dst, 0, size), "copying from " + what);
    fixture.require_contents(queue, dst, bytes, "what was copied to and from " + what);
    void *pointer = nullptr;
    fixture.wait(fixture.map(queue, mem, PI_MAP_READ | PI_MAP_WRITE, 0, size, &pointer));
    require_same_bytes(pointer, bytes.data(), size, what + " in a map");
    bytes = fixture.random_bytes(size);
    std::memcpy(pointer, bytes.data(), size);
    fixture.wait(fixture.unmap(queue, mem, pointer));
    fixture.require_contents(queue, mem, bytes, what + " after a map");
}

CONFORMANCE_TEST("memory", "access flags are about kernels; commands read and write in any case") {
    constexpr uint64_t size = 4096;
    for (const uint64_t access : {PI_MEM_READ_ONLY, PI_MEM_WRITE_ONLY}) {
        const Mem mem = fixture.make_buffer(fixture.place(), buffer_desc(size, access));
        require_commands_work(fixture, mem, size, join("a buffer with flag ", access));
        if (!fixture.can(PI_CAPABILITY_VIEW))
            continue;
        const Mem root = fixture.make_buffer(size);
        auto desc = pi::desc<pi_mem_partition_desc>();
        desc.flags = access;
        desc.size = size;
        Mem view;
        require_success(piMemBufferPartition(root, &desc, view.out()), "piMemBufferPartition");
        require_commands_work(fixture, view, size, join("a view with flag ", access));
    }
}

// ----- Exports -----

CONFORMANCE_TEST(
    "memory", "exports that the device does not support are refused when the buffer is created") {
    uint32_t exports = 0;
    const pi_result asked = piDeviceGetInfo(fixture.device(), PI_DEVICE_INFO_EXPORT_HANDLE_TYPES,
                                            sizeof exports, &exports, nullptr);
    if (asked != PI_ERROR_UNSUPPORTED_FEATURE)
        require_success(asked, "PI_DEVICE_INFO_EXPORT_HANDLE_TYPES");
    for (uint32_t type = 0; type < 32; ++type) { // and bits that are no type
        if ((exports & (1u << type)) != 0)
            continue;
        pi_mem_buffer_desc desc = buffer_desc(4096);
        desc.export_types = 1u << type;
        require_refused(fixture.place(), join("export type ", type), desc,
                        {PI_ERROR_UNSUPPORTED_FEATURE});
    }
}

} // namespace
} // namespace pi::suite
