// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How calls fail: with one code for one cause and a text, on the calling thread, with nothing written
// and nothing half-done.

#include "bench.hpp"
#include "checks.hpp"
#include "registry.hpp"
#include "samples.hpp"

#include <cctype>

namespace pi::suite {
namespace {

template <typename Handle>
Handle as(void *object) {
    return reinterpret_cast<Handle>(object);
}

LAW("errors", "the last error is its thread's own") {
    bench.run_threads(8, [&](unsigned thread) {
        pi_result code = poison<pi_result>();
        const char *message = nullptr;
        require_success(piGetLastError(&code, &message), "piGetLastError");
        require(code == PI_SUCCESS && message != nullptr && message[0] == '\0',
                "a new thread's last error is ", result_name(code),
                ", should be PI_SUCCESS and \"\"");
        // Each thread fails in a way of its own, again and again.
        for (int round = 0; round < 200; ++round) {
            if (thread % 2 == 0)
                require_error(piMemRetain(nullptr), PI_ERROR_INVALID_MEM_OBJECT,
                              "piMemRetain of NULL");
            else
                require_error(piDeviceGetInfo(bench.device(), 99999, 0, nullptr, nullptr),
                              {PI_ERROR_INVALID_ENUMERATION, PI_ERROR_INVALID_NULL_POINTER},
                              "piDeviceGetInfo of an unknown name");
        }
    });
}

LAW("errors", "success leaves the last error as it is") {
    uint32_t count = 0;
    require_error(piMemRetain(nullptr), PI_ERROR_INVALID_MEM_OBJECT, "piMemRetain of NULL");
    const std::string before = last_error();
    require_success(piPlatformsGet(bench.plugin(), 0, nullptr, &count), "piPlatformsGet");
    require_success(piDeviceRetain(bench.device()), "piDeviceRetain");
    require_success(piDeviceRelease(bench.device()), "piDeviceRelease");
    require_equal(last_error(), before, "the last error after calls that succeeded");
    require_success(piGetLastError(nullptr, nullptr), "piGetLastError with neither output");
}

LAW("errors", "a list asked for with neither output is a success or a NULL pointer") {
    // The header says of each output what happens "if not NULL", and nothing of both.
    const auto check = [](pi_result result, const char *what) {
        if (result != PI_SUCCESS)
            require_error(result, PI_ERROR_INVALID_NULL_POINTER, what);
    };
    check(piPluginsGet(bench.loader(), 0, nullptr, nullptr), "piPluginsGet");
    check(piPlatformsGet(bench.plugin(), 0, nullptr, nullptr), "piPlatformsGet");
    check(piDevicesGet(bench.platform(), PI_DEVICE_TYPE_ALL, 0, nullptr, nullptr), "piDevicesGet");
    check(piDeviceGetMemoryScopes(bench.device(), 0, nullptr, nullptr), "piDeviceGetMemoryScopes");
}

LAW("errors", "the handle NULL is refused by its kind, as the first argument") {
    uint32_t count = 0;
    pi_event event = nullptr;
    require_error(piPluginsGet(nullptr, 0, nullptr, &count), PI_ERROR_INVALID_LOADER,
                  "piPluginsGet");
    require_error(piPlatformsGet(nullptr, 0, nullptr, &count), PI_ERROR_INVALID_PLUGIN,
                  "piPlatformsGet");
    require_error(piDevicesGet(nullptr, PI_DEVICE_TYPE_ALL, 0, nullptr, &count),
                  PI_ERROR_INVALID_PLATFORM, "piDevicesGet");
    require_error(piDeviceRetain(nullptr), PI_ERROR_INVALID_DEVICE, "piDeviceRetain");
    require_error(piContextRetain(nullptr), PI_ERROR_INVALID_CONTEXT, "piContextRetain");
    require_error(piEventCreateHost(nullptr, &event), PI_ERROR_INVALID_CONTEXT,
                  "piEventCreateHost");
    require_error(piQueueFlush(nullptr), PI_ERROR_INVALID_QUEUE, "piQueueFlush");
    require_error(piMemRelease(nullptr), PI_ERROR_INVALID_MEM_OBJECT, "piMemRelease");
    require_error(piProgramRetain(nullptr), PI_ERROR_INVALID_PROGRAM, "piProgramRetain");
    require_error(piKernelRetain(nullptr), PI_ERROR_INVALID_KERNEL, "piKernelRetain");
    require_error(piEventWait(nullptr, 0), PI_ERROR_INVALID_EVENT, "piEventWait");
    require_error(piSamplerRetain(nullptr), PI_ERROR_INVALID_SAMPLER, "piSamplerRetain");
    require_error(piUsmPoolRetain(nullptr), PI_ERROR_INVALID_USM_POOL, "piUsmPoolRetain");
}

LAW("errors", "a handle of another kind is refused as the first argument") {
    const Queue queue = bench.make_queue();
    const Mem mem = bench.make_buffer(64);
    const Event host = bench.make_host_event();
    const pi_context context = bench.context();
    uint32_t count = 0;
    pi_event event = nullptr;
    require_error(piDevicesGet(as<pi_platform>(mem), PI_DEVICE_TYPE_ALL, 0, nullptr, &count),
                  PI_ERROR_INVALID_PLATFORM, "piDevicesGet of a buffer");
    require_error(piDeviceGetMemoryScopes(as<pi_device>(queue), 0, nullptr, &count),
                  PI_ERROR_INVALID_DEVICE, "piDeviceGetMemoryScopes of a queue");
    require_error(piContextRetain(as<pi_context>(mem)), PI_ERROR_INVALID_CONTEXT,
                  "piContextRetain of a buffer");
    require_error(piEventCreateHost(as<pi_context>(queue), &event), PI_ERROR_INVALID_CONTEXT,
                  "piEventCreateHost in a queue");
    require_error(piQueueFlush(as<pi_queue>(context)), PI_ERROR_INVALID_QUEUE,
                  "piQueueFlush of a context");
    require_error(piMemRelease(as<pi_mem>(host)), PI_ERROR_INVALID_MEM_OBJECT,
                  "piMemRelease of an event");
    require_error(piEventWait(as<pi_event>(mem), 0), PI_ERROR_INVALID_EVENT,
                  "piEventWait for a buffer");
    bench.signal(host);
}

LAW("errors", "handles after the first are refused when NULL or of another kind") {
    const Queue queue = bench.make_queue();
    const pi_context context = bench.context();
    const pi_device device = bench.device();
    pi_mem_buffer_desc buffer = describe<pi_mem_buffer_desc>();
    buffer.size = 64;
    for (const pi_device wrong : {pi_device{nullptr}, as<pi_device>(queue)}) {
        const std::string what = wrong == nullptr ? "the device NULL" : "a queue as the device";
        require_untouched<pi_queue>(
            "piQueueCreate with " + what, {PI_ERROR_INVALID_DEVICE},
            [&](pi_queue *out) { return piQueueCreate(context, wrong, nullptr, out); });
        require_untouched<pi_mem>(
            "piMemBufferCreate with " + what, {PI_ERROR_INVALID_DEVICE},
            [&](pi_mem *out) { return piMemBufferCreate(context, wrong, &buffer, out); });
        require_untouched<pi_memory_connection>(
            "piGetMemoryConnection with " + what + " of dst", {PI_ERROR_INVALID_DEVICE},
            [&](pi_memory_connection *out) {
                return piGetMemoryConnection(device, context, wrong, context, out);
            });
    }
    for (const pi_context wrong : {pi_context{nullptr}, as<pi_context>(queue)}) {
        const std::string what = wrong == nullptr ? "the context NULL" : "a queue as the context";
        require_untouched<pi_memory_connection>(
            "piGetMemoryConnection with " + what + " of src", {PI_ERROR_INVALID_CONTEXT},
            [&](pi_memory_connection *out) {
                return piGetMemoryConnection(device, wrong, device, context, out);
            });
        require_untouched<pi_memory_connection>(
            "piGetMemoryConnection with " + what + " of dst", {PI_ERROR_INVALID_CONTEXT},
            [&](pi_memory_connection *out) {
                return piGetMemoryConnection(device, context, device, wrong, out);
            });
    }
}

// Sets a handle of the descriptor to NULL and to an object of another kind; both are refused.
template <typename Desc, typename Handle>
void check_handle(Samples &samples, Desc desc, Handle Desc::*member, const char *name,
                  pi_result error) {
    for (void *wrong : {static_cast<void *>(nullptr), reinterpret_cast<void *>(samples.queue())}) {
        desc.*member = as<Handle>(wrong);
        const std::string what =
            join(Description<Desc>::name, " with ", name, wrong == nullptr ? " NULL" : " a queue");
        require_untouched<pi_event>(what, {error}, [&](pi_event *out) {
            return try_enqueue(samples.queue(), desc, {}, out);
        });
    }
}

LAW("errors", "a command's memory is refused when NULL or of another kind") {
    Samples samples(bench);
    const pi_result error = PI_ERROR_INVALID_MEM_OBJECT;
    samples.for_each([&](const auto &desc) {
        using Desc = std::decay_t<decltype(desc)>;
        if constexpr (requires { desc.mem; })
            check_handle(samples, desc, &Desc::mem, "mem", error);
        if constexpr (requires { desc.image; })
            check_handle(samples, desc, &Desc::image, "image", error);
        if constexpr (std::is_same_v<Desc, pi_buffer_copy_desc>) {
            check_handle(samples, desc, &Desc::src, "src", error);
            check_handle(samples, desc, &Desc::dst, "dst", error);
        }
        if constexpr (std::is_same_v<Desc, pi_kernel_launch_desc>)
            check_handle(samples, desc, &Desc::kernel, "kernel", PI_ERROR_INVALID_KERNEL);
    });
}

LAW("errors", "a command on no queue is refused") {
    Samples samples(bench);
    const Mem mem = bench.make_buffer(64);
    samples.for_each([&](const auto &desc) {
        using Desc = std::decay_t<decltype(desc)>;
        for (void *wrong : {static_cast<void *>(nullptr), reinterpret_cast<void *>(mem.get())}) {
            require_untouched<pi_event>(
                join(Description<Desc>::name, wrong == nullptr ? " on NULL" : " on a buffer"),
                {PI_ERROR_INVALID_QUEUE},
                [&](pi_event *out) { return try_enqueue(as<pi_queue>(wrong), desc, {}, out); });
        }
    });
}

LAW("errors", "a wait list that is none is refused by every command") {
    Samples samples(bench);
    const Event good = bench.make_host_event();
    bench.signal(good);
    const pi_event with_null[] = {good, nullptr};
    const pi_event with_queue[] = {good, as<pi_event>(samples.queue())};
    samples.for_each([&](const auto &desc) {
        using Desc = std::decay_t<decltype(desc)>;
        const auto refused = [&](const std::string &what, pi_result error, uint32_t count,
                                 const pi_event *list) {
            require_untouched<pi_event>(
                join(Description<Desc>::name, " with ", what), {error}, [&](pi_event *out) {
                    return Description<Desc>::enqueue(samples.queue(), &desc, count, list, out);
                });
        };
        refused("a wait_count of 1 and no list", PI_ERROR_INVALID_WAIT_LIST, 1, nullptr);
        refused("NULL in its wait list", PI_ERROR_INVALID_EVENT, 2, with_null);
        refused("a queue in its wait list", PI_ERROR_INVALID_EVENT, 2, with_queue);
    });
}

LAW("errors", "every command's descriptor obeys the rules of descriptors") {
    Samples samples(bench);
    samples.for_each([&](const auto &valid) {
        using Desc = std::decay_t<decltype(valid)>;
        constexpr bool optional = std::is_same_v<Desc, pi_events_wait_desc> ||
                                  std::is_same_v<Desc, pi_barrier_desc> ||
                                  std::is_same_v<Desc, pi_timestamp_desc>;
        const DescriptorVariants variants(&valid, sizeof valid, offsetof(Desc, flags), optional);
        for (const DescriptorVariant &variant : variants.all()) {
            if (Samples::only_once<Desc> && variant.allowed.empty())
                continue;
            const auto *desc = static_cast<const Desc *>(variant.desc);
            const std::string what = join(Description<Desc>::name, " with ", variant.what);
            pi_event event = poison<pi_event>();
            const pi_result result =
                Description<Desc>::enqueue(samples.queue(), desc, 0, nullptr, &event);
            if (variant.allowed.empty()) {
                require_success(result, what);
                const Event owned(event);
                samples.clean_up(valid, owned);
                continue;
            }
            if (result == PI_SUCCESS)
                piEventRelease(event);
            require_error(result, {variant.allowed.front(), variant.allowed.back()}, what);
            require(same(event, poison<pi_event>()), what, ": failed, but wrote out_event");
        }
    });
}

LAW("errors", "a command needs no event, and a blocking one is final when it returns") {
    Samples samples(bench);
    samples.for_each([&](const auto &valid) {
        using Desc = std::decay_t<decltype(valid)>;
        if constexpr (!Samples::only_once<Desc>) {
            Desc desc = valid;
            desc.flags |= PI_COMMAND_BLOCKING;
            Event event;
            require_success(try_enqueue(samples.queue(), desc, {}, event.out()),
                            Description<Desc>::name, " with PI_COMMAND_BLOCKING");
            require(event.get() != nullptr, Description<Desc>::name, " gave no event");
            require(bench.is_final(event), Description<Desc>::name,
                    " is not final when a blocking call returns");
            samples.clean_up(desc, event);
            if constexpr (!std::is_same_v<Desc, pi_buffer_map_desc>) {
                require_success(try_enqueue(samples.queue(), valid), Description<Desc>::name,
                                " without out_event");
            }
        }
    });
    require_success(piQueueFinish(samples.queue()), "piQueueFinish");
}

LAW("errors", "every command's event tells its queue, context and descriptor type") {
    Samples samples(bench);
    samples.for_each([&](const auto &desc) {
        using Desc = std::decay_t<decltype(desc)>;
        if constexpr (!Samples::only_once<Desc>) {
            // Where the loader emulates these, the event is that of its last command.
            constexpr bool may_be_emulated = std::is_same_v<Desc, pi_buffer_read_desc> ||
                                             std::is_same_v<Desc, pi_buffer_write_desc> ||
                                             std::is_same_v<Desc, pi_buffer_fill_desc>;
            const Event event = bench.enqueue(samples.queue(), desc);
            if (!may_be_emulated || bench.can(PI_CAPABILITY_BUFFER_COMMANDS))
                require_equal(
                    get_info<uint32_t>(&piEventGetInfo, event.get(), PI_EVENT_INFO_COMMAND),
                    desc.type, join("PI_EVENT_INFO_COMMAND of ", Description<Desc>::name));
            require(get_info<pi_queue>(&piEventGetInfo, event.get(), PI_EVENT_INFO_QUEUE) ==
                        samples.queue(),
                    Description<Desc>::name, ": the event tells another queue");
            require(get_info<pi_context>(&piEventGetInfo, event.get(), PI_EVENT_INFO_CONTEXT) ==
                        bench.context(),
                    Description<Desc>::name, ": the event tells another context");
            samples.clean_up(desc, event);
        }
    });
}

LAW("errors", "a descriptor's memory may be overwritten right after the call") {
    Samples samples(bench);
    const Event gate = bench.make_host_event();
    std::vector<Event> events;
    samples.for_each([&](const auto &valid) {
        using Desc = std::decay_t<decltype(valid)>;
        if constexpr (!Samples::only_once<Desc> && !std::is_same_v<Desc, pi_buffer_map_desc>) {
            auto copy = std::make_unique<Desc>(valid);
            auto waits = std::make_unique<pi_event[]>(1);
            waits[0] = gate;
            pi_event event = nullptr;
            require_success(
                Description<Desc>::enqueue(samples.queue(), copy.get(), 1, waits.get(), &event),
                Description<Desc>::name);
            events.emplace_back(event);
            std::memset(static_cast<void *>(copy.get()), 0xA5, sizeof(Desc));
            std::memset(static_cast<void *>(waits.get()), 0xA5, sizeof(pi_event));
        }
    });
    bench.signal(gate);
    for (const Event &event : events)
        bench.wait(event, "a command whose descriptor is gone");
}

LAW("errors", "buffers are created as described, or not at all") {
    pi_mem_buffer_desc valid = describe<pi_mem_buffer_desc>();
    valid.size = 64;
    check_descriptor("piMemBufferCreate", valid, offsetof(pi_mem_buffer_desc, flags),
                     [&](const pi_mem_buffer_desc *desc) {
                         Mem mem;
                         return piMemBufferCreate(bench.context(), bench.device(), desc, mem.out());
                     });
    require_error(piMemBufferCreate(bench.context(), bench.device(), &valid, nullptr),
                  PI_ERROR_INVALID_NULL_POINTER, "piMemBufferCreate with out_mem NULL");
    require_error(piEventCreateHost(bench.context(), nullptr), PI_ERROR_INVALID_NULL_POINTER,
                  "piEventCreateHost with out_event NULL");
    if (!bench.can(PI_CAPABILITY_VIEW))
        return;
    const Mem root = bench.make_buffer(256);
    pi_mem_partition_desc partition = describe<pi_mem_partition_desc>();
    partition.size = 64;
    check_descriptor("piMemBufferPartition", partition, offsetof(pi_mem_partition_desc, flags),
                     [&](const pi_mem_partition_desc *desc) {
                         Mem view;
                         return piMemBufferPartition(root, desc, view.out());
                     });
}

LAW("errors", "the output struct of the connection's info is written to its size") {
    const Place place = bench.place();
    std::vector<std::byte> bytes(sizeof(pi_memory_connection_info) + 64, std::byte{0xA5});
    auto &info = *reinterpret_cast<pi_memory_connection_info *>(bytes.data());
    const auto ask = [&](uint32_t struct_size) {
        std::fill(bytes.begin(), bytes.end(), std::byte{0xA5});
        info.struct_size = struct_size;
        info.type = PI_TYPE_MEMORY_CONNECTION_INFO;
        info.next = nullptr;
        return piGetMemoryConnectionInfo(place.device, place.context, place.device, place.context,
                                         nullptr, &info);
    };
    constexpr uint32_t whole = sizeof(pi_memory_connection_info);
    require_success(ask(whole), "piGetMemoryConnectionInfo");
    require_equal(info.connection, PI_MEMORY_CONNECTION_UNIFIED, "a place's own connection");
    require(std::memchr(info.reason, 0, sizeof info.reason) != nullptr, "the reason does not end");
    require(std::all_of(bytes.begin() + whole, bytes.end(),
                        [](std::byte b) { return b == std::byte{0xA5}; }),
            "more than the struct is written");
    // As a caller of an older and of a newer header.
    constexpr uint32_t older = offsetof(pi_memory_connection_info, bandwidth);
    require_success(ask(older), "piGetMemoryConnectionInfo of a shorter struct");
    require_equal(info.connection, PI_MEMORY_CONNECTION_UNIFIED, "the same in a shorter struct");
    require(std::all_of(bytes.begin() + older, bytes.end(),
                        [](std::byte b) { return b == std::byte{0xA5}; }),
            "more than the shorter struct is written");
    require_success(ask(whole + 64), "piGetMemoryConnectionInfo of a longer struct");
    require(std::all_of(bytes.begin() + whole, bytes.end(),
                        [](std::byte b) { return b == std::byte{0}; }),
            "what the plugin does not know of a longer struct is not zero");
    info.type = PI_TYPE_NONE;
    require_error(piGetMemoryConnectionInfo(place.device, place.context, place.device,
                                            place.context, nullptr, &info),
                  PI_ERROR_INVALID_DESCRIPTOR, "an output struct without its type");
}

LAW("errors", "functions of capabilities that a device does not have are unsupported") {
    const pi_context context = bench.context();
    const pi_device device = bench.device();
    // Those of the plugin: a device may lack what its plugin has, which only its own calls can tell.
    const auto plugin =
        get_info<uint64_t>(&piPluginGetInfo, bench.plugin(), PI_PLUGIN_INFO_CAPABILITIES);
    const auto lacks = [&](uint64_t capability) { return (plugin & capability) == 0; };
    const Mem mem = bench.make_buffer(256);
    const pi_result unsupported = PI_ERROR_UNSUPPORTED_FEATURE;
    if (lacks(PI_CAPABILITY_USM)) {
        pi_usm_desc desc = describe<pi_usm_desc>();
        desc.kind = PI_USM_DEVICE;
        desc.size = 64;
        require_untouched<void *>("piUsmAlloc", {unsupported}, [&](void **out) {
            return piUsmAlloc(context, device, &desc, out);
        });
    }
    if (lacks(PI_CAPABILITY_IMAGE)) {
        const pi_sampler_desc desc = describe<pi_sampler_desc>();
        require_untouched<pi_sampler>("piSamplerCreate", {unsupported}, [&](pi_sampler *out) {
            return piSamplerCreate(context, &desc, out);
        });
    }
    if (lacks(PI_CAPABILITY_PROGRAM)) {
        pi_program_desc desc = describe<pi_program_desc>();
        desc.format = PI_PROGRAM_FORMAT_OPENCL_C;
        desc.data = "";
        desc.size = 1;
        require_untouched<pi_program>("piProgramCreate", {unsupported}, [&](pi_program *out) {
            return piProgramCreate(context, &desc, out);
        });
    }
    if (lacks(PI_CAPABILITY_VIEW)) {
        pi_mem_partition_desc desc = describe<pi_mem_partition_desc>();
        desc.size = 64;
        require_untouched<pi_mem>("piMemBufferPartition", {unsupported}, [&](pi_mem *out) {
            return piMemBufferPartition(mem, &desc, out);
        });
    }
    if (lacks(PI_CAPABILITY_MEM_HOST_ACCESS))
        require_untouched<void *>("piMemGetHostPointer", {unsupported},
                                  [&](void **out) { return piMemGetHostPointer(mem, out); });
    if (lacks(PI_CAPABILITY_TIMESTAMP))
        require_untouched<uint64_t>(
            "piDeviceGetGlobalTimestamps", {unsupported},
            [&](uint64_t *out) { return piDeviceGetGlobalTimestamps(device, out, nullptr); });
    if (lacks(PI_CAPABILITY_NATIVE))
        require_untouched<pi_native_handle>(
            "piDeviceGetNativeHandle", {unsupported},
            [&](pi_native_handle *out) { return piDeviceGetNativeHandle(device, out); });
}

} // namespace
} // namespace pi::suite
