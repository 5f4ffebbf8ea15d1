// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The template plugin in C++: only the required functions, on the process's own memory. Replace
// what is marked "Yours"; docs/plugin-authors.md is the contract. The other functions come from the
// sdk's headers or the loader.
#include "objects.hpp"

#include <pi/sdk/plugin.hpp>

namespace plugin {
namespace {

using sdk::fail;
using sdk::InfoWriter;

/// Yours. The last member: PI_CAPABILITY_ of the groups whose functions are all there.
constexpr sdk::PluginIdentity this_plugin{"template", "0.1", 0};
using Plugin = sdk::plugin_entries<Instance, this_plugin>;

// ----- Platforms and devices ---------------------------------------------------------------------

/// Yours: open the vendor's library here, once (pi/sdk/library.hpp), under a mutex. Without it
/// throw PI_ERROR_UNAVAILABLE with the reason.
pi_result PI_CALL platforms_get(pi_plugin plugin, uint32_t capacity, pi_platform *out_platforms,
                                uint32_t *out_count) {
    return sdk::call<Instance>(plugin, [&](Instance &self) {
        const pi_platform platform = self.platform.handle();
        sdk::write_list<pi_platform>({&platform, 1}, capacity, out_platforms, out_count);
    });
}

pi_result PI_CALL platform_get_info(pi_platform platform, pi_platform_info name, uint64_t size,
                                    void *value, uint64_t *out_size) {
    static constexpr sdk::InfoRow<Platform> rows[] = {
        {PI_PLATFORM_INFO_NAME,
         [](Platform &, const InfoWriter &write) { write("template platform"); }},
        {PI_PLATFORM_INFO_VENDOR,
         [](Platform &, const InfoWriter &write) { write("template vendor"); }},
        {PI_PLATFORM_INFO_VERSION,
         [](Platform &, const InfoWriter &write) { write(this_plugin.version); }},
        {PI_PLATFORM_INFO_PLUGIN, [](Platform &p, const InfoWriter &write) { write(p.plugin); }},
        {PI_PLATFORM_INFO_BACKEND,
         [](Platform &, const InfoWriter &write) { write(uint32_t{PI_BACKEND_OTHER}); }},
    };
    return sdk::call<Platform>(
        platform, [&](Platform &self) { answer_info(self, rows, name, size, value, out_size); });
}

pi_result PI_CALL devices_get(pi_platform platform, pi_device_type types, uint32_t capacity,
                              pi_device *out_devices, uint32_t *out_count) {
    return sdk::call<Platform>(platform, [&](Platform &self) {
        const pi_device device = Instance::from(self.plugin).device.handle();
        const size_t count = pi_sdk_asks_for(types, PI_DEVICE_TYPE_OTHER) ? 1 : 0;
        sdk::write_list<pi_device>({&device, count}, capacity, out_devices, out_count);
    });
}

/// Yours: everything that your driver knows. Leave out what it does not know: do not answer with
/// zeros.
pi_result PI_CALL device_get_info(pi_device device, pi_device_info name, uint64_t size, void *value,
                                  uint64_t *out_size) {
    static constexpr sdk::InfoRow<Device> rows[] = {
        {PI_DEVICE_INFO_TYPE,
         [](Device &, const InfoWriter &write) { write(pi_device_type{PI_DEVICE_TYPE_OTHER}); }},
        {PI_DEVICE_INFO_NAME, [](Device &, const InfoWriter &write) { write("template device"); }},
        {PI_DEVICE_INFO_VENDOR,
         [](Device &, const InfoWriter &write) { write("template vendor"); }},
        {PI_DEVICE_INFO_VERSION,
         [](Device &, const InfoWriter &write) { write(this_plugin.version); }},
        {PI_DEVICE_INFO_PLATFORM,
         [](Device &d, const InfoWriter &write) { write(d.platform.handle()); }},
        {PI_DEVICE_INFO_PARENT, [](Device &, const InfoWriter &write) { write(pi_device{}); }},
        {PI_DEVICE_INFO_REFERENCE_COUNT,
         [](Device &d, const InfoWriter &write) { write(d.reference_count()); }},
        {PI_DEVICE_INFO_INTEGRATED, [](Device &, const InfoWriter &write) { write(uint32_t{1}); }},
        {PI_DEVICE_INFO_QUEUE_FLAGS,
         [](Device &, const InfoWriter &write) {
             write(uint64_t{PI_QUEUE_OUT_OF_ORDER | PI_QUEUE_PROFILING});
         }},
        {PI_DEVICE_INFO_CAPABILITIES,
         [](Device &, const InfoWriter &write) { write(this_plugin.capabilities); }},
    };
    return sdk::call<Device>(
        device, [&](Device &self) { answer_info(self, rows, name, size, value, out_size); });
}

/// Retain and release of a root device have no effect.
pi_result PI_CALL device_keep(pi_device device) {
    return sdk::call<Device>(device, [](Device &) {});
}

pi_result PI_CALL device_get_memory_scopes(pi_device device, uint32_t capacity,
                                           pi_memory_scope *out_scopes, uint32_t *out_count) {
    return sdk::call<Device>(device, [&](Device &) {
        sdk::write_list<pi_memory_scope>({&scope, 1}, capacity, out_scopes, out_count);
    });
}

// ----- Contexts and the connection query ---------------------------------------------------------

pi_result PI_CALL context_create(pi_platform platform, const pi_context_desc *desc,
                                 pi_context *out_context) {
    return sdk::call<Platform>(platform, [&](Platform &self) {
        const auto known = sdk::read_desc(desc, PI_TYPE_CONTEXT_DESC);
        sdk::check_flags(known.flags, 0, "flags");
        sdk::require(out_context, "out_context");
        if (!known.device_count)
            fail(PI_ERROR_INVALID_SIZE, "device_count is 0; at least 1 is needed");
        auto devices =
            sdk::read_handles<Device>(self.host(), known.device_count, known.devices, "devices");
        *out_context = sdk::make<Context>(self, std::move(devices)).give();
    });
}

pi_result PI_CALL context_get_info(pi_context context, pi_context_info name, uint64_t size,
                                   void *value, uint64_t *out_size) {
    static constexpr sdk::InfoRow<Context> rows[] = {
        {PI_CONTEXT_INFO_DEVICES,
         [](Context &c, const InfoWriter &write) {
             std::vector<pi_device> handles;
             for (Device *device : c.devices)
                 handles.push_back(device->handle());
             write(handles);
         }},
        {PI_CONTEXT_INFO_PLATFORM,
         [](Context &c, const InfoWriter &write) { write(c.platform.handle()); }},
        {PI_CONTEXT_INFO_REFERENCE_COUNT,
         [](Context &c, const InfoWriter &write) { write(c.reference_count()); }},
    };
    return sdk::call<Context>(
        context, [&](Context &self) { answer_info(self, rows, name, size, value, out_size); });
}

/// Yours, and the most important function: see the five promises in pi.h. Here all memory is usable
/// everywhere.
pi_result PI_CALL get_memory_connection(pi_device src_device, pi_context src_context,
                                        pi_device dst_device, pi_context dst_context,
                                        pi_memory_connection *out_connection) {
    return sdk::call<Device>(src_device, [&](Device &self) {
        sdk::checked<Context>(self.host(), src_context, "src_context").device(src_device);
        sdk::checked<Context>(self.host(), dst_context, "dst_context").device(dst_device);
        *sdk::require(out_connection, "out_connection") = PI_MEMORY_CONNECTION_UNIFIED;
    });
}

// ----- Queues and buffers ------------------------------------------------------------------------

pi_result PI_CALL queue_create(pi_context context, pi_device device, const pi_queue_desc *desc,
                               pi_queue *out_queue) {
    return sdk::call<Context>(context, [&](Context &self) {
        Device &place = self.device(device);
        const auto known = sdk::read_optional_desc(desc, PI_TYPE_QUEUE_DESC);
        sdk::check_flags(known.flags,
                         PI_QUEUE_OUT_OF_ORDER | PI_QUEUE_PROFILING | PI_QUEUE_PRIORITY_LOW |
                             PI_QUEUE_PRIORITY_HIGH,
                         "flags");
        sdk::require(out_queue, "out_queue");
        *out_queue = sdk::make<Queue>(self, place, known.flags).give();
    });
}

pi_result PI_CALL queue_get_info(pi_queue queue, pi_queue_info name, uint64_t size, void *value,
                                 uint64_t *out_size) {
    static constexpr sdk::InfoRow<Queue> rows[] = {
        {PI_QUEUE_INFO_CONTEXT,
         [](Queue &q, const InfoWriter &write) { write(q.context->handle()); }},
        {PI_QUEUE_INFO_DEVICE, [](Queue &q, const InfoWriter &write) { write(q.device.handle()); }},
        {PI_QUEUE_INFO_FLAGS, [](Queue &q, const InfoWriter &write) { write(q.flags); }},
        {PI_QUEUE_INFO_REFERENCE_COUNT,
         [](Queue &q, const InfoWriter &write) { write(q.reference_count()); }},
    };
    return sdk::call<Queue>(
        queue, [&](Queue &self) { answer_info(self, rows, name, size, value, out_size); });
}

/// Commands never wait for a flush.
pi_result PI_CALL queue_flush(pi_queue queue) {
    return sdk::call<Queue>(queue, [](Queue &) {});
}
pi_result PI_CALL queue_finish(pi_queue queue) {
    return sdk::call<Queue>(queue, [](Queue &self) { self.sequence().finish(); });
}

void check_buffer_desc(const pi_mem_buffer_desc &desc) {
    constexpr uint64_t access = PI_MEM_READ_ONLY | PI_MEM_WRITE_ONLY;
    constexpr uint64_t pointer = PI_MEM_COPY_HOST_PTR | PI_MEM_USE_HOST_PTR;
    sdk::check_flags(desc.flags, access | pointer, "flags");
    if (!desc.size)
        fail(PI_ERROR_INVALID_SIZE, "size is 0 bytes; at least 1 is needed");
    if (desc.scope)
        fail(PI_ERROR_INVALID_VALUE, "scope is ", desc.scope, "; the device has 1");
    if (desc.export_types)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "export_types: no memory is exported here");
    if ((desc.flags & access) == access || (desc.flags & pointer) == pointer)
        fail(PI_ERROR_INVALID_VALUE, "flags 0x", std::hex, desc.flags, " exclude each other");
    if (!(desc.flags & pointer) != !desc.host_ptr)
        fail(desc.host_ptr ? PI_ERROR_INVALID_VALUE : PI_ERROR_INVALID_NULL_POINTER, "host_ptr is ",
             desc.host_ptr, ", but flags 0x", std::hex, desc.flags);
    if (desc.alignment & (desc.alignment - 1) || desc.alignment > max_alignment)
        fail(PI_ERROR_INVALID_ALIGNMENT, "alignment is ", desc.alignment,
             "; a power of two of at most ", max_alignment, " is needed");
    if (desc.flags & PI_MEM_USE_HOST_PTR && desc.alignment > Mem::alignment_of(desc))
        fail(PI_ERROR_MISALIGNED_POINTER, "host_ptr is ", desc.host_ptr, ", but alignment ",
             desc.alignment);
}

pi_result PI_CALL mem_buffer_create(pi_context context, pi_device device,
                                    const pi_mem_buffer_desc *desc, pi_mem *out_mem) {
    return sdk::call<Context>(context, [&](Context &self) {
        Device &place = self.device(device);
        const auto known = sdk::read_desc(desc, PI_TYPE_MEM_BUFFER_DESC);
        sdk::require(out_mem, "out_mem");
        check_buffer_desc(known);
        *out_mem = sdk::make<Mem>(self, place, known).give();
    });
}

pi_result PI_CALL mem_get_info(pi_mem mem, pi_mem_info name, uint64_t size, void *value,
                               uint64_t *out_size) {
    static constexpr sdk::InfoRow<Mem> rows[] = {
        {PI_MEM_INFO_SIZE, [](Mem &m, const InfoWriter &write) { write(m.size); }},
        {PI_MEM_INFO_CONTEXT, [](Mem &m, const InfoWriter &write) { write(m.context->handle()); }},
        {PI_MEM_INFO_DEVICE, [](Mem &m, const InfoWriter &write) { write(m.device.handle()); }},
        {PI_MEM_INFO_FLAGS, [](Mem &m, const InfoWriter &write) { write(m.flags); }},
        {PI_MEM_INFO_SCOPE, [](Mem &, const InfoWriter &write) { write(uint32_t{0}); }},
        {PI_MEM_INFO_ALIGNMENT, [](Mem &m, const InfoWriter &write) { write(m.alignment); }},
        {PI_MEM_INFO_PARENT, [](Mem &, const InfoWriter &write) { write(pi_mem{}); }},
        {PI_MEM_INFO_OFFSET, [](Mem &, const InfoWriter &write) { write(uint64_t{0}); }},
        {PI_MEM_INFO_COHERENCE,
         [](Mem &, const InfoWriter &write) { write(pi_coherence{PI_COHERENCE_COHERENT}); }},
        {PI_MEM_INFO_KIND,
         [](Mem &, const InfoWriter &write) { write(pi_memory_kind{PI_MEMORY_KIND_BUFFER}); }},
        {PI_MEM_INFO_REFERENCE_COUNT,
         [](Mem &m, const InfoWriter &write) { write(m.reference_count()); }},
    };
    return sdk::call<Mem>(mem,
                          [&](Mem &self) { answer_info(self, rows, name, size, value, out_size); });
}

// ----- The plugin --------------------------------------------------------------------------------

constexpr pi_dispatch make_functions() {
    pi_dispatch functions{};
    functions.struct_size = sizeof functions;
    functions.version_major = PI_VERSION_MAJOR;
    functions.version_minor = PI_VERSION_MINOR;
    functions.piPluginGetInfo = Plugin::get_info;
    functions.piPlatformsGet = platforms_get;
    functions.piPlatformGetInfo = platform_get_info;
    functions.piDevicesGet = devices_get;
    functions.piDeviceGetInfo = device_get_info;
    functions.piDeviceRetain = device_keep;
    functions.piDeviceRelease = device_keep;
    functions.piDeviceGetMemoryScopes = device_get_memory_scopes;
    functions.piContextCreate = context_create;
    functions.piContextRetain = sdk::retain_entry<Context>;
    functions.piContextRelease = sdk::release_entry<Context>;
    functions.piContextGetInfo = context_get_info;
    functions.piGetMemoryConnection = get_memory_connection;
    functions.piQueueCreate = queue_create;
    functions.piQueueRetain = sdk::retain_entry<Queue>;
    functions.piQueueRelease = sdk::release_entry<Queue>;
    functions.piQueueGetInfo = queue_get_info;
    functions.piQueueFlush = queue_flush;
    functions.piQueueFinish = queue_finish;
    functions.piMemBufferCreate = mem_buffer_create;
    functions.piMemGetInfo = mem_get_info;
    functions.piMemRetain = sdk::retain_entry<Mem>;
    functions.piMemRelease = sdk::release_entry<Mem>;
    functions.piEnqueueMemBufferCopy = enqueue_copy;
    functions.piEnqueueMemBufferMap = enqueue_map;
    functions.piEnqueueMemUnmap = enqueue_unmap;
    functions.piEnqueueEventsWait = enqueue_events_wait;
    functions.piEnqueueBarrier = enqueue_barrier;
    sdk::event_entries::fill<Context>(functions);
    return functions;
}
constexpr pi_dispatch functions = make_functions();

} // namespace
} // namespace plugin

PI_EXPORT pi_result PI_CALL piPluginMain(const pi_host *host, pi_plugin_desc *out_desc) {
    return plugin::Plugin::main(host, out_desc, plugin::functions);
}
