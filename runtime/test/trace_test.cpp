// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transfers in the file of the loader's layer "trace".
#include "equipment.hpp"
#include "fault_transport.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <thread>

#include <unistd.h>

using namespace runtime_test;
using nlohmann::json;

namespace {

/// A loader that traces into a file, which the destructor deletes; all devices in two contexts.
class Traced {
public:
    Traced()
        : file_(std::filesystem::temp_directory_path() /
                ("pi_runtime_trace_" + std::to_string(getpid()) + ".json")) {
        loader_ = make_layered_loader("trace", {"PI_TRACE_FILE", file_.c_str()});
    }
    ~Traced() {
        release();
        std::filesystem::remove(file_);
    }
    Traced(const Traced &) = delete;
    Traced &operator=(const Traced &) = delete;

    std::shared_ptr<const Topology> topology() const {
        pi_device devices[16];
        uint32_t count = 0;
        check(piLoaderSelectDevices(loader_, nullptr, 16, devices, &count),
              "piLoaderSelectDevices");
        const std::vector<pi_device> all(devices, devices + std::min(count, 16U));
        return Topology::from_groups(std::vector<std::vector<pi_device>>{all, all});
    }
    void release() {
        if (loader_) {
            check(piLoaderRelease(loader_.take()), "piLoaderRelease");
        }
    }
    std::vector<json> events() const {
        std::ifstream stream(file_);
        return json::parse(stream).at("traceEvents");
    }

private:
    std::filesystem::path file_;
    Loader loader_;
};

/// The transfers in the trace.
struct Spans {
    explicit Spans(const std::vector<json> &events) {
        std::map<std::pair<json, json>, std::string> tracks;
        std::map<json, std::string> groups;
        for (const json &event : events) {
            if (event.at("ph") == "M" && event.at("name") == "thread_name") {
                tracks[{event.at("pid"), event.at("tid")}] = event.at("args").at("name");
            } else if (event.at("ph") == "M" && event.at("name") == "process_name") {
                groups[event.at("pid")] = event.at("args").at("name");
            }
        }
        std::map<std::pair<json, json>, double> ends;
        for (const json &event : events) {
            if (event.value("cat", "") != "transfer") {
                continue;
            }
            CHECK(event.at("ph") == "X");
            CHECK(groups.at(event.at("pid")) == "transfers");
            const std::pair<json, json> track(event.at("pid"), event.at("tid"));
            // Spans of one track do not overlap; times have three digits of microseconds.
            const double begin = event.at("ts");
            const double length = event.at("dur");
            CHECK(length >= 0);
            CHECK(begin >= ends[track] - 0.0015);
            ends[track] = begin + length;
            const json &arguments = event.at("args");
            CHECK(arguments.at("actual_us").get<double>() == Approx(length).margin(0.002));
            CHECK(arguments.at("predicted_us") > 0);
            CHECK(arguments.at("pieces") >= 1);
            CHECK(!arguments.at("route").get<std::string>().empty());
            bytes_of_track[tracks.at(track)] += arguments.at("bytes").get<uint64_t>();
            if (arguments.at("hop") == 1) {
                ++transfers;
                bytes += arguments.at("bytes").get<uint64_t>();
                failed += arguments.at("result") != "PI_SUCCESS";
            }
        }
    }

    std::map<std::string, uint64_t> bytes_of_track;
    uint64_t transfers = 0, bytes = 0, failed = 0;
};

void use_at_random(const Runtime &runtime, uint32_t seed) {
    std::mt19937 random(seed);
    const auto below = [&](uint64_t limit) { return random() % limit; };
    const RouteMask routes[] = {all_routes, mask_of(RouteKind::host_bounce),
                                all_routes & ~mask_of(RouteKind::import)};
    const StyleMask styles[] = {all_styles, mask_of(BounceStyle::staged) |
                                                mask_of(BounceStyle::read) |
                                                mask_of(BounceStyle::write)};
    for (int round = 0; round < 4; ++round) {
        constexpr uint64_t size = 400'000;
        const Storage storage(runtime, {.size = size,
                                        .routes = routes[below(3)],
                                        .styles = styles[below(2)],
                                        .name = "storage \"" + std::to_string(seed) + "\""});
        storage.buffer().acquire(host_place, Access::discard_write).release();
        for (int step = 0; step < 20; ++step) {
            const auto place = static_cast<PlaceIndex>(below(runtime.topology().size()));
            const uint64_t begin = below(size);
            const Buffer part = storage.buffer(begin, 1 + below(size - begin));
            Acquisition use =
                part.acquire(place, below(2) == 0 ? Access::read : Access::read_write);
            try {
                use.wait(patience);
                use.release();
            } catch (const Error &) {
                use.abandon(); // all its routes were made to fail
            }
        }
    }
}

} // namespace

TEST_CASE("every transfer is a span on the track of each link that it crosses, with its bytes") {
    const uint32_t seed = Catch::rngSeed();
    INFO("seed " << seed);
    Traced traced;
    Counters counters;
    std::vector<TransferRecord> log;
    std::map<std::string, uint64_t> bytes_of_link;
    {
        std::atomic<uint64_t> attempts{0};
        RuntimeOptions options = failing([&](const TransferRequest &) {
            return ++attempts % 7 == 0 ? FaultTransport::Fault::before
                                       : FaultTransport::Fault::none;
        });
        options.log_capacity = 1 << 20;
        const Runtime runtime(traced.topology(), options);
        std::vector<std::thread> threads;
        for (uint32_t thread = 0; thread < 3; ++thread) {
            threads.emplace_back([&, thread] { use_at_random(runtime, seed + thread); });
        }
        for (std::thread &thread : threads) {
            thread.join();
        }
        REQUIRE(runtime.finish(patience));
        counters = runtime.counters();
        log = runtime.log();
        const auto name = [&](PlaceIndex place) { return runtime.topology().info(place).name; };
        for (const auto &[link, bytes] : counters.link_bytes) {
            bytes_of_link[name(link.first) + " -> " + name(link.second)] = bytes;
        }
    }
    const Spans running(traced.events()); // the file is valid JSON while it is written
    traced.release();
    Spans spans(traced.events());
    CHECK(running.transfers == spans.transfers);
    // A log line and its delivered bytes may have two spans: one of them to the host, where the
    // bytes stay.
    CHECK(spans.transfers >= static_cast<uint64_t>(std::count_if(
                                 log.begin(), log.end(),
                                 [](const TransferRecord &record) { return record.end != 0; })));
    CHECK(spans.bytes >= counters.bytes_delivered);
    CHECK(spans.failed == counters.failed_attempts);
    CHECK(spans.failed > 0);
    // Coherence syncs are spans without bytes.
    std::erase_if(spans.bytes_of_track, [](const auto &track) { return track.second == 0; });
    CHECK(spans.bytes_of_track == bytes_of_link);
    for (const TransferRecord &record : log) {
        CHECK(record.begin <= record.end);
    }
}
