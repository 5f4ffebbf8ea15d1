// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// While a command must wait, every call but those that wait for it returns.

#include "checks.hpp"
#include "everything.hpp"
#include "fixture.hpp"
#include "host_memory.hpp"
#include "image.hpp"
#include "memory.hpp"
#include "registry.hpp"
#include "usm.hpp"

#include <span>
#include <unistd.h>

namespace pi::suite {
namespace {

constexpr uint64_t size = 4096;

void make_with_host_ptr(Fixture &fixture) {
    for (const uint64_t flag : {PI_MEM_COPY_HOST_PTR, PI_MEM_USE_HOST_PTR}) {
        HostMemory memory(size, 4096);
        Mem mem = fixture.make_buffer(fixture.place(), buffer_desc(size, flag, memory.data()));
        release(mem);
    }
    if (fixture.can(PI_CAPABILITY_IMAGE)) {
        pi_mem_image_desc desc = any_image_desc(fixture);
        Bytes pixels(size_of(desc));
        desc.flags = PI_MEM_COPY_HOST_PTR;
        desc.host_ptr = pixels.data();
        Mem image = make_image(fixture, desc);
        release(image);
    }
}

void make_usm(Fixture &fixture) {
    if (fixture.can(PI_CAPABILITY_USM))
        for (const pi_usm_kind kind : need_usm(fixture))
            Usm(fixture, kind, size).free();
    if (fixture.can(PI_CAPABILITY_USM_REGISTER)) {
        HostMemory memory(size, 4096);
        require_success(piUsmHostRegister(fixture.context(), memory.data(), size, 0),
                        "piUsmHostRegister");
        require_success(piUsmHostUnregister(fixture.context(), memory.data()),
                        "piUsmHostUnregister");
    }
}

void make_import(Fixture &fixture) {
    if (const auto alignment = import_alignment(fixture, fixture.device())) {
        HostMemory memory(*alignment, *alignment);
        Mem mem = make_import(fixture.place(), memory);
        release(mem);
    }
}

// Every query of an object; other tests look at the values.
template <typename Object>
void ask(Object object, pi_result (*get)(Object, uint32_t, uint64_t, void *, uint64_t *),
         std::span<const InfoName> names) {
    if (object == nullptr)
        return;
    std::vector<std::byte> value(1 << 16);
    for (const InfoName &row : names)
        if (row.type.shape != InfoType::outputs)
            get(object, row.name, value.size(), value.data(), nullptr);
}

void ask_everything(Fixture &fixture, const Everything &held, pi_event event) {
    ask(fixture.plugin(), &piPluginGetInfo, plugin_info_names());
    ask(fixture.platform(), &piPlatformGetInfo, platform_info_names());
    ask(fixture.device(), &piDeviceGetInfo, device_info_names());
    ask(fixture.context(), &piContextGetInfo, context_info_names());
    ask(held.queue.get(), &piQueueGetInfo, queue_info_names());
    for (const Mem *const mem : {&held.mem, &held.view, &held.image})
        ask(mem->get(), &piMemGetInfo, mem_info_names());
    ask(held.program.get(), &piProgramGetInfo, program_info_names());
    ask(held.kernel.get(), &piKernelGetInfo, kernel_info_names());
    ask(held.sampler.get(), &piSamplerGetInfo, sampler_info_names());
    ask(event, &piEventGetInfo, event_info_names());
    uint64_t times[2];
    piEventGetProfilingInfo(event, PI_PROFILING_END, sizeof times[0], &times[0], nullptr);
    piDeviceGetGlobalTimestamps(fixture.device(), &times[0], &times[1]);
    pi_native_handle handle;
    piPlatformGetNativeHandle(fixture.platform(), &handle);
    piDeviceGetNativeHandle(fixture.device(), &handle);
    piContextGetNativeHandle(fixture.context(), fixture.device(), &handle);
    piQueueGetNativeHandle(held.queue, &handle);
    piMemGetNativeHandle(held.mem, fixture.device(), &handle);
    piEventGetNativeHandle(event, &handle);
    void *pointer = nullptr;
    piMemGetHostPointer(held.mem, &pointer);
    if (held.kernel.get() == nullptr)
        return;
    piProgramGetNativeHandle(held.program, fixture.device(), &handle);
    piKernelGetNativeHandle(held.kernel, fixture.device(), &handle);
    Arguments arguments;
    arguments.buffer(held.mem).value(uint32_t{1});
    const auto desc = launch_desc(held.kernel, arguments, 4);
    Size3 local{};
    piKernelGetSuggestedLocalSize(held.queue, &desc, local.data());
    uint32_t groups = 0;
    piKernelGetMaxCooperativeGroups(held.queue, &desc, &groups);
}

// Memory of no command: flush and invalidate are not legal on the held one's.
void synchronize(Fixture &fixture) {
    Mem mem = fixture.make_buffer(size);
    piMemFlush(mem, 0, size);
    piMemInvalidate(mem, 0, size);
    release(mem);
}

void export_memory(Fixture &fixture) {
    const auto types = info_or(&piDeviceGetInfo, fixture.device(),
                               PI_DEVICE_INFO_EXPORT_HANDLE_TYPES, uint32_t{0});
    for (pi_external_type type = 1; type < 32; ++type) {
        if ((types >> type & 1) == 0)
            continue;
        auto buffer = buffer_desc(size);
        buffer.export_types = 1u << type;
        Mem mem = fixture.make_buffer(fixture.place(), buffer);
        auto desc = pi::desc<pi_mem_export_desc>();
        desc.external_type = type;
        pi_external_handle handle{};
        require_success(piMemExport(mem, &desc, &handle), "piMemExport");
        if (type == PI_EXTERNAL_OPAQUE_FD || type == PI_EXTERNAL_DMA_BUF_FD)
            close(handle.fd);
        release(mem);
    }
}

void link_program(Fixture &fixture) {
    if (!fixture.can(PI_CAPABILITY_PROGRAM_LINK) || !has_kernels(fixture))
        return;
    const pi_program_desc desc = kernel_program_desc(kernel_format(fixture));
    Program program;
    require_success(piProgramCreate(fixture.context(), &desc, program.out()), "piProgramCreate");
    // Some formats cannot be compiled alone.
    if (piProgramCompile(program, nullptr) != PI_SUCCESS)
        return;
    const pi_program programs[] = {program};
    auto link = pi::desc<pi_program_link_desc>();
    link.program_count = 1;
    link.programs = programs;
    Program linked;
    piProgramLink(fixture.context(), &link, linked.out());
}

CONFORMANCE_TEST("enqueue", "only blocking calls wait for a pending command") {
    Everything held(fixture, fixture.place());
    Queue other = fixture.make_queue();
    const Event gate = fixture.make_host_event();
    const Event filled = fixture.fill(held.queue, held.mem, 0, 64, Bytes(1, std::byte{1}), {gate});
    const Event behind = fixture.events_wait(other, {filled});
    Event launched;
    if (held.kernel.get() != nullptr) {
        Arguments arguments;
        arguments.buffer(held.mem).value(uint32_t{1});
        launched = fixture.enqueue(held.queue, launch_desc(held.kernel, arguments, 4));
    }
    // A call that waits here hangs.
    fixture.signal_after(gate, [&] {
        Context context = fixture.make_context({fixture.device()});
        for (const Place &place : {fixture.place(), Place{fixture.device(), context}}) {
            Everything(fixture, place).release();
            fixture.connection(fixture.place(), place);
            Event host = fixture.make_host_event(place.context);
            fixture.signal(host);
            release(host);
        }
        release(context);
        make_with_host_ptr(fixture);
        make_usm(fixture);
        make_import(fixture);
        ask_everything(fixture, held, filled);
        synchronize(fixture);
        export_memory(fixture);
        link_program(fixture);
        for (const pi_queue queue : {held.queue.get(), other.get()})
            require_success(piQueueFlush(queue), "piQueueFlush");
        require(!fixture.is_complete(filled) && !fixture.is_complete(behind),
                "what is held back is complete");
        held.release();
        release(other);
    });
    fixture.wait({filled, behind});
    if (launched.get() != nullptr)
        fixture.wait(launched);
}

} // namespace
} // namespace pi::suite
