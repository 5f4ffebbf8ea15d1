// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NONE: dst's commands refuse src's memory and change nothing.

#include "checks.hpp"
#include "kernels.hpp"
#include "link.hpp"
#include "regions.hpp"
#include "registry.hpp"
#include "second_loader.hpp"

namespace pi::suite {
namespace {

constexpr uint64_t size = 8192;

template <typename Desc>
void require_refused(pi_queue queue, const Desc &desc, const std::string &what) {
    require_untouched<pi_event>(join(Description<Desc>::name, " with ", what),
                                {PI_ERROR_INVALID_MEM_OBJECT},
                                [&](pi_event *out) { return try_enqueue(queue, desc, {}, out); });
    Desc blocking = desc;
    blocking.flags |= PI_COMMAND_BLOCKING;
    require_error(try_enqueue(queue, blocking), PI_ERROR_INVALID_MEM_OBJECT,
                  Description<Desc>::name, ", blocking, with ", what);
}

uint64_t offset_alignment(Fixture &fixture, pi_mem mem) {
    const auto device = get_info<pi_device>(&piMemGetInfo, mem, PI_MEM_INFO_DEVICE);
    const auto scope = get_info<uint32_t>(&piMemGetInfo, mem, PI_MEM_INFO_SCOPE);
    return fixture.scopes(device).at(scope).offset_alignment;
}

void require_launch_refused(Fixture &fixture, const Place &place, pi_queue queue, pi_mem another,
                            pi_mem own, const std::string &what) {
    Program program;
    try {
        program = make_program(fixture, place);
    } catch (const Skip &) {
        return;
    }
    const Kernel kernel = make_kernel(program, "combine");
    const uint64_t alignment =
        std::max(offset_alignment(fixture, another), offset_alignment(fixture, own));
    const uint64_t step = alignment <= 1024 ? 1024 : 0; // nothing but the memory is wrong
    for (std::size_t position = 0; position < 3; ++position) {
        Arguments arguments;
        for (std::size_t i = 0; i < 3; ++i)
            arguments.buffer(i == position ? another : own, i * step, 1024);
        arguments.value(uint32_t{3});
        require_refused(queue, launch_desc(kernel, arguments, 16),
                        join(what, " as argument ", position));
    }
}

// Every command of a queue of `place` refuses the memory, as source and as destination.
void require_all_refused(Fixture &fixture, const Place &place, pi_mem another,
                         const std::string &what) {
    const Queue queue = fixture.make_queue(place);
    const Bytes own_bytes = fixture.random_bytes(size);
    const Mem own = fixture.make_buffer(place, own_bytes);
    const Regions regions{linear(0, 0, 512)};
    Bytes host = fixture.random_bytes(size);
    const Bytes host_before = host;
    require_refused(queue, read_desc(another, host, regions), what);
    require_refused(queue, write_desc(another, host, regions), what);
    require_refused(queue, copy_desc(another, own, regions), what + " as src");
    require_refused(queue, copy_desc(own, another, regions), what + " as dst");
    const Regions apart{linear(0, 512, 512)};
    require_refused(queue, copy_desc(another, another, apart), what + " as both");
    auto fill = pi::desc<pi_buffer_fill_desc>();
    fill.mem = another;
    fill.pattern = host.data();
    fill.pattern_size = 4;
    fill.size = 512;
    require_refused(queue, fill, what);
    void *pointer = poison<void *>();
    auto map = pi::desc<pi_buffer_map_desc>();
    map.flags = PI_MAP_READ;
    map.mem = another;
    map.size = 512;
    map.out_pointer = &pointer;
    require_refused(queue, map, what);
    require(same(pointer, poison<void *>()), "a map of ", what,
            " was refused, but returned an address");
    auto unmap = pi::desc<pi_unmap_desc>();
    unmap.mem = another;
    unmap.pointer = host.data();
    require_refused(queue, unmap, what);
    require_launch_refused(fixture, place, queue, another, own, what);
    require_success(piQueueFinish(queue), "piQueueFinish");
    require(host == host_before, "a refused read of ", what, " has changed the host's bytes");
    fixture.require_contents(queue, own, own_bytes, "dst's own buffer after refused commands");
}

CONFORMANCE_TEST_PAIRS("connection",
                       "memory without a connection is refused by every command of dst") {
    for (const Link &link : links_that_are(fixture, PI_MEMORY_CONNECTION_NONE)) {
        const Bytes bytes = fixture.random_bytes(size);
        const LinkMemory memory(link, fixture, bytes);
        require_all_refused(fixture, link.dst, memory, link.name() + " of src");
        fixture.require_contents(fixture.make_queue(link.src), memory, bytes,
                                 link.name() + " after refused commands of dst");
    }
}

CONFORMANCE_TEST_PAIRS("connection",
                       "memory without a connection is not copied by src's queue either") {
    const pi_memory_connection back = fixture.connection(fixture.dst(), fixture.src());
    if (fixture.connection(fixture.src(), fixture.dst()) != PI_MEMORY_CONNECTION_NONE ||
        back != PI_MEMORY_CONNECTION_NONE)
        skip("there is a connection");
    const Bytes src_bytes = fixture.random_bytes(size);
    const Bytes dst_bytes = fixture.random_bytes(size);
    const Mem src = fixture.make_buffer(fixture.src(), src_bytes);
    const Mem dst = fixture.make_buffer(fixture.dst(), dst_bytes);
    const Queue queue = fixture.make_queue(fixture.src());
    const Regions regions{linear(0, 0, 512)};
    require_refused(queue, copy_desc(src, dst, regions), "dst's buffer as dst");
    require_refused(queue, copy_desc(dst, src, regions), "dst's buffer as src");
    require_success(piQueueFinish(queue), "piQueueFinish");
    fixture.require_contents(queue, src, src_bytes, "src's buffer");
    fixture.require_contents(fixture.make_queue(fixture.dst()), dst, dst_bytes, "dst's buffer");
}

CONFORMANCE_TEST("connection", "memory of another plugin instance is refused by every command") {
    const SecondLoader second(fixture);
    const Bytes bytes = fixture.random_bytes(size);
    const Mem another = fixture.make_buffer(second.place(), bytes);
    const Mem home = fixture.make_buffer(fixture.place(), bytes);
    require_all_refused(fixture, fixture.place(), another, "another instance's buffer");
    require_all_refused(fixture, second.place(), home, "another instance's buffer");
    fixture.require_contents(fixture.make_queue(second.place()), another, bytes,
                             "the other instance's buffer");
    fixture.require_contents(fixture.make_queue(), home, bytes, "this instance's buffer");
}

} // namespace
} // namespace pi::suite
