// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace pi::cuda::simulated {

namespace {

/// Whether the device has finished all earlier tasks. With a single hardware queue they all come
/// first.
bool has_turn(const Stream &stream) {
    for (const auto &[key, context] : driver().contexts)
        if (context->device == stream.context->device)
            for (const std::weak_ptr<Stream> &weak : context->streams)
                if (const auto other = weak.lock();
                    other && other.get() != &stream &&
                    (other->running || (!other->tasks.empty() &&
                                        other->tasks.front().ticket < stream.tasks.front().ticket)))
                    return false;
    return true;
}

bool ready(const Stream &stream) {
    const Task &task = stream.tasks.front();
    return std::all_of(task.after.begin(), task.after.end(),
                       [](const Point &point) { return point.reached(); }) &&
           (!driver().config.one_queue || has_turn(stream));
}

/// Delays some tasks, so that unordered tasks overtake them.
void maybe_delay(Stream &stream, Lock &lock) {
    if (!driver().config.reorder || stream.delays() % 2 == 0)
        return;
    const std::chrono::microseconds late(stream.delays() % 500);
    lock.unlock();
    std::this_thread::sleep_for(late);
    lock.lock();
}

void run(Stream &stream, Task &task, Lock &lock) {
    Context &context = *stream.context;
    const CUresult before = context.error;
    if (before != CUDA_SUCCESS && !task.despite_error)
        return;
    lock.unlock();
    CUresult result = CUDA_SUCCESS;
    try {
        if (task.work)
            result = task.work(before);
        task.work = nullptr;
    } catch (const Failure &failure) {
        result = failure.code;
    }
    lock.lock();
    if (context.error == CUDA_SUCCESS)
        context.error = result;
}

void work_off(const std::shared_ptr<Stream> &stream) {
    Driver &all = driver();
    Lock lock(all.mutex);
    while (true) {
        all.changed.wait(lock,
                         [&] { return stream->tasks.empty() ? stream->closed : ready(*stream); });
        if (stream->tasks.empty())
            return;
        maybe_delay(*stream, lock);
        Task task = std::move(stream->tasks.front());
        stream->tasks.pop_front();
        stream->running = true;
        run(*stream, task, lock);
        stream->running = false;
        ++stream->timeline->done;
        all.changed.notify_all();
    }
}

} // namespace

std::shared_ptr<Stream> open_stream(const std::shared_ptr<Context> &context, unsigned flags,
                                    int priority) {
    Driver &all = driver();
    auto stream = std::make_shared<Stream>();
    stream->context = context;
    stream->flags = flags;
    stream->priority = priority;
    stream->id = all.next_id++;
    stream->delays.seed(static_cast<unsigned>(all.config.reorder.value_or(0) + stream->id));
    std::erase_if(context->streams, [](const auto &other) { return other.expired(); });
    context->streams.push_back(stream);
    std::thread([stream] { work_off(stream); }).detach();
    return stream;
}

void close_stream(Stream &stream) {
    stream.closed = true;
    std::vector<Point> &tails = stream.context->tails;
    std::erase_if(tails, [](const Point &point) { return point.reached(); });
    tails.push_back(stream.end());
    driver().changed.notify_all();
}

std::shared_ptr<Stream> stream_of(CUstream handle, const std::shared_ptr<Context> &current) {
    if (!handle || handle == PI_CUDA_STREAM_LEGACY) {
        if (!current->legacy) {
            current->legacy = open_stream(current, CU_STREAM_DEFAULT, 0);
            current->legacy->legacy = true;
        }
        return current->legacy;
    }
    if (handle == PI_CUDA_STREAM_PER_THREAD) {
        std::shared_ptr<Stream> &stream = current->per_thread[std::this_thread::get_id()];
        if (!stream)
            stream = open_stream(current, CU_STREAM_DEFAULT, 0);
        return stream;
    }
    std::shared_ptr<Stream> stream = driver().streams.find(handle);
    need(stream != nullptr, CUDA_ERROR_INVALID_HANDLE);
    need(stream->context->error == CUDA_SUCCESS, stream->context->error);
    return stream;
}

Point enqueue(Stream &stream, Task task) {
    Context &context = *stream.context;
    if (stream.legacy) {
        for (const std::weak_ptr<Stream> &weak : context.streams)
            if (const auto other = weak.lock(); other && other->blocking())
                task.after.push_back(other->end());
    } else if (stream.blocking() && context.legacy) {
        task.after.push_back(context.legacy->end());
    }
    task.ticket = ++context.device->tickets;
    stream.tasks.push_back(std::move(task));
    ++stream.timeline->submitted;
    driver().changed.notify_all();
    return stream.end();
}

namespace {

/// The priorities of every device: a lower number is more urgent.
constexpr int least_priority = 0, greatest_priority = -5;

CUresult create_stream(CUstream *out, unsigned flags, int priority) {
    return call_in_context([&](const std::shared_ptr<Context> &context, Lock &) {
        need(out && !(flags & ~unsigned(CU_STREAM_NON_BLOCKING)), CUDA_ERROR_INVALID_VALUE);
        const int clamped = std::clamp(priority, greatest_priority, least_priority);
        *out = driver().streams.add(open_stream(context, flags, clamped));
        return CUDA_SUCCESS;
    });
}

template <class F>
CUresult call_on_stream(CUstream handle, F body) {
    return call_in_context([&](const std::shared_ptr<Context> &context, Lock &lock) {
        return body(stream_of(handle, context), lock);
    });
}

} // namespace

} // namespace pi::cuda::simulated

namespace pi::cuda {

using namespace simulated;

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    return call_in_context([&](const std::shared_ptr<Context> &, Lock &) {
        if (least)
            *least = least_priority;
        if (greatest)
            *greatest = greatest_priority;
        return CUDA_SUCCESS;
    });
}

CUresult cuStreamCreate(CUstream *out, unsigned int flags) {
    return create_stream(out, flags, 0);
}

CUresult cuStreamCreateWithPriority(CUstream *out, unsigned int flags, int priority) {
    return create_stream(out, flags, priority);
}

CUresult cuStreamDestroy_v2(CUstream handle) {
    return call([&](Lock &) {
        const std::shared_ptr<Stream> stream = driver().streams.find(handle);
        need(stream != nullptr, CUDA_ERROR_INVALID_HANDLE);
        close_stream(*stream);
        driver().streams.erase(handle);
        return CUDA_SUCCESS;
    });
}

CUresult cuStreamQuery(CUstream handle) {
    return call_on_stream(handle, [](const std::shared_ptr<Stream> &stream, Lock &) {
        return stream->end().reached() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
    });
}

CUresult cuStreamSynchronize(CUstream handle) {
    return call_on_stream(handle, [](const std::shared_ptr<Stream> &stream, Lock &lock) {
        driver().wait(lock, {stream->end()});
        return stream->context->error;
    });
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned int) {
    return call_on_stream(handle, [&](const std::shared_ptr<Stream> &stream, Lock &) {
        const std::shared_ptr<Event> found = driver().events.find(event);
        need(found != nullptr, CUDA_ERROR_INVALID_HANDLE);
        if (found->record)
            enqueue(*stream, {.after = {found->record->point}});
        return CUDA_SUCCESS;
    });
}

CUresult cuStreamGetPriority(CUstream handle, int *priority) {
    return call_on_stream(handle, [&](const std::shared_ptr<Stream> &stream, Lock &) {
        need(priority, CUDA_ERROR_INVALID_VALUE);
        *priority = stream->priority;
        return CUDA_SUCCESS;
    });
}

CUresult cuStreamGetFlags(CUstream handle, unsigned int *flags) {
    return call_on_stream(handle, [&](const std::shared_ptr<Stream> &stream, Lock &) {
        need(flags, CUDA_ERROR_INVALID_VALUE);
        *flags = stream->flags;
        return CUDA_SUCCESS;
    });
}

CUresult cuStreamGetCtx(CUstream handle, CUcontext *out) {
    return call_on_stream(handle, [&](const std::shared_ptr<Stream> &stream, Lock &) {
        need(out, CUDA_ERROR_INVALID_VALUE);
        *out = stream->context->handle;
        return CUDA_SUCCESS;
    });
}

CUresult cuStreamGetId(CUstream handle, unsigned long long *id) {
    return call_on_stream(handle, [&](const std::shared_ptr<Stream> &stream, Lock &) {
        need(id, CUDA_ERROR_INVALID_VALUE);
        *id = stream->id;
        return CUDA_SUCCESS;
    });
}

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void *data) {
    return call_on_stream(handle, [&](const std::shared_ptr<Stream> &stream, Lock &) {
        need(function, CUDA_ERROR_INVALID_VALUE);
        enqueue(*stream, {.work = [=](CUresult) {
            this_thread().in_callback = true;
            function(data);
            this_thread().in_callback = false;
            return CUDA_SUCCESS;
        }});
        return CUDA_SUCCESS;
    });
}

CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback callback, void *data,
                             unsigned int flags) {
    return call_on_stream(handle, [&](const std::shared_ptr<Stream> &stream, Lock &) {
        need(callback && flags == 0, CUDA_ERROR_INVALID_VALUE);
        enqueue(*stream, {.work =
                              [=](CUresult status) {
                                  this_thread().in_callback = true;
                                  callback(handle, status, data);
                                  this_thread().in_callback = false;
                                  return CUDA_SUCCESS;
                              },
                          .despite_error = true});
        return CUDA_SUCCESS;
    });
}

} // namespace pi::cuda
