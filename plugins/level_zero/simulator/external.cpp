// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Imported host pointers: Intel's extension, which is in no header and looked up by name.
#include "external.hpp"
#include "driver.hpp"

#include <cstring>

namespace pi::level_zero::simulated {

namespace {

bool overlaps(const void *pointer, size_t size) {
    const auto number = reinterpret_cast<std::uint64_t>(pointer);
    const auto next = driver().allocations.lower_bound(number);
    return find_allocation(pointer) ||
           (next != driver().allocations.end() && next->first - number < size);
}

/// Registers host memory at its own address. It belongs to no context.
ze_result_t import_pointer(ze_driver_handle_t handle, void *pointer, size_t size) {
    return call_of(handle, [&] {
        need_pointers(pointer);
        need(size > 0, ZE_RESULT_ERROR_INVALID_SIZE);
        need(!overlaps(pointer, size), ZE_RESULT_ERROR_OVERLAPPING_REGIONS);
        auto memory = std::make_shared<Allocation>();
        memory->type = ZE_MEMORY_TYPE_HOST;
        memory->imported = true;
        memory->address = reinterpret_cast<std::uint64_t>(pointer);
        memory->bytes = static_cast<char *>(pointer);
        memory->size = size;
        driver().allocations[memory->address] = memory;
    });
}

ze_result_t release_pointer(ze_driver_handle_t handle, void *pointer) {
    return call_of(handle, [&] {
        need_pointers(pointer);
        const std::shared_ptr<Allocation> memory = find_allocation(pointer);
        need(memory && memory->imported, ZE_RESULT_ERROR_INVALID_ARGUMENT);
        memory->need_idle();
        driver().allocations.erase(memory->address);
    });
}

ze_result_t base_address(ze_driver_handle_t handle, void *pointer, void **base) {
    return call_of(handle, [&] {
        need_pointers(pointer, base);
        const std::shared_ptr<Allocation> memory = find_allocation(pointer);
        need(memory && memory->imported, ZE_RESULT_ERROR_INVALID_ARGUMENT);
        *base = memory->bytes;
    });
}

} // namespace

void *extension_function(const std::string &name) {
    if (name == "zexDriverImportExternalPointer")
        return reinterpret_cast<void *>(&import_pointer);
    if (name == "zexDriverReleaseImportedPointer")
        return reinterpret_cast<void *>(&release_pointer);
    if (name == "zexDriverGetHostPointerBaseAddress")
        return reinterpret_cast<void *>(&base_address);
    return nullptr;
}

} // namespace pi::level_zero::simulated
