// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Another device's memory over a link: used in place until copying would have cost less.
#include "simulated.hpp"

#include <catch2/catch.hpp>

using namespace runtime_test;

namespace {

constexpr uint64_t size = 8192;
constexpr uint64_t rounds = 10;

/// Two devices; b uses a's memory over their link. `host_link`: bandwidth of their links to the
/// host.
std::string two_devices(const std::string &residency, const std::string &host_link = "1 GB/s",
                        const std::string &capacity_of_b = "1 MiB") {
    const auto device = [](const std::string &name, const std::string &capacity) {
        return R"({"name": ")" + name +
               R"(", "type": "gpu", "bandwidth": "500 GB/s", "scopes": [{"name": "global", "capacity": ")" +
               capacity + "\"}]}";
    };
    const auto at_host = [&](const std::string &name) {
        return R"({"from": "host", "to": ")" + name + R"(", "bandwidth": ")" + host_link +
               R"("}, {"from": ")" + name + R"(", "to": "host", "bandwidth": ")" + host_link +
               "\"}, ";
    };
    return R"({"pi_machine": 1, "name": "two devices", "devices": [)" + device("a", "1 MiB") +
           ", " + device("b", capacity_of_b) + R"(], "links": [)" + at_host("a") + at_host("b") +
           R"({"between": ["a", "b"], "connection": "unified", "coherence": "coherent", "residency": ")" +
           residency + R"(", "bandwidth": "1 GB/s"}]})";
}

struct Bench {
    explicit Bench(const std::string &file, RuntimeOptions options = {},
                   RouteMask routes = all_routes)
        : text(file), machine(text.path()), runtime(machine.topology(), options),
          storage(runtime, {.size = size, .routes = routes}) {
        use(1, Access::discard_write, 1);
    }
    /// Uses all bytes at that place: writes `value`, or checks that all bytes equal it.
    void use(PlaceIndex place, Access access, uint8_t value) const {
        Acquisition acquisition = storage.buffer().acquire(place, access);
        std::vector<uint8_t> seen(size);
        const Event event = access == Access::read ? machine.read(acquisition, seen.data())
                                                   : machine.fill(acquisition, value);
        acquisition.release(event.get());
        REQUIRE(piEventWait(event.get(), UINT64_MAX) == PI_SUCCESS);
        REQUIRE(runtime.finish(patience));
        if (access == Access::read) {
            REQUIRE(seen == std::vector<uint8_t>(size, value));
        }
    }
    bool shares() const { return storage.memory_of(2) == storage.memory_of(1); }

    TextFile text;
    Simulated machine;
    Runtime runtime;
    Storage storage;
};

} // namespace

TEST_CASE("a place keeps using the link where options say so, where it has no room, and where no "
          "copy is possible",
          "[runtime][sim]") {
    const auto stays = [](const Bench &bench) {
        for (uint64_t round = 0; round < rounds; ++round) {
            bench.use(2, Access::read, 1);
        }
        CHECK(bench.shares());
        CHECK(bench.storage.counters().bytes_delivered == 0);
    };
    stays(Bench(two_devices("remote_access"), {.copy_after_repeated_use = false}));
    // There is no memory to verify the link either.
    stays(Bench(two_devices("remote_access", "1 GB/s", "4 KiB"), {.verify_connections = false}));
    stays(Bench(two_devices("remote_access"), {}, mask_of(RouteKind::direct_use)));
}

TEST_CASE("where a copy is dearer than the link, more has to cross before one is made",
          "[runtime][sim]") {
    // Over the host, whose links are ten times slower.
    const Bench bench(two_devices("remote_access", "100 MB/s"), {},
                      mask_of(RouteKind::direct_use) | mask_of(RouteKind::host_bounce));
    uint64_t uses = 0;
    do {
        bench.use(2, Access::read, 1);
        ++uses;
    } while (bench.shares() && uses < 100);
    CHECK(uses > 10);
    CHECK(uses < 100);
}

TEST_CASE("an explanation reports what each use over a link costs, and when a copy comes",
          "[runtime][sim]") {
    const Bench bench(two_devices("remote_access"));
    const auto best = [&] {
        const Explanation explanation = bench.storage.buffer().explain(2, 0, size);
        INFO(explanation.text);
        REQUIRE(explanation.parts.size() == 1);
        return explanation.parts[0].candidates.at(0);
    };
    CHECK(best().route.kind == RouteKind::direct_use);
    CHECK(best().each_use > 0);
    CHECK(best().reason.find("each use is over the link") != std::string::npos);
    bench.use(2, Access::read, 1);
    CHECK(best().route.kind == RouteKind::migrate);
    CHECK(bench.shares()); // explain() changes nothing
    bench.use(2, Access::read, 1);
    CHECK(best().each_use == 0);
    CHECK(best().reason.find("memory of its own") != std::string::npos);
}

TEST_CASE("bytes that a driver moves on its own are counted as unknown, not as none",
          "[runtime][sim]") {
    const Bench bench(two_devices("migrates_whole_object"));
    for (uint64_t round = 1; round <= rounds; ++round) {
        bench.use(2, Access::read, 1);
        CHECK(bench.storage.counters().uses_elsewhere == round);
        CHECK(bench.storage.counters().bytes_elsewhere == round * size);
    }
    CHECK(bench.runtime.counters().uses_elsewhere == rounds);
    CHECK(bench.storage.counters().bytes_delivered == 0);
}
