// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

namespace examples {

/// Zeroed bytes that begin on a page and fill whole pages, as some devices require for use in
/// place.
class PageMemory {
public:
    static constexpr uint64_t page = 4096;

    PageMemory() = default;
    /// Throws std::bad_alloc.
    explicit PageMemory(uint64_t size);

    uint8_t *data() const { return bytes_.get(); }
    uint64_t size() const { return size_; } ///< as requested
    static uint64_t padded(uint64_t size) { return (size + page - 1) / page * page; }
    uint64_t padded_size() const { return padded(size_); } ///< whole pages
    std::span<const uint8_t> bytes() const { return {data(), size_}; }

private:
    struct Free {
        void operator()(uint8_t *bytes) const { std::free(bytes); }
    };
    std::unique_ptr<uint8_t, Free> bytes_;
    uint64_t size_ = 0;
};

} // namespace examples
