// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An OpenCL layer that makes shadow copies of the application's memory. The driver's handles pass
// through unchanged; a registry lists those that are shadows.
#include "../answer.hpp"
#include "config.hpp"

#include <map>
#include <mutex>
#include <optional>

namespace simulated {

namespace {

struct Map {
    std::byte *begin;
    size_t size;
    bool writes;
};

/// A buffer or sub-buffer; `host` is its memory at the host.
struct Shadow {
    std::byte *host;
    std::vector<Map> maps; ///< in the order of their enqueues
};

struct Layer {
    cl_icd_dispatch table{};
    const cl_icd_dispatch *below = nullptr;
    size_t from_size = 0;
    std::mutex mutex; ///< guards the registry
    std::map<cl_mem, Shadow> shadows;
};
Layer &layer() {
    // Never destroyed: threads of the driver may still call while the process exits.
    static Layer *const one = new Layer;
    return *one;
}

std::byte *host_of(cl_mem mem) {
    const std::lock_guard lock(layer().mutex);
    const auto found = layer().shadows.find(mem);
    return found == layer().shadows.end() ? nullptr : found->second.host;
}

void CL_CALLBACK forget(cl_mem mem, void *) {
    const std::lock_guard lock(layer().mutex);
    layer().shadows.erase(mem);
}

/// Called before the application has the handle, so that its own destructor callbacks are called
/// earlier.
void remember(cl_mem mem, std::byte *host) {
    {
        const std::lock_guard lock(layer().mutex);
        layer().shadows[mem] = {host, {}};
    }
    layer().below->clSetMemObjectDestructorCallback(mem, forget, nullptr);
}

template <class T>
T ask(cl_mem mem, cl_mem_info name) {
    T value{};
    layer().below->clGetMemObjectInfo(mem, name, sizeof value, &value, nullptr);
    return value;
}

// ----- buffers -----------------------------------------------------------------------------------

/// `create(flags)` creates the driver's buffer.
template <class Create>
cl_mem create_shadow(cl_mem_flags flags, size_t size, void *host, const Create &create) {
    // The driver's checks come first. By the standard, a buffer over shared virtual memory is that
    // memory.
    const cl_mem in_place = create(flags);
    if (!in_place || !(flags & CL_MEM_USE_HOST_PTR) || size < layer().from_size ||
        ask<cl_bool>(in_place, CL_MEM_USES_SVM_POINTER))
        return in_place;
    layer().below->clReleaseMemObject(in_place);
    const cl_mem mem = create((flags & ~cl_mem_flags{CL_MEM_USE_HOST_PTR}) | CL_MEM_COPY_HOST_PTR);
    if (mem)
        remember(mem, static_cast<std::byte *>(host));
    return mem;
}

cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, size_t size, void *host,
                                 cl_int *out_code) {
    return create_shadow(flags, size, host, [&](cl_mem_flags chosen) {
        return layer().below->clCreateBuffer(context, chosen, size, host, out_code);
    });
}

cl_mem CL_API_CALL create_buffer_with_properties(cl_context context,
                                                 const cl_mem_properties *properties,
                                                 cl_mem_flags flags, size_t size, void *host,
                                                 cl_int *out_code) {
    return create_shadow(flags, size, host, [&](cl_mem_flags chosen) {
        return layer().below->clCreateBufferWithProperties(context, properties, chosen, size, host,
                                                           out_code);
    });
}

cl_mem CL_API_CALL create_sub_buffer(cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type type,
                                     const void *info, cl_int *out_code) {
    const cl_mem mem = layer().below->clCreateSubBuffer(buffer, flags, type, info, out_code);
    std::byte *const host = mem ? host_of(buffer) : nullptr;
    if (host)
        remember(mem, host + static_cast<const cl_buffer_region *>(info)->origin);
    return mem;
}

cl_int CL_API_CALL get_mem_info(cl_mem mem, cl_mem_info name, size_t size, void *value,
                                size_t *out_size) {
    std::byte *const host = host_of(mem);
    if (host && name == CL_MEM_HOST_PTR)
        return answer(static_cast<void *>(host), size, value, out_size);
    if (host && name == CL_MEM_FLAGS) {
        const cl_mem_flags flags =
            ask<cl_mem_flags>(mem, name) & ~cl_mem_flags{CL_MEM_COPY_HOST_PTR};
        return answer(flags | CL_MEM_USE_HOST_PTR, size, value, out_size);
    }
    if (host && name == CL_MEM_MAP_COUNT) {
        const std::lock_guard lock(layer().mutex);
        const auto count = static_cast<cl_uint>(layer().shadows[mem].maps.size());
        return answer(count, size, value, out_size);
    }
    return layer().below->clGetMemObjectInfo(mem, name, size, value, out_size);
}

// ----- maps --------------------------------------------------------------------------------------

cl_int mark(cl_command_queue queue, bool blocking, cl_uint count, const cl_event *waits,
            cl_event *out_event) {
    const cl_icd_dispatch &below = *layer().below;
    cl_event event = nullptr;
    cl_int code = below.clEnqueueMarkerWithWaitList(queue, count, waits, &event);
    if (code != CL_SUCCESS)
        return code;
    if (blocking) {
        below.clFlush(queue);
        code = below.clWaitForEvents(1, &event);
    }
    if (out_event && code == CL_SUCCESS)
        *out_event = event;
    else
        below.clReleaseEvent(event);
    return code;
}

bool is_range(cl_mem mem, size_t offset, size_t size) {
    const auto whole = ask<size_t>(mem, CL_MEM_SIZE);
    return size && offset <= whole && size <= whole - offset;
}

void *CL_API_CALL enqueue_map(cl_command_queue queue, cl_mem mem, cl_bool blocking,
                              cl_map_flags flags, size_t offset, size_t size, cl_uint count,
                              const cl_event *waits, cl_event *out_event, cl_int *out_code) {
    const cl_icd_dispatch &below = *layer().below;
    std::byte *const host = host_of(mem);
    if (!host)
        return below.clEnqueueMapBuffer(queue, mem, blocking, flags, offset, size, count, waits,
                                        out_event, out_code);
    const bool discards = flags & CL_MAP_WRITE_INVALIDATE_REGION;
    cl_int code = CL_INVALID_VALUE;
    if (discards && flags == CL_MAP_WRITE_INVALIDATE_REGION && is_range(mem, offset, size))
        code = mark(queue, blocking, count, waits, out_event);
    else if (!discards && !(flags & ~cl_map_flags{CL_MAP_READ | CL_MAP_WRITE}))
        code = below.clEnqueueReadBuffer(queue, mem, blocking, offset, size, host + offset, count,
                                         waits, out_event);
    set_code(out_code, code);
    if (code != CL_SUCCESS)
        return nullptr;
    const std::lock_guard lock(layer().mutex);
    layer().shadows[mem].maps.push_back(
        {host + offset, size, discards || (flags & CL_MAP_WRITE) != 0});
    return host + offset;
}

/// Takes the oldest map with this address out of the buffer's list.
std::optional<Map> take_map(cl_mem mem, const void *address) {
    const std::lock_guard lock(layer().mutex);
    std::vector<Map> &maps = layer().shadows[mem].maps;
    const auto found = std::find_if(maps.begin(), maps.end(),
                                    [&](const Map &map) { return map.begin == address; });
    if (found == maps.end())
        return std::nullopt;
    const Map map = *found;
    maps.erase(found);
    return map;
}

cl_int CL_API_CALL enqueue_unmap(cl_command_queue queue, cl_mem mem, void *address, cl_uint count,
                                 const cl_event *waits, cl_event *out_event) {
    const cl_icd_dispatch &below = *layer().below;
    std::byte *const host = host_of(mem);
    if (!host)
        return below.clEnqueueUnmapMemObject(queue, mem, address, count, waits, out_event);
    const std::optional<Map> map = take_map(mem, address);
    if (!map)
        return CL_INVALID_VALUE;
    const cl_int code =
        map->writes ? below.clEnqueueWriteBuffer(queue, mem, CL_FALSE,
                                                 static_cast<size_t>(map->begin - host), map->size,
                                                 map->begin, count, waits, out_event)
                    : mark(queue, false, count, waits, out_event);
    if (code != CL_SUCCESS) {
        const std::lock_guard lock(layer().mutex);
        layer().shadows[mem].maps.push_back(*map);
    }
    return code;
}

// ----- devices -----------------------------------------------------------------------------------

cl_int CL_API_CALL get_device_info(cl_device_id device, cl_device_info name, size_t size,
                                   void *value, size_t *out_size) {
    const auto &below = layer().below->clGetDeviceInfo;
    if (name == CL_DEVICE_NAME)
        return answer(ask_text(below, device, name) + " (shadow copies)", size, value, out_size);
    return below(device, name, size, value, out_size);
}

} // namespace

} // namespace simulated

extern "C" __attribute__((visibility("default"))) cl_int CL_API_CALL
clGetLayerInfo(cl_layer_info name, size_t size, void *value, size_t *out_size) {
    return simulated::answer_layer_info("PI's shadow copies", name, size, value, out_size);
}

extern "C" __attribute__((visibility("default"))) cl_int CL_API_CALL
clInitLayer(cl_uint entry_count, const cl_icd_dispatch *below, cl_uint *out_entry_count,
            const cl_icd_dispatch **out_table) {
    using namespace simulated;
    return init_layer(layer(), entry_count, below, out_entry_count, out_table, [=](auto &table) {
        layer().from_size = read_shadow_size();
        table.clCreateBuffer = create_buffer;
        if (below->clCreateBufferWithProperties)
            table.clCreateBufferWithProperties = create_buffer_with_properties;
        table.clCreateSubBuffer = create_sub_buffer;
        table.clEnqueueMapBuffer = enqueue_map;
        table.clEnqueueUnmapMemObject = enqueue_unmap;
        table.clGetDeviceInfo = get_device_info;
        table.clGetMemObjectInfo = get_mem_info;
    });
}
