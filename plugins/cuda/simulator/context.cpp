// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver.hpp"
#include "leaks.hpp"

#include <utility>

namespace pi::cuda::simulated {

std::shared_ptr<Context> current_context() {
    const Thread &thread = this_thread();
    need(!thread.stack.empty() && thread.stack.back(), CUDA_ERROR_INVALID_CONTEXT);
    const std::shared_ptr<Context> &context = thread.stack.back();
    need(context->alive, CUDA_ERROR_CONTEXT_IS_DESTROYED);
    need(context->error == CUDA_SUCCESS, context->error);
    return context;
}

std::vector<Point> work_of(const Context &context) {
    std::vector<Point> points = context.tails;
    for (const std::weak_ptr<Stream> &weak : context.streams)
        if (const auto stream = weak.lock())
            points.push_back(stream->end());
    return points;
}

std::shared_ptr<Context> create_context(Device &device, unsigned flags) {
    auto context = std::make_shared<Context>();
    context->device = &device;
    context->flags = flags;
    driver().contexts.add(context);
    return context;
}

void destroy_context(const std::shared_ptr<Context> &context, Lock &lock) {
    Driver &all = driver();
    all.wait(lock, work_of(*context));
    if (context->error == CUDA_SUCCESS)
        for (const std::string &leak : leaks_of(*context))
            all.leaked.push_back(leak + ", when it was destroyed");
    const auto of_it = [&](const auto &object) { return object.context == context; };
    for (const auto &[key, stream] : all.streams)
        if (of_it(*stream))
            close_stream(*stream);
    all.streams.erase_if(of_it);
    all.events.erase_if(of_it);
    all.modules.erase_if(of_it);
    all.functions.erase_if(of_it);
    all.textures.erase_if(of_it);
    all.surfaces.erase_if(of_it);
    all.arrays.erase_if(of_it);
    all.links.erase_if(of_it);
    std::vector<std::shared_ptr<Allocation>> gone;
    for (const auto &[address, allocation] : all.allocations)
        if (of_it(*allocation))
            gone.push_back(allocation);
    for (const auto &allocation : gone)
        forget(*allocation);
    if (context->legacy)
        close_stream(*context->legacy);
    for (auto &[thread, stream] : context->per_thread)
        close_stream(*stream);
    context->legacy.reset();
    context->per_thread.clear();
    context->alive = false;
    all.contexts.erase(context->handle);
    // Peers lose access with it, which frees their slots for other peers.
    for (const auto &[key, other] : all.contexts)
        other->peers.erase(context->handle);
}

namespace {

/// Null stays null; throws INVALID_CONTEXT for anything else that is not a context.
std::shared_ptr<Context> context_or_none(CUcontext handle) {
    if (!handle)
        return nullptr;
    std::shared_ptr<Context> context = driver().contexts.find(handle);
    need(context != nullptr, CUDA_ERROR_INVALID_CONTEXT);
    return context;
}

} // namespace

} // namespace pi::cuda::simulated

namespace pi::cuda {

using namespace simulated;

CUresult cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice ordinal) {
    return call([&](Lock &) {
        need(out, CUDA_ERROR_INVALID_VALUE);
        Device &device = driver().device(ordinal);
        if (!device.primary)
            device.primary = create_context(device, device.primary_flags);
        ++device.primary_count;
        *out = device.primary->handle;
        return CUDA_SUCCESS;
    });
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice ordinal) {
    return call([&](Lock &lock) {
        Device &device = driver().device(ordinal);
        need(device.primary_count > 0, CUDA_ERROR_INVALID_CONTEXT);
        if (--device.primary_count == 0)
            destroy_context(std::exchange(device.primary, nullptr), lock);
        return CUDA_SUCCESS;
    });
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice ordinal) {
    return call([&](Lock &lock) {
        Device &device = driver().device(ordinal);
        device.primary_count = 0;
        if (device.primary)
            destroy_context(std::exchange(device.primary, nullptr), lock);
        return CUDA_SUCCESS;
    });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned int *flags, int *active) {
    return call([&](Lock &) {
        need(flags && active, CUDA_ERROR_INVALID_VALUE);
        const Device &device = driver().device(ordinal);
        *flags = device.primary_flags;
        *active = device.primary != nullptr;
        return CUDA_SUCCESS;
    });
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice ordinal, unsigned int flags) {
    return call([&](Lock &) {
        driver().device(ordinal).primary_flags = flags;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxCreate_v2(CUcontext *out, unsigned int flags, CUdevice ordinal) {
    return call([&](Lock &) {
        need(out, CUDA_ERROR_INVALID_VALUE);
        const auto context = create_context(driver().device(ordinal), flags);
        this_thread().stack.push_back(context);
        *out = context->handle;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxDestroy_v2(CUcontext handle) {
    return call([&](Lock &lock) {
        const std::shared_ptr<Context> context = context_or_none(handle);
        need(context && context != context->device->primary, CUDA_ERROR_INVALID_CONTEXT);
        destroy_context(context, lock);
        std::vector<std::shared_ptr<Context>> &stack = this_thread().stack;
        if (!stack.empty() && stack.back() == context)
            stack.pop_back();
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxSetCurrent(CUcontext handle) {
    return call([&](Lock &) {
        const std::shared_ptr<Context> context = context_or_none(handle);
        std::vector<std::shared_ptr<Context>> &stack = this_thread().stack;
        if (!stack.empty())
            stack.pop_back();
        if (context)
            stack.push_back(context);
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxPushCurrent_v2(CUcontext handle) {
    return call([&](Lock &) {
        const std::shared_ptr<Context> context = context_or_none(handle);
        need(context != nullptr, CUDA_ERROR_INVALID_CONTEXT);
        this_thread().stack.push_back(context);
        ++this_thread().pushed;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxPopCurrent_v2(CUcontext *out) {
    return call([&](Lock &) {
        std::vector<std::shared_ptr<Context>> &stack = this_thread().stack;
        need(!stack.empty(), CUDA_ERROR_INVALID_CONTEXT);
        if (out)
            *out = stack.back()->handle;
        stack.pop_back();
        if (this_thread().pushed > 0)
            --this_thread().pushed;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxGetCurrent(CUcontext *out) {
    return call([&](Lock &) {
        need(out, CUDA_ERROR_INVALID_VALUE);
        const std::vector<std::shared_ptr<Context>> &stack = this_thread().stack;
        *out = stack.empty() ? nullptr : stack.back()->handle;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxGetDevice(CUdevice *out) {
    return call_in_context([&](const std::shared_ptr<Context> &context, Lock &) {
        need(out, CUDA_ERROR_INVALID_VALUE);
        *out = context->device->ordinal;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxGetFlags(unsigned int *flags) {
    return call_in_context([&](const std::shared_ptr<Context> &context, Lock &) {
        need(flags, CUDA_ERROR_INVALID_VALUE);
        *flags = context->flags;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxGetApiVersion(CUcontext handle, unsigned int *version) {
    return call([&](Lock &) {
        need(version, CUDA_ERROR_INVALID_VALUE);
        if (handle)
            context_or_none(handle);
        else
            current_context();
        *version = 3020;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxSynchronize() {
    return call_in_context([](const std::shared_ptr<Context> &context, Lock &lock) {
        driver().wait(lock, work_of(*context));
        return context->error;
    });
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
    return call_in_context([&](const std::shared_ptr<Context> &context, Lock &) {
        context->limits[limit] = value;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxGetLimit(size_t *value, CUlimit limit) {
    return call_in_context([&](const std::shared_ptr<Context> &context, Lock &) {
        need(value, CUDA_ERROR_INVALID_VALUE);
        *value = context->limits[limit];
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxEnablePeerAccess(CUcontext handle, unsigned int flags) {
    return call_in_context([&](const std::shared_ptr<Context> &context, Lock &) {
        need(flags == 0, CUDA_ERROR_INVALID_VALUE);
        const std::shared_ptr<Context> peer = context_or_none(handle);
        need(peer && peer != context, CUDA_ERROR_INVALID_CONTEXT);
        const auto user = static_cast<size_t>(context->device->ordinal);
        const auto owner = static_cast<size_t>(peer->device->ordinal);
        need(user == owner || driver().machine.access[user][owner],
             CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
        need(!context->peers.count(handle), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
        need(context->peers.size() < driver().config.max_peers, CUDA_ERROR_TOO_MANY_PEERS);
        context->peers.insert(handle);
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxDisablePeerAccess(CUcontext handle) {
    return call_in_context([&](const std::shared_ptr<Context> &context, Lock &) {
        need(context_or_none(handle) != nullptr, CUDA_ERROR_INVALID_CONTEXT);
        need(context->peers.erase(handle) == 1, CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
        return CUDA_SUCCESS;
    });
}

} // namespace pi::cuda
