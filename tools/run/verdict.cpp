// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "verdict.hpp"

#include "statement.hpp"

#include <pi/pi.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace pi_run {

std::string last_error() {
    const char *text = "";
    piGetLastError(nullptr, &text);
    return text;
}

std::string name_of_code(pi_result result) {
    const std::string name = pi::result_name(result);
    const std::string_view prefix = name.starts_with("PI_ERROR_") ? "PI_ERROR_" : "PI_";
    return name.substr(prefix.size());
}

void require_success(pi_result result, const std::string &what) {
    if (result == PI_ERROR_UNSUPPORTED_FEATURE)
        throw Unsupported(fmt::format("{}: {}", what, last_error()));
    if (result != PI_SUCCESS)
        throw Failure(fmt::format("{}: {}: {}", what, name_of_code(result), last_error()));
}

void require_equal(const std::string &what, uint64_t offset,
                   std::span<const unsigned char> expected, std::span<const unsigned char> bytes) {
    std::size_t first = expected.size(), different = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        if (expected[i] != bytes[i]) {
            first = std::min(first, i);
            ++different;
        }
    }
    if (different == 0)
        return;
    std::string text = text_of_bytes(bytes.first(std::min<std::size_t>(bytes.size(), 1 << 16)));
    if (text.size() > 160)
        text = text.substr(0, 160) + "...";
    throw Failure(fmt::format("{}: byte {} is {:02x}, should be {:02x}; {} of {} bytes differ; "
                              "there is {}",
                              what, offset + first, bytes[first], expected[first], different,
                              expected.size(), text));
}

} // namespace pi_run
