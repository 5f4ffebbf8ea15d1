// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "memory.hpp"
#include "entries.hpp"
#include "transfer.hpp"

#include <pi/sdk/address.hpp>
#include <pi/sdk/external.hpp>
#include <pi/sdk/memory.hpp>
#include <pi/sdk/region.hpp>

#include <algorithm>

namespace pi::level_zero {

using namespace sdk;

// ----- Mem ---------------------------------------------------------------------------------------

Mem::Mem(Context &context, Device &device, Storage storage, const pi_mem_buffer_desc &desc,
         pi_memory_kind memory)
    : Object(context.host()), context_(context), place_(context.place(device)),
      storage_(std::move(storage)), size_(desc.size), flags_(desc.flags), scope_(desc.scope),
      kind_(memory),
      host_ptr_(desc.flags & PI_MEM_USE_HOST_PTR ? static_cast<std::byte *>(desc.host_ptr)
                                                 : nullptr) {}

Mem::Mem(Context &context, Device &device, std::unique_ptr<Image> image, uint64_t flags)
    : Object(context.host()), context_(context), place_(context.place(device)),
      image_(std::move(image)), size_(image_->shape.bytes()), flags_(flags), scope_(SCOPE_GLOBAL),
      kind_(PI_MEMORY_KIND_IMAGE), host_ptr_(nullptr) {}

Mem::Mem(Mem &root, uint64_t flags, uint64_t offset, uint64_t size)
    : Object(root.host()), context_(root.context_), place_(root.place_), root_(root),
      offset_(offset), size_(size), flags_(flags), scope_(root.scope_), kind_(root.kind_),
      host_ptr_(nullptr) {}

uint64_t Mem::alignment() const {
    const uint64_t of_offset = offset_ ? offset_ & (~offset_ + 1) : UINT64_MAX;
    return std::min(storage().alignment(), of_offset);
}

std::byte *Mem::map_pointer() const {
    std::byte *const begin = root_ ? root_->host_ptr_ : host_ptr_;
    return begin ? begin + offset_ : nullptr;
}

bool usable(const Place &user, const Mem &mem) {
    if (mem.image())
        return &user == &mem.place();
    return mem.in_host() ? &user.context() == &mem.place().context() : user.reaches(mem.place());
}

void require_usable(const Place &user, const Mem &mem, const ArgumentName &name) {
    if (!usable(user, mem))
        fail(PI_ERROR_INVALID_MEM_OBJECT, name, " is ", mem.image() ? "an image" : "memory", " of ",
             mem.device().name(),
             &user.context() == &mem.place().context() ? ", which " : " in another context, which ",
             user.device().name(), " cannot use: the connection is not UNIFIED");
}

Mem &checked_buffer(const Place &user, const pi_host *host, pi_mem mem, const ArgumentName &name) {
    Mem &self = checked<Mem>(host, mem, name);
    require_buffer(self, name);
    require_usable(user, self, name);
    return self;
}

Mem &checked_image(const Place &user, const pi_host *host, pi_mem mem, const ArgumentName &name) {
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
             "PI_MEM_REQUIRE_CONTIGUOUS: Level Zero reports no physical addresses of memory of ",
             device.name());
    // Device memory may be evicted; host memory is what PI_MEM_REQUIRE_PINNED is about.
    if ((flags & PI_MEM_REQUIRE_PINNED) && scope != SCOPE_HOST_PINNED)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "PI_MEM_REQUIRE_PINNED in scope ", scope, " (",
             scope_names[scope], "): scope ", uint32_t{SCOPE_HOST_PINNED}, " (",
             scope_names[SCOPE_HOST_PINNED], ") is pinned memory of the host");
}

namespace {

void check_buffer(const Device &device, const pi_mem_buffer_desc &desc) {
    sdk::check_buffer(desc);
    check_scope(device, desc.scope);
    if (find_chained(desc.next, PI_TYPE_MEM_LAYOUT_DESC))
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "no scope of ", device.name(), " has PI_SCOPE_LAYOUT");
    check_requirements(device, desc.flags, desc.scope);
    if (desc.export_types & ~export_types(device))
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "export_types is 0x", std::hex, desc.export_types, "; ",
             device.name(), " exports the types 0x", export_types(device), " (1 << PI_EXTERNAL_)");
    check_export_requirements(desc);
    if (desc.scope == SCOPE_HOST_PINNED && desc.flags & PI_MEM_USE_HOST_PTR)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "PI_MEM_USE_HOST_PTR in scope ", desc.scope, " (",
             scope_names[desc.scope],
             "): its memory is the driver's; piMemImport pins the application's");
    if (desc.scope == SCOPE_GLOBAL)
        check_allocation(device, desc.size);
    if (desc.alignment > max_alignment)
        fail(PI_ERROR_INVALID_ALIGNMENT, "alignment is ", desc.alignment, "; at most ",
             max_alignment, " can be honoured");
}

Ref<Mem> create_buffer(Context &context, Device &device, const pi_mem_buffer_desc &desc) {
    check_buffer(device, desc);
    Place &place = context.place(device);
    place.require_alive();
    constexpr uint32_t not_files = external_bit(PI_EXTERNAL_ZE_IPC);
    Storage storage =
        desc.scope == SCOPE_GLOBAL
            ? Storage::on_device(place, desc.size, desc.alignment, desc.export_types & ~not_files)
            : Storage::in_host(place, desc.size, desc.alignment);
    if (desc.flags & mem_host_ptr_flags) {
        if (storage.host())
            std::memcpy(storage.host(), desc.host_ptr, desc.size);
        else
            upload(place, desc.host_ptr, storage.data(), desc.size);
    }
    return make<Mem>(context, device, std::move(storage), desc,
                     pi_memory_kind{PI_MEMORY_KIND_BUFFER});
}

} // namespace

void check_allocation(const Device &device, uint64_t size) {
    if (size > device.memory_size() || size > device.max_allocation())
        fail(PI_ERROR_OUT_OF_DEVICE_MEMORY, "size is ", size, " bytes; ", device.name(), " has ",
             device.memory_size(), ", of which one allocation can have ", device.max_allocation());
}

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
             if (m.image())
                 fail(PI_ERROR_UNSUPPORTED_FEATURE, "the pixels of an image have no addresses");
             write(static_cast<uint64_t>(reinterpret_cast<uintptr_t>(m.address())));
         }},
        {PI_MEM_INFO_BUS_ADDRESS,
         [](Mem &, const InfoWriter &) {
             fail(PI_ERROR_UNSUPPORTED_FEATURE, "Level Zero reports no bus addresses");
         }},
        {PI_MEM_INFO_PITCHES, [](Mem &m, const InfoWriter &write) { write(view_pitches(m)); }},
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
                 ", which the host cannot address: ", self.image() ? "" : "map the buffer, or ",
                 "read and write it by commands");
        *out_pointer = self.host_pointer();
    });
}

} // namespace entries
} // namespace pi::level_zero
