// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Properties of the App's options, for man pages and completions.
#pragma once

#include <pi/command_line/command_line.hpp>

#include <algorithm>
#include <cctype>
#include <sstream>

namespace pi::command_line {

/// The options in the help, positional ones last.
inline std::vector<const CLI::Option *> shown_options(const CLI::App &app) {
    std::vector<const CLI::Option *> options =
        app.get_options([](const CLI::Option *option) { return !option->get_group().empty(); });
    std::stable_partition(options.begin(), options.end(),
                          [](const CLI::Option *option) { return !option->get_positional(); });
    return options;
}

inline bool takes_value(const CLI::Option &option) {
    return option.get_items_expected_max() > 0;
}

inline bool is_repeatable(const CLI::Option &option) {
    return option.get_items_expected_max() > 1 ||
           option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
}

/// "-h", "--help".
inline std::vector<std::string> names_of(const CLI::Option &option) {
    std::vector<std::string> names;
    for (const std::string &name : option.get_snames()) {
        names.push_back("-" + name);
    }
    for (const std::string &name : option.get_lnames()) {
        names.push_back("--" + name);
    }
    return names;
}

/// "FILE" from "FILE:{...}".
inline std::string type_of(const CLI::Option &option) {
    const std::string type = option.get_type_name();
    return type.substr(0, type.find(':'));
}

inline bool takes_file(const CLI::Option &option) {
    const std::string type = type_of(option);
    return type.find("FILE") != std::string::npos || type.find("PATH") != std::string::npos;
}

/// A command with arguments of its own, as of env(1).
inline bool takes_command(const CLI::Option &option) {
    return type_of(option) == "[ARGUMENT...]";
}

/// The values that the option's help lists; empty if any value is allowed.
inline std::vector<std::string> values_of(const CLI::Option &option) {
    const std::string type = option.get_type_name();
    const size_t open = type.find('{');
    const size_t close = type.find('}', open);
    std::string list;
    char separator = '|';
    if (open != std::string::npos && close != std::string::npos) {
        list = type.substr(open + 1, close - open - 1);
        separator = ',';
    } else if (type.find(separator) != std::string::npos) {
        list = type_of(option);
    }
    std::vector<std::string> values;
    std::istringstream stream(list);
    for (std::string value; std::getline(stream, value, separator);) {
        values.push_back(value);
    }
    return values;
}

/// "Lists plugins." from "lists plugins".
inline std::string sentence(std::string clause) {
    if (!clause.empty()) {
        clause[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(clause[0])));
        clause += clause.back() == '.' ? "" : ".";
    }
    return clause;
}

/// The value's name in a usage line, where a list of values would be too long.
inline std::string metavariable(const CLI::Option &option) {
    const std::string type = type_of(option);
    return type.empty() ? option.get_name(true) : type;
}

} // namespace pi::command_line
