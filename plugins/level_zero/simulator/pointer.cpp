// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Queries about pointers, and memory of other processes.
#include "driver.hpp"

#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace pi::level_zero::simulated {

namespace {

/// The contents of an IPC handle. The descriptor comes first, as programs that pass handles between
/// processes expect.
struct Ticket {
    int descriptor;
    char magic[12];
    std::uint64_t offset, size;
};
static_assert(sizeof(Ticket) <= ZE_MAX_IPC_HANDLE_SIZE);
constexpr char ticket_magic[12] = "pi-ze-ipc-1";

/// Returns a file descriptor in the chained structure, if there is one.
void export_file(const Allocation &memory, void *next) {
    for (; next; next = static_cast<ze_base_properties_t *>(next)->pNext) {
        if (static_cast<ze_base_properties_t *>(next)->stype !=
            ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD)
            continue;
        auto *out = static_cast<ze_external_memory_export_fd_t *>(next);
        need((out->flags & memory.export_as) == out->flags && out->flags,
             ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION);
        out->fd = fcntl(memory.file->descriptor(), F_DUPFD_CLOEXEC, 0);
        need(out->fd >= 0, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
    }
}

} // namespace

} // namespace pi::level_zero::simulated

using namespace pi::level_zero::simulated;

ze_result_t ZE_APICALL zeMemGetAllocProperties(ze_context_handle_t context, const void *pointer,
                                               ze_memory_allocation_properties_t *out,
                                               ze_device_handle_t *device) {
    return call([&](Lock &) {
        const std::shared_ptr<Context> owner = driver().context(context);
        need_pointers(pointer, out);
        const std::shared_ptr<Allocation> memory = find_allocation(pointer);
        const bool known = memory && memory->context == owner;
        out->type = known ? memory->type : ZE_MEMORY_TYPE_UNKNOWN;
        out->id = known ? memory->id : 0;
        out->pageSize = known ? 4096 : 0;
        if (device)
            *device = known && memory->device ? memory->device->handle : nullptr;
        if (known)
            export_file(*memory, out->pNext);
    });
}

ze_result_t ZE_APICALL zeMemGetAddressRange(ze_context_handle_t context, const void *pointer,
                                            void **base, size_t *size) {
    return call([&](Lock &) {
        const std::shared_ptr<Context> owner = driver().context(context);
        need_pointers(pointer);
        const std::shared_ptr<Allocation> memory = find_allocation(pointer);
        need(memory && memory->context == owner, ZE_RESULT_ERROR_INVALID_ARGUMENT);
        if (base)
            *base = reinterpret_cast<void *>(memory->address);
        if (size)
            *size = memory->size;
    });
}

ze_result_t ZE_APICALL zeMemGetIpcHandle(ze_context_handle_t context, const void *pointer,
                                         ze_ipc_mem_handle_t *out) {
    return call([&](Lock &) {
        const std::shared_ptr<Allocation> memory = allocation_at(context, pointer);
        need_pointers(out);
        need(memory->type == ZE_MEMORY_TYPE_DEVICE && memory->file && !memory->opened,
             ZE_RESULT_ERROR_INVALID_ARGUMENT);
        Ticket ticket{memory->file->descriptor(), {}, memory->offset, memory->size};
        std::memcpy(ticket.magic, ticket_magic, sizeof ticket_magic);
        std::memset(out, 0, sizeof *out);
        std::memcpy(out->data, &ticket, sizeof ticket);
    });
}

ze_result_t ZE_APICALL zeMemOpenIpcHandle(ze_context_handle_t context, ze_device_handle_t device,
                                          ze_ipc_mem_handle_t handle, ze_ipc_memory_flags_t flags,
                                          void **out) {
    return call([&](Lock &) {
        Request request{.type = ZE_MEMORY_TYPE_DEVICE,
                        .context = driver().context(context),
                        .device = &driver().device(device)};
        need_pointers(out);
        need(flags < ZE_IPC_MEMORY_FLAG_BIAS_UNCACHED * 2, ZE_RESULT_ERROR_INVALID_ENUMERATION);
        Ticket ticket{};
        std::memcpy(&ticket, handle.data, sizeof ticket);
        need(std::memcmp(ticket.magic, ticket_magic, sizeof ticket_magic) == 0,
             ZE_RESULT_ERROR_INVALID_ARGUMENT);
        request.file = std::make_shared<File>(ticket.descriptor);
        request.size = ticket.size;
        request.offset = ticket.offset;
        need(request.file->size() >= ticket.offset + ticket.size, ZE_RESULT_ERROR_INVALID_ARGUMENT);
        const std::shared_ptr<Allocation> memory = allocate(request);
        memory->opened = true;
        *out = reinterpret_cast<void *>(memory->address);
    });
}

ze_result_t ZE_APICALL zeMemCloseIpcHandle(ze_context_handle_t context, const void *pointer) {
    return call([&](Lock &) {
        const std::shared_ptr<Allocation> memory = allocation_at(context, pointer);
        need(memory->opened, ZE_RESULT_ERROR_INVALID_ARGUMENT);
        memory->need_idle();
        forget(memory);
    });
}
