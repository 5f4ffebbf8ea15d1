// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "equipment.hpp"
#include "fault_transport.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <set>

using namespace runtime_test;

namespace {

/// Not a multiple of a chunk, and more than two chunks.
constexpr uint64_t size = 300 * 1024 + 17;

using Way = std::pair<RouteKind, BounceStyle>;

/// Writes at one place, reads at another over one route only, and compares all bytes. Returns false
/// if that route does not connect the two.
bool try_way(const Machine &machine, PlaceIndex src, PlaceIndex dst, Way way, bool pieces) {
    std::shared_ptr<FaultTransport> transport;
    const Runtime runtime(machine.topology(),
                          failing(
                              [way](const TransferRequest &request) {
                                  const Way asked{request.route.kind, request.route.style};
                                  return asked == way ? FaultTransport::Fault::none
                                                      : FaultTransport::Fault::before;
                              },
                              &transport));
    const Storage storage(runtime, {.size = size, .routes = mask_of(way.first)});
    const Buffer buffer = storage.buffer();
    const auto bytes = pattern(size, src * 16 + dst);
    Acquisition writer = buffer.acquire(src, Access::discard_write);
    if (src == host_place) {
        std::copy(bytes.begin(), bytes.end(), reinterpret_cast<uint8_t *>(writer.pointer()));
        writer.release();
    } else {
        writer.release(machine.write(writer, bytes.data()).get());
    }
    RangeSet stale = Range{0, size};
    auto expected = bytes;
    if (pieces) { // bytes that the destination wrote itself are not fetched
        Acquisition own = buffer.acquire(dst, Access::discard_write, 1000, 2000);
        if (dst == host_place) {
            std::fill_n(reinterpret_cast<uint8_t *>(own.pointer()), 2000, uint8_t{9});
            own.release();
        } else {
            own.release(machine.fill(own, 9).get());
        }
        stale.remove(Range{1000, 3000});
        std::fill_n(expected.begin() + 1000, 2000, uint8_t{9});
    }
    std::vector<uint8_t> seen(size);
    try {
        Acquisition reader = buffer.acquire(dst, Access::read);
        if (dst == host_place) {
            reader.wait(patience);
            std::copy_n(reinterpret_cast<uint8_t *>(reader.pointer()), size, seen.begin());
            reader.release();
        } else {
            const Event read = machine.read(reader, seen.data());
            reader.release(read.get());
            const pi_result result = wait(read);
            if (result != PI_SUCCESS) {
                CHECK(result == PI_ERROR_DEPENDENCY_FAILED);
                REQUIRE(runtime.finish(patience));
                return false;
            }
        }
    } catch (const Error &error) {
        INFO(error.what());
        CHECK((error.code() == PI_ERROR_UNSUPPORTED_FEATURE || error.code() == PI_ERROR_BACKEND));
        CHECK(runtime.finish(patience));
        return false;
    }
    REQUIRE(runtime.finish(patience));
    CHECK(seen == expected);
    const Counters counters = storage.counters();
    CHECK(counters.bytes_required == stale.bytes());
    CHECK(counters.bytes_delivered == stale.bytes());
    CHECK(counters.bytes[static_cast<size_t>(way.first)] == stale.bytes());
    const std::vector<TransferRequest> asked = transport->requests();
    CHECK(asked.back().ranges == stale);
    for (const Hop &hop : asked.back().route.hops) {
        CHECK(counters.link_bytes.at({hop.from, hop.to}) == stale.bytes());
    }
    return true;
}

} // namespace

TEST_CASE("every route brings every byte, whole and in pieces", "[runtime]") {
    const Machine machine;
    const bool pieces = GENERATE(false, true);
    const std::vector<Way> ways{{RouteKind::migrate, BounceStyle::none},
                                {RouteKind::host_bounce, BounceStyle::read},
                                {RouteKind::host_bounce, BounceStyle::write},
                                {RouteKind::host_bounce, BounceStyle::map_source},
                                {RouteKind::host_bounce, BounceStyle::map_destination},
                                {RouteKind::host_bounce, BounceStyle::staged}};
    std::set<Way> seen;
    const uint32_t places = machine.topology()->size();
    for (const Way &way : ways) {
        for (PlaceIndex src = 0; src < places; ++src) {
            for (PlaceIndex dst = 0; dst < places; ++dst) {
                if (src == dst) {
                    continue;
                }
                INFO(to_string(way.first) << " " << to_string(way.second) << " from "
                                          << machine.topology()->info(src).name << " to "
                                          << machine.topology()->info(dst).name);
                const bool came = try_way(machine, src, dst, way, pieces);
                if (came) {
                    seen.insert(way);
                }
                const bool host_end = src == host_place || dst == host_place;
                const bool must =
                    way.first == RouteKind::migrate
                        ? !host_end &&
                              machine.topology()->description().buffer(src, dst).connection !=
                                  PI_MEMORY_CONNECTION_NONE
                    : way.second == BounceStyle::read   ? dst == host_place
                    : way.second == BounceStyle::write  ? src == host_place
                    : way.second == BounceStyle::staged ? !host_end
                                                        : came;
                CHECK(came == must);
            }
        }
    }
    for (const Way &way : ways) {
        INFO(to_string(way.first) << " " << to_string(way.second));
        // Pieces are not mapped: another command may write the bytes between them.
        const bool possible = !(pieces && (way.second == BounceStyle::map_source ||
                                           way.second == BounceStyle::map_destination));
        CHECK((seen.count(way) != 0) == possible);
    }
}

TEST_CASE("unified and imported memory moves no byte", "[runtime]") {
    const Machine machine(2, "piQueueFinish:1000000=fail(BACKEND)"); // counts calls
    const auto moving_calls = [&] {
        return machine.calls_of("piEnqueueMemBufferRead") +
               machine.calls_of("piEnqueueMemBufferCopy");
    };
    const auto write_calls = [&] { return machine.calls_of("piEnqueueMemBufferWrite"); };
    const uint32_t places = machine.topology()->size();
    for (const RouteKind kind : {RouteKind::direct_use, RouteKind::import}) {
        const uint64_t calls_before = moving_calls();
        const uint64_t writes_before = write_calls();
        const Runtime runtime(machine.topology());
        const Storage storage(runtime, {.size = 64 * 1024,
                                        .routes = mask_of(kind) | mask_of(RouteKind::host_bounce)});
        const Buffer buffer = storage.buffer();
        std::vector<uint8_t> model = pattern(buffer.size(), 1);
        host_write(buffer, 0, model);
        std::map<uint32_t, std::vector<PlaceIndex>> shared;
        for (int round = 0; round < 3; ++round) {
            for (PlaceIndex place = 1; place < places; ++place) {
                const uint64_t offset = 64 * (place + 10 * round);
                Acquisition writer = buffer.acquire(place, Access::read_write, offset, 64);
                writer.release(machine.fill(writer, static_cast<uint8_t>(place)).get());
                std::fill_n(model.begin() + static_cast<ptrdiff_t>(offset), 64,
                            static_cast<uint8_t>(place));
                shared[*storage.memory_of(place)].push_back(place);
                REQUIRE(host_read(buffer) == model);
            }
        }
        REQUIRE(runtime.finish(patience));
        const Counters counters = storage.counters();
        CHECK(counters.bytes_delivered == counters.bytes_required);
        const TopologyDescription &topology = machine.topology()->description();
        for (PlaceIndex place = 1; place < places; ++place) {
            if (kind == RouteKind::import && topology.place(place).host_pointer_import &&
                topology.place(place).shares_host_memory()) {
                CHECK(storage.memory_of(place) == storage.memory_of(host_place));
            }
        }
        if (kind == RouteKind::import) {
            CHECK(counters.bytes_delivered == 0);
            CHECK(moving_calls() == calls_before);
            // For memory that is mapped and unmapped: a write to itself publishes the host's bytes.
            CHECK(write_calls() - writes_before <= counters.coherence_syncs);
        } else {
            const auto second = static_cast<PlaceIndex>(1 + machine.devices().size());
            if (topology.buffer(1, second).connection == PI_MEMORY_CONNECTION_UNIFIED) {
                CHECK(storage.memory_of(1) == storage.memory_of(second));
            }
        }
    }
}

TEST_CASE("acquires without a transfer are in the log if an option says so, and transfers always",
          "[runtime]") {
    const Machine machine;
    for (const bool asked_for : {false, true}) {
        const Runtime runtime(machine.topology(), {.log_up_to_date = asked_for});
        const Storage storage(runtime, {.size = 4096, .routes = mask_of(RouteKind::host_bounce)});
        host_write(storage.buffer(), 0, pattern(4096, 1)); // no transfer
        storage.buffer().acquire(1, Access::read).release();
        storage.buffer().acquire(1, Access::read).release(); // no transfer
        REQUIRE(runtime.finish(patience));
        uint64_t transfers = 0;
        uint64_t others = 0;
        for (const TransferRecord &record : runtime.log()) {
            ++(record.bytes != 0 ? transfers : others);
        }
        CHECK(transfers == 1);
        CHECK(others == (asked_for ? 2 : 0));
    }
}

TEST_CASE("an explanation reports what an acquire then does", "[runtime]") {
    const Machine machine;
    for (const RouteMask mask :
         {all_routes, mask_of(RouteKind::migrate) | mask_of(RouteKind::host_bounce)}) {
        Runtime runtime(machine.topology(), {.log_up_to_date = true});
        const Storage storage(runtime, {.size = 8192, .routes = mask, .name = "explained"});
        const Buffer buffer = storage.buffer();
        CHECK(buffer.explain(1).bytes_never_written == 8192);
        host_write(buffer, 0, pattern(8192, 1));
        for (PlaceIndex place : machine.places()) {
            const Explanation explanation = buffer.explain(place, 0, 4096);
            INFO(explanation.text);
            REQUIRE_FALSE(explanation.parts.empty());
            for (const ExplainedPart &part : explanation.parts) {
                REQUIRE_FALSE(part.candidates.empty());
                CHECK(part.candidates.front().possible);
                for (const Candidate &candidate : part.candidates) {
                    CHECK_FALSE(candidate.reason.empty());
                }
            }
            CHECK(explanation.text.find(machine.topology()->info(place).name) != std::string::npos);
            const uint64_t before = storage.counters().bytes_required;
            runtime.clear_log();
            Acquisition use = buffer.acquire(place, Access::read_write, 0, 4096);
            use.release(machine.fill(use, 1).get());
            REQUIRE(runtime.finish(patience));
            CHECK(storage.counters().bytes_required - before <= explanation.bytes_stale);
            const auto log = runtime.log();
            REQUIRE_FALSE(log.empty());
            if (mask != all_routes) {
                CHECK(storage.counters().bytes_required - before == explanation.bytes_stale);
                CHECK(log[0].kind == explanation.parts[0].candidates[0].route.kind);
                CHECK(log[0].style == explanation.parts[0].candidates[0].route.style);
                CHECK(log[0].bytes == 4096);
            }
            CHECK(log[0].storage == "explained");
            CHECK(log[0].bytes_copy_in_copy_out == 2 * 4096);
            CHECK(to_string(log, machine.topology()->description()).find("explained") !=
                  std::string::npos);
        }
    }
}
