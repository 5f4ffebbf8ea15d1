// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "learn.hpp"

namespace pi::loader::validate {
namespace {

std::shared_ptr<MemoryFacts> memory(Validator &validator, pi_context context, uint64_t flags,
                                    uint64_t size) {
    auto facts = std::make_shared<MemoryFacts>();
    facts->context = context;
    facts->flags = flags;
    facts->size = size;
    facts->root = validator.make_number();
    return facts;
}

} // namespace

Known facts_of(Validator &, pi_context made, const pi_context_desc &desc) {
    auto facts = std::make_shared<ContextFacts>();
    facts->context = made;
    facts->devices.assign(desc.devices, desc.devices + desc.device_count);
    return facts;
}

Known facts_of(Validator &, pi_context context, pi_device device, const pi_queue_desc &desc) {
    auto facts = std::make_shared<QueueFacts>();
    facts->context = context;
    facts->device = device;
    facts->in_order = (desc.flags & PI_QUEUE_OUT_OF_ORDER) == 0;
    return facts;
}

Known facts_of(Validator &validator, pi_context context, const pi_mem_buffer_desc &desc) {
    return memory(validator, context, desc.flags, desc.size);
}

Known facts_of(Validator &validator, pi_context context, pi_mem mem,
               const pi_mem_image_desc &desc) {
    if (!checks::is_known_image(desc))
        return nullptr;
    auto facts = memory(validator, context, desc.flags, 0);
    facts->image = checks::shape_of(desc);
    if (mem != nullptr) {
        const auto parent = validator.facts(mem);
        facts->flags =
            parent != nullptr ? checks::view_flags(desc.flags, parent->flags) : desc.flags;
    }
    return facts;
}

Known facts_of(Validator &validator, pi_mem mem, const pi_mem_partition_desc &desc) {
    const auto parent = validator.facts(mem);
    if (parent == nullptr)
        return nullptr;
    auto facts = std::make_shared<MemoryFacts>(*parent);
    facts->flags = checks::view_flags(desc.flags, parent->flags);
    facts->offset += desc.offset;
    facts->size = desc.size;
    return facts;
}

Known facts_of(Validator &validator, pi_context context, const pi_mem_import_desc &desc) {
    return memory(validator, context, desc.flags, desc.size);
}

Known facts_of(pi_context context, pi_device device, const pi_usm_pool_desc &desc) {
    auto facts = std::make_shared<PoolFacts>();
    facts->context = context;
    facts->device = device;
    facts->kind = desc.kind;
    return facts;
}

Known facts_of_context(Validator &validator, pi_context made) {
    const ErrorScope scope;
    auto facts = std::make_shared<ContextFacts>();
    facts->context = made;
    uint64_t size = 0;
    const auto get = validator.queries().piContextGetInfo;
    if (get(made, PI_CONTEXT_INFO_DEVICES, 0, nullptr, &size) == PI_SUCCESS) {
        facts->devices.resize(size / sizeof(pi_device));
        if (get(made, PI_CONTEXT_INFO_DEVICES, size, facts->devices.data(), nullptr) != PI_SUCCESS)
            facts->devices.clear();
    }
    return facts;
}

Known facts_of_kernel(Validator &validator, pi_context context, pi_kernel made) {
    const ErrorScope scope;
    auto facts = std::make_shared<KernelFacts>();
    facts->context = context;
    facts->counted = validator.queries().piKernelGetInfo(
                         made, PI_KERNEL_INFO_ARGUMENT_COUNT, sizeof facts->argument_count,
                         &facts->argument_count, nullptr) == PI_SUCCESS;
    return facts;
}

} // namespace pi::loader::validate
