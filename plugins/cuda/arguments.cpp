// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arguments.hpp"
#include "sampler.hpp"
#include "usm.hpp"

#include <pi/sdk/address.hpp>
#include <pi/sdk/argument.hpp>
#include <pi/sdk/region.hpp>

#include <cstring>

namespace pi::cuda {

using namespace sdk;

namespace {

/// PI_ARGUMENT_LOCAL arguments begin at a multiple of this in shared memory.
constexpr uint64_t local_alignment = 16;

/// Appends `size` bytes of shared memory and returns their offset.
uint64_t take_local(uint64_t &used, uint64_t size, size_t index) {
    const uint64_t begin = align_up(used, local_alignment);
    if (begin < used || __builtin_add_overflow(begin, size, &used))
        fail(PI_ERROR_INVALID_ARGUMENTS, "arguments[", index, "].size is ", size,
             ": work-group memory must fit 64 bits");
    return begin;
}

} // namespace

Arguments::Arguments(const Target &target, Kernel &kernel, const pi_kernel_launch_desc &desc)
    : local_memory_(desc.local_memory_size) {
    const auto given = read_array(desc.argument_count, desc.arguments, "desc->arguments");
    offsets_.reserve(given.size());
    pointers_.reserve(given.size());
    values_.reserve(given.size());
    const auto &parameters = kernel.parameters();
    if (parameters && given.size() != parameters->size())
        fail(PI_ERROR_INVALID_ARGUMENTS, "argument_count is ", given.size(), "; kernel '",
             kernel.name(), "' has ", parameters->size(), " parameters");
    for (size_t i = 0; i < given.size(); ++i)
        add(target, kernel, given[i], i);
    const Device &device = target.queue.device();
    const Kernel::Function &function = kernel.function(device);
    if (local_memory_ > function.dynamic_memory)
        fail(PI_ERROR_INVALID_ARGUMENTS, "the launch needs ", local_memory_,
             " bytes of work-group memory; kernel '", kernel.name(), "' has at most ",
             function.dynamic_memory, " on ", device.name());
    for (const size_t offset : offsets_)
        pointers_.push_back(values_.data() + offset);
}

void Arguments::add(const Target &target, const Kernel &kernel, const pi_kernel_argument &given,
                    size_t index) {
    check_argument(given, index);
    switch (given.kind) {
    case PI_ARGUMENT_VALUE:
        return add_value(given.value, given.size, kernel, index);
    case PI_ARGUMENT_BUFFER: {
        const CUdeviceptr address = read_buffer(target, given, index);
        return add_value(&address, sizeof address, kernel, index);
    }
    case PI_ARGUMENT_LOCAL: {
        const uint64_t offset = take_local(local_memory_, given.size, index);
        const auto &parameters = kernel.parameters();
        const auto narrow = static_cast<uint32_t>(offset);
        if (parameters && (*parameters)[index] == sizeof narrow)
            return add_value(&narrow, sizeof narrow, kernel, index);
        return add_value(&offset, sizeof offset, kernel, index);
    }
    case PI_ARGUMENT_POINTER:
        check_usm_argument(target.queue, given.pointer, argument_name(index, "pointer"));
        return add_value(&given.pointer, sizeof given.pointer, kernel, index);
    case PI_ARGUMENT_IMAGE: {
        const CUtexObject object = read_image(target, given, index);
        return add_value(&object, sizeof object, kernel, index);
    }
    case PI_ARGUMENT_SAMPLER: {
        const uint32_t word = sampler_word(
            checked_sampler(target.queue.context(), given.sampler, argument_name(index, "sampler"))
                .desc());
        return add_value(&word, sizeof word, kernel, index);
    }
    }
}

void Arguments::add_value(const void *value, size_t size, const Kernel &kernel, size_t index) {
    const auto &parameters = kernel.parameters();
    if (parameters && (*parameters)[index] != size)
        fail(PI_ERROR_INVALID_ARGUMENTS, "arguments[", index, "] has ", size, " bytes; parameter ",
             index, " of kernel '", kernel.name(), "' has ", (*parameters)[index]);
    offsets_.push_back(values_.size());
    values_.resize(values_.size() + (size + sizeof(Block) - 1) / sizeof(Block));
    std::memcpy(&values_[offsets_.back()], value, size);
}

CUdeviceptr Arguments::read_buffer(const Target &target, const pi_kernel_argument &given,
                                   size_t index) {
    if (!given.mem)
        return 0;
    const Queue &queue = target.queue;
    const ArgumentName name = argument_name(index, "mem");
    Mem &mem = checked_buffer(queue.primary(), queue.host(), given.mem, name);
    check_buffer_argument(given, name, mem.size());
    keep(target, mem);
    return mem.address(given.offset);
}

CUtexObject Arguments::read_image(const Target &target, const pi_kernel_argument &given,
                                  size_t index) {
    const Queue &queue = target.queue;
    Mem &mem = checked_image(queue.primary(), queue.host(), given.mem, argument_name(index, "mem"));
    keep(target, mem);
    if (!given.image_sampler)
        return mem.image()->surface();
    const Sampler &sampler = checked_sampler(queue.context(), given.image_sampler,
                                             argument_name(index, "image_sampler"));
    return mem.image()->texture(sampler.desc());
}

void Arguments::keep(const Target &target, Mem &mem) {
    if (target.references)
        target.references->add(mem);
    else if (!target.within_call)
        references_.emplace_back(mem);
}

uint64_t Arguments::local_memory_of(const pi_kernel_launch_desc &desc) {
    uint64_t used = desc.local_memory_size;
    const auto given = read_array(desc.argument_count, desc.arguments, "desc->arguments");
    for (size_t i = 0; i < given.size(); ++i)
        if (given[i].kind == PI_ARGUMENT_LOCAL)
            take_local(used, given[i].size, i);
    return used;
}

} // namespace pi::cuda
