// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace pi_test {

struct Ran {
    int exit_code = -1;
    std::string output; ///< standard output
    std::string errors; ///< standard error
};
/// Runs a program to its end, with `environment` ("NAME=value") added. It is killed after 200
/// seconds; its exit code is then 124.
Ran run(const std::vector<std::string> &command, const std::vector<std::string> &environment = {});

/// Runs a program and parses its output; fails the test unless it exited with `exit_code`.
nlohmann::json run_json(const std::vector<std::string> &command,
                        const std::vector<std::string> &environment = {}, int exit_code = 0);

/// A file's name in a temporary folder, which is deleted with the object.
class TemporaryFile {
public:
    TemporaryFile();
    ~TemporaryFile();
    TemporaryFile(const TemporaryFile &) = delete;
    TemporaryFile &operator=(const TemporaryFile &) = delete;
    std::string path() const { return folder_ + "/file"; }
    /// "" if there is no such file.
    std::string content() const;

private:
    std::string folder_;
};

} // namespace pi_test
