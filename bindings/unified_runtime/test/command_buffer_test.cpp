// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels.hpp"

#include <array>

using namespace ur_test;

namespace ur_test {
template <>
inline constexpr auto release_of<ur_exp_command_buffer_handle_t> =
    [](ur_exp_command_buffer_handle_t buffer) {
        return ur().CommandBufferExp.pfnReleaseExp(buffer);
    };
} // namespace ur_test

namespace {

using SyncPoint = ur_exp_command_buffer_sync_point_t;
using CommandHandle = ur_exp_command_buffer_command_handle_t;
using SyncPoints = std::vector<SyncPoint>;

const auto &api() {
    return ur().CommandBufferExp;
}

/// A queue, and a command buffer for it.
struct Recorder {
    explicit Recorder(ur_queue_flags_t flags = 0, bool updatable = false, bool in_order = false) {
        const ur_exp_command_buffer_desc_t desc{UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_DESC, nullptr,
                                                updatable, in_order, false};
        OK(api().pfnCreateExp(machine.context, device(), &desc, commands.out()));
        queue = new_queue(flags);
    }
    ur_device_handle_t device() const { return machine.devices[0]; }
    Owned<ur_queue_handle_t> new_queue(ur_queue_flags_t flags = 0) const {
        const ur_queue_properties_t properties{UR_STRUCTURE_TYPE_QUEUE_PROPERTIES, nullptr, flags};
        Owned<ur_queue_handle_t> made;
        OK(ur().Queue.pfnCreate(machine.context, device(), &properties, made.out()));
        return made;
    }

    /// Appends data[i] += value; returns its sync point.
    SyncPoint add(ur_mem_handle_t buffer, uint32_t value, const SyncPoints &after = {},
                  CommandHandle *out_command = nullptr) const {
        const auto kernel = machine.kernel("add");
        SyncPoint point = 0;
        OK(append(kernel, {buffer_at(0, buffer), value_at(1, value)}, after, &point, out_command));
        return point;
    }
    ur_result_t append(ur_kernel_handle_t kernel, const Arguments &arguments,
                       const SyncPoints &after, SyncPoint *out_point, CommandHandle *out_command,
                       std::vector<ur_kernel_handle_t> alternatives = {}) const {
        const size_t size = 4;
        return api().pfnAppendKernelLaunchWithArgsExp(
            commands, kernel, 1, nullptr, &size, nullptr, static_cast<uint32_t>(arguments.size()),
            arguments.data(), static_cast<uint32_t>(alternatives.size()),
            alternatives.empty() ? nullptr : alternatives.data(),
            static_cast<uint32_t>(after.size()), after.empty() ? nullptr : after.data(), 0, nullptr,
            out_point, nullptr, out_command);
    }
    void finalize() const { OK(api().pfnFinalizeExp(commands)); }
    void enqueue() const {
        OK(ur().EnqueueExp.pfnCommandBufferExp(queue, commands, 0, nullptr, nullptr));
    }
    Words read(ur_mem_handle_t mem, size_t count) const {
        OK(ur().Queue.pfnFinish(queue));
        return read_words(machine, mem, count);
    }

    const Programs &machine = programs();
    Owned<ur_queue_handle_t> queue;
    Owned<ur_exp_command_buffer_handle_t> commands;
};

ur_exp_command_buffer_update_kernel_launch_desc_t update_of(CommandHandle command) {
    ur_exp_command_buffer_update_kernel_launch_desc_t update{};
    update.stype = UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_UPDATE_KERNEL_LAUNCH_DESC;
    update.hCommand = command;
    update.newWorkDim = 1;
    return update;
}

ur_exp_command_buffer_update_value_arg_desc_t new_value(uint32_t index, const uint32_t *value,
                                                        size_t size = sizeof(uint32_t)) {
    return {UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_UPDATE_VALUE_ARG_DESC,
            nullptr,
            index,
            size,
            nullptr,
            value};
}

} // namespace

TEST_CASE("A command buffer runs each time it is enqueued", "[command_buffer]") {
    const auto flags = GENERATE(0U, uint32_t{UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE});
    const bool in_order = GENERATE(false, true);
    const Recorder recorder(flags, false, in_order);
    const auto buffer = programs().buffer(bytes_of({1, 2, 3, 4}));
    const auto copy = programs().buffer(16);
    Bytes read(16);
    const Bytes ten = bytes_of({10});
    const SyncPoint added = recorder.add(buffer, 5);
    SyncPoint filled = 0, copied = 0;
    OK(api().pfnAppendMemBufferFillExp(recorder.commands, buffer, ten.data(), 4, 0, 4, 1, &added, 0,
                                       nullptr, &filled, nullptr, nullptr));
    OK(api().pfnAppendMemBufferCopyExp(recorder.commands, buffer, copy, 0, 0, 16, 1, &filled, 0,
                                       nullptr, &copied, nullptr, nullptr));
    OK(api().pfnAppendMemBufferReadExp(recorder.commands, copy, 0, 16, read.data(), 1, &copied, 0,
                                       nullptr, nullptr, nullptr, nullptr));
    recorder.finalize();
    recorder.enqueue();
    recorder.enqueue();
    Owned<ur_event_handle_t> end;
    OK(ur().EnqueueExp.pfnCommandBufferExp(recorder.queue, recorder.commands, 0, nullptr,
                                           end.out()));
    const ur_event_handle_t last = end;
    OK(ur().Event.pfnWait(1, &last));
    CHECK(words_of(read) == Words{10, 17, 18, 19});
    CHECK(info<ur_command_t>(ur().Event.pfnGetInfo, last, UR_EVENT_INFO_COMMAND_TYPE) ==
          UR_COMMAND_ENQUEUE_COMMAND_BUFFER_EXP);
}

TEST_CASE("Commands without sync points are all complete at the end", "[command_buffer]") {
    const Recorder recorder(UR_QUEUE_FLAG_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    std::vector<Owned<ur_mem_handle_t>> buffers;
    for (uint32_t i = 0; i < 4; ++i) {
        buffers.push_back(programs().buffer(bytes_of({0, 0, 0, 0})));
        recorder.add(buffers.back(), i);
    }
    recorder.finalize();
    for (int run = 0; run < 3; ++run) {
        recorder.enqueue();
    }
    OK(ur().Queue.pfnFinish(recorder.queue));
    for (uint32_t i = 0; i < 4; ++i) {
        CHECK(recorder.read(buffers[i], 1) == Words{3 * i});
    }
}

TEST_CASE("An enqueue waits for events and for the one before on another queue",
          "[command_buffer]") {
    const Recorder recorder;
    const auto other = recorder.new_queue();
    const auto buffer = programs().buffer(bytes_of({0, 0, 0, 0}));
    recorder.add(buffer, 1);
    recorder.finalize();
    Owned<ur_event_handle_t> first, second;
    const auto enqueue = [&](ur_queue_handle_t queue, uint32_t count,
                             const ur_event_handle_t *waits, ur_event_handle_t *out) {
        return ur().EnqueueExp.pfnCommandBufferExp(queue, recorder.commands, count, waits, out);
    };
    OK(enqueue(recorder.queue, 0, nullptr, first.out()));
    const ur_event_handle_t wait = first;
    OK(enqueue(other, 1, &wait, second.out()));
    OK(enqueue(recorder.queue, 0, nullptr, nullptr));
    OK(ur().Queue.pfnFinish(recorder.queue));
    CHECK(recorder.read(buffer, 4) == Words{3, 3, 3, 3});
    FAILS(INVALID_EVENT_WAIT_LIST, enqueue(other, 1, nullptr, nullptr));
    FAILS(INVALID_EVENT_WAIT_LIST, enqueue(other, 0, &wait, nullptr));
}

TEST_CASE("An empty command buffer completes", "[command_buffer]") {
    const Recorder recorder;
    recorder.finalize();
    Owned<ur_event_handle_t> end;
    OK(ur().EnqueueExp.pfnCommandBufferExp(recorder.queue, recorder.commands, 0, nullptr,
                                           end.out()));
    const ur_event_handle_t last = end;
    OK(ur().Event.pfnWait(1, &last));
}

TEST_CASE("A command buffer keeps what its commands name", "[command_buffer]") {
    Recorder recorder;
    const auto result = programs().buffer(16);
    {
        const auto buffer = programs().buffer(bytes_of({1, 2, 3, 4}));
        recorder.add(buffer, 1);
        OK(api().pfnAppendMemBufferCopyExp(recorder.commands, buffer, result, 0, 0, 16, 0, nullptr,
                                           0, nullptr, nullptr, nullptr, nullptr));
    }
    recorder.finalize();
    recorder.enqueue();
    recorder.commands.reset(); // waits
    CHECK(recorder.read(result, 4) == Words{2, 3, 4, 5});
}

TEST_CASE("Rectangles and writes are recorded", "[command_buffer]") {
    const Recorder recorder;
    const auto a = programs().buffer(Bytes(16));
    const auto b = programs().buffer(Bytes(16));
    Bytes source = counting(16), read(16), rectangle(16);
    const ur_rect_offset_t origin{0, 0, 0};
    const ur_rect_region_t region{2, 4, 1};
    OK(api().pfnAppendMemBufferWriteExp(recorder.commands, a, 4, 12, source.data() + 4, 0, nullptr,
                                        0, nullptr, nullptr, nullptr, nullptr));
    OK(api().pfnAppendMemBufferWriteRectExp(recorder.commands, a, origin, origin, {4, 1, 1}, 4, 16,
                                            4, 16, source.data(), 0, nullptr, 0, nullptr, nullptr,
                                            nullptr, nullptr));
    OK(api().pfnAppendMemBufferCopyRectExp(recorder.commands, a, b, origin, origin, region, 4, 16,
                                           4, 16, 0, nullptr, 0, nullptr, nullptr, nullptr,
                                           nullptr));
    OK(api().pfnAppendMemBufferReadRectExp(recorder.commands, b, origin, origin, region, 4, 16, 4,
                                           16, rectangle.data(), 0, nullptr, 0, nullptr, nullptr,
                                           nullptr, nullptr));
    OK(api().pfnAppendMemBufferReadExp(recorder.commands, a, 0, 16, read.data(), 0, nullptr, 0,
                                       nullptr, nullptr, nullptr, nullptr));
    recorder.finalize();
    recorder.enqueue();
    OK(ur().Queue.pfnFinish(recorder.queue));
    CHECK(read == source);
    CHECK(rectangle == Bytes{1, 2, 0, 0, 5, 6, 0, 0, 9, 10, 0, 0, 13, 14, 0, 0});
}

TEST_CASE("An update counts for later enqueues", "[command_buffer]") {
    const Recorder recorder(0, true);
    const auto buffer = programs().buffer(bytes_of({0, 0, 0, 0}));
    const auto other = programs().buffer(bytes_of({0, 0, 0, 0}));
    CommandHandle command = nullptr;
    recorder.add(buffer, 1, {}, &command);
    recorder.finalize();
    recorder.enqueue();

    auto update = update_of(command);
    const uint32_t ten = 10;
    const auto value = new_value(1, &ten);
    update.numNewValueArgs = 1;
    update.pNewValueArgList = &value;
    size_t two = 2;
    update.pNewGlobalWorkSize = &two;
    OK(api().pfnUpdateKernelLaunchExp(recorder.commands, 1, &update));
    recorder.enqueue();
    CHECK(recorder.read(buffer, 4) == Words{11, 11, 1, 1});

    update = update_of(command);
    const ur_exp_command_buffer_update_memobj_arg_desc_t memory{
        UR_STRUCTURE_TYPE_EXP_COMMAND_BUFFER_UPDATE_MEMOBJ_ARG_DESC, nullptr, 0, nullptr, other};
    update.numNewMemObjArgs = 1;
    update.pNewMemObjArgList = &memory;
    OK(api().pfnUpdateKernelLaunchExp(recorder.commands, 1, &update));
    recorder.enqueue();
    CHECK(recorder.read(other, 4) == Words{10, 10, 0, 0});
}

TEST_CASE("An update may change the kernel, dimensions and work-group memory", "[command_buffer]") {
    const Recorder recorder(0, true);
    const auto add = programs().kernel("add");
    const auto reverse = programs().kernel("reverse");
    const auto positions = programs().kernel("positions");
    const auto buffer = programs().buffer(bytes_of({1, 2, 3, 4}));
    const uint32_t value = 0;
    CommandHandle command = nullptr;
    OK(recorder.append(add, {buffer_at(0, buffer), value_at(1, value)}, {}, nullptr, &command,
                       {reverse, positions}));
    recorder.finalize();

    auto update = update_of(command);
    update.hNewKernel = reverse;
    const auto memory = new_value(1, nullptr, 16);
    update.numNewValueArgs = 1;
    update.pNewValueArgList = &memory;
    size_t four = 4;
    update.pNewLocalWorkSize = &four;
    OK(api().pfnUpdateKernelLaunchExp(recorder.commands, 1, &update));
    recorder.enqueue();
    CHECK(recorder.read(buffer, 4) == Words{4, 3, 2, 1});

    update = update_of(command);
    update.hNewKernel = positions;
    update.newWorkDim = 2;
    FAILS(INVALID_VALUE, api().pfnUpdateKernelLaunchExp(recorder.commands, 1, &update));
    std::array<size_t, 2> offset{}, global{2, 2};
    update.pNewGlobalWorkOffset = offset.data();
    update.pNewGlobalWorkSize = global.data();
    OK(api().pfnUpdateKernelLaunchExp(recorder.commands, 1, &update));
    recorder.enqueue();
    CHECK(recorder.read(buffer, 4) == Words{0, 1, 100, 101});

    update = update_of(command);
    const auto other = programs().kernel("nothing");
    update.hNewKernel = other;
    FAILS(INVALID_VALUE, api().pfnUpdateKernelLaunchExp(recorder.commands, 1, &update));
    update = update_of(command);
    update.newWorkDim = 4;
    FAILS(INVALID_WORK_DIMENSION, api().pfnUpdateKernelLaunchExp(recorder.commands, 1, &update));
}

TEST_CASE("Updates that do not fit are refused", "[command_buffer]") {
    const Recorder recorder(0, true), other(0, true), fixed;
    const auto buffer = programs().buffer(16);
    CommandHandle command = nullptr, fill = nullptr;
    recorder.add(buffer, 1, {}, &command);
    const uint32_t pattern = 1;
    OK(api().pfnAppendMemBufferFillExp(recorder.commands, buffer, &pattern, 4, 0, 16, 0, nullptr, 0,
                                       nullptr, nullptr, nullptr, &fill));
    auto update = update_of(command);
    const auto run = [&](const Recorder &on) {
        return api().pfnUpdateKernelLaunchExp(on.commands, 1, &update);
    };
    FAILS(INVALID_OPERATION, run(recorder));
    recorder.finalize();
    other.finalize();
    fixed.finalize();
    OK(run(recorder));
    FAILS(INVALID_COMMAND_BUFFER_COMMAND_HANDLE_EXP, run(other));
    FAILS(INVALID_OPERATION, run(fixed));
    const auto value = new_value(2, &pattern);
    update.numNewValueArgs = 1;
    update.pNewValueArgList = &value;
    FAILS(INVALID_KERNEL_ARGUMENT_INDEX, run(recorder));
    update = update_of(fill);
    FAILS(INVALID_COMMAND_BUFFER_COMMAND_HANDLE_EXP, run(recorder));
    update = update_of(nullptr);
    FAILS(INVALID_NULL_HANDLE, run(recorder));
    FAILS(INVALID_SIZE, api().pfnUpdateKernelLaunchExp(recorder.commands, 0, &update));
    FAILS(INVALID_NULL_POINTER, api().pfnUpdateKernelLaunchExp(recorder.commands, 1, nullptr));
}

TEST_CASE("Commands that do not fit are refused", "[command_buffer]") {
    const Recorder recorder;
    const auto buffer = programs().buffer(16);
    const auto add = programs().kernel("add");
    const auto nothing = programs().kernel("nothing");
    const uint32_t value = 1;
    const Arguments arguments{buffer_at(0, buffer), value_at(1, value)};
    CommandHandle command = nullptr;
    FAILS(INVALID_OPERATION, recorder.append(add, arguments, {}, nullptr, &command));
    FAILS(INVALID_KERNEL_ARGUMENT_INDEX,
          recorder.append(add, {buffer_at(0, buffer)}, {}, nullptr, nullptr));
    FAILS(INVALID_COMMAND_BUFFER_SYNC_POINT_EXP,
          recorder.append(add, arguments, {0}, nullptr, nullptr));
    FAILS(INVALID_VALUE, recorder.append(add, arguments, {}, nullptr, nullptr, {add}));
    const auto fill = [&](size_t size, uint32_t syncs, uint32_t events, ur_event_handle_t *out) {
        return api().pfnAppendMemBufferFillExp(recorder.commands, buffer, &value, 4, 0, size, syncs,
                                               nullptr, events, nullptr, nullptr, out, nullptr);
    };
    FAILS(INVALID_SIZE, fill(20, 0, 0, nullptr));
    FAILS(INVALID_SIZE, fill(6, 0, 0, nullptr));
    FAILS(INVALID_COMMAND_BUFFER_SYNC_POINT_WAIT_LIST_EXP, fill(16, 1, 0, nullptr));
    FAILS(INVALID_EVENT_WAIT_LIST, fill(16, 0, 1, nullptr));
    ur_event_handle_t event = nullptr;
    FAILS(UNSUPPORTED_FEATURE, fill(16, 0, 0, &event));

    const size_t size = 4;
    const auto without_arguments = [&](ur_kernel_handle_t kernel) {
        return api().pfnAppendKernelLaunchExp(recorder.commands, kernel, 1, nullptr, &size, nullptr,
                                              0, nullptr, 0, nullptr, 0, nullptr, nullptr, nullptr,
                                              nullptr);
    };
    OK(without_arguments(nothing));
    FAILS(UNSUPPORTED_FEATURE, without_arguments(add));

    FAILS(INVALID_OPERATION, ur().EnqueueExp.pfnCommandBufferExp(recorder.queue, recorder.commands,
                                                                 0, nullptr, nullptr));
    recorder.finalize();
    FAILS(INVALID_OPERATION, api().pfnFinalizeExp(recorder.commands));
    FAILS(INVALID_OPERATION, fill(16, 0, 0, nullptr));
    const Machine other;
    FAILS(INVALID_QUEUE, ur().EnqueueExp.pfnCommandBufferExp(other.queue(), recorder.commands, 0,
                                                             nullptr, nullptr));
    recorder.enqueue();
    OK(ur().Queue.pfnFinish(recorder.queue));
}

TEST_CASE("A command buffer answers its infos", "[command_buffer]") {
    const Recorder recorder(0, true, true);
    const auto desc = info<ur_exp_command_buffer_desc_t>(
        api().pfnGetInfoExp, recorder.commands.get(), UR_EXP_COMMAND_BUFFER_INFO_DESCRIPTOR);
    CHECK(desc.isUpdatable);
    CHECK(desc.isInOrder);
    CHECK(info<uint32_t>(api().pfnGetInfoExp, recorder.commands.get(),
                         UR_EXP_COMMAND_BUFFER_INFO_REFERENCE_COUNT) == 1);
    OK(api().pfnRetainExp(recorder.commands));
    OK(api().pfnReleaseExp(recorder.commands));
    size_t size = 0;
    FAILS(INVALID_ENUMERATION,
          api().pfnGetInfoExp(recorder.commands, UR_EXP_COMMAND_BUFFER_INFO_FORCE_UINT32, 0,
                              nullptr, &size));
}
