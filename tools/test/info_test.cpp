// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// pi-info as a user runs it.
#include "skip.hpp"
#include "tool.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

using namespace pi_test;
using nlohmann::json;

namespace {

const std::string no_opencl = "PI_OPENCL_LIBRARY=/nowhere/libOpenCL.so";

bool contains(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

json find(const json &list, const std::string &key, const std::string &value) {
    const auto found = std::find_if(list.begin(), list.end(),
                                    [&](const json &row) { return row.at(key) == value; });
    INFO("no row of " << list << " has \"" << key << "\": \"" << value << "\"");
    REQUIRE(found != list.end());
    return *found;
}

/// Contexts of the places of one selector.
std::set<int> contexts(const json &document) {
    std::set<int> numbers;
    for (const json &place : document.at("places")) {
        if (!place.at("derived").get<bool>()) {
            numbers.insert(place.at("context").get<int>());
        }
    }
    return numbers;
}

} // namespace

TEST_CASE("pi-info --json has the documented keys") {
    const json document = run_json({PI_INFO, "--json"});
    for (const char *key : {"plugins", "devices", "places", "connections"}) {
        REQUIRE(document.at(key).is_array());
    }
    for (const json &plugin : document.at("plugins")) {
        for (const char *key : {"name", "path", "status", "reason"}) {
            CHECK(plugin.at(key).is_string());
        }
    }
    const json host = find(document.at("plugins"), "name", "host");
    CHECK(host.at("status") == "loaded");
    CHECK(host.at("reason") == "");
    CHECK(contains(host.at("path"), "libpi_plugin_host.so"));

    REQUIRE(!document.at("devices").empty());
    for (const json &device : document.at("devices")) {
        for (const char *key : {"selector", "plugin", "name", "kind"}) {
            CHECK(device.at(key).get<std::string>() != "");
        }
    }
    CHECK(find(document.at("devices"), "selector", "host:0:0").at("kind") == "cpu");
}

TEST_CASE("pi-info --json has every ordered pair of places") {
    const json document = run_json({PI_INFO, "--json"});
    const size_t places = document.at("places").size();
    CHECK(places == document.at("devices").size() + 1);
    CHECK(document.at("places").at(0).at("name") == "host");
    CHECK(document.at("places").at(0).at("derived") == true);

    std::set<std::pair<std::string, std::string>> pairs;
    for (const json &row : document.at("connections")) {
        INFO(row);
        const std::string src = row.at("src");
        const std::string dst = row.at("dst");
        find(document.at("places"), "name", src);
        find(document.at("places"), "name", dst);
        CHECK(pairs.emplace(src, dst).second);
        const std::string connection = row.at("connection");
        if (src == dst) {
            CHECK(connection == "unified");
        }
        CHECK((connection == "none" || connection == "migratable" || connection == "unified"));
        CHECK(row.at("verified") == "unknown"); // not verified
        CHECK(row.at("seen") == nullptr);
    }
    CHECK(pairs.size() == (places - 1) * (places - 1));
}

TEST_CASE("devices of a platform share a context, or each has its own") {
    const Ran probe = run_tool({PI_INFO, "--json", "--device", "opencl:0"});
    if (probe.exit_code != 0 || json::parse(probe.output).at("devices").size() < 2) {
        skip("needs two OpenCL devices of one platform");
        return;
    }
    const json shared = run_json({PI_INFO, "--json", "--device", "opencl:0"});
    CHECK(contexts(shared).size() == 1);
    const json own = run_json({PI_INFO, "--json", "--device", "opencl:0", "--contexts", "own"});
    CHECK(contexts(own).size() == own.at("devices").size());
}

TEST_CASE(
    "a plugin without its driver is unavailable, with the reason, and the others are listed") {
    if (!PI_TEST_HAVE_OPENCL) {
        skip("built without OpenCL");
        return;
    }
    const json document = run_json({PI_INFO, "--json"}, {no_opencl});
    const json opencl = find(document.at("plugins"), "name", "opencl");
    CHECK(opencl.at("status") == "unavailable");
    CHECK(contains(opencl.at("reason"), "/nowhere/libOpenCL.so"));
    find(document.at("devices"), "selector", "host:0:0");
    for (const json &device : document.at("devices")) {
        CHECK(device.at("plugin") == "host");
    }

    const Ran text = run_tool({PI_INFO}, {no_opencl});
    CHECK(text.exit_code == 0);
    CHECK(contains(text.output, "unavailable: "));
    CHECK(contains(text.output, "/nowhere/libOpenCL.so"));
    const Ran plugins = run_tool({PI_INFO, "--plugins"}, {no_opencl});
    CHECK(plugins.exit_code == 0);
    CHECK(contains(plugins.output, "/nowhere/libOpenCL.so"));
}

TEST_CASE("a refused --plugin is an error, with the reason, and the others are listed") {
    const std::vector<std::string> command{PI_INFO, "--json", "--plugin", PI_INFO};
    const Ran ran = run_tool(command, {no_opencl});
    CHECK(ran.exit_code == 1);
    CHECK(contains(ran.errors, "was refused: "));
    const json document = json::parse(ran.output);
    const json plugin = document.at("plugins").at(0);
    CHECK(plugin.at("status") == "refused");
    CHECK(plugin.at("reason") != "");
    find(document.at("devices"), "selector", "host:0:0");
    // Its path is longer than the column.
    CHECK(contains(run_tool({PI_INFO, "--plugin", PI_INFO}, {no_opencl}).output,
                   "\n  " PI_INFO "  refused: "));
}

TEST_CASE("the matrix has host memory as a derived row") {
    const Ran ran = run_tool({PI_INFO, "--device", "host"});
    CHECK(ran.exit_code == 0);
    CHECK(contains(ran.output, "Connections"));
    CHECK(contains(ran.output, "import/"));
    CHECK(contains(ran.output, "unified"));
}

TEST_CASE("colours are for terminals unless requested") {
    CHECK(!contains(run_tool({PI_INFO, "--device", "host"}).output, "\033["));
    CHECK(contains(run_tool({PI_INFO, "--device", "host", "--color", "always"}).output, "\033["));
    CHECK(!contains(run_tool({PI_INFO, "--device", "host", "--color", "never"}).output, "\033["));
}

TEST_CASE("lines fit the terminal's width, and are not broken elsewhere") {
    constexpr size_t width = 60;
    const auto longest = [](const std::string &text) {
        std::istringstream lines(text);
        size_t most = 0;
        for (std::string line; std::getline(lines, line);) {
            line.erase(line.find_last_not_of('\r') + 1);
            most = std::max(most, line.size());
        }
        return most;
    };
    const std::string command =
        "stty cols " + std::to_string(width) + "; exec " PI_INFO " --device host --color never";
    // script(1) gives the program a terminal, which warnings also use: on a slow machine there are
    // some about vendors.
    const std::string shown =
        run_tool({"script", "-qec", command, "/dev/null"}, {"PI_LOG=error"}).output;
    INFO(shown);
    CHECK(contains(shown, "\r\n    capabilities  buffer_commands, "));
    CHECK(contains(shown, "\r\n                 "));
    CHECK(longest(shown) <= width);
    CHECK(longest(run_tool({PI_INFO, "--device", "host"}).output) > 2 * width);
}

TEST_CASE("pi-info --env lists the variables with their values") {
    const Ran ran = run_tool({PI_INFO, "--env"}, {"PI_LOG=error"});
    CHECK(ran.exit_code == 0);
    CHECK(contains(ran.output, "PI_LOG"));
    CHECK(contains(ran.output, "value: error"));
    const json rows = run_json({PI_INFO, "--env", "--json"}, {"PI_LOG=error"}).at("environment");
    const json log = find(rows, "name", "PI_LOG");
    CHECK(log.at("value") == "error");
    CHECK(log.at("type") != "");
    CHECK(log.at("description") != "");
}

TEST_CASE("no control character of a name or variable reaches the terminal") {
    const TemporaryFile machine;
    std::ofstream(machine.path()) << R"({"pi_machine": 1, "name": "m", "devices": [)"
                                  << R"({"name": "red\u001b[31m\u0007\u009b\u007f", "type": "gpu",)"
                                  << R"("scopes": [{"name": "global", "capacity": "64 MB"}]}]})";
    const std::vector<std::string> environment{"PI_SIM_MACHINE=" + machine.path(),
                                               "PI_OPENCL_PLATFORMS=\033[8mhidden",
                                               "PI_DEVICE_SELECTOR=sim"};
    const std::string shown = "red\\x1b[31m\\x07\\xc2\\x9b\\x7f";
    for (const std::vector<std::string> &options : std::vector<std::vector<std::string>>{
             {}, {"--topology"}, {"--plugins"}, {"--env"}, {"--json"}, {"--env", "--json"}}) {
        std::vector<std::string> command{PI_INFO};
        command.insert(command.end(), options.begin(), options.end());
        const Ran ran = run_tool(command, environment);
        INFO(ran.output << ran.errors);
        CHECK(ran.exit_code == 0);
        for (const char *raw : {"\033", "\x07", "\xc2\x9b", "\x7f"}) {
            CHECK(!contains(ran.output + ran.errors, raw));
        }
        if (options.empty()) {
            CHECK(contains(ran.output, shown));
        }
        if (options == std::vector<std::string>{"--env"}) {
            CHECK(contains(ran.output, "\\x1b[8mhidden"));
        }
    }
    // For programs the name is unchanged.
    CHECK(find(run_json({PI_INFO, "--json"}, environment).at("devices"), "selector", "sim:0:0")
              .at("name") == "red\x1b[31m\x07\xc2\x9b\x7f");
}

TEST_CASE("a NUL character in a machine's name is an error, not its end") {
    const TemporaryFile machine;
    std::ofstream(machine.path())
        << R"({"pi_machine": 1, "name": "m", "devices": [{"name": "cut\u0000here", "type": "gpu",)"
        << R"("scopes": [{"name": "global", "capacity": "64 MB"}]}]})";
    const Ran ran = run_tool({PI_INFO, "--plugins"}, {"PI_SIM_MACHINE=" + machine.path()});
    CHECK(contains(ran.output, "\"cut\\u0000\""));
    CHECK(contains(ran.output, "without a NUL character"));
}

TEST_CASE("an unknown device is an error with the loader's text") {
    for (const std::vector<std::string> &form :
         {std::vector<std::string>{PI_INFO, "--device", "abacus:0:0"},
          std::vector<std::string>{PI_INFO, "--json", "--device", "abacus:0:0"}}) {
        const Ran ran = run_tool(form);
        CHECK(ran.exit_code == 1);
        CHECK(ran.output == "");
        CHECK(contains(ran.errors, "\"abacus:0:0\" names no device"));
        CHECK(ran.errors.find("piLoaderSelectDevices") ==
              ran.errors.rfind("piLoaderSelectDevices"));
        CHECK(contains(ran.errors, "host:0:0"));
    }
}

TEST_CASE("a selection by the environment is shown") {
    const Ran ran = run_tool({PI_INFO}, {"PI_DEVICE_SELECTOR=host:0:0"});
    CHECK(ran.exit_code == 0);
    CHECK(contains(ran.output, "PI_DEVICE_SELECTOR are shown: host:0:0"));
    CHECK(!contains(ran.output, "opencl:0:0"));
}

/// Small, so that filling the memory takes no time.
void write_two_devices(const TemporaryFile &machine, const std::string &links) {
    std::ofstream(machine.path()) << R"({"pi_machine": 1, "name": "two",
        "host": {"bandwidth": "10 GB/s", "latency": "100 ns"},
        "devices": [
            {"name": "a", "type": "gpu", "scopes": [{"name": "global", "capacity": "4 MiB"}]},
            {"name": "b", "type": "gpu", "scopes": [{"name": "global", "capacity": "4 MiB"}]}],
        "links": [)" + links + "]}";
}

TEST_CASE("pi-info shows free memory, and null for what the backend does not report") {
    const TemporaryFile machine;
    write_two_devices(machine, "");
    const std::vector<std::string> simulated = {"PI_SIM_MACHINE=" + machine.path()};
    const json document = run_json({PI_INFO, "--device", "sim", "--json"}, simulated);
    const json &device = document.at("devices").at(0);
    CHECK(device.at("free_memory") == 4 << 20);
    for (const char *key : {"vendor_id", "device_id", "clock_rate", "memory_clock_rate",
                            "memory_bus_width", "cache_size", "error_correction", "atomic_64"}) {
        CHECK(device.at(key) == nullptr);
    }
    CHECK(device.at("il_versions") == json::array());
    CHECK(contains(run_tool({PI_INFO, "--device", "sim"}, simulated).output, "4 MiB, 4 MiB free"));
}

TEST_CASE("pi-info --verify says of each connection between two places whether bytes arrived") {
    const TemporaryFile machine;
    write_two_devices(machine, R"({"between": ["a", "b"], "connection": "migratable"})");
    const std::vector<std::string> simulated = {"PI_SIM_MACHINE=" + machine.path()};
    const Ran ran = run_tool({PI_INFO, "--device", "sim", "--verify"}, simulated);
    INFO(ran.output << ran.errors);
    CHECK(ran.exit_code == 0);
    CHECK(contains(ran.output, "migratable (verified)"));
    const json document = run_json({PI_INFO, "--device", "sim", "--verify", "--json"}, simulated);
    size_t verified = 0;
    for (const json &row : document.at("connections")) {
        INFO(row);
        const bool one_place = row.at("src") == row.at("dst");
        CHECK(row.at("verified") == (one_place ? "unknown" : "yes"));
        CHECK(row.at("seen") == nullptr);
        verified += row.at("verified") == "yes" ? 1 : 0;
    }
    CHECK(verified == 2);
}

TEST_CASE("pi-info --verify finds what only kernels lose") {
    const TemporaryFile machine;
    write_two_devices(machine, R"(
            {"from": "a", "to": "b", "connection": "unified", "residency": "remote_access",
             "coherence": "coherent", "loses_pages": ["kernels"]},
            {"from": "b", "to": "a", "connection": "unified", "residency": "remote_access",
             "coherence": "coherent"})");
    const Ran ran =
        run_tool({PI_INFO, "--device", "sim", "--verify"}, {"PI_SIM_MACHINE=" + machine.path()});
    INFO(ran.output << ran.errors);
    CHECK(ran.exit_code == 1);
    CHECK(contains(ran.output, "unified (verified)"));
    CHECK(contains(ran.output, "unified (FAILED)"));
    CHECK(contains(ran.output, "read by a kernel of dst"));
}

TEST_CASE("the machine that pi-info saves is simulated with the same connections") {
    const TemporaryFile file;
    for (const char *contexts : {"shared", "own"}) {
        const Ran saved = run_tool({PI_INFO, "--save-machine", file.path()});
        INFO(saved.errors);
        REQUIRE(saved.exit_code == 0);
        const json here = run_json({PI_INFO, "--json", "--contexts", contexts});
        const json there = run_json({PI_INFO, "--json", "--contexts", contexts},
                                    {"PI_SIM_MACHINE=" + file.path(), "PI_DEVICE_SELECTOR=sim"});
        const json &devices = here.at("devices");
        REQUIRE(there.at("devices").size() == devices.size());
        for (size_t i = 0; i < devices.size(); ++i) {
            const json &device = devices[i];
            const json &again = there.at("devices")[i];
            CHECK(again.at("kind") == device.at("kind"));
            CHECK(contains(again.at("name"), device.at("name")));
        }
        const json &connections = here.at("connections");
        REQUIRE(there.at("connections").size() == connections.size());
        for (size_t i = 0; i < connections.size(); ++i) {
            INFO(connections[i]);
            CHECK(there.at("connections")[i].at("connection") == connections[i].at("connection"));
        }
    }
}

TEST_CASE("a machine that cannot be saved is an error that says why") {
    const Ran nowhere =
        run_tool({PI_INFO, "--device", "host", "--save-machine", "/nowhere/file.json"});
    CHECK(nowhere.exit_code == 1);
    CHECK(contains(nowhere.errors, "/nowhere/file.json cannot be written"));
    const TemporaryFile file;
    const Ran no_costs = run_tool({PI_INFO, "--device", "host", "--save-machine", file.path(),
                                   "--costs", "/nowhere/costs.json"});
    CHECK(no_costs.exit_code == 1);
    CHECK(contains(no_costs.errors, "/nowhere/costs.json: cannot be read"));
    CHECK(file.text() == "");
    CHECK(run_tool({PI_INFO, "--costs", file.path()}).exit_code == 2);
}

TEST_CASE("an invalid command line exits with 2") {
    CHECK(run_tool({PI_INFO, "--nonsense"}).exit_code == 2);
    CHECK(run_tool({PI_INFO, "--contexts", "some"}).exit_code == 2);
    CHECK(run_tool({PI_INFO, "--plugins", "--env"}).exit_code == 2);
    CHECK(run_tool({PI_INFO, "--help"}).exit_code == 0);
}
