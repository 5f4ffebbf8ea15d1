// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "memory.hpp"
#include "entries.hpp"
#include "image.hpp"
#include "usm.hpp"

#include <pi/sdk/address.hpp>
#include <pi/sdk/descriptor.hpp>
#include <pi/sdk/memory.hpp>
#include <pi/sdk/region.hpp>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

namespace pi::opencl {

using namespace sdk;

// ----- Mem ---------------------------------------------------------------------------------------

Mem::Mem(Context &context, Device &device, Parts parts)
    : Object(context.host()), context_(context), device_(device), keeps_(std::move(parts.keeps)),
      vendor_(std::move(parts.vendor)), whole_(parts.whole), whole_offset_(parts.whole_offset),
      offset_(0), size_(parts.size), flags_(parts.flags), alignment_(parts.alignment),
      host_pointer_(parts.host_pointer), kind_(parts.kind), scope_(parts.scope),
      image_(parts.image) {}

Mem::Mem(Mem &root, MemOwner vendor, uint64_t flags, uint64_t offset, uint64_t size,
         std::optional<Image> image, MemOwner keeps)
    : Object(root.host()), context_(root.context_), device_(root.device_), root_(root),
      keeps_(std::move(keeps)), vendor_(std::move(vendor)), offset_(offset), size_(size),
      flags_(flags), alignment_(root.alignment_), host_pointer_(nullptr),
      kind_(image ? pi_memory_kind{PI_MEMORY_KIND_IMAGE} : root.kind_), image_(image) {}

Mem::~Mem() {
    for (const auto &[pointer] : maps_.take_all()) {
        try {
            const cl_command_queue queue =
                context_->private_queue(device_, Context::Purpose::UNMAP);
            const auto lock = device_.submission_lock();
            check(unmap_vendor(*this, queue, pointer, 0, nullptr, nullptr),
                  "clEnqueueUnmapMemObject");
            api().clFlush(queue);
        } catch (...) {
            context_->instance().log(
                PI_LOG_WARNING,
                message("a buffer released while mapped stays mapped: ", current_error().text()));
        }
    }
}

uint64_t Mem::alignment() const {
    const uint64_t of_offset = offset_ ? offset_ & (~offset_ + 1) : UINT64_MAX;
    return std::min(alignment_, of_offset);
}

void *Mem::host_pointer() const {
    if (!root_)
        return host_pointer_;
    auto *base = static_cast<std::byte *>(root_->host_pointer_);
    return base ? base + offset_ : nullptr;
}

bool Mem::may_share_storage(const Mem &other) const {
    const Mem &mine = root_ ? *root_ : *this, &its = other.root_ ? *other.root_ : other;
    return &mine == &its || (mine.host_pointer_ && its.host_pointer_);
}

uint64_t Mem::storage_begin() const {
    return reinterpret_cast<uint64_t>(root_ ? root_->host_pointer_ : host_pointer_);
}

Mem &checked_mem(const Context &context, pi_mem mem, const sdk::ArgumentName &name) {
    Mem &self = checked<Mem>(context.host(), mem, name);
    if (&self.context() != &context)
        fail(PI_ERROR_INVALID_MEM_OBJECT, name, " is of ", self.context().description(),
             ", which the queue's ", context.description(),
             " cannot use: the connection is not UNIFIED");
    return self;
}

Mem &checked_buffer(const Context &context, pi_mem mem, const ArgumentName &name) {
    Mem &self = checked_mem(context, mem, name);
    require_buffer(self, name);
    return self;
}

void *map_vendor(Mem &mem, cl_command_queue queue, cl_map_flags flags, uint64_t offset,
                 uint64_t size, cl_uint wait_count, const cl_event *waits, cl_event *out_event,
                 cl_int *out_code) {
    std::lock_guard lock(mem.vendor_map_mutex());
    return mem.api().clEnqueueMapBuffer(queue, mem.root().id(), CL_FALSE, flags,
                                        mem.offset() + offset, size, wait_count, waits, out_event,
                                        out_code);
}

cl_int unmap_vendor(Mem &mem, cl_command_queue queue, void *pointer, cl_uint wait_count,
                    const cl_event *waits, cl_event *out_event) {
    std::lock_guard lock(mem.vendor_map_mutex());
    return mem.api().clEnqueueUnmapMemObject(queue, mem.root().id(), pointer, wait_count, waits,
                                             out_event);
}

// ----- creation ----------------------------------------------------------------------------------

cl_mem_flags access_flags(uint64_t flags) {
    return flags & PI_MEM_READ_ONLY    ? CL_MEM_READ_ONLY
           : flags & PI_MEM_WRITE_ONLY ? CL_MEM_WRITE_ONLY
                                       : 0;
}

Scope checked_scope(const Device &device, uint32_t scope) {
    if (scope >= SCOPE_COUNT)
        fail(PI_ERROR_INVALID_VALUE, "scope is ", scope, "; ", device.name(), " has ",
             uint32_t{SCOPE_COUNT}, " scopes, numbered from 0");
    return static_cast<Scope>(scope);
}

void check_global_scope(const Device &device, uint32_t scope, const char *what) {
    if (checked_scope(device, scope) != SCOPE_GLOBAL)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "scope is ", scope, " (", scope_names[scope], "); on ",
             device.name(), ' ', what, " are of scope 0 (global)");
}

void check_requirements(const Device &device, uint64_t flags) {
    if (flags & mem_requirement_flags)
        fail(PI_ERROR_UNSUPPORTED_FEATURE,
             flags & PI_MEM_REQUIRE_PINNED ? "PI_MEM_REQUIRE_PINNED" : "PI_MEM_REQUIRE_CONTIGUOUS",
             ": OpenCL promises neither pinned nor contiguous memory on ", device.name());
}

namespace {

struct Free {
    void operator()(void *memory) const { std::free(memory); }
};
using HostMemory = std::unique_ptr<void, Free>;

void CL_CALLBACK free_host_memory(cl_mem, void *memory) {
    std::free(memory);
}

void check_buffer_desc(const Device &device, const pi_mem_buffer_desc &desc) {
    sdk::check_buffer(desc);
    if (find_chained(desc.next, PI_TYPE_MEM_LAYOUT_DESC))
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "no scope of ", device.name(),
             " has PI_SCOPE_LAYOUT: OpenCL buffers are flat");
    check_requirements(device, desc.flags);
    if (desc.export_types)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "export_types is 0x", std::hex, desc.export_types,
             "; this plugin exports no memory");
}

MemOwner create_vendor_buffer(const Context &context, const Device &device, cl_mem_flags flags,
                              uint64_t size, void *pointer) {
    cl_int code = CL_SUCCESS;
    const cl_mem mem = context.api().clCreateBuffer(context.id(), flags, size, pointer, &code);
    check(code, "clCreateBuffer", size, " bytes asked on ", device.name());
    return {context.api(), mem};
}

/// Memory with a larger alignment than the driver's, allocated by the plugin, used in place.
MemOwner create_aligned(const Context &context, Device &device, const pi_mem_buffer_desc &desc) {
    const auto needed = device.import_alignment();
    const bool in_place = needed && *needed <= desc.alignment && device.uses_in_place(desc.size);
    constexpr uint64_t limit = uint64_t{1} << 30;
    if (!in_place || desc.alignment > limit)
        fail(PI_ERROR_INVALID_ALIGNMENT, "alignment is ", desc.alignment, "; on ", device.name(),
             in_place ? text(" at most ", limit, " can be honoured")
                      : text(" at most ", device.min_alignment(), " can be verified"));
    void *allocated = nullptr;
    if (posix_memalign(&allocated, std::max<uint64_t>(desc.alignment, sizeof(void *)), desc.size))
        fail(PI_ERROR_OUT_OF_HOST_MEMORY, "posix_memalign: ", desc.size, " bytes aligned to ",
             desc.alignment, " asked for ", device.name());
    HostMemory memory(allocated);
    if (desc.flags & PI_MEM_COPY_HOST_PTR)
        std::memcpy(allocated, desc.host_ptr, desc.size);
    MemOwner vendor = create_vendor_buffer(
        context, device, access_flags(desc.flags) | CL_MEM_USE_HOST_PTR, desc.size, allocated);
    // The vendor may keep the buffer longer than the plugin.
    check(context.api().clSetMemObjectDestructorCallback(vendor.get(), free_host_memory, allocated),
          "clSetMemObjectDestructorCallback");
    (void)memory.release();
    return vendor;
}

/// Refuses for scope 1 what only scope 0 can do with memory that is not the driver's.
void check_host_pinned(const Device &device, const pi_mem_buffer_desc &desc) {
    if (desc.flags & PI_MEM_USE_HOST_PTR)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "PI_MEM_USE_HOST_PTR in scope ", desc.scope, " (",
             scope_names[desc.scope], "): its memory is what the driver of ", device.name(),
             " allocates; in scope 0 host_ptr can be used");
    if (desc.alignment > device.min_alignment())
        fail(PI_ERROR_INVALID_ALIGNMENT, "alignment is ", desc.alignment, "; in scope ", desc.scope,
             " (", scope_names[desc.scope], ") of ", device.name(), " at most ",
             device.min_alignment(), " can be verified");
}

Ref<Mem> create_buffer(Context &context, Device &device, const pi_mem_buffer_desc &desc) {
    const Scope scope = checked_scope(device, desc.scope);
    check_buffer_desc(device, desc);
    check_allocation(device, desc.size);
    if (scope == SCOPE_HOST_PINNED)
        check_host_pinned(device, desc);
    Mem::Parts parts;
    parts.scope = scope;
    parts.size = desc.size;
    parts.flags = desc.flags;
    parts.alignment = device.min_alignment();
    if (desc.flags & PI_MEM_USE_HOST_PTR) {
        const auto in_place = device.import_alignment();
        const uint64_t given = alignment_of(desc.host_ptr, page_size);
        // host_ptr's alignment counts for the device as well.
        parts.alignment = in_place && given >= *in_place && device.uses_in_place(desc.size)
                              ? given
                              : std::min(parts.alignment, given);
        if (desc.alignment > parts.alignment)
            fail(PI_ERROR_INVALID_ALIGNMENT, "alignment is ", desc.alignment, ", but host_ptr (",
                 desc.host_ptr, ") gives ", parts.alignment, " on ", device.name());
        parts.host_pointer = desc.host_ptr;
        parts.vendor =
            create_vendor_buffer(context, device, access_flags(desc.flags) | CL_MEM_USE_HOST_PTR,
                                 desc.size, desc.host_ptr);
    } else if (desc.alignment > parts.alignment) {
        parts.alignment = desc.alignment;
        parts.vendor = create_aligned(context, device, desc);
    } else {
        const bool copy = desc.flags & PI_MEM_COPY_HOST_PTR;
        parts.vendor =
            create_vendor_buffer(context, device,
                                 access_flags(desc.flags) | (copy ? CL_MEM_COPY_HOST_PTR : 0) |
                                     (scope == SCOPE_HOST_PINNED ? CL_MEM_ALLOC_HOST_PTR : 0),
                                 desc.size, desc.host_ptr);
    }
    return make<Mem>(context, device, std::move(parts));
}

Ref<Mem> create_view(Mem &parent, const pi_mem_partition_desc &desc) {
    check_partition(desc, parent.size(), parent.flags());
    // OpenCL has no sub-buffers of sub-buffers.
    Mem &root = parent.root();
    const uint64_t offset = parent.offset() + desc.offset;
    MemOwner vendor = create_sub_buffer(root, desc.flags, offset, desc.size);
    return make<Mem>(root, std::move(vendor), view_flags(desc.flags, parent.flags()), offset,
                     desc.size);
}

} // namespace

void check_allocation(const Device &device, uint64_t size) {
    if (size > device.max_allocation())
        fail(PI_ERROR_OUT_OF_DEVICE_MEMORY, "size is ", size, " bytes; one allocation on ",
             device.name(), " has at most ", device.max_allocation());
}

MemOwner create_sub_buffer(const Context &context, const Device &device, cl_mem whole,
                           uint64_t flags, const cl_buffer_region &region) {
    const uint64_t needed = device.offset_alignment();
    if (region.origin % needed)
        fail(PI_ERROR_MISALIGNED_OFFSET, "offset ", region.origin,
             " into the root is not a multiple of ", needed, ", the offset_alignment of ",
             device.name());
    cl_int code = CL_SUCCESS;
    const cl_mem mem = context.api().clCreateSubBuffer(
        whole, access_flags(flags), CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    check(code, "clCreateSubBuffer", region.size, " bytes from ", region.origin, " on ",
          device.name());
    return {context.api(), mem};
}

MemOwner create_sub_buffer(Mem &root, uint64_t flags, uint64_t offset, uint64_t size) {
    return create_sub_buffer(
        root.context(), root.device(), root.whole(), flags,
        {static_cast<size_t>(root.whole_offset() + offset), static_cast<size_t>(size)});
}

namespace entries {

pi_result PI_CALL piMemBufferCreate(pi_context context, pi_device device,
                                    const pi_mem_buffer_desc *desc, pi_mem *out_mem) {
    return call<Context>(context, [&](Context &self) {
        Device &on = self.checked_device(device);
        const auto known = read_desc(desc, PI_TYPE_MEM_BUFFER_DESC, PI_TYPE_MEM_LAYOUT_DESC);
        require(out_mem, "out_mem");
        *out_mem = Usm::table(self)
                       .pools()
                       .with_room(nullptr, [&] { return create_buffer(self, on, known); })
                       .give();
    });
}

pi_result PI_CALL piMemBufferPartition(pi_mem mem, const pi_mem_partition_desc *desc,
                                       pi_mem *out_mem) {
    return call<Mem>(mem, [&](Mem &self) {
        const auto known = read_desc(desc, PI_TYPE_MEM_PARTITION_DESC);
        require(out_mem, "out_mem");
        require_buffer(self, "mem");
        *out_mem = create_view(self, known).give();
    });
}

pi_result PI_CALL piMemGetInfo(pi_mem mem, pi_mem_info name, uint64_t size, void *value,
                               uint64_t *out_size) {
    static constexpr InfoRow<Mem> rows[] = {
        {PI_MEM_INFO_COHERENCE,
         [](Mem &, const InfoWriter &write) { write(pi_coherence{PI_COHERENCE_MAP_UNMAP}); }},
        {PI_MEM_INFO_DEVICE_ADDRESS,
         [](Mem &, const InfoWriter &) {
             fail(PI_ERROR_UNSUPPORTED_FEATURE, "OpenCL memory is opaque: it has no address");
         }},
        {PI_MEM_INFO_BUS_ADDRESS,
         [](Mem &, const InfoWriter &) {
             fail(PI_ERROR_UNSUPPORTED_FEATURE, "OpenCL reports no bus addresses");
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
        void *pointer = self.host_pointer();
        if (!pointer)
            fail(PI_ERROR_UNSUPPORTED_FEATURE,
                 self.image() ? "images have no host address: write and read them instead"
                              : "only imported memory and PI_MEM_USE_HOST_PTR have a host address "
                                "that lasts; map the buffer instead");
        *out_pointer = pointer;
    });
}

namespace {

/// Flush and invalidate: this memory is synchronised by map and unmap only; a no-op would lose
/// writes.
pi_result refuse_maintenance(pi_mem mem, uint64_t offset, uint64_t size, const char *what) {
    return call<Mem>(mem, [&](Mem &self) {
        check_range(offset, size, self.size(), "mem");
        fail(PI_ERROR_UNSUPPORTED_FEATURE, what,
             ": the coherence of mem is "
             "PI_COHERENCE_MAP_UNMAP; the host may access it between map and unmap only");
    });
}

} // namespace

pi_result PI_CALL piMemFlush(pi_mem mem, uint64_t offset, uint64_t size) {
    return refuse_maintenance(mem, offset, size, "piMemFlush");
}

pi_result PI_CALL piMemInvalidate(pi_mem mem, uint64_t offset, uint64_t size) {
    return refuse_maintenance(mem, offset, size, "piMemInvalidate");
}

} // namespace entries
} // namespace pi::opencl
