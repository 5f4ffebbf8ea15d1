// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels.hpp"

#include <array>

using namespace ur_test;

namespace {

using Size3 = std::array<size_t, 3>;

template <class T>
T group_info(ur_kernel_handle_t kernel, ur_device_handle_t device, ur_kernel_group_info_t name) {
    return info<T>(ur().Kernel.pfnGetGroupInfo, kernel, device, name);
}

} // namespace

TEST_CASE("A kernel answers its infos", "[kernel]") {
    const Programs &machine = programs();
    const auto kernel = machine.kernel("combine");
    std::array<char, 8> name{};
    OK(ur().Kernel.pfnGetInfo(kernel, UR_KERNEL_INFO_FUNCTION_NAME, name.size(), name.data(),
                              nullptr));
    CHECK(std::string(name.data()) == "combine");
    FAILS(INVALID_SIZE,
          ur().Kernel.pfnGetInfo(kernel, UR_KERNEL_INFO_FUNCTION_NAME, 7, name.data(), nullptr));
    const auto get = ur().Kernel.pfnGetInfo;
    CHECK(info<uint32_t>(get, kernel.get(), UR_KERNEL_INFO_NUM_ARGS) == 4);
    CHECK(info<uint32_t>(get, kernel.get(), UR_KERNEL_INFO_REFERENCE_COUNT) == 1);
    CHECK(info<ur_context_handle_t>(get, kernel.get(), UR_KERNEL_INFO_CONTEXT) ==
          machine.context.get());
    CHECK(info<ur_program_handle_t>(get, kernel.get(), UR_KERNEL_INFO_PROGRAM) ==
          machine.program.get());
    CHECK(info<char>(get, kernel.get(), UR_KERNEL_INFO_ATTRIBUTES) == '\0');
    size_t size = 0;
    FAILS(UNSUPPORTED_ENUMERATION, get(kernel, UR_KERNEL_INFO_NUM_REGS, 0, nullptr, &size));
    FAILS(INVALID_ENUMERATION, get(kernel, UR_KERNEL_INFO_FORCE_UINT32, 0, nullptr, &size));
    ur_kernel_handle_t none = nullptr;
    FAILS(INVALID_KERNEL_NAME, ur().Kernel.pfnCreate(machine.program, "nowhere", &none));
    FAILS(INVALID_PROGRAM_EXECUTABLE,
          ur().Kernel.pfnCreate(unbuilt_program(machine.context), "add", &none));
}

TEST_CASE("A kernel answers its infos of groups and sub-groups", "[kernel]") {
    const Programs &machine = programs();
    const ur_device_handle_t device = machine.devices[0];
    const auto kernel = machine.kernel("reverse");
    CHECK(group_info<size_t>(kernel, device, UR_KERNEL_GROUP_INFO_WORK_GROUP_SIZE) > 0);
    CHECK(group_info<size_t>(kernel, device,
                             UR_KERNEL_GROUP_INFO_PREFERRED_WORK_GROUP_SIZE_MULTIPLE) > 0);
    group_info<size_t>(kernel, device, UR_KERNEL_GROUP_INFO_LOCAL_MEM_SIZE);
    group_info<size_t>(kernel, device, UR_KERNEL_GROUP_INFO_PRIVATE_MEM_SIZE);
    constexpr auto required = UR_KERNEL_GROUP_INFO_COMPILE_WORK_GROUP_SIZE;
    CHECK(group_info<Size3>(kernel, device, required) == Size3{0, 0, 0});
    CHECK(group_info<Size3>(machine.kernel("fours"), device, required) == Size3{4, 1, 1});
    size_t size = 0;
    FAILS(UNSUPPORTED_ENUMERATION,
          ur().Kernel.pfnGetGroupInfo(kernel, device, UR_KERNEL_GROUP_INFO_GLOBAL_WORK_SIZE, 0,
                                      nullptr, &size));
    uint32_t count = 7;
    OK(ur().Kernel.pfnGetSubGroupInfo(kernel, device,
                                      UR_KERNEL_SUB_GROUP_INFO_COMPILE_NUM_SUB_GROUPS, sizeof count,
                                      &count, nullptr));
    CHECK(count == 0);
    const ur_result_t largest = ur().Kernel.pfnGetSubGroupInfo(
        kernel, device, UR_KERNEL_SUB_GROUP_INFO_MAX_SUB_GROUP_SIZE, sizeof count, &count, nullptr);
    CHECK((largest == UR_RESULT_SUCCESS ? count > 0
                                        : largest == UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION));
}

TEST_CASE("Arguments may be given in any order", "[launch]") {
    const Programs &machine = programs();
    const auto a = machine.buffer(bytes_of({1, 2, 3}));
    const auto b = machine.buffer(bytes_of({10, 20, 30}));
    const auto out = machine.buffer(12);
    const uint32_t factor = 5;
    OK(launch(machine.queue(), machine.kernel("combine"), 3,
              {buffer_at(3, out, UR_MEM_FLAG_WRITE_ONLY), value_at(1, factor),
               buffer_at(0, a, UR_MEM_FLAG_READ_ONLY), buffer_at(2, b, UR_MEM_FLAG_READ_ONLY)}));
    CHECK(read_words(machine, out, 3) == Words{15, 30, 45});
}

TEST_CASE("A buffer may be two arguments", "[launch]") {
    const Programs &machine = programs();
    const auto a = machine.buffer(bytes_of({1, 2, 3}));
    const uint32_t factor = 5;
    OK(launch(machine.queue(), machine.kernel("combine"), 3,
              {buffer_at(0, a, UR_MEM_FLAG_READ_ONLY), value_at(1, factor),
               buffer_at(2, a, UR_MEM_FLAG_READ_ONLY), buffer_at(3, a, UR_MEM_FLAG_WRITE_ONLY)}));
    CHECK(read_words(machine, a, 3) == Words{6, 12, 18});
}

TEST_CASE("Bytes that a kernel does not write survive a write-only argument", "[launch]") {
    const Programs &machine = programs();
    const auto half = machine.buffer(bytes_of({1, 2, 3, 4}));
    OK(launch(machine.queue(), machine.kernel("positions"), 2,
              {buffer_at(0, half, UR_MEM_FLAG_WRITE_ONLY)}));
    CHECK(read_words(machine, half, 4) == Words{0, 1, 3, 4});
}

TEST_CASE("A part of a buffer is an argument", "[launch]") {
    const Programs &machine = programs();
    const size_t half = 4096;
    const auto buffer = machine.buffer(Bytes(2 * half));
    const ur_buffer_region_t region{UR_STRUCTURE_TYPE_BUFFER_REGION, nullptr, half, half};
    Owned<ur_mem_handle_t> part;
    OK(ur().Mem.pfnBufferPartition(buffer, UR_MEM_FLAG_READ_WRITE, UR_BUFFER_CREATE_TYPE_REGION,
                                   &region, part.out()));
    const uint32_t value = 3;
    OK(launch(machine.queue(), machine.kernel("add"), 2, {buffer_at(0, part), value_at(1, value)}));
    CHECK(words_of(machine.read(buffer, 12, half - 4)) == Words{0, 3, 3});
}

TEST_CASE("Work-group memory and a NULL buffer are arguments", "[launch]") {
    const Programs &machine = programs();
    const auto buffer = machine.buffer(bytes_of({1, 2, 3, 4}));
    const size_t two = 2;
    OK(launch(machine.queue(), machine.kernel("reverse"), 4, {buffer_at(0, buffer), local_at(1, 8)},
              &two));
    CHECK(read_words(machine, buffer, 4) == Words{2, 1, 4, 3});
    OK(launch(machine.queue(), machine.kernel("is_null"), 1,
              {buffer_at(0, nullptr), buffer_at(1, buffer)}));
    CHECK(read_words(machine, buffer, 1) == Words{1});
}

TEST_CASE("A launch has up to three dimensions", "[launch]") {
    const Programs &machine = programs();
    const auto kernel = machine.kernel("positions");
    const auto buffer = machine.buffer(24);
    const Arguments arguments{buffer_at(0, buffer)};
    const auto run = [&](uint32_t dimensions, Size3 global, const size_t *local) {
        return ur().EnqueueExp.pfnKernelLaunchWithArgsExp(
            machine.queue(), kernel, dimensions, nullptr, global.data(), local, 1, arguments.data(),
            nullptr, 0, nullptr, nullptr);
    };
    OK(run(2, {3, 2, 0}, nullptr));
    CHECK(read_words(machine, buffer, 6) == Words{0, 1, 2, 100, 101, 102});
    FAILS(INVALID_WORK_DIMENSION, run(0, {3, 2, 1}, nullptr));
    FAILS(INVALID_WORK_DIMENSION, run(4, {3, 2, 1}, nullptr));
    FAILS(INVALID_WORK_DIMENSION, run(3, {3, 2, 0}, nullptr));
    const Size3 local{1, 0, 1};
    FAILS(INVALID_WORK_GROUP_SIZE, run(2, {3, 2, 1}, local.data()));
    OK(run(1, {3, 0, 0}, local.data()));
    FAILS(INVALID_NULL_POINTER, ur().EnqueueExp.pfnKernelLaunchWithArgsExp(
                                    machine.queue(), kernel, 1, nullptr, nullptr, nullptr, 1,
                                    arguments.data(), nullptr, 0, nullptr, nullptr));
    OK(ur().Queue.pfnFinish(machine.queue()));
}

TEST_CASE("Wrong arguments are refused", "[launch]") {
    const Programs &machine = programs();
    const auto kernel = machine.kernel("add");
    const auto buffer = machine.buffer(16);
    const uint32_t value = 1;
    const auto run = [&](const Arguments &arguments) {
        return launch(machine.queue(), kernel, 4, arguments);
    };
    FAILS(INVALID_KERNEL_ARGUMENT_INDEX, run({buffer_at(0, buffer)}));
    FAILS(INVALID_KERNEL_ARGUMENT_INDEX, run({buffer_at(0, buffer), value_at(2, value)}));
    FAILS(INVALID_KERNEL_ARGUMENT_INDEX, run({buffer_at(0, buffer), buffer_at(0, buffer)}));
    const uint64_t large = 1;
    FAILS(INVALID_KERNEL_ARGUMENT_SIZE, run({buffer_at(0, buffer), value_at(1, large)}));
    Argument unknown = value_at(1, value);
    unknown.type = UR_EXP_KERNEL_ARG_TYPE_FORCE_UINT32;
    FAILS(INVALID_ENUMERATION, run({buffer_at(0, buffer), unknown}));
    const size_t size = 4;
    FAILS(INVALID_NULL_POINTER, ur().EnqueueExp.pfnKernelLaunchWithArgsExp(
                                    machine.queue(), kernel, 1, nullptr, &size, nullptr, 2, nullptr,
                                    nullptr, 0, nullptr, nullptr));
}

TEST_CASE("Properties that no device supports are refused", "[launch]") {
    const Programs &machine = programs();
    const auto kernel = machine.kernel("nothing");
    ur_kernel_launch_ext_properties_t properties{UR_STRUCTURE_TYPE_KERNEL_LAUNCH_EXT_PROPERTIES,
                                                 nullptr, 0};
    const auto run = [&] { return launch(machine.queue(), kernel, 4, {}, nullptr, &properties); };
    OK(run());
    properties.flags = UR_KERNEL_LAUNCH_FLAG_OPPORTUNISTIC_QUEUE_SERIALIZE;
    OK(run());
    properties.flags = 1U << 7;
    FAILS(INVALID_ENUMERATION, run());
    properties.flags = UR_KERNEL_LAUNCH_FLAG_COOPERATIVE;
    FAILS(INVALID_OPERATION, run());
    properties.flags = 0;
    ur_kernel_launch_cluster_property_t cluster{
        UR_STRUCTURE_TYPE_KERNEL_LAUNCH_CLUSTER_PROPERTY, nullptr, {2, 1, 1}};
    properties.pNext = &cluster;
    FAILS(INVALID_OPERATION, run());
    ur_kernel_launch_workgroup_property_t memory{UR_STRUCTURE_TYPE_KERNEL_LAUNCH_WORKGROUP_PROPERTY,
                                                 nullptr, 64};
    properties.pNext = &memory;
    FAILS(INVALID_OPERATION, run());
    OK(ur().Queue.pfnFinish(machine.queue()));
}

TEST_CASE("A launch waits for events and has one", "[launch]") {
    const Programs &machine = programs();
    const auto kernel = machine.kernel("add");
    const auto buffer = machine.buffer(bytes_of({0, 0}));
    const uint32_t value = 1;
    const Arguments arguments{buffer_at(0, buffer), value_at(1, value)};
    const size_t size = 2;
    const auto run = [&](uint32_t count, const ur_event_handle_t *waits, ur_event_handle_t *out) {
        return ur().EnqueueExp.pfnKernelLaunchWithArgsExp(machine.queue(), kernel, 1, nullptr,
                                                          &size, nullptr, 2, arguments.data(),
                                                          nullptr, count, waits, out);
    };
    Owned<ur_event_handle_t> first, second;
    OK(run(0, nullptr, first.out()));
    const ur_event_handle_t wait = first;
    OK(run(1, &wait, second.out()));
    const ur_event_handle_t end = second;
    OK(ur().Event.pfnWait(1, &end));
    CHECK(info<ur_command_t>(ur().Event.pfnGetInfo, end, UR_EVENT_INFO_COMMAND_TYPE) ==
          UR_COMMAND_KERNEL_LAUNCH);
    CHECK(read_words(machine, buffer, 2) == Words{2, 2});
    FAILS(INVALID_EVENT_WAIT_LIST, run(1, nullptr, nullptr));
    FAILS(INVALID_EVENT_WAIT_LIST, run(0, &wait, nullptr));
    FAILS(INVALID_NULL_HANDLE, launch(nullptr, kernel, 2, arguments));
    FAILS(INVALID_NULL_HANDLE, launch(machine.queue(), nullptr, 2, arguments));
}

TEST_CASE("Kernels of two devices change one buffer in turn", "[launch]") {
    if (lacks_devices(2)) {
        return;
    }
    const Programs machine(2);
    const auto kernel = machine.kernel("add");
    const auto buffer = machine.buffer(bytes_of({0, 100}));
    const uint32_t value = 1;
    for (size_t i = 0; i < 6; ++i) {
        OK(launch(machine.queue(i % 2), kernel, 2, {buffer_at(0, buffer), value_at(1, value)}));
        OK(ur().Queue.pfnFinish(machine.queue(i % 2)));
    }
    CHECK(read_words(machine, buffer, 2) == Words{6, 106});
}

TEST_CASE("Images and samplers are arguments", "[launch]") {
    const Programs &machine = programs();
    const ur_image_format_t format{UR_IMAGE_CHANNEL_ORDER_RGBA,
                                   UR_IMAGE_CHANNEL_TYPE_UNSIGNED_INT8};
    ur_image_desc_t desc{};
    desc.stype = UR_STRUCTURE_TYPE_IMAGE_DESC;
    desc.type = UR_MEM_TYPE_IMAGE2D;
    desc.width = 3;
    desc.height = 1;
    desc.depth = 1;
    Bytes pixels = counting(12);
    Owned<ur_mem_handle_t> image;
    OK(ur().Mem.pfnImageCreate(machine.context,
                               UR_MEM_FLAG_READ_ONLY | UR_MEM_FLAG_ALLOC_COPY_HOST_POINTER, &format,
                               &desc, pixels.data(), image.out()));
    const ur_sampler_desc_t clamped{UR_STRUCTURE_TYPE_SAMPLER_DESC, nullptr, false,
                                    UR_SAMPLER_ADDRESSING_MODE_CLAMP_TO_EDGE,
                                    UR_SAMPLER_FILTER_MODE_NEAREST};
    Owned<ur_sampler_handle_t> sampler;
    OK(ur().Sampler.pfnCreate(machine.context, &clamped, sampler.out()));
    const auto kernel = machine.kernel("sample");
    const auto out = machine.buffer(64);
    OK(launch(machine.queue(), kernel, 4,
              {buffer_at(0, image, UR_MEM_FLAG_READ_ONLY), sampler_at(1, sampler),
               buffer_at(2, out, UR_MEM_FLAG_WRITE_ONLY)}));
    CHECK(read_words(machine, out, 16) == Words{1, 2, 3, 4, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
    FAILS(INVALID_SAMPLER, launch(machine.queue(), kernel, 4,
                                  {buffer_at(0, image, UR_MEM_FLAG_READ_ONLY),
                                   sampler_at(1, nullptr), buffer_at(2, out)}));
}

TEST_CASE("A kernel follows pointers in memory", "[launch]") {
    const Programs &machine = programs();
    std::array<void *, 3> memory{};
    for (void *&each : memory) {
        if (ur().USM.pfnSharedAlloc(machine.context, machine.devices[0], nullptr, nullptr, 64,
                                    &each) != UR_RESULT_SUCCESS) {
            pi_test::skip("needs shared USM");
            return;
        }
    }
    const auto pointers = static_cast<uint64_t *>(memory[0]);
    for (size_t i = 0; i < 2; ++i) {
        pointers[i] = reinterpret_cast<uintptr_t>(memory[i + 1]);
        *static_cast<uint32_t *>(memory[i + 1]) = 10;
    }
    const auto kernel = machine.kernel("follow");
    const auto run = [&](ur_kernel_exec_info_t name, size_t size, const void *value) {
        OK(ur().Kernel.pfnSetExecInfo(kernel, name, size, nullptr, value));
        OK(launch(machine.queue(), kernel, 2, {pointer_at(0, memory[0])}));
        OK(ur().Queue.pfnFinish(machine.queue()));
    };
    const ur_bool_t yes = 1;
    run(UR_KERNEL_EXEC_INFO_USM_PTRS, 2 * sizeof(void *), memory.data() + 1);
    run(UR_KERNEL_EXEC_INFO_USM_INDIRECT_ACCESS, sizeof yes, &yes);
    CHECK(*static_cast<uint32_t *>(memory[1]) == 12);
    CHECK(*static_cast<uint32_t *>(memory[2]) == 12);
    for (void *each : memory) {
        OK(ur().USM.pfnFree(machine.context, each));
    }
}

TEST_CASE("Execution infos are checked and kept", "[kernel]") {
    const Programs &machine = programs();
    const auto kernel = machine.kernel("nothing");
    const auto set = [&](ur_kernel_exec_info_t name, const auto &value) {
        return ur().Kernel.pfnSetExecInfo(kernel, name, sizeof value, nullptr, &value);
    };
    OK(set(UR_KERNEL_EXEC_INFO_USM_INDIRECT_ACCESS, ur_bool_t{1}));
    OK(launch(machine.queue(), kernel, 4, {})); // also where there is no USM
    OK(set(UR_KERNEL_EXEC_INFO_USM_INDIRECT_ACCESS, ur_bool_t{0}));
    int pointed = 0;
    OK(set(UR_KERNEL_EXEC_INFO_USM_PTRS, std::array<void *, 1>{&pointed}));
    OK(launch(machine.queue(), kernel, 4, {}));
    OK(set(UR_KERNEL_EXEC_INFO_CACHE_CONFIG, UR_KERNEL_CACHE_CONFIG_LARGE_SLM));
    FAILS(INVALID_ENUMERATION, set(UR_KERNEL_EXEC_INFO_CACHE_CONFIG, ur_kernel_cache_config_t(9)));
    FAILS(INVALID_ENUMERATION, set(UR_KERNEL_EXEC_INFO_FORCE_UINT32, ur_bool_t{1}));
    FAILS(INVALID_SIZE, set(UR_KERNEL_EXEC_INFO_USM_INDIRECT_ACCESS, uint64_t{1}));
    FAILS(INVALID_NULL_POINTER, ur().Kernel.pfnSetExecInfo(kernel, UR_KERNEL_EXEC_INFO_CACHE_CONFIG,
                                                           4, nullptr, nullptr));
    OK(ur().Queue.pfnFinish(machine.queue()));
}

TEST_CASE("A local size is suggested", "[kernel]") {
    const Programs &machine = programs();
    const auto kernel = machine.kernel("add");
    const Size3 offset{}, global{32, 4, 2};
    Size3 local{};
    const auto suggest = [&](uint32_t dimensions) {
        return ur().Kernel.pfnGetSuggestedLocalWorkSize(kernel, machine.queue(), dimensions,
                                                        offset.data(), global.data(), local.data());
    };
    for (uint32_t dimensions = 1; dimensions <= 3; ++dimensions) {
        local = {};
        OK(suggest(dimensions));
        for (uint32_t i = 0; i < 3; ++i) {
            CHECK((i < dimensions ? local[i] > 0 && global[i] % local[i] == 0 : local[i] == 0));
        }
    }
    FAILS(INVALID_WORK_DIMENSION, suggest(4));
    FAILS(INVALID_NULL_POINTER,
          ur().Kernel.pfnGetSuggestedLocalWorkSize(kernel, machine.queue(), 1, nullptr,
                                                   global.data(), local.data()));
    OK(ur().Kernel.pfnGetSuggestedLocalWorkSizeWithArgs(kernel, machine.queue(), 1, offset.data(),
                                                        global.data(), 0, nullptr, local.data()));
    uint32_t count = 0;
    FAILS(INVALID_WORK_DIMENSION, ur().Kernel.pfnSuggestMaxCooperativeGroupCount(
                                      kernel, machine.devices[0], 4, global.data(), 0, &count));
    FAILS(INVALID_NULL_POINTER, ur().Kernel.pfnSuggestMaxCooperativeGroupCount(
                                    kernel, machine.devices[0], 1, nullptr, 0, &count));
}
