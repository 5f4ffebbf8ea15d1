// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pi::suite {

/// The command line.
struct Options {
    std::string plugin;
    std::string device;
    std::string filter;
    std::vector<std::string> areas;
    uint64_t seed = 0;
    std::string json_file;
    std::string junit_file;
    std::string html_file;
    unsigned jobs = 1;
    /// How often each test is run.
    unsigned repeat = 1;
    /// Devices that must be among those tested.
    std::vector<std::string> required;
    /// Files of expectations, in the order of the command line.
    std::vector<std::string> expect_files;
    unsigned timeout = 180;
    bool list = false;
    /// Starts no test after a failure.
    bool fail_fast = false;

    /// Runs this test in this process, for a debugger.
    std::string run_test;
    /// The second device of a test of pairs, and whether both share a context.
    std::string peer;
    unsigned contexts = 1;

    /// For child processes of this program: writes the devices, or a test's result, to this
    /// descriptor.
    bool discover = false;
    int result_fd = -1;
};

/// Reads the command line. Without a value the program must end with `exit_code`: 0 after help, 2
/// after an error, which is printed on standard error.
std::optional<Options> parse_options(int argc, char **argv, int &exit_code);

} // namespace pi::suite
