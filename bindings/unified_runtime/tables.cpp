// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tables of functions, and the symbols by which UR's loader asks for them.
#include "functions.hpp"
#include "handle.hpp"

namespace pi::unified_runtime {
namespace {

/// An unsupported function of the member's type.
template <class... Arguments>
void refuse(ur_result_t(UR_APICALL *&member)(Arguments...)) {
    member = [](Arguments...) -> ur_result_t { return UR_RESULT_ERROR_UNSUPPORTED_FEATURE; };
}

ur_dditable_t make_table() {
    ur_dditable_t tables{};
#define SERVE(table, member, function) tables.table.pfn##member = &function;
#define REFUSE(table, member, function) refuse(tables.table.pfn##member);
#include "functions.def"
#undef SERVE
#undef REFUSE
    return tables;
}

template <class Table>
ur_result_t give_table(ur_api_version_t version, Table *out, const Table &table) {
    if (out == nullptr) {
        return UR_RESULT_ERROR_INVALID_NULL_POINTER;
    }
    if (version != UR_API_VERSION_0_12) {
        return UR_RESULT_ERROR_UNSUPPORTED_VERSION;
    }
    *out = table;
    return UR_RESULT_SUCCESS;
}

} // namespace

const ur_dditable_t &function_table() noexcept {
    static const ur_dditable_t tables = make_table();
    return tables;
}

} // namespace pi::unified_runtime

using pi::unified_runtime::function_table;
using pi::unified_runtime::give_table;

extern "C" {
#define TABLE(name, type)                                                                          \
    UR_DLLEXPORT ur_result_t UR_APICALL urGet##name##ProcAddrTable(ur_api_version_t version,       \
                                                                   type *table) {                  \
        return give_table(version, table, function_table().name);                                  \
    }
TABLE(Adapter, ur_adapter_dditable_t)
TABLE(Platform, ur_platform_dditable_t)
TABLE(Context, ur_context_dditable_t)
TABLE(Event, ur_event_dditable_t)
TABLE(EventExp, ur_event_exp_dditable_t)
TABLE(Program, ur_program_dditable_t)
TABLE(ProgramExp, ur_program_exp_dditable_t)
TABLE(Kernel, ur_kernel_dditable_t)
TABLE(Queue, ur_queue_dditable_t)
TABLE(QueueExp, ur_queue_exp_dditable_t)
TABLE(Sampler, ur_sampler_dditable_t)
TABLE(Mem, ur_mem_dditable_t)
TABLE(PhysicalMem, ur_physical_mem_dditable_t)
TABLE(Enqueue, ur_enqueue_dditable_t)
TABLE(EnqueueExp, ur_enqueue_exp_dditable_t)
TABLE(USM, ur_usm_dditable_t)
TABLE(USMExp, ur_usm_exp_dditable_t)
TABLE(BindlessImagesExp, ur_bindless_images_exp_dditable_t)
TABLE(CommandBufferExp, ur_command_buffer_exp_dditable_t)
TABLE(GraphExp, ur_graph_exp_dditable_t)
TABLE(IPCExp, ur_ipc_exp_dditable_t)
TABLE(MemoryExportExp, ur_memory_export_exp_dditable_t)
TABLE(UsmP2PExp, ur_usm_p2p_exp_dditable_t)
TABLE(VirtualMem, ur_virtual_mem_dditable_t)
TABLE(Device, ur_device_dditable_t)
TABLE(DeviceExp, ur_device_exp_dditable_t)
#undef TABLE
}
