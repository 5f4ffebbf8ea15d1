// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory of the level_zero plugin on Intel's driver, which is queried about each address.
#include "plugin_fixture.hpp"

#include <cstdlib>
#include <memory>

using namespace level_zero_plugin_test;

namespace {

void *allocate(const Machine &machine, pi_usm_kind kind, pi_device device, uint64_t alignment = 0) {
    auto d = pi::desc<pi_usm_desc>();
    d.kind = kind;
    d.size = 4096;
    d.alignment = alignment;
    void *pointer = nullptr;
    OK(piUsmAlloc(machine.context, device, &d, &pointer));
    return pointer;
}

bool aligned(const void *pointer, uint64_t alignment) {
    return reinterpret_cast<uintptr_t>(pointer) % alignment == 0;
}

} // namespace

TEST_CASE("a buffer is a driver allocation of its scope's type, on its device") {
    const Machine machine;
    if (!machine)
        return;
    for (size_t i = 0; i < machine.devices.size(); ++i) {
        const pi_device device = machine.devices[i];
        const Owned<pi_mem> global = machine.make_buffer(10'000, i);
        void *const address = native(global, device);
        const Known known = ask_driver(machine.context, address);
        CHECK(known.type == ZE_MEMORY_TYPE_DEVICE);
        CHECK(known.device == native(device));
        CHECK(info<uint64_t>(piMemGetInfo, pi_mem{global}, PI_MEM_INFO_DEVICE_ADDRESS) ==
              reinterpret_cast<uintptr_t>(address));
        void *host = nullptr;
        CHECK(piMemGetHostPointer(global, &host) == PI_ERROR_UNSUPPORTED_FEATURE);
        // Up to its last byte.
        CHECK(ask_driver(machine.context, static_cast<char *>(address) + 9'999).type ==
              ZE_MEMORY_TYPE_DEVICE);

        const Owned<pi_mem> pinned = machine.make_buffer(10'000, i, 1);
        OK(piMemGetHostPointer(pinned, &host));
        CHECK(native(pinned, device) == host);
        CHECK(ask_driver(machine.context, host).type == ZE_MEMORY_TYPE_HOST);
        static_cast<char *>(host)[9'999] = 1;

        auto d = pi::desc<pi_mem_partition_desc>();
        d.offset = 128;
        d.size = 100;
        Owned<pi_mem> view;
        OK(piMemBufferPartition(global, &d, view.out()));
        CHECK(native(view, device) == static_cast<char *>(address) + 128);
    }
}

TEST_CASE("USM is a driver allocation of its kind, and is found by addresses inside it") {
    const Machine machine;
    if (!machine)
        return;
    for (const pi_device device : machine.devices) {
        struct {
            pi_usm_kind kind;
            ze_memory_type_t type;
        } const rows[] = {{PI_USM_DEVICE, ZE_MEMORY_TYPE_DEVICE},
                          {PI_USM_HOST, ZE_MEMORY_TYPE_HOST},
                          {PI_USM_SHARED, ZE_MEMORY_TYPE_SHARED}};
        for (const auto &row : rows) {
            INFO("kind " << row.kind);
            void *const pointer = allocate(machine, row.kind, device);
            const Known known = ask_driver(machine.context, pointer);
            CHECK(known.type == row.type);
            if (row.kind != PI_USM_HOST)
                CHECK(known.device == native(device));
            if (row.kind != PI_USM_DEVICE)
                static_cast<char *>(pointer)[4095] = 1;
            pi_usm_kind kind = 0;
            OK(piUsmGetInfo(machine.context, static_cast<char *>(pointer) + 4095, PI_USM_INFO_KIND,
                            sizeof kind, &kind, nullptr));
            CHECK(kind == row.kind);
            void *base = nullptr;
            OK(piUsmGetInfo(machine.context, static_cast<char *>(pointer) + 4095, PI_USM_INFO_BASE,
                            sizeof base, &base, nullptr));
            CHECK(base == pointer);
            OK(piUsmFree(machine.context, pointer));
            CHECK(ask_driver(machine.context, pointer).type == ZE_MEMORY_TYPE_UNKNOWN);
        }
    }
}

TEST_CASE("USM that was not freed is freed with its context") {
    const Machine machine; // counts leaks
    if (!machine)
        return;
    for (const pi_usm_kind kind : {PI_USM_DEVICE, PI_USM_HOST, PI_USM_SHARED})
        allocate(machine, kind, machine.devices.front());
}

TEST_CASE("allocations have the requested alignment, any power of two") {
    const Machine machine;
    if (!machine)
        return;
    for (uint64_t alignment = 1; alignment <= uint64_t{1} << 24; alignment *= 2) {
        INFO("alignment " << alignment);
        for (const uint32_t scope : {0u, 1u}) {
            const Owned<pi_mem> mem = machine.make_buffer(1000, 0, scope, alignment);
            CHECK(aligned(native(mem, machine.devices.front()), alignment));
            CHECK(info<uint64_t>(piMemGetInfo, pi_mem{mem}, PI_MEM_INFO_ALIGNMENT) >= alignment);
        }
        for (const pi_usm_kind kind : {PI_USM_DEVICE, PI_USM_HOST, PI_USM_SHARED}) {
            void *const pointer = allocate(machine, kind, machine.devices.front(), alignment);
            CHECK(aligned(pointer, alignment));
            OK(piUsmFree(machine.context, pointer));
        }
    }
}

TEST_CASE("the application's memory is imported in place, in whole pages") {
    const Machine machine;
    if (!machine)
        return;
    const std::unique_ptr<void, decltype(&std::free)> memory(std::aligned_alloc(4096, 8192),
                                                             &std::free);
    auto d = pi::desc<pi_mem_import_desc>();
    d.size = 8192;
    d.handle.type = PI_EXTERNAL_HOST_POINTER;
    d.handle.pointer = memory.get();
    for (const pi_device device : machine.devices) {
        Owned<pi_mem> imported;
        OK(piMemImport(machine.context, device, &d, imported.out()));
        CHECK(native(imported, device) == memory.get());
        auto odd = d;
        odd.size = 100;
        REFUSED(PI_ERROR_MISALIGNED_POINTER, "whole pages",
                piMemImport(machine.context, device, &odd, imported.out()));
    }
}

TEST_CASE("an allocation that does not fit reports the requested size") {
    const Machine machine;
    if (!machine)
        return;
    auto d = pi::desc<pi_mem_buffer_desc>();
    d.size = uint64_t{1} << 46;
    Owned<pi_mem> mem;
    const pi_result result =
        piMemBufferCreate(machine.context, machine.devices.front(), &d, mem.out());
    CHECK((result == PI_ERROR_INVALID_SIZE || result == PI_ERROR_OUT_OF_DEVICE_MEMORY));
    CHECK_FALSE(last_error().empty());
}

TEST_CASE("images and samplers have driver objects, destroyed with them") {
    const Machine machine;
    if (!machine)
        return;
    for (const pi_device device : machine.devices) {
        auto d = pi::desc<pi_mem_image_desc>();
        d.image_type = PI_IMAGE_2D;
        d.channel_order = PI_CHANNEL_ORDER_RGBA;
        d.channel_type = PI_CHANNEL_UNORM8;
        d.width = 64;
        d.height = 32;
        Owned<pi_mem> image;
        OK(piMemImageCreate(machine.context, device, &d, image.out()));
        pi_native_handle handle{};
        OK(piMemGetNativeHandle(image, device, &handle));
        CHECK(handle.type == PI_NATIVE_LEVEL_ZERO);
        CHECK(handle.value[0] != 0);
        CHECK(info<uint64_t>(piMemGetInfo, pi_mem{image}, PI_MEM_INFO_SIZE) == 64 * 32 * 4);
        auto s = pi::desc<pi_sampler_desc>();
        s.addressing = PI_ADDRESSING_CLAMP;
        s.normalized_coordinates = 1;
        Owned<pi_sampler> sampler;
        OK(piSamplerCreate(machine.context, &s, sampler.out()));
    }
}
