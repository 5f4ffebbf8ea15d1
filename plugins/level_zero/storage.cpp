// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "storage.hpp"
#include "place.hpp"
#include "registration.hpp"
#include "usm.hpp"

#include <pi/sdk/address.hpp>
#include <pi/sdk/bytes.hpp>
#include <pi/sdk/external.hpp>
#include <pi/sdk/shared.hpp>

#include <algorithm>
#include <cstring>
#include <unistd.h>

namespace pi::level_zero {

using namespace sdk;

namespace {

/// Frees the memory once no copy of the pointer is left. Keeps the driver's context alive until
/// then.
template <class Free>
std::shared_ptr<void> owner(Place &place, void *memory, Free free) {
    return {memory, [keep = place.context().shared_from_this(), &place, free](void *address) {
                place.note(free(*keep, address));
            }};
}

ze_result_t free_memory(DriverContext &context, void *address) {
    return context.api().zeMemFree(context.id(), address);
}

[[noreturn]] void fail_without_memory(Place &place, bool of_device, const char *call,
                                      ze_result_t code, uint64_t bytes) {
    Device &device = place.device();
    if (!of_device)
        fail(PI_ERROR_OUT_OF_HOST_MEMORY, call, ": ", error_name(code), ": ", Bytes(bytes),
             " of host memory requested");
    // An upper bound: the driver does not report free memory, and others may have allocated some.
    const uint64_t total = device.memory_size();
    const uint64_t taken = std::min(device.taken().load(), total);
    fail(PI_ERROR_OUT_OF_DEVICE_MEMORY, call, ": ", error_name(code), ": ", Bytes(bytes),
         " requested, at most ", Bytes(total - taken), " of ", Bytes(total), " free on ",
         device.name());
}

ze_device_mem_alloc_desc_t device_desc() {
    return typed<ze_device_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC);
}
ze_host_mem_alloc_desc_t host_desc() {
    return typed<ze_host_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC);
}

ze_external_memory_type_flags_t flags_of(uint32_t files) {
    return (files & external_bit(PI_EXTERNAL_DMA_BUF_FD) ? ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF
                                                         : 0) |
           (files & external_bit(PI_EXTERNAL_OPAQUE_FD) ? ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD
                                                        : 0);
}

} // namespace

bool no_memory(ze_result_t code) {
    return code == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY ||
           code == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

bool free_unused(Place &place, bool of_device) {
    const void *source = Usm::source(place.device(), of_device ? PI_USM_DEVICE : PI_USM_HOST);
    auto &pools = place.instance().usm().pools();
    const bool any = pools.free_idle(source, pools.times_freed());
    place.context().sweep();
    return any;
}

void check_allocated(Place &place, bool of_device, const char *call, ze_result_t code,
                     uint64_t bytes) {
    if (no_memory(code) || code == ZE_RESULT_ERROR_UNSUPPORTED_SIZE)
        fail_without_memory(place, of_device, call, code, bytes);
    place.check(code, call, Bytes(bytes), " requested on ", place.device().name());
}

/// allocate(bytes, alignment, &memory) is the driver's call. If the driver does not honour the
/// alignment, allocates more and aligns within.
template <class Allocate>
Storage Storage::take(Place &place, uint64_t size, uint64_t alignment, bool of_device,
                      const char *call, Allocate allocate) {
    alignment = std::max(alignment, min_alignment);
    void *memory = nullptr;
    uint64_t bytes = size;
    ze_result_t code = allocate(bytes, alignment, &memory);
    if (no_memory(code)) {
        free_unused(place, of_device);
        code = allocate(bytes, alignment, &memory);
    }
    if (code == ZE_RESULT_SUCCESS && alignment_of(memory, alignment) < alignment) {
        free_memory(place.context(), memory);
        code = ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
    }
    if (code == ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT) {
        if (__builtin_add_overflow(size, alignment, &bytes))
            fail(PI_ERROR_INVALID_SIZE, "size is ", size,
                 " bytes; with its alignment it must fit 64 bits");
        code = allocate(bytes, uint64_t{0}, &memory);
    }
    check_allocated(place, of_device, call, code, bytes);
    Storage storage;
    std::atomic<uint64_t> *taken = of_device ? &place.device().taken() : nullptr;
    if (taken)
        *taken += bytes;
    storage.owner_ = owner(place, memory, [taken, bytes](DriverContext &context, void *address) {
        if (taken)
            *taken -= bytes;
        return free_memory(context, address);
    });
    storage.begin_ =
        reinterpret_cast<std::byte *>(align_up(reinterpret_cast<uintptr_t>(memory), alignment));
    if (!of_device)
        storage.host_ = storage.begin_;
    return storage;
}

Storage Storage::on_device(Place &place, uint64_t size, uint64_t alignment, uint32_t files) {
    auto desc = device_desc();
    auto exported =
        typed<ze_external_memory_export_desc_t>(ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC);
    exported.flags = flags_of(files);
    if (files)
        desc.pNext = &exported;
    Storage storage = take(place, size, alignment, true, "zeMemAllocDevice",
                           [&](uint64_t bytes, uint64_t aligned, void **out) {
                               const ze_result_t code =
                                   place.api().zeMemAllocDevice(place.context().id(), &desc, bytes,
                                                                aligned, place.device().id(), out);
                               if (files && code != ZE_RESULT_SUCCESS)
                                   require_descriptors("zeMemAllocDevice: ", error_name(code));
                               return code;
                           });
    if (files) {
        storage.exports_ = std::make_shared<Exports>();
        storage.exports_->types = files;
    }
    return storage;
}

Storage Storage::in_host(Place &place, uint64_t size, uint64_t alignment) {
    const auto desc = host_desc();
    return take(place, size, alignment, false, "zeMemAllocHost",
                [&](uint64_t bytes, uint64_t aligned, void **out) {
                    return place.api().zeMemAllocHost(place.context().id(), &desc, bytes, aligned,
                                                      out);
                });
}

Storage Storage::shared(Place &place, uint64_t size, uint64_t alignment) {
    const auto on_device = device_desc();
    const auto on_host = host_desc();
    Storage storage =
        take(place, size, alignment, true, "zeMemAllocShared",
             [&](uint64_t bytes, uint64_t aligned, void **out) {
                 return place.api().zeMemAllocShared(place.context().id(), &on_device, &on_host,
                                                     bytes, aligned, place.device().id(), out);
             });
    storage.host_ = storage.begin_;
    return storage;
}

Storage Storage::borrow(Place &place, std::byte *begin, uint64_t size) {
    Storage storage;
    storage.owner_ = pin(place.device().platform(), begin, size);
    storage.begin_ = storage.host_ = begin;
    return storage;
}

Storage Storage::import_file(Place &place, pi_external_type type, int fd, uint64_t offset,
                             uint64_t size) {
    uint64_t end;
    if (__builtin_add_overflow(offset, size, &end) || end > place.device().memory_size())
        fail(PI_ERROR_INVALID_SIZE, "offset is ", offset, " and size ", size,
             ": beyond the memory of ", place.device().name(), " (", place.device().memory_size(),
             " bytes)");
    // Not all drivers check the size; some descriptors do not report it.
    if (const off_t available = descriptor_size(fd); available >= 0)
        check_descriptor_range(offset, size, available);
    auto desc = device_desc();
    auto file = typed<ze_external_memory_import_fd_t>(ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD);
    file.flags = static_cast<ze_external_memory_type_flags_t>(flags_of(external_bit(type)));
    file.fd = fd;
    desc.pNext = &file;
    void *memory = nullptr;
    const ze_result_t code = place.api().zeMemAllocDevice(place.context().id(), &desc, end, 0,
                                                          place.device().id(), &memory);
    place.note(code);
    if (code == ZE_RESULT_ERROR_INVALID_SIZE || code == ZE_RESULT_ERROR_UNSUPPORTED_SIZE)
        fail(PI_ERROR_INVALID_SIZE, "offset is ", offset, " and size ", size,
             ": beyond the end of handle.fd (", fd, "): zeMemAllocDevice: ", error_name(code));
    if (code != ZE_RESULT_SUCCESS) {
        require_descriptors("zeMemAllocDevice: ", error_name(code));
        fail(PI_ERROR_INVALID_VALUE, "handle.fd is ", fd, ", which is not memory for ",
             place.device().name(), ": zeMemAllocDevice: ", error_name(code));
    }
    Storage storage;
    storage.owner_ = owner(place, memory, free_memory);
    storage.begin_ = static_cast<std::byte *>(memory) + offset;
    return storage;
}

Storage Storage::open_ipc(Place &place, const void *handle, uint64_t offset, uint64_t size) {
    ze_ipc_mem_handle_t ipc;
    std::memcpy(&ipc, handle, sizeof ipc);
    void *memory = nullptr;
    const ze_result_t code =
        place.api().zeMemOpenIpcHandle(place.context().id(), place.device().id(), ipc, 0, &memory);
    place.note(code);
    if (code != ZE_RESULT_SUCCESS)
        fail(PI_ERROR_INVALID_VALUE,
             "handle.ipc is not memory of a running process: zeMemOpenIpcHandle: ",
             error_name(code));
    Storage storage;
    storage.owner_ = owner(place, memory, [](DriverContext &context, void *address) {
        return context.api().zeMemCloseIpcHandle(context.id(), address);
    });
    const KnownMemory known = find_memory(place, memory);
    if (known.size && (offset > known.size || size > known.size - offset))
        fail(PI_ERROR_INVALID_SIZE, "offset is ", offset, " and size ", size,
             ": beyond the end of the memory, which has ", known.size);
    storage.begin_ = static_cast<std::byte *>(memory) + offset;
    return storage;
}

bool Storage::passes(Place &from, Place &to, pi_external_type type) {
    constexpr uint64_t size = 4096;
    const Storage given = on_device(from, size, 0, external_bit(type));
    const int file = given.file(from, type);
    try {
        import_file(to, type, file, 0, size);
        return true;
    } catch (const Error &error) {
        if (error.code() != PI_ERROR_INVALID_VALUE && error.code() != PI_ERROR_INVALID_SIZE)
            throw;
        return false;
    }
}

Storage Storage::around(Place &place, void *begin, uint64_t offset, bool host,
                        std::shared_ptr<const bool> own) {
    Storage storage;
    storage.owner_ =
        owner(place, begin, [own = std::move(own)](DriverContext &context, void *address) {
            return *own ? free_memory(context, address) : ZE_RESULT_SUCCESS;
        });
    storage.begin_ = static_cast<std::byte *>(begin) + offset;
    if (host)
        storage.host_ = storage.begin_;
    return storage;
}

int Storage::file(Place &place, pi_external_type type) const {
    std::lock_guard lock(exports_->mutex);
    if (const auto known = exports_->files.find(type); known != exports_->files.end())
        return known->second.get();
    auto properties =
        typed<ze_memory_allocation_properties_t>(ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES);
    auto out = typed<ze_external_memory_export_fd_t>(ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD);
    out.flags = static_cast<ze_external_memory_type_flags_t>(flags_of(external_bit(type)));
    out.fd = -1;
    properties.pNext = &out;
    const ze_result_t code = place.api().zeMemGetAllocProperties(place.context().id(), allocation(),
                                                                 &properties, nullptr);
    if (code != ZE_RESULT_SUCCESS || out.fd < 0)
        require_descriptors("zeMemGetAllocProperties: ", error_name(code));
    place.check(code, "zeMemGetAllocProperties", "for a descriptor, on ", place.device().name());
    if (out.fd < 0)
        fail(PI_ERROR_BACKEND, "zeMemGetAllocProperties returned the descriptor ", out.fd);
    return exports_->files.emplace(type, File(out.fd)).first->second.get();
}

uint64_t Storage::alignment() const {
    return alignment_of(begin_, max_alignment);
}

KnownMemory find_memory(Place &place, const void *address) {
    const Api &ze = place.api();
    const ze_context_handle_t context = place.context().id();
    auto properties =
        typed<ze_memory_allocation_properties_t>(ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES);
    ze_device_handle_t device = nullptr;
    KnownMemory known;
    if (ze.zeMemGetAllocProperties(context, address, &properties, &device) != ZE_RESULT_SUCCESS)
        return known;
    void *begin = nullptr;
    size_t size = 0;
    if (ze.zeMemGetAddressRange(context, address, &begin, &size) != ZE_RESULT_SUCCESS)
        return known;
    known = {static_cast<int>(properties.type), device, static_cast<std::byte *>(begin), size};
    return known;
}

} // namespace pi::level_zero
