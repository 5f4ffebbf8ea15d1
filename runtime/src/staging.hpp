// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace pi::runtime {

/// Aligned host memory.
class HostBytes {
public:
    HostBytes() noexcept = default;
    /// Throws Error(PI_ERROR_OUT_OF_HOST_MEMORY). The alignment is a power of two; both are rounded up so
    /// that the size is a multiple of it.
    HostBytes(uint64_t size, uint64_t alignment);

    std::byte *data() const noexcept { return bytes_.get(); }
    uint64_t size() const noexcept { return size_; }

private:
    struct Free {
        void operator()(std::byte *bytes) const noexcept;
    };
    std::unique_ptr<std::byte, Free> bytes_;
    uint64_t size_ = 0;
};

/// Keeps staging buffers for use again: fresh memory costs more than the copy through it.
class StagingPool : public std::enable_shared_from_this<StagingPool> {
public:
    /// Given back to the pool on destruction.
    class Lease {
    public:
        Lease() noexcept = default;
        Lease(std::shared_ptr<StagingPool> pool, HostBytes bytes) noexcept;
        ~Lease();
        Lease(Lease &&) noexcept = default;
        Lease &operator=(Lease &&) = delete;
        std::byte *data() const noexcept { return bytes_.data(); }

    private:
        std::shared_ptr<StagingPool> pool_;
        HostBytes bytes_;
    };

    /// At least size bytes.
    Lease take(uint64_t size);

private:
    void give_back(HostBytes bytes);

    static constexpr uint64_t alignment_ = 4096;
    static constexpr uint64_t keep_bytes_ = uint64_t{64} << 20;
    std::mutex mutex_;
    std::vector<HostBytes> free_;
    uint64_t free_bytes_ = 0;
};

} // namespace pi::runtime
