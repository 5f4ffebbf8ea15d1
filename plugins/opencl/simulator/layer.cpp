// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "layer.hpp"

#include <algorithm>

namespace simulated {

Layer &layer() {
    // Never destroyed: threads of the driver may still call while the process exits.
    static Layer *const one = new Layer;
    return *one;
}

std::shared_ptr<Program> Layer::find(cl_program program) {
    const std::lock_guard lock(mutex);
    const auto found = programs.find(program);
    return found == programs.end() ? nullptr : found->second;
}

size_t Layer::kernels_of(const Program &program) {
    const std::lock_guard lock(mutex);
    return static_cast<size_t>(
        std::count_if(kernels.begin(), kernels.end(),
                      [&](const auto &entry) { return entry.second.program.get() == &program; }));
}

} // namespace simulated

extern "C" __attribute__((visibility("default"))) cl_int CL_API_CALL
clGetLayerInfo(cl_layer_info name, size_t size, void *value, size_t *out_size) {
    return simulated::answer_layer_info("PI's simulated SPIR-V", name, size, value, out_size);
}

extern "C" __attribute__((visibility("default"))) cl_int CL_API_CALL
clInitLayer(cl_uint entry_count, const cl_icd_dispatch *below, cl_uint *out_entry_count,
            const cl_icd_dispatch **out_table) {
    using namespace simulated;
    return init_layer(layer(), entry_count, below, out_entry_count, out_table, [](auto &table) {
        layer().mode = read_mode();
        add_device_functions(table);
        add_program_functions(table);
        add_program_info_functions(table);
        add_kernel_functions(table);
    });
}
