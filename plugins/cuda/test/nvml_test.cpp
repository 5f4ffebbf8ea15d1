// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Links in the infos of connections: figures of machine.json, through the simulated NVML.
#include "plugin_fixture.hpp"

#include "program.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <set>

using namespace cuda_test;
using Catch::Contains;

namespace {

constexpr uint64_t third_slot = 16 * 984'615'385ull; ///< PCIe 3.0, 16 lanes
constexpr uint64_t others_slot = 16 * 1'969'230'769ull;

pi_memory_connection_info pinned(const Machine &machine, size_t dst) {
    auto query = pi::desc<pi_memory_connection_query>();
    query.kind = PI_MEMORY_KIND_USM_HOST;
    auto info = pi::desc<pi_memory_connection_info>();
    OK(piGetMemoryConnectionInfo(machine.devices.at(first), machine.context,
                                 machine.devices.at(dst), machine.context, &query, &info));
    return info;
}

} // namespace

TEST_CASE("NVLinks between two devices are reported with their total bandwidth") {
    const Machine machine;
    for (const auto &[src, dst] : {std::pair{first, second}, std::pair{second, first}}) {
        const auto info = machine.connection(src, dst);
        CHECK(info.connection == PI_MEMORY_CONNECTION_UNIFIED);
        CHECK(info.link_kind == PI_LINK_NVLINK);
        CHECK(info.bandwidth == 100'000'000'000);
        CHECK_THAT(info.reason, Contains("NVLinks: 4") && Contains("performance rank 0"));
    }
}

TEST_CASE("peers without NVLinks have the bandwidth of the slower slot") {
    const Machine machine;
    const auto info = machine.connection(first, third);
    CHECK(info.connection == PI_MEMORY_CONNECTION_UNIFIED);
    CHECK(info.link_kind == PI_LINK_PCIE);
    CHECK(info.bandwidth == third_slot);
    CHECK_THAT(info.reason, !Contains("NVLinks") && Contains("performance rank 1"));
}

TEST_CASE("a copy that the driver stages crosses the slots at an unknown bandwidth") {
    const Machine machine;
    REQUIRE(machine.connection(first, third).connection == PI_MEMORY_CONNECTION_UNIFIED);
    // A context of this machine has one peer.
    const auto refused = machine.connection(second, third);
    CHECK(refused.path == PI_COPY_PATH_STAGED_BY_DRIVER);
    CHECK(refused.link_kind == PI_LINK_PCIE);
    CHECK(refused.bandwidth == 0);
    // This device's slot is not reported.
    const auto unknown = machine.connection(first, lone);
    CHECK(unknown.path == PI_COPY_PATH_STAGED_BY_DRIVER);
    CHECK(unknown.link_kind == PI_LINK_UNKNOWN);
}

TEST_CASE("links that share a slot's direction have a channel in common") {
    const Machine machine;
    using Channels = std::set<uint64_t>;
    const auto between = [&](size_t src, size_t dst) {
        const auto info = machine.connection(src, dst);
        Channels channels(std::begin(info.channels), std::end(info.channels));
        channels.erase(0);
        return channels;
    };
    const auto host = [&](size_t device, pi_device_info name) {
        uint64_t channel = 0;
        OK(piDeviceGetInfo(machine.devices.at(device), name, sizeof channel, &channel, nullptr));
        return channel;
    };
    const auto out = [&](size_t device) { return host(device, PI_DEVICE_INFO_HOST_READ_CHANNELS); };
    const auto in = [&](size_t device) { return host(device, PI_DEVICE_INFO_HOST_WRITE_CHANNELS); };
    CHECK(Channels{in(first), out(first), in(second), out(second), in(third), out(third)}.size() ==
          6);
    REQUIRE(machine.connection(first, third).link_kind == PI_LINK_PCIE);
    CHECK(between(first, third) == Channels{out(first), in(third)});
    REQUIRE(machine.connection(second, third).path == PI_COPY_PATH_STAGED_BY_DRIVER);
    CHECK(between(second, third) == Channels{out(second), in(third)});
    // NVLinks between two devices are shared with no other.
    REQUIRE(machine.connection(first, second).link_kind == PI_LINK_NVLINK);
    CHECK(between(first, second).empty());
}

TEST_CASE("pinned memory is linked to a device with its slot's bandwidth") {
    const Machine machine;
    CHECK(pinned(machine, second).link_kind == PI_LINK_SYSTEM_MEMORY);
    CHECK(pinned(machine, second).bandwidth == others_slot);
    CHECK(pinned(machine, third).bandwidth == third_slot);
    CHECK(pinned(machine, lone).bandwidth == 0);
}

TEST_CASE("within a device there is no link") {
    const Machine machine;
    const auto info = machine.connection(first, first);
    CHECK(info.link_kind == PI_LINK_SAME_DEVICE);
    CHECK(info.bandwidth == 0);
}

TEST_CASE("without NVML links are unknown, and everything else is unchanged") {
    // No library, and a library that is not NVML.
    for (const char *nvml : {"/nowhere/libnvidia-ml.so.1", "libm.so.6"}) {
        INFO(nvml);
        const Machine machine({first, second, third, lone}, PI_TEST_SIMULATED_NVRTC, nvml);
        const auto info = machine.connection(first, second);
        CHECK(info.connection == PI_MEMORY_CONNECTION_UNIFIED);
        CHECK(info.link_kind == PI_LINK_UNKNOWN);
        CHECK(info.bandwidth == 0);
        CHECK_THAT(info.reason, !Contains("NVLinks") && Contains("performance rank 0"));
        CHECK(machine.connection(first, lone).link_kind == PI_LINK_UNKNOWN);
        CHECK(pinned(machine, second).link_kind == PI_LINK_SYSTEM_MEMORY);
        CHECK(pinned(machine, second).bandwidth == 0);
    }
}

TEST_CASE("links to switches count for each device behind them") {
    const pi_test::Ran ran =
        pi_test::run({"/usr/bin/env", "PI_SIMULATED_CUDA_MACHINE=" PI_TEST_SWITCH,
                      "PI_SIMULATED_CUDA_MAX_PEERS=8", "PI_CUDA_LIBRARY=" PI_TEST_SIMULATED_CUDA,
                      "PI_NVML_LIBRARY=" PI_TEST_SIMULATED_NVML, "PI_PLUGINS=" PI_TEST_CUDA_PLUGIN,
                      "PI_LOG=off", "OCL_ICD_VENDORS=/nowhere", PI_TEST_INFO, "--json"});
    const auto report = nlohmann::json::parse(ran.output);
    size_t pairs = 0;
    std::map<std::string, std::set<uint64_t>> out_ports, in_ports;
    for (const auto &connection : report.at("connections")) {
        const std::string src = connection.at("src"), dst = connection.at("dst");
        if (src.rfind("cuda", 0) != 0 || dst.rfind("cuda", 0) != 0 || src == dst)
            continue;
        INFO(connection.dump());
        ++pairs;
        CHECK(connection.at("link") == "nvlink");
        CHECK(connection.at("bandwidth") == 450'000'000'000);
        REQUIRE(connection.at("channels").size() == 2);
        out_ports[src].insert(connection.at("channels")[0].get<uint64_t>());
        in_ports[dst].insert(connection.at("channels")[1].get<uint64_t>());
    }
    CHECK(pairs == 8 * 7);
    std::set<uint64_t> different;
    for (const auto *const ports : {&out_ports, &in_ports})
        for (const auto &[device, port] : *ports) {
            CHECK(port.size() == 1);
            different.insert(port.begin(), port.end());
        }
    CHECK(different.size() == 2 * 8);
}
