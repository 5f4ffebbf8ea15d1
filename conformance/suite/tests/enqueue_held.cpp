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
