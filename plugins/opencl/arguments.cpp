// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arguments.hpp"
#include "image.hpp"
#include "sampler.hpp"
#include "usm.hpp"

#include <pi/sdk/argument.hpp>
#include <pi/sdk/region.hpp>

#include <bit>
#include <cstring>

namespace pi::opencl {

using namespace sdk;

namespace {

constexpr uint32_t bit(pi_argument_kind kind) {
    return 1u << kind;
}

/// The argument kinds that a parameter accepts, in the order of Parameter.
struct ParameterRow {
    Parameter parameter;
    uint32_t kinds; ///< as bits
    const char *names;
};
constexpr ParameterRow parameters[] = {
    {Parameter::ANY, ~0u, "any"},
    {Parameter::VALUE, bit(PI_ARGUMENT_VALUE), "PI_ARGUMENT_VALUE"},
    {Parameter::BUFFER, bit(PI_ARGUMENT_BUFFER) | bit(PI_ARGUMENT_POINTER),
     "PI_ARGUMENT_BUFFER or PI_ARGUMENT_POINTER"},
    {Parameter::LOCAL, bit(PI_ARGUMENT_LOCAL), "PI_ARGUMENT_LOCAL"},
    {Parameter::IMAGE, bit(PI_ARGUMENT_IMAGE), "PI_ARGUMENT_IMAGE"},
    {Parameter::SAMPLER, bit(PI_ARGUMENT_SAMPLER), "PI_ARGUMENT_SAMPLER"},
};
constexpr bool in_order() {
    for (size_t i = 0; i < std::size(parameters); ++i)
        if (parameters[i].parameter != static_cast<Parameter>(i))
            return false;
    return true;
}
static_assert(in_order());

void check_kind(const pi_kernel_argument &given, Parameter parameter, size_t index,
                const std::string &kernel) {
    check_argument(given, index);
    const ParameterRow &row = parameters[static_cast<size_t>(parameter)];
    if (!(row.kinds & bit(given.kind)))
        fail(PI_ERROR_INVALID_ARGUMENTS, "arguments[", index, "] has kind ", given.kind,
             "; parameter ", index, " of kernel '", kernel, "' needs ", row.names);
}

std::array<uint64_t, 2> points_to(const void *data, uint64_t serial = 0) {
    return {serial, reinterpret_cast<uintptr_t>(data)};
}

/// A value of at most 16 bytes, padded with zeros. Most have 4 or 8 bytes and are copied as one
/// word.
std::array<uint64_t, 2> value_bytes(const void *value, uint64_t size) {
    std::array<uint64_t, 2> out{};
    if (uint32_t word = 0; size == sizeof word && std::endian::native == std::endian::little) {
        std::memcpy(&word, value, sizeof word);
        out[0] = word;
    } else if (size == sizeof out[0]) {
        std::memcpy(out.data(), value, sizeof out[0]);
    } else {
        std::memcpy(out.data(), value, size);
    }
    return out;
}

} // namespace

/// Fast path for an argument like the previous launch's, which was checked then. Returns true if
/// nothing is left to do.
bool Arguments::set_like(const Argument &now, size_t index) {
    const pi_kernel_argument &given = given_[index];
    if (!now.lasting || given.kind != now.kind || kernel_.shared() || given.reserved ||
        given.image_sampler)
        return false;
    const Queue &queue = target_.queue;
    switch (given.kind) {
    case PI_ARGUMENT_VALUE: {
        if (given.size != now.size || !given.value)
            return false;
        const auto content = value_bytes(given.value, given.size);
        if (!now.has_content(content))
            set(index, {PI_ARGUMENT_VALUE, true, given.size, content});
        return true;
    }
    case PI_ARGUMENT_POINTER:
        return given.pointer == now.pointer() && queue.device().usm_kinds() &&
               Usm::table(queue.context()).generation() == now.content[0];
    case PI_ARGUMENT_BUFFER:
        return !given.offset && !given.size && pi_sdk_is(given.mem, queue.host(), PI_KIND_MEM) &&
               Mem::from(given.mem).serial() == now.content[0];
    default:
        return false;
    }
}

Arguments::Arguments(const Target &target, Kernel &kernel, const pi_kernel_launch_desc &desc)
    : target_(target), kernel_(kernel),
      given_(read_array(desc.argument_count, desc.arguments, "desc->arguments")) {
    if (given_.size() != kernel.parameters().size())
        fail(PI_ERROR_INVALID_ARGUMENTS, "argument_count is ", given_.size(), "; kernel '",
             kernel.name(), "' has ", kernel.parameters().size(), " parameters");
    if (target.within_call)
        return;
    copies_.reserve(given_.size());
    for (size_t i = 0; i < given_.size(); ++i)
        copies_.push_back(read(i));
}

Argument Arguments::read(size_t index) {
    const pi_kernel_argument &given = given_[index];
    check_kind(given, kernel_.parameters()[index], index, kernel_.name());
    switch (given.kind) {
    case PI_ARGUMENT_VALUE:
        return read_value(index);
    case PI_ARGUMENT_BUFFER:
        return read_buffer(index);
    case PI_ARGUMENT_POINTER:
        return read_pointer(index);
    case PI_ARGUMENT_IMAGE:
        return read_image(index);
    case PI_ARGUMENT_SAMPLER:
        return read_sampler(index);
    default:
        return read_local(index);
    }
}

template <class Object>
void Arguments::keep(Object &object) {
    if (!target_.within_call)
        references_.emplace_back(Ref<Object>(object));
}

Argument Arguments::read_value(size_t index) {
    const pi_kernel_argument &given = given_[index];
    const void *bytes = given.value;
    if (given.size <= sizeof Argument::content)
        return {given.kind, true, given.size, value_bytes(bytes, given.size)};
    if (!target_.within_call) {
        values_.push_back(std::make_unique<std::byte[]>(given.size));
        bytes = std::memcpy(values_.back().get(), bytes, given.size);
    }
    return {given.kind, false, given.size, points_to(bytes)};
}

Argument Arguments::read_local(size_t index) {
    const pi_kernel_argument &given = given_[index];
    const Device &device = target_.queue.device();
    const uint64_t local_memory = kernel_.limits(device).local_memory;
    // Not every driver checks it.
    if (given.size > local_memory - local_used_)
        fail(PI_ERROR_INVALID_ARGUMENTS, "arguments[", index, "] asks for ", given.size,
             " bytes of work-group memory; ", device.name(), " has ", local_memory,
             ", and the arguments before ask for ", local_used_);
    local_used_ += given.size;
    return {given.kind, true, given.size, {}};
}

Argument Arguments::read_buffer(size_t index) {
    const pi_kernel_argument &given = given_[index];
    if (!given.mem) // a null pointer is passed
        return {given.kind, true, 0, {}};
    Mem &mem = checked_buffer(target_.queue.context(), given.mem, argument_name(index, "mem"));
    check_buffer_argument(given, argument_name(index, "mem"), mem.size());
    keep(mem);
    if (!given.offset)
        return {given.kind, true, 0, points_to(mem.id(), mem.serial())};
    sub_buffers_.push_back(create_sub_buffer(mem.root(), mem.flags(), mem.offset() + given.offset,
                                             given.size ? given.size : mem.size() - given.offset));
    return {given.kind, false, 0, points_to(sub_buffers_.back().get())};
}

Argument Arguments::read_image(size_t index) {
    const pi_kernel_argument &given = given_[index];
    const Queue &queue = target_.queue;
    Mem &image =
        checked_image(queue.context(), queue.device(), given.mem, argument_name(index, "mem"));
    // A sampler with the image is for backends that join the two; this kernel names its own.
    if (given.image_sampler)
        checked_sampler_of<Sampler>(queue.context(), given.image_sampler,
                                    argument_name(index, "image_sampler"));
    keep(image);
    return {given.kind, true, 0, points_to(image.id(), image.serial())};
}

Argument Arguments::read_sampler(size_t index) {
    const pi_kernel_argument &given = given_[index];
    Sampler &sampler = checked_sampler_of<Sampler>(target_.queue.context(), given.sampler,
                                                   argument_name(index, "sampler"));
    keep(sampler);
    return {given.kind, true, 0, points_to(sampler.id(), sampler.serial())};
}

Argument Arguments::read_pointer(size_t index) {
    const void *const pointer = given_[index].pointer;
    const uint64_t generation = Usm::table(target_.queue.context()).generation();
    const bool is_usm = check_usm_argument(target_.queue, pointer, argument_name(index, "pointer"));
    return {PI_ARGUMENT_POINTER, is_usm, 0, points_to(pointer, generation)};
}

void Arguments::set() {
    if (!target_.within_call) {
        for (size_t i = 0; i < copies_.size(); ++i)
            set(i, copies_[i]);
        return;
    }
    local_used_ = 0;
    for (size_t i = 0; i < given_.size(); ++i)
        if (!set_like(kernel_.argument(i), i))
            set(i, read(i));
}

void Arguments::set(size_t index, const Argument &argument) {
    if (kernel_.has_argument(index, argument))
        return;
    kernel_.argument(index) = {};
    const Api &cl = kernel_.api();
    const auto position = static_cast<cl_uint>(index);
    const void *const pointer = argument.pointer();
    if (argument.kind == PI_ARGUMENT_POINTER && pointer) {
        const auto &set = kernel_.context().platform().usm()->set_argument;
        check(set.call(kernel_.id(), position, pointer), set.name, "argument ", index,
              " of kernel '", kernel_.name(), "', ", pointer);
    } else {
        size_t size = argument.size;
        const void *value = nullptr;
        if (argument.kind == PI_ARGUMENT_VALUE) {
            value = argument.lasting ? argument.content.data() : pointer;
        } else if (argument.kind != PI_ARGUMENT_LOCAL) {
            size = sizeof pointer;
            value = pointer ? &pointer : nullptr;
        }
        check(cl.clSetKernelArg(kernel_.id(), position, size, value), "clSetKernelArg", "argument ",
              index, " of kernel '", kernel_.name(), "', ", size, " bytes given");
    }
    kernel_.argument(index) = argument;
}

} // namespace pi::opencl
