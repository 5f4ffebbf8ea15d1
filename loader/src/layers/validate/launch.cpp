// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The descriptor of a launch.

#include "maps.hpp"

#include <algorithm>

namespace pi::loader::validate {
namespace {

void check_sizes(Check &check, const pi_kernel_launch_desc &desc) noexcept {
    if (desc.dimensions < 1 || desc.dimensions > 3) {
        check.refuse(PI_ERROR_INVALID_WORK_SIZE, {"desc->dimensions"}, "is {}; 1 to 3 are possible",
                     desc.dimensions);
        return;
    }
    const auto is_set = [](uint64_t size) { return size != 0; };
    const bool has_local = std::any_of(desc.local_size, desc.local_size + desc.dimensions, is_set);
    uint64_t items = 1;
    uint64_t group = 1;
    for (uint32_t i = 0; i < desc.dimensions; ++i) {
        const Name global = {"desc->global_size", i};
        const Name local = {"desc->local_size", i};
        uint64_t end = 0;
        if (desc.global_size[i] == 0)
            check.refuse(PI_ERROR_INVALID_WORK_SIZE, global, "is 0; at least 1 is needed");
        if (__builtin_mul_overflow(items, desc.global_size[i], &items) ||
            __builtin_add_overflow(desc.global_offset[i], desc.global_size[i], &end))
            check.refuse(PI_ERROR_INVALID_WORK_SIZE, global,
                         "is {} (with global_offset {}); the work-items exceed 64 bits",
                         desc.global_size[i], desc.global_offset[i]);
        if (has_local && desc.local_size[i] == 0)
            check.refuse(PI_ERROR_INVALID_WORK_SIZE, local,
                         "is 0, but other axes are not; set all axes or none");
        if (has_local && __builtin_mul_overflow(group, desc.local_size[i], &group))
            check.refuse(PI_ERROR_INVALID_WORK_SIZE, local,
                         "is {}; the work-items of a group exceed 64 bits", desc.local_size[i]);
    }
}

void check_whole(Check &check, const Name &element, const pi_kernel_argument &argument,
                 const char *what) noexcept {
    if (argument.offset != 0)
        check.refuse(PI_ERROR_INVALID_ARGUMENTS, element.at("offset"), "is {}; for {} it must be 0",
                     argument.offset, what);
    if (argument.size != 0)
        check.refuse(PI_ERROR_INVALID_ARGUMENTS, element.at("size"), "is {}; for {} it must be 0",
                     argument.size, what);
}

void check_size(Check &check, const Name &element, const pi_kernel_argument &argument) noexcept {
    if (argument.size == 0)
        check.refuse(PI_ERROR_INVALID_ARGUMENTS, element.at("size"),
                     "is 0 bytes; at least 1 is needed");
}

using CheckArgument = void (*)(Check &, const Place &, const Name &, const pi_kernel_argument &);

void check_value(Check &check, const Place &, const Name &element,
                 const pi_kernel_argument &argument) {
    if (argument.value == nullptr)
        check.refuse(PI_ERROR_INVALID_ARGUMENTS, element.at("value"),
                     "is NULL; the address of {} bytes is needed", argument.size);
    check_size(check, element, argument);
}

// A launch counts as a reader of its buffers: whether it writes them is unknown.
void check_buffer(Check &check, const Place &place, const Name &element,
                  const pi_kernel_argument &argument) {
    if (argument.mem == nullptr) {
        check_whole(check, element, argument, "a NULL buffer");
        return;
    }
    const auto facts = check.validator().facts(argument.mem);
    if (facts == nullptr)
        return;
    if (facts->image.type != nullptr) {
        check.refuse(PI_ERROR_INVALID_MEM_OBJECT, element.at("mem"),
                     "is an image; a buffer, or kind PI_ARGUMENT_IMAGE (3), is needed");
        return;
    }
    if (argument.offset >= facts->size || argument.size > facts->size - argument.offset) {
        check.refuse(PI_ERROR_INVALID_ARGUMENTS, element.at("offset"),
                     "is {}; with size {} it goes past the end of mem, which has {} bytes",
                     argument.offset, argument.size, facts->size);
        return;
    }
    const uint64_t size = argument.size != 0 ? argument.size : facts->size - argument.offset;
    check.validator().maps().check_use(check, place, *facts, range_of(argument.offset, size), false,
                                       element.at("mem"));
}

void check_image(Check &check, const Place &, const Name &element,
                 const pi_kernel_argument &argument) {
    check_whole(check, element, argument, "an image");
    const auto facts = check.validator().facts(argument.mem);
    if (facts != nullptr && facts->image.type == nullptr)
        check.refuse(PI_ERROR_INVALID_MEM_OBJECT, element.at("mem"),
                     "is a buffer; an image, or kind PI_ARGUMENT_BUFFER (2), is needed");
}

void check_sampler(Check &check, const Place &place, const Name &element,
                   const pi_kernel_argument &argument) {
    check_whole(check, element, argument, "a sampler");
    const auto facts = check.validator().facts(argument.sampler);
    if (facts != nullptr && place.context != nullptr && facts->context != nullptr &&
        facts->context != place.context)
        check.refuse(PI_ERROR_INVALID_SAMPLER, element.at("sampler"),
                     "is of context {}; it must be of the queue's, {}",
                     static_cast<void *>(facts->context), static_cast<void *>(place.context));
}

void check_pointer(Check &, const Place &, const Name &, const pi_kernel_argument &) {}

void check_local(Check &check, const Place &, const Name &element,
                 const pi_kernel_argument &argument) {
    check_size(check, element, argument);
}

// Indexed by argument kind; index 0 is unused.
constexpr CheckArgument argument_checks[] = {
    nullptr, check_value, check_buffer, check_image, check_sampler, check_pointer, check_local};
static_assert(std::size(argument_checks) == PI_ARGUMENT_LOCAL + 1);

void check_argument(Check &check, const Place &place, const Name &element,
                    const pi_kernel_argument &argument) noexcept {
    check.reserved(argument.reserved, element.at("reserved"));
    if (argument.kind < PI_ARGUMENT_VALUE || argument.kind > PI_ARGUMENT_LOCAL) {
        check.refuse(PI_ERROR_INVALID_ARGUMENTS, element.at("kind"), "is {}; {} to {} are possible",
                     argument.kind, PI_LOADER_ENUMERATOR(PI_ARGUMENT_VALUE),
                     PI_LOADER_ENUMERATOR(PI_ARGUMENT_LOCAL));
        return;
    }
    if (argument.image_sampler != nullptr && argument.kind != PI_ARGUMENT_IMAGE)
        check.refuse(PI_ERROR_UNSUPPORTED_FEATURE, element.at("image_sampler"),
                     "is {}, but kind is {}; it may be set only with {}",
                     static_cast<void *>(argument.image_sampler), name_argument_kind(argument.kind),
                     PI_LOADER_ENUMERATOR(PI_ARGUMENT_IMAGE));
    argument_checks[argument.kind](check, place, element, argument);
}

} // namespace

void check_members(Check &check, const Place &place, const pi_kernel_launch_desc &desc) {
    const auto kernel = check.validator().facts(desc.kernel);
    if (kernel != nullptr && kernel->context != nullptr && place.context != nullptr &&
        kernel->context != place.context)
        check.refuse(PI_ERROR_INVALID_KERNEL, {"desc->kernel"},
                     "is of context {}; it must be of the queue's, {}",
                     static_cast<void *>(kernel->context), static_cast<void *>(place.context));
    check_sizes(check, desc);
    if (check.failed() || !check.array(desc.argument_count, desc.arguments, {"desc->arguments"}))
        return;
    for (uint32_t i = 0; i < desc.argument_count && !check.failed(); ++i)
        check_argument(check, place, {"desc->arguments", i}, desc.arguments[i]);
    if (kernel != nullptr && kernel->counted && desc.argument_count != kernel->argument_count)
        check.refuse(PI_ERROR_INVALID_ARGUMENTS, {"desc->argument_count"},
                     "is {}; the kernel has {} parameters", desc.argument_count,
                     kernel->argument_count);
}

} // namespace pi::loader::validate
