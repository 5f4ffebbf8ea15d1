// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Queries of a Level Zero driver: valid calls, and calls with one error each.
#pragma once

#include <level_zero/ze_api.h>

#include <string>
#include <vector>

namespace level_zero_vendor_test {

/// A driver, with a context and its first device.
struct Driver {
    explicit Driver(ze_driver_handle_t handle);
    Driver(const Driver &) = delete;
    ~Driver();

    ze_driver_handle_t driver = nullptr;
    ze_context_handle_t context = nullptr;
    ze_device_handle_t device = nullptr;
    std::string device_name;
};

/// Frequent reasons for a difference.
constexpr const char *as_specified =
    "ours answers what the specification says, the vendor's is laxer or has a code of its own";
constexpr const char *only_recorded =
    "the vendor's only records commands here: nothing is waited for, and there is no clock";

struct Query {
    const char *text;
    std::string (*ask)(const Driver &driver);
    /// Why the simulated driver's answer differs from the vendor's; null if it must not.
    const char *difference = nullptr;
};

const std::vector<Query> &memory_queries();
const std::vector<Query> &event_queries();
const std::vector<Query> &list_queries();
const std::vector<Query> &program_queries();
const std::vector<Query> &image_queries();

/// A result as text: the name of the relevant ones, otherwise the number.
std::string name_of(ze_result_t result);
/// Several results in a row.
std::string names_of(const std::vector<ze_result_t> &results);

} // namespace level_zero_vendor_test
