// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layer validate: arguments of create calls and queries.

#include "misuse.hpp"

using namespace layer_test;

namespace {

/// A device outside the machine's context.
pi_device make_sub_device(const Machine &machine) {
    auto desc = pi::desc<pi_device_partition_desc>();
    desc.kind = PI_PARTITION_EQUALLY;
    desc.count = 1;
    pi_device made = nullptr;
    uint32_t count = 0;
    OK(piDevicePartition(machine.device, &desc, 1, &made, &count));
    return made;
}

} // namespace

TEST_CASE("validate: misdescribed contexts and queues do not reach the plugin") {
    const Machine machine(counted());
    const pi_device twice[] = {machine.device, machine.device};
    const pi_device none = nullptr;
    auto context = pi::desc<pi_context_desc>();
    context.device_count = 1;
    context.devices = &machine.device;
    pi_context out = nullptr;
    check_misuses<pi_context_desc>(
        machine, "piContextCreate", context,
        [&](const auto *desc) { return piContextCreate(machine.platform, desc, &out); },
        {{PI_ERROR_INVALID_SIZE, "desc->device_count is 0",
          [](auto &desc) { desc.device_count = 0; }},
         {PI_ERROR_INVALID_NULL_POINTER, "desc->devices is NULL, but its count is 1",
          [](auto &desc) { desc.devices = nullptr; }},
         {PI_ERROR_INVALID_DEVICE, "desc->devices[0]: NULL",
          [&](auto &desc) { desc.devices = &none; }},
         {PI_ERROR_INVALID_DEVICE, "as is desc->devices[0]", [&](auto &desc) {
              desc.device_count = 2;
              desc.devices = twice;
          }}});
    check_refused(machine, "piContextCreate", PI_ERROR_INVALID_NULL_POINTER, "out_context is NULL",
                  [&] { return piContextCreate(machine.platform, &context, nullptr); });

    const pi_device other = make_sub_device(machine);
    pi_queue queue = nullptr;
    check_refused(machine, "piQueueCreate", PI_ERROR_INVALID_DEVICE,
                  "one of the 1 devices of context",
                  [&] { return piQueueCreate(machine.context, other, nullptr, &queue); });
    check_refused(machine, "piQueueCreate", PI_ERROR_INVALID_DEVICE, "device is NULL",
                  [&] { return piQueueCreate(machine.context, nullptr, nullptr, &queue); });
    auto flags = pi::desc<pi_queue_desc>();
    flags.flags = 1 << 4;
    check_refused(machine, "piQueueCreate", PI_ERROR_UNSUPPORTED_FEATURE,
                  "desc->flags is 0x10, with the unknown bits 0x10; known here are 0xf",
                  [&] { return piQueueCreate(machine.context, machine.device, &flags, &queue); });
    pi_memory_connection connection = 0;
    check_refused(machine, "piGetMemoryConnection", PI_ERROR_INVALID_DEVICE, "dst_device is 0x",
                  [&] {
                      return piGetMemoryConnection(machine.device, machine.context, other,
                                                   machine.context, &connection);
                  });
    check_refused(machine, "piGetMemoryConnection", PI_ERROR_INVALID_NULL_POINTER,
                  "out_connection is NULL", [&] {
                      return piGetMemoryConnection(machine.device, machine.context, machine.device,
                                                   machine.context, nullptr);
                  });
    auto query = pi::desc<pi_memory_connection_query>();
    auto info = pi::desc<pi_memory_connection_info>();
    const auto ask = [&](const auto *one) {
        return piGetMemoryConnectionInfo(machine.device, machine.context, machine.device,
                                         machine.context, one, &info);
    };
    OK(ask(&query));
    OK(ask(static_cast<pi_memory_connection_query *>(nullptr)));
    query.kind = 6;
    check_refused(machine, "piGetMemoryConnectionInfo", PI_ERROR_INVALID_ENUMERATION,
                  "query->kind is 6; PI_MEMORY_KIND_BUFFER (0)", [&] { return ask(&query); });
    info.struct_size = 8;
    check_refused(machine, "piGetMemoryConnectionInfo", PI_ERROR_INVALID_DESCRIPTOR,
                  "out_info->struct_size is 8",
                  [&] { return ask(static_cast<pi_memory_connection_query *>(nullptr)); });
    OK(piDeviceRelease(other));
}

TEST_CASE("validate: misdescribed buffers, views and imports do not reach the plugin") {
    const Machine machine(counted());
    static unsigned char bytes[64];
    pi_mem out = nullptr;
    using Buffer = pi_mem_buffer_desc;
    auto buffer = pi::desc<Buffer>();
    buffer.size = 64;
    auto layout = pi::desc<pi_mem_layout_desc>();
    const uint64_t extents[] = {4, 4};
    layout.rank = 2;
    layout.element_size = 4;
    layout.extents = extents;
    const auto create = [&](const Buffer *desc) {
        return piMemBufferCreate(machine.context, machine.device, desc, &out);
    };
    Buffer laid_out = buffer;
    laid_out.next = &layout;
    laid_out.scope = 1; // host.scratchpad
    OK(create(&laid_out));
    OK(piMemRelease(out));
    const auto with_layout = [&](pi_result code, const char *words, auto spoil) {
        return Misuse<Buffer>{code, words, [&, spoil](Buffer &desc) {
                                  static pi_mem_layout_desc spoiled;
                                  spoiled = layout;
                                  spoil(spoiled);
                                  desc.next = &spoiled;
                              }};
    };
    static const uint32_t separators[] = {2};
    check_misuses<Buffer>(
        machine, "piMemBufferCreate", buffer, create,
        {{PI_ERROR_INVALID_SIZE, "desc->size is 0 bytes", [](Buffer &desc) { desc.size = 0; }},
         {PI_ERROR_INVALID_ALIGNMENT, "desc->alignment is 24; a power of two",
          [](Buffer &desc) { desc.alignment = 24; }},
         {PI_ERROR_INVALID_NULL_POINTER, "desc->host_ptr is NULL",
          [](Buffer &desc) { desc.flags = PI_MEM_USE_HOST_PTR; }},
         {PI_ERROR_INVALID_VALUE, "desc->host_ptr is 0x",
          [](Buffer &desc) { desc.host_ptr = bytes; }},
         {PI_ERROR_INVALID_VALUE, "desc->flags is 0xc, with PI_MEM_COPY_HOST_PTR and",
          [](Buffer &desc) {
              desc.flags = PI_MEM_COPY_HOST_PTR | PI_MEM_USE_HOST_PTR;
              desc.host_ptr = bytes;
          }},
         {PI_ERROR_INVALID_SIZE, "goes past the end of the address space",
          [](Buffer &desc) {
              desc.flags = PI_MEM_COPY_HOST_PTR;
              desc.host_ptr = bytes;
              desc.size = UINT64_MAX;
          }},
         with_layout(PI_ERROR_INVALID_VALUE, "desc->next->rank is 9; 1 to 8",
                     [](auto &one) { one.rank = 9; }),
         with_layout(PI_ERROR_INVALID_SIZE, "desc->next->element_size is 0",
                     [](auto &one) { one.element_size = 0; }),
         with_layout(PI_ERROR_INVALID_SIZE, "desc->size is 64; the extents of the layout hold 128",
                     [](auto &one) { one.element_size = 8; }),
         with_layout(PI_ERROR_INVALID_NULL_POINTER, "desc->next->extents is NULL",
                     [](auto &one) { one.extents = nullptr; }),
         with_layout(PI_ERROR_INVALID_VALUE, "desc->next->axis_separators[0] is 2", [](auto &one) {
             one.axis_separator_count = 1;
             one.axis_separators = separators;
         })});
    check_refused(
        machine, "piMemBufferCreate", PI_ERROR_INVALID_NULL_POINTER, "out_mem is NULL",
        [&] { return piMemBufferCreate(machine.context, machine.device, &buffer, nullptr); });

    buffer.flags = PI_MEM_READ_ONLY;
    OK(create(&buffer));
    const pi_mem mem = out;
    auto part = pi::desc<pi_mem_partition_desc>();
    part.size = 32;
    check_misuses<pi_mem_partition_desc>(
        machine, "piMemBufferPartition", part,
        [&](const auto *desc) { return piMemBufferPartition(mem, desc, &out); },
        {{PI_ERROR_INVALID_SIZE, "desc->offset is 33; with size 32",
          [](auto &desc) { desc.offset = 33; }},
         {PI_ERROR_INVALID_SIZE, "desc->size is 0 bytes", [](auto &desc) { desc.size = 0; }},
         {PI_ERROR_INVALID_VALUE, "desc->flags is 0x2; the parent's 0x1",
          [](auto &desc) { desc.flags = PI_MEM_WRITE_ONLY; }}});
    check_refused(machine, "piMemFlush", PI_ERROR_INVALID_SIZE, "offset is 60; with size 8",
                  [&] { return piMemFlush(mem, 60, 8); });
    check_refused(machine, "piMemInvalidate", PI_ERROR_INVALID_SIZE, "size is 0 bytes",
                  [&] { return piMemInvalidate(mem, 0, 0); });
    auto exported = pi::desc<pi_mem_export_desc>();
    exported.external_type = 7;
    pi_external_handle handle{};
    check_refused(machine, "piMemExport", PI_ERROR_INVALID_ENUMERATION, "desc->external_type is 7",
                  [&] { return piMemExport(mem, &exported, &handle); });

    auto import = pi::desc<pi_mem_import_desc>();
    import.size = 64;
    import.handle.type = PI_EXTERNAL_HOST_POINTER;
    import.handle.pointer = bytes;
    check_misuses<pi_mem_import_desc>(
        machine, "piMemImport", import,
        [&](const auto *desc) { return piMemImport(machine.context, machine.device, desc, &out); },
        {{PI_ERROR_INVALID_ENUMERATION, "desc->handle.type is 0",
          [](auto &desc) { desc.handle.type = 0; }},
         {PI_ERROR_INVALID_NULL_POINTER, "desc->handle.pointer is NULL",
          [](auto &desc) { desc.handle.pointer = nullptr; }},
         {PI_ERROR_INVALID_SIZE, "desc->size is 0 bytes", [](auto &desc) { desc.size = 0; }},
         {PI_ERROR_INVALID_VALUE, "desc->own is 1", [](auto &desc) { desc.own = 1; }},
         {PI_ERROR_INVALID_SIZE, "desc->offset is 18446744073709551615",
          [](auto &desc) { desc.offset = UINT64_MAX; }}});
    OK(piMemRelease(mem));
}

TEST_CASE("validate: misdescribed USM, pools and pinned memory do not reach the plugin") {
    const Machine machine(counted());
    void *pointer = nullptr;
    auto pool_desc = pi::desc<pi_usm_pool_desc>();
    pool_desc.kind = PI_USM_DEVICE;
    pi_usm_pool pool = nullptr;
    OK(piUsmPoolCreate(machine.context, machine.device, &pool_desc, &pool));
    const pi_context context = machine.make_context();
    pi_usm_pool another = nullptr;
    OK(piUsmPoolCreate(context, machine.device, &pool_desc, &another));
    auto usm = pi::desc<pi_usm_desc>();
    usm.kind = PI_USM_SHARED;
    usm.size = 64;
    check_misuses<pi_usm_desc>(
        machine, "piUsmAlloc", usm,
        [&](const auto *desc) {
            return piUsmAlloc(machine.context, machine.device, desc, &pointer);
        },
        {{PI_ERROR_INVALID_ENUMERATION, "desc->kind is 0; PI_USM_HOST (1)",
          [](auto &desc) { desc.kind = 0; }},
         {PI_ERROR_INVALID_SIZE, "desc->size is 0 bytes", [](auto &desc) { desc.size = 0; }},
         {PI_ERROR_INVALID_ALIGNMENT, "desc->alignment is 3",
          [](auto &desc) { desc.alignment = 3; }},
         {PI_ERROR_INVALID_USM_POOL, "PI_USM_DEVICE (2), but desc->kind is PI_USM_SHARED (3)",
          [&](auto &desc) { desc.pool = pool; }},
         {PI_ERROR_INVALID_USM_POOL, "desc->pool is of context 0x",
          [&](auto &desc) { desc.pool = another; }}});
    check_refused(machine, "piUsmAlloc", PI_ERROR_INVALID_DEVICE,
                  "device is NULL, but desc->kind is PI_USM_SHARED (3)",
                  [&] { return piUsmAlloc(machine.context, nullptr, &usm, &pointer); });
    check_refused(machine, "piUsmAlloc", PI_ERROR_INVALID_NULL_POINTER, "out_pointer is NULL",
                  [&] { return piUsmAlloc(machine.context, machine.device, &usm, nullptr); });
    usm.kind = PI_USM_HOST;
    OK(piUsmAlloc(machine.context, nullptr, &usm, &pointer));
    OK(piUsmFree(machine.context, pointer));
    check_refused(
        machine, "piUsmPoolCreate", PI_ERROR_INVALID_NULL_POINTER, "out_pool is NULL",
        [&] { return piUsmPoolCreate(machine.context, machine.device, &pool_desc, nullptr); });
    pool_desc.flags = 1;
    check_refused(
        machine, "piUsmPoolCreate", PI_ERROR_UNSUPPORTED_FEATURE, "desc->flags is 0x1",
        [&] { return piUsmPoolCreate(machine.context, machine.device, &pool_desc, &pool); });
    char byte = 0;
    const auto pin = [&](pi_result code, const char *words, void *at, uint64_t size,
                         uint64_t flags) {
        check_refused(machine, "piUsmHostRegister", code, words,
                      [&] { return piUsmHostRegister(machine.context, at, size, flags); });
    };
    pin(PI_ERROR_INVALID_NULL_POINTER, "pointer is NULL", nullptr, 1, 0);
    pin(PI_ERROR_INVALID_SIZE, "size is 0 bytes", &byte, 0, 0);
    pin(PI_ERROR_INVALID_SIZE, "past the end of the address space", &byte, UINT64_MAX, 0);
    pin(PI_ERROR_UNSUPPORTED_FEATURE, "flags is 0x1", &byte, 1, 1);
    OK(piUsmPoolRelease(pool));
    OK(piUsmPoolRelease(another));
    OK(piContextRelease(context));
}

TEST_CASE("validate: misdescribed programs, samplers and sub-devices do not reach the plugin") {
    const Machine machine(counted());
    pi_program program = nullptr;
    auto desc = pi::desc<pi_program_desc>();
    desc.format = PI_PROGRAM_FORMAT_OPENCL_C;
    desc.data = "";
    desc.size = 1;
    check_misuses<pi_program_desc>(
        machine, "piProgramCreate", desc,
        [&](const auto *one) { return piProgramCreate(machine.context, one, &program); },
        {{PI_ERROR_INVALID_ENUMERATION, "desc->format is 9", [](auto &one) { one.format = 9; }},
         {PI_ERROR_INVALID_NULL_POINTER, "desc->data is NULL",
          [](auto &one) { one.data = nullptr; }},
         {PI_ERROR_INVALID_SIZE, "desc->size is 0 bytes", [](auto &one) { one.size = 0; }}});
    program = make_program(machine);
    const pi_device other = make_sub_device(machine);
    const pi_device devices[] = {other, other};
    auto build = pi::desc<pi_program_build_desc>();
    build.device_count = 1;
    build.devices = devices;
    const auto try_build = [&] { return piProgramBuild(program, &build); };
    check_refused(machine, "piProgramBuild", PI_ERROR_INVALID_DEVICE, "desc->devices[0] is 0x",
                  try_build);
    build.device_count = 2;
    check_refused(machine, "piProgramBuild", PI_ERROR_INVALID_DEVICE, "each may be listed once",
                  try_build);
    OK(piProgramBuild(program, nullptr));
    pi_kernel kernel = nullptr;
    check_refused(machine, "piKernelCreate", PI_ERROR_INVALID_NULL_POINTER, "name is NULL",
                  [&] { return piKernelCreate(program, nullptr, nullptr, &kernel); });
    const pi_program parts[] = {program, program};
    auto link = pi::desc<pi_program_link_desc>();
    pi_program linked = nullptr;
    const auto try_link = [&] { return piProgramLink(machine.context, &link, &linked); };
    check_refused(machine, "piProgramLink", PI_ERROR_INVALID_SIZE, "desc->program_count is 0",
                  try_link);
    link.program_count = 2;
    link.programs = parts;
    check_refused(machine, "piProgramLink", PI_ERROR_INVALID_PROGRAM, "each may be listed once",
                  try_link);
    pi_specialization_constant constant{};
    constant.size = 4;
    check_refused(machine, "piProgramSetSpecializationConstants", PI_ERROR_INVALID_NULL_POINTER,
                  "constants[0].value is NULL",
                  [&] { return piProgramSetSpecializationConstants(program, 1, &constant); });
    check_refused(machine, "piProgramSetSpecializationConstants", PI_ERROR_INVALID_NULL_POINTER,
                  "constants is NULL, but its count is 3",
                  [&] { return piProgramSetSpecializationConstants(program, 3, nullptr); });
    OK(piProgramRelease(program));
    OK(piDeviceRelease(other));

    auto sampler = pi::desc<pi_sampler_desc>();
    pi_sampler made = nullptr;
    check_misuses<pi_sampler_desc>(
        machine, "piSamplerCreate", sampler,
        [&](const auto *one) { return piSamplerCreate(machine.context, one, &made); },
        {{PI_ERROR_INVALID_ENUMERATION, "desc->addressing is 5",
          [](auto &one) { one.addressing = 5; }},
         {PI_ERROR_INVALID_ENUMERATION, "desc->filter is 2", [](auto &one) { one.filter = 2; }},
         {PI_ERROR_INVALID_VALUE, "desc->normalized_coordinates is 2; 0 or 1",
          [](auto &one) { one.normalized_coordinates = 2; }},
         {PI_ERROR_INVALID_VALUE, "desc->addressing is PI_ADDRESSING_REPEAT (3)",
          [](auto &one) { one.addressing = PI_ADDRESSING_REPEAT; }}});

    const uint32_t counts[] = {1, 0};
    auto partition = pi::desc<pi_device_partition_desc>();
    partition.kind = PI_PARTITION_BY_COUNTS;
    partition.count = 1;
    partition.counts = counts;
    uint32_t count = 0;
    check_misuses<pi_device_partition_desc>(
        machine, "piDevicePartition", partition,
        [&](const auto *one) { return piDevicePartition(machine.device, one, 0, nullptr, &count); },
        {{PI_ERROR_INVALID_ENUMERATION, "desc->kind is 5; PI_PARTITION_EQUALLY",
          [](auto &one) { one.kind = 5; }},
         {PI_ERROR_INVALID_SIZE, "desc->count is 0", [](auto &one) { one.count = 0; }},
         {PI_ERROR_INVALID_SIZE, "desc->counts[1] is 0", [](auto &one) { one.count = 2; }},
         {PI_ERROR_INVALID_NULL_POINTER, "desc->counts is NULL",
          [](auto &one) { one.counts = nullptr; }}});
}

TEST_CASE("validate: queries without an output do not reach the plugin") {
    const Machine machine(counted());
    uint64_t size = 0;
    const auto ask = [&](const char *function, pi_result code, const char *words, auto &&call) {
        check_refused(machine, function, code, words, call);
    };
    ask("piDevicesGet", PI_ERROR_INVALID_NULL_POINTER, "out_count is NULL",
        [&] { return piDevicesGet(machine.platform, PI_DEVICE_TYPE_ALL, 0, nullptr, nullptr); });
    ask("piDeviceGetInfo", PI_ERROR_INVALID_NULL_POINTER, "out_size is NULL, and so is value",
        [&] { return piDeviceGetInfo(machine.device, PI_DEVICE_INFO_NAME, 0, nullptr, nullptr); });
    ask("piDeviceGetInfo", PI_ERROR_INVALID_ENUMERATION, "name is 43",
        [&] { return piDeviceGetInfo(machine.device, 43, 0, nullptr, &size); });
    ask("piQueueGetInfo", PI_ERROR_INVALID_ENUMERATION,
        "name is 5, which pi.h does not list for this function; its last name is 4",
        [&] { return piQueueGetInfo(machine.queue, 5, 0, nullptr, &size); });
    const void *table = nullptr;
    ask("piPluginGetExtension", PI_ERROR_INVALID_NULL_POINTER, "name is NULL",
        [&] { return piPluginGetExtension(machine.plugin, nullptr, 0, &table); });
    ask("piPluginGetExtension", PI_ERROR_INVALID_NULL_POINTER, "out_table is NULL",
        [&] { return piPluginGetExtension(machine.plugin, "a", 0, nullptr); });
    ask("piPlatformGetBackendOption", PI_ERROR_INVALID_NULL_POINTER, "frontend_option is NULL",
        [&] { return piPlatformGetBackendOption(machine.platform, nullptr, 0, nullptr, &size); });
    uint32_t index = 0;
    pi_program_binary binary{nullptr, PI_PROGRAM_FORMAT_OPENCL_C, 0};
    ask("piDeviceSelectBinary", PI_ERROR_INVALID_NULL_POINTER, "binaries[0].target is NULL",
        [&] { return piDeviceSelectBinary(machine.device, 1, &binary, &index); });
    ask("piDeviceSelectBinary", PI_ERROR_INVALID_NULL_POINTER, "binaries is NULL",
        [&] { return piDeviceSelectBinary(machine.device, 1, nullptr, &index); });
    binary.target = "native";
    ask("piDeviceSelectBinary", PI_ERROR_INVALID_NULL_POINTER, "out_index is NULL",
        [&] { return piDeviceSelectBinary(machine.device, 1, &binary, nullptr); });
    binary.reserved = 1;
    ask("piDeviceSelectBinary", PI_ERROR_UNSUPPORTED_FEATURE, "binaries[0].reserved is 1",
        [&] { return piDeviceSelectBinary(machine.device, 1, &binary, &index); });
    auto native = pi::desc<pi_native_desc>();
    native.handle.count = 7;
    pi_context context = nullptr;
    ask("piContextCreateWithNativeHandle", PI_ERROR_INVALID_NATIVE_HANDLE,
        "desc->handle.count is 7; 1 to 6",
        [&] { return piContextCreateWithNativeHandle(machine.platform, &native, &context); });

    const pi_event event = machine.make_host_event();
    ask("piEventSignalHost", PI_ERROR_INVALID_VALUE, "result is 3",
        [&] { return piEventSignalHost(event, 3); });
    ask("piEventSetCallback", PI_ERROR_INVALID_NULL_POINTER, "callback is NULL",
        [&] { return piEventSetCallback(event, nullptr, nullptr); });
    ask("piEventCreateHost", PI_ERROR_INVALID_NULL_POINTER, "out_event is NULL",
        [&] { return piEventCreateHost(machine.context, nullptr, nullptr); });
    uint64_t time = 0;
    OK(piDeviceGetGlobalTimestamps(machine.device, nullptr, &time));
    OK(piEventRelease(event));
}

TEST_CASE("validate: unknown header types are left to the plugin") {
    const Machine machine(counted());
    auto desc = pi::desc<pi_mem_buffer_desc>();
    desc.size = 64;
    pi_mem mem = nullptr;
    // A descriptor of an extension, one that may be ignored, and one that the plugin refuses.
    pi_struct_header chained = {sizeof chained, PI_TYPE_MAY_IGNORE_BIT | 1234, nullptr};
    desc.next = &chained;
    OK(piMemBufferCreate(machine.context, machine.device, &desc, &mem));
    OK(piMemRelease(mem));
    chained.type = 1234;
    const uint64_t before = machine.calls("piMemBufferCreate");
    CHECK(piMemBufferCreate(machine.context, machine.device, &desc, &mem) ==
          PI_ERROR_UNSUPPORTED_FEATURE);
    CHECK(machine.calls("piMemBufferCreate") == before + 1);
    // A caller of an older header has a smaller struct.
    struct {
        uint32_t struct_size;
        pi_struct_type type;
        const void *next;
        uint64_t flags;
        uint64_t size;
    } older = {sizeof older, PI_TYPE_MEM_BUFFER_DESC, nullptr, 0, 32};
    OK(piMemBufferCreate(machine.context, machine.device,
                         reinterpret_cast<const pi_mem_buffer_desc *>(&older), &mem));
    check_refused(machine, "piEnqueueMemBufferFill", PI_ERROR_INVALID_SIZE, "which has 32",
                  [&] { return machine.fill(mem, 1, 0, 33); });
    OK(piMemRelease(mem));
}
