// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// References, and which object keeps which alive. Most tests make commands wait for a host event,
// release every object of the commands, and check the effect in the end.

#include "checks.hpp"
#include "fixture.hpp"
#include "kernels.hpp"
#include "registry.hpp"
#include "second_loader.hpp"

#include <chrono>
#include <cstring>
#include <deque>
#include <filesystem>
#include <thread>

namespace pi::suite {
namespace {

// Retains and releases. The reported counts, if there are any, are at least 1.
template <typename Handle>
void check_references(Handle handle,
                      pi_result (*function)(Handle, uint32_t, uint64_t, void *, uint64_t *),
                      uint32_t name) {
    const auto count = [&] { return info_or(function, handle, name, 1u); };
    require(count() >= 1, Counted<Handle>::name, "'s reference count is 0");
    for (int i = 0; i < 3; ++i)
        require_success(Counted<Handle>::retain(handle), "retaining a ", Counted<Handle>::name);
    require(count() >= 1, Counted<Handle>::name, "'s reference count is 0 after retaining");
    for (int i = 0; i < 3; ++i)
        require_success(Counted<Handle>::release(handle), "releasing a ", Counted<Handle>::name);
    require(count() >= 1, Counted<Handle>::name, "'s reference count is 0 while it is held");
}

CONFORMANCE_TEST("lifetime", "an object lives until its last reference is released") {
    const Queue queue = fixture.make_queue();
    const Mem mem = fixture.make_buffer(64);
    const Event host = fixture.make_host_event();
    const Event command = fixture.barrier(queue);
    check_references(fixture.context(), &piContextGetInfo, PI_CONTEXT_INFO_REFERENCE_COUNT);
    check_references(queue.get(), &piQueueGetInfo, PI_QUEUE_INFO_REFERENCE_COUNT);
    check_references(mem.get(), &piMemGetInfo, PI_MEM_INFO_REFERENCE_COUNT);
    check_references(host.get(), &piEventGetInfo, PI_EVENT_INFO_REFERENCE_COUNT);
    check_references(command.get(), &piEventGetInfo, PI_EVENT_INFO_REFERENCE_COUNT);
    fixture.signal(host);
    fixture.upload(queue, mem, Bytes(64, std::byte{3}));
    fixture.require_contents(queue, mem, Bytes(64, std::byte{3}), "the buffer afterwards");
    if (fixture.can(PI_CAPABILITY_VIEW))
        check_references(fixture.make_view(mem, 0, 32).get(), &piMemGetInfo,
                         PI_MEM_INFO_REFERENCE_COUNT);
    if (!fixture.can(PI_CAPABILITY_PROGRAM))
        return;
    const Program program = make_program(fixture);
    const Kernel kernel = make_kernel(program, "add");
    check_references(program.get(), &piProgramGetInfo, PI_PROGRAM_INFO_REFERENCE_COUNT);
    check_references(kernel.get(), &piKernelGetInfo, PI_KERNEL_INFO_REFERENCE_COUNT);
}

CONFORMANCE_TEST("lifetime", "many threads may retain and release at once") {
    const Queue queue = fixture.make_queue();
    const Mem mem = fixture.make_buffer(64);
    const Event event = fixture.barrier(queue);
    const pi_context context = fixture.context();
    fixture.run_threads(8, [&](unsigned) {
        for (int i = 0; i < 2000; ++i) {
            require_success(piMemRetain(mem), "piMemRetain");
            require_success(piEventRetain(event), "piEventRetain");
            require_success(piContextRetain(context), "piContextRetain");
            require_success(piQueueRetain(queue), "piQueueRetain");
            require_success(piMemRelease(mem), "piMemRelease");
            require_success(piEventRelease(event), "piEventRelease");
            require_success(piContextRelease(context), "piContextRelease");
            require_success(piQueueRelease(queue), "piQueueRelease");
        }
    });
    fixture.wait(event);
    fixture.upload(queue, mem, Bytes(64, std::byte{3}));
}

CONFORMANCE_TEST("lifetime", "objects of a context keep it alive") {
    const Bytes bytes = fixture.random_bytes(256);
    Context context = fixture.make_context({fixture.device()});
    const Place place{fixture.device(), context};
    Queue queue = fixture.make_queue(place);
    const Mem mem = fixture.make_buffer(place, bytes.size());
    const Event host = fixture.make_host_event(context);
    context.reset();
    const Event written = fixture.write(queue, mem, 0, bytes, {host});
    fixture.signal(host);
    fixture.wait(written);
    fixture.require_contents(queue, mem, bytes, "the buffer of a released context");
}

CONFORMANCE_TEST("lifetime", "memory may be released right after the enqueue") {
    constexpr uint64_t size = 64 * 1024;
    const Bytes bytes = fixture.random_bytes(size);
    const Queue queue = fixture.make_queue();
    const Event gate = fixture.make_host_event();
    const Mem dst = fixture.make_buffer(size);
    Event copied;
    {
        Mem src = fixture.make_buffer(fixture.place(), bytes);
        Mem middle = fixture.make_buffer(size);
        fixture.copy(queue, src, 0, middle, 0, size, {gate});
        copied = fixture.copy(queue, middle, 0, dst, 0, size);
    }
    // New objects must not get the addresses of those that are still in use.
    std::vector<Mem> others;
    for (int i = 0; i < 8; ++i)
        others.push_back(fixture.make_buffer(fixture.place(), Bytes(size, std::byte{0xEE})));
    fixture.signal(gate);
    fixture.wait(copied);
    fixture.require_contents(queue, dst, bytes, "what went through a released buffer");
}

CONFORMANCE_TEST("lifetime",
                 "commands on released memory do not write to memory that was created later") {
    constexpr uint64_t size = 64 * 1024;
    const Bytes bytes = fixture.random_bytes(size), other_bytes(size, std::byte{0xEE});
    const Queue queue = fixture.make_queue();
    const Event gate = fixture.make_host_event();
    Event written, filled, copied;
    {
        const Mem first = fixture.make_buffer(size), second = fixture.make_buffer(size);
        const Mem third = fixture.make_buffer(size), fourth = fixture.make_buffer(size);
        written = fixture.write(queue, first, 0, bytes, {gate});
        filled = fixture.fill(queue, second, 0, size, Bytes(4, std::byte{0x11}), {gate});
        copied = fixture.copy(queue, third, 0, fourth, 0, size, {gate});
    }
    std::vector<Mem> others;
    for (int i = 0; i < 8; ++i)
        others.push_back(fixture.make_buffer(fixture.place(), other_bytes));
    fixture.signal(gate);
    fixture.wait({written, filled, copied});
    for (const Mem &other : others)
        fixture.require_contents(queue, other, other_bytes, "a buffer that no command was for");
}

CONFORMANCE_TEST("lifetime",
                 "objects of commands without an event may be released right after the enqueue") {
    constexpr uint64_t size = 64 * 1024;
    const Queue queue = fixture.make_queue();
    const Mem dst = fixture.make_buffer(size);
    const auto copy = [&](pi_mem from, pi_mem to) {
        const pi_region region = linear(0, 0, size);
        auto desc = pi::desc<pi_buffer_copy_desc>();
        desc.src = from;
        desc.dst = to;
        desc.region_count = 1;
        desc.regions = &region;
        require_success(try_enqueue(queue, desc), "piEnqueueMemBufferCopy without an event");
    };
    for (int round = 0; round < 20; ++round) {
        const Bytes bytes = fixture.random_bytes(size);
        {
            const Mem src = fixture.make_buffer(fixture.place(), bytes);
            const Mem middle = fixture.make_buffer(size);
            copy(src, middle);
            copy(middle, dst);
        }
        // New objects must not get the addresses of those that are still in use.
        const Mem other = fixture.make_buffer(fixture.place(), Bytes(size, std::byte{0xEE}));
        const Mem another = fixture.make_buffer(fixture.place(), Bytes(size, std::byte{0xEE}));
        fixture.require_contents(queue, dst, bytes, "what went through a released buffer");
    }
}

CONFORMANCE_TEST("lifetime", "a view keeps its root alive, and a command keeps both") {
    fixture.need(PI_CAPABILITY_VIEW, "PI_CAPABILITY_VIEW");
    const uint64_t offset = std::max<uint64_t>(fixture.scopes().at(0).offset_alignment, 256);
    const uint64_t size = offset + 16 * 1024;
    const Bytes bytes = fixture.random_bytes(size);
    const Queue queue = fixture.make_queue();
    Mem root = fixture.make_buffer(fixture.place(), bytes);
    Mem view = fixture.make_view(root, offset, size - offset);
    root.reset();
    const Bytes part(bytes.begin() + static_cast<std::ptrdiff_t>(offset), bytes.end());
    fixture.require_contents(queue, view, part, "the view of a released root");
    const Event gate = fixture.make_host_event();
    const Mem dst = fixture.make_buffer(part.size());
    const Event copied = fixture.copy(queue, view, 0, dst, 0, part.size(), {gate});
    view.reset();
    const Mem other = fixture.make_buffer(fixture.place(), Bytes(size, std::byte{0xEE}));
    fixture.signal(gate);
    fixture.wait(copied);
    fixture.require_contents(queue, dst, part, "what was copied from a released view");
}

CONFORMANCE_TEST("lifetime",
                 "kernel, program and arguments may be released right after the launch") {
    constexpr uint32_t count = 1024;
    const Queue queue = fixture.make_queue();
    const Event gate = fixture.make_host_event();
    const std::vector<uint32_t> a(count, 5);
    const std::vector<uint32_t> b(count, 7);
    const Mem dst = fixture.make_buffer(count * sizeof(uint32_t));
    Event launched;
    {
        Program program = make_program(fixture);
        const Kernel kernel = make_kernel(program, "combine");
        program.reset();
        const Mem mem_a = fixture.make_buffer(fixture.place(), bytes_of(a));
        const Mem mem_b = fixture.make_buffer(fixture.place(), bytes_of(b));
        Arguments arguments;
        arguments.buffer(dst).buffer(mem_a).buffer(mem_b).value(uint32_t{100});
        launched = fixture.enqueue(queue, launch_desc(kernel, arguments, count), {gate});
    }
    const Program another = make_program(fixture);
    const Mem other = fixture.make_buffer(fixture.place(), Bytes(count * 4, std::byte{0xEE}));
    fixture.signal(gate);
    fixture.wait(launched);
    fixture.require_contents(queue, dst, bytes_of(std::vector<uint32_t>(count, 507)),
                             "what the launch of a released kernel has made");
}

CONFORMANCE_TEST("lifetime", "a kernel keeps its program alive") {
    Program program = make_program(fixture);
    const Kernel kernel = make_kernel(program, "add");
    program.reset();
    const Queue queue = fixture.make_queue();
    const Mem mem = fixture.make_buffer(fixture.place(), bytes_of({1, 2}));
    Arguments arguments;
    arguments.buffer(mem).value(uint32_t{1});
    fixture.wait(fixture.enqueue(queue, launch_desc(kernel, arguments, 2)));
    fixture.require_contents(queue, mem, bytes_of({2, 3}), "what add has made");
    require(get_info<pi_program>(&piKernelGetInfo, kernel.get(), PI_KERNEL_INFO_PROGRAM) != nullptr,
            "the kernel's program is NULL");
}

CONFORMANCE_TEST("lifetime", "a waited event may be released right after the enqueue") {
    const Bytes bytes = fixture.random_bytes(4096);
    const Queue first = fixture.make_queue();
    const Queue second = fixture.make_queue();
    const Mem mem = fixture.make_buffer(4096);
    const Mem dst = fixture.make_buffer(4096);
    const Event gate = fixture.make_host_event();
    Event written = fixture.write(first, mem, 0, bytes, {gate});
    const Event copied = fixture.copy(second, mem, 0, dst, 0, 4096, {written});
    written.reset();
    require_success(piQueueFlush(first), "piQueueFlush");
    require_success(piQueueFlush(second), "piQueueFlush");
    require(!fixture.is_complete(copied), "the copy did not wait for the event that was released");
    fixture.signal(gate);
    fixture.wait(copied);
    fixture.require_contents(second, dst, bytes, "what was copied behind a released event");
}

CONFORMANCE_TEST("lifetime",
                 "a released queue finishes its commands, and releasing it does not wait") {
    const Bytes bytes = fixture.random_bytes(4096);
    const Mem mem = fixture.make_buffer(4096);
    const Event gate = fixture.make_host_event();
    Queue queue = fixture.make_queue();
    const Event held = fixture.write(queue, mem, 0, bytes, {gate});
    const Event behind = fixture.barrier(queue);
    // If this waited, it would wait for ever.
    queue.reset();
    require(!fixture.is_complete(behind), "releasing the queue has let its held commands go");
    fixture.signal(gate);
    fixture.wait({held, behind});
    const Queue other = fixture.make_queue();
    fixture.require_contents(other, mem, bytes, "what a released queue has written");
}

CONFORMANCE_TEST("lifetime", "a queue released without a flush still runs its commands") {
    const Mem mem = fixture.make_buffer(64);
    Queue queue = fixture.make_queue();
    const Event event = fixture.fill(queue, mem, 0, 64, Bytes(1, std::byte{5}));
    const auto done = fixture.on_complete(event, [](pi_event, pi_result) {});
    queue.reset();
    fixture.wait(*done, "the callback of a command whose queue is released");
    fixture.wait(event);
}

CONFORMANCE_TEST("lifetime",
                 "everything but the last event may be released right after the enqueue") {
    const Bytes bytes = fixture.random_bytes(4096);
    auto read_back = std::make_unique<Bytes>(4096);
    Event gate;
    Event last;
    {
        Context context = fixture.make_context({fixture.device()});
        const Place place{fixture.device(), context};
        const Queue queue = fixture.make_queue(place);
        gate = fixture.make_host_event(context);
        const Mem mem = fixture.make_buffer(place, 4096);
        fixture.write(queue, mem, 0, bytes, {gate});
        last = fixture.read(queue, mem, 0, *read_back);
    }
    fixture.signal(gate);
    gate.reset();
    fixture.wait(last);
    require_same_bytes(read_back->data(), bytes.data(), bytes.size(), "what was read back");
}

CONFORMANCE_TEST("lifetime", "64 gated queues signalled in reverse all finish") {
    constexpr std::size_t queues = 64;
    constexpr uint64_t size = 1024;
    const Mem mem = fixture.make_buffer(queues * size);
    std::vector<Event> gates;
    std::vector<Event> events;
    std::deque<Bytes> sources;
    for (std::size_t i = 0; i < queues; ++i) {
        const Queue queue = fixture.make_queue();
        gates.push_back(fixture.make_host_event());
        sources.push_back(fixture.random_bytes(size));
        events.push_back(fixture.write(queue, mem, i * size, sources.back(), {gates.back()}));
    }
    for (std::size_t i = queues; i-- > 0;) {
        fixture.signal(gates[i]);
        fixture.wait(events[i], join("the command behind gate ", i));
        require(i == 0 || !fixture.is_complete(events[i - 1]), "the command behind gate ", i - 1,
                " is complete before its signal");
    }
    Bytes expected;
    for (const Bytes &source : sources)
        expected.insert(expected.end(), source.begin(), source.end());
    const Queue queue = fixture.make_queue();
    fixture.require_contents(queue, mem, expected, "what 64 queues have written");
}

CONFORMANCE_TEST("lifetime",
                 "a host event released without a signal lets no command wait for ever") {
    const Queue queue = fixture.make_queue();
    const Mem mem = fixture.make_buffer(fixture.place(), Bytes(64));
    Event gate = fixture.make_host_event();
    const Event held = fixture.fill(queue, mem, 0, 64, Bytes(1, std::byte{9}), {gate});
    const Event next = fixture.events_wait(queue, {held});
    gate.reset();
    fixture.require_result(held, PI_ERROR_DEPENDENCY_FAILED,
                           "the result of a command behind a dropped host event");
    fixture.require_result(next, PI_ERROR_DEPENDENCY_FAILED,
                           "the result of what waits for that command");
    fixture.require_contents(queue, mem, Bytes(64), "the buffer after a fill that must not run");
}

CONFORMANCE_TEST("lifetime", "the process may end while commands are pending") {
    // Without waiting: next come the loader's release and the process's exit.
    const Queue queue = fixture.make_queue();
    const Mem mem = fixture.make_buffer(1 << 20);
    for (int i = 0; i < 20; ++i)
        fixture.fill(queue, mem, 0, 1 << 20, Bytes(1, static_cast<std::byte>(i)));
    require_success(piQueueFlush(queue), "piQueueFlush");
}

CONFORMANCE_TEST("lifetime", "hundreds of objects come and go") {
    const Bytes bytes = fixture.random_bytes(64);
    for (int round = 0; round < 200; ++round) {
        const Queue queue = fixture.make_queue();
        const Mem mem = fixture.make_buffer(64);
        const Event gate = fixture.make_host_event();
        const Event written = fixture.write(queue, mem, 0, bytes, {gate});
        fixture.signal(gate);
        fixture.wait(written);
    }
}

CONFORMANCE_TEST("lifetime", "an instance that ends leaves no thread and no descriptor behind") {
    const Bytes bytes = fixture.random_bytes(64);
    const auto use = [&] {
        const SecondLoader second(fixture);
        const Queue queue = fixture.make_queue(second.place());
        const Mem mem = fixture.make_buffer(second.place(), 64);
        const Event gate = fixture.make_host_event(second.place().context);
        const Event written = fixture.write(queue, mem, 0, bytes, {gate});
        fixture.signal(gate);
        fixture.wait(written);
    };
    const auto count = [](const char *folder) {
        const std::filesystem::directory_iterator entries(folder);
        return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
    };
    // Libraries may start threads once and keep them.
    use();
    for (const char *folder : {"/proc/self/task", "/proc/self/fd"}) {
        const std::size_t before = count(folder);
        constexpr std::size_t rounds = 8;
        for (std::size_t round = 0; round < rounds; ++round)
            use();
        // A thread that has been joined may be on its way out still.
        const auto end = std::chrono::steady_clock::now() + fixture.patience();
        while (count(folder) >= before + rounds && std::chrono::steady_clock::now() < end)
            std::this_thread::yield();
        const std::size_t after = count(folder);
        require(after < before + rounds, folder, " had ", before, " entries, and has ", after,
                " after ", rounds, " instances that have ended");
    }
}

CONFORMANCE_TEST("lifetime", "a second loader in the process has objects of its own") {
    const Bytes bytes = fixture.random_bytes(64);
    const Queue queue = fixture.make_queue();
    const Mem mem = fixture.make_buffer(fixture.place(), bytes);
    SecondLoader second(fixture);
    const pi_device device = second.place().device;
    auto desc = pi::desc<pi_context_desc>();
    desc.device_count = 1;
    desc.devices = &device;
    pi_context context = poison<pi_context>();
    const pi_result mixed = piContextCreate(fixture.platform(), &desc, &context);
    const std::string text = last_error_text();
    require(mixed == PI_ERROR_INVALID_DEVICE,
            "a context of the first loader's platform and the second's device: ",
            result_name(mixed), " (", text, "), should be PI_ERROR_INVALID_DEVICE");
    require(!text.empty(), "a device of another loader is refused without a text");
    require_success(second.release(), "releasing the second loader");
    fixture.require_contents(queue, mem, bytes, "the first loader's buffer");
}

} // namespace
} // namespace pi::suite
