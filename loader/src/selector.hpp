// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Devices by name: "opencl:0:1,host".
#pragma once

#include <pi/pi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pi::loader {

/// One element of a selector; omitted parts match any.
struct SelectorElement {
    std::string text; ///< as written
    std::string plugin;
    std::optional<uint32_t> platform;
    std::optional<uint32_t> device;

    bool names(std::string_view name) const { return plugin == "*" || plugin == name; }
};

/// Returns "" or what is wrong.
std::string parse_selector(std::string_view text, std::vector<SelectorElement> &out);

/// A root device of a loader.
struct NamedDevice {
    pi_device device;
    std::string plugin;
    uint32_t platform_index;
    uint32_t device_index;

    std::string selector() const;
    bool matches(const SelectorElement &element) const;
};

} // namespace pi::loader
