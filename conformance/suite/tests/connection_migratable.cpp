// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MIGRATABLE: a copy from src's to dst's buffer is accepted on a queue of either end, asynchronous,
// exact, at any offset and size.

#include "checks.hpp"
#include "link.hpp"
#include "regions.hpp"
#include "registry.hpp"

#include <algorithm>
#include <memory>

namespace pi::suite {
namespace {

constexpr uint64_t size = 8192;

// Calls body(link, queue, "src" or "dst") for each link and a queue of each of its ends.
template <typename Body>
void on_either_end(Fixture &fixture, Body &&body) {
    for (const Link &link : links_that_are(fixture, PI_MEMORY_CONNECTION_MIGRATABLE)) {
        body(link, fixture.make_queue(link.src), link.name() + ", on a queue of src");
        body(link, fixture.make_queue(link.dst), link.name() + ", on a queue of dst");
    }
}

// A source and a destination with their bytes, as seen by their own places.
struct Ends {
    Fixture &fixture;
    const Link &link;
    Bytes src_model;
    Bytes dst_model;
    LinkMemory src;
    Mem dst;
    Queue src_queue;
    Queue dst_queue;

    Ends(Fixture &on, const Link &of, uint64_t bytes = size)
        : fixture(on), link(of), src_model(on.random_bytes(bytes)),
          dst_model(on.random_bytes(bytes)), src(of, on, src_model),
          dst(make_destination(of, on, dst_model)), src_queue(on.make_queue(of.src)),
          dst_queue(on.make_queue(of.dst)) {}

    void require_models(const std::string &what) {
        fixture.require_contents(src_queue, src, src_model, what + ": the source");
        fixture.require_contents(dst_queue, dst, dst_model, what + ": the destination");
    }
};

CONFORMANCE_TEST_PAIRS("connection", "a migrating copy is exact, whatever its regions") {
    on_either_end(fixture, [&](const Link &link, const Queue &queue, const std::string &what) {
        Ends ends(fixture, link);
        for (int round = 0; round < 12; ++round) {
            const Regions regions = random_regions(fixture, fixture.random(1, 9), size, size);
            fixture.wait(fixture.enqueue(queue, copy_desc(ends.src, ends.dst, regions)), what);
            apply(regions, ends.src_model, ends.dst_model);
            ends.require_models(join(what, ", ", text_of(regions[0]), " and others"));
        }
        for (const uint64_t length : {uint64_t{1}, uint64_t{4097}, size}) {
            const Regions regions{linear(size - length, 0, length)};
            fixture.wait(fixture.enqueue(queue, copy_desc(ends.src, ends.dst, regions)), what);
            apply(regions, ends.src_model, ends.dst_model);
            ends.require_models(join(what, ", ", length, " bytes"));
        }
    });
}

CONFORMANCE_TEST_PAIRS("connection", "a large migrating copy moves its last byte") {
    on_either_end(fixture, [&](const Link &link, const Queue &queue, const std::string &what) {
        const uint64_t large = std::min(fixture.at_most(24 << 20, link.src.device),
                                        fixture.at_most(24 << 20, link.dst.device)) /
                               4096 * 4096;
        Ends ends(fixture, link, large);
        const Regions regions{linear(4095, 1, large - 4095)};
        fixture.wait(fixture.enqueue(queue, copy_desc(ends.src, ends.dst, regions)), what);
        apply(regions, ends.src_model, ends.dst_model);
        ends.require_models(what);
    });
}

// A command behind two host events; gates[last] is signalled last.
void check_held(Fixture &fixture, const Link &link, const Queue &queue, const std::string &what,
                std::size_t last) {
    Ends ends(fixture, link);
    const Event gates[] = {fixture.make_host_event(link.src.context),
                           fixture.make_host_event(link.dst.context)};
    const Event copied = fixture.copy(queue, ends.src, 0, ends.dst, 0, size, {gates[0], gates[1]});
    require_success(piQueueFlush(queue), "piQueueFlush");
    ends.require_models(what + ", held back");
    require(!fixture.is_complete(copied), what, ": the copy is complete before its events");
    // The bytes when it runs, not those when it was enqueued.
    ends.src_model = fixture.random_bytes(size);
    fixture.upload(ends.src_queue, ends.src, ends.src_model);
    fixture.signal(gates[1 - last]);
    ends.require_models(what + ", held back by one of two events");
    require(!fixture.is_complete(copied), what, ": the copy is complete before all of its events");
    ends.dst_model = fixture.random_bytes(size);
    fixture.upload(ends.dst_queue, ends.dst, ends.dst_model);
    fixture.signal(gates[last]);
    fixture.wait(copied, what);
    ends.dst_model = ends.src_model;
    ends.require_models(what);
}

CONFORMANCE_TEST_PAIRS("connection",
                       "a migrating copy waits for its events, and its enqueue does not wait") {
    on_either_end(fixture, [&](const Link &link, const Queue &queue, const std::string &what) {
        for (const std::size_t last : {0, 1})
            check_held(fixture, link, queue, what, last);
    });
}

CONFORMANCE_TEST_PAIRS("connection",
                       "a migrating copy whose event fails leaves both ends as they were") {
    on_either_end(fixture, [&](const Link &link, const Queue &queue, const std::string &what) {
        Ends ends(fixture, link);
        const Event gate = fixture.make_host_event(link.src.context);
        const Event copied = fixture.copy(queue, ends.src, 0, ends.dst, 0, size, {gate});
        fixture.signal(gate, PI_ERROR_BACKEND);
        fixture.require_result(copied, PI_ERROR_DEPENDENCY_FAILED,
                               what + ": the result behind a failed event");
        require(!last_error_text().empty(), what, ": it failed without a text");
        ends.require_models(what + ", failed");
        // And both can be used as before.
        fixture.wait(fixture.copy(queue, ends.src, 0, ends.dst, 0, size), what);
        ends.dst_model = ends.src_model;
        ends.require_models(what + ", after a failed one");
    });
}

CONFORMANCE_TEST_PAIRS("connection", "a migrating copy has its place in an in-order queue") {
    for (const Link &link : links_that_are(fixture, PI_MEMORY_CONNECTION_MIGRATABLE)) {
        Ends ends(fixture, link);
        const Bytes bytes = fixture.random_bytes(size);
        const Event gate = fixture.make_host_event(link.src.context);
        // Behind a write of its source and before the next one.
        fixture.write(ends.src_queue, ends.src, 0, bytes, {gate});
        fixture.copy(ends.src_queue, ends.src, 0, ends.dst, 0, size);
        const Event src_last =
            fixture.fill(ends.src_queue, ends.src, 0, size, Bytes(1, std::byte{1}));
        fixture.signal(gate);
        fixture.wait(src_last);
        ends.src_model.assign(size, std::byte{1});
        ends.dst_model = bytes;
        ends.require_models(link.name() + ": a copy between commands of src's queue");
        // Behind a write of its destination and before a command that reads it.
        const Event dst_gate = fixture.make_host_event(link.dst.context);
        const Mem own = make_destination(link, fixture, Bytes(size));
        fixture.write(ends.dst_queue, ends.dst, 0, bytes, {dst_gate});
        fixture.copy(ends.dst_queue, ends.src, 0, ends.dst, 0, size);
        const Event dst_last = fixture.copy(ends.dst_queue, ends.dst, 0, own, 0, size);
        fixture.signal(dst_gate);
        fixture.wait(dst_last);
        ends.dst_model = ends.src_model;
        ends.require_models(link.name() + ": a copy between commands of dst's queue");
        fixture.require_contents(ends.dst_queue, own, ends.src_model,
                                 link.name() + ": what the next command has read");
    }
}

CONFORMANCE_TEST_PAIRS("connection", "events of both places order a migrating copy") {
    on_either_end(fixture, [&](const Link &link, const Queue &queue, const std::string &what) {
        Ends ends(fixture, link);
        const Bytes bytes = fixture.random_bytes(size);
        Bytes got(size);
        const Event gate = fixture.make_host_event(link.dst.context);
        const Event written = fixture.write(ends.src_queue, ends.src, 0, bytes, {gate});
        const Event copied = fixture.copy(queue, ends.src, 0, ends.dst, 0, size, {written});
        const Event erased = fixture.fill(fixture.make_queue(link.src), ends.src, 0, size,
                                          Bytes(1, std::byte{2}), {copied});
        const Event read = fixture.read(fixture.make_queue(link.dst), ends.dst, 0, got, {copied});
        require(!fixture.is_complete(copied) && !fixture.is_complete(read), what,
                ": a command is complete before the gate is open");
        fixture.signal(gate);
        fixture.wait({erased, read}, what);
        require_same_bytes(got.data(), bytes.data(), size, what + ": what was read");
        ends.src_model.assign(size, std::byte{2});
        ends.dst_model = bytes;
        ends.require_models(what);
    });
}

CONFORMANCE_TEST_PAIRS("connection", "many migrating copies may be pending at once") {
    on_either_end(fixture, [&](const Link &link, const Queue &queue, const std::string &what) {
        constexpr std::size_t count = 24;
        std::vector<Bytes> models;
        std::vector<std::unique_ptr<LinkMemory>> sources;
        std::vector<Mem> destinations;
        std::vector<Event> events;
        const Event gate = fixture.make_host_event(link.src.context);
        for (std::size_t i = 0; i < count; ++i) {
            models.push_back(fixture.random_bytes(4096));
            sources.push_back(std::make_unique<LinkMemory>(link, fixture, models.back()));
            destinations.push_back(make_destination(link, fixture, Bytes(4096)));
        }
        const Queue other = fixture.make_queue(link.dst);
        for (std::size_t i = 0; i < count; ++i)
            events.push_back(fixture.copy(i % 2 == 0 ? queue.get() : other.get(), *sources[i], 0,
                                          destinations[i], 0, 4096, {gate}));
        fixture.signal(gate);
        for (std::size_t i = 0; i < count; ++i) {
            fixture.wait(events[i], what);
            fixture.require_contents(other, destinations[i], models[i],
                                     join(what, ": copy ", i, " of ", count));
        }
    });
}

CONFORMANCE_TEST_PAIRS("connection",
                       "both ends of a migrating copy may be released right after the enqueue") {
    on_either_end(fixture, [&](const Link &link, Queue queue, const std::string &what) {
        Ends ends(fixture, link);
        const Mem own = make_destination(link, fixture, Bytes(size));
        const Event gate = fixture.make_host_event(link.src.context);
        const Event copied = fixture.copy(queue, ends.src, 0, ends.dst, 0, size, {gate});
        const Event kept = fixture.copy(ends.dst_queue, ends.dst, 0, own, 0, size, {copied});
        ends.src.release();
        ends.dst.reset();
        queue.reset();
        std::vector<Mem> others;
        for (int i = 0; i < 8; ++i) {
            others.push_back(fixture.make_buffer(link.src, Bytes(size, std::byte{0xEE})));
            others.push_back(fixture.make_buffer(link.dst, Bytes(size, std::byte{0xEE})));
        }
        fixture.signal(gate);
        fixture.wait(kept, what);
        fixture.require_contents(ends.dst_queue, own, ends.src_model,
                                 what + ": what went through released memory");
    });
}

CONFORMANCE_TEST_PAIRS("connection", "a migrating copy may block, and needs no event") {
    on_either_end(fixture, [&](const Link &link, const Queue &queue, const std::string &what) {
        Ends ends(fixture, link);
        const Regions regions{linear(0, 0, size)};
        pi_buffer_copy_desc desc = copy_desc(ends.src, ends.dst, regions);
        desc.flags = PI_COMMAND_BLOCKING;
        require_success(try_enqueue(queue, desc), what, ", blocking");
        ends.dst_model = ends.src_model;
        ends.require_models(what + ", blocking");
        ends.src_model = fixture.random_bytes(size);
        fixture.upload(ends.src_queue, ends.src, ends.src_model);
        desc.flags = 0;
        require_success(try_enqueue(queue, desc), what, ", without out_event");
        require_success(piQueueFinish(queue), "piQueueFinish");
        ends.dst_model = ends.src_model;
        ends.require_models(what + ", finished");
    });
}

CONFORMANCE_TEST_PAIRS(
    "connection", "a migrating copy with an invalid descriptor is refused and changes nothing") {
    on_either_end(fixture, [&](const Link &link, const Queue &queue, const std::string &what) {
        Ends ends(fixture, link);
        const auto refused = [&](const pi_region &region, pi_result error) {
            const Regions regions{linear(0, 0, 1), region};
            require_untouched<pi_event>(
                join(what, ", ", text_of(region)), {error}, [&](pi_event *out) {
                    return try_enqueue(queue, copy_desc(ends.src, ends.dst, regions), {}, out);
                });
        };
        refused(linear(1, 1, 0), PI_ERROR_INVALID_SIZE);
        refused(linear(1, 0, size), PI_ERROR_INVALID_SIZE);
        refused(linear(0, 1, size), PI_ERROR_INVALID_SIZE);
        refused(linear(UINT64_MAX, 1, 2), PI_ERROR_INVALID_SIZE);
        require_success(piQueueFinish(queue), "piQueueFinish");
        ends.require_models(what + ", refused");
    });
}

CONFORMANCE_TEST_PAIRS("connection", "views migrate as buffers do") {
    for (const Place &place : {fixture.src(), fixture.dst()})
        fixture.need(PI_CAPABILITY_VIEW, "PI_CAPABILITY_VIEW", place.device);
    on_either_end(fixture, [&](const Link &link, const Queue &queue, const std::string &what) {
        const uint64_t from = std::max<uint64_t>(src_alignment(link, fixture), 64);
        const uint64_t to = 2 * std::max<uint64_t>(dst_alignment(link, fixture), 64);
        Ends ends(fixture, link, 2 * std::max({from, to, size / 2}));
        const Mem src_view = fixture.make_view(ends.src, from, size / 2);
        const Mem dst_view = fixture.make_view(ends.dst, to, size / 2);
        fixture.wait(fixture.copy(queue, src_view, 5, dst_view, 3, 1000), what);
        apply({linear(from + 5, to + 3, 1000)}, ends.src_model, ends.dst_model);
        ends.require_models(what + ", views");
    });
}

// Other commands are guaranteed for UNIFIED only: they are refused or exact.
CONFORMANCE_TEST_PAIRS("connection",
                       "other commands on MIGRATABLE memory are refused, or do their work") {
    for (const Link &link : links_that_are(fixture, PI_MEMORY_CONNECTION_MIGRATABLE)) {
        Ends ends(fixture, link);
        const Regions regions{linear(0, 0, 100)};
        Bytes host = fixture.random_bytes(size);
        const Bytes before = host;
        const pi_result read =
            try_enqueue(ends.dst_queue, read_desc(ends.src, host, regions), {}, nullptr);
        require_success(piQueueFinish(ends.dst_queue), "piQueueFinish");
        if (read == PI_SUCCESS)
            require_same_bytes(host.data(), ends.src_model.data(), 100, "a read by dst's queue");
        else
            require(read == PI_ERROR_INVALID_MEM_OBJECT && host == before,
                    "a read by dst's queue is refused, but with ", result_name(read),
                    ", or it changed the host's bytes");
        const pi_result write =
            try_enqueue(ends.dst_queue, write_desc(ends.src, before, regions), {}, nullptr);
        require_success(piQueueFinish(ends.dst_queue), "piQueueFinish");
        if (write == PI_SUCCESS)
            std::copy_n(before.begin(), 100, ends.src_model.begin());
        else
            require(write == PI_ERROR_INVALID_MEM_OBJECT, "a write by dst's queue is refused with ",
                    result_name(write));
        ends.require_models("after other commands on dst's queue");
    }
}

} // namespace
} // namespace pi::suite
