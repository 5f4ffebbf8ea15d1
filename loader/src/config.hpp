// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options: the list of environment variables, unlisted variables of plugins, and the values of one
// loader. The environment is read only here, once, when a loader is created.
#pragma once

#include <pi/pi_loader.h>
#include <pi/pi_plugin.h>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pi::loader {

/// A row of the list.
struct Variable {
    const char *name;
    const char *type;
    const char *description;
    /// Whether a non-empty value is valid; nullptr: any value is.
    bool (*valid)(std::string_view value);
    const char *allowed; ///< the valid values, for messages
    /// Used instead of both for values with parts: returns "" or what is wrong.
    std::string (*problem)(std::string_view value) = nullptr;
};

std::span<const Variable> variables() noexcept;

/// The options of one loader; immutable once created.
class Configuration {
public:
    /// Sets an option from a descriptor; an empty value unsets it and hides the environment's.
    /// Returns "" or why the value is invalid.
    std::string set(std::string_view name, std::string_view value);

    /// Reads the listed variables that are not set yet, and unlisted ones that may belong to a
    /// plugin. A malformed value is ignored and reported in `warnings`. A set-uid process reads
    /// nothing.
    void read_environment(std::vector<std::string> &warnings);

    /// nullptr when not set. The pointer lives as long as the object.
    const char *get(std::string_view name) const noexcept;

    /// The value for a plugin of that name: as get(), but of unlisted variables only
    /// PI_<PLUGIN>_<OPTION>, with the plugin's name in capitals. The pointer lives as long as the
    /// object.
    const char *get_for(std::string_view plugin, std::string_view name) const noexcept;

    /// The file of verified connections; "": none.
    std::string verified_file() const;

    std::vector<std::string> get_list(std::string_view name, char separator) const;

private:
    using Values = std::map<std::string, std::string, std::less<>>;
    Values values_;
    Values unlisted_;          ///< from the environment
    std::string cache_folder_; ///< of this user; "" without the environment
};

/// "warning" is PI_LOG_WARNING.
std::optional<pi_log_level> parse_log_level(std::string_view text) noexcept;

} // namespace pi::loader
