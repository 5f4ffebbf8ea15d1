// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "verification_memory.hpp"

namespace pi::loader {
namespace {

bool has_address(pi_memory_kind kind) noexcept {
    return kind >= PI_MEMORY_KIND_USM_HOST && kind <= PI_MEMORY_KIND_USM_SHARED;
}

pi_region linear(uint64_t src_offset, uint64_t dst_offset, uint64_t size) {
    pi_region region{};
    region.src_offset = src_offset;
    region.dst_offset = dst_offset;
    region.extent[0] = size;
    return region;
}

pi_usm_copy_desc usm_desc(const void *src, void *dst, const pi_region &region) {
    auto desc = pi::desc<pi_usm_copy_desc>();
    desc.src = src;
    desc.dst = dst;
    desc.region_count = 1;
    desc.regions = &region;
    return desc;
}

/// A blocking read or write.
template <typename Desc, typename Pointer>
Desc transfer_desc(const Memory &memory, Pointer host, const pi_region &region) {
    auto desc = pi::desc<Desc>();
    desc.flags = PI_COMMAND_BLOCKING;
    desc.mem = memory.mem();
    desc.host_ptr = host;
    desc.region_count = 1;
    desc.regions = &region;
    return desc;
}

pi_kernel_argument argument_of(const Memory &memory) {
    pi_kernel_argument argument{};
    if (memory.mem() != nullptr) {
        argument.kind = PI_ARGUMENT_BUFFER;
        argument.mem = memory.mem();
        argument.offset = memory.base;
    } else {
        argument.kind = PI_ARGUMENT_POINTER;
        argument.pointer = memory.pointer() + memory.base;
    }
    return argument;
}

} // namespace

Memory::Memory(const pi_dispatch &plugin, const VerifiedPlace &place, pi_memory_kind kind,
               uint32_t scope, uint64_t size)
    : plugin_(plugin), context_(place.context) {
    pi_result result = PI_SUCCESS;
    if (has_address(kind)) {
        auto desc = pi::desc<pi_usm_desc>();
        desc.kind = kind - PI_MEMORY_KIND_USM_HOST + PI_USM_HOST;
        desc.scope = scope;
        desc.size = size;
        result = plugin.piUsmAlloc(place.context, place.device, &desc, &pointer_);
    } else {
        auto desc = pi::desc<pi_mem_buffer_desc>();
        desc.scope = scope;
        desc.size = size;
        result = plugin.piMemBufferCreate(place.context, place.device, &desc, &mem_);
    }
    if (result != PI_SUCCESS)
        throw NoRoom{{result}};
}

Memory::Memory(const pi_dispatch &plugin, const VerifiedPlace &place, Bytes host)
    : plugin_(plugin), context_(place.context) {
    auto desc = pi::desc<pi_mem_import_desc>();
    desc.size = host.size();
    desc.handle.type = PI_EXTERNAL_HOST_POINTER;
    desc.handle.pointer = host.data();
    desc.handle.size = host.size();
    require(plugin.piMemImport(place.context, place.device, &desc, &mem_));
}

Memory::~Memory() {
    if (mem_ != nullptr)
        plugin_.piMemRelease(mem_);
    if (pointer_ != nullptr)
        plugin_.piUsmFree(context_, pointer_);
}

Pending::~Pending() {
    if (event_ == nullptr)
        return;
    plugin_->piEventWait(event_, PI_TIMEOUT_NEVER);
    plugin_->piEventRelease(event_);
}

Lane::Lane(const pi_dispatch &plugin, const VerifiedPlace &place) : plugin_(plugin) {
    require(plugin.piQueueCreate(place.context, place.device, nullptr, &queue_));
}

void Lane::write(const Memory &memory, uint64_t offset, ConstBytes bytes) const {
    const pi_region region = linear(0, memory.base + offset, bytes.size());
    if (memory.mem() == nullptr)
        return copy_usm(bytes.data(), memory.pointer(), region);
    const auto desc = transfer_desc<pi_buffer_write_desc>(memory, bytes.data(), region);
    require(plugin_.piEnqueueMemBufferWrite(queue_, &desc, 0, nullptr, nullptr));
}

void Lane::read(const Memory &memory, uint64_t offset, Bytes bytes) const {
    const pi_region region = linear(memory.base + offset, 0, bytes.size());
    if (memory.mem() == nullptr)
        return copy_usm(memory.pointer(), bytes.data(), region);
    const auto desc = transfer_desc<pi_buffer_read_desc>(memory, bytes.data(), region);
    require(plugin_.piEnqueueMemBufferRead(queue_, &desc, 0, nullptr, nullptr));
}

Pending Lane::copy(const Memory &src, const Memory &dst, const Section &section) const {
    const pi_region region =
        linear(src.base + section.src_offset, dst.base + section.dst_offset, section.size);
    pi_event event = nullptr;
    if (src.mem() == nullptr) {
        const auto desc = usm_desc(src.pointer(), dst.pointer(), region);
        require(plugin_.piEnqueueUsmCopy(queue_, &desc, 0, nullptr, &event));
        return {plugin_, event};
    }
    auto desc = pi::desc<pi_buffer_copy_desc>();
    desc.src = src.mem();
    desc.dst = dst.mem();
    desc.region_count = 1;
    desc.regions = &region;
    require(plugin_.piEnqueueMemBufferCopy(queue_, &desc, 0, nullptr, &event));
    return {plugin_, event};
}

Pending Lane::launch(pi_kernel kernel, const Memory &src, const Memory &dst, uint64_t words) const {
    const pi_kernel_argument arguments[] = {argument_of(src), argument_of(dst)};
    auto desc = pi::desc<pi_kernel_launch_desc>();
    desc.kernel = kernel;
    desc.dimensions = 1;
    desc.argument_count = 2;
    desc.arguments = arguments;
    desc.global_size[0] = words;
    pi_event event = nullptr;
    require(plugin_.piEnqueueKernelLaunch(queue_, &desc, 0, nullptr, &event));
    return {plugin_, event};
}

void *Lane::map(const Memory &memory, uint64_t offset, uint64_t size, uint64_t flags) const {
    void *pointer = nullptr;
    auto map = pi::desc<pi_buffer_map_desc>();
    map.flags = flags | PI_COMMAND_BLOCKING;
    map.mem = memory.mem();
    map.offset = memory.base + offset;
    map.size = size;
    map.out_pointer = &pointer;
    require(plugin_.piEnqueueMemBufferMap(queue_, &map, 0, nullptr, nullptr));
    return pointer;
}

void Lane::unmap(const Memory &memory, void *pointer) const {
    auto unmap = pi::desc<pi_unmap_desc>();
    unmap.flags = PI_COMMAND_BLOCKING;
    unmap.mem = memory.mem();
    unmap.pointer = pointer;
    require(plugin_.piEnqueueMemUnmap(queue_, &unmap, 0, nullptr, nullptr));
}

void Lane::copy_usm(const void *src, void *dst, const pi_region &region) const {
    auto desc = usm_desc(src, dst, region);
    desc.flags = PI_COMMAND_BLOCKING;
    require(plugin_.piEnqueueUsmCopy(queue_, &desc, 0, nullptr, nullptr));
}

} // namespace pi::loader
