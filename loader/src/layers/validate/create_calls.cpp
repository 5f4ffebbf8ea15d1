// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The descriptors of create calls and queries.

#include "check.hpp"

#include "layers/layers.hpp"

#include <pi/describe/checks/descriptor.hpp>
#include <pi/describe/checks/image.hpp>

namespace pi::loader::validate {
namespace {

// The flags and type of a view's parent, as far as they are known.
uint64_t parent_flags(Check &check, const Place &place) noexcept {
    if (place.memory == nullptr)
        return 0;
    if (place.memory->image.type != nullptr)
        check.refuse(PI_ERROR_INVALID_MEM_OBJECT, {"mem"}, "is an image; a buffer is needed");
    return place.memory->flags;
}
uint64_t parent_size(const Place &place) noexcept {
    return place.memory != nullptr ? place.memory->size : UINT64_MAX;
}

// The devices that a program is built for.
void check_devices(Check &check, const Place &place, uint32_t count,
                   const pi_device *devices) noexcept {
    check_listed(check, count, devices, "desc->devices", PI_ERROR_INVALID_DEVICE);
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
    check_device_partition(check, desc);
}

void check_members(Check &check, const Place &, const pi_context_desc &desc) {
    check_context(check, desc);
}

void check_members(Check &check, const Place &, const pi_memory_connection_query &desc) {
    check_connection_query(check, desc);
}

void check_members(Check &, const Place &, const pi_queue_desc &) {}

void check_members(Check &check, const Place &, const pi_mem_buffer_desc &desc) {
    check_buffer(check, desc);
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
    checks::ImageShape shape;
    checks::Rectangle pixels;
    if (!place.view && read_shape(check, desc, shape))
        check_image_create(check, desc, shape, pixels);
    else if (place.view && read_shape(check, desc, shape))
        check_image_view(check, desc, shape, parent_size(place), parent_flags(check, place), {},
                         pixels);
}

void check_members(Check &check, const Place &place, const pi_mem_partition_desc &desc) {
    check_partition(check, desc, parent_size(place), parent_flags(check, place));
}

void check_members(Check &check, const Place &, const pi_mem_import_desc &desc) {
    check_import(check, desc);
}

void check_members(Check &check, const Place &, const pi_mem_export_desc &desc) {
    check_external_type(check, desc.external_type, {"desc->external_type"});
}

void check_members(Check &check, const Place &place, const pi_usm_desc &desc) {
    check_usm_kind(check, place.device, desc.kind);
    check_allocation(check, desc.size, desc.alignment);
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
                     checks::name_usm_kind(pool->kind), checks::name_usm_kind(desc.kind));
    if (place.device != nullptr && pool->device != nullptr && pool->device != place.device)
        check.refuse(PI_ERROR_INVALID_USM_POOL, name,
                     "has memory of device {}, but device is {}; they must be the same",
                     static_cast<void *>(pool->device), static_cast<void *>(place.device));
}

void check_members(Check &check, const Place &place, const pi_usm_pool_desc &desc) {
    check_usm_kind(check, place.device, desc.kind);
}

void check_members(Check &check, const Place &, const pi_program_desc &desc) {
    check_program(check, desc);
}

void check_members(Check &check, const Place &place, const pi_program_build_desc &desc) {
    check_devices(check, place, desc.device_count, desc.devices);
}

void check_members(Check &check, const Place &place, const pi_program_link_desc &desc) {
    check_link(check, desc);
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
    check_sampler(check, desc);
}

} // namespace pi::loader::validate
