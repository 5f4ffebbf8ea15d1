// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixture.hpp"

#include <level_zero/loader/ze_loader.h>

#include <catch2/catch.hpp>

#include <cstring>
#include <unistd.h>

using namespace pi_level_zero_test;

namespace {

const ze_device_mem_alloc_desc_t on_device{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0, 0};

ze_result_t allocate(const Context &context, size_t size, size_t alignment, void **out,
                     const void *next = nullptr) {
    ze_device_mem_alloc_desc_t description = on_device;
    description.pNext = next;
    return zeMemAllocDevice(context, &description, size, alignment, devices()[0], out);
}

ze_memory_allocation_properties_t properties_of(const Context &context, const void *pointer,
                                                ze_device_handle_t *device = nullptr) {
    ze_memory_allocation_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
    CHECK(zeMemGetAllocProperties(context, pointer, &properties, device) == ZE_RESULT_SUCCESS);
    return properties;
}

/// A descriptor of memory that was allocated for export, checked to be whole.
int export_of(const Context &context, const void *pointer, ze_external_memory_type_flags_t type) {
    ze_external_memory_export_fd_t out{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD, nullptr, type,
                                       -1};
    ze_memory_allocation_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
    properties.pNext = &out;
    CHECK(zeMemGetAllocProperties(context, pointer, &properties, nullptr) == ZE_RESULT_SUCCESS);
    return out.fd;
}

void fill(const List &list, void *address, std::uint8_t value, size_t size) {
    CHECK(zeCommandListAppendMemoryFill(list, address, &value, 1, size, nullptr, 0, nullptr) ==
          ZE_RESULT_SUCCESS);
    list.finish();
}

} // namespace

TEST_CASE("Every power of two is an alignment, others are refused") {
    const Context context;
    for (size_t alignment = 1; alignment <= size_t(4) << 20; alignment *= 2)
        for (const Kind kind : {Kind::device, Kind::host, Kind::shared}) {
            const Memory memory(context, 100, kind, 0, alignment);
            CHECK(reinterpret_cast<std::uintptr_t>(memory.address) % alignment == 0);
        }
    void *out = nullptr;
    CHECK(allocate(context, 100, 3, &out) == ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
    CHECK(allocate(context, 0, 0, &out) == ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    CHECK(allocate(context, size_t(65) << 20, 0, &out) == ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
}

TEST_CASE("A device has no more memory than its capacity; freed memory is available again") {
    const Context context;
    Memory most(context, size_t(60) << 20);
    void *out = nullptr;
    CHECK(allocate(context, size_t(5) << 20, 0, &out) == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    CHECK(most.free() == ZE_RESULT_SUCCESS);
    const Memory again(context, size_t(5) << 20);
}

TEST_CASE("Fresh memory is poisoned") {
    const Context context;
    const List list(context);
    for (const Kind kind : {Kind::device, Kind::host, Kind::shared}) {
        const Memory memory(context, 100, kind);
        CHECK(read(list, memory.address, 100) == std::vector<std::uint8_t>(100, 0xcb));
        if (kind != Kind::device)
            CHECK(memory.as<std::uint8_t>()[99] == 0xcb);
    }
}

TEST_CASE("Host memory and shared memory have the same bytes for host and device") {
    const Context context;
    const List list(context);
    for (const Kind kind : {Kind::host, Kind::shared}) {
        const Memory memory(context, 64, kind), device(context, 64);
        std::memset(memory.address, 5, 64);
        CHECK(zeCommandListAppendMemoryCopy(list, device.address, memory.address, 64, nullptr, 0,
                                            nullptr) == ZE_RESULT_SUCCESS);
        CHECK(read(list, device.address, 64) == std::vector<std::uint8_t>(64, 5));
        fill(list, memory.address, 6, 64);
        CHECK(memory.as<std::uint8_t>()[63] == 6);
    }
}

TEST_CASE("Pointer queries return the properties of the memory") {
    const Context context;
    const Memory device(context, 100, Kind::device, 1), host(context, 100, Kind::host),
        shared(context, 100, Kind::shared);
    ze_device_handle_t home = nullptr;
    CHECK(properties_of(context, device.as<char>() + 99, &home).type == ZE_MEMORY_TYPE_DEVICE);
    CHECK(home == devices()[1]);
    CHECK(properties_of(context, device.address).id != properties_of(context, host.address).id);
    CHECK(properties_of(context, host.address).type == ZE_MEMORY_TYPE_HOST);
    CHECK(properties_of(context, shared.address).type == ZE_MEMORY_TYPE_SHARED);
    CHECK(properties_of(context, &home).type == ZE_MEMORY_TYPE_UNKNOWN);
    CHECK(properties_of(context, device.as<char>() + 100).type == ZE_MEMORY_TYPE_UNKNOWN);
    void *base = nullptr;
    size_t size = 0;
    CHECK(zeMemGetAddressRange(context, device.as<char>() + 50, &base, &size) == ZE_RESULT_SUCCESS);
    CHECK(base == device.address);
    CHECK(size == 100);
    CHECK(zeMemGetAddressRange(context, &home, &base, &size) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_CASE("Only the beginning of live memory can be freed, and not while work uses it") {
    const Context context;
    Memory memory(context, 100);
    CHECK(zeMemFree(context, memory.as<char>() + 1) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
    {
        const List list(context);
        const Events events(context);
        ze_event_handle_t go = events[0];
        const char value = 1;
        CHECK(zeCommandListAppendMemoryFill(list, memory.address, &value, 1, 100, nullptr, 1,
                                            &go) == ZE_RESULT_SUCCESS);
        CHECK(memory.free() == ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
        CHECK(zeEventHostSignal(go) == ZE_RESULT_SUCCESS);
        const ze_memory_free_ext_desc_t blocking{
            ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC, nullptr,
            ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE};
        CHECK(zeMemFreeExt(context, &blocking, memory.address) == ZE_RESULT_SUCCESS);
    }
    const List list(context);
    char byte = 0;
    void *const stale = memory.address;
    memory.address = nullptr;
    CHECK(zeMemFree(context, stale) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
    CHECK(zeCommandListAppendMemoryCopy(list, &byte, stale, 1, nullptr, 0, nullptr) ==
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_CASE("Imported memory has the exporter's bytes") {
    const Context context, other;
    const List list(context);
    for (const ze_external_memory_type_flags_t type :
         {ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD, ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF}) {
        const ze_external_memory_export_desc_t exported{
            ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC, nullptr, type};
        void *memory = nullptr;
        REQUIRE(allocate(context, 8192, 0, &memory, &exported) == ZE_RESULT_SUCCESS);
        const int file = export_of(context, memory, type);
        REQUIRE(file >= 0);
        ze_external_memory_import_fd_t imported{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD,
                                                nullptr, type, file};
        void *view = nullptr;
        REQUIRE(allocate(other, 8192, 0, &view, &imported) == ZE_RESULT_SUCCESS);
        CHECK(view != memory);
        fill(list, memory, 9, 8192);
        CHECK(read(list, view, 8192) == std::vector<std::uint8_t>(8192, 9));
        CHECK(zeMemFree(context, memory) == ZE_RESULT_SUCCESS);
        CHECK(read(list, view, 8192)[8191] == 9);
        void *larger = nullptr;
        CHECK(allocate(other, 8193, 0, &larger, &imported) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
        CHECK(zeMemFree(other, view) == ZE_RESULT_SUCCESS);
        CHECK(close(file) == 0);
    }
}

TEST_CASE("Memory not allocated for export cannot be exported") {
    const Context context;
    const Memory memory(context, 4096);
    ze_external_memory_export_fd_t out{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD, nullptr,
                                       ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD, -1};
    ze_memory_allocation_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
    properties.pNext = &out;
    CHECK(zeMemGetAllocProperties(context, memory.address, &properties, nullptr) ==
          ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION);
    CHECK(out.fd == -1);
}

TEST_CASE("An IPC handle opens the same bytes, and is closed before the memory is freed") {
    const Context context;
    const List list(context);
    const Memory before(context, 100), memory(context, 100);
    ze_ipc_mem_handle_t handle{};
    CHECK(zeMemGetIpcHandle(context, memory.as<char>() + 1, &handle) ==
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    REQUIRE(zeMemGetIpcHandle(context, memory.address, &handle) == ZE_RESULT_SUCCESS);
    void *view = nullptr;
    REQUIRE(zeMemOpenIpcHandle(context, devices()[0], handle, 0, &view) == ZE_RESULT_SUCCESS);
    fill(list, memory.address, 3, 100);
    CHECK(read(list, view, 100) == std::vector<std::uint8_t>(100, 3));
    CHECK(read(list, before.address, 100) == std::vector<std::uint8_t>(100, 0xcb));
    CHECK(zeMemFree(context, view) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
    CHECK(zeMemCloseIpcHandle(context, memory.address) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
    CHECK(zeMemCloseIpcHandle(context, view) == ZE_RESULT_SUCCESS);
    CHECK(zeMemOpenIpcHandle(context, devices()[0], {}, 0, &view) ==
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

TEST_CASE("Memory of another device is for peers only; memory of another context for all lists") {
    const Context context, other;
    const List left(context, 0), lone(context, 2);
    const Memory right(other, 64, Kind::device, 1), shared(other, 64, Kind::shared, 1);
    const char value = 1;
    CHECK(zeCommandListAppendMemoryFill(left, right.address, &value, 1, 64, nullptr, 0, nullptr) ==
          ZE_RESULT_SUCCESS);
    CHECK(read(left, right.address, 64)[63] == 1);
    CHECK(zeCommandListAppendMemoryFill(lone, right.address, &value, 1, 64, nullptr, 0, nullptr) ==
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    CHECK(zeCommandListAppendMemoryFill(lone, shared.address, &value, 1, 64, nullptr, 0, nullptr) ==
          ZE_RESULT_SUCCESS);
    CHECK(read(lone, shared.address, 64)[63] == 1);
}

TEST_CASE("A host pointer is imported by Intel's extension, once, and released when it is idle") {
    ze_driver_handle_t own = driver();
    // With two drivers the extension expects the driver's own handle, not the loader's.
    if (drivers().size() > 1)
        REQUIRE(zelLoaderTranslateHandle(ZEL_HANDLE_DRIVER, driver(),
                                         reinterpret_cast<void **>(&own)) == ZE_RESULT_SUCCESS);
    const auto function = [&](const char *name) {
        void *address = nullptr;
        CHECK(zeDriverGetExtensionFunctionAddress(driver(), name, &address) == ZE_RESULT_SUCCESS);
        return address;
    };
    void *none = nullptr;
    CHECK(zeDriverGetExtensionFunctionAddress(driver(), "none", &none) ==
          ZE_RESULT_ERROR_INVALID_ARGUMENT);
    const auto import_pointer =
        reinterpret_cast<ze_result_t (*)(ze_driver_handle_t, void *, size_t)>(
            function("zexDriverImportExternalPointer"));
    const auto release_pointer = reinterpret_cast<ze_result_t (*)(ze_driver_handle_t, void *)>(
        function("zexDriverReleaseImportedPointer"));
    const auto base_of = reinterpret_cast<ze_result_t (*)(ze_driver_handle_t, void *, void **)>(
        function("zexDriverGetHostPointerBaseAddress"));
    const Context context;
    std::vector<std::uint32_t> numbers(100);
    CHECK(import_pointer(own, numbers.data(), 400) == ZE_RESULT_SUCCESS);
    CHECK(import_pointer(own, numbers.data() + 50, 400) == ZE_RESULT_ERROR_OVERLAPPING_REGIONS);
    CHECK(leaks().find("1 imported pointer\n") != std::string::npos);
    void *base = nullptr;
    CHECK(base_of(own, numbers.data() + 50, &base) == ZE_RESULT_SUCCESS);
    CHECK(base == numbers.data());
    {
        const List list(context);
        Module module(context, "function count_up pointer 4\n");
        const ze_kernel_handle_t kernel = module.kernel("count_up");
        void *const pointer = numbers.data();
        const std::uint32_t one = 1;
        CHECK(zeKernelSetArgumentValue(kernel, 0, 8, &pointer) == ZE_RESULT_SUCCESS);
        CHECK(zeKernelSetArgumentValue(kernel, 1, 4, &one) == ZE_RESULT_SUCCESS);
        run(list, kernel, 100);
    }
    CHECK(numbers[99] == 100);
    CHECK(release_pointer(own, numbers.data()) == ZE_RESULT_SUCCESS);
    CHECK(release_pointer(own, numbers.data()) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
}
