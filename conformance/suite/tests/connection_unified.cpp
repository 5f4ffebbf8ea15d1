// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// UNIFIED: every command on a queue of dst accepts src's memory in every position and sees the same bytes
// once events order it.

#include "kernels.hpp"
#include "link.hpp"
#include "regions.hpp"
#include "registry.hpp"

#include <algorithm>
#include <cstring>

namespace pi::suite {
namespace {

constexpr uint64_t size = 8192;

// Two objects at src and one at dst, with what they must hold. All commands are on a queue of dst.
class Mixed {
public:
    Mixed(Bench &bench, const Link &link)
        : bench_(bench), link_(link), model_{bench.random_bytes(size), bench.random_bytes(size),
                                             bench.random_bytes(size)},
          first_(link, bench, model_[0]), second_(link, bench, model_[1]),
          own_(make_destination(link, bench, model_[2])), mems_{first_, second_, own_},
          src_queue_(bench.make_queue(link.src)), dst_queue_(bench.make_queue(link.dst)) {}

    void step() {
        const uint64_t length = bench_.random(1, size);
        const uint64_t offset = bench_.random(0, size - length);
        const std::size_t which = bench_.random(0, 2);
        switch (bench_.random(0, 5)) {
        case 0:
            return write(which, offset, bench_.random_bytes(length));
        case 1:
            return read(which, offset, length);
        case 2:
            return copy(which, (which + bench_.random(1, 2)) % 3);
        case 3:
            return fill(which, offset, length, bench_.random_bytes(1));
        case 4:
            return map(which, offset, length, PI_MAP_READ);
        default:
            return map(which, offset, length, PI_MAP_READ | PI_MAP_WRITE);
        }
    }

    // Each object as both ends see it.
    void require_models() {
        for (std::size_t i = 0; i < 3; ++i)
            bench_.require_contents(dst_queue_, mems_[i], model_[i],
                                    join(link_.name(), ": object ", i, " by dst's queue"));
        for (std::size_t i = 0; i < 2; ++i)
            bench_.require_contents(src_queue_, mems_[i], model_[i],
                                    join(link_.name(), ": object ", i, " by src's queue"));
    }

private:
    std::byte *at(std::size_t which, uint64_t offset) { return model_[which].data() + offset; }

    void write(std::size_t which, uint64_t offset, const Bytes &bytes) {
        bench_.upload(dst_queue_, mems_[which], bytes, offset);
        std::memcpy(at(which, offset), bytes.data(), bytes.size());
    }
    void read(std::size_t which, uint64_t offset, uint64_t length) {
        const Bytes bytes = bench_.download(dst_queue_, mems_[which], length, offset);
        require_same_bytes(bytes.data(), at(which, offset), length,
                           link_.name() + ": a read by dst's queue");
    }
    void copy(std::size_t from, std::size_t to) {
        const Regions regions = random_regions(bench_, 3, size, size);
        bench_.wait(bench_.enqueue(dst_queue_, copy_desc(mems_[from], mems_[to], regions)),
                    link_.name() + ": a copy on dst's queue");
        apply(regions, Bytes(model_[from]), model_[to]);
    }
    void fill(std::size_t which, uint64_t offset, uint64_t length, const Bytes &pattern) {
        bench_.wait(bench_.fill(dst_queue_, mems_[which], offset, length, pattern),
                    link_.name() + ": a fill on dst's queue");
        std::fill_n(at(which, offset), length, pattern[0]);
    }
    void map(std::size_t which, uint64_t offset, uint64_t length, uint64_t flags) {
        void *pointer = nullptr;
        bench_.wait(bench_.map(dst_queue_, mems_[which], flags, offset, length, &pointer),
                    link_.name() + ": a map on dst's queue");
        require_same_bytes(pointer, at(which, offset), length,
                           link_.name() + ": what dst's queue has mapped");
        if ((flags & PI_MAP_WRITE) != 0) {
            const Bytes bytes = bench_.random_bytes(length);
            std::memcpy(pointer, bytes.data(), length);
            std::memcpy(at(which, offset), bytes.data(), length);
        }
        bench_.wait(bench_.unmap(dst_queue_, mems_[which], pointer),
                    link_.name() + ": an unmap on dst's queue");
    }

    Bench &bench_;
    const Link link_;
    Bytes model_[3];
    LinkMemory first_;
    LinkMemory second_;
    Mem own_;
    pi_mem mems_[3];
    Queue src_queue_;
    Queue dst_queue_;
};

CONFORMANCE_TEST_PAIRS("connection",
                       "unified memory takes every buffer command of dst, in every position") {
    for (const Link &link : links_that_are(bench, PI_MEMORY_CONNECTION_UNIFIED)) {
        Mixed mixed(bench, link);
        for (int i = 0; i < 60; ++i)
            mixed.step();
        mixed.require_models();
    }
}

CONFORMANCE_TEST_PAIRS("connection", "unified memory is every argument of dst's kernels") {
    const std::vector<Link> links = links_that_are(bench, PI_MEMORY_CONNECTION_UNIFIED);
    const Program program = make_program(bench, bench.dst());
    const Kernel combine = make_kernel(program, "combine");
    const Kernel add = make_kernel(program, "add");
    constexpr uint32_t words = size / 4;
    for (const Link &link : links) {
        const Queue queue = bench.make_queue(link.dst);
        const Queue src_queue = bench.make_queue(link.src);
        const Bytes a = bench.random_bytes(size);
        const Bytes b = bench.random_bytes(size);
        const LinkMemory mem_a(link, bench, a);
        const LinkMemory mem_b(link, bench, b);
        const LinkMemory result(link, bench, Bytes(size));
        const Mem own = make_destination(link, bench, Bytes(size));
        std::vector<uint32_t> expected = words_of(a);
        const std::vector<uint32_t> addends = words_of(b);
        for (uint32_t i = 0; i < words; ++i)
            expected[i] = expected[i] * 3 + addends[i];
        for (const pi_mem dst : {result.get(), own.get()}) {
            Arguments arguments;
            arguments.buffer(dst).buffer(mem_a).buffer(mem_b).value(uint32_t{3});
            bench.wait(bench.enqueue(queue, launch_desc(combine, arguments, words)),
                       link.name() + ": a launch on dst");
            bench.require_contents(queue, dst, bytes_of(expected),
                                   link.name() + ": what a kernel of dst has made");
        }
        Arguments in_place;
        in_place.buffer(result).value(uint32_t{5});
        bench.wait(bench.enqueue(queue, launch_desc(add, in_place, words)));
        for (uint32_t &word : expected)
            word += 5;
        bench.require_contents(src_queue, result, bytes_of(expected),
                               link.name() + ": a kernel's result as src's queue sees it");
    }
}

CONFORMANCE_TEST_PAIRS("connection",
                       "bytes of unified memory cross between the queues once events order them") {
    for (const Link &link : links_that_are(bench, PI_MEMORY_CONNECTION_UNIFIED)) {
        const Queue src_queue = bench.make_queue(link.src);
        const Queue dst_queue = bench.make_queue(link.dst);
        const LinkMemory shared(link, bench, Bytes(size));
        const Mem own = make_destination(link, bench, Bytes(size));
        std::vector<Bytes> sent;
        std::vector<Bytes> got;
        for (int round = 0; round < 10; ++round) {
            sent.push_back(bench.random_bytes(size));
            got.emplace_back(size);
        }
        const Event gate = bench.make_host_event(link.src.context);
        Event last = bench.make_host_event(link.src.context);
        bench.signal(last);
        // src writes, dst copies to its own and overwrites, src reads what dst has left, and so on.
        for (std::size_t i = 0; i < sent.size(); ++i) {
            const Event written = bench.write(src_queue, shared, 0, sent[i], {gate, last});
            const Event copied = bench.copy(dst_queue, shared, 0, own, 0, size, {written});
            const Event erased =
                bench.fill(dst_queue, shared, 0, size, Bytes(1, std::byte{0xEE}), {copied});
            const Event back = bench.copy(dst_queue, own, 0, shared, 0, size, {erased});
            last = bench.read(src_queue, shared, 0, got[i], {back});
        }
        require(!bench.is_final(last), link.name(), ": the last command is final before the first");
        bench.signal(gate);
        bench.wait(last);
        for (std::size_t i = 0; i < sent.size(); ++i)
            require_same_bytes(got[i].data(), sent[i].data(), size,
                               join(link.name(), ": what came back in round ", i));
    }
}

CONFORMANCE_TEST_PAIRS("connection", "views of unified memory are used by dst like buffers") {
    for (const Place &place : {bench.src(), bench.dst()})
        bench.need(PI_CAPABILITY_VIEW, "PI_CAPABILITY_VIEW", place.device);
    for (const Link &link : links_that_are(bench, PI_MEMORY_CONNECTION_UNIFIED)) {
        const Queue queue = bench.make_queue(link.dst);
        const uint64_t offset =
            std::max({src_alignment(link, bench), dst_alignment(link, bench), uint64_t{256}});
        Bytes model = bench.random_bytes(2 * std::max(offset, size));
        const LinkMemory root(link, bench, model);
        const Mem view = bench.make_view(root, offset, size);
        const Bytes part(model.begin() + static_cast<std::ptrdiff_t>(offset),
                         model.begin() + static_cast<std::ptrdiff_t>(offset + size));
        bench.require_contents(queue, view, part, link.name() + ": a view by dst's queue");
        const Bytes bytes = bench.random_bytes(size);
        bench.upload(queue, view, bytes);
        std::copy(bytes.begin(), bytes.end(), model.begin() + static_cast<std::ptrdiff_t>(offset));
        bench.require_contents(queue, root, model, link.name() + ": the root by dst's queue");
    }
}

CONFORMANCE_TEST_PAIRS("connection", "unified memory may be released right after dst's enqueue") {
    for (const Link &link : links_that_are(bench, PI_MEMORY_CONNECTION_UNIFIED)) {
        const Queue queue = bench.make_queue(link.dst);
        const Bytes bytes = bench.random_bytes(size);
        LinkMemory src(link, bench, bytes);
        const Mem dst = make_destination(link, bench, Bytes(size));
        const Event gate = bench.make_host_event(link.dst.context);
        const Event copied = bench.copy(queue, src, 0, dst, 0, size, {gate});
        src.release();
        std::vector<Mem> others;
        for (int i = 0; i < 8; ++i)
            others.push_back(bench.make_buffer(link.src, Bytes(size, std::byte{0xEE})));
        bench.signal(gate);
        bench.wait(copied);
        bench.require_contents(queue, dst, bytes, link.name() + ": a copy of released memory");
    }
}

} // namespace
} // namespace pi::suite
