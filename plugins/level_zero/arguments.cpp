// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arguments.hpp"
#include "sampler.hpp"
#include "usm.hpp"

#include <pi/sdk/argument.hpp>
#include <pi/sdk/region.hpp>

namespace pi::level_zero {

using namespace sdk;

Arguments::Arguments(const Target &target, const Kernel &kernel,
                     const pi_kernel_launch_desc &desc) {
    const auto given = read_array(desc.argument_count, desc.arguments, "desc->arguments");
    if (given.size() != kernel.argument_count())
        fail(PI_ERROR_INVALID_ARGUMENTS, "argument_count is ", given.size(), "; kernel '",
             kernel.name(), "' has ", kernel.argument_count(), " parameters");
    arguments_.reserve(given.size());
    values_.reserve(given.size() * sizeof(uint64_t));
    for (size_t i = 0; i < given.size(); ++i)
        add(target, given[i], i);
    const Device &device = target.queue.device();
    const uint64_t own = kernel.function(device).properties.localMemSize;
    const uint64_t most = device.compute().maxSharedLocalMemory;
    if (local_memory_ > most || own > most - local_memory_)
        fail(PI_ERROR_INVALID_ARGUMENTS, "the launch needs ", local_memory_,
             " bytes of work-group memory in addition to the ", own, " of kernel '", kernel.name(),
             "'; ", device.name(), " has ", most);
}

void Arguments::add(const Target &target, const pi_kernel_argument &given, size_t index) {
    check_argument(given, index);
    switch (given.kind) {
    case PI_ARGUMENT_VALUE:
        return add_value(given.value, given.size);
    case PI_ARGUMENT_BUFFER:
        return add_pointer(read_buffer(target, given, index));
    case PI_ARGUMENT_LOCAL:
        if (__builtin_add_overflow(local_memory_, given.size, &local_memory_))
            fail(PI_ERROR_INVALID_ARGUMENTS, "arguments[", index, "].size is ", given.size,
                 ": work-group memory must fit 64 bits");
        arguments_.push_back({given.size, 0, true});
        return;
    case PI_ARGUMENT_POINTER:
        check_usm_argument(target.queue, given.pointer, argument_name(index, "pointer"));
        return add_pointer(given.pointer);
    case PI_ARGUMENT_IMAGE:
        return add_image(target, given, index);
    case PI_ARGUMENT_SAMPLER:
        return add_sampler(target, given, index);
    }
}

void Arguments::add_value(const void *value, size_t size) {
    const auto *bytes = static_cast<const std::byte *>(value);
    arguments_.push_back({size, values_.size(), false});
    values_.insert(values_.end(), bytes, bytes + size);
}

/// A NULL pointer is passed without a value: some drivers accept it in this form only.
void Arguments::add_pointer(const void *pointer) {
    add_value(&pointer, sizeof pointer);
    arguments_.back().empty = !pointer;
}

void Arguments::add_image(const Target &target, const pi_kernel_argument &given, size_t index) {
    const Queue &queue = target.queue;
    Mem &mem = checked_image(queue.place(), queue.host(), given.mem, argument_name(index, "mem"));
    // A sampler with the image is for backends that join the two; this kernel names its own.
    if (given.image_sampler)
        checked_sampler_of<Sampler>(queue.context(), given.image_sampler,
                                    argument_name(index, "image_sampler"));
    keep(target, mem);
    // The vendor's loader does not translate handles in argument values.
    void *const id =
        queue.device().platform().own_handle(Platform::IMAGE_HANDLE, mem.image()->id());
    add_value(&id, sizeof id);
}

void Arguments::add_sampler(const Target &target, const pi_kernel_argument &given, size_t index) {
    const Queue &queue = target.queue;
    Sampler &sampler = checked_sampler_of<Sampler>(queue.context(), given.sampler,
                                                   argument_name(index, "sampler"));
    keep(target, sampler);
    void *const id =
        queue.device().platform().own_handle(Platform::SAMPLER_HANDLE, sampler.id(queue.device()));
    add_value(&id, sizeof id);
}

const void *Arguments::read_buffer(const Target &target, const pi_kernel_argument &given,
                                   size_t index) {
    if (!given.mem)
        return nullptr;
    const Queue &queue = target.queue;
    const ArgumentName name = argument_name(index, "mem");
    Mem &mem = checked_buffer(queue.place(), queue.host(), given.mem, name);
    check_buffer_argument(given, name, mem.size());
    keep(target, mem);
    return mem.address() + given.offset;
}

void Arguments::set(Kernel::Function &function, const std::string &name) const {
    Place &place = function.module->place();
    for (uint32_t i = 0; i < arguments_.size(); ++i) {
        const Argument &argument = arguments_[i];
        const void *const value = argument.empty ? nullptr : values_.data() + argument.value;
        const ze_result_t code =
            place.api().zeKernelSetArgumentValue(function.id, i, argument.size, value);
        if (code == ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE ||
            code == ZE_RESULT_ERROR_INVALID_ARGUMENT)
            fail(PI_ERROR_INVALID_ARGUMENTS, "arguments[", i, "] has ", argument.size,
                 " bytes, which kernel '", name,
                 "' does not accept: zeKernelSetArgumentValue: ", error_name(code));
        place.check(code, "zeKernelSetArgumentValue", "arguments[", i, "] of kernel '", name, "'");
    }
}

} // namespace pi::level_zero
