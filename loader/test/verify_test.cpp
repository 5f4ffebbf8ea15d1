// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// piVerifyMemoryConnection, on a simulated machine behind a plugin whose commands may lie or fail.

#include "fixture.hpp"
#include "plugins/lying_plugin.hpp"

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace loader_test;
using Catch::Matchers::Contains;

namespace {

constexpr const char *machine_text = R"({
  "pi_machine": 1,
  "name": "three",
  "host": {"bandwidth": "10 GB/s", "latency": "100 ns"},
  "devices": [
    {"name": "g0", "type": "gpu", "uuid": "70692d76657269667900000000000000",
     "host_pointer_import": true, "host_pointer_alignment": 64,
     "scopes": [{"name": "global", "capacity": "64 MiB"},
                {"name": "pinned", "capacity": "64 MiB", "memory": "host",
                 "flags": ["host_visible", "coherent", "maps_in_place", "pinned"]}]},
    {"name": "g1", "type": "gpu", "pci_address": "0000:01:00.0", "host_pointer_import": true,
     "scopes": [{"name": "global", "capacity": "64 MiB", "flags": ["host_visible"],
                 "flush_atom": 64}]},
    {"name": "small", "type": "gpu", "scopes": [{"name": "global", "capacity": "24 KiB"}]}
  ],
  "links": [
    {"between": ["g0", "g1"], "connection": "unified", "residency": "remote_access",
     "coherence": "coherent"},
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
        INFO(src << " -> " << dst << ": " << last_error());
        REQUIRE(result == PI_SUCCESS);
        return info;
    }
};

pi_memory_verification_desc how(uint64_t flags = 0, pi_memory_kind kind = PI_MEMORY_KIND_BUFFER) {
    auto desc = pi::desc<pi_memory_verification_desc>();
    desc.flags = flags;
    desc.kind = kind;
    return desc;
}

} // namespace

TEST_CASE("connections whose bytes arrive are verified, and all other infos are the plugin's") {
    const Machine machine;
    for (const auto &[src, dst] : {std::pair{0, 1}, {1, 0}, {0, 2}, {2, 0}}) {
        CAPTURE(src, dst);
        auto said = pi::desc<pi_memory_connection_info>();
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
        CHECK_THAT(there.verified_text, Contains(" stale") && Contains("copied"));
    }
    CHECK_THAT(machine.verified(0, 1).verified_text,
               Contains("of 256 KiB every second page is stale"));
    CHECK(machine.verified(2, 0).verified == PI_VERIFIED_YES);
}

TEST_CASE("reads and writes in place that lose pages fail the verification") {
    const Machine machine;
    const uint32_t way = GENERATE(LYING_READS, LYING_WRITES);
    machine.control->lie(way, nullptr);
    const pi_memory_connection_info there = machine.verified(0, 1);
    CHECK(there.verified == PI_VERIFIED_FAILED);
    CHECK_THAT(there.verified_text, Contains("every second page is stale") &&
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

TEST_CASE("a result is remembered, and PI_VERIFY_AGAIN verifies again") {
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

TEST_CASE("if any call fails, the verification fails with it and leaks nothing") {
    CapturedLog log; // gets a warning if a released loader finds objects
    {
        const Machine machine({}, &log);
        const auto again = how(PI_VERIFY_AGAIN | PI_VERIFY_KERNELS);
        const std::size_t dst = GENERATE(1, 2);
        const uint32_t way = GENERATE(LYING_NOT, LYING_COPIES);
        machine.control->lie(way, nullptr);
        uint64_t failed = 0;
        for (uint64_t number = 1;; ++number) {
            machine.control->fail_call(number);
            pi_memory_connection_info info{};
            const pi_result result = machine.verify(0, dst, info, &again);
            INFO("call " << number << ": " << last_error());
            if (machine.control->calls() < number) {
                REQUIRE(result == PI_SUCCESS);
                break;
            }
            if (result ==
                // a query that may fail, or an allocation that was retried with a smaller size
                PI_SUCCESS) {
                CHECK(info.verified == (way == LYING_NOT ? PI_VERIFIED_YES : PI_VERIFIED_FAILED));
            } else {
                ++failed;
                CHECK(result == PI_ERROR_BACKEND);
                CHECK_THAT(last_error(), Contains("the lying plugin fails"));
                CHECK(info.verified == PI_VERIFIED_UNKNOWN);
            }
        }
        CHECK(failed >= (way == LYING_NOT ? 10U : 5U));
        machine.control->fail_call(0);
        machine.control->lie(LYING_NOT, nullptr);
        CHECK(machine.verified(0, dst, &again).verified == PI_VERIFIED_YES);
    }
    CHECK(log.count("", PI_LOG_WARNING) == 0);
}

TEST_CASE("imported memory is verified in its real size, and its bytes are restored") {
    const Machine machine;
    auto desc = how(PI_VERIFY_AGAIN, PI_MEMORY_KIND_IMPORTED);
    for (const auto &[src, dst] : {std::pair{0, 0}, {1, 1}, {0, 1}, {1, 0}, {0, 2}}) {
        for (const std::size_t size :
             {std::size_t{0}, std::size_t{4096}, std::size_t{1} << 16, std::size_t{3} << 20}) {
            CAPTURE(src, dst, size);
            std::vector<unsigned char> storage(size + 4096);
            for (std::size_t i = 0; i < storage.size(); ++i)
                storage[i] = static_cast<unsigned char>(i * 7 + i / 251);
            const std::vector<unsigned char> before = storage;
            desc.size = size;
            desc.host_ptr = nullptr;
            if (size != 0)
                desc.host_ptr =
                    storage.data() + (64 - reinterpret_cast<uintptr_t>(storage.data()) % 64);
            CHECK(machine.verified(src, dst, &desc).verified == PI_VERIFIED_YES);
            CHECK(storage == before);
        }
    }
    machine.control->lie(LYING_WRITES, nullptr);
    desc.host_ptr = nullptr;
    desc.size = 0;
    CHECK(machine.verified(0, 0, &desc).verified == PI_VERIFIED_YES);
    CHECK_THAT(machine.verified(0, 1, &desc).verified_text, Contains("stale"));
}

TEST_CASE("memory that src imports for dst is verified at src once") {
    const Machine machine;
    const auto desc = how(0, PI_MEMORY_KIND_IMPORTED);
    const auto again = how(PI_VERIFY_AGAIN, PI_MEMORY_KIND_IMPORTED);
    const auto calls_for = [&](std::size_t dst, const pi_memory_verification_desc &how_to) {
        machine.control->fail_call(0);
        CHECK(machine.verified(0, dst, &how_to).verified == PI_VERIFIED_YES);
        return machine.control->calls();
    };
    const uint64_t at_src = calls_for(0, again);
    const uint64_t for_dst = calls_for(1, desc);
    CHECK(at_src > 50);
    CHECK(calls_for(1, again) > for_dst + at_src / 2);
}

TEST_CASE("kernels are verified if the connection is unified, with a separate result") {
    const Machine machine;
    const auto kernels = how(PI_VERIFY_KERNELS), deep = how(PI_VERIFY_KERNELS | PI_VERIFY_DEEP);
    const auto again = how(PI_VERIFY_KERNELS | PI_VERIFY_AGAIN);
    machine.control->lie(LYING_KERNELS, nullptr);
    CHECK(machine.verified(0, 1).verified == PI_VERIFIED_YES);
    const auto there = machine.verified(0, 1, &kernels);
    CHECK(there.verified == PI_VERIFIED_FAILED);
    CHECK_THAT(there.verified_text, Contains("stale") && Contains("read by a kernel of dst"));
    CHECK(machine.verified(0, 1).verified == PI_VERIFIED_YES);
    CHECK(machine.verified(0, 2, &kernels).verified == PI_VERIFIED_YES); // no kernel uses it
    CHECK(machine.verified(0, 2, &again).verified == PI_VERIFIED_YES);

    machine.control->lie(LYING_NOT, nullptr);
    CHECK(machine.verified(0, 1, &kernels).verified == PI_VERIFIED_FAILED);
    CHECK(machine.verified(0, 1, &again).verified == PI_VERIFIED_YES);
    CHECK(std::string(machine.verified(0, 1, &again).verified_text).empty());
    machine.control->fail_call(0);
    CHECK(machine.verified(0, 1, &kernels).verified == PI_VERIFIED_YES);
    // the result with kernels covers both
    CHECK(machine.verified(0, 1).verified == PI_VERIFIED_YES);
    CHECK(machine.control->copies() == 0);
    CHECK(machine.verified(0, 1, &deep).verified == PI_VERIFIED_YES);
}

TEST_CASE("copies that lose bytes fail the verification with kernels, too") {
    const Machine machine;
    machine.control->lie(LYING_COPIES, nullptr);
    const auto kernels = how(PI_VERIFY_KERNELS);
    CHECK_THAT(machine.verified(0, 1, &kernels).verified_text, Contains("copied by dst"));
    CHECK(machine.verified(0, 1).verified == PI_VERIFIED_FAILED);
}

TEST_CASE("if the kernel does not build, the result is that of copies and maps, and says so") {
    const Machine machine;
    const auto kernels = how(PI_VERIFY_KERNELS);
    machine.control->lie(LYING_BUILDS, nullptr);
    const auto seen = machine.verified(0, 1, &kernels);
    CHECK(seen.verified == PI_VERIFIED_YES);
    CHECK_THAT(seen.verified_text, Contains("kernels were not tried") &&
                                       Contains("does not build") &&
                                       Contains("the compiler is away"));
    machine.control->lie(LYING_KERNELS, nullptr); // it is tried again
    CHECK(machine.verified(0, 1, &kernels).verified == PI_VERIFIED_FAILED);
}

TEST_CASE("kernels of a device are verified on host memory that it imports") {
    const Machine machine;
    auto desc = how(PI_VERIFY_KERNELS | PI_VERIFY_AGAIN, PI_MEMORY_KIND_IMPORTED);
    for (const auto &[src, dst] : {std::pair{0, 0}, {1, 1}, {0, 1}, {1, 0}}) {
        for (const std::size_t size : {std::size_t{0}, std::size_t{64}, std::size_t{3} << 20}) {
            CAPTURE(src, dst, size);
            std::vector<unsigned char> storage(size + 4096, 0x5a);
            const std::vector<unsigned char> before = storage;
            desc.size = size;
            desc.host_ptr = nullptr;
            if (size != 0)
                desc.host_ptr =
                    storage.data() + (64 - reinterpret_cast<uintptr_t>(storage.data()) % 64);
            machine.control->lie(LYING_NOT, nullptr);
            CHECK(machine.verified(src, dst, &desc).verified == PI_VERIFIED_YES);
            machine.control->lie(LYING_KERNELS, nullptr);
            const auto seen = machine.verified(src, dst, &desc);
            CHECK(seen.verified == PI_VERIFIED_FAILED);
            CHECK_THAT(seen.verified_text,
                       Contains(src == dst ? "written by the host" : "written by src") &&
                           Contains("read by a kernel of dst"));
            CHECK(storage == before);
        }
    }
}

TEST_CASE("memory of each scope is verified separately") {
    const Machine machine;
    auto desc = how();
    desc.src_scope = 1;
    CHECK(machine.verified(0, 2, &desc).verified == PI_VERIFIED_YES);
    machine.control->lie(LYING_COPIES, nullptr);
    CHECK(machine.verified(0, 2, &desc).verified == PI_VERIFIED_YES);
    CHECK(machine.verified(0, 2).verified == PI_VERIFIED_FAILED);
}

TEST_CASE("a deep verification sees what the sample does, with traffic both ways") {
    const Machine machine;
    const auto deep = how(PI_VERIFY_DEEP);
    CHECK(machine.verified(0, 2, &deep).verified == PI_VERIFIED_YES);
    CHECK(machine.verified(0, 1, &deep).verified == PI_VERIFIED_YES);
    const auto again = how(PI_VERIFY_DEEP | PI_VERIFY_AGAIN);
    machine.control->lie(LYING_COPIES, nullptr);
    CHECK_THAT(machine.verified(0, 1, &again).verified_text,
               Contains("every second page is stale"));
}

TEST_CASE("inside a callback a verification would block, and is refused") {
    const Machine machine;
    pi_queue queue = nullptr;
    REQUIRE(piQueueCreate(machine.contexts[0], machine.devices[0], nullptr, &queue) == PI_SUCCESS);
    pi_event event = nullptr;
    REQUIRE(piEventCreateHost(machine.contexts[0], nullptr, &event) == PI_SUCCESS);
    struct Seen {
        const Machine &machine;
        pi_result result = PI_SUCCESS;
        pi_memory_connection_info info{};
    } seen{machine};
    REQUIRE(piEventSetCallback(
                event,
                [](pi_event, pi_result, void *data) {
                    auto &inside = *static_cast<Seen *>(data);
                    inside.result = inside.machine.verify(0, 1, inside.info);
                },
                &seen) == PI_SUCCESS);
    REQUIRE(piEventSignalHost(event, PI_SUCCESS) == PI_SUCCESS);
    CHECK(piEventWait(event, PI_TIMEOUT_NEVER) == PI_SUCCESS);
    CHECK(piQueueFinish(queue) == PI_SUCCESS);
    CHECK(piEventRelease(event) == PI_SUCCESS);
    CHECK(piQueueRelease(queue) == PI_SUCCESS);
    CHECK(seen.result == PI_ERROR_WOULD_BLOCK);
    CHECK(seen.info.verified == PI_VERIFIED_UNKNOWN);
    CHECK(machine.verified(0, 1).verified == PI_VERIFIED_YES);
}

TEST_CASE("wrong arguments are refused, and nothing is written") {
    const Machine machine;
    pi_memory_connection_info info{};
    auto desc = how();
    desc.flags = 1 << 9;
    CHECK(machine.verify(0, 1, info, &desc) == PI_ERROR_UNSUPPORTED_FEATURE);
    desc = how(0, PI_MEMORY_KIND_IMPORTED + 1);
    CHECK(machine.verify(0, 1, info, &desc) == PI_ERROR_INVALID_ENUMERATION);
    desc = how(0, PI_MEMORY_KIND_IMAGE);
    CHECK(machine.verify(0, 1, info, &desc) == PI_ERROR_UNSUPPORTED_FEATURE);
    desc = how();
    desc.reserved = 1;
    CHECK(machine.verify(0, 1, info, &desc) == PI_ERROR_UNSUPPORTED_FEATURE);
    desc = how();
    desc.host_ptr = &info;
    CHECK(machine.verify(0, 1, info, &desc) == PI_ERROR_INVALID_VALUE);
    desc = how(0, PI_MEMORY_KIND_IMPORTED);
    desc.size = 4096;
    CHECK(machine.verify(0, 1, info, &desc) == PI_ERROR_INVALID_SIZE);
    desc = how();
    desc.type = PI_TYPE_QUEUE_DESC;
    CHECK(machine.verify(0, 1, info, &desc) == PI_ERROR_INVALID_DESCRIPTOR);
    CHECK(info.connection == PI_MEMORY_CONNECTION_NONE);

    const pi_device g0 = machine.devices[0];
    const pi_context c0 = machine.contexts[0];
    CHECK(piVerifyMemoryConnection(nullptr, c0, g0, c0, nullptr, &info) == PI_ERROR_INVALID_DEVICE);
    CHECK(piVerifyMemoryConnection(g0, c0, g0, nullptr, nullptr, &info) ==
          PI_ERROR_INVALID_CONTEXT);
    CHECK(piVerifyMemoryConnection(g0, c0, g0, c0, nullptr, nullptr) ==
          PI_ERROR_INVALID_NULL_POINTER);
    CHECK(last_error() == "piVerifyMemoryConnection: out_info is NULL");
    CHECK(piVerifyMemoryConnection(machine.devices[1], c0, g0, c0, nullptr, &info) ==
          PI_ERROR_INVALID_DEVICE);
    info.struct_size = 4;
    CHECK(piVerifyMemoryConnection(g0, c0, g0, c0, nullptr, &info) == PI_ERROR_INVALID_DESCRIPTOR);
}

TEST_CASE("between two plugin instances there is no connection, and nothing to verify") {
    const Machine one;
    const Machine other;
    auto info = pi::desc<pi_memory_connection_info>();
    REQUIRE(piVerifyMemoryConnection(one.devices[0], one.contexts[0], other.devices[0],
                                     other.contexts[0], nullptr, &info) == PI_SUCCESS);
    CHECK(info.connection == PI_MEMORY_CONNECTION_NONE);
    CHECK(info.verified == PI_VERIFIED_UNKNOWN);
    CHECK_THAT(info.reason, Contains("different plugins"));
}

TEST_CASE("a caller of version 1.0 has an info without the verified fields") {
    const Machine machine;
    pi_memory_connection_info info{};
    std::memset(&info, 0x5A, sizeof info);
    info.struct_size = offsetof(pi_memory_connection_info, verified);
    info.type = PI_TYPE_MEMORY_CONNECTION_INFO;
    info.next = nullptr;
    REQUIRE(piVerifyMemoryConnection(machine.devices[0], machine.contexts[0], machine.devices[1],
                                     machine.contexts[1], nullptr, &info) == PI_SUCCESS);
    CHECK(info.connection == PI_MEMORY_CONNECTION_UNIFIED);
    CHECK(info.verified == 0x5A5A5A5A);
}

TEST_CASE("layers neither count nor record nor fail the commands of a verification") {
    TemporaryFolder folder;
    Description description;
    description.plugins = {PI_TEST_SIM_PLUGIN};
    description.layers = {"validate", "leak-origin", "race", "trace", "record", "fault"};
    description.options = {{"PI_SIM_MACHINE", folder.write("machine.json", machine_text)},
                           {"PI_FAULT", "piEnqueueMemBufferCopy:1..99=fail(BACKEND)"},
                           {"PI_TRACE_FILE", folder.str("trace.json")},
                           {"PI_RECORD_FILE", folder.str("record.jsonl")}};
    CapturedLog log;
    description.log = &log;
    {
        const Loader loader(description);
        std::array<pi_device, 3> devices{};
        uint32_t count = 0;
        REQUIRE(piDevicesGet(loader.platform(), PI_DEVICE_TYPE_ALL, 3, devices.data(), &count) ==
                PI_SUCCESS);
        pi_context_desc desc{sizeof desc, PI_TYPE_CONTEXT_DESC};
        desc.device_count = 3;
        desc.devices = devices.data();
        pi_context context = nullptr;
        REQUIRE(piContextCreate(loader.platform(), &desc, &context) == PI_SUCCESS);
        auto info = pi::desc<pi_memory_connection_info>();
        REQUIRE(piVerifyMemoryConnection(devices[0], context, devices[1], context, nullptr,
                                         &info) == PI_SUCCESS);
        CHECK(info.verified == PI_VERIFIED_YES);
        std::vector<pi_call_count> counts(200);
        REQUIRE(piLoaderGetCallCounts(loader.get(), loader.plugins()[0], 200, counts.data(),
                                      &count) == PI_SUCCESS);
        for (uint32_t i = 0; i < count; ++i) {
            if (std::string(counts[i].function).find("Enqueue") != std::string::npos)
                CHECK(counts[i].count == 0);
        }
        CHECK(piContextRelease(context) == PI_SUCCESS);
    }
    CHECK(log.count("", PI_LOG_WARNING) == 0);
    std::ifstream record(folder.str("record.jsonl"));
    const std::string lines((std::istreambuf_iterator<char>(record)), {});
    CHECK(lines.find("piContextCreate") != std::string::npos);
    CHECK(lines.find("piQueueCreate") == std::string::npos);
}

TEST_CASE("results of devices with an identity are stored for the next process") {
    const TemporaryFolder folder;
    const std::string file = folder.str("cache/verified.json");
    const std::vector<std::pair<std::string, std::string>> options = {{"PI_VERIFIED_FILE", file}};
    {
        const Machine first(options);
        CHECK(first.verified(0, 1).verified == PI_VERIFIED_YES);
        CHECK(first.verified(0, 2).verified == PI_VERIFIED_YES);
    }
    REQUIRE(std::filesystem::is_regular_file(file));
    {
        const Machine second(options);
        second.control->lie(LYING_COPIES, nullptr);
        CHECK(second.verified(0, 1).verified == PI_VERIFIED_YES); // the first one's result
        CHECK(second.control->copies() == 0);
        CHECK(second.verified(0, 2).verified == PI_VERIFIED_FAILED); // "small" has no identity
        const auto again = how(PI_VERIFY_AGAIN);
        CHECK(second.verified(0, 1, &again).verified == PI_VERIFIED_FAILED);
    }
    {
        const Machine third(options);
        CHECK_THAT(third.verified(0, 1).verified_text, Contains("every second page is stale"));
        CHECK(third.control->copies() == 0);
    }
    std::ofstream(file, std::ios::trunc) << "{\"pi_verified\": 1, \"machine\": [";
    const Machine fourth(options);
    CHECK(fourth.verified(0, 1).verified == PI_VERIFIED_YES);
}
