// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What may be done beside a command that is held back: everything but waiting for it.

#include "checks.hpp"
#include "everything.hpp"
#include "fixture.hpp"
#include "host_memory.hpp"
#include "image.hpp"
#include "memory.hpp"
#include "registry.hpp"
#include "usm.hpp"

namespace pi::suite {
namespace {

constexpr uint64_t size = 4096;

void make_with_host_ptr(Bench &bench) {
    for (const uint64_t flag : {PI_MEM_COPY_HOST_PTR, PI_MEM_USE_HOST_PTR}) {
        HostMemory memory(size, 4096);
        Mem mem = bench.make_buffer(bench.place(), buffer_desc(size, flag, memory.data()));
        release(mem);
    }
    if (bench.can(PI_CAPABILITY_IMAGE)) {
        pi_mem_image_desc desc = any_image_desc(bench);
        Bytes pixels(size_of(desc));
        desc.flags = PI_MEM_COPY_HOST_PTR;
        desc.host_ptr = pixels.data();
        Mem image = make_image(bench, desc);
        release(image);
    }
}

void make_usm(Bench &bench) {
    if (bench.can(PI_CAPABILITY_USM))
        for (const pi_usm_kind kind : need_usm(bench))
            Usm(bench, kind, size).free();
    if (bench.can(PI_CAPABILITY_USM_REGISTER)) {
        HostMemory memory(size, 4096);
        require_success(piUsmHostRegister(bench.context(), memory.data(), size, 0),
                        "piUsmHostRegister");
        require_success(piUsmHostUnregister(bench.context(), memory.data()), "piUsmHostUnregister");
    }
}

void make_import(Bench &bench) {
    if (const auto alignment = import_alignment(bench, bench.device())) {
        HostMemory memory(*alignment, *alignment);
        Mem mem = make_import(bench.place(), memory);
        release(mem);
    }
}

CONFORMANCE_TEST("enqueue", "no call but the blocking ones waits for a command that is held back") {
    Everything held(bench, bench.place());
    Queue other = bench.make_queue();
    const Event gate = bench.make_host_event();
    const Event filled = bench.fill(held.queue, held.mem, 0, 64, Bytes(1, std::byte{1}), {gate});
    const Event behind = bench.events_wait(other, {filled});
    Event launched;
    if (held.kernel.get() != nullptr) {
        Arguments arguments;
        arguments.buffer(held.mem).value(uint32_t{1});
        launched = bench.enqueue(held.queue, launch_desc(held.kernel, arguments, 4));
    }
    // Whatever waits here waits for ever.
    bench.signal_after(gate, [&] {
        Context context = bench.make_context({bench.device()});
        for (const Place &place : {bench.place(), Place{bench.device(), context}}) {
            Everything(bench, place).release();
            bench.connection(bench.place(), place);
            Event host = bench.make_host_event(place.context);
            bench.signal(host);
            release(host);
        }
        release(context);
        make_with_host_ptr(bench);
        make_usm(bench);
        make_import(bench);
        for (const pi_queue queue : {held.queue.get(), other.get()})
            require_success(piQueueFlush(queue), "piQueueFlush");
        require(!bench.is_final(filled) && !bench.is_final(behind), "what is held back is final");
        held.release();
        release(other);
    });
    bench.wait({filled, behind});
    if (launched.get() != nullptr)
        bench.wait(launched);
}

} // namespace
} // namespace pi::suite
