// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "queries.hpp"

#include <array>

namespace level_zero_vendor_test {

namespace {

/// An allocation of one of the three kinds, and the call's result.
struct Memory {
    enum class Kind { device, host, shared };
    Memory(const Driver &driver, Kind kind, size_t size, size_t alignment = 64) : driver_(driver) {
        const ze_device_mem_alloc_desc_t at_device{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr,
                                                   0, 0};
        const ze_host_mem_alloc_desc_t at_host{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
        switch (kind) {
        case Kind::device:
            result = zeMemAllocDevice(driver.context, &at_device, size, alignment, driver.device,
                                      &address);
            break;
        case Kind::host:
            result = zeMemAllocHost(driver.context, &at_host, size, alignment, &address);
            break;
        case Kind::shared:
            result = zeMemAllocShared(driver.context, &at_device, &at_host, size, alignment,
                                      driver.device, &address);
        }
    }
    Memory(const Memory &) = delete;
    ~Memory() {
        if (result == ZE_RESULT_SUCCESS) {
            zeMemFree(driver_.context, address);
        }
    }
    char *bytes() const { return static_cast<char *>(address); }

    void *address = nullptr;
    ze_result_t result = ZE_RESULT_SUCCESS;

private:
    const Driver &driver_;
};
using Kind = Memory::Kind;
constexpr std::array kinds{Kind::device, Kind::host, Kind::shared};

std::string properties_of(const Driver &driver, const void *pointer) {
    ze_memory_allocation_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
    ze_device_handle_t device = nullptr;
    const ze_result_t result =
        zeMemGetAllocProperties(driver.context, pointer, &properties, &device);
    return name_of(result) + ", type " + std::to_string(properties.type) +
           (device == driver.device ? ", the device's"
            : device == nullptr     ? ", no device's"
                                    : ", another's");
}

} // namespace

const std::vector<Query> &memory_queries() {
    static const std::vector<Query> queries{
        {"memory of each kind with each alignment from 1 to 4 KiB",
         [](const Driver &driver) {
             for (const Kind kind : kinds) {
                 for (size_t alignment = 1; alignment <= 4096; alignment *= 2) {
                     const Memory memory(driver, kind, 100, alignment);
                     if (memory.result != ZE_RESULT_SUCCESS ||
                         reinterpret_cast<uintptr_t>(memory.address) % alignment != 0) {
                         return std::to_string(alignment) + ": " + name_of(memory.result);
                     }
                 }
             }
             return std::string("all");
         }},
        {"memory of each kind, of 0 bytes",
         [](const Driver &driver) {
             std::vector<ze_result_t> results;
             for (const Kind kind : kinds) {
                 results.push_back(Memory(driver, kind, 0).result);
             }
             return names_of(results);
         },
         as_specified},
        {"memory with an alignment of 3",
         [](const Driver &driver) { return name_of(Memory(driver, Kind::device, 64, 3).result); },
         as_specified},
        {"memory of 2^60 bytes",
         [](const Driver &driver) {
             return name_of(Memory(driver, Kind::device, size_t{1} << 60).result);
         }},
        {"whose memory of each kind is",
         [](const Driver &driver) {
             std::string text;
             for (const Kind kind : kinds) {
                 const Memory memory(driver, kind, 4096);
                 text += properties_of(driver, memory.address) + "; " +
                         properties_of(driver, memory.bytes() + 100) + "; ";
             }
             return text;
         }},
        {"whose memory of the program is",
         [](const Driver &driver) {
             const int local = 0;
             return properties_of(driver, &local);
         }},
        {"where the allocation begins that an address is in",
         [](const Driver &driver) {
             const Memory memory(driver, Kind::device, 4096);
             void *base = nullptr;
             size_t size = 0;
             const ze_result_t result =
                 zeMemGetAddressRange(driver.context, memory.bytes() + 100, &base, &size);
             return name_of(result) + (base == memory.address ? ", its begin" : ", elsewhere") +
                    (size >= 4096 ? ", its bytes" : ", too few");
         }},
        {"the same of memory of the program",
         [](const Driver &driver) {
             const int local = 0;
             void *base = nullptr;
             return name_of(zeMemGetAddressRange(driver.context, &local, &base, nullptr));
         },
         "the vendor's says that the error is unknown"},
        {"to free memory of the program",
         [](const Driver &driver) {
             int local = 0;
             return name_of(zeMemFree(driver.context, &local));
         }},
        {"to free the same memory twice",
         [](const Driver &driver) {
             Memory memory(driver, Kind::device, 64);
             const ze_result_t first = zeMemFree(driver.context, memory.address);
             memory.result = ZE_RESULT_NOT_READY; // so that it is not freed again
             return names_of({first, zeMemFree(driver.context, memory.address)});
         }},
        {"which memory may use which",
         [](const Driver &driver) {
             ze_device_memory_access_properties_t access{};
             access.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES;
             const ze_result_t result = zeDeviceGetMemoryAccessProperties(driver.device, &access);
             const auto usable = [](ze_memory_access_cap_flags_t flags) {
                 return (flags & ZE_MEMORY_ACCESS_CAP_FLAG_RW) != 0 ? " yes" : " no";
             };
             return name_of(result) + usable(access.deviceAllocCapabilities) +
                    usable(access.hostAllocCapabilities) +
                    usable(access.sharedSingleDeviceAllocCapabilities) +
                    usable(access.sharedSystemAllocCapabilities);
         }},
        {"whether a device is its own peer",
         [](const Driver &driver) {
             ze_bool_t value = 0;
             const ze_result_t result = zeDeviceCanAccessPeer(driver.device, driver.device, &value);
             return name_of(result) + (value != 0 ? ", yes" : ", no");
         }},
    };
    return queries;
}

} // namespace level_zero_vendor_test
