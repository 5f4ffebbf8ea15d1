// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// References, and what keeps what alive. Most tests here hold commands back behind a host event, release
// everything that the commands name, and look at what they have done in the end.

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

// Retained and released again, it is as it was; the counts, for debugging only, are at least 1, if they are told.
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

CONFORMANCE_TEST("lifetime", "an object lives until as many releases as references") {
    const Queue queue = bench.make_queue();
    const Mem mem = bench.make_buffer(64);
    const Event host = bench.make_host_event();
    const Event command = bench.barrier(queue);
    check_references(bench.context(), &piContextGetInfo, PI_CONTEXT_INFO_REFERENCE_COUNT);
    check_references(queue.get(), &piQueueGetInfo, PI_QUEUE_INFO_REFERENCE_COUNT);
    check_references(mem.get(), &piMemGetInfo, PI_MEM_INFO_REFERENCE_COUNT);
    check_references(host.get(), &piEventGetInfo, PI_EVENT_INFO_REFERENCE_COUNT);
    check_references(command.get(), &piEventGetInfo, PI_EVENT_INFO_REFERENCE_COUNT);
    bench.signal(host);
    bench.upload(queue, mem, Bytes(64, std::byte{3}));
    bench.require_contents(queue, mem, Bytes(64, std::byte{3}), "the buffer afterwards");
    if (bench.can(PI_CAPABILITY_VIEW))
        check_references(bench.make_view(mem, 0, 32).get(), &piMemGetInfo,
                         PI_MEM_INFO_REFERENCE_COUNT);
    if (!bench.can(PI_CAPABILITY_PROGRAM))
        return;
    const Program program = make_program(bench);
    const Kernel kernel = make_kernel(program, "add");
    check_references(program.get(), &piProgramGetInfo, PI_PROGRAM_INFO_REFERENCE_COUNT);
    check_references(kernel.get(), &piKernelGetInfo, PI_KERNEL_INFO_REFERENCE_COUNT);
}

CONFORMANCE_TEST("lifetime", "references may be taken and given from many threads at once") {
    const Queue queue = bench.make_queue();
    const Mem mem = bench.make_buffer(64);
    const Event event = bench.barrier(queue);
    const pi_context context = bench.context();
    bench.run_threads(8, [&](unsigned) {
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
    bench.wait(event);
    bench.upload(queue, mem, Bytes(64, std::byte{3}));
}

CONFORMANCE_TEST("lifetime", "what is made in a context keeps it alive") {
    const Bytes bytes = bench.random_bytes(256);
    Context context = bench.make_context({bench.device()});
    const Place place{bench.device(), context};
    Queue queue = bench.make_queue(place);
    const Mem mem = bench.make_buffer(place, bytes.size());
    const Event host = bench.make_host_event(context);
    context.reset();
    const Event written = bench.write(queue, mem, 0, bytes, {host});
    bench.signal(host);
    bench.wait(written);
    bench.require_contents(queue, mem, bytes, "the buffer of a released context");
}

CONFORMANCE_TEST("lifetime", "memory may be released right after the enqueue") {
    constexpr uint64_t size = 64 * 1024;
    const Bytes bytes = bench.random_bytes(size);
    const Queue queue = bench.make_queue();
    const Event gate = bench.make_host_event();
    const Mem dst = bench.make_buffer(size);
    Event copied;
    {
        Mem src = bench.make_buffer(bench.place(), bytes);
        Mem middle = bench.make_buffer(size);
        bench.copy(queue, src, 0, middle, 0, size, {gate});
        copied = bench.copy(queue, middle, 0, dst, 0, size);
    }
    // New objects at the places of those that should still be there.
    std::vector<Mem> others;
    for (int i = 0; i < 8; ++i)
        others.push_back(bench.make_buffer(bench.place(), Bytes(size, std::byte{0xEE})));
    bench.signal(gate);
    bench.wait(copied);
    bench.require_contents(queue, dst, bytes, "what went through a released buffer");
}

CONFORMANCE_TEST("lifetime", "commands on released memory write into none that came meanwhile") {
    constexpr uint64_t size = 64 * 1024;
    const Bytes bytes = bench.random_bytes(size), other_bytes(size, std::byte{0xEE});
    const Queue queue = bench.make_queue();
    const Event gate = bench.make_host_event();
    Event written, filled, copied;
    {
        const Mem first = bench.make_buffer(size), second = bench.make_buffer(size);
        const Mem third = bench.make_buffer(size), fourth = bench.make_buffer(size);
        written = bench.write(queue, first, 0, bytes, {gate});
        filled = bench.fill(queue, second, 0, size, Bytes(4, std::byte{0x11}), {gate});
        copied = bench.copy(queue, third, 0, fourth, 0, size, {gate});
    }
    std::vector<Mem> others;
    for (int i = 0; i < 8; ++i)
        others.push_back(bench.make_buffer(bench.place(), other_bytes));
    bench.signal(gate);
    bench.wait({written, filled, copied});
    for (const Mem &other : others)
        bench.require_contents(queue, other, other_bytes, "a buffer that no command was for");
}

CONFORMANCE_TEST("lifetime",
                 "what commands without an event name may be released right after the enqueue") {
    constexpr uint64_t size = 64 * 1024;
    const Queue queue = bench.make_queue();
    const Mem dst = bench.make_buffer(size);
    const auto copy = [&](pi_mem from, pi_mem to) {
        const pi_region region = linear(0, 0, size);
        pi_buffer_copy_desc desc = describe<pi_buffer_copy_desc>();
        desc.src = from;
        desc.dst = to;
        desc.region_count = 1;
        desc.regions = &region;
        require_success(try_enqueue(queue, desc), "piEnqueueMemBufferCopy without an event");
    };
    for (int round = 0; round < 20; ++round) {
        const Bytes bytes = bench.random_bytes(size);
        {
            const Mem src = bench.make_buffer(bench.place(), bytes);
            const Mem middle = bench.make_buffer(size);
            copy(src, middle);
            copy(middle, dst);
        }
        // New objects at the places of those that should still be there.
        const Mem other = bench.make_buffer(bench.place(), Bytes(size, std::byte{0xEE}));
        const Mem another = bench.make_buffer(bench.place(), Bytes(size, std::byte{0xEE}));
        bench.require_contents(queue, dst, bytes, "what went through a released buffer");
    }
}

CONFORMANCE_TEST("lifetime", "a view keeps its root alive, and a command both") {
    bench.need(PI_CAPABILITY_VIEW, "PI_CAPABILITY_VIEW");
    const uint64_t offset = std::max<uint64_t>(bench.scopes().at(0).offset_alignment, 256);
    const uint64_t size = offset + 16 * 1024;
    const Bytes bytes = bench.random_bytes(size);
    const Queue queue = bench.make_queue();
    Mem root = bench.make_buffer(bench.place(), bytes);
    Mem view = bench.make_view(root, offset, size - offset);
    root.reset();
    const Bytes part(bytes.begin() + static_cast<std::ptrdiff_t>(offset), bytes.end());
    bench.require_contents(queue, view, part, "the view of a released root");
    const Event gate = bench.make_host_event();
    const Mem dst = bench.make_buffer(part.size());
    const Event copied = bench.copy(queue, view, 0, dst, 0, part.size(), {gate});
    view.reset();
    const Mem other = bench.make_buffer(bench.place(), Bytes(size, std::byte{0xEE}));
    bench.signal(gate);
    bench.wait(copied);
    bench.require_contents(queue, dst, part, "what was copied from a released view");
}

CONFORMANCE_TEST("lifetime",
                 "kernel, program and arguments may be released right after the launch") {
    constexpr uint32_t count = 1024;
    const Queue queue = bench.make_queue();
    const Event gate = bench.make_host_event();
    const std::vector<uint32_t> a(count, 5);
    const std::vector<uint32_t> b(count, 7);
    const Mem dst = bench.make_buffer(count * sizeof(uint32_t));
    Event launched;
    {
        Program program = make_program(bench);
        const Kernel kernel = make_kernel(program, "combine");
        program.reset();
        const Mem mem_a = bench.make_buffer(bench.place(), bytes_of(a));
        const Mem mem_b = bench.make_buffer(bench.place(), bytes_of(b));
        Arguments arguments;
        arguments.buffer(dst).buffer(mem_a).buffer(mem_b).value(uint32_t{100});
        launched = bench.enqueue(queue, launch_desc(kernel, arguments, count), {gate});
    }
    const Program another = make_program(bench);
    const Mem other = bench.make_buffer(bench.place(), Bytes(count * 4, std::byte{0xEE}));
    bench.signal(gate);
    bench.wait(launched);
    bench.require_contents(queue, dst, bytes_of(std::vector<uint32_t>(count, 507)),
                           "what the launch of a released kernel has made");
}

CONFORMANCE_TEST("lifetime", "a kernel keeps its program alive") {
    Program program = make_program(bench);
    const Kernel kernel = make_kernel(program, "add");
    program.reset();
    const Queue queue = bench.make_queue();
    const Mem mem = bench.make_buffer(bench.place(), bytes_of({1, 2}));
    Arguments arguments;
    arguments.buffer(mem).value(uint32_t{1});
    bench.wait(bench.enqueue(queue, launch_desc(kernel, arguments, 2)));
    bench.require_contents(queue, mem, bytes_of({2, 3}), "what add has made");
    require(get_info<pi_program>(&piKernelGetInfo, kernel.get(), PI_KERNEL_INFO_PROGRAM) != nullptr,
            "the kernel's program is NULL");
}

CONFORMANCE_TEST("lifetime", "a waited event may be released right after the enqueue") {
    const Bytes bytes = bench.random_bytes(4096);
    const Queue first = bench.make_queue();
    const Queue second = bench.make_queue();
    const Mem mem = bench.make_buffer(4096);
    const Mem dst = bench.make_buffer(4096);
    const Event gate = bench.make_host_event();
    Event written = bench.write(first, mem, 0, bytes, {gate});
    const Event copied = bench.copy(second, mem, 0, dst, 0, 4096, {written});
    written.reset();
    require_success(piQueueFlush(first), "piQueueFlush");
    require_success(piQueueFlush(second), "piQueueFlush");
    require(!bench.is_final(copied), "the copy did not wait for the event that was released");
    bench.signal(gate);
    bench.wait(copied);
    bench.require_contents(second, dst, bytes, "what was copied behind a released event");
}

CONFORMANCE_TEST("lifetime",
                 "a released queue finishes its commands, and releasing it does not wait") {
    const Bytes bytes = bench.random_bytes(4096);
    const Mem mem = bench.make_buffer(4096);
    const Event gate = bench.make_host_event();
    Queue queue = bench.make_queue();
    const Event held = bench.write(queue, mem, 0, bytes, {gate});
    const Event behind = bench.barrier(queue);
    // If this waited, it would wait for ever.
    queue.reset();
    require(!bench.is_final(behind), "releasing the queue has let its held commands go");
    bench.signal(gate);
    bench.wait({held, behind});
    const Queue other = bench.make_queue();
    bench.require_contents(other, mem, bytes, "what a released queue has written");
}

CONFORMANCE_TEST("lifetime", "a queue released without a flush still runs its commands") {
    const Mem mem = bench.make_buffer(64);
    Queue queue = bench.make_queue();
    const Event event = bench.fill(queue, mem, 0, 64, Bytes(1, std::byte{5}));
    const auto done = bench.on_final(event, [](pi_event, pi_result) {});
    queue.reset();
    bench.wait(*done, "the callback of a command whose queue is released");
    bench.wait(event);
}

CONFORMANCE_TEST("lifetime",
                 "everything but the last event may be released right after the enqueue") {
    const Bytes bytes = bench.random_bytes(4096);
    auto read_back = std::make_unique<Bytes>(4096);
    Event gate;
    Event last;
    {
        Context context = bench.make_context({bench.device()});
        const Place place{bench.device(), context};
        const Queue queue = bench.make_queue(place);
        gate = bench.make_host_event(context);
        const Mem mem = bench.make_buffer(place, 4096);
        bench.write(queue, mem, 0, bytes, {gate});
        last = bench.read(queue, mem, 0, *read_back);
    }
    bench.signal(gate);
    gate.reset();
    bench.wait(last);
    require_same_bytes(read_back->data(), bytes.data(), bytes.size(), "what was read back");
}

CONFORMANCE_TEST("lifetime", "64 gated queues signalled in reverse all finish") {
    constexpr std::size_t queues = 64;
    constexpr uint64_t size = 1024;
    const Mem mem = bench.make_buffer(queues * size);
    std::vector<Event> gates;
    std::vector<Event> events;
    std::deque<Bytes> sources;
    for (std::size_t i = 0; i < queues; ++i) {
        const Queue queue = bench.make_queue();
        gates.push_back(bench.make_host_event());
        sources.push_back(bench.random_bytes(size));
        events.push_back(bench.write(queue, mem, i * size, sources.back(), {gates.back()}));
    }
    for (std::size_t i = queues; i-- > 0;) {
        bench.signal(gates[i]);
        bench.wait(events[i], join("the command behind gate ", i));
        require(i == 0 || !bench.is_final(events[i - 1]), "the command behind gate ", i - 1,
                " is final before its signal");
    }
    Bytes expected;
    for (const Bytes &source : sources)
        expected.insert(expected.end(), source.begin(), source.end());
    const Queue queue = bench.make_queue();
    bench.require_contents(queue, mem, expected, "what 64 queues have written");
}

CONFORMANCE_TEST("lifetime", "a host event dropped unsignalled lets nothing wait for ever") {
    const Queue queue = bench.make_queue();
    const Mem mem = bench.make_buffer(bench.place(), Bytes(64));
    Event gate = bench.make_host_event();
    const Event held = bench.fill(queue, mem, 0, 64, Bytes(1, std::byte{9}), {gate});
    const Event next = bench.events_wait(queue, {held});
    gate.reset();
    bench.require_result(held, PI_ERROR_DEPENDENCY_FAILED,
                         "the result of a command behind a dropped host event");
    bench.require_result(next, PI_ERROR_DEPENDENCY_FAILED,
                         "the result of what waits for that command");
    bench.require_contents(queue, mem, Bytes(64), "the buffer after a fill that must not run");
}

CONFORMANCE_TEST("lifetime", "work in flight when the process ends does no harm") {
    // Nothing is waited for: the next thing is the loader's release, and then the process's exit.
    const Queue queue = bench.make_queue();
    const Mem mem = bench.make_buffer(1 << 20);
    for (int i = 0; i < 20; ++i)
        bench.fill(queue, mem, 0, 1 << 20, Bytes(1, static_cast<std::byte>(i)));
    require_success(piQueueFlush(queue), "piQueueFlush");
}

CONFORMANCE_TEST("lifetime", "hundreds of objects come and go") {
    const Bytes bytes = bench.random_bytes(64);
    for (int round = 0; round < 200; ++round) {
        const Queue queue = bench.make_queue();
        const Mem mem = bench.make_buffer(64);
        const Event gate = bench.make_host_event();
        const Event written = bench.write(queue, mem, 0, bytes, {gate});
        bench.signal(gate);
        bench.wait(written);
    }
}

CONFORMANCE_TEST("lifetime", "an instance that ends leaves no thread and no descriptor behind") {
    const Bytes bytes = bench.random_bytes(64);
    const auto use = [&] {
        const SecondLoader second(bench);
        const Queue queue = bench.make_queue(second.place());
        const Mem mem = bench.make_buffer(second.place(), 64);
        const Event gate = bench.make_host_event(second.place().context);
        const Event written = bench.write(queue, mem, 0, bytes, {gate});
        bench.signal(gate);
        bench.wait(written);
    };
    const auto count = [](const char *folder) {
        const std::filesystem::directory_iterator entries(folder);
        return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
    };
    // What libraries begin once they keep.
    use();
    for (const char *folder : {"/proc/self/task", "/proc/self/fd"}) {
        const std::size_t before = count(folder);
        constexpr std::size_t rounds = 8;
        for (std::size_t round = 0; round < rounds; ++round)
            use();
        // A thread that has been joined may be on its way out still.
        const auto end = std::chrono::steady_clock::now() + bench.patience();
        while (count(folder) >= before + rounds && std::chrono::steady_clock::now() < end)
            std::this_thread::yield();
        const std::size_t after = count(folder);
        require(after < before + rounds, folder, " had ", before, " entries, and has ", after,
                " after ", rounds, " instances that have ended");
    }
}

CONFORMANCE_TEST("lifetime", "a second loader in the process has objects of its own") {
    const Bytes bytes = bench.random_bytes(64);
    const Queue queue = bench.make_queue();
    const Mem mem = bench.make_buffer(bench.place(), bytes);
    pi_plugin_report report{};
    require_success(piLoaderGetReports(bench.loader(), 1, &report, nullptr), "piLoaderGetReports");
    const std::string path = report.path;
    const char *plugin = path.c_str();
    pi_loader_desc desc{};
    desc.struct_size = sizeof desc;
    desc.type = PI_TYPE_LOADER_DESC;
    desc.flags = PI_LOADER_NO_DEFAULT_SEARCH;
    desc.plugins = &plugin;
    desc.plugin_count = 1;
    pi_loader loader = nullptr;
    require_success(piLoaderCreate(&desc, &loader), "a second piLoaderCreate");
    pi_device foreign = nullptr;
    const pi_result selected = piLoaderSelectDevices(loader, "*", 1, &foreign, nullptr);
    const pi_context_desc context_desc = [&] {
        pi_context_desc one = describe<pi_context_desc>();
        one.device_count = 1;
        one.devices = &foreign;
        return one;
    }();
    pi_context context = poison<pi_context>();
    const pi_result mixed = piContextCreate(bench.platform(), &context_desc, &context);
    const std::string text = last_error_text();
    const pi_result released = piLoaderRelease(loader);
    require_success(selected, "selecting a device of the second loader");
    require(mixed == PI_ERROR_INVALID_DEVICE,
            "a context of the first loader's platform and the second's device: ",
            result_name(mixed), " (", text, "), should be PI_ERROR_INVALID_DEVICE");
    require(!text.empty(), "a device of another loader is refused without a text");
    require_success(released, "releasing the second loader");
    bench.require_contents(queue, mem, bytes, "the first loader's buffer");
}

} // namespace
} // namespace pi::suite
