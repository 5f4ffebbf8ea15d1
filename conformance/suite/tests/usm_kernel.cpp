// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels on USM.

#include "checks.hpp"
#include "launch_fixture.hpp"
#include "registry.hpp"
#include "usm.hpp"

namespace pi::suite {
namespace {

Bytes random_words(Fixture &fixture, uint64_t count) {
    return fixture.random_bytes(count * sizeof(uint32_t));
}

CONFORMANCE_TEST("kernel", "a kernel reads and writes USM of every kind, from any word") {
    const std::vector<pi_usm_kind> kinds = need_usm(fixture);
    LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "combine");
    constexpr uint64_t count = 700, from = 5;
    for (const pi_usm_kind src_kind : kinds) {
        for (const pi_usm_kind dst_kind : kinds) {
            const Usm a(fixture, src_kind, (count + from) * 4), dst(fixture, dst_kind, count * 4);
            const Bytes a_bytes = random_words(fixture, count + from);
            const Bytes b_bytes = random_words(fixture, count);
            const Mem b = fixture.make_buffer(fixture.place(), b_bytes);
            usm_upload(fixture, setup.queue, a.at(), a_bytes);
            const auto factor = static_cast<uint32_t>(fixture.random(0, UINT32_MAX));
            Arguments arguments;
            arguments.pointer(dst.at()).pointer(a.at(from * 4)).buffer(b).value(factor);
            pi_kernel_launch_desc desc = launch_desc(kernel, arguments, count);
            fixture.wait(fixture.enqueue(setup.queue, desc), "a launch on USM");
            const std::vector<uint32_t> x = words_of(a_bytes), y = words_of(b_bytes);
            std::vector<uint32_t> expected(count);
            for (uint64_t i = 0; i < count; ++i)
                expected[i] = x[i + from] * factor + y[i];
            require_usm_contents(fixture, setup.queue, dst.at(), bytes_of(expected),
                                 "USM that a kernel has written");
            require_usm_contents(fixture, setup.queue, a.at(), a_bytes,
                                 "USM that a kernel has read");
        }
    }
}

CONFORMANCE_TEST("kernel", "copies, fills and launches of one queue on USM run in order") {
    const pi_usm_kind kind = any_usm_kind(fixture);
    LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "add");
    constexpr uint64_t count = 3000;
    const Usm usm(fixture, kind, count * 4), copy(fixture, kind, count * 4);
    const Bytes pattern = bytes_of({11});
    const Regions whole{linear(0, 0, count * 4)};
    const Event gate = fixture.make_host_event();
    Arguments arguments;
    arguments.pointer(usm.at()).value(uint32_t{31});
    const pi_kernel_launch_desc add = launch_desc(kernel, arguments, count);
    const Event filled =
        fixture.enqueue(setup.queue, usm_fill_desc(usm.at(), pattern, count * 4), {gate});
    fixture.enqueue(setup.queue, add);
    fixture.enqueue(setup.queue, usm_copy_desc(usm.at(), copy.at(), whole));
    const Event last = fixture.enqueue(setup.queue, add);
    require(!fixture.is_complete(filled) && !fixture.is_complete(last),
            "commands are complete before the event that they wait for");
    fixture.signal(gate);
    fixture.wait(last, "the last of four commands on USM");
    require_usm_contents(fixture, setup.queue, copy.at(), repeated(bytes_of({42}), count * 4),
                         "USM copied between two launches");
    require_usm_contents(fixture, setup.queue, usm.at(), repeated(bytes_of({73}), count * 4),
                         "USM after two launches");
}

// Opens a gate and waits for the commands behind it, also if the test fails: they use memory of the
// test, and memory that is allocated only after the gate.
class Opened {
public:
    Opened(pi_event gate, pi_queue queue) : gate_(gate), queue_(queue) {}
    Opened(const Opened &) = delete;
    Opened &operator=(const Opened &) = delete;
    ~Opened() {
        piEventSignalHost(gate_, PI_SUCCESS);
        piQueueFinish(queue_);
    }

private:
    pi_event gate_;
    pi_queue queue_;
};

CONFORMANCE_TEST("kernel", "a later launch accepts USM allocated in a queue's order") {
    need_usm(fixture);
    fixture.need(PI_CAPABILITY_USM_ASYNC, "PI_CAPABILITY_USM_ASYNC");
    LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "add");
    constexpr uint64_t count = 512;
    void *pointer = nullptr;
    auto alloc = pi::desc<pi_usm_alloc_desc>();
    alloc.size = count * 4;
    alloc.out_pointer = &pointer;
    const Event gate = fixture.make_host_event();
    Bytes into(count * 4);
    const Opened opened(gate, setup.queue);
    fixture.enqueue(setup.queue, alloc, {gate});
    fixture.enqueue(setup.queue, usm_fill_desc(pointer, bytes_of({100}), count * 4));
    Arguments arguments;
    arguments.pointer(pointer).value(uint32_t{23});
    fixture.enqueue(setup.queue, launch_desc(kernel, arguments, count));
    const Regions whole{linear(0, 0, count * 4)};
    fixture.enqueue(setup.queue, usm_copy_desc(pointer, into.data(), whole));
    auto freeing = pi::desc<pi_usm_free_desc>();
    freeing.pointer = pointer;
    const Event freed = fixture.enqueue(setup.queue, freeing);
    fixture.signal(gate);
    fixture.wait(freed, "the free behind a launch");
    require(into == repeated(bytes_of({123}), count * 4),
            "a kernel's work on memory allocated in its queue's order is another");
}

// One word in each allocation, and their addresses.
class Words {
public:
    Words(Fixture &fixture, pi_queue queue, pi_usm_kind kind, uint32_t count) : fixture_(fixture) {
        for (uint32_t i = 0; i < count; ++i) {
            words_.emplace_back(fixture, kind, 4 * (1 + fixture.random(0, 900)));
            at_.push_back(words_.back().at(4 * fixture.random(0, words_.back().size() / 4 - 1)));
            usm_upload(fixture, queue, at_.back(), bytes_of({i}));
        }
    }
    Bytes addresses() const {
        Bytes bytes(at_.size() * sizeof(uint64_t));
        std::memcpy(bytes.data(), at_.data(), bytes.size());
        return bytes;
    }
    void require_added(pi_queue queue, uint32_t value) const {
        for (uint32_t i = 0; i < at_.size(); ++i)
            require_usm_contents(fixture_, queue, at_[i], bytes_of({i + value}),
                                 "a word that a kernel reached by its address");
    }

private:
    Fixture &fixture_;
    std::vector<Usm> words_;
    std::vector<std::byte *> at_;
};

CONFORMANCE_TEST(
    "kernel", "a kernel follows pointers inside memory to USM of the kinds that its launch names") {
    LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "follow");
    constexpr uint32_t count = 40;
    const auto launch = [&](const Arguments &arguments, uint64_t flags) {
        pi_kernel_launch_desc desc = launch_desc(kernel, arguments, count);
        desc.flags |= flags;
        fixture.wait(fixture.enqueue(setup.queue, desc), "a launch that follows pointers");
    };
    uint64_t every_kind = 0;
    for (const pi_usm_kind kind : need_usm(fixture)) {
        const uint64_t flag = uint64_t{PI_LAUNCH_INDIRECT_USM_HOST} << (kind - PI_USM_HOST);
        every_kind |= flag;
        for (const uint64_t flags : {flag, every_kind}) {
            // The memory of an earlier launch is freed by now.
            const Words words(fixture, setup.queue, kind, count);
            const Bytes addresses = words.addresses();
            const Mem in_buffer = fixture.make_buffer(fixture.place(), addresses);
            launch(Arguments().buffer(in_buffer).value(uint32_t{7}), flags);
            words.require_added(setup.queue, 7);
            const Usm in_usm(fixture, kind, addresses.size());
            usm_upload(fixture, setup.queue, in_usm.at(), addresses);
            launch(Arguments().pointer(in_usm.at()).value(uint32_t{5}), flags);
            words.require_added(setup.queue, 12);
        }
        // Addresses within the argument need no flag.
        const Usm usm(fixture, kind, count * 12);
        std::vector<std::byte *> at(count);
        for (uint32_t i = 0; i < count; ++i)
            at[i] = usm.at(count * 8 + i * 4);
        Bytes bytes(usm.size());
        std::memcpy(bytes.data(), at.data(), count * 8);
        usm_upload(fixture, setup.queue, usm.at(), bytes);
        launch(Arguments().pointer(usm.at()).value(uint32_t{9}), 0);
        require_usm_contents(fixture, setup.queue, usm.at(count * 8),
                             repeated(bytes_of({9}), count * 4), "words behind their addresses");
    }
}

CONFORMANCE_TEST("kernel", "many threads launch one kernel, alternately on buffers and on USM") {
    const std::vector<pi_usm_kind> kinds = need_usm(fixture);
    LaunchFixture setup(fixture);
    const Kernel kernel = make_kernel(setup.program, "add");
    constexpr uint64_t count = 256;
    constexpr unsigned threads = 4, rounds = 30;
    const Bytes zeros(count * 4);
    std::vector<Queue> queues;
    std::vector<Mem> buffers;
    std::vector<Usm> allocations;
    for (unsigned i = 0; i < threads; ++i) {
        queues.push_back(fixture.make_queue());
        buffers.push_back(fixture.make_buffer(fixture.place(), zeros));
        allocations.emplace_back(fixture, kinds[i % kinds.size()], zeros.size());
        usm_upload(fixture, setup.queue, allocations.back().at(), zeros);
    }
    fixture.run_threads(threads, [&](unsigned thread) {
        for (unsigned round = 0; round < rounds; ++round) {
            Arguments arguments;
            if ((thread + round) % 2 != 0)
                arguments.buffer(buffers[thread]);
            else
                arguments.pointer(allocations[thread].at());
            arguments.value(uint32_t{thread + 1});
            pi_kernel_launch_desc desc = launch_desc(kernel, arguments, count);
            if (round % 3 == 0)
                desc.flags |= PI_LAUNCH_INDIRECT_USM_DEVICE;
            fixture.enqueue(queues[thread], desc);
        }
        require_success(piQueueFinish(queues[thread]), "piQueueFinish");
    });
    for (unsigned i = 0; i < threads; ++i) {
        const Bytes expected = repeated(bytes_of({(i + 1) * rounds / 2}), count * 4);
        require_usm_contents(fixture, setup.queue, allocations[i].at(), expected,
                             "USM that a thread's launches have added to");
        fixture.require_contents(setup.queue, buffers[i], expected,
                                 "a buffer that a thread's launches have added to");
    }
}

} // namespace
} // namespace pi::suite
