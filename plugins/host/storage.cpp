// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "storage.hpp"

#include "device.hpp"

#include <pi/sdk/error.hpp>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace pi::host {

namespace {

/// With several nodes, memory from this size on is mapped in whole pages, so that it can be bound
/// to a node.
constexpr uint64_t min_bound_size = uint64_t{64} * 1024;

[[noreturn]] void out_of_memory(const Device &device, const char *call, uint64_t size,
                                const char *reason) {
    sdk::fail(PI_ERROR_OUT_OF_DEVICE_MEMORY, call, reason, ": ", Bytes(size), " (", size,
              " bytes) requested, ", Bytes(free_memory()), " free of ",
              Bytes(device.node().capacity), " on NUMA node ", device.node().number);
}

void check_capacity(const Device &device, uint64_t size) {
    // A system that overcommits would grant this and kill the process later.
    if (device.node().capacity && size > device.node().capacity)
        out_of_memory(device, "", size, "more than the node has");
}

PinnedPages pin(const MmapRegion &pages) {
    PinnedPages pinned(pages.begin(), pages.size());
    if (!pinned)
        sdk::fail(PI_ERROR_UNSUPPORTED_FEATURE, "PI_MEM_REQUIRE_PINNED: ", pinned.refusal());
    return pinned;
}

MmapRegion bound_pages(const Device &device, uint64_t size, uint64_t alignment) {
    MmapRegion pages = map_pages(size, alignment);
    if (!pages)
        out_of_memory(device, "mmap: ", size, std::strerror(errno));
    device.topology().bind_memory(device.node(), pages.begin(), pages.size());
    return pages;
}

} // namespace

Storage Storage::mapped(MmapRegion pages, DmaBuf buffer) {
    Storage storage(pages.begin(), std::move(buffer));
    storage.pages_ = std::move(pages);
    return storage;
}

Storage Storage::of_dma(DmaMemory memory) {
    Storage storage = mapped(std::move(memory.mapping), std::move(memory.buffer));
    storage.stays_ = true;
    return storage;
}

Storage Storage::allocate(const Device &device, uint64_t size, uint64_t alignment,
                          uint64_t requirements) {
    check_capacity(device, size);
    if (requirements & PI_MEM_REQUIRE_CONTIGUOUS) {
        DmaMemory memory = allocate_contiguous(size, alignment);
        if (memory.mapping)
            return of_dma(std::move(memory));
        PhysicalRun run = map_contiguous(size, alignment);
        if (!run.mapping)
            sdk::fail(PI_ERROR_UNSUPPORTED_FEATURE, "PI_MEM_REQUIRE_CONTIGUOUS: ", run.refusal,
                      "; also, ", memory.refusal);
        Storage storage = mapped(std::move(run.mapping));
        storage.pinned_ = std::move(run.pinned);
        storage.stays_ = run.stays;
        return storage;
    }
    if (requirements & PI_MEM_REQUIRE_PINNED) {
        Storage storage = mapped(bound_pages(device, size, alignment));
        storage.pinned_ = pin(storage.pages_);
        return storage;
    }
    if (device.topology().nodes().size() > 1 && size >= min_bound_size)
        return mapped(bound_pages(device, size, alignment));
    void *bytes = nullptr;
    if (const int error = posix_memalign(&bytes, alignment, size))
        out_of_memory(device, "posix_memalign: ", size, std::strerror(error));
    Storage storage(static_cast<std::byte *>(bytes));
    storage.heap_ = storage.data_;
    return storage;
}

Storage Storage::allocate_shared(const Device &device, uint64_t size, uint64_t alignment,
                                 uint64_t requirements, uint32_t types) {
    check_capacity(device, size);
    const bool dma = types >> PI_EXTERNAL_DMA_BUF_FD & 1, file = types >> PI_EXTERNAL_OPAQUE_FD & 1;
    const bool contiguous = requirements & PI_MEM_REQUIRE_CONTIGUOUS;
    if (contiguous || (dma && !sdk::can_share_pages())) {
        if (file)
            sdk::fail(PI_ERROR_UNSUPPORTED_FEATURE, "PI_EXTERNAL_OPAQUE_FD in export_types: ",
                      contiguous ? "memory with PI_MEM_REQUIRE_CONTIGUOUS is"
                                 : "without udmabuf, memory is",
                      " exported as PI_EXTERNAL_DMA_BUF_FD only, not also as this");
        DmaMemory memory = allocate_contiguous(size, alignment);
        if (!memory.mapping)
            sdk::fail(PI_ERROR_UNSUPPORTED_FEATURE,
                      "PI_EXTERNAL_DMA_BUF_FD in export_types: ", memory.refusal);
        Storage storage = of_dma(std::move(memory));
        storage.export_types_ = types;
        return storage;
    }
    sdk::SharedMemory shared = sdk::make_shared(size, alignment);
    if (!shared.mapping)
        out_of_memory(device, "memfd_create: ", size, std::strerror(errno));
    device.topology().bind_memory(device.node(), shared.mapping.begin(), shared.mapping.size());
    DmaBuf buffer = dma ? sdk::share_pages(shared.file.get(), shared.mapping.size()) : DmaBuf();
    Storage storage = mapped(std::move(shared.mapping), std::move(buffer));
    if (requirements & PI_MEM_REQUIRE_PINNED)
        storage.pinned_ = pin(storage.pages_);
    storage.file_ = std::move(shared.file);
    storage.export_types_ = types;
    return storage;
}

Storage Storage::import(sdk::SharedRange range) {
    Storage storage = mapped(std::move(range.mapping));
    storage.data_ = range.begin;
    return storage;
}

Storage Storage::import(sdk::DmaRange range) {
    Storage storage = mapped(std::move(range.range.mapping), std::move(range.buffer));
    storage.data_ = range.range.begin;
    storage.stays_ = pages_stay(storage.dma_buf_);
    return storage;
}

Storage::Storage(Storage &&other) noexcept
    : data_(other.data_), heap_(std::exchange(other.heap_, nullptr)),
      dma_buf_(std::move(other.dma_buf_)), pages_(std::move(other.pages_)),
      pinned_(std::move(other.pinned_)), file_(std::move(other.file_)),
      export_types_(other.export_types_), stays_(other.stays_) {}

Storage::~Storage() {
    std::free(heap_);
}

} // namespace pi::host
