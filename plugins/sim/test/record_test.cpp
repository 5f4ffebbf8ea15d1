// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A machine that is recorded and simulated again answers as before.
#include "fixture.hpp"

#include <pi/runtime/calibrate.hpp>
#include <pi/runtime/error.hpp>
#include <pi/runtime/topology.hpp>

#include <cstring>
#include <filesystem>
#include <map>

using namespace sim_test;
using pi::runtime::Connection;
using pi::runtime::CostTable;
using pi::runtime::PlaceIndex;
using pi::runtime::Topology;

namespace {

/// All devices in one context, and each in its own.
struct Recorded {
    explicit Recorded(const std::string &path) : loader(make_loader(path)) {
        uint32_t count = 0;
        OK(piLoaderSelectDevices(loader, "sim", 0, nullptr, &count));
        devices.resize(count);
        OK(piLoaderSelectDevices(loader, "sim", count, devices.data(), &count));
        std::vector<std::vector<pi_device>> groups{devices};
        for (pi_device device : devices)
            groups.push_back({device});
        topology = Topology::from_groups(groups);
    }

    Owned<pi_loader> loader;
    std::vector<pi_device> devices;
    std::shared_ptr<const Topology> topology;
};

std::string info_of(pi_device device, pi_device_info name) {
    uint64_t size = 0;
    if (piDeviceGetInfo(device, name, 0, nullptr, &size) != PI_SUCCESS)
        return "absent";
    std::string bytes(size, '\0');
    OK(piDeviceGetInfo(device, name, size, bytes.data(), nullptr));
    return bytes;
}

void check_equal_devices(pi_device a, pi_device b) {
    // All queries except handles, counts and channel numbers: see check_equal_channels.
    for (pi_device_info name = 1; name <= 128; ++name) {
        if (name == PI_DEVICE_INFO_PLATFORM || name == PI_DEVICE_INFO_REFERENCE_COUNT ||
            name == PI_DEVICE_INFO_HOST_READ_CHANNELS || name == PI_DEVICE_INFO_HOST_WRITE_CHANNELS)
            continue;
        INFO("info " << name);
        CHECK(info_of(a, name) == info_of(b, name));
    }
    uint32_t count = 0;
    uint32_t other_count = 0;
    pi_memory_scope scopes[16]{};
    pi_memory_scope others[16]{};
    OK(piDeviceGetMemoryScopes(a, 16, scopes, &count));
    OK(piDeviceGetMemoryScopes(b, 16, others, &other_count));
    REQUIRE(count == other_count);
    CHECK(!std::memcmp(scopes, others, count * sizeof *scopes));
}

void check_equal(const Connection &a, const Connection &b) {
    CHECK(a.connection == b.connection);
    CHECK(a.coherence == b.coherence);
    CHECK(a.residency == b.residency);
    CHECK(a.concurrent_writers == b.concurrent_writers);
    CHECK(a.atomics == b.atomics);
    CHECK(a.path == b.path);
    CHECK(a.preferred_queue == b.preferred_queue);
    CHECK(a.link_kind == b.link_kind);
    CHECK(a.bandwidth == b.bandwidth);
    CHECK(a.latency == b.latency);
    CHECK(a.external_handle_types == b.external_handle_types);
    CHECK(a.reason == b.reason);
}

/// For all copies between places, and with the host: channel numbers differ, but which ones are
/// shared does not.
void check_equal_channels(const Topology &a, const Topology &b) {
    const auto ways = [](const Topology &topology) {
        std::vector<std::vector<uint64_t>> all;
        for (const Connection &connection : topology.description().buffers)
            all.push_back(connection.channels);
        for (const pi::runtime::PlaceInfo &place : topology.description().places) {
            all.push_back(place.host_read_channels);
            all.push_back(place.host_write_channels);
        }
        return all;
    };
    const auto share = [](const std::vector<uint64_t> &one, const std::vector<uint64_t> &other) {
        return std::find_first_of(one.begin(), one.end(), other.begin(), other.end()) != one.end();
    };
    const auto of_a = ways(a), of_b = ways(b);
    REQUIRE(of_a.size() == of_b.size());
    bool equal = true;
    for (size_t i = 0; i < of_a.size(); ++i)
        for (size_t j = 0; j < of_a.size(); ++j)
            equal &= share(of_a[i], of_a[j]) == share(of_b[i], of_b[j]);
    CHECK(equal);
}

/// Queries for other scopes than the first, too.
void check_equal_scopes(const Topology &a, const Topology &b, PlaceIndex src, PlaceIndex dst) {
    const auto ask = [&](const Topology &topology, uint32_t scope) {
        auto query = pi::desc<pi_memory_connection_query>();
        query.kind = PI_MEMORY_KIND_BUFFER;
        query.src_scope = scope;
        auto info = pi::desc<pi_memory_connection_info>();
        OK(piGetMemoryConnectionInfo(topology.device(src), topology.context(src),
                                     topology.device(dst), topology.context(dst), &query, &info));
        return info.connection;
    };
    for (uint32_t scope = 0; scope < a.info(src).scopes.size(); ++scope) {
        INFO("scope " << scope);
        CHECK(ask(a, scope) == ask(b, scope));
    }
}

void check_equal_machines(const Recorded &machine, const Recorded &again) {
    REQUIRE(machine.devices.size() == again.devices.size());
    for (size_t i = 0; i < machine.devices.size(); ++i) {
        INFO("device " << i);
        check_equal_devices(machine.devices[i], again.devices[i]);
    }
    const Topology &a = *machine.topology;
    const Topology &b = *again.topology;
    check_equal_channels(a, b);
    for (PlaceIndex src = 1; src < a.size(); ++src)
        for (PlaceIndex dst = 1; dst < a.size(); ++dst) {
            INFO(a.info(src).name << " -> " << a.info(dst).name);
            check_equal(a.description().buffer(src, dst), b.description().buffer(src, dst));
            check_equal(a.description().import(src, dst), b.description().import(src, dst));
            check_equal_scopes(a, b, src, dst);
        }
}

} // namespace

TEST_CASE("a machine that is saved and simulated again answers the same", "[sim]") {
    const TextFile saved("");
    for (const auto &entry : std::filesystem::directory_iterator(PI_TEST_MACHINES)) {
        INFO(entry.path().string());
        const Recorded machine(entry.path().string());
        machine.topology->save(saved.path());
        const Recorded again(saved.path());
        check_equal_machines(machine, again);
        // Saving that gives the same machine again.
        again.topology->save(saved.path());
        check_equal_machines(machine, Recorded(saved.path()));
    }
}

TEST_CASE("every property of a connection is saved", "[sim]") {
    const TextFile machine_file(R"({"pi_machine": 1, "name": "all kinds", "devices": [
        {"name": "a", "type": "gpu", "other_context": "migratable", "luid": "0011223344556677",
            "numa_node": 3,
         "bandwidth": "7 GB/s", "latency": "3 ns", "buffer_offset_mode": "sub_buffer",
             "export_handle_types": ["opaque_fd"], "fp16": true, "fp64": false,
         "scopes": [{"name": "global", "flags": ["host_visible", "contiguous", "layout"],
             "capacity": "1 MiB",
                     "max_allocation": 5000, "min_alignment": 4, "offset_alignment": 128,
                         "flush_atom": 32}]},
        {"name": "b", "type": "accelerator", "external_handle_types": ["opaque_fd",
            "dma_buf_fd"], "scopes": [{"name": "x", "capacity": 1}]},
        {"name": "c", "type": "cpu", "out_of_order": false,
            "external_handle_types": ["opaque_fd"], "scopes": [{"name": "x", "capacity": 1}]},
        {"name": "d", "type": "other", "scopes": [{"name": "x", "capacity": 1}]}],
      "links": [
        {"from": "a", "to": "b", "connection": "unified", "residency": "migrates_whole_object",
         "coherence": "map_unmap", "kind": "nvlink", "atomics": true},
        {"from": "b", "to": "a", "connection": "unified", "residency": "same_memory",
            "coherence": "flush_invalidate",
         "concurrent_writers": "disjoint_views", "kind": "xe_link", "reason": "\"quoted\" \\ é"},
        {"from": "a", "to": "c", "connection": "migratable", "path": "staged_by_plugin",
            "preferred_queue": "src",
         "kind": "network", "external_handle_types": [], "bandwidth": 123456789, "latency": 77},
        {"from": "c", "to": "a", "connection": "none", "imported": "migratable", "kind": "other",
         "preferred_queue": "dst"},
        {"from": "c", "to": "b", "connection": "none", "kind": "system_memory"}]})");
    const Recorded machine(machine_file.path());
    const TextFile saved("");
    machine.topology->save(saved.path());
    check_equal_machines(machine, Recorded(saved.path()));
}

TEST_CASE("a physical device that two plugins list is saved twice, and is one device again",
          "[sim]") {
    const std::string members =
        R"("type": "gpu", "uuid": "70692d73696d2d020000000000000000", "luid": "0011223344556677",
           "pci_address": "0000:01:00.0", "scopes": [{"name": "x", "capacity": 1}]})";
    const TextFile machine_file(R"({"pi_machine": 1, "name": "twice", "devices": [{"name": "a", )" +
                                members + R"(, {"name": "b", )" + members + "]}");
    const Recorded machine(machine_file.path());
    const TextFile saved("");
    machine.topology->save(saved.path());
    const Recorded again(saved.path());
    check_equal_machines(machine, again);
    CHECK(again.topology->same_device(1, 2) == pi::runtime::SameDevice::yes);
}

TEST_CASE("measured costs become a saved machine's links", "[sim]") {
    const Recorded machine(std::string(PI_TEST_MACHINES) + "/workstation.json");
    CostTable costs = CostTable::estimate(machine.topology->description());
    std::map<std::pair<pi_device, pi_device>, double>
        bandwidths; // the same for all contexts of a device
    const auto device = [&](PlaceIndex place) { return machine.topology->device(place); };
    for (PlaceIndex from = 0; from < costs.places(); ++from)
        for (PlaceIndex to = 0; to < costs.places(); ++to)
            if (from != to && device(from) != device(to)) {
                const auto [known, is_new] = bandwidths.try_emplace(
                    {device(from), device(to)}, 1e9 * static_cast<double>(bandwidths.size() + 1));
                costs.set(from, to, {known->second / 1e15, known->second});
            }
    const TextFile saved("");
    machine.topology->save(saved.path(), &costs);
    const Recorded again(saved.path());
    const auto &reported = again.topology->description();
    for (PlaceIndex from = 1; from < costs.places(); ++from)
        for (PlaceIndex to = 1; to < costs.places(); ++to)
            if (device(from) != device(to)) {
                const auto expected = costs.link(from, to).front();
                CHECK(reported.buffer(from, to).bandwidth ==
                      static_cast<uint64_t>(expected.bandwidth));
                CHECK(reported.buffer(from, to).latency ==
                      static_cast<uint64_t>(expected.latency * 1e9 + 0.5));
            }
}

TEST_CASE("a topology that cannot be saved is refused with the reason", "[sim]") {
    const Recorded machine(std::string(PI_TEST_MACHINES) + "/apu.json");
    const auto text_of = [](const auto &call) -> std::string {
        try {
            call();
        } catch (const pi::runtime::Error &error) {
            return error.what();
        }
        return "nothing is wrong";
    };
    CHECK(text_of([&] {
              machine.topology->save("/nowhere/machine.json");
          }).find("/nowhere/machine.json cannot be written") != std::string::npos);
    const CostTable other(17);
    const TextFile saved("");
    CHECK(text_of([&] { machine.topology->save(saved.path(), &other); }).find("17 places") !=
          std::string::npos);
    CHECK(text_of([&] { Topology::from_places({})->save(saved.path()); }).find("no device") !=
          std::string::npos);
}
