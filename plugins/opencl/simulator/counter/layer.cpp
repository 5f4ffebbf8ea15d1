// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An OpenCL layer that counts calls of the functions that commands need.
#include "../answer.hpp"

#include <atomic>
#include <utility>

namespace simulated {

namespace {

struct Layer {
    cl_icd_dispatch table{};
    const cl_icd_dispatch *below = nullptr;
};
Layer &layer() {
    // Never destroyed: threads of the driver may still call while the process exits.
    static Layer *const one = new Layer;
    return *one;
}

template <auto Entry>
struct Counter;
template <class Result, class... Arguments,
          Result (CL_API_CALL *cl_icd_dispatch::*Entry)(Arguments...)>
struct Counter<Entry> {
    static inline std::atomic<uint64_t> count{0};
    static Result CL_API_CALL call(Arguments... arguments) {
        ++count;
        return (layer().below->*Entry)(arguments...);
    }
};

struct Row {
    const char *name;
    std::atomic<uint64_t> *count;
    void (*install)();
};
#define PI_COUNTED(name)                                                                           \
    {                                                                                              \
#name, &Counter < &cl_icd_dispatch::name> ::count,                                         \
            [] { layer().table.name = Counter<&cl_icd_dispatch::name>::call; }                     \
    }
const Row rows[] = {
    PI_COUNTED(clCreateBuffer),
    PI_COUNTED(clEnqueueCopyBuffer),
    PI_COUNTED(clEnqueueCopyBufferRect),
    PI_COUNTED(clEnqueueCopyBufferToImage),
    PI_COUNTED(clEnqueueCopyImageToBuffer),
    PI_COUNTED(clEnqueueFillBuffer),
    PI_COUNTED(clEnqueueMarkerWithWaitList),
    PI_COUNTED(clEnqueueReadBuffer),
    PI_COUNTED(clEnqueueReadBufferRect),
    PI_COUNTED(clEnqueueSVMMemcpy),
    PI_COUNTED(clEnqueueWriteBuffer),
    PI_COUNTED(clEnqueueWriteBufferRect),
    PI_COUNTED(clFinish),
    PI_COUNTED(clFlush),
    PI_COUNTED(clGetEventInfo),
    PI_COUNTED(clReleaseEvent),
    PI_COUNTED(clRetainEvent),
    PI_COUNTED(clSetEventCallback),
    PI_COUNTED(clSetKernelExecInfo),
    PI_COUNTED(clWaitForEvents),
};
#undef PI_COUNTED

} // namespace

} // namespace simulated

/// For tests: the number of calls of the function; "" = of all counted functions.
extern "C" __attribute__((visibility("default"))) uint64_t pi_opencl_calls(const char *name) {
    uint64_t sum = 0;
    for (const simulated::Row &row : simulated::rows)
        if (!*name || !std::strcmp(row.name, name))
            sum += *row.count;
    return sum;
}

extern "C" __attribute__((visibility("default"))) cl_int CL_API_CALL
clGetLayerInfo(cl_layer_info name, size_t size, void *value, size_t *out_size) {
    return simulated::answer_layer_info("PI's counter of calls", name, size, value, out_size);
}

extern "C" __attribute__((visibility("default"))) cl_int CL_API_CALL
clInitLayer(cl_uint entry_count, const cl_icd_dispatch *below, cl_uint *out_entry_count,
            const cl_icd_dispatch **out_table) {
    using namespace simulated;
    return init_layer(layer(), entry_count, below, out_entry_count, out_table, [](auto &) {
        for (const Row &row : rows)
            row.install();
    });
}
