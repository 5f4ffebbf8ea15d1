// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "registration.hpp"
#include "primary.hpp"

#include <pi/sdk/bytes.hpp>

namespace pi::cuda {

using namespace sdk;

std::shared_ptr<void> Registrations::pin(Primary &primary, std::byte *begin, uint64_t size) {
    std::byte *const range = add(primary, begin, size);
    return {range, [this](void *pointer) { remove(static_cast<std::byte *>(pointer)); }};
}

std::byte *Registrations::add(Primary &primary, std::byte *begin, uint64_t size) {
    std::lock_guard lock(mutex_);
    const auto next = ranges_.upper_bound(begin);
    if (next != ranges_.begin()) {
        const auto before = std::prev(next);
        const uint64_t offset = static_cast<uint64_t>(begin - before->first);
        if (offset < before->second.size && size <= before->second.size - offset) {
            ++before->second.count;
            return before->first;
        }
        if (offset < before->second.size)
            fail(PI_ERROR_UNSUPPORTED_FEATURE, "the range from ", static_cast<void *>(begin),
                 " begins within another import, of ", before->second.size, " bytes from ",
                 static_cast<void *>(before->first),
                 ", and ends behind it: CUDA pins no byte twice");
    }
    if (next != ranges_.end() && static_cast<uint64_t>(next->first - begin) < size)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "the range of ", size, " bytes from ",
             static_cast<void *>(begin), " overlaps another import, which begins at ",
             static_cast<void *>(next->first), ": CUDA pins no byte twice");
    const auto entry = ranges_.emplace(begin, Range{size, 1, primary.shared_from_this()}).first;
    try {
        const Current current(primary);
        const CUresult code = primary.api().cuMemHostRegister_v2(
            begin, size, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
        if (code == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED)
            fail(
                PI_ERROR_UNSUPPORTED_FEATURE,
                "cuMemHostRegister_v2: CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED: the application, "
                "or another plugin, has pinned some of the ",
                size, " bytes from ", static_cast<void *>(begin));
        if (code == CUDA_ERROR_OUT_OF_MEMORY)
            fail(PI_ERROR_OUT_OF_RESOURCES,
                 "cuMemHostRegister_v2: CUDA_ERROR_OUT_OF_MEMORY: ", Bytes(size),
                 " cannot be pinned");
        primary.check(code, "cuMemHostRegister_v2", size, " bytes from ",
                      static_cast<void *>(begin));
    } catch (...) {
        ranges_.erase(entry);
        throw;
    }
    return begin;
}

void Registrations::remove(std::byte *begin) noexcept {
    std::shared_ptr<Primary> primary; // goes after the lock
    std::lock_guard lock(mutex_);
    const auto entry = ranges_.find(begin);
    if (--entry->second.count)
        return;
    primary = std::move(entry->second.primary);
    ranges_.erase(entry);
    try {
        const Current current(*primary);
        primary->note(primary->api().cuMemHostUnregister(begin));
    } catch (...) {
        // The context is lost, and with it what was pinned.
    }
}

} // namespace pi::cuda
