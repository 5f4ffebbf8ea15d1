// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sizes and arguments of launches.
#pragma once

#include <pi/describe/checks/check.hpp>

namespace pi::checks {

/// Whether the plugin does not choose the local size. For checked dimensions.
inline bool has_local_size(const pi_kernel_launch_desc &desc) noexcept {
    for (uint32_t axis = 0; axis < desc.dimensions; ++axis) {
        if (desc.local_size[axis] != 0)
            return true;
    }
    return false;
}

inline void check_dimensions(Check &check, const pi_kernel_launch_desc &desc) noexcept {
    if (desc.dimensions < 1 || desc.dimensions > 3)
        check.refuse(PI_ERROR_INVALID_WORK_SIZE, {"desc->dimensions"}, "is {}; 1 to 3 are possible",
                     desc.dimensions);
}

/// For checked dimensions. The plugin checks its devices' limits.
inline void check_local_size(Check &check, const pi_kernel_launch_desc &desc) noexcept {
    uint64_t items = 1;
    for (uint32_t axis = 0; has_local_size(desc) && axis < desc.dimensions; ++axis) {
        const Name name = {"desc->local_size", axis};
        if (desc.local_size[axis] == 0)
            check.refuse(PI_ERROR_INVALID_WORK_SIZE, name,
                         "is 0, but other axes are not; set all axes or none");
        if (__builtin_mul_overflow(items, desc.local_size[axis], &items))
            check.refuse(PI_ERROR_INVALID_WORK_SIZE, name,
                         "is {}; the work-items of a group exceed 64 bits", desc.local_size[axis]);
    }
}

/// Dimensions, global and local size.
inline void check_work_size(Check &check, const pi_kernel_launch_desc &desc) noexcept {
    check_dimensions(check, desc);
    if (check.failed())
        return;
    uint64_t items = 1;
    for (uint32_t axis = 0; axis < desc.dimensions; ++axis) {
        const Name name = {"desc->global_size", axis};
        const uint64_t size = desc.global_size[axis];
        uint64_t end = 0;
        if (size == 0)
            check.refuse(PI_ERROR_INVALID_WORK_SIZE, name, "is 0; at least 1 is needed");
        if (__builtin_mul_overflow(items, size, &items) ||
            __builtin_add_overflow(desc.global_offset[axis], size, &end))
            check.refuse(PI_ERROR_INVALID_WORK_SIZE, name,
                         "is {} (with global_offset {}); the work-items exceed 64 bits", size,
                         desc.global_offset[axis]);
    }
    check_local_size(check, desc);
}

namespace detail {
inline void check_whole(Check &check, const Name &element, const pi_kernel_argument &argument,
                        const char *what) noexcept {
    if (argument.offset != 0)
        check.refuse(PI_ERROR_INVALID_ARGUMENTS, element.at("offset"), "is {}; for {} it must be 0",
                     argument.offset, what);
    if (argument.size != 0)
        check.refuse(PI_ERROR_INVALID_ARGUMENTS, element.at("size"), "is {}; for {} it must be 0",
                     argument.size, what);
}
} // namespace detail

/// What depends on neither the device, nor the kernel, nor the named objects.
inline void check_argument(Check &check, const Name &element,
                           const pi_kernel_argument &argument) noexcept {
    check.reserved(argument.reserved, element.at("reserved"));
    if (argument.image_sampler != nullptr && argument.kind != PI_ARGUMENT_IMAGE)
        check.refuse(PI_ERROR_UNSUPPORTED_FEATURE, element.at("image_sampler"),
                     "is {}, but kind is {}; it may be set only with {}",
                     static_cast<const void *>(argument.image_sampler),
                     name_argument_kind(argument.kind), PI_ENUMERATOR(PI_ARGUMENT_IMAGE));
    switch (argument.kind) {
    case PI_ARGUMENT_VALUE:
        if (argument.value == nullptr)
            check.refuse(PI_ERROR_INVALID_ARGUMENTS, element.at("value"),
                         "is NULL; the address of {} bytes is needed", argument.size);
        [[fallthrough]];
    case PI_ARGUMENT_LOCAL:
        if (argument.size == 0)
            check.refuse(PI_ERROR_INVALID_ARGUMENTS, element.at("size"),
                         "is 0 bytes; at least 1 is needed");
        break;
    case PI_ARGUMENT_BUFFER:
        if (argument.mem == nullptr)
            detail::check_whole(check, element, argument, "a NULL buffer");
        break;
    case PI_ARGUMENT_IMAGE:
        detail::check_whole(check, element, argument, "an image");
        break;
    case PI_ARGUMENT_SAMPLER:
        detail::check_whole(check, element, argument, "a sampler");
        break;
    case PI_ARGUMENT_POINTER:
        break;
    default:
        check.refuse(PI_ERROR_INVALID_ARGUMENTS, element.at("kind"), "is {}; {} to {} are possible",
                     argument.kind, PI_ENUMERATOR(PI_ARGUMENT_VALUE),
                     PI_ENUMERATOR(PI_ARGUMENT_LOCAL));
    }
}

/// The range of a buffer of `size` bytes.
inline void check_buffer_argument(Check &check, const Name &element,
                                  const pi_kernel_argument &argument, uint64_t size) noexcept {
    if (argument.offset >= size || argument.size > size - argument.offset)
        check.refuse(PI_ERROR_INVALID_ARGUMENTS, element.at("offset"),
                     "is {}; with size {} it goes past the end of mem, which has {} bytes",
                     argument.offset, argument.size, size);
}

} // namespace pi::checks
