// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine code of the exported functions, and the list of exports.

#include "fixture.hpp"
#include "skip.hpp"

#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <sstream>

namespace {

std::string run(const std::string &command) {
    const std::unique_ptr<FILE, int (*)(FILE *)> pipe(::popen(command.c_str(), "r"), &::pclose);
    REQUIRE(pipe != nullptr);
    std::string output;
    char buffer[4096];
    for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe.get())) > 0;)
        output.append(buffer, n);
    return output;
}

bool has_tool(const std::string &name) {
    return !run("command -v " + name + " 2>/dev/null").empty();
}

std::set<std::string> dispatching() {
    return {
#define PI_FUNCTION(name, group, needs, since) #name,
#include <pi/pi_functions.def>
    };
}

// As nm prints them: each with the version of the interface that added it.
std::set<std::string> exported() {
    std::map<std::string, int> since = {
#define PI_FUNCTION(name, group, needs, since) {#name, since},
#define PI_LOADER_FUNCTION(name, since) {#name, since},
#include <pi/pi_functions.def>
        {"piLoaderCreate", 0},          {"piLoaderRetain", 0},
        {"piLoaderRelease", 0},         {"piLoaderGetReports", 0},
        {"piLoaderSelectDevices", 0},   {"piLoaderGetDeviceSelector", 0},
        {"piLoaderGetEnvironment", 0},  {"piLoaderGetCallCounts", 0},
        {"piVerifyMemoryConnection", 1}};
    const std::string version = "PI_" + std::to_string(PI_VERSION_MAJOR) + ".";
    std::set<std::string> names;
    for (const auto &[name, minor] : since)
        names.insert(name + "@@" + version + std::to_string(minor));
    return names;
}

// The instructions of each function of the library, by name.
std::map<std::string, std::vector<std::string>> disassemble() {
    std::istringstream output(run("objdump -d --no-show-raw-insn '" PI_LOADER_FILE "'"));
    std::map<std::string, std::vector<std::string>> functions;
    std::string current;
    for (std::string line; std::getline(output, line);) {
        if (!line.empty() && line.back() == ':' && line.find('<') != std::string::npos) {
            const std::size_t begin = line.find('<') + 1;
            current = line.substr(begin, line.rfind('>') - begin);
        } else if (const std::size_t tab = line.find('\t'); tab != std::string::npos) {
            functions[current].push_back(line.substr(tab + 1));
        }
    }
    return functions;
}

} // namespace

TEST_CASE("every dispatching function is a jump through its slot and calls nothing") {
#if !defined(__x86_64__)
    pi_test::skip("reads x86-64 instructions");
    return;
#endif
    if (std::string(PI_TEST_SANITIZE) != "") {
        pi_test::skip("sanitizers put calls into every function");
        return;
    }
    if (!has_tool("objdump")) {
        pi_test::skip("objdump is not installed");
        return;
    }
    const auto functions = disassemble();
    for (const std::string &name : dispatching()) {
        CAPTURE(name);
        const auto found = functions.find(name);
        REQUIRE(found != functions.end());
        std::size_t indirect_jumps = 0;
        for (const std::string &instruction : found->second) {
            CAPTURE(instruction);
            CHECK(instruction.rfind("call", 0) == std::string::npos);
            CHECK(instruction.rfind("ret", 0) == std::string::npos);
            CHECK(instruction.rfind("push", 0) == std::string::npos);
            if (instruction.rfind("jmp", 0) == 0 && instruction.find('*') != std::string::npos)
                ++indirect_jumps;
        }
        CHECK(indirect_jumps == 1);
    }
}

TEST_CASE(
    "the library exports the functions of the headers, with their versions, and nothing else") {
    if (!has_tool("nm")) {
        pi_test::skip("nm is not installed");
        return;
    }
    std::istringstream output(run("nm -D --defined-only '" PI_LOADER_FILE "'"));
    std::set<std::string> names;
    for (std::string address, type, name; output >> address >> type >> name;)
        if (type != "A") // some linkers add symbols for the versions
            names.insert(name);
    CHECK(names == exported());
}
