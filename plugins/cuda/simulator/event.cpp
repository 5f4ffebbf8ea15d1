// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver.hpp"

namespace pi::cuda::simulated {

namespace {

template <class F>
CUresult call_on_event(CUevent handle, F body) {
    return call_in_context([&](const std::shared_ptr<Context> &context, Lock &lock) {
        const std::shared_ptr<Event> event = driver().events.find(handle);
        need(event != nullptr, CUDA_ERROR_INVALID_HANDLE);
        need(event->context->error == CUDA_SUCCESS, event->context->error);
        return body(event, context, lock);
    });
}

/// When the event was recorded; throws as cuEventElapsedTime does.
std::chrono::steady_clock::time_point time_of(const Event &event) {
    need(event.record && !(event.flags & CU_EVENT_DISABLE_TIMING), CUDA_ERROR_INVALID_HANDLE);
    need(event.record->point.reached(), CUDA_ERROR_NOT_READY);
    return event.record->time;
}

} // namespace

} // namespace pi::cuda::simulated

namespace pi::cuda {

using namespace simulated;

CUresult cuEventCreate(CUevent *out, unsigned int flags) {
    return call_in_context([&](const std::shared_ptr<Context> &context, Lock &) {
        const unsigned all =
            CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
        need(out && !(flags & ~all), CUDA_ERROR_INVALID_VALUE);
        // IPC handles of events are not simulated.
        need(!(flags & CU_EVENT_INTERPROCESS), CUDA_ERROR_NOT_SUPPORTED);
        auto event = std::make_shared<Event>();
        event->context = context;
        event->flags = flags;
        *out = driver().events.add(event);
        return CUDA_SUCCESS;
    });
}

CUresult cuEventDestroy_v2(CUevent handle) {
    return call([&](Lock &) {
        need(driver().events.find(handle) != nullptr, CUDA_ERROR_INVALID_HANDLE);
        driver().events.erase(handle);
        return CUDA_SUCCESS;
    });
}

CUresult cuEventRecord(CUevent handle, CUstream stream_handle) {
    return call_on_event(handle, [&](const std::shared_ptr<Event> &event,
                                     const std::shared_ptr<Context> &context, Lock &) {
        const std::shared_ptr<Stream> stream = stream_of(stream_handle, context);
        need(stream->context == event->context, CUDA_ERROR_INVALID_HANDLE);
        auto record = std::make_shared<Record>();
        record->point = enqueue(*stream, {.work = [record](CUresult) {
            record->time = std::chrono::steady_clock::now();
            return CUDA_SUCCESS;
        }});
        event->record = record;
        return CUDA_SUCCESS;
    });
}

CUresult cuEventRecordWithFlags(CUevent handle, CUstream stream, unsigned int) {
    return cuEventRecord(handle, stream);
}

CUresult cuEventQuery(CUevent handle) {
    return call_on_event(
        handle, [](const std::shared_ptr<Event> &event, const std::shared_ptr<Context> &, Lock &) {
            return !event->record || event->record->point.reached() ? CUDA_SUCCESS
                                                                    : CUDA_ERROR_NOT_READY;
        });
}

CUresult cuEventSynchronize(CUevent handle) {
    return call_on_event(handle, [](const std::shared_ptr<Event> &event,
                                    const std::shared_ptr<Context> &, Lock &lock) {
        if (event->record)
            driver().wait(lock, {event->record->point});
        return event->context->error;
    });
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
    return call_on_event(start, [&](const std::shared_ptr<Event> &first,
                                    const std::shared_ptr<Context> &, Lock &) {
        const std::shared_ptr<Event> last = driver().events.find(end);
        need(last && last->context == first->context, CUDA_ERROR_INVALID_HANDLE);
        need(milliseconds, CUDA_ERROR_INVALID_VALUE);
        const auto since = time_of(*first);
        *milliseconds = std::chrono::duration<float, std::milli>(time_of(*last) - since).count();
        return CUDA_SUCCESS;
    });
}

CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end) {
    return cuEventElapsedTime(milliseconds, start, end);
}

} // namespace pi::cuda
