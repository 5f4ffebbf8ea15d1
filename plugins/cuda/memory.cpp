// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "memory.hpp"
#include "entries.hpp"
#include "transfer.hpp"

#include <pi/sdk/address.hpp>
#include <pi/sdk/external.hpp>
#include <pi/sdk/memory.hpp>
#include <pi/sdk/region.hpp>

#include <algorithm>
#include <bit>

namespace pi::cuda {

using namespace sdk;

// ----- Mem ---------------------------------------------------------------------------------------

Mem::Mem(Context &context, Device &device, Storage storage, const pi_mem_buffer_desc &desc,
         pi_memory_kind memory, Layout layout)
    : Object(context.host()), context_(context), device_(device), primary_(context.primary(device)),
      storage_(std::move(storage)), layout_(std::move(layout)), size_(desc.size),
      flags_(desc.flags), scope_(desc.scope), kind_(memory), export_types_(desc.export_types),
      host_ptr_(desc.flags & PI_MEM_USE_HOST_PTR ? static_cast<std::byte *>(desc.host_ptr)
                                                 : nullptr) {}

Mem::Mem(Context &context, Device &device, std::unique_ptr<Image> image, uint64_t flags)
    : Object(context.host()), context_(context), device_(device), primary_(context.primary(device)),
      image_(std::move(image)), size_(image_->shape.bytes()), flags_(flags), scope_(SCOPE_GLOBAL),
      kind_(PI_MEMORY_KIND_IMAGE), host_ptr_(nullptr) {}

Mem::Mem(Mem &root, uint64_t flags, uint64_t offset, uint64_t size, std::unique_ptr<Image> image)
    : Object(root.host()), context_(root.context_), device_(root.device_), primary_(root.primary_),
      root_(root), image_(std::move(image)), offset_(offset), size_(size), flags_(flags),
      scope_(root.scope_), kind_(image_ ? pi_memory_kind{PI_MEMORY_KIND_IMAGE} : root.kind_),
      host_ptr_(nullptr) {}

uint64_t Mem::alignment() const {
    const uint64_t at = layout().at(offset_);
    const uint64_t of_offset = at ? at & (~at + 1) : UINT64_MAX;
    return std::min(storage().alignment(), of_offset);
}

std::byte *Mem::map_pointer() const {
    std::byte *const begin = root_ ? root_->host_ptr_ : host_ptr_;
    return begin ? begin + offset_ : nullptr;
}

bool usable(Primary &user, const Mem &mem) {
    if (&user == &mem.primary())
        return true;
    if (mem.image())
        return false;
    return mem.in_host() ? !mem.pageable() || user.device().reads_pageable()
                         : !mem.granted_apart() && user.access(mem.primary()).granted;
}

std::string why_not_usable(const Primary &user, const Mem &mem) {
    return text(mem.image() ? "an image of " : "memory of ", mem.device().name(), ", which ",
                user.device().name(), " cannot use: ",
                mem.granted_apart()
                    ? "it belongs to a pool or to virtual memory, for which cuCtxEnablePeerAccess "
                      "has no effect; copies between buffers can use it"
                    : "the connection is not UNIFIED");
}

void require_usable(Primary &user, const Mem &mem, const ArgumentName &name) {
    if (!usable(user, mem))
        fail(PI_ERROR_INVALID_MEM_OBJECT, name, " is ", why_not_usable(user, mem));
}

Mem &checked_buffer(Primary &user, const pi_host *host, pi_mem mem, const ArgumentName &name) {
    Mem &self = checked<Mem>(host, mem, name);
    require_buffer(self, name);
    require_usable(user, self, name);
    return self;
}

Mem &checked_image(Primary &user, const pi_host *host, pi_mem mem, const ArgumentName &name) {
    Mem &self = checked<Mem>(host, mem, name);
    require_image(self, name);
    require_usable(user, self, name);
    return self;
}

// ----- creation ----------------------------------------------------------------------------------

void check_scope(const Device &device, uint32_t scope) {
    if (scope >= SCOPE_COUNT)
        fail(PI_ERROR_INVALID_VALUE, "scope is ", scope, "; ", device.name(), " has ",
             uint32_t{SCOPE_COUNT}, " scopes, numbered from 0");
}

void check_requirements(const Device &device, uint64_t flags, uint32_t scope) {
    if (flags & PI_MEM_REQUIRE_CONTIGUOUS)
        fail(PI_ERROR_UNSUPPORTED_FEATURE,
             "PI_MEM_REQUIRE_CONTIGUOUS: CUDA reports no physical addresses of memory of ",
             device.name());
    // Device memory is never paged out, but PI_MEM_REQUIRE_PINNED is about host memory.
    if ((flags & PI_MEM_REQUIRE_PINNED) && scope != SCOPE_HOST_PINNED)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "PI_MEM_REQUIRE_PINNED in scope ", scope, " (",
             scope_names[scope], "): scope ", uint32_t{SCOPE_HOST_PINNED}, " (",
             scope_names[SCOPE_HOST_PINNED], ") is pinned memory of the host");
}

namespace {

void check_buffer(const Device &device, const pi_mem_buffer_desc &desc) {
    sdk::check_buffer(desc);
    check_scope(device, desc.scope);
    check_requirements(device, desc.flags, desc.scope);
    if (desc.export_types & ~export_types(device))
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "export_types is 0x", std::hex, desc.export_types, "; ",
             device.name(), " exports the types 0x", export_types(device), " (1 << PI_EXTERNAL_)");
    if (std::popcount(desc.export_types) > 1)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "export_types is 0x", std::hex, desc.export_types,
             ": CUDA exports memory as one type only, a file descriptor of one kind or an IPC "
             "handle");
    check_export_requirements(desc);
    if (desc.scope == SCOPE_HOST_PINNED && desc.flags & PI_MEM_USE_HOST_PTR)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "PI_MEM_USE_HOST_PTR in scope ", desc.scope, " (",
             scope_names[desc.scope],
             "): its memory is the driver's; piMemImport pins the application's");
    if (desc.scope == SCOPE_GLOBAL && desc.size > device.memory_size())
        fail(PI_ERROR_OUT_OF_DEVICE_MEMORY, "size is ", desc.size, " bytes; ", device.name(),
             " has ", device.memory_size());
    if (desc.alignment > max_alignment)
        fail(PI_ERROR_INVALID_ALIGNMENT, "alignment is ", desc.alignment, "; at most ",
             max_alignment, " can be honoured");
}

/// The layout chained to the descriptor, without the driver's pitch; a flat one if there is none.
Layout read_layout(const Device &device, const pi_mem_buffer_desc &desc) {
    const void *const chained = find_chained(desc.next, PI_TYPE_MEM_LAYOUT_DESC);
    if (!chained)
        return {};
    if (desc.scope != SCOPE_GLOBAL)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "scope ", desc.scope, " (", scope_names[desc.scope],
             ") of ", device.name(), " has no n-D layouts; scope ", uint32_t{SCOPE_GLOBAL}, " (",
             scope_names[SCOPE_GLOBAL], ") has");
    if (desc.flags & PI_MEM_USE_HOST_PTR)
        fail(PI_ERROR_UNSUPPORTED_FEATURE,
             "PI_MEM_USE_HOST_PTR with a pi_mem_layout_desc: the application's memory has no rows "
             "of the driver's pitch; PI_MEM_COPY_HOST_PTR can be used");
    if (desc.export_types)
        fail(PI_ERROR_UNSUPPORTED_FEATURE,
             "export_types with a pi_mem_layout_desc: an importer could not know its rows");
    return {read_desc(static_cast<const pi_mem_layout_desc *>(chained), PI_TYPE_MEM_LAYOUT_DESC),
            desc.size};
}

/// The largest access to such elements, among the sizes that cuMemAllocPitch accepts.
unsigned access_size(uint64_t element) {
    return element % 16 == 0 ? 16 : element % 8 == 0 ? 8 : 4;
}

Storage make_storage(Primary &primary, const pi_mem_buffer_desc &desc, Layout &layout) {
    // Rows longer than a copy's largest pitch are copied one by one: the pitch does not matter.
    if (layout.row() && layout.row() <= primary.device().max_pitch()) {
        uint64_t pitch = 0;
        Storage storage =
            Storage::pitched(primary, layout.row(), desc.size / layout.row(),
                             access_size(layout.pitches().back()), desc.alignment, pitch);
        layout.set_row_pitch(pitch);
        return storage;
    }
    const auto exported_as = [&](pi_external_type type) {
        return (desc.export_types & external_bit(type)) != 0;
    };
    const auto make = exported_as(PI_EXTERNAL_OPAQUE_FD)    ? Storage::exportable
                      : exported_as(PI_EXTERNAL_DMA_BUF_FD) ? Storage::in_pages
                      : exported_as(PI_EXTERNAL_CUDA_IPC)   ? Storage::shareable
                      : desc.scope == SCOPE_GLOBAL          ? Storage::on_device
                                                            : Storage::in_host;
    return make(primary, layout.physical_size(desc.size), desc.alignment);
}

Ref<Mem> create_buffer(Context &context, Device &device, const pi_mem_buffer_desc &desc) {
    check_buffer(device, desc);
    Primary &primary = context.primary(device);
    primary.require_alive();
    Layout layout = read_layout(device, desc);
    Storage storage = make_storage(primary, desc, layout);
    if (desc.flags & mem_host_ptr_flags) {
        if (storage.host())
            std::memcpy(storage.host(), desc.host_ptr, desc.size);
        else
            transfer(primary, Direction::TO_DEVICE, storage.address(),
                     static_cast<std::byte *>(desc.host_ptr),
                     physical_regions(range_regions(0, 0, desc.size), {}, {0, &layout}));
    }
    return make<Mem>(context, device, std::move(storage), desc,
                     pi_memory_kind{PI_MEMORY_KIND_BUFFER}, std::move(layout));
}

} // namespace

namespace entries {

pi_result PI_CALL piMemBufferCreate(pi_context context, pi_device device,
                                    const pi_mem_buffer_desc *desc, pi_mem *out_mem) {
    return call<Context>(context, [&](Context &self) {
        Device &on = self.checked_device(device);
        const auto known = read_desc(desc, PI_TYPE_MEM_BUFFER_DESC, PI_TYPE_MEM_LAYOUT_DESC);
        require(out_mem, "out_mem");
        *out_mem = create_buffer(self, on, known).give();
    });
}

pi_result PI_CALL piMemBufferPartition(pi_mem mem, const pi_mem_partition_desc *desc,
                                       pi_mem *out_mem) {
    return call<Mem>(mem, [&](Mem &self) {
        const auto known = read_desc(desc, PI_TYPE_MEM_PARTITION_DESC);
        require(out_mem, "out_mem");
        require_buffer(self, "mem");
        check_partition(known, self.size(), self.flags());
        *out_mem = make<Mem>(self.root(), view_flags(known.flags, self.flags()),
                             self.offset() + known.offset, known.size)
                       .give();
    });
}

pi_result PI_CALL piMemGetInfo(pi_mem mem, pi_mem_info name, uint64_t size, void *value,
                               uint64_t *out_size) {
    static constexpr InfoRow<Mem> rows[] = {
        {PI_MEM_INFO_COHERENCE,
         [](Mem &m, const InfoWriter &write) {
             write(m.in_host() ? pi_coherence{PI_COHERENCE_COHERENT}
                               : pi_coherence{PI_COHERENCE_MAP_UNMAP});
         }},
        {PI_MEM_INFO_DEVICE_ADDRESS,
         [](Mem &m, const InfoWriter &write) {
             if (m.array())
                 fail(PI_ERROR_UNSUPPORTED_FEATURE,
                      "the pixels of an image have no addresses: only those of a buffer's view do");
             write(uint64_t{m.address()});
         }},
        {PI_MEM_INFO_BUS_ADDRESS,
         [](Mem &, const InfoWriter &) {
             fail(PI_ERROR_UNSUPPORTED_FEATURE,
                  "CUDA reports bus addresses to kernel modules only (nvidia_p2p_get_pages)");
         }},
        {PI_MEM_INFO_PITCHES,
         [](Mem &m, const InfoWriter &write) {
             write(m.image() ? view_pitches(m) : m.layout().pitches());
         }},
    };
    return call<Mem>(mem, [&](Mem &self) {
        answer_info<Mem>(self, mem_rows<Mem>, rows, name, size, value, out_size);
    });
}

pi_result PI_CALL piMemGetHostPointer(pi_mem mem, void **out_pointer) {
    return call<Mem>(mem, [&](Mem &self) {
        require(out_pointer, "out_pointer");
        if (!self.in_host())
            fail(PI_ERROR_UNSUPPORTED_FEATURE, "mem is in the memory of ", self.device().name(),
                 ", which the host cannot address: ", self.array() ? "" : "map the buffer, or ",
                 "read and write it by commands");
        *out_pointer = self.host_pointer();
    });
}

} // namespace entries
} // namespace pi::cuda
