// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// UNIFIED: every command on a queue of dst accepts src's memory in every position and sees the same
// bytes once events order it.

#include "kernels.hpp"
#include "link.hpp"
#include "regions.hpp"
#include "registry.hpp"

#include <pi/pi_native_kernel.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace pi::suite {
namespace {

constexpr uint64_t size = 8192;

// Two objects at src and one at dst, with what they must hold. All commands are on a queue of dst.
class Mixed {
public:
    Mixed(Fixture &fixture, const Link &link)
        : fixture_(fixture),
          link_(link), model_{fixture.random_bytes(size), fixture.random_bytes(size),
                              fixture.random_bytes(size)},
          first_(link, fixture, model_[0]), second_(link, fixture, model_[1]),
          own_(make_destination(link, fixture, model_[2])), mems_{first_, second_, own_},
          src_queue_(fixture.make_queue(link.src)), dst_queue_(fixture.make_queue(link.dst)) {}

    void step() {
        const uint64_t length = fixture_.random(1, size);
        const uint64_t offset = fixture_.random(0, size - length);
        const std::size_t which = fixture_.random(0, 2);
        switch (fixture_.random(0, 6)) {
        case 0:
            return write(which, offset, fixture_.random_bytes(length));
        case 1:
            return read(which, offset, length);
        case 2:
            return copy(which, (which + fixture_.random(1, 2)) % 3);
        case 3:
            return fill(which, offset, length, fixture_.random_bytes(1));
        case 4:
            return map(which, offset, length, PI_MAP_READ);
        case 5:
            return map(which, offset, length, PI_MAP_WRITE_DISCARD);
        default:
            return map(which, offset, length, PI_MAP_READ | PI_MAP_WRITE);
        }
    }

    // Each object as both ends see it.
    void require_models() {
        for (std::size_t i = 0; i < 3; ++i)
            fixture_.require_contents(dst_queue_, mems_[i], model_[i],
                                      join(link_.name(), ": object ", i, " by dst's queue"));
        for (std::size_t i = 0; i < 2; ++i)
            fixture_.require_contents(src_queue_, mems_[i], model_[i],
                                      join(link_.name(), ": object ", i, " by src's queue"));
    }

private:
    std::byte *at(std::size_t which, uint64_t offset) { return model_[which].data() + offset; }

    void write(std::size_t which, uint64_t offset, const Bytes &bytes) {
        fixture_.upload(dst_queue_, mems_[which], bytes, offset);
        std::memcpy(at(which, offset), bytes.data(), bytes.size());
    }
    void read(std::size_t which, uint64_t offset, uint64_t length) {
        const Bytes bytes = fixture_.download(dst_queue_, mems_[which], length, offset);
        require_same_bytes(bytes.data(), at(which, offset), length,
                           link_.name() + ": a read by dst's queue");
    }
    void copy(std::size_t from, std::size_t to) {
        const Regions regions = random_regions(fixture_, 3, size, size);
        fixture_.wait(fixture_.enqueue(dst_queue_, copy_desc(mems_[from], mems_[to], regions)),
                      link_.name() + ": a copy on dst's queue");
        apply(regions, Bytes(model_[from]), model_[to]);
    }
    void fill(std::size_t which, uint64_t offset, uint64_t length, const Bytes &pattern) {
        fixture_.wait(fixture_.fill(dst_queue_, mems_[which], offset, length, pattern),
                      link_.name() + ": a fill on dst's queue");
        std::fill_n(at(which, offset), length, pattern[0]);
    }
    void map(std::size_t which, uint64_t offset, uint64_t length, uint64_t flags) {
        void *pointer = nullptr;
        fixture_.wait(fixture_.map(dst_queue_, mems_[which], flags, offset, length, &pointer),
                      link_.name() + ": a map on dst's queue");
        if ((flags & PI_MAP_READ) != 0)
            require_same_bytes(pointer, at(which, offset), length,
                               link_.name() + ": what dst's queue has mapped");
        if (flags != PI_MAP_READ) {
            const Bytes bytes = fixture_.random_bytes(length);
            std::memcpy(pointer, bytes.data(), length);
            std::memcpy(at(which, offset), bytes.data(), length);
        }
        fixture_.wait(fixture_.unmap(dst_queue_, mems_[which], pointer),
                      link_.name() + ": an unmap on dst's queue");
    }

    Fixture &fixture_;
    const Link link_;
    Bytes model_[3];
    LinkMemory first_;
    LinkMemory second_;
    Mem own_;
    pi_mem mems_[3];
    Queue src_queue_;
    Queue dst_queue_;
};

CONFORMANCE_TEST_PAIRS(
    "connection",
    "every buffer command of dst accepts unified memory, as source and as destination") {
    for (const Link &link : links_that_are(fixture, PI_MEMORY_CONNECTION_UNIFIED)) {
        Mixed mixed(fixture, link);
        for (int i = 0; i < 60; ++i)
            mixed.step();
        mixed.require_models();
    }
}

CONFORMANCE_TEST_PAIRS("connection", "dst's kernels accept unified memory for every argument") {
    const std::vector<Link> links = links_that_are(fixture, PI_MEMORY_CONNECTION_UNIFIED);
    const Program program = make_program(fixture, fixture.dst());
    const Kernel combine = make_kernel(program, "combine");
    const Kernel add = make_kernel(program, "add");
    constexpr uint32_t words = size / 4;
    for (const Link &link : links) {
        const Queue queue = fixture.make_queue(link.dst);
        const Queue src_queue = fixture.make_queue(link.src);
        const Bytes a = fixture.random_bytes(size);
        const Bytes b = fixture.random_bytes(size);
        const LinkMemory mem_a(link, fixture, a);
        const LinkMemory mem_b(link, fixture, b);
        const LinkMemory result(link, fixture, Bytes(size));
        const Mem own = make_destination(link, fixture, Bytes(size));
        std::vector<uint32_t> expected = words_of(a);
        const std::vector<uint32_t> addends = words_of(b);
        for (uint32_t i = 0; i < words; ++i)
            expected[i] = expected[i] * 3 + addends[i];
        for (const pi_mem dst : {result.get(), own.get()}) {
            Arguments arguments;
            arguments.buffer(dst).buffer(mem_a).buffer(mem_b).value(uint32_t{3});
            fixture.wait(fixture.enqueue(queue, launch_desc(combine, arguments, words)),
                         link.name() + ": a launch on dst");
            fixture.require_contents(queue, dst, bytes_of(expected),
                                     link.name() + ": what a kernel of dst has made");
        }
        Arguments in_place;
        in_place.buffer(result).value(uint32_t{5});
        fixture.wait(fixture.enqueue(queue, launch_desc(add, in_place, words)));
        for (uint32_t &word : expected)
            word += 5;
        fixture.require_contents(src_queue, result, bytes_of(expected),
                                 link.name() + ": a kernel's result as src's queue sees it");
    }
}

CONFORMANCE_TEST_PAIRS("connection", "dst's cooperative launches accept unified memory") {
    fixture.need(PI_CAPABILITY_COOPERATIVE, "PI_CAPABILITY_COOPERATIVE", fixture.dst().device);
    const std::vector<Link> links = links_that_are(fixture, PI_MEMORY_CONNECTION_UNIFIED);
    const Program program = make_program(fixture, fixture.dst());
    const Kernel add = make_kernel(program, "add");
    for (const Link &link : links) {
        const Queue queue = fixture.make_queue(link.dst);
        const LinkMemory shared(link, fixture, Bytes(size));
        Arguments arguments;
        arguments.buffer(shared).value(uint32_t{7});
        pi_kernel_launch_desc desc = launch_desc(add, arguments, 8);
        desc.flags = PI_LAUNCH_COOPERATIVE;
        fixture.wait(fixture.enqueue(queue, desc), link.name() + ": a cooperative launch on dst");
        std::vector<uint32_t> expected(size / 4);
        std::fill_n(expected.begin(), 8, 7u);
        fixture.require_contents(fixture.make_queue(link.src), shared, bytes_of(expected),
                                 link.name() + ": what a cooperative launch of dst has made");
    }
}

CONFORMANCE_TEST_PAIRS("connection",
                       "queues see each other's writes to unified memory once events order them") {
    for (const Link &link : links_that_are(fixture, PI_MEMORY_CONNECTION_UNIFIED)) {
        const Queue src_queue = fixture.make_queue(link.src);
        const Queue dst_queue = fixture.make_queue(link.dst);
        const LinkMemory shared(link, fixture, Bytes(size));
        const Mem own = make_destination(link, fixture, Bytes(size));
        std::vector<Bytes> sent;
        std::vector<Bytes> got;
        for (int round = 0; round < 10; ++round) {
            sent.push_back(fixture.random_bytes(size));
            got.emplace_back(size);
        }
        const Event gate = fixture.make_host_event(link.src.context);
        Event last = fixture.make_host_event(link.src.context);
        fixture.signal(last);
        // src writes; dst copies to its own and overwrites; src reads that; and so on.
        for (std::size_t i = 0; i < sent.size(); ++i) {
            const Event written = fixture.write(src_queue, shared, 0, sent[i], {gate, last});
            const Event copied = fixture.copy(dst_queue, shared, 0, own, 0, size, {written});
            const Event erased =
                fixture.fill(dst_queue, shared, 0, size, Bytes(1, std::byte{0xEE}), {copied});
            const Event back = fixture.copy(dst_queue, own, 0, shared, 0, size, {erased});
            last = fixture.read(src_queue, shared, 0, got[i], {back});
        }
        require(!fixture.is_complete(last), link.name(),
                ": the last command is complete before the first");
        fixture.signal(gate);
        fixture.wait(last);
        for (std::size_t i = 0; i < sent.size(); ++i)
            require_same_bytes(got[i].data(), sent[i].data(), size,
                               join(link.name(), ": what came back in round ", i));
    }
}

// Zeros where the plugin has no info.
pi_memory_connection_info info_of(const Link &link) {
    auto query = pi::desc<pi_memory_connection_query>();
    query.kind = link.kind;
    query.src_scope = link.src_scope;
    query.dst_scope = link.dst_scope;
    pi_memory_connection_info info{};
    if (try_connection_info(link.src, link.dst, &query, info) != PI_SUCCESS)
        info = {};
    return info;
}

pi_concurrent_writers writers_of(const Link &link) {
    return info_of(link).concurrent_writers;
}

// Every `step`th byte from `first` on, of a buffer's first `bytes`.
pi_region every(uint64_t step, uint64_t first, uint64_t bytes) {
    pi_region region = linear(0, first, 1);
    region.extent[1] = bytes / step;
    region.src_pitch[0] = 1;
    region.dst_pitch[0] = step;
    return region;
}

bool has_kernels_of(Fixture &fixture, const Place &place) {
    try {
        kernel_format(fixture, place.device);
        return true;
    } catch (const Skip &) {
        return false;
    }
}

// Launches a kernel of each end, both at once, and waits. The functions make the program of a place,
// and add the arguments of an end (0 is src). Returns src's queue.
template <typename MakeProgram, typename AddArguments>
Queue run_at_both_ends(Fixture &fixture, const Link &link, MakeProgram &&program_of,
                       const char *kernel, AddArguments &&add_arguments, uint64_t items) {
    const Place *const places[] = {&link.src, &link.dst};
    Program programs[2];
    Kernel kernels[2];
    Queue queues[2];
    Event gates[2], launched[2];
    for (std::size_t end = 0; end < 2; ++end) {
        programs[end] = program_of(*places[end]);
        kernels[end] = make_kernel(programs[end], kernel);
        queues[end] = fixture.make_queue(*places[end]);
        gates[end] = fixture.make_host_event(places[end]->context);
        Arguments arguments;
        add_arguments(end, arguments);
        launched[end] =
            fixture.enqueue(queues[end], launch_desc(kernels[end], arguments, items), {gates[end]});
        require_success(piQueueFlush(queues[end]), "piQueueFlush");
    }
    for (const Event &gate : gates)
        fixture.signal(gate);
    for (const Event &event : launched)
        fixture.wait(event, link.name() + ": a launch of one of two ends");
    return std::move(queues[0]);
}

// A kernel of each end adds to its half.
void require_kernels_at_once(Fixture &fixture, const Link &link, uint64_t half) {
    const LinkMemory shared(link, fixture, Bytes(2 * half));
    const Queue queue = run_at_both_ends(
        fixture, link, [&](const Place &place) { return make_program(fixture, place); }, "add",
        [&](std::size_t end, Arguments &arguments) {
            arguments.buffer(shared, end * half, half).value(static_cast<uint32_t>(end + 1));
        },
        half / 4);
    std::vector<uint32_t> expected(half / 2, 2u);
    std::fill_n(expected.begin(), half / 4, 1u);
    fixture.require_contents(queue, shared, bytes_of(expected),
                             link.name() + ": what kernels of both ends have written at once");
}

CONFORMANCE_TEST_PAIRS("connection",
                       "queues of both places write neighbouring bytes at once, where they may") {
    const bool launches =
        has_kernels_of(fixture, fixture.src()) && has_kernels_of(fixture, fixture.dst());
    bool any = false;
    for (const Link &link : links_that_are(fixture, PI_MEMORY_CONNECTION_UNIFIED)) {
        const bool bytes = writers_of(link) == PI_CONCURRENT_WRITERS_DISJOINT_BYTES;
        const bool views = writers_of(link) == PI_CONCURRENT_WRITERS_DISJOINT_VIEWS &&
                           fixture.can(PI_CAPABILITY_VIEW, link.src.device);
        if (!bytes && !views)
            continue;
        any = true;
        const uint64_t unit =
            std::max({src_alignment(link, fixture), dst_alignment(link, fixture), uint64_t{1}});
        const uint64_t half = std::max<uint64_t>(size / 2, unit);
        const LinkMemory shared(link, fixture, Bytes(2 * half));
        // Views share no byte, but may share a cache line.
        const Mem low = views ? fixture.make_view(shared, 0, half) : Mem{};
        const Mem high = views ? fixture.make_view(shared, half, half) : Mem{};
        const Queue queues[] = {fixture.make_queue(link.src), fixture.make_queue(link.dst)};
        for (int round = 0; round < 8; ++round) {
            const Bytes sources[] = {fixture.random_bytes(half), fixture.random_bytes(half)};
            const Event gates[] = {fixture.make_host_event(link.src.context),
                                   fixture.make_host_event(link.dst.context)};
            std::vector<Event> written;
            for (const std::size_t end : {0, 1}) {
                const pi_region region = bytes ? every(2, end, 2 * half) : linear(0, 0, half);
                auto write = pi::desc<pi_buffer_write_desc>();
                write.mem = bytes ? shared.get() : end == 0 ? low.get() : high.get();
                write.host_ptr = sources[end].data();
                write.region_count = 1;
                write.regions = &region;
                written.push_back(fixture.enqueue(queues[end], write, {gates[end]}));
                require_success(piQueueFlush(queues[end]), "piQueueFlush");
            }
            for (const Event &gate : gates)
                fixture.signal(gate);
            for (const Event &event : written)
                fixture.wait(event, link.name() + ": a write of one of two ends");
            Bytes expected(2 * half);
            for (uint64_t i = 0; i < half; ++i) {
                expected[bytes ? 2 * i : i] = sources[0][i];
                expected[bytes ? 2 * i + 1 : half + i] = sources[1][i];
            }
            for (const Queue &queue : queues)
                fixture.require_contents(queue, shared, expected,
                                         link.name() + ": what both ends have written at once");
        }
        if (launches)
            require_kernels_at_once(fixture, link, half);
    }
    if (!any)
        skip("no memory of these places has two writers at once");
}

// ----- Atomics -----

constexpr uint32_t additions = 1000; // by each work-item

void PI_CALL native_count(const pi_native_group *group, void *const *arguments) {
    const std::atomic_ref word(static_cast<uint32_t *>(arguments[0])[0]);
    for (uint64_t i = group->begin[0]; i < group->end[0]; ++i)
        for (uint32_t round = 0; round < additions; ++round)
            word.fetch_add(1);
}
constexpr pi_native_kernel counters[] = {{"count", &native_count, 1, 0}};
constexpr pi_native_program native_counter = {sizeof(pi_native_program), 1, counters};
constexpr char opencl_counter[] = "kernel void count(volatile global uint *word) {"
                                  "    for (int i = 0; i < 1000; ++i) atomic_inc(word);"
                                  "}";

Program make_counter(Fixture &fixture, const Place &place) {
    const pi_program_format format = kernel_format(fixture, place.device);
    if (format == PI_PROGRAM_FORMAT_NATIVE_TABLE)
        return make_program(place.context, format, &native_counter, sizeof native_counter);
    if (format != PI_PROGRAM_FORMAT_OPENCL_C)
        skip("the suite has kernels with atomics as native functions and in OpenCL C only");
    return make_program(place.context, format, opencl_counter, sizeof opencl_counter - 1);
}

CONFORMANCE_TEST_PAIRS("connection",
                       "kernels of both places add to one word, where atomics are atomic to both") {
    bool any = false;
    for (const Link &link : links_that_are(fixture, PI_MEMORY_CONNECTION_UNIFIED)) {
        const pi_memory_connection_info info = info_of(link);
        if (info.atomics == 0)
            continue;
        any = true;
        constexpr uint32_t items = 64;
        const LinkMemory shared(link, fixture, Bytes(4096));
        const Queue queue = run_at_both_ends(
            fixture, link, [&](const Place &place) { return make_counter(fixture, place); },
            "count", [&](std::size_t, Arguments &arguments) { arguments.buffer(shared); }, items);
        const std::vector<uint32_t> count =
            words_of(fixture.download(queue, shared, sizeof(uint32_t)));
        require_equal(count[0], 2 * items * additions,
                      link.name() + ": the word that kernels of both ends have added to");
    }
    if (!any)
        skip("no memory of these places has atomics for both");
}

CONFORMANCE_TEST_PAIRS("connection", "dst's commands accept views of unified memory") {
    for (const Place &place : {fixture.src(), fixture.dst()})
        fixture.need(PI_CAPABILITY_VIEW, "PI_CAPABILITY_VIEW", place.device);
    for (const Link &link : links_that_are(fixture, PI_MEMORY_CONNECTION_UNIFIED)) {
        const Queue queue = fixture.make_queue(link.dst);
        const uint64_t offset =
            std::max({src_alignment(link, fixture), dst_alignment(link, fixture), uint64_t{256}});
        Bytes model = fixture.random_bytes(2 * std::max(offset, size));
        const LinkMemory root(link, fixture, model);
        const Mem view = fixture.make_view(root, offset, size);
        const Bytes part(model.begin() + static_cast<std::ptrdiff_t>(offset),
                         model.begin() + static_cast<std::ptrdiff_t>(offset + size));
        fixture.require_contents(queue, view, part, link.name() + ": a view by dst's queue");
        const Bytes bytes = fixture.random_bytes(size);
        fixture.upload(queue, view, bytes);
        std::copy(bytes.begin(), bytes.end(), model.begin() + static_cast<std::ptrdiff_t>(offset));
        fixture.require_contents(queue, root, model, link.name() + ": the root by dst's queue");
    }
}

CONFORMANCE_TEST_PAIRS("connection", "unified memory may be released right after dst's enqueue") {
    for (const Link &link : links_that_are(fixture, PI_MEMORY_CONNECTION_UNIFIED)) {
        const Queue queue = fixture.make_queue(link.dst);
        const Bytes bytes = fixture.random_bytes(size);
        LinkMemory src(link, fixture, bytes);
        const Mem dst = make_destination(link, fixture, Bytes(size));
        const Event gate = fixture.make_host_event(link.dst.context);
        const Event copied = fixture.copy(queue, src, 0, dst, 0, size, {gate});
        src.release();
        std::vector<Mem> others;
        for (int i = 0; i < 8; ++i)
            others.push_back(fixture.make_buffer(link.src, Bytes(size, std::byte{0xEE})));
        fixture.signal(gate);
        fixture.wait(copied);
        fixture.require_contents(queue, dst, bytes, link.name() + ": a copy of released memory");
    }
}

} // namespace
} // namespace pi::suite
