// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "storage.hpp"

#include "connection.hpp"
#include "plugin.hpp"

#include <pi/sdk/bytes.hpp>
#include <pi/sdk/external.hpp>

#include <cerrno>
#include <cstring>

namespace pi::sim {

namespace {

[[noreturn]] void no_pages(const char *call, uint64_t size) {
    sdk::fail(PI_ERROR_OUT_OF_HOST_MEMORY, call, ": ", std::strerror(errno), ": ", sdk::Bytes(size),
              " to simulate device memory with");
}

sdk::MmapRegion take_pages(uint64_t size, uint64_t alignment) {
    sdk::MmapRegion pages = sdk::map_pages(size, alignment, MAP_NORESERVE);
    if (!pages)
        no_pages("mmap", size);
    return pages;
}

/// Reads memory as a device does, while other threads may write to it. That is not a race in the
/// program: the bytes being written are synced before the device may use them. So the thread
/// sanitizer must not see it; volatile keeps it from becoming a memcpy.
__attribute__((no_sanitize("thread"))) void fetch(const std::byte *memory, std::byte *copy,
                                                  uint64_t size) {
    const volatile std::byte *from = memory;
    for (uint64_t index = 0; index < size; ++index)
        copy[index] = from[index];
}

} // namespace

void Storage::show_host(uint64_t flags, uint64_t alignment) {
    if (flags & PI_SCOPE_COHERENT) {
        host_data_ = data_;
    } else if (flags & PI_SCOPE_HOST_VISIBLE) {
        host_pages_ = take_pages(size_, alignment);
        host_data_ = host_pages_.begin();
    }
}

Storage Storage::allocate(Device &device, uint32_t scope, uint64_t size, uint64_t alignment,
                          bool contiguous, uint32_t export_types) {
    const ScopeSpec &spec = device.spec().scopes[scope];
    Storage storage;
    storage.memory_ = std::make_shared<DeviceMemory>(
        DeviceMemory{device.scope(scope).reserve(size, alignment, contiguous), device,
                     spec.in_host ? host_site : device.site()});
    storage.run_ = storage.memory_->reservation.run();
    if (export_types) {
        sdk::SharedMemory shared = sdk::make_shared(size, alignment);
        if (!shared.mapping)
            no_pages("memfd_create", size);
        if (export_types & sdk::external_bit(PI_EXTERNAL_DMA_BUF_FD))
            storage.dma_buf_.emplace(sdk::share_pages(shared.file.get(), shared.mapping.size()));
        storage.pages_ = std::move(shared.mapping);
        storage.file_ = std::move(shared.file);
        storage.export_types_ = export_types;
        device.instance().exports().add(storage.file_.get(), storage.memory_);
        if (storage.dma_buf_)
            device.instance().exports().add(storage.dma_buf_->get(), storage.memory_);
    } else {
        storage.pages_ = take_pages(size, alignment);
    }
    storage.data_ = storage.pages_.begin();
    storage.size_ = size;
    storage.show_host(spec.scope.flags, alignment);
    return storage;
}

Storage Storage::import(Device &device, const pi_mem_import_desc &desc) {
    const pi_external_type type = desc.handle.type;
    Storage storage;
    sdk::SharedRange range;
    if (type == PI_EXTERNAL_DMA_BUF_FD) {
        sdk::DmaRange dma = sdk::map_dma_buf(desc.handle.fd, desc.offset, desc.size);
        storage.dma_buf_.emplace(std::move(dma.buffer));
        range = std::move(dma.range);
    } else {
        range = sdk::map_shared(desc.handle.fd, desc.offset, desc.size);
    }
    storage.memory_ = device.instance().exports().find(desc.handle.fd);
    if (storage.memory_) {
        const Device &owner = storage.memory_->owner;
        if (!(shared_handle_types(owner, device) & sdk::external_bit(type)))
            sdk::fail(PI_ERROR_UNSUPPORTED_FEATURE, "handle.fd is memory of ", owner.spec().name,
                      ", which ", device.spec().name,
                      " cannot import: external_handle_types of their link in the machine file");
    }
    storage.imported_from_ = storage.memory_            ? storage.memory_->site
                             : device.spec().integrated ? device.site()
                                                        : host_site;
    storage.pages_ = std::move(range.mapping);
    storage.data_ = range.begin;
    storage.size_ = desc.size;
    storage.show_host(device.spec().scopes[0].scope.flags, 1);
    // The host's caches start with the current bytes, like memory that was just mapped.
    if (!storage.coherent())
        fetch(storage.data_, storage.host_data_, storage.size_);
    return storage;
}

Storage Storage::borrow(void *data, uint64_t size, Borrowing borrowing) {
    Storage storage;
    storage.host_data_ = storage.data_ = static_cast<std::byte *>(data);
    storage.size_ = size;
    storage.copied_ = borrowing == Borrowing::copied;
    if (borrowing != Borrowing::coherent) {
        // Drivers write back caches when they get memory for a device.
        storage.pages_ = take_pages(size, 1);
        storage.data_ = storage.pages_.begin();
        fetch(storage.host_data_, storage.data_, size);
    }
    return storage;
}

} // namespace pi::sim
