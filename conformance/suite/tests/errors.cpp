// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Failing calls: one code for one cause, a text on the calling thread, no output written, nothing
// half-done.

#include "checks.hpp"
#include "fixture.hpp"
#include "kernels.hpp"
#include "registry.hpp"

namespace pi::suite {
namespace {

template <typename Handle>
Handle as(void *object) {
    return reinterpret_cast<Handle>(object);
}

CONFORMANCE_TEST("errors", "the last error is its thread's own") {
    fixture.run_threads(8, [&](unsigned thread) {
        pi_result code = poison<pi_result>();
        const char *message = nullptr;
        require_success(piGetLastError(&code, &message), "piGetLastError");
        require(code == PI_SUCCESS && message != nullptr && message[0] == '\0',
                "a new thread's last error is ", result_name(code),
                ", should be PI_SUCCESS and \"\"");
        // Each thread fails in its own way, again and again.
        for (int round = 0; round < 200; ++round) {
            if (thread % 2 == 0)
                require_error(piMemRetain(nullptr), PI_ERROR_INVALID_MEM_OBJECT,
                              "piMemRetain of NULL");
            else
                require_error(piDeviceGetInfo(fixture.device(), 99999, 0, nullptr, nullptr),
                              {PI_ERROR_INVALID_ENUMERATION, PI_ERROR_INVALID_NULL_POINTER},
                              "piDeviceGetInfo of an unknown name");
        }
    });
}

CONFORMANCE_TEST("errors", "success leaves the last error as it is") {
    uint32_t count = 0;
    require_error(piMemRetain(nullptr), PI_ERROR_INVALID_MEM_OBJECT, "piMemRetain of NULL");
    const std::string before = last_error();
    require_success(piPlatformsGet(fixture.plugin(), 0, nullptr, &count), "piPlatformsGet");
    require_success(piDeviceRetain(fixture.device()), "piDeviceRetain");
    require_success(piDeviceRelease(fixture.device()), "piDeviceRelease");
    require_equal(last_error(), before, "the last error after calls that succeeded");
    require_success(piGetLastError(nullptr, nullptr), "piGetLastError with neither output");
}

CONFORMANCE_TEST("errors", "a list asked for with neither output is refused") {
    const auto check = [](pi_result result, const char *what) {
        require_error(result, PI_ERROR_INVALID_NULL_POINTER, what);
    };
    check(piPluginsGet(fixture.loader(), 0, nullptr, nullptr), "piPluginsGet");
    check(piPlatformsGet(fixture.plugin(), 0, nullptr, nullptr), "piPlatformsGet");
    check(piDevicesGet(fixture.platform(), PI_DEVICE_TYPE_ALL, 0, nullptr, nullptr),
          "piDevicesGet");
    check(piDeviceGetMemoryScopes(fixture.device(), 0, nullptr, nullptr),
          "piDeviceGetMemoryScopes");
}

CONFORMANCE_TEST("errors", "the handle NULL is refused by its kind, as the first argument") {
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
    require_error(piEventCreateHost(nullptr, nullptr, &event), PI_ERROR_INVALID_CONTEXT,
                  "piEventCreateHost");
    require_error(piQueueFlush(nullptr), PI_ERROR_INVALID_QUEUE, "piQueueFlush");
    require_error(piMemRelease(nullptr), PI_ERROR_INVALID_MEM_OBJECT, "piMemRelease");
    require_error(piProgramRetain(nullptr), PI_ERROR_INVALID_PROGRAM, "piProgramRetain");
    require_error(piKernelRetain(nullptr), PI_ERROR_INVALID_KERNEL, "piKernelRetain");
    require_error(piEventWait(nullptr, 0), PI_ERROR_INVALID_EVENT, "piEventWait");
    require_error(piSamplerRetain(nullptr), PI_ERROR_INVALID_SAMPLER, "piSamplerRetain");
    require_error(piUsmPoolRetain(nullptr), PI_ERROR_INVALID_USM_POOL, "piUsmPoolRetain");
}

CONFORMANCE_TEST("errors", "a handle of another kind is refused as the first argument") {
    const Queue queue = fixture.make_queue();
    const Mem mem = fixture.make_buffer(64);
    const Event host = fixture.make_host_event();
    const pi_context context = fixture.context();
    uint32_t count = 0;
    pi_event event = nullptr;
    require_error(piDevicesGet(as<pi_platform>(mem), PI_DEVICE_TYPE_ALL, 0, nullptr, &count),
                  PI_ERROR_INVALID_PLATFORM, "piDevicesGet of a buffer");
    require_error(piDeviceGetMemoryScopes(as<pi_device>(queue), 0, nullptr, &count),
                  PI_ERROR_INVALID_DEVICE, "piDeviceGetMemoryScopes of a queue");
    require_error(piContextRetain(as<pi_context>(mem)), PI_ERROR_INVALID_CONTEXT,
                  "piContextRetain of a buffer");
    require_error(piEventCreateHost(as<pi_context>(queue), nullptr, &event),
                  PI_ERROR_INVALID_CONTEXT, "piEventCreateHost in a queue");
    require_error(piQueueFlush(as<pi_queue>(context)), PI_ERROR_INVALID_QUEUE,
                  "piQueueFlush of a context");
    require_error(piMemRelease(as<pi_mem>(host)), PI_ERROR_INVALID_MEM_OBJECT,
                  "piMemRelease of an event");
    require_error(piEventWait(as<pi_event>(mem), 0), PI_ERROR_INVALID_EVENT,
                  "piEventWait for a buffer");
    fixture.signal(host);
}

CONFORMANCE_TEST("errors", "handles after the first are refused when NULL or of another kind") {
    const Queue queue = fixture.make_queue();
    const pi_context context = fixture.context();
    const pi_device device = fixture.device();
    auto buffer = pi::desc<pi_mem_buffer_desc>();
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

CONFORMANCE_TEST("errors", "buffers and views obey the rules of descriptors") {
    auto valid = pi::desc<pi_mem_buffer_desc>();
    valid.size = 64;
    check_descriptor("piMemBufferCreate", valid, offsetof(pi_mem_buffer_desc, flags),
                     [&](const pi_mem_buffer_desc *desc) {
                         return try_create<pi_mem>([&](pi_mem *out) {
                             return piMemBufferCreate(fixture.context(), fixture.device(), desc,
                                                      out);
                         });
                     });
    require_error(piMemBufferCreate(fixture.context(), fixture.device(), &valid, nullptr),
                  PI_ERROR_INVALID_NULL_POINTER, "piMemBufferCreate with out_mem NULL");
    require_error(piEventCreateHost(fixture.context(), nullptr, nullptr),
                  PI_ERROR_INVALID_NULL_POINTER, "piEventCreateHost with out_event NULL");
    if (!fixture.can(PI_CAPABILITY_VIEW))
        return;
    const Mem root = fixture.make_buffer(256);
    auto partition = pi::desc<pi_mem_partition_desc>();
    partition.size = 64;
    check_descriptor("piMemBufferPartition", partition, offsetof(pi_mem_partition_desc, flags),
                     [&](const pi_mem_partition_desc *desc) {
                         return try_create<pi_mem>(
                             [&](pi_mem *out) { return piMemBufferPartition(root, desc, out); });
                     });
    require_error(piMemBufferPartition(root, &partition, nullptr), PI_ERROR_INVALID_NULL_POINTER,
                  "piMemBufferPartition with out_mem NULL");
}

CONFORMANCE_TEST("program", "a program of wrong bytes is refused in every format") {
    fixture.need(PI_CAPABILITY_PROGRAM, "PI_CAPABILITY_PROGRAM");
    const auto formats =
        get_info<uint32_t>(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_PROGRAM_FORMATS);
    const std::string bytes(256, '#'), no_file = "/no/such/library.so";
    for (pi_program_format format = PI_PROGRAM_FORMAT_OPENCL_C;
         format <= PI_PROGRAM_FORMAT_NATIVE_LIBRARY; ++format) {
        // A table is a struct of the application, which the plugin must trust.
        if ((formats >> format & 1) == 0 || format == PI_PROGRAM_FORMAT_NATIVE_TABLE)
            continue;
        for (const std::string &data : {bytes, no_file}) {
            auto desc = pi::desc<pi_program_desc>();
            desc.format = format;
            desc.data = data.c_str();
            desc.size = data.size();
            Program program;
            const pi_result created = piProgramCreate(fixture.context(), &desc, program.out());
            require_error(created == PI_SUCCESS ? piProgramBuild(program, nullptr) : created,
                          {PI_ERROR_INVALID_BINARY, PI_ERROR_BUILD_FAILED}, "a program of format ",
                          format, " and wrong bytes");
        }
    }
}

CONFORMANCE_TEST("errors", "the output struct of the connection's info is written to its size") {
    const Place place = fixture.place();
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
    // As called with an older and with a newer header.
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
    for (const uint32_t bad : {0u, 8u, static_cast<uint32_t>(sizeof(pi_struct_header)) - 1})
        require_error(ask(bad), PI_ERROR_INVALID_DESCRIPTOR, "an output struct of ", bad, " bytes");
    info.struct_size = whole;
    info.type = PI_TYPE_NONE;
    require_error(piGetMemoryConnectionInfo(place.device, place.context, place.device,
                                            place.context, nullptr, &info),
                  PI_ERROR_INVALID_DESCRIPTOR, "an output struct without its type");
}

CONFORMANCE_TEST("errors", "structs chained to an output struct are refused or left unchanged") {
    const Place place = fixture.place();
    struct {
        pi_struct_header header;
        std::byte bytes[64];
    } chained;
    std::memset(&chained, 0xA5, sizeof chained);
    chained.header = {sizeof chained, 0x7FFF0000u, nullptr};
    auto info = pi::desc<pi_memory_connection_info>();
    info.next = &chained;
    const pi_memory_connection_info before = info;
    const auto ask = [&] {
        return piGetMemoryConnectionInfo(place.device, place.context, place.device, place.context,
                                         nullptr, &info);
    };
    require_error(ask(), PI_ERROR_UNSUPPORTED_FEATURE, "an unknown chained output struct");
    require(same(info, before), "an output struct was written, although the call failed");
    chained.header.type |= PI_TYPE_MAY_IGNORE_BIT;
    const auto as_it_was = chained;
    require_success(ask(), "an unknown chained output struct that may be ignored");
    require_equal(info.connection, PI_MEMORY_CONNECTION_UNIFIED, "a place's own connection");
    require(info.next == &chained, "the chain of an output struct was changed");
    require(same(chained, as_it_was), "a chained output struct that was ignored was written");
}

// Calls that need a capability which the device lacks. Where its plugin has it for other devices,
// the error may be that of an invalid argument.
class Lacking {
public:
    explicit Lacking(Fixture &fixture)
        : device_(fixture.capabilities()),
          plugin_(get_info<uint64_t>(&piPluginGetInfo, fixture.plugin(),
                                     PI_PLUGIN_INFO_CAPABILITIES)) {}

    /// call(out) fails and leaves its output, if the device lacks the capability.
    template <typename Output, typename Call>
    void refused(uint64_t capability, const char *name, Call &&call) const {
        static constexpr std::initializer_list<pi_result> unsupported{PI_ERROR_UNSUPPORTED_FEATURE};
        static constexpr std::initializer_list<pi_result> or_invalid{
            PI_ERROR_UNSUPPORTED_FEATURE, PI_ERROR_INVALID_VALUE, PI_ERROR_INVALID_ENUMERATION,
            PI_ERROR_INVALID_OPERATION, PI_ERROR_INVALID_DEVICE};
        if ((device_ & capability) == 0)
            require_untouched<Output>(name, (plugin_ & capability) == 0 ? unsupported : or_invalid,
                                      call);
    }

private:
    uint64_t device_, plugin_;
};

CONFORMANCE_TEST("errors",
                 "functions of capabilities that a device does not have are unsupported") {
    const pi_context context = fixture.context();
    const pi_device device = fixture.device();
    const Lacking lacking(fixture);
    const Mem mem = fixture.make_buffer(256);
    const Queue queue = fixture.make_queue();
    const Event event = fixture.barrier(queue);
    auto usm = pi::desc<pi_usm_desc>();
    usm.kind = PI_USM_DEVICE;
    usm.size = 64;
    lacking.refused<void *>(PI_CAPABILITY_USM, "piUsmAlloc",
                            [&](void **out) { return piUsmAlloc(context, device, &usm, out); });
    const auto pool = pi::desc<pi_usm_pool_desc>();
    lacking.refused<pi_usm_pool>(PI_CAPABILITY_USM_POOL, "piUsmPoolCreate", [&](pi_usm_pool *out) {
        return piUsmPoolCreate(context, device, &pool, out);
    });
    const auto sampler = pi::desc<pi_sampler_desc>();
    lacking.refused<pi_sampler>(PI_CAPABILITY_IMAGE, "piSamplerCreate", [&](pi_sampler *out) {
        return piSamplerCreate(context, &sampler, out);
    });
    auto program_desc = pi::desc<pi_program_desc>();
    program_desc.format = PI_PROGRAM_FORMAT_OPENCL_C;
    program_desc.data = "";
    program_desc.size = 1;
    lacking.refused<pi_program>(PI_CAPABILITY_PROGRAM, "piProgramCreate", [&](pi_program *out) {
        return piProgramCreate(context, &program_desc, out);
    });
    auto part = pi::desc<pi_mem_partition_desc>();
    part.size = 64;
    lacking.refused<pi_mem>(PI_CAPABILITY_VIEW, "piMemBufferPartition",
                            [&](pi_mem *out) { return piMemBufferPartition(mem, &part, out); });
    lacking.refused<void *>(PI_CAPABILITY_MEM_HOST_ACCESS, "piMemGetHostPointer",
                            [&](void **out) { return piMemGetHostPointer(mem, out); });
    auto host_memory = pi::desc<pi_mem_import_desc>();
    alignas(4096) static std::byte page[4096];
    host_memory.size = sizeof page;
    host_memory.handle.type = PI_EXTERNAL_HOST_POINTER;
    host_memory.handle.pointer = page;
    lacking.refused<pi_mem>(PI_CAPABILITY_MEM_IMPORT, "piMemImport", [&](pi_mem *out) {
        return piMemImport(context, device, &host_memory, out);
    });
    lacking.refused<uint64_t>(
        PI_CAPABILITY_TIMESTAMP, "piDeviceGetGlobalTimestamps",
        [&](uint64_t *out) { return piDeviceGetGlobalTimestamps(device, out, nullptr); });
    auto partition = pi::desc<pi_device_partition_desc>();
    partition.kind = PI_PARTITION_EQUALLY;
    partition.count = 1;
    lacking.refused<uint32_t>(PI_CAPABILITY_PARTITION, "piDevicePartition", [&](uint32_t *out) {
        return piDevicePartition(device, &partition, 0, nullptr, out);
    });
    using Native = pi_native_handle;
    constexpr uint64_t native = PI_CAPABILITY_NATIVE;
    lacking.refused<Native>(native, "piDeviceGetNativeHandle",
                            [&](Native *out) { return piDeviceGetNativeHandle(device, out); });
    lacking.refused<Native>(native, "piContextGetNativeHandle", [&](Native *out) {
        return piContextGetNativeHandle(context, device, out);
    });
    lacking.refused<Native>(native, "piQueueGetNativeHandle",
                            [&](Native *out) { return piQueueGetNativeHandle(queue, out); });
    lacking.refused<Native>(native, "piMemGetNativeHandle",
                            [&](Native *out) { return piMemGetNativeHandle(mem, device, out); });
    lacking.refused<Native>(native, "piEventGetNativeHandle",
                            [&](Native *out) { return piEventGetNativeHandle(event, out); });
    fixture.wait(event);
    if (!has_kernels(fixture))
        return;
    const Program program = make_program(fixture);
    lacking.refused<Native>(native, "piProgramGetNativeHandle", [&](Native *out) {
        return piProgramGetNativeHandle(program, device, out);
    });
    const pi_program parts[] = {program};
    auto link = pi::desc<pi_program_link_desc>();
    link.program_count = 1;
    link.programs = parts;
    lacking.refused<pi_program>(PI_CAPABILITY_PROGRAM_LINK, "piProgramLink", [&](pi_program *out) {
        return piProgramLink(context, &link, out);
    });
    if (!fixture.can(PI_CAPABILITY_PROGRAM_LINK))
        require_error(piProgramCompile(program, nullptr),
                      {PI_ERROR_UNSUPPORTED_FEATURE, PI_ERROR_INVALID_OPERATION},
                      "piProgramCompile on a device that does not link");
}

} // namespace
} // namespace pi::suite
