// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "check.hpp"
#include "discovery.hpp"
#include "error.hpp"
#include "fixture.hpp"
#include "functions.hpp"
#include "ownership.hpp"

#include <catch2/catch.hpp>

#include <cstring>
#include <set>
#include <string>

#include <sys/stat.h>

using namespace pi::loader;

TEST_CASE("each slot of the table has one row, in the table's order") {
    std::set<std::string> names;
    for (std::size_t i = 0; i < function_rows.size(); ++i) {
        names.insert(function_rows[i].name);
        CHECK(function_rows[i].offset ==
              offsetof(pi_dispatch, piPluginGetInfo) + i * sizeof(void *));
    }
    CHECK(names.size() == function_rows.size());
}

TEST_CASE("slots that are newer than the effective version are not used") {
    pi_dispatch functions{};
    functions.struct_size = sizeof functions;
    functions.version_major = PI_VERSION_MAJOR;
    functions.piQueueFlush = [](pi_queue) -> pi_result { return 0; };
    pi_plugin_desc desc{};
    desc.functions = &functions;
    pi_dispatch table{};
    // All functions of version 1.0 exist in any plugin.
    CHECK(read_table(desc, 0, table).empty());
    CHECK(table.piQueueFlush == functions.piQueueFlush);
    const FunctionRow later[] = {
        {"piQueueFlush", "OPTIONAL", 0, false, 2, offsetof(pi_dispatch, piQueueFlush)}};
    CHECK(read_table(desc, 2, table, later).empty());
    CHECK(table.piQueueFlush == functions.piQueueFlush);
    CHECK(read_table(desc, 1, table, later).empty());
    CHECK(table.piQueueFlush == nullptr);
}

TEST_CASE("the smaller minor version is effective") {
    pi_plugin_desc desc{};
    desc.version_major = PI_VERSION_MAJOR;
    desc.version_minor = PI_VERSION_MINOR + 5;
    uint16_t minor = 99;
    CHECK(check_version(desc, minor).empty());
    // A later version may have changed what a draft adds.
    CHECK(minor == PI_VERSION_MINOR - (PI_VERSION_DRAFT != 0 ? 1 : 0));
    desc.version_minor = 0;
    CHECK(check_version(desc, minor).empty());
    CHECK(minor == 0);
}

TEST_CASE("a draft works with the same draft of the same minor version, and with no other") {
    pi_plugin_desc desc{};
    desc.version_major = PI_VERSION_MAJOR;
    desc.version_minor = PI_VERSION_MINOR;
    desc.draft = PI_VERSION_DRAFT;
    uint16_t minor = 99;
    CHECK(check_version(desc, minor).empty());
    CHECK(minor == PI_VERSION_MINOR);

    minor = 99;
    for (const auto &[version, draft] : {std::pair{PI_VERSION_MINOR, PI_VERSION_DRAFT + 1},
                                         {PI_VERSION_MINOR + 1, PI_VERSION_DRAFT + 1},
                                         {0, PI_VERSION_DRAFT + 1}}) {
        desc.version_minor = static_cast<uint16_t>(version);
        desc.draft = static_cast<uint32_t>(draft);
        INFO("1." << version << " draft " << draft);
        const std::string problem = check_version(desc, minor);
        CHECK(problem.find("1." + std::to_string(version) + "-dev") != std::string::npos);
        CHECK(problem.find("draft " + std::to_string(draft)) != std::string::npos);
    }
    if (PI_VERSION_DRAFT != 0) { // a frozen version differs from its draft
        desc.version_minor = PI_VERSION_MINOR;
        desc.draft = 0;
        CHECK_FALSE(check_version(desc, minor).empty());
    }
    CHECK(minor == 99);
}

TEST_CASE("the prefix of an installation is found from the library's folder") {
    CHECK(install_prefix("/usr/lib/x86_64-linux-gnu/libpi_loader.so.1") == "/usr");
    CHECK(install_prefix("/opt/pi/lib64/libpi_loader.so.1") == "/opt/pi");
    CHECK(install_prefix("/home/lib/build/lib/libpi_loader.so") == "/home/lib/build");
    CHECK(install_prefix("/build/out/libpi_loader.so") == "/build");
    CHECK(install_prefix("/libpi_loader.so") == "/");
}

TEST_CASE("a missing file does not pass: anyone could create it before it is opened") {
    const loader_test::TemporaryFolder folder, shared;
    std::filesystem::create_symlink(shared.str("later.so"), folder.str("link.so"));
    REQUIRE(::chmod(shared.path().c_str(), 01777) == 0);
    for (const std::string &path : {folder.str("link.so"), shared.str("later.so"),
                                    shared.str("no/such/folder.so"), folder.str("absent.so")}) {
        CAPTURE(path);
        const Resolved resolved = resolve(path);
        CHECK(resolved.missing);
        CHECK(resolved.reason == "no such file");
    }
    CHECK(resolve(folder.str("link.so")).path == shared.str("later.so"));
    shared.write("later.so", "");
    CHECK(resolve(folder.str("link.so")).reason == "");
}

TEST_CASE("an error scope hides what happens inside and keeps the text's address") {
    fail(PI_ERROR_TIMEOUT, "outside {}", 1);
    const char *text = last_error().message;
    {
        const ErrorScope scope;
        CHECK(last_error().code == PI_SUCCESS);
        fail(PI_ERROR_BACKEND, "inside");
        CHECK(scope.text(PI_ERROR_BACKEND) == "inside");
        CHECK(scope.text(PI_ERROR_UNAVAILABLE) == "PI_ERROR_UNAVAILABLE");
    }
    CHECK(last_error().code == PI_ERROR_TIMEOUT);
    CHECK(last_error().message == text);
    CHECK(std::string(text) == "outside 1");
}

TEST_CASE("an error's text may be part of the one before") {
    fail(PI_ERROR_BACKEND, "clCreateBuffer: CL_OUT_OF_RESOURCES");
    fail_text(PI_ERROR_OUT_OF_RESOURCES, last_error().message + std::strlen("clCreateBuffer: "));
    CHECK(std::string(last_error().message) == "CL_OUT_OF_RESOURCES");
    const std::string large(5000, 'x');
    fail_text(PI_ERROR_BACKEND, large);
    CHECK(last_error().message == large);
}
