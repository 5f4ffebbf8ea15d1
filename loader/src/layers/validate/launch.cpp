// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The descriptor of a launch.

#include "maps.hpp"
#include "regions.hpp"

#include <pi/describe/checks/launch.hpp>

namespace pi::loader::validate {
namespace {

// A launch counts as a reader of its buffers: whether it writes them is unknown.
void check_buffer(Check &check, const Place &place, const Name &element,
                  const pi_kernel_argument &argument) noexcept {
    const auto facts = check.validator().facts(argument.mem);
    if (facts == nullptr)
        return;
    if (facts->image.type != nullptr) {
        check.refuse(PI_ERROR_INVALID_MEM_OBJECT, element.at("mem"),
                     "is an image; a buffer, or kind PI_ARGUMENT_IMAGE (3), is needed");
        return;
    }
    check_buffer_argument(check, element, argument, facts->size);
    if (check.failed())
        return;
    const uint64_t size = argument.size != 0 ? argument.size : facts->size - argument.offset;
    check.validator().maps().check_use(check, place, *facts, range_of(argument.offset, size), false,
                                       element.at("mem"));
}

void check_image(Check &check, const Name &element, const pi_kernel_argument &argument) noexcept {
    const auto facts = check.validator().facts(argument.mem);
    if (facts != nullptr && facts->image.type == nullptr)
        check.refuse(PI_ERROR_INVALID_MEM_OBJECT, element.at("mem"),
                     "is a buffer; an image, or kind PI_ARGUMENT_BUFFER (2), is needed");
}

void check_sampler(Check &check, const Place &place, const Name &element,
                   const pi_kernel_argument &argument) noexcept {
    const auto facts = check.validator().facts(argument.sampler);
    if (facts != nullptr && place.context != nullptr && facts->context != nullptr &&
        facts->context != place.context)
        check.refuse(PI_ERROR_INVALID_SAMPLER, element.at("sampler"),
                     "is of context {}; it must be of the queue's, {}",
                     static_cast<void *>(facts->context), static_cast<void *>(place.context));
}

void check_object(Check &check, const Place &place, const Name &element,
                  const pi_kernel_argument &argument) noexcept {
    check_argument(check, element, argument);
    if (check.failed())
        return;
    if (argument.kind == PI_ARGUMENT_BUFFER && argument.mem != nullptr)
        check_buffer(check, place, element, argument);
    else if (argument.kind == PI_ARGUMENT_IMAGE)
        check_image(check, element, argument);
    else if (argument.kind == PI_ARGUMENT_SAMPLER)
        check_sampler(check, place, element, argument);
}

} // namespace

void check_members(Check &check, const Place &place, const pi_kernel_launch_desc &desc) {
    const auto kernel = check.validator().facts(desc.kernel);
    if (kernel != nullptr && kernel->context != nullptr && place.context != nullptr &&
        kernel->context != place.context)
        check.refuse(PI_ERROR_INVALID_KERNEL, {"desc->kernel"},
                     "is of context {}; it must be of the queue's, {}",
                     static_cast<void *>(kernel->context), static_cast<void *>(place.context));
    check_work_size(check, desc);
    if (check.failed() || !check.array(desc.argument_count, desc.arguments, {"desc->arguments"}))
        return;
    for (uint32_t i = 0; i < desc.argument_count && !check.failed(); ++i)
        check_object(check, place, {"desc->arguments", i}, desc.arguments[i]);
    if (kernel != nullptr && kernel->counted && desc.argument_count != kernel->argument_count)
        check.refuse(PI_ERROR_INVALID_ARGUMENTS, {"desc->argument_count"},
                     "is {}; the kernel has {} parameters", desc.argument_count,
                     kernel->argument_count);
}

} // namespace pi::loader::validate
