// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that are given USM.

#include "checks.hpp"
#include "registry.hpp"
#include "usm.hpp"
#include "workshop.hpp"

namespace pi::suite {
namespace {

Bytes random_words(Bench &bench, uint64_t count) {
    return bench.random_bytes(count * sizeof(uint32_t));
}

LAW("kernel", "a kernel reads and writes USM of every kind, from any word") {
    const std::vector<pi_usm_kind> kinds = need_usm(bench);
    Workshop shop(bench);
    const Kernel kernel = make_kernel(shop.program, "combine");
    constexpr uint64_t count = 700, from = 5;
    for (const pi_usm_kind src_kind : kinds) {
        for (const pi_usm_kind dst_kind : kinds) {
            const Usm a(bench, src_kind, (count + from) * 4), dst(bench, dst_kind, count * 4);
            const Bytes a_bytes = random_words(bench, count + from);
            const Bytes b_bytes = random_words(bench, count);
            const Mem b = bench.make_buffer(bench.place(), b_bytes);
            usm_upload(bench, shop.queue, a.at(), a_bytes);
            const auto factor = static_cast<uint32_t>(bench.random(0, UINT32_MAX));
            Arguments arguments;
            arguments.pointer(dst.at()).pointer(a.at(from * 4)).buffer(b).value(factor);
            pi_kernel_launch_desc desc = launch_desc(kernel, arguments, count);
            bench.wait(bench.enqueue(shop.queue, desc), "a launch on USM");
            const std::vector<uint32_t> x = words_of(a_bytes), y = words_of(b_bytes);
            std::vector<uint32_t> expected(count);
            for (uint64_t i = 0; i < count; ++i)
                expected[i] = x[i + from] * factor + y[i];
            require_usm_contents(bench, shop.queue, dst.at(), bytes_of(expected),
                                 "USM that a kernel has written");
            require_usm_contents(bench, shop.queue, a.at(), a_bytes, "USM that a kernel has read");
        }
    }
}

LAW("kernel", "copies, fills and launches on USM of one queue are done in their order") {
    const pi_usm_kind kind = any_usm_kind(bench);
    Workshop shop(bench);
    const Kernel kernel = make_kernel(shop.program, "add");
    constexpr uint64_t count = 3000;
    const Usm usm(bench, kind, count * 4), copy(bench, kind, count * 4);
    const Bytes pattern = bytes_of({11});
    const Regions whole{linear(0, 0, count * 4)};
    const Event gate = bench.make_host_event();
    Arguments arguments;
    arguments.pointer(usm.at()).value(uint32_t{31});
    const pi_kernel_launch_desc add = launch_desc(kernel, arguments, count);
    const Event filled =
        bench.enqueue(shop.queue, usm_fill_desc(usm.at(), pattern, count * 4), {gate});
    bench.enqueue(shop.queue, add);
    bench.enqueue(shop.queue, usm_copy_desc(usm.at(), copy.at(), whole));
    const Event last = bench.enqueue(shop.queue, add);
    require(!bench.is_final(filled) && !bench.is_final(last),
            "commands are final before the event that they wait for");
    bench.signal(gate);
    bench.wait(last, "the last of four commands on USM");
    require_usm_contents(bench, shop.queue, copy.at(), repeated(bytes_of({42}), count * 4),
                         "USM copied between two launches");
    require_usm_contents(bench, shop.queue, usm.at(), repeated(bytes_of({73}), count * 4),
                         "USM after two launches");
}

LAW("kernel", "USM allocated in a queue's order is given to a launch behind it") {
    need_usm(bench);
    bench.need(PI_CAPABILITY_USM_ASYNC, "PI_CAPABILITY_USM_ASYNC");
    Workshop shop(bench);
    const Kernel kernel = make_kernel(shop.program, "add");
    constexpr uint64_t count = 512;
    void *pointer = nullptr;
    pi_usm_alloc_desc alloc = describe<pi_usm_alloc_desc>();
    alloc.size = count * 4;
    alloc.out_pointer = &pointer;
    const Event gate = bench.make_host_event();
    bench.enqueue(shop.queue, alloc, {gate});
    bench.enqueue(shop.queue, usm_fill_desc(pointer, bytes_of({100}), count * 4));
    Arguments arguments;
    arguments.pointer(pointer).value(uint32_t{23});
    bench.enqueue(shop.queue, launch_desc(kernel, arguments, count));
    Bytes into(count * 4);
    const Regions whole{linear(0, 0, count * 4)};
    bench.enqueue(shop.queue, usm_copy_desc(pointer, into.data(), whole));
    pi_usm_free_desc freeing = describe<pi_usm_free_desc>();
    freeing.pointer = pointer;
    const Event freed = bench.enqueue(shop.queue, freeing);
    bench.signal(gate);
    bench.wait(freed, "the free behind a launch");
    require(into == repeated(bytes_of({123}), count * 4),
            "a kernel's work on memory allocated in its queue's order is another");
}

} // namespace
} // namespace pi::suite
