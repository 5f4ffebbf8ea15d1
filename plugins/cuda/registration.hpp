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
#include <vector>

namespace pi::cuda {

class Primary;

/// Of all contexts of an instance: what is pinned is so for all devices. Pins may share ranges: each is unpinned with the
/// last of them.
class Registrations {
public:
    /// Pins the range until the last copy of the pointer goes; then it is unpinned before that returns.
    /// PI_ERROR_UNSUPPORTED_FEATURE for a range that overlaps a pinned one without being within it, or that somebody
    /// else has pinned; PI_ERROR_OUT_OF_RESOURCES where the system does not let so much be pinned.
    std::shared_ptr<void> pin(Primary &primary, std::byte *begin, uint64_t size);

    /// Pins the pages of the range, what is pinned of them already together with whoever pinned it: unlike pin(), in
    /// pieces, one for each gap between those. Errors of pin().
    std::shared_ptr<void> pin_pages(Primary &primary, std::byte *begin, uint64_t size);

private:
    struct Range {
        uint64_t size;
        uint32_t count;
        std::shared_ptr<Primary> primary; ///< of which it was pinned
    };
    using Ranges = std::map<std::byte *, Range>;
    class Pieces;
    std::byte *add(Primary &primary, std::byte *begin, uint64_t size);
    /// The pinned range that the address is in, or the end.
    Ranges::iterator around(std::byte *address);
    /// Pins a range that overlaps none. Under mutex_.
    void pin_new(Primary &primary, std::byte *begin, uint64_t size);
    void remove(std::byte *begin) noexcept;

    std::mutex mutex_;
    Ranges ranges_; ///< guarded by mutex_; by their begin, disjoint
};

} // namespace pi::cuda
