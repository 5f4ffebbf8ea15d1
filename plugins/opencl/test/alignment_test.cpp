// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Promised alignments are checked against the device's own addresses.
#include "fixture.hpp"

using namespace opencl_test;

namespace {

constexpr const char *address_source = R"(
kernel void address(global const uchar *memory, global ulong *out) { *out = (ulong)memory; }
)";

struct Addresses {
    explicit Addresses(const Place &at)
        : place(at), program(build(at.context, address_source)),
          kernel(make_kernel(program, "address")), out(at.buffer(8)) {}
    uint64_t of(pi_mem mem, uint64_t offset = 0) {
        wait(launch(place.queue, kernel, 1, {buffer_argument(mem, offset), buffer_argument(out)}));
        uint64_t address = 0;
        wait(read(place.queue, out, &address, {range(0, 0, 8)}));
        REQUIRE(address);
        return address;
    }
    const Place &place;
    Program program;
    Kernel kernel;
    Mem out;
};

uint64_t promised(pi_mem mem) {
    return info<uint64_t>(piMemGetInfo, mem, PI_MEM_INFO_ALIGNMENT);
}

} // namespace

TEST_CASE("every buffer has the scope's min_alignment") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        Addresses addresses(place);
        for (uint32_t scope = 0; scope < scope_count; ++scope) {
            const uint64_t alignment = scope_of(device, scope).min_alignment;
            std::vector<Mem> buffers;
            for (uint64_t size : {1, 3, 64, 100, 4097, 1 << 20, 1, 5, 77, 1001}) {
                buffers.push_back(place.buffer(size, scope));
                CHECK(promised(buffers.back()) == alignment);
                CHECK(addresses.of(buffers.back()) % alignment == 0);
            }
        }
    }
}

TEST_CASE("a requested alignment is honoured for the device's and the host's address") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        const Place place(device);
        Addresses addresses(place);
        std::vector<Mem> kept; // many, so that none is aligned by chance
        for (uint64_t alignment = 1; alignment <= 1 << 16; alignment *= 2) {
            INFO(name_of(device) << ", alignment " << alignment);
            std::vector<uint8_t> bytes(1000, static_cast<uint8_t>(alignment + 1));
            kept.push_back(make_buffer(
                place.context, device,
                buffer_desc(bytes.size(), PI_MEM_COPY_HOST_PTR, bytes.data(), alignment)));
            CHECK(promised(kept.back()) >= alignment);
            CHECK(addresses.of(kept.back()) % promised(kept.back()) == 0);
            CHECK(contents(place.queue, kept.back()) == bytes);
            void *pointer = nullptr;
            wait(map(place.queue, kept.back(), PI_MAP_READ, 0, bytes.size(), &pointer));
            CHECK(reinterpret_cast<uintptr_t>(pointer) % alignment == 0);
            wait(unmap(place.queue, kept.back(), pointer));
        }
    }
}

TEST_CASE("where the scope maps in place, a map's address is the device's own") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        Addresses addresses(place);
        for (uint32_t scope = 0; scope < scope_count; ++scope) {
            REQUIRE(scope_of(device, scope).flags & PI_SCOPE_MAPS_IN_PLACE);
            for (const uint64_t size : {1, 1000, 1 << 20}) {
                const Mem mem = place.buffer(size, scope);
                const uint64_t address = addresses.of(mem);
                void *pointer = nullptr;
                wait(map(place.queue, mem, PI_MAP_READ | PI_MAP_WRITE, size / 2, size - size / 2,
                         &pointer));
                CHECK(reinterpret_cast<uint64_t>(pointer) == address + size / 2);
                wait(unmap(place.queue, mem, pointer));
            }
        }
    }
}

TEST_CASE("an alignment that cannot be honoured is refused with the numbers") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        auto desc = pi::desc<pi_mem_buffer_desc>();
        desc.size = 100;
        Mem mem;
        for (const uint64_t alignment : {uint64_t{3}, uint64_t{1} << 40}) {
            desc.alignment = alignment;
            refused(piMemBufferCreate(place.context, device, &desc, mem.out()),
                    PI_ERROR_INVALID_ALIGNMENT, {std::to_string(alignment)});
        }
        // The application's memory has a fixed alignment.
        alignas(256) static unsigned char memory[512];
        desc.alignment = 256;
        desc.flags = PI_MEM_USE_HOST_PTR;
        desc.host_ptr = memory + 128;
        refused(piMemBufferCreate(place.context, device, &desc, mem.out()),
                PI_ERROR_MISALIGNED_POINTER, {"256", "128"});
    }
}

TEST_CASE("an offset that breaks the scope's alignment is refused with both numbers") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        Addresses addresses(place);
        const uint64_t needed = scope_of(device).offset_alignment;
        const Mem root = place.buffer(8192);
        const uint64_t base = addresses.of(root);
        // Aligned offsets, in views, in views of views and in launches.
        for (const uint64_t offset : {needed, 3 * needed, 4096 + needed}) {
            CHECK(addresses.of(root, offset) == base + offset);
            const Mem view = make_view(root, offset, 2000);
            CHECK(addresses.of(view) == base + offset);
            const Mem inner = make_view(view, needed, 500);
            CHECK(addresses.of(inner) == base + offset + needed);
            CHECK(addresses.of(inner, needed) == base + offset + 2 * needed);
            CHECK(info<uint64_t>(piMemGetInfo, inner, PI_MEM_INFO_OFFSET) == offset + needed);
            CHECK(info<pi_mem>(piMemGetInfo, inner, PI_MEM_INFO_PARENT) == root.get());
            CHECK((base + offset + needed) % promised(inner) == 0);
        }
        if (needed == 1)
            continue;
        auto desc = pi::desc<pi_mem_partition_desc>();
        desc.offset = needed + 1;
        desc.size = 100;
        Mem view;
        refused(piMemBufferPartition(root, &desc, view.out()), PI_ERROR_MISALIGNED_OFFSET,
                {std::to_string(needed + 1), std::to_string(needed)});
        const std::vector<pi_kernel_argument> arguments = {buffer_argument(root, needed / 2),
                                                           buffer_argument(addresses.out)};
        const auto bad = launch_desc(addresses.kernel, arguments, 1);
        Event event;
        refused(piEnqueueKernelLaunch(place.queue, &bad, 0, nullptr, event.out()),
                PI_ERROR_MISALIGNED_OFFSET, {std::to_string(needed / 2), std::to_string(needed)});
    }
}
