// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "config.hpp"

#include <pi/sdk/error.hpp>

#include <charconv>
#include <cstring>

namespace pi::host {

namespace {

constexpr unsigned max_threads = 4096;

std::optional<unsigned> read_threads(const pi_host *host) {
    const char *value = host->get_option(host, "PI_HOST_THREADS");
    if (!value)
        return std::nullopt;
    unsigned threads = 0;
    const char *end = value + std::strlen(value);
    const auto [rest, error] = std::from_chars(value, end, threads);
    if (error == std::errc() && rest == end && threads >= 1 && threads <= max_threads)
        return threads;
    host->log(host, PI_LOG_WARNING,
              sdk::text("PI_HOST_THREADS is \"", value, "\"; a number from 1 to ", max_threads,
                        " is needed: using one thread for each core")
                  .c_str());
    return std::nullopt;
}

} // namespace

Config read_config(const pi_host *host) {
    return {.threads = read_threads(host)};
}

} // namespace pi::host
