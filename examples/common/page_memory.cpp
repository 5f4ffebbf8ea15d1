// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "page_memory.hpp"

#include <cstring>
#include <new>

namespace examples {

PageMemory::PageMemory(uint64_t size) : size_(size) {
    bytes_.reset(static_cast<uint8_t *>(std::aligned_alloc(page, padded(size))));
    if (!bytes_) {
        throw std::bad_alloc();
    }
    std::memset(bytes_.get(), 0, padded(size));
}

} // namespace examples
