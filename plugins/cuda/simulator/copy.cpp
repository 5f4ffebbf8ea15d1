// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "copy.hpp"

#include "simulator/lost_pages.hpp"

#include <cstring>
#include <utility>

namespace pi::cuda::simulated {

namespace {

/// An end whose bytes are resolved: row y of slice z is at first + z * slice + y * pitch.
struct Rows {
    char *first = nullptr;
    size_t pitch = 0, slice = 0;
    std::vector<std::shared_ptr<Allocation>> owners;
    std::shared_ptr<std::vector<char>> staged;

    /// The device that owns the memory; nullopt for the host.
    std::optional<size_t> device() const {
        return owners.empty() ? std::nullopt : device_index(*owners.front());
    }
    /// A byte's offset in their memory.
    size_t offset(const char *byte) const {
        return static_cast<size_t>(byte - (owners.empty() ? first : owners.front()->bytes));
    }
};

void copy_rows(const Rows &to, const Rows &from, const Extent &extent, bool loses_pages = false) {
    for (size_t z = 0; z < extent.depth; ++z)
        for (size_t y = 0; y < extent.height; ++y) {
            char *const out = to.first + z * to.slice + y * to.pitch;
            const char *const in = from.first + z * from.slice + y * from.pitch;
            if (loses_pages)
                drivers::copy_and_lose_pages(out, in, extent.width, to.offset(out));
            else
                std::memmove(out, in, extent.width);
        }
}

struct Span {
    size_t offset, size, slice;
};

Span span_of(const End &end, const Extent &extent) {
    const size_t slice = end.pitch * (end.height ? end.height : extent.height + end.y);
    return {end.z * slice + end.y * end.pitch + end.x,
            (extent.depth - 1) * slice + (extent.height - 1) * end.pitch + extent.width, slice};
}

/// Resolves UNIFIED, and refuses what a call can check, such as an array of another context than
/// the end's, or the stream's. Afterwards HOST means pageable memory.
void settle(End &end, const Extent &extent, const std::shared_ptr<Context> &context) {
    if (end.type == CU_MEMORYTYPE_ARRAY) {
        const std::shared_ptr<Array> array = driver().arrays.find(end.array);
        need(array && array->context == (end.context ? end.context : context),
             CUDA_ERROR_INVALID_HANDLE);
        need(end.x % array->element == 0 && extent.width % array->element == 0,
             CUDA_ERROR_INVALID_VALUE);
        const size_t rows = array->row ? array->slice / array->row : 0;
        const size_t slices = array->slice ? array->memory->size / array->slice : 0;
        need(end.x + extent.width <= array->row && end.y + extent.height <= rows &&
                 end.z + extent.depth <= slices,
             CUDA_ERROR_INVALID_VALUE);
        end.pitch = array->row;
        end.height = rows;
        return;
    }
    need(end.pitch <= max_pitch, CUDA_ERROR_INVALID_VALUE);
    if (end.pitch == 0 && extent.height == 1 && extent.depth == 1)
        end.pitch = end.x + extent.width;
    need(end.pitch >= end.x + extent.width, CUDA_ERROR_INVALID_VALUE);
    need(extent.depth == 1 || end.height == 0 || end.height >= end.y + extent.height,
         CUDA_ERROR_INVALID_VALUE);
    const Span span = span_of(end, extent);
    const CUdeviceptr first = end.address + span.offset;
    const std::shared_ptr<Allocation> memory = find_allocation(first);
    const bool touchable = !memory || memory->host() || memory->kind == Kind::managed;
    if (end.type == CU_MEMORYTYPE_HOST)
        need(touchable && end.address, CUDA_ERROR_INVALID_VALUE);
    if (end.type == CU_MEMORYTYPE_DEVICE || memory) {
        need(known(first, span.size), CUDA_ERROR_INVALID_VALUE);
        end.type = touchable && memory ? CU_MEMORYTYPE_UNIFIED : CU_MEMORYTYPE_DEVICE;
    } else {
        end.type = CU_MEMORYTYPE_HOST;
    }
}

/// The bytes at the time of the copy; throws ILLEGAL_ADDRESS.
Rows resolve(const End &end, const Extent &extent, const Context &context, bool write) {
    const Span span = span_of(end, extent);
    Rows rows;
    rows.pitch = end.pitch;
    rows.slice = span.slice;
    if (end.type == CU_MEMORYTYPE_HOST) {
        rows.first = reinterpret_cast<char *>(end.address) + span.offset;
    } else if (end.type == CU_MEMORYTYPE_ARRAY) {
        const std::shared_ptr<Array> array = driver().arrays.find(end.array);
        need(array != nullptr, CUDA_ERROR_ILLEGAL_ADDRESS);
        rows.first = array->memory->bytes + span.offset;
        rows.owners.push_back(array->memory);
    } else {
        Bytes bytes = reach(end.address + span.offset, span.size,
                            end.context ? *end.context : context, write);
        rows.first = bytes.data;
        rows.owners = std::move(bytes.owners);
    }
    return rows;
}

/// A copy of the pageable rows, as they are now.
Rows stage(const End &end, const Extent &extent, const Context &context) {
    Rows rows;
    rows.staged = std::make_shared<std::vector<char>>(extent.width * extent.height * extent.depth);
    rows.first = rows.staged->data();
    rows.pitch = extent.width;
    rows.slice = extent.width * extent.height;
    copy_rows(rows, resolve(end, extent, context, false), extent);
    return rows;
}

/// In linear memory, layers of 1-D images are one pitch apart, whatever the height, without an
/// error: as in driver 580.159 on an H100.
void step_layers_by_pitch(End &linear, const End &other) {
    if (linear.type == CU_MEMORYTYPE_ARRAY || other.type != CU_MEMORYTYPE_ARRAY)
        return;
    const CUDA_ARRAY3D_DESCRIPTOR &array = driver().arrays.find(other.array)->descriptor;
    if ((array.Flags & CUDA_ARRAY3D_LAYERED) && !array.Height)
        linear.height = 1;
}

} // namespace

CUresult copy(Lock &lock, const std::shared_ptr<Stream> &stream, End to, End from, Extent extent,
              Return mode) {
    if (extent.empty())
        return CUDA_SUCCESS;
    Driver &all = driver();
    settle(to, extent, stream->context);
    settle(from, extent, stream->context);
    step_layers_by_pitch(to, from);
    step_layers_by_pitch(from, to);
    const bool to_pageable = to.type == CU_MEMORYTYPE_HOST;
    const bool from_pageable = from.type == CU_MEMORYTYPE_HOST;
    const auto on_device = [](const End &end) {
        return end.type == CU_MEMORYTYPE_DEVICE || end.type == CU_MEMORYTYPE_ARRAY;
    };
    if (mode == Return::as_cuda && from_pageable)
        all.wait(lock, {stream->end()});
    Rows staged;
    if (from_pageable)
        staged = stage(from, extent, *stream->context);
    const Point end = enqueue(*stream, {.work = [=, &all](CUresult) {
        Lock inner(all.mutex);
        const Context &context = *stream->context;
        const Rows source = from_pageable ? staged : resolve(from, extent, context, false);
        const Rows target = resolve(to, extent, context, true);
        const bool loses_pages = all.machine.copy_loses_pages(
            source.device(), size_t(context.device->ordinal), target.device());
        inner.unlock();
        copy_rows(target, source, extent, loses_pages);
        return CUDA_SUCCESS;
    }});
    const bool wait =
        mode == Return::completed || to_pageable ||
        (mode == Return::as_cuda && !from_pageable && !(on_device(to) && on_device(from)));
    if (wait) {
        all.wait(lock, {end});
        return stream->context->error;
    }
    return CUDA_SUCCESS;
}

namespace {

CUresult copy_linear(CUstream handle, CUmemorytype to_type, CUdeviceptr to, CUmemorytype from_type,
                     CUdeviceptr from, size_t size, Return mode) {
    return call_in_context([&](const std::shared_ptr<Context> &context, Lock &lock) {
        return copy(lock, stream_of(handle, context), {.type = to_type, .address = to},
                    {.type = from_type, .address = from}, {.width = size}, mode);
    });
}

CUdeviceptr number(const void *pointer) {
    return reinterpret_cast<CUdeviceptr>(pointer);
}

std::shared_ptr<Context> context_at(CUcontext handle) {
    std::shared_ptr<Context> context = driver().contexts.find(handle);
    need(context != nullptr, CUDA_ERROR_INVALID_CONTEXT);
    need(context->error == CUDA_SUCCESS, context->error);
    return context;
}

CUresult copy_peer(CUstream handle, const End &to, const End &from, size_t size, Return mode) {
    return call_in_context([&](const std::shared_ptr<Context> &context, Lock &lock) {
        if (mode == Return::completed) {
            driver().wait(lock, work_of(*to.context));
            driver().wait(lock, work_of(*from.context));
        }
        return copy(lock, stream_of(handle, context), to, from, {.width = size}, mode);
    });
}

End end_of(CUmemorytype type, const void *host, CUdeviceptr device, CUarray array) {
    return {.type = type,
            .address = type == CU_MEMORYTYPE_HOST ? number(host) : device,
            .array = array};
}

End place(End end, size_t x, size_t y, size_t z, size_t pitch, size_t height) {
    end.x = x;
    end.y = y;
    end.z = z;
    end.pitch = pitch;
    end.height = height;
    return end;
}

CUresult copy_2d(const CUDA_MEMCPY2D *c, CUstream handle, Return mode) {
    return call_in_context([&](const std::shared_ptr<Context> &context, Lock &lock) {
        need(c, CUDA_ERROR_INVALID_VALUE);
        return copy(lock, stream_of(handle, context),
                    place(end_of(c->dstMemoryType, c->dstHost, c->dstDevice, c->dstArray),
                          c->dstXInBytes, c->dstY, 0, c->dstPitch, 0),
                    place(end_of(c->srcMemoryType, c->srcHost, c->srcDevice, c->srcArray),
                          c->srcXInBytes, c->srcY, 0, c->srcPitch, 0),
                    {c->WidthInBytes, c->Height, 1}, mode);
    });
}

/// CUDA_MEMCPY3D or CUDA_MEMCPY3D_PEER, which has contexts in addition.
template <class Copy>
End target(const Copy &c) {
    return place(end_of(c.dstMemoryType, c.dstHost, c.dstDevice, c.dstArray), c.dstXInBytes, c.dstY,
                 c.dstZ, c.dstPitch, c.dstHeight);
}
template <class Copy>
End source(const Copy &c) {
    return place(end_of(c.srcMemoryType, c.srcHost, c.srcDevice, c.srcArray), c.srcXInBytes, c.srcY,
                 c.srcZ, c.srcPitch, c.srcHeight);
}

/// A copy within an array of 2-D layers reads the layer that it writes, without an error: as in
/// driver 580.159 on an H200. Layers out of range are left, to be refused.
void take_layers_of(End &from, const End &to, size_t layers) {
    if (!to.array || to.array != from.array)
        return;
    const std::shared_ptr<Array> array = driver().arrays.find(to.array);
    if (array && (array->descriptor.Flags & CUDA_ARRAY3D_LAYERED) && array->descriptor.Height &&
        layers <= array->descriptor.Depth && from.z <= array->descriptor.Depth - layers)
        from.z = to.z;
}

CUresult copy_3d(const CUDA_MEMCPY3D *c, CUstream handle, Return mode) {
    return call_in_context([&](const std::shared_ptr<Context> &context, Lock &lock) {
        need(c && !c->reserved0 && !c->reserved1, CUDA_ERROR_INVALID_VALUE);
        const End to = target(*c);
        End from = source(*c);
        take_layers_of(from, to, c->Depth);
        return copy(lock, stream_of(handle, context), to, from,
                    {c->WidthInBytes, c->Height, c->Depth}, mode);
    });
}

CUresult copy_3d_peer(const CUDA_MEMCPY3D_PEER *c, CUstream handle, Return mode) {
    return call_in_context([&](const std::shared_ptr<Context> &context, Lock &lock) {
        need(c, CUDA_ERROR_INVALID_VALUE);
        End to = target(*c), from = source(*c);
        to.context = context_at(c->dstContext);
        from.context = context_at(c->srcContext);
        take_layers_of(from, to, c->Depth);
        return copy(lock, stream_of(handle, context), to, from,
                    {c->WidthInBytes, c->Height, c->Depth}, mode);
    });
}

CUresult copy_peer_call(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                        CUcontext from_context, size_t size, CUstream stream, Return mode) {
    End ends[2] = {{.type = CU_MEMORYTYPE_UNIFIED, .address = to},
                   {.type = CU_MEMORYTYPE_UNIFIED, .address = from}};
    const CUresult found = call([&](Lock &) {
        ends[0].context = context_at(to_context);
        ends[1].context = context_at(from_context);
        return CUDA_SUCCESS;
    });
    return found == CUDA_SUCCESS ? copy_peer(stream, ends[0], ends[1], size, mode) : found;
}

} // namespace

} // namespace pi::cuda::simulated

namespace pi::cuda {

using namespace simulated;

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t size) {
    return copy_linear(nullptr, CU_MEMORYTYPE_UNIFIED, to, CU_MEMORYTYPE_UNIFIED, from, size,
                       Return::as_cuda);
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
    return copy_linear(stream, CU_MEMORYTYPE_UNIFIED, to, CU_MEMORYTYPE_UNIFIED, from, size,
                       Return::enqueued);
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t size) {
    return copy_linear(nullptr, CU_MEMORYTYPE_DEVICE, to, CU_MEMORYTYPE_HOST, number(from), size,
                       Return::as_cuda);
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t size, CUstream stream) {
    return copy_linear(stream, CU_MEMORYTYPE_DEVICE, to, CU_MEMORYTYPE_HOST, number(from), size,
                       Return::enqueued);
}
CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size) {
    return copy_linear(nullptr, CU_MEMORYTYPE_HOST, number(to), CU_MEMORYTYPE_DEVICE, from, size,
                       Return::as_cuda);
}
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size, CUstream stream) {
    return copy_linear(stream, CU_MEMORYTYPE_HOST, number(to), CU_MEMORYTYPE_DEVICE, from, size,
                       Return::enqueued);
}
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t size) {
    return copy_linear(nullptr, CU_MEMORYTYPE_DEVICE, to, CU_MEMORYTYPE_DEVICE, from, size,
                       Return::as_cuda);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
    return copy_linear(stream, CU_MEMORYTYPE_DEVICE, to, CU_MEMORYTYPE_DEVICE, from, size,
                       Return::enqueued);
}

CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                      CUcontext from_context, size_t size) {
    return copy_peer_call(to, to_context, from, from_context, size, nullptr, Return::completed);
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                           CUcontext from_context, size_t size, CUstream stream) {
    return copy_peer_call(to, to_context, from, from_context, size, stream, Return::enqueued);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *c) {
    return copy_2d(c, nullptr, Return::as_cuda);
}
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *c) {
    return copy_2d(c, nullptr, Return::as_cuda);
}
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *c, CUstream stream) {
    return copy_2d(c, stream, Return::enqueued);
}
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *c) {
    return copy_3d(c, nullptr, Return::as_cuda);
}
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *c, CUstream stream) {
    return copy_3d(c, stream, Return::enqueued);
}
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *c) {
    return copy_3d_peer(c, nullptr, Return::completed);
}
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *c, CUstream stream) {
    return copy_3d_peer(c, stream, Return::enqueued);
}

} // namespace pi::cuda
