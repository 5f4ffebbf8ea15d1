// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A small Level Zero program with one of several faults, selected by name. It relies only on what
// Level Zero promises.
#include <level_zero/ze_api.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

namespace {

constexpr size_t size = 1 << 20;

struct Program {
    std::string fault;
    ze_context_handle_t context = nullptr;
    ze_device_handle_t device = nullptr;
    ze_command_list_handle_t list = nullptr;
    ze_event_pool_handle_t pool = nullptr;
    ze_event_handle_t done = nullptr, go = nullptr;
    void *memory = nullptr, *host = nullptr;

    bool set_up();
    bool round_trip(unsigned char value) const;
    void tear_down() const;
};

bool Program::set_up() {
    std::uint32_t count = 1;
    ze_driver_handle_t driver = nullptr;
    if (zeInit(0) || zeDriverGet(&count, &driver) || count == 0)
        return false;
    count = 1;
    const ze_context_desc_t whole{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
    const ze_command_queue_desc_t queue{
        ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, nullptr, 0, 0, 0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
        ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
    const ze_event_pool_desc_t events{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr,
                                      ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 2};
    const ze_event_desc_t first{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, 0, ZE_EVENT_SCOPE_FLAG_HOST,
                                ZE_EVENT_SCOPE_FLAG_HOST};
    const ze_event_desc_t second{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, 1, ZE_EVENT_SCOPE_FLAG_HOST,
                                 ZE_EVENT_SCOPE_FLAG_HOST};
    const ze_device_mem_alloc_desc_t on_device{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0,
                                               0};
    const ze_host_mem_alloc_desc_t on_host{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
    return !zeDeviceGet(driver, &count, &device) && !zeContextCreate(driver, &whole, &context) &&
           !zeCommandListCreateImmediate(context, device, &queue, &list) &&
           !zeEventPoolCreate(context, &events, 0, nullptr, &pool) &&
           !zeEventCreate(pool, &first, &done) && !zeEventCreate(pool, &second, &go) &&
           !zeMemAllocDevice(context, &on_device, size, 64, device, &memory) &&
           !zeMemAllocHost(context, &on_host, size, 64, &host);
}

/// Fills and reads back bytes; returns whether they are as written.
bool Program::round_trip(unsigned char value) const {
    // A slow producer: unless the program waits for it, it is not done before the program reads.
    zeCommandListAppendWaitOnEvents(list, 1, const_cast<ze_event_handle_t *>(&go));
    zeCommandListAppendMemoryFill(list, memory, &value, 1, size, nullptr, 0, nullptr);
    if (fault != "missing barrier")
        zeCommandListAppendBarrier(list, nullptr, 0, nullptr);
    zeCommandListAppendMemoryCopy(list, host, memory, size, done, 0, nullptr);
    if (fault != "missing synchronisation") {
        zeEventHostSignal(go);
        zeEventHostSynchronize(done, UINT64_MAX);
    }
    const bool right = static_cast<volatile unsigned char *>(host)[size - 1] == value;
    zeEventHostSignal(go);
    zeEventHostSynchronize(done, UINT64_MAX);
    zeEventHostReset(done);
    zeEventHostReset(go);
    return right;
}

void Program::tear_down() const {
    // Without an order, the last event may belong to a command that runs before others.
    while (fault != "leaked list" &&
           zeCommandListDestroy(list) == ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE) {
    }
    if (fault != "leaked event") {
        zeEventDestroy(done);
        zeEventDestroy(go);
        zeEventPoolDestroy(pool);
    }
    if (fault != "leaked memory")
        zeMemFree(context, memory);
    zeMemFree(context, host);
    if (fault != "leaked context")
        zeContextDestroy(context);
}

} // namespace

namespace {

/// Executes a list that fills freed memory.
ze_result_t use_freed(const Program &program) {
    void *memory = nullptr;
    ze_command_queue_handle_t queue = nullptr;
    ze_command_list_handle_t list = nullptr;
    const ze_command_queue_desc_t plain{
        ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, nullptr, 0, 0, 0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
        ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
    const ze_command_list_desc_t regular{ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, nullptr, 0, 0};
    const ze_device_mem_alloc_desc_t on_device{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0,
                                               0};
    const char value = 1;
    zeCommandQueueCreate(program.context, program.device, &plain, &queue);
    zeCommandListCreate(program.context, program.device, &regular, &list);
    zeMemAllocDevice(program.context, &on_device, 64, 0, program.device, &memory);
    zeCommandListAppendMemoryFill(list, memory, &value, 1, 64, nullptr, 0, nullptr);
    zeCommandListClose(list);
    zeMemFree(program.context, memory);
    zeCommandQueueExecuteCommandLists(queue, 1, &list, nullptr);
    const ze_result_t result = zeCommandQueueSynchronize(queue, UINT64_MAX);
    zeCommandListDestroy(list);
    zeCommandQueueDestroy(queue);
    return result;
}

/// Prints both queries' answers for the first two devices.
void print_peers() {
    std::uint32_t count = 1;
    ze_driver_handle_t driver = nullptr;
    ze_device_handle_t devices[2] = {};
    zeDriverGet(&count, &driver);
    count = 2;
    zeDeviceGet(driver, &count, devices);
    ze_bool_t can = 0;
    ze_device_p2p_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_P2P_PROPERTIES;
    zeDeviceCanAccessPeer(devices[0], devices[1], &can);
    zeDeviceGetP2PProperties(devices[0], devices[1], &properties);
    std::printf("can access: %d, access flag: %d\n", int(can),
                int(properties.flags & ZE_DEVICE_P2P_PROPERTY_FLAG_ACCESS));
}

} // namespace

int main(int argc, char **argv) {
    Program program;
    program.fault = argc == 2 ? argv[1] : "none";
    if (!program.set_up())
        return 3;
    if (program.fault == "host dereference")
        *static_cast<volatile char *>(program.memory) = 1;
    if (program.fault == "freed memory")
        return use_freed(program) == ZE_RESULT_ERROR_DEVICE_LOST ? 4 : 0;
    print_peers();
    bool right = true;
    for (unsigned char round = 1; round <= 100 && right; ++round)
        right = program.round_trip(round);
    if (!right)
        std::puts("wrong bytes");
    program.tear_down();
    return right ? 0 : 1;
}
