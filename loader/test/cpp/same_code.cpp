// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pairs of functions: c_x as one writes it in C, cpp_x through pi.hpp. same_code.py compiles them
// and compares the instructions: the wrapper must not add any. In both, failures call a function
// that does not return.
#include <pi/pi.hpp>

// Defined elsewhere, so that the compiler cannot see it.
[[noreturn, gnu::cold]] void fail(pi_result code, const char *function);

namespace {

/// An error type that can also be written in C.
struct FailElsewhere {
    template <class T>
    using Returns = T;
    template <class T, class Make>
    static T give(pi_result result, const char *function, Make make) {
        if (result != PI_SUCCESS) {
            fail(result, function);
        }
        return make();
    }
};
using Elsewhere = pi::Api<FailElsewhere>;

} // namespace

#define SAME extern "C" [[gnu::used]]

// Results.

SAME pi_result c_flush(pi_queue queue) {
    return piQueueFlush(queue);
}
SAME pi_result cpp_flush(pi_queue queue) {
    return pi::nothrow::QueueRef(queue).flush().error();
}

SAME pi_result c_copy(pi_queue queue, const pi_buffer_copy_desc *desc) {
    return piEnqueueMemBufferCopy(queue, desc, 0, nullptr, nullptr);
}
SAME pi_result cpp_copy(pi_queue queue, const pi_buffer_copy_desc *desc) {
    return pi::nothrow::QueueRef(queue).enqueue(*desc, pi::no_event).error();
}

SAME pi_result c_copy_after_one(pi_queue queue, const pi_buffer_copy_desc *desc, pi_event event) {
    return piEnqueueMemBufferCopy(queue, desc, 1, &event, nullptr);
}
SAME pi_result cpp_copy_after_one(pi_queue queue, const pi_buffer_copy_desc *desc, pi_event event) {
    return pi::nothrow::QueueRef(queue).enqueue(*desc, event, pi::no_event).error();
}

SAME pi_result c_launch_after_two(pi_queue queue, const pi_kernel_launch_desc *desc, pi_event a,
                                  pi_event b) {
    const pi_event wait_list[] = {a, b};
    return piEnqueueKernelLaunch(queue, desc, 2, wait_list, nullptr);
}
SAME pi_result cpp_launch_after_two(pi_queue queue, const pi_kernel_launch_desc *desc, pi_event a,
                                    pi_event b) {
    return pi::nothrow::QueueRef(queue).enqueue(*desc, {a, b}, pi::no_event).error();
}

SAME uint64_t c_size(pi_mem mem) {
    uint64_t size = 0;
    return piMemGetInfo(mem, PI_MEM_INFO_SIZE, sizeof size, &size, nullptr) == PI_SUCCESS ? size
                                                                                          : 0;
}
SAME uint64_t cpp_size(pi_mem mem) {
    const auto size = pi::nothrow::MemRef(mem).info<PI_MEM_INFO_SIZE>();
    return size ? *size : 0;
}

SAME pi_mem c_buffer_or_none(pi_context context, pi_device device, const pi_mem_buffer_desc *desc) {
    pi_mem mem = nullptr;
    return piMemBufferCreate(context, device, desc, &mem) == PI_SUCCESS ? mem : nullptr;
}
SAME pi_mem cpp_buffer_or_none(pi_context context, pi_device device,
                               const pi_mem_buffer_desc *desc) {
    return pi::nothrow::Mem::buffer_create(context, device, *desc)->detach();
}

SAME uint32_t c_select_or_none(pi_device device, const pi_program_binary *binary) {
    uint32_t index = 0;
    return piDeviceSelectBinary(device, 1, binary, &index) == PI_SUCCESS ? index : UINT32_MAX;
}
SAME uint32_t cpp_select_or_none(pi_device device, const pi_program_binary *binary) {
    return pi::nothrow::DeviceRef(device).select_binary({binary, 1}).value_or(UINT32_MAX);
}

// Calls that do not return on failure, like those that throw.

SAME void c_finish(pi_queue queue) {
    const pi_result result = piQueueFinish(queue);
    if (result != PI_SUCCESS) {
        fail(result, "piQueueFinish");
    }
}
SAME void cpp_finish(pi_queue queue) {
    Elsewhere::QueueRef(queue).finish();
}

SAME uint32_t c_select(pi_device device, const pi_program_binary *binaries, uint32_t count) {
    uint32_t index = 0;
    const pi_result result = piDeviceSelectBinary(device, count, binaries, &index);
    if (result != PI_SUCCESS) {
        fail(result, "piDeviceSelectBinary");
    }
    return index;
}
SAME uint32_t cpp_select(pi_device device, const pi_program_binary *binaries, uint32_t count) {
    return Elsewhere::DeviceRef(device).select_binary({binaries, count});
}

SAME pi_event c_read(pi_queue queue, const pi_buffer_read_desc *desc, pi_event after) {
    pi_event event = nullptr;
    const pi_result result = piEnqueueMemBufferRead(queue, desc, 1, &after, &event);
    if (result != PI_SUCCESS) {
        fail(result, "piEnqueueMemBufferRead");
    }
    return event;
}
SAME pi_event cpp_read(pi_queue queue, const pi_buffer_read_desc *desc, pi_event after) {
    return Elsewhere::QueueRef(queue).enqueue(*desc, after).detach();
}

SAME pi_mem c_buffer(pi_context context, pi_device device, uint64_t size) {
    auto desc = pi::desc<pi_mem_buffer_desc>();
    desc.size = size;
    pi_mem mem = nullptr;
    const pi_result result = piMemBufferCreate(context, device, &desc, &mem);
    if (result != PI_SUCCESS) {
        fail(result, "piMemBufferCreate");
    }
    return mem;
}
SAME pi_mem cpp_buffer(pi_context context, pi_device device, uint64_t size) {
    return Elsewhere::Mem::buffer_create(context, device, size).detach();
}
