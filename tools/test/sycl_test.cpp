// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// pi-sycl as a user runs it, with adapters and loaders of Unified Runtime that stand in for real
// ones.
#include "skip.hpp"
#include "tool.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <string>
#include <vector>

using namespace pi_test;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

/// An installation in a folder of that name.
class Installed {
public:
    explicit Installed(const std::string &name = "pi", const std::string &libraries = "lib")
        : root_(folder_.path() / name), libraries_(root_ / libraries) {
        fs::create_directories(root_ / "bin");
        fs::create_directories(libraries_);
        fs::copy_file(PI_SYCL, root_ / "bin/pi-sycl");
        fs::copy_file(PI_TEST_FAKE_ADAPTER, adapter());
    }

    std::string adapter() const { return (libraries_ / "libur_adapter_pi.so").string(); }

    Ran run(std::vector<std::string> arguments, std::vector<std::string> environment = {}) const {
        arguments.insert(arguments.begin(), (root_ / "bin/pi-sycl").string());
        environment.insert(environment.begin(), {"VIRTUAL_ENV=", "CONDA_PREFIX="});
        return run_tool(arguments, environment);
    }

private:
    TemporaryFolder folder_;
    fs::path root_;
    fs::path libraries_;
};

/// A shell that prints what it got.
std::vector<std::string> shell(const std::string &script) {
    return {"sh", "-c", script, "sh"};
}

std::vector<std::string> devices_of(const std::string &loader) {
    return {"--devices", "--ur-loader", loader};
}

} // namespace

TEST_CASE("a command runs with the adapter beside pi-sycl, its own arguments and its exit code") {
    const Installed installed;
    for (const bool separated : {false, true}) {
        std::vector<std::string> command =
            shell("printf '<%s>' \"$UR_ADAPTERS_FORCE_LOAD\" \"$@\"; exit 5");
        command.insert(command.end(), {"--devices", "--version", "", "{}", "[1,2]", "--", "-x"});
        if (separated)
            command.insert(command.begin(), "--");
        const Ran ran = installed.run(command, {"UR_ADAPTERS_FORCE_LOAD=other.so"});
        CHECK(ran.exit_code == 5);
        CHECK(ran.output ==
              '<' + installed.adapter() + "><--devices><--version><><{}><[1,2]><--><-x>");
        CHECK(ran.errors.empty());
    }
}

TEST_CASE("the adapter of an installation is in its library folder") {
    const Installed installed("pi", PI_SYCL_LIBRARIES);
    CHECK(installed.run(shell("printf %s \"$UR_ADAPTERS_FORCE_LOAD\"")).output ==
          installed.adapter());
}

TEST_CASE("a command that cannot run has the exit code of env(1)") {
    const Installed installed;
    const Ran unknown = installed.run({"no-such-command-of-pi"});
    CHECK(unknown.exit_code == 127);
    CHECK_THAT(unknown.errors, Contains("no-such-command-of-pi"));
    const TextFile text("not a program");
    const Ran refused = installed.run({text.path()});
    CHECK(refused.exit_code == 126);
    CHECK_THAT(refused.errors, Contains(text.path()));
}

TEST_CASE("nothing runs without an adapter, or with one that Unified Runtime cannot name") {
    const Installed without;
    fs::remove(without.adapter());
    const Installed comma("a,b");
    for (const auto &command : {shell("echo ran"), devices_of(PI_TEST_UR_LOADER)}) {
        const Ran missing = without.run(command);
        CHECK(missing.exit_code == 125);
        CHECK(missing.output.empty());
        CHECK_THAT(missing.errors, Contains("libur_adapter_pi.so"));
        const Ran named = comma.run(command);
        CHECK(named.exit_code == 125);
        CHECK(named.output.empty());
        CHECK_THAT(named.errors, Contains(comma.adapter()) && Contains("comma"));
    }
}

TEST_CASE("--devices lists platforms and devices, numbered as SYCL numbers them") {
    const Installed installed;
    const Ran ran = installed.run(devices_of(PI_TEST_UR_LOADER));
    INFO(ran.errors);
    CHECK(ran.exit_code == 0);
    CHECK(ran.output == "Unified Runtime 0.12: " PI_TEST_UR_LOADER "\n"
                        "adapter: " +
                            installed.adapter() +
                            "\n\n"
                            "First\\x0aplatform (opencl, version 1)\n"
                            "  opencl:0  cpu  A processor, driver 7.5\n"
                            "  opencl:1  custom  Another, driver 7.5\n"
                            "Second (cuda, version 1)\n"
                            "  cuda:2  cpu  A processor, driver 7.5\n"
                            "  cuda:3  custom  Another, driver 7.5\n");
}

TEST_CASE("--devices opens the loader of an activated Python environment") {
    const Installed installed;
    const TemporaryFolder environment;
    const fs::path loader = environment.path() / "lib/libur_loader.so.0";
    fs::create_directory(loader.parent_path());
    fs::copy_file(PI_TEST_UR_LOADER, loader);
    const std::string name = GENERATE("VIRTUAL_ENV", "CONDA_PREFIX");
    const Ran ran = installed.run({"--devices"}, {name + '=' + environment.path().string()});
    INFO(ran.errors);
    CHECK(ran.exit_code == 0);
    CHECK_THAT(ran.output, Contains("Unified Runtime 0.12: " + loader.string()));
}

TEST_CASE("--devices fails without a loader, without an adapter in it, and without devices") {
    const Installed installed;
    const auto message = [&](const std::string &loader) {
        const Ran ran = installed.run(devices_of(loader));
        CHECK(ran.exit_code == 1);
        return ran.errors;
    };
    CHECK_THAT(message("/nowhere/libur_loader.so.0"),
               Contains("/nowhere/libur_loader.so.0") && Contains("--ur-loader"));
    CHECK_THAT(message(PI_TEST_OTHER_UR_LOADER),
               Contains(PI_TEST_OTHER_UR_LOADER) && Contains("not Unified Runtime 0.12"));
    CHECK_THAT(message(PI_TEST_REFUSING_UR_LOADER), Contains("refused PI's adapter"));
    CHECK_THAT(message(PI_TEST_EMPTY_UR_LOADER), Contains("no device for SYCL"));
}

TEST_CASE("Unified Runtime opens the adapter, whatever characters its path has") {
    const std::string real = PI_TEST_REAL_UR_LOADER;
    if (real.empty()) {
        skip("DPC++'s SYCL runtime is not installed (scripts/setup --sycl)");
        return;
    }
    for (const char *const name : {"pi", "a:b;c", "a b", "a'b\"c"}) {
        const Installed installed(name);
        const Ran ran = installed.run(devices_of(real));
        INFO(name);
        CHECK(ran.exit_code == 1);
        CHECK_THAT(ran.errors, Contains("the adapter was opened") && Contains("urAdapterGet"));
    }
}
