// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "storage.hpp"

#include "device.hpp"

#include <pi/sdk/error.hpp>

#include <sys/mman.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace pi::host {

namespace {

/// From here on, memory of one among several nodes is mapped page by page, so that it can be bound.
constexpr uint64_t min_bound_size = 64 * 1024;

[[noreturn]] void out_of_memory(const Device &device, const char *call, uint64_t size,
                                const char *reason) {
    sdk::fail(PI_ERROR_OUT_OF_DEVICE_MEMORY, call, reason, ": ", Bytes(size), " (", size,
              " bytes) asked, ", Bytes(free_memory()), " free of ", Bytes(device.node().capacity),
              " on NUMA node ", device.node().number);
}

} // namespace

Storage Storage::allocate(const Device &device, uint64_t size, uint64_t alignment) {
    // An overcommitting system would promise this and kill the process later.
    if (device.node().capacity && size > device.node().capacity)
        out_of_memory(device, "", size, "more than the node has");
    if (device.topology().nodes().size() > 1 && size >= min_bound_size) {
        const uint64_t bytes = size + alignment;
        void *pages =
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages == MAP_FAILED)
            out_of_memory(device, "mmap: ", size, std::strerror(errno));
        device.topology().bind_memory(device.node(), pages, bytes);
        const uintptr_t begin = reinterpret_cast<uintptr_t>(pages);
        Storage storage(
            reinterpret_cast<std::byte *>((begin + alignment - 1) / alignment * alignment));
        storage.pages_ = pages;
        storage.page_bytes_ = bytes;
        return storage;
    }
    void *bytes = nullptr;
    if (const int error = posix_memalign(&bytes, alignment, size))
        out_of_memory(device, "posix_memalign: ", size, std::strerror(error));
    Storage storage(static_cast<std::byte *>(bytes));
    storage.heap_ = storage.data_;
    return storage;
}

Storage::Storage(Storage &&other) noexcept
    : data_(other.data_), heap_(std::exchange(other.heap_, nullptr)),
      pages_(std::exchange(other.pages_, nullptr)), page_bytes_(other.page_bytes_) {}

Storage::~Storage() {
    std::free(heap_);
    if (pages_)
        munmap(pages_, page_bytes_);
}

} // namespace pi::host
