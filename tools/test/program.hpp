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
/// Runs a program to its end, which `environment` ("NAME=value") is added to. One that takes 200 seconds
/// is killed; its exit code is then 124.
Ran run(const std::vector<std::string> &command, const std::vector<std::string> &environment = {});

/// Runs a program and reads what it printed; fails the test unless it ended with `exit_code`.
nlohmann::json run_json(const std::vector<std::string> &command,
                        const std::vector<std::string> &environment = {}, int exit_code = 0);

/// A file's name in a folder of its own, which goes with the object.
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
