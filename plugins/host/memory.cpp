// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "memory.hpp"

#include "entries.hpp"
#include "shared.hpp"
#include "usm.hpp"

#include <pi/sdk/address.hpp>
#include <pi/sdk/descriptor.hpp>
#include <pi/sdk/memory.hpp>
#include <pi/sdk/region.hpp>

#include <algorithm>

namespace pi::host {

using sdk::fail;
using sdk::InfoWriter;

// ----- Checks ------------------------------------------------------------------------------------

uint64_t checked_alignment(uint64_t asked) {
    if (asked > max_alignment)
        fail(PI_ERROR_INVALID_ALIGNMENT, "alignment is ", asked, "; at most ", max_alignment,
             " bytes can be honoured");
    return std::max(asked, min_alignment);
}

void check_scope(uint32_t scope) {
    if (scope >= scope_count)
        fail(PI_ERROR_INVALID_VALUE, "scope is ", scope, "; the device has ", scope_count,
             ", numbered from 0");
}

void check_requirements(uint64_t flags, uint32_t scope) {
    if (!(flags & sdk::mem_requirement_flags))
        return;
    if (scope != scope_global)
        fail(PI_ERROR_UNSUPPORTED_FEATURE,
             "PI_MEM_REQUIRE_CONTIGUOUS and _PINNED are for scope 0 (global)");
    if (flags & PI_MEM_USE_HOST_PTR)
        fail(PI_ERROR_UNSUPPORTED_FEATURE,
             "PI_MEM_REQUIRE_CONTIGUOUS and _PINNED are for memory of the plugin: memory that "
             "PI_MEM_USE_HOST_PTR uses is not changed");
}

// ----- Mem ---------------------------------------------------------------------------------------

namespace {

/// The alignment of a new buffer.
uint64_t buffer_alignment(const pi_mem_buffer_desc &desc) {
    const uint64_t given = checked_alignment(desc.alignment);
    return desc.flags & PI_MEM_USE_HOST_PTR ? sdk::alignment_of(desc.host_ptr, max_alignment)
                                            : given;
}

void check_export(const pi_mem_buffer_desc &desc) {
    constexpr uint32_t dma_buf = 1u << PI_EXTERNAL_DMA_BUF_FD;
    const uint32_t possible = export_types();
    if (desc.export_types & dma_buf & ~possible)
        fail(PI_ERROR_UNSUPPORTED_FEATURE,
             "export_types has PI_EXTERNAL_DMA_BUF_FD, but there is neither /dev/udmabuf (a kernel "
             "with CONFIG_UDMABUF; modprobe udmabuf) nor a heap of contiguous memory in "
             "/dev/dma_heap (CONFIG_DMABUF_HEAPS_CMA and cma= on its command line)");
    if (desc.export_types & ~possible)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "export_types is 0x", std::hex, desc.export_types,
             "; the host plugin exports 0x", possible, " here (PI_EXTERNAL_OPAQUE_FD",
             possible & dma_buf ? ", PI_EXTERNAL_DMA_BUF_FD)" : ")");
    sdk::check_export_requirements(desc);
}

/// The layout chained to a descriptor, or a flat one.
Layout read_layout(const pi_mem_buffer_desc &desc) {
    const void *chained = sdk::find_chained(desc.next, PI_TYPE_MEM_LAYOUT_DESC);
    if (!chained)
        return {};
    if (desc.scope != scope_scratchpad)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "scope ", desc.scope,
             " has no n-D layouts: its flags lack PI_SCOPE_LAYOUT; scope ", scope_scratchpad, " (",
             scratchpad_name, ") has");
    if (desc.flags & PI_MEM_USE_HOST_PTR)
        fail(PI_ERROR_UNSUPPORTED_FEATURE,
             "PI_MEM_USE_HOST_PTR with a pi_mem_layout_desc: the application's memory has no rows "
             "of the plugin's pitch; PI_MEM_COPY_HOST_PTR can be used");
    return {
        sdk::read_desc(static_cast<const pi_mem_layout_desc *>(chained), PI_TYPE_MEM_LAYOUT_DESC),
        desc.size};
}

Storage make_storage(const Device &owner, const pi_mem_buffer_desc &desc, uint64_t size,
                     uint64_t alignment) {
    if (desc.flags & PI_MEM_USE_HOST_PTR)
        return Storage::borrow(desc.host_ptr);
    if (desc.export_types)
        return Storage::allocate_shared(owner, size, alignment,
                                        desc.flags & sdk::mem_requirement_flags, desc.export_types);
    return Storage::allocate(owner, size, alignment, desc.flags & sdk::mem_requirement_flags);
}

Storage import_storage(const pi_mem_import_desc &desc) {
    switch (desc.handle.type) {
    case PI_EXTERNAL_HOST_POINTER:
        return Storage::borrow(sdk::import_pointer(desc));
    case PI_EXTERNAL_DMA_BUF_FD:
        return Storage::import(sdk::map_dma_buf(desc.handle.fd, desc.offset, desc.size));
    default:
        return Storage::import(sdk::map_shared(desc.handle.fd, desc.offset, desc.size));
    }
}

pi_coherence coherence(const Mem &mem) {
    return mem.storage().dma_buf() && !sdk::devices_are_coherent ? PI_COHERENCE_FLUSH_INVALIDATE
                                                                 : PI_COHERENCE_COHERENT;
}

uint64_t bus_address(const Mem &mem) {
    const bool required = mem.flags() & PI_MEM_REQUIRE_CONTIGUOUS;
    // An imported dma-buf can be contiguous, too.
    const bool imported = mem.storage().dma_buf() && mem.storage().stays();
    if (!required && !imported)
        fail(PI_ERROR_UNSUPPORTED_FEATURE,
             "only memory with PI_MEM_REQUIRE_CONTIGUOUS, or a heap's dma-buf, has a bus address");
    if (!mem.storage().stays())
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "the memory is an ordinary page, which the system may "
                                           "move: only huge pages, which hold larger buffers, have "
                                           "an address that stays");
    if (!bus_is_physical())
        fail(PI_ERROR_UNSUPPORTED_FEATURE,
             "this machine has an IOMMU: each device on a bus sees addresses of its own");
    if (!required) {
        touch_pages(mem.data(), mem.size());
        if (!is_contiguous(mem.data(), mem.size()).value_or(true))
            fail(PI_ERROR_UNSUPPORTED_FEATURE, "the dma-buf is not physically contiguous");
    }
    if (const auto address = physical_address(mem.data()))
        return *address;
    fail(PI_ERROR_UNSUPPORTED_FEATURE,
         "the system shows physical addresses only to processes with CAP_SYS_ADMIN");
}

std::vector<uint64_t> pitches(const Mem &mem) {
    if (const Image *image = mem.image())
        return sdk::image_pitches(image->shape, image->pixels);
    return mem.layout().pitches();
}

} // namespace

Mem::Mem(Mem &root, uint64_t flags, uint64_t offset, uint64_t size, ImagePointer image)
    : Object(root.host()), context_(root.context_), device_(root.device_), root_(root),
      flags_(flags), offset_(offset), size_(size),
      alignment_(sdk::alignment_of(root.bytes().at(offset), max_alignment)),
      memory_kind_(image ? pi_memory_kind{PI_MEMORY_KIND_IMAGE} : root.memory_kind_),
      shape_{root.scope(), {}, std::move(image)}, storage_(Storage::borrow(root.data())) {}

Mem &checked_buffer(const pi_host *host, pi_mem mem, const sdk::ArgumentName &name) {
    Mem &found = sdk::checked<Mem>(host, mem, name);
    sdk::require_buffer(found, name);
    return found;
}

Mem &checked_image(const pi_host *host, pi_mem mem, const sdk::ArgumentName &name) {
    Mem &found = sdk::checked<Mem>(host, mem, name);
    sdk::require_image(found, name);
    return found;
}

namespace entries {

pi_result PI_CALL piMemBufferCreate(pi_context context, pi_device device,
                                    const pi_mem_buffer_desc *desc, pi_mem *out_mem) {
    return sdk::call<Context>(context, [&](Context &self) {
        Device &owner = self.device(device);
        const pi_mem_buffer_desc known =
            sdk::read_desc(desc, PI_TYPE_MEM_BUFFER_DESC, PI_TYPE_MEM_LAYOUT_DESC);
        sdk::require(out_mem, "out_mem");
        sdk::check_buffer(known);
        check_scope(known.scope);
        check_requirements(known.flags, known.scope);
        check_export(known);
        Layout layout = read_layout(known);
        const uint64_t alignment = buffer_alignment(known);
        Storage storage = Usm::table(self).pools().with_room(nullptr, [&] {
            return make_storage(owner, known, layout.physical_size(known.size), alignment);
        });
        auto mem =
            sdk::make<Mem>(self, owner, known.flags, known.size, alignment, PI_MEMORY_KIND_BUFFER,
                           std::move(storage), Shape{known.scope, std::move(layout), nullptr});
        if (known.flags & PI_MEM_COPY_HOST_PTR)
            copy_bytes(known.host_ptr, 0, mem->bytes(), 0, known.size);
        *out_mem = mem.give();
    });
}

pi_result PI_CALL piMemBufferPartition(pi_mem mem, const pi_mem_partition_desc *desc,
                                       pi_mem *out_mem) {
    return sdk::call<Mem>(mem, [&](Mem &self) {
        const pi_mem_partition_desc known = sdk::read_desc(desc, PI_TYPE_MEM_PARTITION_DESC);
        sdk::require(out_mem, "out_mem");
        checked_buffer(self.host(), mem);
        sdk::check_partition(known, self.size(), self.flags());
        const uint64_t flags = sdk::view_flags(known.flags, self.flags());
        Mem &root = self.root() ? *self.root() : self;
        *out_mem = sdk::make<Mem>(root, flags, self.offset() + known.offset, known.size).give();
    });
}

pi_result PI_CALL piMemImport(pi_context context, pi_device device, const pi_mem_import_desc *desc,
                              pi_mem *out_mem) {
    return sdk::call<Context>(context, [&](Context &self) {
        Device &owner = self.device(device);
        const pi_mem_import_desc known = sdk::read_import(desc);
        sdk::require(out_mem, "out_mem");
        const pi_external_type type = known.handle.type;
        if (!(import_types >> type & 1))
            fail(PI_ERROR_UNSUPPORTED_FEATURE, "handle.type is ", type,
                 "; the host plugin imports PI_EXTERNAL_HOST_POINTER (", PI_EXTERNAL_HOST_POINTER,
                 "), PI_EXTERNAL_DMA_BUF_FD (", PI_EXTERNAL_DMA_BUF_FD,
                 ") and PI_EXTERNAL_OPAQUE_FD (", PI_EXTERNAL_OPAQUE_FD, "), at any alignment");
        const bool file = type != PI_EXTERNAL_HOST_POINTER;
        Storage storage = import_storage(known);
        const uint64_t alignment = sdk::alignment_of(storage.data(), max_alignment);
        *out_mem = sdk::make<Mem>(self, owner, known.flags, known.size, alignment,
                                  file ? PI_MEMORY_KIND_BUFFER : PI_MEMORY_KIND_IMPORTED,
                                  std::move(storage))
                       .give();
    });
}

pi_result PI_CALL piMemGetInfo(pi_mem mem, pi_mem_info name, uint64_t size, void *value,
                               uint64_t *out_size) {
    static constexpr sdk::InfoRow<Mem> rows[] = {
        {PI_MEM_INFO_COHERENCE, [](Mem &m, const InfoWriter &write) { write(coherence(m)); }},
        {PI_MEM_INFO_DEVICE_ADDRESS,
         [](Mem &m, const InfoWriter &write) {
             write(static_cast<uint64_t>(reinterpret_cast<uintptr_t>(m.data())));
         }},
        {PI_MEM_INFO_BUS_ADDRESS, [](Mem &m, const InfoWriter &write) { write(bus_address(m)); }},
        {PI_MEM_INFO_PITCHES, [](Mem &m, const InfoWriter &write) { write(pitches(m)); }},
    };
    return sdk::call<Mem>(mem, [&](Mem &self) {
        sdk::answer_info<Mem>(self, sdk::mem_rows<Mem>, rows, name, size, value, out_size);
    });
}

pi_result PI_CALL piMemGetHostPointer(pi_mem mem, void **out_pointer) {
    return sdk::call<Mem>(
        mem, [&](Mem &self) { *sdk::require(out_pointer, "out_pointer") = self.data(); });
}

pi_result PI_CALL piMemFlush(pi_mem mem, uint64_t offset, uint64_t size) {
    return sdk::call<Mem>(mem, [&](Mem &self) {
        sdk::check_range(offset, size, self.size(), "mem");
        self.storage().dma_buf().coherence_sync(); // all other memory is coherent
    });
}

pi_result PI_CALL piMemInvalidate(pi_mem mem, uint64_t offset, uint64_t size) {
    return sdk::call<Mem>(mem, [&](Mem &self) {
        sdk::check_range(offset, size, self.size(), "mem");
        self.storage().dma_buf().coherence_sync(); // all other memory is coherent
    });
}

} // namespace entries

} // namespace pi::host
