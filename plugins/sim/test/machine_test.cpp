// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Machine files: an error names the file, the line, the field, and what would be right.
#include "fixture.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>

using namespace sim_test;

namespace {

struct InvalidFile {
    const char *json;
    const char *line; ///< "3"
    const char *words;
};

constexpr const char *device =
    R"({"name": "a", "type": "gpu", "scopes": [{"name": "global", "capacity": "1 MiB"}]})";

/// A machine of the devices a and b with these links, which begin at line 4.
std::string linked(const std::string &links) {
    std::string json = "{\"pi_machine\": 1, \"name\": \"m\", \"devices\": [\n";
    json += device;
    json += ",\n";
    json +=
        R"({"name": "b", "type": "gpu", "scopes": [{"name": "global", "capacity": "1 MiB"}]}], )"
        R"("links": [)";
    json += "\n";
    json += links;
    json += "]}";
    return json;
}

/// A machine of these devices, one per line, from line 3 on.
std::string with_devices(std::initializer_list<const char *> devices) {
    std::string json = "{\"pi_machine\": 1, \"name\": \"m\",\n\"devices\": [";
    for (const char *one : devices) {
        json += json.ends_with("[") ? "\n" : ",\n";
        json += one;
    }
    json += "]}";
    return json;
}

/// A machine of the device a with this fault, in line 2.
std::string with_fault(const char *fault) {
    std::string json = "{\"pi_machine\": 1, \"name\": \"m\", \"devices\": [";
    json += device;
    json += "], \"faults\": [\n";
    json += fault;
    json += "]}";
    return json;
}

void check_refused(const std::string &json, const std::string &line, const std::string &words) {
    INFO(json);
    const TextFile file(json);
    const std::string reason = refusal(file.path());
    INFO(reason);
    CHECK(reason.find(file.path() + ":" + line + ": ") != std::string::npos);
    CHECK(reason.find(words) != std::string::npos);
}

} // namespace

TEST_CASE("without a machine the plugin is unavailable, and explains how to name one", "[sim]") {
    CHECK(refusal("").find("PI_SIM_MACHINE") != std::string::npos);
}

TEST_CASE("a file that cannot be read is named", "[sim]") {
    for (const char *path : {"/nowhere/machine.json", "/tmp"}) {
        const std::string reason = refusal(path);
        INFO(reason);
        CHECK(reason.find(path) != std::string::npos);
    }
}

TEST_CASE("a file that is not JSON is refused with the line", "[sim]") {
    static constexpr InvalidFile invalid_files[] = {
        {"", "1", "not JSON"},
        {"{\"pi_machine\": 1,\n \"name\": \"m\"\n \"devices\": []}", "3", "not JSON"},
        {"{\n\n\"pi_machine\": 1,\n}", "4", "not JSON"},
        {"{\"pi_machine\": 1} more", "1", "not JSON"},
        {"{\"pi_machine\": 1,\n\"name\": \"m\",\n\"name\": \"n\"}", "3",
         "name is there twice, first in line 2"},
    };
    for (const InvalidFile &invalid : invalid_files)
        check_refused(invalid.json, invalid.line, invalid.words);
}

TEST_CASE("missing and wrong members of the machine are named", "[sim]") {
    static constexpr InvalidFile invalid_files[] = {
        {"[]", "1", "the machine is an array; an object {...} is needed"},
        {"{}", "1", "pi_machine is missing; 1, the version of the format, is needed"},
        {"{\"pi_machine\": 2}", "1", "pi_machine is 2; 1"},
        {"{\"pi_machine\": 1}", "1", "name is missing"},
        {"{\"pi_machine\": 1, \"name\": \"m\"}", "1", "devices is missing"},
        {"{\"pi_machine\": 1, \"name\": \"m\",\n\"devices\": []}", "2", "devices is empty"},
        {"{\"pi_machine\": 1, \"name\": \"m\",\n\"devices\": {}}", "2",
         "devices is an object; an array [...] of devices"},
        {"{\"pi_machine\": 1,\n\"colour\": 3}", "2",
         "colour is not known here; known are pi_machine"},
        {"{\"pi_machine\": 1, \"name\": \"m\",\n\"host\": {\"bandwidth\": -1}}", "2",
         "host.bandwidth is -1; a number of bytes per second of at least 1"},
        {"{\"pi_machine\": 1, \"name\": \"m\",\n\"host\": {\"bandwidth\": 0}}", "2",
         "host.bandwidth is 0; a number of bytes per second of at least 1"},
        {"{\"pi_machine\": 1,\n\"source\": 7}", "2", "source is 7; a text is needed"},
    };
    for (const InvalidFile &invalid : invalid_files)
        check_refused(invalid.json, invalid.line, invalid.words);
}

TEST_CASE("missing and wrong members of a device are named", "[sim]") {
    static constexpr InvalidFile invalid_files[] = {
        {R"({})", "3", "devices[0].name is missing"},
        {R"({"name": "host"})", "3", "devices[0].name is \"host\", which means the host"},
        {R"({"name": "a"})", "3", "devices[0].type is missing; one of \"cpu\", \"gpu\""},
        {R"({"name": "a", "type": "toaster"})", "3", "devices[0].type is \"toaster\"; one of"},
        {R"({"name": "a", "type": "gpu"})", "3", "devices[0].scopes is missing"},
        {R"({"name": "a", "type": "gpu", "scopes": []})", "3", "devices[0].scopes is empty"},
        {R"({"name": "a", "type": "gpu", "integrated": 1, "scopes": []})", "3",
         "devices[0].integrated is 1; true or false"},
        {R"({"name": "a", "type": "gpu", "uuid": "12", "scopes": []})", "3",
         "devices[0].uuid is \"12\"; a text of 32 hexadecimal digits"},
        {R"({"name": "a", "type": "gpu", "compute_units": 0, "scopes": []})", "3",
         "devices[0].compute_units is 0; a whole number from 1"},
        {R"({"name": "a", "type": "gpu", "host_pointer_alignment": 48, "scopes": []})", "3",
         "devices[0].host_pointer_alignment is 48; a power of two"},
        {R"({"name": "a", "type": "gpu", "host_pointer_copies": true, "scopes": []})", "3",
         "devices[0].host_pointer_copies is true, but the device imports no host pointers"},
        {"{\"name\": \"a\", \"type\": \"gpu\", \"scopes\": [\n{\"name\": \"g\"}]}", "4",
         "devices[0].scopes[0].capacity is missing"},
        {"{\"name\": \"a\", \"type\": \"gpu\", \"scopes\": [\n{\"name\": \"g\", "
         "\"capacity\":\n\"16 "
         "GG\"}]}",
         "5", "devices[0].scopes[0].capacity is \"16 GG\"; a number of bytes"},
        {R"({"name": "a", "type": "gpu", "scopes": [{"name": "g", "capacity": 0}]})", "3",
         "capacity is 0"},
        {R"({"name": "a", "type": "gpu", "scopes": [{"name": "g", "capacity": 9, )"
         R"("max_allocation": 10}]})",
         "3", "max_allocation is 10; 1 to the capacity, 9"},
        {R"({"name": "a", "type": "gpu", "scopes": [{"name": "g", "capacity": 9, )"
         R"("flags": ["fast"]}]})",
         "3", "devices[0].scopes[0].flags[0] is \"fast\"; one of \"host_visible\""},
        {R"({"name": "a", "type": "gpu", "scopes": [{"name": "g", "capacity": 9, )"
         R"("flags": ["coherent"]}]})",
         "3", "has \"coherent\", but not \"host_visible\""},
        {R"({"name": "a", "type": "gpu", "scopes": [{"name": "g", "capacity": 9}, {"name": "g", )"
         R"("capacity": 9}]})",
         "3", "devices[0].scopes[1].name is \"g\", the name of an earlier scope"},
        {R"({"name": "a", "type": "gpu", "scopes": [{"name": "g", "capacity": 9, )"
         R"("bus_address": 0}]})",
         "3", "flags has no \"contiguous\""},
        {R"({"name": "a", "type": "gpu", "scopes": [{"name": "g", "capacity": 65, )"
         R"("flags": ["contiguous"], "bus_address": 18446744073709551552}]})",
         "3", "devices[0].scopes[0].bus_address is 18446744073709551552, from which on"},
        {R"({"name": "a", "type": "gpu", "scopes": [{"name": "g", "capacity": 9, )"
         R"("maintenance": {}}]})",
         "3", "devices[0].scopes[0].maintenance is given, but only memory whose flags have"},
        {R"({"name": "a", "type": "gpu", "scopes": [{"name": "g", "capacity": 9, )"
         R"("flags": ["host_visible"], "maintenance": {"bandwidth": "3 GB"}}]})",
         "3", "devices[0].scopes[0].maintenance.bandwidth is \"3 GB\""},
        {R"({"name": "a", "type": "gpu", "scopes": [{"name": "g", "capacity": 9}], )"
         R"("bandwidth": 0})",
         "3", "devices[0].bandwidth is 0; a number of bytes per second of at least 1"},
        {R"({"name": "a", "type": "gpu", "scopes": [{"name": "g", "capacity": 9}], "kernels": []})",
         "3", "devices[0].kernels is an array; an object of kernels by their names"},
        {R"({"name": "a", "type": "gpu", "scopes": [{"name": "g", "capacity": 9}], )"
         R"("kernels": {"source": 7}})",
         "3", "devices[0].kernels.source is 7; an object"},
        {R"({"name": "a", "type": "gpu", "scopes": [{"name": "g", "capacity": 9}], )"
         R"("lost_at": "soon"})",
         "3", "devices[0].lost_at is \"soon\"; a number of nanoseconds"},
    };
    for (const InvalidFile &invalid : invalid_files)
        check_refused(with_devices({invalid.json}), invalid.line, invalid.words);
    check_refused(with_devices({device, device}), "4",
                  "devices[1].name is \"a\", the name of an earlier device");
}

TEST_CASE("texts for people are allowed in every object of a machine", "[sim]") {
    const std::string texts = R"("description": "as it was", "source": "measured in May", )";
    const auto object = [&](const std::string &members) { return "{" + texts + members + "}"; };
    const std::string scope =
        object(R"("name": "g", "capacity": 9, "flags": ["host_visible"], "maintenance": )" +
               object(R"("latency": 1)"));
    const std::string kernels = object(R"("blur": )" + object(R"("item_time": 1)"));
    const std::string gpu =
        object(R"("name": "a", "type": "gpu", "kernel": )" + object(R"("launch_time": 1)") +
               R"(, "kernels": )" + kernels + R"(, "scopes": [)" + scope + "]");
    const std::string link = object(R"("from": "host", "to": "a", "latency": 1)");
    const std::string fault = object(R"("function": "piMemRelease", "result": "backend")");
    const Simulation machine(object(R"("pi_machine": 1, "name": "m", "host": )" +
                                    object(R"("latency": 1)") + R"(, "devices": [)" + gpu +
                                    R"(], "links": [)" + link + R"(], "faults": [)" + fault + "]"));
    CHECK(machine.devices.size() == 1);
}

TEST_CASE("wrong handle types are named", "[sim]") {
    static constexpr InvalidFile invalid_files[] = {
        {R"({"name": "a", "type": "gpu", "external_handle_types": ["host_pointer"], "scopes": []})",
         "3",
         "devices[0].external_handle_types[0] is \"host_pointer\"; one of \"dma_buf_fd\", "
         "\"opaque_fd\" is needed"},
        {R"({"name": "a", "type": "gpu", "export_handle_types": "opaque_fd", "scopes": []})", "3",
         "devices[0].export_handle_types is \"opaque_fd\"; an array [...] of types of handles"},
    };
    for (const InvalidFile &invalid : invalid_files)
        check_refused(with_devices({invalid.json}), invalid.line, invalid.words);
}

TEST_CASE("links that contradict the machine, each other or themselves are named", "[sim]") {
    static constexpr InvalidFile invalid_files[] = {
        {R"({"from": "a"})", "4", "links[0].to is missing"},
        {R"({"from": "a", "to": "c", "connection": "none"})", "4",
         "links[0].to is \"c\", which is not a device of the machine; there are host, a, b"},
        {R"({"from": "a", "to": "b"})", "4", "links[0].connection is missing"},
        {R"({"from": "a", "to": "a", "connection": "none"})", "4", "with itself"},
        {R"({"from": "a", "to": "b", "connection": "migratable", "bandwidth": -5})", "4",
         "links[0].bandwidth is -5"},
        {R"({"from": "a", "to": "b", "connection": "migratable", "bandwidth": 0})", "4",
         "links[0].bandwidth is 0"},
        {R"({"from": "host", "to": "b", "bandwidth": 0.5})", "4", "links[0].bandwidth is 0.5"},
        {R"({"from": "host", "to": "b", "bandwidth": "0 GB/s"})", "4",
         "links[0].bandwidth is \"0 GB/s\"; a number of bytes per second of at least 1"},
        {R"({"from": "a", "to": "b", "connection": "migratable", "bandwidth": "5 GB"})", "4",
         "links[0].bandwidth is \"5 GB\""},
        {R"({"from": "a", "to": "b", "connection": "unified", "coherence": "coherent"})", "4",
         "which needs a residency"},
        {R"({"from": "a", "to": "b", "connection": "unified", "residency": "remote_access"})", "4",
         "which needs a coherence"},
        {R"({"from": "a", "to": "b", "connection": "migratable", "residency": "remote_access"})",
         "4", "links[0].residency is \"remote_access\", but only \"unified\""},
        {R"({"from": "a", "to": "b", "connection": "unified", "coherence": "coherent", )"
         R"("residency": "migrates_whole_object", "concurrent_writers": "disjoint_bytes"})",
         "4", "\"none\" is needed"},
        {R"({"from": "a", "to": "b", "connection": "none", "bandwidth": 5})", "4",
         "nothing goes over this link"},
        {R"({"from": "host", "to": "b", "connection": "unified"})", "4",
         "links[0].connection is given for a link with the host"},
        {R"({"from": "host", "to": "b", "external_handle_types": []})", "4",
         "links[0].external_handle_types is given for a link with the host"},
        {R"({"from": "a", "to": "b", "connection": "none", "external_handle_types": ["fd"]})", "4",
         "links[0].external_handle_types[0] is \"fd\"; one of"},
        {R"({"from": "host", "to": "b", "loses_pages": ["copies"]})", "4",
         "links[0].loses_pages is given for a link with the host"},
        {R"({"from": "a", "to": "b", "connection": "migratable", "loses_pages": ["maps"]})", "4",
         "links[0].loses_pages[0] is \"maps\"; one of \"copies\", \"kernels\""},
        {"{\"from\": \"a\", \"to\": \"b\", \"connection\": \"none\"},\n{\"from\": \"a\", \"to\": "
         "\"b\", \"connection\": \"none\"}",
         "5",
         "links[1].to is a second link of the same two ends and direction; the first is in "
         "line 4"},
        {R"({"from": "host", "to": "b", "channels": ["a", "b", "c", "d", "e"]})", "4",
         "links[0].channels has 5 names; this link takes at most 4"},
        {R"({"from": "a", "to": "b", "connection": "migratable", "channels": ["a", "b", "c", )"
         R"("d", "e", "f", "g", "h", "i"]})",
         "4", "links[0].channels has 9 names; this link takes at most 8"},
        {R"({"between": ["a"], "connection": "none"})", "4", "links[0].between names 1 devices"},
        {R"({"between": ["a", "b"], "to": "a", "connection": "none"})", "4",
         "links[0].between is given together with from and to"},
        {R"({"between": ["a", "a"], "connection": "none"})", "4", "with itself"},
    };
    for (const InvalidFile &invalid : invalid_files)
        check_refused(linked(invalid.json), invalid.line, invalid.words);
}

TEST_CASE("impossible faults are named", "[sim]") {
    static constexpr InvalidFile invalid_files[] = {
        {R"({})", "2", "faults[0].function is missing"},
        {R"({"function": "piFly", "result": "backend"})", "2",
         "faults[0].function is \"piFly\"; a function of pi.h"},
        {R"({"function": "piMemRelease"})", "2", "faults[0] does nothing"},
        {R"({"function": "piMemRelease", "result": "success"})", "2", "faults[0].result is"},
        {R"({"function": "piMemRelease", "part": 0.5})", "2", "piMemRelease is not a command"},
        {R"({"function": "piMemRelease", "delay": 5})", "2", "piMemRelease is not a command"},
        {R"({"function": "piEnqueueMemBufferCopy", "part": 1})", "2",
         "faults[0].part is 1; a number from 0 to less than 1"},
        {R"({"function": "piEnqueueMemBufferCopy", "call": 0, "part": 0})", "2",
         "faults[0].call is 0; a whole number from 1"},
    };
    for (const InvalidFile &invalid : invalid_files)
        check_refused(with_fault(invalid.json), invalid.line, invalid.words);
}

namespace {

/// The members with figures but without a source, neither their own nor of a member around them.
std::string without_source(const nlohmann::json &value, const std::string &name, bool has_source) {
    static constexpr const char *figures[] = {"bandwidth", "latency", "capacity", "launch_time",
                                              "item_time"};
    std::string found;
    has_source = has_source || (value.is_object() && value.contains("source"));
    for (const auto &[key, member] : value.items()) {
        const bool is_figure =
            std::find(std::begin(figures), std::end(figures), key) != std::end(figures);
        if (member.is_structured())
            found += without_source(member, name + "." + key, has_source);
        else if (value.is_object() && is_figure && !has_source)
            found += " " + name + "." + key;
    }
    return found;
}

} // namespace

TEST_CASE("every installed machine can be read, and names its sources", "[sim]") {
    unsigned machines = 0;
    for (const auto &entry : std::filesystem::directory_iterator(PI_TEST_MACHINES)) {
        INFO(entry.path());
        std::ifstream stream(entry.path());
        CHECK(without_source(nlohmann::json::parse(stream), "", false) == "");
        const Owned<pi_loader> loader = make_loader(entry.path());
        pi_plugin_report report{};
        uint32_t count = 0;
        OK(piLoaderGetReports(loader, 1, &report, &count));
        INFO(report.reason);
        CHECK(report.status == PI_PLUGIN_LOADED);
        ++machines;
    }
    CHECK(machines >= 7);
}
