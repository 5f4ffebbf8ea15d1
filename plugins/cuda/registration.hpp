// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The application's memory that the driver has pinned for the plugin. The driver pins no byte twice, so imports of one
// range share what is pinned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace pi::cuda {

class Primary;

/// Of all contexts of an instance: what is pinned is so for all devices.
class Registrations {
public:
    /// Pins the range until the last copy of the pointer goes; then it is unpinned before that returns.
    /// PI_ERROR_UNSUPPORTED_FEATURE for a range that overlaps a pinned one without being within it, or that somebody
    /// else has pinned; PI_ERROR_OUT_OF_RESOURCES where the system does not let so much be pinned.
    std::shared_ptr<void> pin(Primary &primary, std::byte *begin, uint64_t size);

private:
    struct Range {
        uint64_t size;
        uint32_t count;
        std::shared_ptr<Primary> primary; ///< of which it was pinned
    };
    std::byte *add(Primary &primary, std::byte *begin, uint64_t size);
    void remove(std::byte *begin) noexcept;

    std::mutex mutex_;
    std::map<std::byte *, Range> ranges_; ///< guarded by mutex_; by their begin, disjoint
};

} // namespace pi::cuda
