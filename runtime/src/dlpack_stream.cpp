// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dlpack_stream.hpp"

#include <pi/describe/descriptor.hpp>
#include <pi/runtime/error.hpp>

#include <string>
#include <vector>

namespace pi::runtime {
namespace {

constexpr int64_t no_synchronization = -1, legacy_default = 1;

bool has_streams(const pi_dlpack_device &device) {
    return device.device_type == PI_DLPACK_CUDA;
}

/// The legacy default stream and the per-thread default streams wait for each other; no queue is a
/// per-thread one.
Queue queue_around(pi_context context, pi_device device, const DlpackStream &stream) {
    auto desc = pi::desc<pi_native_desc>();
    desc.handle.type = PI_NATIVE_CUDA_STREAM;
    desc.handle.count = 1;
    desc.handle.value[0] =
        static_cast<uint64_t>(is_default_stream(stream) ? legacy_default : *stream);
    const std::string what = stream ? "DLPack: stream is " + std::to_string(*stream)
                                    : std::string("DLPack: the default stream");
    Queue queue;
    check(piQueueCreateWithNativeHandle(context, device, &desc, queue.out()), what.c_str());
    return queue;
}

pi_device device_of(pi_mem mem) {
    pi_device device = nullptr;
    check(piMemGetInfo(mem, PI_MEM_INFO_DEVICE, sizeof device, &device, nullptr),
          "piMemGetInfo(DEVICE)");
    return device;
}

pi_context context_of(pi_mem mem) {
    pi_context context = nullptr;
    check(piMemGetInfo(mem, PI_MEM_INFO_CONTEXT, sizeof context, &context, nullptr),
          "piMemGetInfo(CONTEXT)");
    return context;
}

} // namespace

void check_dlpack_stream(const pi_dlpack_device &device, const DlpackStream &stream) {
    if (!stream) {
        return;
    }
    if (!has_streams(device)) {
        throw Error(PI_ERROR_INVALID_VALUE,
                    "DLPack: stream is " + std::to_string(*stream) + ", and device (" +
                        std::to_string(device.device_type) + ", " +
                        std::to_string(device.device_id) + ") has no streams: stream must be None");
    }
    if (*stream == 0 || *stream < no_synchronization) {
        throw Error(PI_ERROR_INVALID_VALUE,
                    "DLPack: stream is " + std::to_string(*stream) +
                        "; of CUDA there are 1 (the legacy default stream), 2 (the thread's), "
                        "handles above 2, and -1 (no synchronization)");
    }
}

Event end_of_stream(pi_context context, pi_device device, const pi_dlpack_device &name,
                    const DlpackStream &stream) {
    check_dlpack_stream(name, stream);
    Event end;
    if (has_streams(name) && stream != no_synchronization) {
        const Queue queue = queue_around(context, device, stream);
        check(piEnqueueBarrier(queue.get(), nullptr, 0, nullptr, end.out()),
              "DLPack: piEnqueueBarrier");
    }
    return end;
}

void order_before_stream(const Acquisition &use, const DlpackStream &stream) {
    if (stream == no_synchronization) {
        return;
    }
    if (!stream) {
        use.wait();
        return;
    }
    const Queue queue = queue_around(context_of(use.mem()), device_of(use.mem()), stream);
    const std::vector<pi_event> &events = use.events(queue.get());
    Event before;
    check(piEnqueueBarrier(queue.get(), nullptr, static_cast<uint32_t>(events.size()),
                           events.data(), before.out()),
          "DLPack: piEnqueueBarrier");
    // A barrier that the plugin defers is in no stream yet, so the consumer's work would overtake
    // it.
    pi_native_handle native{};
    if (piEventGetNativeHandle(before.get(), &native) != PI_SUCCESS) {
        use.wait();
    }
}

void release_dlpack(Acquisition &use, const DlpackStream &stream) {
    Event end;
    if (use.held() && use.place() != host_place && is_default_stream(stream)) {
        const pi_device device = device_of(use.mem());
        end = end_of_stream(context_of(use.mem()), device, dlpack_device(device), {});
    }
    use.release(end.get());
}

} // namespace pi::runtime
