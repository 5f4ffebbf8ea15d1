// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options: the one list of environment variables, those of plugins that are not in it, and what is in force in one
// loader. The environment is read here, once, when a loader is made, and nowhere else.
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
    /// Whether a value that is not empty can be understood; nullptr: any can.
    bool (*valid)(std::string_view value);
    const char *allowed; ///< what a valid value is, for messages
    /// Instead of both: "" or what is wrong with a value, for those that have parts.
    std::string (*problem)(std::string_view value) = nullptr;
};

std::span<const Variable> variables() noexcept;

/// The options of one loader; immutable once made.
class Configuration {
public:
    /// Sets an option, as a description does; an empty value unsets it and hides the environment's.
    /// Returns "" or why the value cannot be understood.
    std::string set(std::string_view name, std::string_view value);

    /// Reads the listed variables that are not set yet, and any others that a plugin may call its own. A malformed value
    /// is left out and told in `warnings`. A set-uid process reads nothing.
    void read_environment(std::vector<std::string> &warnings);

    /// nullptr when not set. The pointer lives as long as the object.
    const char *get(std::string_view name) const noexcept;

    /// What a plugin of that name is told: as get(), and of variables that are not listed PI_<PLUGIN>_<OPTION> alone, with
    /// the plugin's name in capitals. The pointer lives as long as the object.
    const char *get_for(std::string_view plugin, std::string_view name) const noexcept;

    /// Where verified connections are kept; "": nowhere.
    std::string verified_file() const;

    std::vector<std::string> get_list(std::string_view name, char separator) const;

private:
    using Values = std::map<std::string, std::string, std::less<>>;
    Values values_;
    Values unlisted_;          ///< of the environment
    std::string cache_folder_; ///< of this user; "" without the environment
};

/// "warning" to PI_LOG_WARNING.
std::optional<pi_log_level> parse_log_level(std::string_view text) noexcept;

} // namespace pi::loader
