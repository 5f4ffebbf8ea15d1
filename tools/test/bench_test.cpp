// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// pi-bench as a user runs it. The figures are not judged: only that there are some.
#include "skip.hpp"
#include "tool.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace pi_test;
using nlohmann::json;

namespace {

/// The rows of a benchmark, measured quickly.
json bench(const std::string &name, const std::string &filter,
           const std::vector<std::string> &environment = {}) {
    const TemporaryFile file;
    const Ran ran = run_tool({PI_BENCH, name, "--quick", "--filter", filter, "--json", file.path()},
                             environment);
    INFO(ran.output);
    INFO(ran.errors);
    REQUIRE(ran.exit_code == 0);
    json document = json::parse(file.text());
    CHECK(document.at("machine").get<std::string>() != "");
    CHECK(document.at("date").get<std::string>().size() ==
          std::string("2026-01-01T00:00:00Z").size());
    REQUIRE(document.at("rows").is_array());
    for (const json &row : document.at("rows")) {
        INFO(row);
        // The table and the JSON have the same rows.
        CHECK(ran.output.find(row.at("name").get<std::string>()) != std::string::npos);
        CHECK(ran.output.find(row.at("limit_name").get<std::string>()) != std::string::npos);
        for (const char *key : {"ours", "limit", "ratio"}) {
            const auto value = row.at(key).get<double>();
            CHECK(std::isfinite(value));
            CHECK(value > 0);
        }
        const auto unit = row.at("unit").get<std::string>();
        CHECK((unit == "ns" || unit == "us" || unit == "ms" || unit == "MiB"));
    }
    return document.at("rows");
}

std::vector<std::string> names(const json &rows) {
    std::vector<std::string> result;
    for (const json &row : rows) {
        result.push_back(row.at("name"));
    }
    return result;
}

} // namespace

TEST_CASE("pi-bench calls measures exported calls against a stub") {
    const auto measured = names(bench("calls", ""));
    for (const char *name :
         {"exported call, 1 plugin", "exported call of 4 arguments, 1 plugin",
          "exported call, 1 plugin, against a bare call", "exported call, 3 plugins in turn",
          "exported call with the layer validate", "exported call with the layer fault",
          "exported call with the layer leak-origin", "exported call with the layer race",
          "exported call through pi.hpp", "exported call through pi.hpp, without exceptions",
          "host event created and released by pi.hpp"}) {
        CHECK(std::count(measured.begin(), measured.end(), name) == 1);
    }
}

TEST_CASE("pi-bench calls measures the ICD loader's calls where there is one") {
    if (!PI_TEST_HAVE_OPENCL) {
        skip("built without OpenCL");
        return;
    }
    CHECK(names(bench("calls", "^exported call, against the ICD loader's$")).size() == 1);
}

TEST_CASE("pi-bench plugin measures the host plugin against memcpy") {
    CHECK(names(bench("plugin", "^host: copy of 64 KiB$")) ==
          std::vector<std::string>{"host: copy of 64 KiB"});
}

TEST_CASE("pi-bench plugin measures an OpenCL device against plain OpenCL") {
    if (!PI_TEST_HAVE_OPENCL) {
        skip("built without OpenCL");
        return;
    }
    CHECK(names(bench("plugin", "^OpenCL: (blocking write of 64 bytes$|copy of 64 KiB|launch.* 3 "
                                "arguments, and wait$)")) ==
          std::vector<std::string>{"OpenCL: blocking write of 64 bytes",
                                   "OpenCL: copy of 64 KiB, and wait",
                                   "OpenCL: launch of 64 work-items with 3 arguments, and wait"});
}

TEST_CASE("pi-bench start measures processes") {
    if (!PI_TEST_HAVE_OPENCL) {
        skip("built without OpenCL");
        return;
    }
    CHECK(names(bench("start", "alone")) ==
          std::vector<std::string>{"start to the first OpenCL device, its plugin alone"});
}

TEST_CASE("pi-bench runtime measures the host runtime against memcpy") {
    const auto measured = names(bench("runtime", "acquire and release|4 of 64 MiB"));
    CHECK(std::count_if(measured.begin(), measured.end(), [](const std::string &name) {
              return name.find("up to date, at host") != std::string::npos;
          }) >= 2);
    CHECK(std::any_of(measured.begin(), measured.end(), [](const std::string &name) {
        return name.find("4 of 64 MiB written at the host") != std::string::npos;
    }));
}

TEST_CASE("pi-bench runtime measures against StarPU, or says why not") {
    if (!PI_TEST_HAVE_OPENCL) {
        skip("built without OpenCL");
        return;
    }
    const Ran ran = run_tool({PI_BENCH, "runtime", "--quick", "--filter", "against StarPU"});
    INFO(ran.output + ran.errors);
    const bool measured = ran.output.find("MiB a round, ours moves 0") != std::string::npos;
    const bool left_out = ran.output.find("not measured: ") != std::string::npos;
    CHECK(ran.output.find("against StarPU") != std::string::npos);
    CHECK(measured != left_out);
    CHECK(ran.exit_code == (measured ? 0 : 1));
}

TEST_CASE("pi-bench calibrate writes the costs of links, which the host runtime then uses") {
    const TemporaryFile costs;
    const std::vector<std::string> environment{"PI_DEVICE_SELECTOR=host"};
    const Ran ran =
        run_tool({PI_BENCH, "calibrate", "--quick", "--costs", costs.path()}, environment);
    INFO(ran.output + ran.errors);
    REQUIRE(ran.exit_code == 0);
    CHECK(ran.output.find("host -> host:0:0, 64 KiB") != std::string::npos);
    const json document = json::parse(costs.text());
    CHECK(document.at("format") == "pi costs");
    REQUIRE(document.at("links").size() >= 2);
    for (const json &link : document.at("links")) {
        CHECK(link.at("costs").at(0).at("bandwidth").get<double>() > 0);
    }
    const auto use = [&](const std::vector<std::string> &with) {
        return run_tool({PI_BENCH, "runtime", "--quick", "--filter", "acquire.*at host$", "--costs",
                         costs.path()},
                        with);
    };
    CHECK(use(environment).output.find("not used") == std::string::npos);
    if (PI_TEST_HAVE_OPENCL) {
        const Ran elsewhere = use({});
        CHECK(elsewhere.exit_code == 0);
        CHECK(elsewhere.output.find("measured on another machine") != std::string::npos);
    }
}

#ifdef PI_TEST_SIMULATED_CUDA
TEST_CASE("pi-bench cuda measures the plugin against plain driver calls") {
    const auto measured = names(bench("cuda", "", {"PI_CUDA_LIBRARY=" PI_TEST_SIMULATED_CUDA}));
    for (const char *name :
         {"CUDA: launch of an empty kernel, and wait",
          "CUDA: launch of an empty kernel, many in a row",
          "CUDA: blocking write of 64 bytes, pinned", "CUDA: blocking write of 64 bytes",
          "CUDA: pinned write of 64 MiB", "CUDA: pinned read of 64 MiB",
          "CUDA: pageable write of 64 MiB", "CUDA: pageable read of 64 MiB",
          "CUDA: copy within the device of 64 MiB", "CUDA: fill of 64 MiB",
          "CUDA: bounce of 64 MiB between two contexts", "CUDA: memory of a copy of 1 Mi regions",
          "CUDA: 1 Mi rows of one byte within a buffer, apart",
          "CUDA: 1 Mi rows of one byte between USM",
          "CUDA: allocation of 1 MiB from a pool, free, and wait"}) {
        CHECK(std::count(measured.begin(), measured.end(), name) == 1);
    }
}
#endif

#ifdef PI_TEST_SIMULATED_LEVEL_ZERO
TEST_CASE("pi-bench level_zero measures the plugin against plain driver calls") {
    const auto measured =
        names(bench("level_zero", "", {"ZE_ENABLE_ALT_DRIVERS=" PI_TEST_SIMULATED_LEVEL_ZERO}));
    for (const char *name :
         {"Level Zero: launch of an empty kernel, and wait",
          "Level Zero: launch of an empty kernel, many in a row",
          "Level Zero: launch of an empty kernel with an event, and wait for that",
          "Level Zero: blocking write of 64 bytes", "Level Zero: blocking read of 64 bytes",
          "Level Zero: blocking copy of 64 bytes", "Level Zero: copy of 64 bytes, and wait",
          "Level Zero: copy of 64 bytes, many in a row", "Level Zero: fill of 64 bytes, and wait",
          "Level Zero: memory of a copy of 1 Mi regions",
          "Level Zero: 1 Mi rows of one byte within USM, in the gaps between the rows",
          "Level Zero: 1 Mi rows of one byte between contexts, odd row pitches",
          "Level Zero: USM of 64 KiB, allocated and freed",
          "Level Zero: buffer of 64 KiB, created and released"}) {
        CHECK(std::count(measured.begin(), measured.end(), name) == 1);
    }
}
#endif

TEST_CASE("rows that cannot be measured are listed with the reason") {
    const Ran ran =
        run_tool({PI_BENCH, "start", "--quick"}, {"PI_OPENCL_LIBRARY=/nowhere/libOpenCL.so"});
    INFO(ran.output);
    CHECK(ran.exit_code == 1);
    CHECK(ran.output.find("not measured: ") != std::string::npos);
    if (PI_TEST_HAVE_OPENCL) {
        CHECK(ran.output.find("/nowhere/libOpenCL.so") != std::string::npos);
    }
}

TEST_CASE("a filter without matches is an error, an invalid filter another") {
    const Ran none = run_tool({PI_BENCH, "calls", "--quick", "--filter", "no such row"});
    CHECK(none.exit_code == 1);
    CHECK(none.errors.find("no such row") != std::string::npos);
    const Ran wrong = run_tool({PI_BENCH, "calls", "--quick", "--filter", "("});
    CHECK(wrong.exit_code == 2);
    CHECK(wrong.errors.find("--filter \"(\"") != std::string::npos);
}

TEST_CASE("an unknown benchmark is an error that lists the known ones") {
    const Ran ran = run_tool({PI_BENCH, "nothing"});
    CHECK(ran.exit_code == 2);
    CHECK((ran.output + ran.errors).find("calls") != std::string::npos);
}

TEST_CASE("an unwritable file is an error before any measurement") {
    const Ran ran = run_tool({PI_BENCH, "calls", "--quick", "--json", "/nowhere/rows.json"});
    CHECK(ran.exit_code == 1);
    CHECK(ran.output == "");
    CHECK(ran.errors.find("/nowhere/rows.json") != std::string::npos);
}
