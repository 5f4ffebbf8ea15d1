// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The descriptors of create calls and queries.

#include "images.hpp"

#include "layers/layers.hpp"

namespace pi::loader::validate {
namespace {

constexpr uint64_t host_flags = PI_MEM_COPY_HOST_PTR | PI_MEM_USE_HOST_PTR;
constexpr Name flags_name = {"desc->flags"};

void check_access(Check &check, uint64_t flags) noexcept {
    if ((flags & access_flags) == access_flags)
        check.refuse(PI_ERROR_INVALID_VALUE, flags_name,
                     "is {:#x}, with PI_MEM_READ_ONLY and PI_MEM_WRITE_ONLY; set at most one, or "
                     "neither to read and write",
                     flags);
}

void check_view(Check &check, const Place &place, uint64_t flags) noexcept {
    check_access(check, flags);
    if (place.memory == nullptr)
        return;
    if (place.memory->image.type != nullptr)
        check.refuse(PI_ERROR_INVALID_MEM_OBJECT, {"mem"}, "is an image; a buffer is needed");
    const uint64_t inherited = place.memory->flags & access_flags;
    if (inherited != 0 && flags != 0 && flags != inherited)
        check.refuse(PI_ERROR_INVALID_VALUE, flags_name,
                     "is {:#x}; the parent's {:#x}, or 0, is needed", flags, inherited);
}

void check_host_pointer(Check &check, uint64_t flags, const void *host_ptr) noexcept {
    static constexpr Name name = {"desc->host_ptr"};
    const uint64_t use = flags & host_flags;
    if (use == host_flags)
        check.refuse(PI_ERROR_INVALID_VALUE, flags_name,
                     "is {:#x}, with PI_MEM_COPY_HOST_PTR and PI_MEM_USE_HOST_PTR; set at most one",
                     flags);
    if (use != 0)
        check.not_null(host_ptr, name);
    else if (host_ptr != nullptr)
        check.refuse(PI_ERROR_INVALID_VALUE, name,
                     "is {}; without PI_MEM_COPY_HOST_PTR or PI_MEM_USE_HOST_PTR in flags it must "
                     "be NULL",
                     host_ptr);
}

void check_layout(Check &check, const pi_mem_layout_desc &layout, uint64_t size) noexcept {
    constexpr uint32_t most = 8;
    check.reserved(layout.reserved, {"desc->next->reserved"});
    if (layout.rank < 1 || layout.rank > most)
        check.refuse(PI_ERROR_INVALID_VALUE, {"desc->next->rank"}, "is {}; 1 to {} are possible",
                     layout.rank, most);
    if (layout.element_size == 0)
        check.refuse(PI_ERROR_INVALID_SIZE, {"desc->next->element_size"},
                     "is 0; at least 1 is needed");
    if (layout.axis_separator_count >= layout.rank)
        check.refuse(PI_ERROR_INVALID_VALUE, {"desc->next->axis_separator_count"},
                     "is {}; between {} axes there are at most {}", layout.axis_separator_count,
                     layout.rank, layout.rank - 1);
    if (check.failed() || !check.array(layout.rank, layout.extents, {"desc->next->extents"}) ||
        !check.array(layout.axis_separator_count, layout.axis_separators,
                     {"desc->next->axis_separators"}))
        return;
    uint64_t bytes = layout.element_size;
    for (uint32_t axis = 0; axis < layout.rank; ++axis) {
        const Name extent = {"desc->next->extents", axis};
        if (layout.extents[axis] == 0)
            check.refuse(PI_ERROR_INVALID_SIZE, extent, "is 0; at least 1 is needed");
        if (__builtin_mul_overflow(bytes, layout.extents[axis], &bytes))
            check.refuse(PI_ERROR_INVALID_SIZE, extent,
                         "is {}, which makes more bytes than 64 bits count", layout.extents[axis]);
    }
    if (bytes != size)
        check.refuse(PI_ERROR_INVALID_SIZE, {"desc->size"},
                     "is {}; the extents of the layout hold {} bytes", size, bytes);
    uint32_t least = 1;
    for (uint32_t i = 0; i < layout.axis_separator_count; ++i) {
        const uint32_t separator = layout.axis_separators[i];
        if (separator < least || separator >= layout.rank)
            check.refuse(PI_ERROR_INVALID_VALUE, {"desc->next->axis_separators", i},
                         "is {}; separators increase, and {} to {} are possible here", separator,
                         least, layout.rank - 1);
        least = separator + 1;
    }
}

// Only host memory has no device; the list's check refuses devices outside the context.
void check_usm_kind(Check &check, const Place &place, pi_usm_kind kind) noexcept {
    check.enumeration(kind, PI_LOADER_ENUMERATOR(PI_USM_HOST), PI_LOADER_ENUMERATOR(PI_USM_SHARED),
                      {"desc->kind"});
    if (place.device == nullptr && kind != PI_USM_HOST)
        check.refuse(PI_ERROR_INVALID_DEVICE, {"device"},
                     "is NULL, but desc->kind is {}; only PI_USM_HOST (1) needs no device",
                     name_usm_kind(kind));
}

template <typename Handle>
void check_listed(Check &check, uint32_t count, const Handle *handles,
                  const char *argument) noexcept {
    if (!check.array(count, handles, {argument}))
        return;
    for (uint32_t i = 1; i < count; ++i) {
        for (uint32_t j = 0; j < i; ++j) {
            if (handles[i] == handles[j])
                check.refuse(HandleTraits<Handle>::error, {argument, i},
                             "is {}, as is {}[{}]; each may be listed once",
                             static_cast<const void *>(handles[i]), argument, j);
        }
    }
}

// The devices that a program is built for.
void check_devices(Check &check, const Place &place, uint32_t count,
                   const pi_device *devices) noexcept {
    check_listed(check, count, devices, "desc->devices");
    for (uint32_t i = 0; i < count && !check.failed(); ++i)
        check_member(check, place.context, devices[i], {"desc->devices", i});
}

} // namespace

void check_member(Check &check, pi_context context, pi_device device, const Name &name) noexcept {
    if (context == nullptr || device == nullptr)
        return;
    const auto facts = check.validator().facts(context);
    if (facts == nullptr || facts->devices.empty())
        return;
    for (const pi_device one : facts->devices) {
        if (one == device)
            return;
    }
    check.refuse(PI_ERROR_INVALID_DEVICE, name,
                 "is {}; one of the {} devices of context {} is needed",
                 static_cast<void *>(device), facts->devices.size(), static_cast<void *>(context));
}

void check_members(Check &check, const Place &, const pi_native_desc &desc) {
    constexpr uint32_t most = std::size(decltype(desc.handle.value){});
    if (desc.handle.count > most)
        check.refuse(PI_ERROR_INVALID_NATIVE_HANDLE, {"desc->handle.count"},
                     "is {}; 1 to {} are possible", desc.handle.count, most);
}

void check_members(Check &check, const Place &, const pi_device_partition_desc &desc) {
    check.enumeration(desc.kind, PI_LOADER_ENUMERATOR(PI_PARTITION_EQUALLY),
                      PI_LOADER_ENUMERATOR(PI_PARTITION_BY_HARDWARE), {"desc->kind"});
    if (desc.kind == PI_PARTITION_BY_COUNTS &&
        check.array(desc.count, desc.counts, {"desc->counts"})) {
        for (uint32_t i = 0; i < desc.count && !check.failed(); ++i) {
            if (desc.counts[i] == 0)
                check.refuse(PI_ERROR_INVALID_SIZE, {"desc->counts", i},
                             "is 0; a sub-device needs at least 1 compute unit");
        }
    }
    if ((desc.kind == PI_PARTITION_EQUALLY || desc.kind == PI_PARTITION_BY_COUNTS) &&
        desc.count == 0)
        check.refuse(PI_ERROR_INVALID_SIZE, {"desc->count"}, "is 0; at least 1 is needed");
}

void check_members(Check &check, const Place &, const pi_context_desc &desc) {
    if (desc.device_count == 0)
        check.refuse(PI_ERROR_INVALID_SIZE, {"desc->device_count"}, "is 0; at least 1 is needed");
    check_listed(check, desc.device_count, desc.devices, "desc->devices");
}

void check_members(Check &check, const Place &, const pi_memory_connection_query &desc) {
    check.enumeration(desc.kind, PI_LOADER_ENUMERATOR(PI_MEMORY_KIND_BUFFER),
                      PI_LOADER_ENUMERATOR(PI_MEMORY_KIND_IMPORTED), {"query->kind"});
}

void check_members(Check &, const Place &, const pi_queue_desc &) {}

void check_members(Check &check, const Place &, const pi_mem_buffer_desc &desc) {
    check_access(check, desc.flags);
    check_host_pointer(check, desc.flags, desc.host_ptr);
    check.some_bytes(desc.size, {"desc->size"});
    check.alignment(desc.alignment, {"desc->alignment"});
    if (desc.host_ptr != nullptr)
        check.address_range(desc.host_ptr, desc.size, {"desc->size"}, "host_ptr");
    for (auto *link = static_cast<const pi_struct_header *>(desc.next);
         link != nullptr && !check.failed();
         link = static_cast<const pi_struct_header *>(link->next)) {
        pi_mem_layout_desc layout;
        if (copy_descriptor(reinterpret_cast<const pi_mem_layout_desc *>(link),
                            PI_TYPE_MEM_LAYOUT_DESC, layout))
            check_layout(check, layout, desc.size);
    }
}

void check_members(Check &check, const Place &place, const pi_mem_image_desc &desc) {
    if (place.view)
        check.flags(desc.flags, access_flags, flags_name);
    ImageShape shape;
    Rectangle pixels;
    if (!read_shape(check, desc, shape))
        return;
    if (place.view) {
        check_view(check, place, desc.flags);
        if (desc.host_ptr != nullptr)
            check.refuse(PI_ERROR_INVALID_VALUE, {"desc->host_ptr"},
                         "is {}; a view uses the bytes of its buffer, so it must be NULL",
                         desc.host_ptr);
        if (read_pitches(check, desc, shape, pixels) && place.memory != nullptr &&
            pixels.end() > place.memory->size)
            check.refuse(PI_ERROR_INVALID_SIZE, {"desc->offset"},
                         "is {}; its pixels end at byte {}, and mem has {} bytes", desc.offset,
                         pixels.end(), place.memory->size);
        return;
    }
    check_access(check, desc.flags);
    check_host_pointer(check, desc.flags, desc.host_ptr);
    if (desc.offset != 0)
        check.refuse(PI_ERROR_INVALID_VALUE, {"desc->offset"},
                     "is {}; only a view of a buffer has an offset, so it must be 0", desc.offset);
    if (desc.host_ptr == nullptr && desc.row_pitch != 0)
        check.refuse(PI_ERROR_INVALID_VALUE, {"desc->row_pitch"},
                     "is {}; without host_ptr it must be 0", desc.row_pitch);
    if (desc.host_ptr == nullptr && desc.slice_pitch != 0)
        check.refuse(PI_ERROR_INVALID_VALUE, {"desc->slice_pitch"},
                     "is {}; without host_ptr it must be 0", desc.slice_pitch);
    read_pitches(check, desc, shape, pixels);
}

void check_members(Check &check, const Place &place, const pi_mem_partition_desc &desc) {
    check_view(check, place, desc.flags);
    check.range(desc.offset, desc.size, place.memory != nullptr ? place.memory->size : UINT64_MAX,
                {"desc->offset"}, {"desc->size"}, "mem");
}

void check_members(Check &check, const Place &, const pi_mem_import_desc &desc) {
    check_access(check, desc.flags);
    check.enumeration(desc.handle.type, PI_LOADER_ENUMERATOR(PI_EXTERNAL_HOST_POINTER),
                      PI_LOADER_ENUMERATOR(PI_EXTERNAL_ZE_IPC), {"desc->handle.type"});
    check.some_bytes(desc.size, {"desc->size"});
    if (desc.own > (desc.handle.type == PI_EXTERNAL_NATIVE ? 1u : 0u))
        check.refuse(PI_ERROR_INVALID_VALUE, {"desc->own"},
                     "is {}; 0, or 1 with PI_EXTERNAL_NATIVE (4), is needed", desc.own);
    check.flags(desc.handle.flags, 0, {"desc->handle.flags"});
    for (const uint64_t word : desc.handle.reserved)
        check.reserved(word, {"desc->handle.reserved"});
    uint64_t end = 0;
    if (__builtin_add_overflow(desc.offset, desc.size, &end) ||
        __builtin_add_overflow(end, desc.handle.offset, &end))
        check.refuse(PI_ERROR_INVALID_SIZE, {"desc->offset"},
                     "is {}; with handle.offset {} and size {} it exceeds 64 bits", desc.offset,
                     desc.handle.offset, desc.size);
    if (desc.handle.type == PI_EXTERNAL_HOST_POINTER &&
        check.not_null(desc.handle.pointer, {"desc->handle.pointer"}))
        check.address_range(desc.handle.pointer, end, {"desc->size"}, "handle.pointer");
}

void check_members(Check &check, const Place &, const pi_mem_export_desc &desc) {
    check.enumeration(desc.external_type, PI_LOADER_ENUMERATOR(PI_EXTERNAL_HOST_POINTER),
                      PI_LOADER_ENUMERATOR(PI_EXTERNAL_ZE_IPC), {"desc->external_type"});
}

void check_members(Check &check, const Place &place, const pi_usm_desc &desc) {
    check_usm_kind(check, place, desc.kind);
    check.some_bytes(desc.size, {"desc->size"});
    check.alignment(desc.alignment, {"desc->alignment"});
    if (desc.pool == nullptr || check.failed())
        return;
    const auto pool = check.validator().facts(desc.pool);
    if (pool == nullptr || pool->context == nullptr)
        return;
    const Name name = {"desc->pool"};
    if (pool->context != place.context)
        check.refuse(PI_ERROR_INVALID_USM_POOL, name, "is of context {}; it must be of {}",
                     static_cast<void *>(pool->context), static_cast<void *>(place.context));
    if (pool->kind != desc.kind)
        check.refuse(PI_ERROR_INVALID_USM_POOL, name,
                     "has memory of kind {}, but desc->kind is {}; they must be the same",
                     name_usm_kind(pool->kind), name_usm_kind(desc.kind));
    if (place.device != nullptr && pool->device != nullptr && pool->device != place.device)
        check.refuse(PI_ERROR_INVALID_USM_POOL, name,
                     "has memory of device {}, but device is {}; they must be the same",
                     static_cast<void *>(pool->device), static_cast<void *>(place.device));
}

void check_members(Check &check, const Place &place, const pi_usm_pool_desc &desc) {
    check_usm_kind(check, place, desc.kind);
}

void check_members(Check &check, const Place &, const pi_program_desc &desc) {
    check.enumeration(desc.format, PI_LOADER_ENUMERATOR(PI_PROGRAM_FORMAT_OPENCL_C),
                      PI_LOADER_ENUMERATOR(PI_PROGRAM_FORMAT_NATIVE_LIBRARY), {"desc->format"});
    check.not_null(desc.data, {"desc->data"});
    check.some_bytes(desc.size, {"desc->size"});
}

void check_members(Check &check, const Place &place, const pi_program_build_desc &desc) {
    check_devices(check, place, desc.device_count, desc.devices);
}

void check_members(Check &check, const Place &place, const pi_program_link_desc &desc) {
    if (desc.program_count == 0)
        check.refuse(PI_ERROR_INVALID_SIZE, {"desc->program_count"}, "is 0; at least 1 is needed");
    check_listed(check, desc.program_count, desc.programs, "desc->programs");
    for (uint32_t i = 0; i < desc.program_count && !check.failed(); ++i) {
        const auto facts = check.validator().facts(desc.programs[i]);
        if (facts != nullptr && facts->context != place.context)
            check.refuse(PI_ERROR_INVALID_PROGRAM, {"desc->programs", i},
                         "is of context {}; it must be of {}", static_cast<void *>(facts->context),
                         static_cast<void *>(place.context));
    }
    check_devices(check, place, desc.device_count, desc.devices);
}

// These have only flags.
void check_members(Check &, const Place &, const pi_kernel_desc &) {}
void check_members(Check &, const Place &, const pi_host_event_desc &) {}

void check_members(Check &check, const Place &, const pi_sampler_desc &desc) {
    check.enumeration(desc.addressing, PI_LOADER_ENUMERATOR(PI_ADDRESSING_NONE),
                      PI_LOADER_ENUMERATOR(PI_ADDRESSING_MIRRORED_REPEAT), {"desc->addressing"});
    check.enumeration(desc.filter, PI_LOADER_ENUMERATOR(PI_FILTER_NEAREST),
                      PI_LOADER_ENUMERATOR(PI_FILTER_LINEAR), {"desc->filter"});
    if (desc.normalized_coordinates > 1)
        check.refuse(PI_ERROR_INVALID_VALUE, {"desc->normalized_coordinates"},
                     "is {}; 0 or 1 is needed", desc.normalized_coordinates);
    if (desc.normalized_coordinates == 0 && desc.addressing >= PI_ADDRESSING_REPEAT)
        check.refuse(PI_ERROR_INVALID_VALUE, {"desc->addressing"},
                     "is {}, which repeats and needs normalized_coordinates to be 1",
                     name_addressing(desc.addressing));
}

} // namespace pi::loader::validate
