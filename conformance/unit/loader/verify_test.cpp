// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// piVerifyMemoryConnection, on a simulated machine behind a plugin whose commands may lie or fail.

#include "fixture.hpp"
#include "plugins/lying_plugin.hpp"

#include <array>
#include <cstring>

using namespace loader_test;
using Catch::Matchers::Contains;

namespace {

constexpr const char *machine_text = R"({
  "pi_machine": 1,
  "name": "three",
  "host": {"bandwidth": "10 GB/s", "latency": "100 ns"},
  "devices": [
    {"name": "g0", "type": "gpu", "host_pointer_import": true, "host_pointer_alignment": 64,
     "scopes": [{"name": "global", "capacity": "64 MiB"},
                {"name": "pinned", "capacity": "64 MiB", "memory": "host",
                 "flags": ["host_visible", "coherent", "maps_in_place", "pinned"]}]},
    {"name": "g1", "type": "gpu", "host_pointer_import": true,
     "scopes": [{"name": "global", "capacity": "64 MiB", "flags": ["host_visible"], "flush_atom": 64}]},
    {"name": "small", "type": "gpu", "scopes": [{"name": "global", "capacity": "24 KiB"}]}
  ],
  "links": [
    {"between": ["g0", "g1"], "connection": "unified", "residency": "remote_access", "coherence": "coherent"},
    {"between": ["g0", "small"], "connection": "migratable"}
  ]
})";

struct Machine {
    TemporaryFolder folder;
    Loader loader;
    std::array<pi_device, 3> devices{};
    std::array<pi_context, 3> contexts{};
    const lying_plugin_table *control = nullptr;

    explicit Machine(std::vector<std::pair<std::string, std::string>> options = {},
                     CapturedLog *log = nullptr)
        : loader(description(std::move(options), log)) {
        const void *table = nullptr;
        REQUIRE(piPluginGetExtension(loader.plugins()[0], lying_plugin_extension, sizeof *control,
                                     &table) == PI_SUCCESS);
        control = static_cast<const lying_plugin_table *>(table);
        control->lie(LYING_NOT, nullptr);
        control->fail_call(0);
        uint32_t count = 0;
        REQUIRE(piDevicesGet(loader.platform(), PI_DEVICE_TYPE_ALL, 3, devices.data(), &count) ==
                PI_SUCCESS);
        REQUIRE(count == 3);
        for (std::size_t i = 0; i < 3; ++i) {
            pi_context_desc desc{sizeof desc, PI_TYPE_CONTEXT_DESC};
            desc.device_count = 1;
            desc.devices = &devices[i];
            REQUIRE(piContextCreate(loader.platform(), &desc, &contexts[i]) == PI_SUCCESS);
        }
    }
    ~Machine() {
        for (const pi_context context : contexts)
            piContextRelease(context);
    }

    Description description(std::vector<std::pair<std::string, std::string>> options,
                            CapturedLog *log) {
        options.emplace_back(lying_plugin_option, PI_TEST_SIM_PLUGIN);
        options.emplace_back("PI_SIM_MACHINE", folder.write("machine.json", machine_text));
        Description description;
        description.plugins = {plugin_file("lying")};
        description.options = std::move(options);
        description.log = log;
        return description;
    }

    pi_result verify(std::size_t src, std::size_t dst, pi_memory_connection_info &info,
                     const pi_memory_verification_desc *desc = nullptr) const {
        info = {};
        info.struct_size = sizeof info;
        info.type = PI_TYPE_MEMORY_CONNECTION_INFO;
        return piVerifyMemoryConnection(devices[src], contexts[src], devices[dst], contexts[dst],
                                        desc, &info);
    }
    pi_memory_connection_info verified(std::size_t src, std::size_t dst,
                                       const pi_memory_verification_desc *desc = nullptr) const {
        pi_memory_connection_info info{};
        const pi_result result = verify(src, dst, info, desc);
        INFO(src << " -> " << dst << ": " << last_text());
        REQUIRE(result == PI_SUCCESS);
        return info;
    }
};

pi_memory_verification_desc how(uint64_t flags = 0, pi_memory_kind kind = PI_MEMORY_KIND_BUFFER) {
    pi_memory_verification_desc desc{};
    desc.struct_size = sizeof desc;
    desc.type = PI_TYPE_MEMORY_VERIFICATION_DESC;
    desc.flags = flags;
    desc.kind = kind;
    return desc;
}

} // namespace

TEST_CASE("connections whose bytes arrive are verified, and all else is as the plugin says") {
    const Machine machine;
    for (const auto &[src, dst] : {std::pair{0, 1}, {1, 0}, {0, 2}, {2, 0}}) {
        CAPTURE(src, dst);
        pi_memory_connection_info said{};
        said.struct_size = sizeof said;
        said.type = PI_TYPE_MEMORY_CONNECTION_INFO;
        REQUIRE(piGetMemoryConnectionInfo(machine.devices[src], machine.contexts[src],
                                          machine.devices[dst], machine.contexts[dst], nullptr,
                                          &said) == PI_SUCCESS);
        CHECK(said.verified == PI_VERIFIED_UNKNOWN);
        pi_memory_connection_info seen = machine.verified(src, dst);
        CHECK(seen.verified == PI_VERIFIED_YES);
        CHECK(std::string(seen.verified_text).empty());
        seen.verified = PI_VERIFIED_UNKNOWN;
        CHECK(std::memcmp(&seen, &said, sizeof said) == 0);
    }
}

TEST_CASE("copies that leave pages as they were fail the verification of their direction") {
    const Machine machine;
    machine.control->lie(LYING_COPIES, machine.devices[0]);
    for (const std::size_t dst : {1, 2}) {
        const pi_memory_connection_info there = machine.verified(0, dst);
        CHECK(there.verified == PI_VERIFIED_FAILED);
        CHECK_THAT(there.verified_text, Contains(" stayed old") && Contains("copied"));
    }
    CHECK_THAT(machine.verified(0, 1).verified_text,
               Contains("of 256 KiB every second page stayed old"));
    CHECK(machine.verified(2, 0).verified == PI_VERIFIED_YES);
}

TEST_CASE("reads and writes in place that lose pages fail the verification") {
    const Machine machine;
    const uint32_t way = GENERATE(LYING_READS, LYING_WRITES);
    machine.control->lie(way, nullptr);
    const pi_memory_connection_info there = machine.verified(0, 1);
    CHECK(there.verified == PI_VERIFIED_FAILED);
    CHECK_THAT(there.verified_text, Contains("every second page stayed old") &&
                                        Contains(way == LYING_READS ? "read in place by dst"
                                                                    : "written in place by dst"));
}

TEST_CASE("no connection, and memory of a place to itself, need no check") {
    const Machine machine;
    machine.control->lie(LYING_COPIES, nullptr);
    machine.control->fail_call(0);
    CHECK(machine.verified(1, 2).verified == PI_VERIFIED_UNKNOWN);
    const pi_memory_connection_info own = machine.verified(0, 0);
    CHECK(own.connection == PI_MEMORY_CONNECTION_UNIFIED);
    CHECK(own.verified == PI_VERIFIED_UNKNOWN);
    CHECK(machine.control->copies() == 0);
}

TEST_CASE("an answer is remembered, and a verification that is asked for again looks anew") {
    const Machine machine;
    const auto again = how(PI_VERIFY_AGAIN);
    CHECK(machine.verified(0, 2).verified == PI_VERIFIED_YES);
    machine.control->lie(LYING_COPIES, nullptr);
    machine.control->fail_call(0);
    CHECK(machine.verified(0, 2).verified == PI_VERIFIED_YES);
    CHECK(machine.control->copies() == 0);
    CHECK(machine.verified(0, 2, &again).verified == PI_VERIFIED_FAILED);
    CHECK(machine.verified(0, 2).verified == PI_VERIFIED_FAILED);
    machine.control->lie(LYING_NOT, nullptr);
    CHECK(machine.verified(0, 2).verified == PI_VERIFIED_FAILED);
    CHECK(machine.verified(0, 2, &again).verified == PI_VERIFIED_YES);
    CHECK(std::string(machine.verified(0, 2).verified_text).empty());
}

TEST_CASE("wherever a call fails, the verification fails with it, and leaves nothing behind") {
    const Machine machine;
    const auto again = how(PI_VERIFY_AGAIN);
    const std::size_t dst = GENERATE(1, 2);
    const uint32_t way = GENERATE(LYING_NOT, LYING_COPIES);
    machine.control->lie(way, nullptr);
    uint64_t failed = 0;
    for (uint64_t number = 1;; ++number) {
        machine.control->fail_call(number);
        pi_memory_connection_info info{};
        const pi_result result = machine.verify(0, dst, info, &again);
        INFO("call " << number << ": " << last_text());
        if (machine.control->calls() < number) {
            REQUIRE(result == PI_SUCCESS);
            break;
        }
        if (result ==
            PI_SUCCESS) { // a query that may fail, or an allocation that was tried smaller
            CHECK(info.verified == (way == LYING_NOT ? PI_VERIFIED_YES : PI_VERIFIED_FAILED));
        } else {
            ++failed;
            CHECK(result == PI_ERROR_BACKEND);
            CHECK_THAT(last_text(), Contains("the lying plugin fails"));
            CHECK(info.verified == PI_VERIFIED_UNKNOWN);
        }
    }
    CHECK(failed >= (way == LYING_NOT ? 10U : 5U));
    machine.control->fail_call(0);
    machine.control->lie(LYING_NOT, nullptr);
    CHECK(machine.verified(0, dst, &again).verified == PI_VERIFIED_YES);
}
