// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/runtime/handle.hpp>
#include <pi/runtime/topology.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace pi::runtime {

/// Aligned host memory.
class HostBytes {
public:
    HostBytes() noexcept = default;
    /// Throws Error(PI_ERROR_OUT_OF_HOST_MEMORY). The alignment is a power of two; both are rounded
    /// up so that the size is a multiple of it.
    HostBytes(uint64_t size, uint64_t alignment);

    std::byte *data() const noexcept { return bytes_.get(); }
    uint64_t size() const noexcept { return size_; }
    /// Never frees them.
    void abandon() noexcept { static_cast<void>(bytes_.release()); }

private:
    struct Free {
        void operator()(std::byte *bytes) const noexcept;
    };
    std::unique_ptr<std::byte, Free> bytes_;
    uint64_t size_ = 0;
};

/// Host memory that contexts pin, so that the driver needs no copy of its own for transfers. Where
/// a plugin pins nothing (no PI_CAPABILITY_USM_REGISTER), or the system refuses to pin more,
/// transfers are only slower. Memory that cannot be unpinned is never freed: a driver would go on
/// using its pages.
class PinnedBytes {
public:
    PinnedBytes() noexcept = default;
    /// As HostBytes; not pinned yet.
    PinnedBytes(uint64_t size, uint64_t alignment) : bytes_(size, alignment) {}
    PinnedBytes(PinnedBytes &&) noexcept = default;
    PinnedBytes &operator=(PinnedBytes &&other) noexcept;
    ~PinnedBytes() { unpin(); }

    std::byte *data() const noexcept { return bytes_.data(); }
    uint64_t size() const noexcept { return bytes_.size(); }
    /// Asks the place's context once to pin it. Nothing for the host's place. May throw
    /// std::bad_alloc.
    void pin_for(const Topology &topology, PlaceIndex place);

private:
    void unpin() noexcept;

    struct Asked {
        Context context;
        bool has_pinned;
    };
    HostBytes bytes_;
    std::vector<Asked> asked_; // few
};

} // namespace pi::runtime
