// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Helpers for layers: answers to OpenCL's queries, and queries of the driver below.
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_icd.h>
#include <CL/cl_layer.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace simulated {

/// Answers a clGet...Info call with bytes.
inline cl_int answer_bytes(const void *bytes, size_t needed, size_t size, void *value,
                           size_t *out_size) {
    if (value && size < needed)
        return CL_INVALID_VALUE;
    if (value && needed)
        std::memcpy(value, bytes, needed);
    if (out_size)
        *out_size = needed;
    return CL_SUCCESS;
}
template <class T>
cl_int answer(const T &one, size_t size, void *value, size_t *out_size) {
    return answer_bytes(&one, sizeof one, size, value, out_size);
}
inline cl_int answer(const std::string &text, size_t size, void *value, size_t *out_size) {
    return answer_bytes(text.c_str(), text.size() + 1, size, value, out_size);
}
template <class T>
cl_int answer(const std::vector<T> &list, size_t size, void *value, size_t *out_size) {
    return answer_bytes(list.data(), list.size() * sizeof(T), size, value, out_size);
}

/// clGetLayerInfo for a layer of this name.
inline cl_int answer_layer_info(const std::string &layer, cl_layer_info name, size_t size,
                                void *value, size_t *out_size) {
    switch (name) {
    case CL_LAYER_API_VERSION:
        return answer(cl_layer_api_version{CL_LAYER_API_VERSION_100}, size, value, out_size);
    case CL_LAYER_NAME:
        return answer(layer, size, value, out_size);
    default:
        return CL_INVALID_VALUE;
    }
}

/// clInitLayer: `fill` puts the layer's functions into its table.
template <class Layer, class Fill>
cl_int init_layer(Layer &layer, cl_uint entry_count, const cl_icd_dispatch *below,
                  cl_uint *out_entry_count, const cl_icd_dispatch **out_table, Fill &&fill) {
    constexpr cl_uint needed = sizeof(cl_icd_dispatch) / sizeof(void *);
    if (!below || !out_entry_count || !out_table || entry_count < needed)
        return CL_INVALID_VALUE;
    layer.below = below;
    fill(layer.table);
    *out_entry_count = needed;
    *out_table = &layer.table;
    return CL_SUCCESS;
}

/// A list from a query of the driver below; empty if it fails.
template <class T, class Function, class... Arguments>
std::vector<T> ask_list(Function function, Arguments... arguments) {
    size_t size = 0;
    if (function(arguments..., 0, nullptr, &size) != CL_SUCCESS)
        return {};
    std::vector<T> values(size / sizeof(T));
    if (!values.empty() && function(arguments..., size, values.data(), nullptr) != CL_SUCCESS)
        return {};
    return values;
}
template <class Function, class... Arguments>
std::string ask_text(Function function, Arguments... arguments) {
    const std::vector<char> bytes = ask_list<char>(function, arguments...);
    return {bytes.begin(), std::find(bytes.begin(), bytes.end(), '\0')};
}

/// Sets *out unless it is null.
inline void set_code(cl_int *out, cl_int code) {
    if (out)
        *out = code;
}

} // namespace simulated
