// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layer validate: arguments of commands on buffers and USM, and of launches.

#include "misuse.hpp"

using namespace layer_test;

namespace {

constexpr uint64_t huge = UINT64_MAX;

/// A descriptor of a command on regions, which the test may change.
template <class Desc>
struct WithRegions {
    std::vector<pi_region> regions;
    Desc desc;

    explicit WithRegions(std::vector<pi_region> given)
        : regions(std::move(given)), desc(pi::desc<Desc>()) {
        desc.region_count = static_cast<uint32_t>(regions.size());
        desc.regions = regions.data();
    }
    /// A misuse in a region.
    Misuse<Desc> in(std::size_t index, pi_result code, const char *words,
                    std::function<void(pi_region &)> spoil) {
        return {code, words, [this, index, spoil](Desc &spoiled) {
                    spoiled_ = regions;
                    spoil(spoiled_[index]);
                    spoiled.regions = spoiled_.data();
                }};
    }

private:
    std::vector<pi_region> spoiled_;
};

} // namespace

TEST_CASE("validate: misdescribed reads do not reach the plugin") {
    const Machine machine(counted());
    const pi_mem mem = machine.make_buffer(64);
    Bytes host(256);
    WithRegions<pi_buffer_read_desc> valid(
        {linear(0, 0, 16), linear(16, 16, 16), linear(32, 32, 16)});
    valid.desc.mem = mem;
    valid.desc.host_ptr = host.data();
    using Desc = pi_buffer_read_desc;
    check_command<Desc>(
        machine, "piEnqueueMemBufferRead", piEnqueueMemBufferRead, valid.desc,
        {{PI_ERROR_INVALID_MEM_OBJECT, "desc->mem: NULL; a mem is needed",
          [](Desc &desc) { desc.mem = nullptr; }},
         {PI_ERROR_INVALID_NULL_POINTER, "desc->host_ptr is NULL",
          [](Desc &desc) { desc.host_ptr = nullptr; }},
         {PI_ERROR_INVALID_SIZE, "desc->region_count is 0; at least 1",
          [](Desc &desc) { desc.region_count = 0; }},
         {PI_ERROR_INVALID_NULL_POINTER, "desc->regions is NULL, but its count is 3",
          [](Desc &desc) { desc.regions = nullptr; }},
         valid.in(2, PI_ERROR_INVALID_SIZE,
                  "desc->regions[2].src_offset is 49; the region ends at byte 65, and desc->mem "
                  "has 64 bytes",
                  [](pi_region &region) { region.src_offset = 49; }),
         valid.in(1, PI_ERROR_INVALID_SIZE, "desc->regions[1].extent[0] is 0",
                  [](pi_region &region) { region.extent[0] = 0; }),
         valid.in(0, PI_ERROR_INVALID_SIZE, "desc->regions[0].src_pitch[0] is 15; at least 16",
                  [](pi_region &region) { region.src_pitch[0] = 15; }),
         valid.in(0, PI_ERROR_INVALID_SIZE, "desc->regions[0].dst_pitch[1] is 31; at least 32",
                  [](pi_region &region) {
                      region.extent[1] = 2;
                      region.dst_pitch[1] = 31;
                  }),
         valid.in(0, PI_ERROR_INVALID_SIZE, "desc->regions[0].extent[1] is 18446744073709551615",
                  [](pi_region &region) { region.extent[1] = huge; }),
         valid.in(0, PI_ERROR_INVALID_SIZE, "desc->regions[0].extent[2] is 1152921504606846976",
                  [](pi_region &region) { region.extent[2] = uint64_t{1} << 60; }),
         valid.in(0, PI_ERROR_INVALID_SIZE, "desc->regions[0].src_offset is 18446744073709551615",
                  [](pi_region &region) { region.src_offset = huge; }),
         valid.in(0, PI_ERROR_INVALID_SIZE, "past the end of the address space",
                  [](pi_region &region) { region.dst_offset = huge - 64; }),
         valid.in(1, PI_ERROR_INVALID_VALUE, "desc->regions[1] writes bytes that desc->regions[0]",
                  [](pi_region &region) { region.dst_offset = 15; }),
         valid.in(1, PI_ERROR_UNSUPPORTED_FEATURE, "desc->regions[1].reserved is 9",
                  [](pi_region &region) { region.reserved = 9; })});
    OK(piMemRelease(mem));
}

TEST_CASE("validate: an unused pitch may have any value") {
    const Machine machine(counted());
    Bytes bytes(64);
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<unsigned char>(i);
    const pi_mem mem = machine.make_buffer(bytes);
    const auto read = [&](const pi_region &region) {
        Bytes out(64);
        auto desc = pi::desc<pi_buffer_read_desc>();
        desc.flags = PI_COMMAND_BLOCKING;
        desc.mem = mem;
        desc.host_ptr = out.data();
        desc.region_count = 1;
        desc.regions = &region;
        OK(piEnqueueMemBufferRead(machine.queue, &desc, 0, nullptr, nullptr));
        return out;
    };
    pi_region row = linear(16, 8, 4);
    row.src_pitch[0] = row.dst_pitch[0] = huge;
    Bytes expected(64);
    for (std::size_t i = 0; i < 4; ++i)
        expected[8 + i] = bytes[16 + i];
    CHECK(read(row) == expected);
    row.src_pitch[0] = row.dst_pitch[0] = 0;
    row.src_pitch[1] = row.dst_pitch[1] = huge;
    CHECK(read(row) == expected);
    pi_region rows = linear(16, 8, 4);
    rows.extent[1] = 2;
    rows.src_pitch[0] = 20;
    rows.src_pitch[1] = huge;
    for (std::size_t i = 0; i < 4; ++i)
        expected[12 + i] = bytes[36 + i];
    CHECK(read(rows) == expected);
    OK(piMemRelease(mem));
}

TEST_CASE("validate: misdescribed writes and copies do not reach the plugin") {
    const Machine machine(counted());
    const pi_mem mem = machine.make_buffer(64);
    const pi_mem small = machine.make_buffer(32);
    auto part = pi::desc<pi_mem_partition_desc>();
    part.offset = 16;
    part.size = 32;
    pi_mem view = nullptr;
    OK(piMemBufferPartition(mem, &part, &view));
    const Bytes host(256);
    WithRegions<pi_buffer_write_desc> write({linear(0, 0, 16)});
    write.desc.mem = mem;
    write.desc.host_ptr = host.data();
    check_command<pi_buffer_write_desc>(
        machine, "piEnqueueMemBufferWrite", piEnqueueMemBufferWrite, write.desc,
        {{PI_ERROR_INVALID_NULL_POINTER, "desc->host_ptr is NULL",
          [](auto &desc) { desc.host_ptr = nullptr; }},
         write.in(0, PI_ERROR_INVALID_SIZE,
                  "desc->regions[0].dst_offset is 60; the region ends at byte 76, and desc->mem "
                  "has 64 bytes",
                  [](pi_region &region) { region.dst_offset = 60; })});

    WithRegions<pi_buffer_copy_desc> copy({linear(0, 0, 16)});
    copy.desc.src = mem;
    copy.desc.dst = small;
    check_command<pi_buffer_copy_desc>(
        machine, "piEnqueueMemBufferCopy", piEnqueueMemBufferCopy, copy.desc,
        {copy.in(0, PI_ERROR_INVALID_SIZE, "desc->dst has 32 bytes",
                 [](pi_region &region) { region.dst_offset = 17; }),
         copy.in(0, PI_ERROR_INVALID_SIZE, "desc->src has 64 bytes",
                 [](pi_region &region) { region.src_offset = 49; }),
         {PI_ERROR_MEM_COPY_OVERLAP,
          "desc->regions[0] copies bytes 0 to 15 of the storage to its bytes 0 to 15",
          [&](auto &desc) { desc.dst = mem; }},
         // Byte 16 of the root is the view's first byte.
         {PI_ERROR_MEM_COPY_OVERLAP, "to its bytes 16 to 31", [&](auto &desc) {
              static const pi_region region = linear(1, 0, 16);
              desc.regions = &region;
              desc.dst = view;
          }}});
    // Adjacent, interleaved or in views, nothing overlaps.
    OK(machine.copy(mem, view, {linear(0, 0, 16)}));
    pi_region columns = linear(0, 4, 4);
    columns.extent[1] = 8;
    columns.src_pitch[0] = columns.dst_pitch[0] = 8;
    OK(machine.copy(mem, mem, {columns}));
    OK(piQueueFinish(machine.queue));
    for (const pi_mem one : {mem, small, view})
        OK(piMemRelease(one));
}

TEST_CASE("validate: misdescribed fills and maps do not reach the plugin") {
    const Machine machine(counted());
    const pi_mem mem = machine.make_buffer(64);
    const uint32_t pattern = 7;
    auto fill = pi::desc<pi_buffer_fill_desc>();
    fill.mem = mem;
    fill.pattern = &pattern;
    fill.pattern_size = 4;
    fill.size = 16;
    check_command<pi_buffer_fill_desc>(
        machine, "piEnqueueMemBufferFill", piEnqueueMemBufferFill, fill,
        {{PI_ERROR_INVALID_NULL_POINTER, "desc->pattern is NULL",
          [](auto &desc) { desc.pattern = nullptr; }},
         {PI_ERROR_INVALID_SIZE, "desc->pattern_size is 3; a power of two from 1 to 128",
          [](auto &desc) { desc.pattern_size = 3; }},
         {PI_ERROR_INVALID_SIZE, "desc->pattern_size is 256",
          [](auto &desc) { desc.pattern_size = 256; }},
         {PI_ERROR_INVALID_SIZE, "desc->offset is 2; a multiple of pattern_size, 4",
          [](auto &desc) { desc.offset = 2; }},
         {PI_ERROR_INVALID_SIZE, "desc->size is 18; a multiple of pattern_size, 4",
          [](auto &desc) { desc.size = 18; }},
         {PI_ERROR_INVALID_SIZE, "desc->size is 0 bytes", [](auto &desc) { desc.size = 0; }},
         {PI_ERROR_INVALID_SIZE,
          "desc->offset is 52; with size 16 it goes past the end of "
          "desc->mem, which has 64",
          [](auto &desc) { desc.offset = 52; }}});

    void *pointer = nullptr;
    auto map = pi::desc<pi_buffer_map_desc>();
    map.flags = PI_MAP_READ;
    map.mem = mem;
    map.size = 16;
    map.out_pointer = &pointer;
    check_command<pi_buffer_map_desc>(
        machine, "piEnqueueMemBufferMap", piEnqueueMemBufferMap, map,
        {{PI_ERROR_INVALID_VALUE, "desc->flags is 0x1; at least one of PI_MAP_READ",
          [](auto &desc) { desc.flags = PI_COMMAND_BLOCKING; }},
         {PI_ERROR_INVALID_NULL_POINTER, "desc->out_pointer is NULL",
          [](auto &desc) { desc.out_pointer = nullptr; }},
         {PI_ERROR_INVALID_SIZE, "desc->offset is 18446744073709551615",
          [](auto &desc) { desc.offset = huge; }},
         {PI_ERROR_INVALID_SIZE, "desc->size is 0 bytes", [](auto &desc) { desc.size = 0; }}});
    // One is unmapped here, the other stays while misuses are tried.
    OK(piEnqueueMemBufferMap(machine.queue, &map, 0, nullptr, nullptr));
    OK(piQueueFinish(machine.queue));
    auto unmap = pi::desc<pi_unmap_desc>();
    unmap.mem = mem;
    unmap.pointer = pointer;
    check_command<pi_unmap_desc>(machine, "piEnqueueMemUnmap", piEnqueueMemUnmap, unmap,
                                 {{PI_ERROR_INVALID_NULL_POINTER, "desc->pointer is NULL",
                                   [](auto &desc) { desc.pointer = nullptr; }}});
    OK(piEnqueueMemUnmap(machine.queue, &unmap, 0, nullptr, nullptr));
    OK(piMemRelease(mem));
}

TEST_CASE("validate: misdescribed commands on USM do not reach the plugin") {
    const Machine machine(counted());
    auto usm = pi::desc<pi_usm_desc>();
    usm.kind = PI_USM_SHARED;
    usm.size = 64;
    void *pointer = nullptr;
    OK(piUsmAlloc(machine.context, machine.device, &usm, &pointer));
    auto *bytes = static_cast<char *>(pointer);
    Bytes host(64);
    WithRegions<pi_usm_copy_desc> copy({linear(0, 0, 16)});
    copy.desc.src = bytes;
    copy.desc.dst = host.data();
    check_command<pi_usm_copy_desc>(
        machine, "piEnqueueUsmCopy", piEnqueueUsmCopy, copy.desc,
        {{PI_ERROR_INVALID_NULL_POINTER, "desc->src is NULL",
          [](auto &desc) { desc.src = nullptr; }},
         {PI_ERROR_INVALID_NULL_POINTER, "desc->dst is NULL",
          [](auto &desc) { desc.dst = nullptr; }},
         {PI_ERROR_INVALID_SIZE, "ends at byte 16, and desc->src has 14 bytes",
          [&](auto &desc) { desc.src = bytes + 50; }},
         {PI_ERROR_MEM_COPY_OVERLAP, "desc->regions[0] copies bytes",
          [&](auto &desc) { desc.dst = bytes + 15; }},
         copy.in(0, PI_ERROR_INVALID_SIZE, "past the end of the address space",
                 [](pi_region &region) { region.dst_offset = huge - 16; })});

    const uint32_t pattern = 7;
    auto fill = pi::desc<pi_usm_fill_desc>();
    fill.pointer = bytes;
    fill.pattern = &pattern;
    fill.pattern_size = 4;
    fill.size = 16;
    check_command<pi_usm_fill_desc>(machine, "piEnqueueUsmFill", piEnqueueUsmFill, fill,
                                    {{PI_ERROR_INVALID_NULL_POINTER, "desc->pointer is NULL",
                                      [](auto &desc) { desc.pointer = nullptr; }},
                                     {PI_ERROR_MISALIGNED_POINTER, "a multiple of pattern_size, 4",
                                      [&](auto &desc) { desc.pointer = bytes + 2; }},
                                     {PI_ERROR_INVALID_SIZE, "desc->pattern_size is 0",
                                      [](auto &desc) { desc.pattern_size = 0; }},
                                     {PI_ERROR_INVALID_SIZE, "desc->size is 68; from pointer",
                                      [](auto &desc) { desc.size = 68; }}});

    auto prefetch = pi::desc<pi_usm_prefetch_desc>();
    prefetch.pointer = bytes;
    prefetch.size = 64;
    check_command<pi_usm_prefetch_desc>(
        machine, "piEnqueueUsmPrefetch", piEnqueueUsmPrefetch, prefetch,
        {{PI_ERROR_INVALID_SIZE, "desc->size is 65; from pointer",
          [](auto &desc) { desc.size = 65; }},
         {PI_ERROR_INVALID_SIZE, "desc->size is 0 bytes", [](auto &desc) { desc.size = 0; }}});
    auto advise = pi::desc<pi_usm_advise_desc>();
    advise.pointer = bytes;
    advise.size = 64;
    advise.advice = PI_USM_ADVICE_READ_MOSTLY;
    check_command<pi_usm_advise_desc>(
        machine, "piEnqueueUsmAdvise", piEnqueueUsmAdvise, advise,
        {{PI_ERROR_INVALID_ENUMERATION, "desc->advice is 6; PI_USM_ADVICE_READ_MOSTLY (1)",
          [](auto &desc) { desc.advice = 6; }}});

    void *other = nullptr;
    auto alloc = pi::desc<pi_usm_alloc_desc>();
    alloc.size = 16;
    alloc.out_pointer = &other;
    check_command<pi_usm_alloc_desc>(
        machine, "piEnqueueUsmAlloc", piEnqueueUsmAlloc, alloc,
        {{PI_ERROR_INVALID_NULL_POINTER, "desc->out_pointer is NULL",
          [](auto &desc) { desc.out_pointer = nullptr; }},
         {PI_ERROR_INVALID_ALIGNMENT, "desc->alignment is 48; a power of two",
          [](auto &desc) { desc.alignment = 48; }},
         {PI_ERROR_INVALID_SIZE, "desc->size is 0 bytes", [](auto &desc) { desc.size = 0; }}});
    auto free = pi::desc<pi_usm_free_desc>();
    free.pointer = other;
    check_command<pi_usm_free_desc>(machine, "piEnqueueUsmFree", piEnqueueUsmFree, free,
                                    {{PI_ERROR_INVALID_USM_POINTER, "8 bytes into the allocation",
                                      [&](auto &desc) { desc.pointer = bytes + 8; }}});
    check_refused(machine, "piUsmFree", PI_ERROR_INVALID_USM_POINTER, "pointer is ",
                  [&] { return piUsmFree(machine.context, bytes + 1); });
    const pi_context context = machine.make_context();
    check_refused(machine, "piUsmFree", PI_ERROR_INVALID_USM_POINTER, "it must be of context",
                  [&] { return piUsmFree(context, bytes); });
    OK(piUsmFree(machine.context, bytes));
    OK(piContextRelease(context));
}

TEST_CASE("validate: misdescribed launches do not reach the plugin") {
    const Machine machine(counted());
    const Kernel made = make_kernel(machine);
    const pi_mem mem = machine.make_buffer(64);
    const pi_context context = machine.make_context();
    auto sampler_desc = pi::desc<pi_sampler_desc>();
    pi_sampler another = nullptr;
    OK(piSamplerCreate(context, &sampler_desc, &another));
    const int value = 1;
    std::vector<pi_kernel_argument> arguments(2);
    arguments[0].kind = PI_ARGUMENT_BUFFER;
    arguments[0].mem = mem;
    arguments[1].kind = PI_ARGUMENT_VALUE;
    arguments[1].value = &value;
    arguments[1].size = sizeof value;
    auto valid = pi::desc<pi_kernel_launch_desc>();
    valid.kernel = made.kernel;
    valid.dimensions = 2;
    valid.global_size[0] = valid.global_size[1] = 4;
    valid.argument_count = 2;
    valid.arguments = arguments.data();
    using Desc = pi_kernel_launch_desc;
    std::vector<pi_kernel_argument> spoiled;
    const auto in = [&](std::size_t index, pi_result code, const char *words,
                        std::function<void(pi_kernel_argument &)> spoil) {
        return Misuse<Desc>{code, words, [&, index, spoil](Desc &desc) {
                                spoiled = arguments;
                                spoil(spoiled[index]);
                                desc.arguments = spoiled.data();
                            }};
    };
    check_command<Desc>(
        machine, "piEnqueueKernelLaunch", piEnqueueKernelLaunch, valid,
        {{PI_ERROR_INVALID_KERNEL, "desc->kernel: NULL; a kernel is needed",
          [](Desc &desc) { desc.kernel = nullptr; }},
         {PI_ERROR_INVALID_WORK_SIZE, "desc->dimensions is 4; 1 to 3",
          [](Desc &desc) { desc.dimensions = 4; }},
         {PI_ERROR_INVALID_WORK_SIZE, "desc->global_size[1] is 0; at least 1",
          [](Desc &desc) { desc.global_size[1] = 0; }},
         {PI_ERROR_INVALID_WORK_SIZE, "desc->global_size[1] is 4611686018427387905",
          [](Desc &desc) { desc.global_size[1] = (uint64_t{1} << 62) + 1; }},
         {PI_ERROR_INVALID_WORK_SIZE, "desc->local_size[0] is 0, but other axes",
          [](Desc &desc) { desc.local_size[1] = 2; }},
         {PI_ERROR_INVALID_ARGUMENTS, "desc->argument_count is 1; the kernel has 2 parameters",
          [](Desc &desc) { desc.argument_count = 1; }},
         {PI_ERROR_INVALID_NULL_POINTER, "desc->arguments is NULL, but its count is 2",
          [](Desc &desc) { desc.arguments = nullptr; }},
         in(0, PI_ERROR_INVALID_ARGUMENTS, "desc->arguments[0].kind is 7; PI_ARGUMENT_VALUE (1)",
            [](auto &argument) { argument.kind = 7; }),
         in(0, PI_ERROR_UNSUPPORTED_FEATURE, "desc->arguments[0].reserved is 1",
            [](auto &argument) { argument.reserved = 1; }),
         in(0, PI_ERROR_INVALID_ARGUMENTS,
            "desc->arguments[0].offset is 60; with size 8 it goes past the end of mem, which "
            "has 64 bytes",
            [](auto &argument) {
                argument.offset = 60;
                argument.size = 8;
            }),
         in(0, PI_ERROR_INVALID_ARGUMENTS, "desc->arguments[0].offset is 64",
            [](auto &argument) { argument.offset = 64; }),
         in(0, PI_ERROR_INVALID_ARGUMENTS, "desc->arguments[0].size is 4; for a NULL buffer",
            [](auto &argument) {
                argument.mem = nullptr;
                argument.size = 4;
            }),
         in(0, PI_ERROR_INVALID_MEM_OBJECT, "desc->arguments[0].mem is a buffer; an image",
            [](auto &argument) { argument.kind = PI_ARGUMENT_IMAGE; }),
         in(0, PI_ERROR_UNSUPPORTED_FEATURE, "desc->arguments[0].image_sampler is ",
            [&](auto &argument) { argument.image_sampler = another; }),
         in(1, PI_ERROR_INVALID_ARGUMENTS, "desc->arguments[1].size is 0 bytes",
            [](auto &argument) { argument.size = 0; }),
         in(1, PI_ERROR_INVALID_ARGUMENTS, "desc->arguments[1].value is NULL",
            [](auto &argument) { argument.value = nullptr; }),
         in(1, PI_ERROR_INVALID_SAMPLER, "desc->arguments[1].sampler is of context",
            [&](auto &argument) {
                argument.kind = PI_ARGUMENT_SAMPLER;
                argument.sampler = another;
                argument.size = 0;
            }),
         in(1, PI_ERROR_INVALID_ARGUMENTS, "desc->arguments[1].size is 0 bytes",
            [](auto &argument) {
                argument.kind = PI_ARGUMENT_LOCAL;
                argument.size = 0;
            })});
    // A query about a launch reads only its sizes.
    uint64_t local[3] = {};
    Desc query = valid;
    query.arguments = nullptr;
    OK(piKernelGetSuggestedLocalSize(machine.queue, &query, local));
    pi_kernel_argument gone{};
    gone.kind = PI_ARGUMENT_BUFFER;
    gone.mem = machine.make_buffer(16);
    OK(piMemRelease(gone.mem));
    query.argument_count = 1;
    query.arguments = &gone;
    OK(piKernelGetSuggestedLocalSize(machine.queue, &query, local));
    // an invalid address
    query.arguments = reinterpret_cast<const pi_kernel_argument *>(uintptr_t{64});
    OK(piKernelGetSuggestedLocalSize(machine.queue, &query, local));
    check_refused(machine, "piKernelGetSuggestedLocalSize", PI_ERROR_INVALID_NULL_POINTER,
                  "out_local_size is NULL",
                  [&] { return piKernelGetSuggestedLocalSize(machine.queue, &query, nullptr); });
    OK(piSamplerRelease(another));
    OK(piContextRelease(context));
    OK(piMemRelease(mem));
    OK(piKernelRelease(made.kernel));
    OK(piProgramRelease(made.program));
}

TEST_CASE("validate: commands without memory are checked, and variables") {
    const Machine machine(counted());
    auto function = pi::desc<pi_host_function_desc>();
    function.function = [](void *) {};
    check_command<pi_host_function_desc>(machine, "piEnqueueHostFunction", piEnqueueHostFunction,
                                         function,
                                         {{PI_ERROR_INVALID_NULL_POINTER, "desc->function is NULL",
                                           [](auto &desc) { desc.function = nullptr; }}});
    check_refused(machine, "piEnqueueTimestamp", PI_ERROR_INVALID_NULL_POINTER, "desc is NULL",
                  [&] { return piEnqueueTimestamp(machine.queue, nullptr, 0, nullptr, nullptr); });
    // For these, NULL means defaults.
    OK(piEnqueueBarrier(machine.queue, nullptr, 0, nullptr, nullptr));
    OK(piEnqueueEventsWait(machine.queue, nullptr, 0, nullptr, nullptr));
    auto barrier = pi::desc<pi_barrier_desc>();
    barrier.flags = 2;
    check_refused(machine, "piEnqueueBarrier", PI_ERROR_UNSUPPORTED_FEATURE,
                  "desc->flags is 0x2, with the unknown bits 0x2",
                  [&] { return piEnqueueBarrier(machine.queue, &barrier, 0, nullptr, nullptr); });

    const pi_program program = make_program(machine);
    char byte = 0;
    auto read = pi::desc<pi_device_global_read_desc>();
    read.program = program;
    read.name = "variable";
    read.host_ptr = &byte;
    read.size = 1;
    check_misuses<pi_device_global_read_desc>(
        machine, "piEnqueueDeviceGlobalRead", read,
        [&](const auto *desc) {
            return piEnqueueDeviceGlobalRead(machine.queue, desc, 0, nullptr, nullptr);
        },
        {{PI_ERROR_INVALID_PROGRAM, "desc->program: NULL",
          [](auto &desc) { desc.program = nullptr; }},
         {PI_ERROR_INVALID_NULL_POINTER, "desc->name is NULL",
          [](auto &desc) { desc.name = nullptr; }},
         {PI_ERROR_INVALID_NULL_POINTER, "desc->host_ptr is NULL",
          [](auto &desc) { desc.host_ptr = nullptr; }},
         {PI_ERROR_INVALID_SIZE, "desc->size is 0 bytes", [](auto &desc) { desc.size = 0; }},
         {PI_ERROR_INVALID_SIZE, "desc->offset is 18446744073709551615",
          [](auto &desc) { desc.offset = huge; }}});
    OK(piProgramRelease(program));
}
