// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "storage.hpp"

#include <pi/sdk/bytes.hpp>

#include <cerrno>
#include <cstring>

namespace pi::sim {

namespace {

sdk::Mapping take_pages(uint64_t size, uint64_t alignment) {
    sdk::Mapping pages = sdk::map_pages(size, alignment, MAP_NORESERVE);
    if (!pages)
        sdk::fail(PI_ERROR_OUT_OF_HOST_MEMORY, "mmap: ", std::strerror(errno), ": ",
                  sdk::Bytes(size), " to simulate device memory with");
    return pages;
}

} // namespace

Storage Storage::allocate(Device &device, uint32_t scope, uint64_t size, uint64_t alignment,
                          bool contiguous) {
    const uint64_t flags = device.spec().scopes[scope].scope.flags;
    Storage storage(device.scope(scope).reserve(size, alignment, contiguous));
    storage.pages_ = take_pages(size, alignment);
    storage.data_ = storage.pages_.begin();
    storage.size_ = size;
    if (flags & PI_SCOPE_COHERENT) {
        storage.host_data_ = storage.data_;
    } else if (flags & PI_SCOPE_HOST_VISIBLE) {
        storage.host_pages_ = take_pages(size, alignment);
        storage.host_data_ = storage.host_pages_.begin();
    }
    return storage;
}

Storage Storage::borrow(void *data, uint64_t size, bool coherent) {
    Storage storage;
    storage.host_data_ = storage.data_ = static_cast<std::byte *>(data);
    storage.size_ = size;
    if (!coherent) {
        // What the caches held is written back when memory is given to a device, as drivers do it.
        storage.pages_ = take_pages(size, 1);
        storage.data_ = storage.pages_.begin();
        std::memcpy(storage.data_, data, size);
    }
    return storage;
}

} // namespace pi::sim
