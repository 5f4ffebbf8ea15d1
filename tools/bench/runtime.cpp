// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host runtime compared with its lower bounds: memcpy of the bytes that must move, or the same
// commands without it.
#include "runtime_machine.hpp"
#include "session.hpp"
#include "sizes.hpp"
#include "starpu.hpp"

#include <pi/describe/descriptor.hpp>
#include <pi/runtime/error.hpp>
#include <pi/runtime/storage.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <vector>

namespace pi_bench {
namespace {

constexpr uint64_t large = uint64_t{64} << 20;
constexpr std::chrono::seconds patience{60};

Event fill(const Machine &machine, PlaceIndex place, pi_mem mem, uint64_t offset, uint64_t size,
           const std::vector<pi_event> &events) {
    const uint32_t value = 1;
    auto desc = pi::desc<pi_buffer_fill_desc>();
    desc.mem = mem;
    desc.offset = offset;
    desc.size = size;
    desc.pattern = &value;
    desc.pattern_size = sizeof value;
    Event done;
    check(piEnqueueMemBufferFill(machine.queue(place), &desc, static_cast<uint32_t>(events.size()),
                                 events.data(), done.out()),
          "piEnqueueMemBufferFill");
    return done;
}

/// A command that takes no time.
Event touch(const Machine &machine, PlaceIndex place, pi_mem mem, uint64_t offset,
            const std::vector<pi_event> &events) {
    return fill(machine, place, mem, offset, 64, events);
}

void wait(const Event &event) {
    check(piEventWait(event.get(), UINT64_MAX), "piEventWait");
}

/// Writes all bytes there: memory that was never written may be one page of zeros, which is read
/// from the cache.
void write(const Machine &machine, const Buffer &buffer, PlaceIndex place) {
    Acquisition acquisition = buffer.acquire(place, Access::discard_write);
    if (place == host_place) {
        std::memset(acquisition.pointer(), 1, buffer.size());
        acquisition.release();
        return;
    }
    const Event done = fill(machine, place, acquisition.mem(), acquisition.offset(), buffer.size(),
                            acquisition.events(machine.queue(place)));
    acquisition.release(done.get());
    wait(done);
}

/// Writes 64 bytes of host memory directly, with a map and an unmap.
void write_mapped(const Machine &machine, PlaceIndex place, pi_mem mem, uint64_t size) {
    void *pointer = nullptr;
    const pi_buffer_map_desc map{.struct_size = sizeof map,
                                 .type = PI_TYPE_BUFFER_MAP_DESC,
                                 .flags = PI_MAP_READ | PI_MAP_WRITE,
                                 .mem = mem,
                                 .size = size,
                                 .out_pointer = &pointer};
    Event done;
    check(piEnqueueMemBufferMap(machine.queue(place), &map, 0, nullptr, done.out()),
          "piEnqueueMemBufferMap");
    wait(done);
    std::memset(pointer, 0, 64);
    const pi_unmap_desc unmap{
        .struct_size = sizeof unmap, .type = PI_TYPE_UNMAP_DESC, .mem = mem, .pointer = pointer};
    check(piEnqueueMemUnmap(machine.queue(place), &unmap, 0, nullptr, done.out()),
          "piEnqueueMemUnmap");
    wait(done);
}

void fetch(const Buffer &buffer, PlaceIndex place) {
    Acquisition use = buffer.acquire(place, Access::read);
    use.wait(patience);
    use.release();
}

/// memcpy of equally many bytes, between existing memory.
class Memcpy {
public:
    explicit Memcpy(uint64_t bytes) : from_(bytes, 1), to_(bytes, 2) {}
    void operator()(uint64_t count) {
        for (uint64_t i = 0; i < count; ++i) {
            std::memcpy(to_.data(), from_.data(), from_.size());
            benchmark::ClobberMemory();
        }
    }

private:
    std::vector<unsigned char> from_;
    std::vector<unsigned char> to_;
};

/// Writes some bytes there, and waits for it.
void use(const Machine &machine, const Buffer &buffer, PlaceIndex place) {
    Acquisition acquisition = buffer.acquire(place, Access::read_write);
    if (place == host_place) {
        acquisition.wait(patience);
        std::memset(acquisition.pointer(), 0, 64);
        acquisition.release();
        return;
    }
    const Event done = touch(machine, place, acquisition.mem(), acquisition.offset(),
                             acquisition.events(machine.queue(place)));
    acquisition.release(done.get());
    wait(done);
}

Batch in_turn(const Machine &machine, const Buffer &buffer, const Hop &pair) {
    return [&machine, buffer, pair](uint64_t count) {
        for (uint64_t i = 0; i < count; ++i) {
            use(machine, buffer, pair.from);
            use(machine, buffer, pair.to);
        }
    };
}

/// The memory by which a place uses a storage.
Mem memory_at(const Buffer &buffer, PlaceIndex place) {
    Acquisition plain = buffer.acquire(place, Access::read);
    plain.wait(patience);
    Mem mem = Mem::share(plain.mem());
    plain.release();
    return mem;
}

void require_in_place(const Storage &storage, const std::string &name) {
    if (storage.counters().bytes_delivered != 0) {
        throw std::runtime_error(name + ": bytes moved");
    }
}

/// Two places use 64 MiB in turn: 0 bytes move if they share the memory.
void bench_ping_pong(Session &session, const Machine &machine) {
    const std::string name = "64 MiB used in turn at two places in place";
    const std::string starpu = "64 MiB used in turn at two OpenCL devices, against StarPU";
    if (!session.wants(name) && !session.wants(starpu)) {
        return;
    }
    const std::vector<Hop> pairs = machine.pairs([&](PlaceIndex from, PlaceIndex to) {
        return machine.connection(from, to).connection == PI_MEMORY_CONNECTION_UNIFIED;
    });
    if (pairs.empty()) {
        session.skip(name, "no two places are UNIFIED");
        return;
    }
    const Hop pair = pairs.front();
    const Runtime runtime(machine.topology);
    const Storage storage(runtime, {.size = large});
    const Buffer buffer = storage.buffer();
    own(buffer, pair.from);
    const Mem mem = memory_at(buffer, pair.from);
    const Batch ours = in_turn(machine, buffer, pair);
    session.compare(name + ", " + machine.name(pair.from) + " and " + machine.name(pair.to),
                    "the same commands without the runtime", Unit::microseconds, ours,
                    [&](uint64_t count) {
                        for (uint64_t i = 0; i < count; ++i) {
                            wait(touch(machine, pair.from, mem.get(), 0, {}));
                            wait(touch(machine, pair.to, mem.get(), 0, {}));
                        }
                    });
    if (machine.name(pair.from).starts_with("opencl") &&
        machine.name(pair.to).starts_with("opencl")) {
        compare_with_starpu(session, starpu, large, ours);
    } else {
        session.skip(starpu, "no two OpenCL devices are UNIFIED");
    }
    require_in_place(storage, name);
}

/// The same for the host and a device that imports its memory.
void bench_host_ping_pong(Session &session, const Machine &machine) {
    const std::string name = "64 MiB used in turn at the host and a device in place";
    if (!session.wants(name)) {
        return;
    }
    const auto imports = [&](PlaceIndex place) {
        const PlaceInfo &info = machine.topology->info(place);
        return info.host_pointer_import && info.shares_host_memory();
    };
    // The last one, because the host plugin's own devices come first.
    const auto place = std::find_if(machine.places.rbegin(), machine.places.rend(), imports);
    if (place == machine.places.rend()) {
        session.skip(name, "no device imports the host's memory");
        return;
    }
    const Runtime runtime(machine.topology);
    const Storage storage(runtime, {.size = large});
    const Buffer buffer = storage.buffer();
    own(buffer, host_place);
    const Mem mem = memory_at(buffer, *place);
    session.compare(name + ", " + machine.name(*place),
                    "a map, the write, an unmap and the same command without the runtime",
                    Unit::microseconds, in_turn(machine, buffer, {host_place, *place}),
                    [&](uint64_t count) {
                        for (uint64_t i = 0; i < count; ++i) {
                            write_mapped(machine, *place, mem.get(), large);
                            wait(touch(machine, *place, mem.get(), 0, {}));
                        }
                    });
    require_in_place(storage, name);
}

/// The host writes a sixteenth of a buffer, and a device with its own memory reads all of it.
void bench_partial_write(Session &session, const Machine &machine) {
    const PlaceIndex place = machine.places.back(); // the host plugin's own devices come first
    const std::string name = "4 of 64 MiB written at the host, then read at " + machine.name(place);
    if (!session.wants(name)) {
        return;
    }
    const Runtime runtime(machine.topology);
    const Storage storage(runtime, {.size = large, .routes = mask_of(RouteKind::host_bounce)});
    const Buffer buffer = storage.buffer();
    write(machine, buffer, host_place);
    fetch(buffer, place);
    const Buffer part = storage.buffer(large / 2, large / 16);
    Memcpy limit(large / 16);
    const uint64_t before = storage.counters().bytes_delivered;
    uint64_t rounds = 0;
    session.compare(
        name, "memcpy of 4 MiB", Unit::microseconds,
        [&](uint64_t count) {
            rounds += count;
            for (uint64_t i = 0; i < count; ++i) {
                own(part, host_place);
                fetch(buffer, place);
            }
        },
        std::ref(limit));
    const uint64_t moved = storage.counters().bytes_delivered - before;
    if (moved != rounds * (large / 16)) {
        throw std::runtime_error(name + ": " + std::to_string(moved) + " bytes moved in " +
                                 std::to_string(rounds) + " rounds");
    }
}

/// Between two places with connection NONE, in both directions.
void bench_bounce(Session &session, const Machine &machine) {
    struct Way {
        const char *what;
        StyleMask styles;
        const char *limit;
    };
    constexpr Way ways[] = {
        {"64 MiB bounced by the cheapest way", all_styles, "memcpy of 64 MiB, target ratio 1.1"},
        {"64 MiB bounced through staging", mask_of(BounceStyle::staged),
         "memcpy of 64 MiB, target ratio 1.4"}};
    const std::vector<Hop> pairs = machine.pairs([&](PlaceIndex from, PlaceIndex to) {
        return machine.connection(from, to).connection == PI_MEMORY_CONNECTION_NONE;
    });
    for (const Way &way : ways) {
        if (pairs.empty()) {
            if (session.wants(way.what)) {
                session.skip(way.what, "no two places answer NONE");
            }
            continue;
        }
        for (const auto &[from, to] : {pairs.back(), Hop{pairs.back().to, pairs.back().from}}) {
            const std::string name =
                std::string(way.what) + ", " + machine.name(from) + " to " + machine.name(to);
            if (!session.wants(name)) {
                continue;
            }
            const Runtime runtime(machine.topology, {.costs = machine.costs});
            const Storage storage(
                runtime,
                {.size = large, .routes = mask_of(RouteKind::host_bounce), .styles = way.styles});
            const Buffer buffer = storage.buffer();
            write(machine, buffer, from);
            fetch(buffer, to);
            Memcpy limit(large);
            session.compare(
                name, way.limit, Unit::milliseconds,
                [&, from = from, to = to](uint64_t count) {
                    for (uint64_t i = 0; i < count; ++i) {
                        own(buffer, from);
                        fetch(buffer, to);
                    }
                },
                std::ref(limit));
        }
    }
}

} // namespace

void bench_runtime(Session &session) {
    session.attempt("runtime", [&] {
        const Machine machine(session.costs_file());
        session.attempt("acquire", [&] { bench_acquire(session, machine); });
        session.attempt("threads", [&] { bench_threads(session, machine); });
        session.attempt("ping-pong", [&] { bench_ping_pong(session, machine); });
        session.attempt("ping-pong with the host", [&] { bench_host_ping_pong(session, machine); });
        session.attempt("partial write", [&] { bench_partial_write(session, machine); });
        session.attempt("bounce", [&] { bench_bounce(session, machine); });
    });
    bench_runtime_simulated(session);
}

} // namespace pi_bench
