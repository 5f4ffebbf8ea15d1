// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of a program of PI, declared once: a CLI::App with its options, and a Page with
// the rest. --help, the man page and the shell completions are all generated from these two, so
// they always agree.
//
// The completion of an option's value comes from its help: `a|b|c` as the type's name, or
// CLI::IsMember. A type whose name contains FILE or PATH is completed by files,
// one with the name [ARGUMENT...] by commands.
//
// Two options are for the build only, and in no help: `--help-man` prints the man page, and
// `--help-completion SHELL` the completion of bash, zsh or fish.
#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

namespace pi::command_line {

struct Term {
    std::string word;
    std::string meaning;
};

struct Section {
    std::string title;       ///< "Selectors"
    std::string text;        ///< sentences without line breaks, wrapped on output; "" = none
    std::vector<Term> terms; ///< a list under the text
};

struct ExitCode {
    int code;
    std::string when; ///< "invalid command line"
};

/// The exit code of every program of PI for a wrong command line; the reason goes to standard
/// error.
inline constexpr int misunderstood = 2;

struct Page {
    std::string name;    ///< of the program
    std::string summary; ///< "lists plugins": a clause, without a full stop
    std::vector<Section> sections;
    std::vector<ExitCode> exit_codes;  ///< all of them
    std::vector<Term> examples;        ///< a command, and what it does
    std::vector<std::string> see_also; ///< names of programs with a page
};

/// Sets up an App for the page: its help and, as for all programs, --version.
void describe(CLI::App &app, const Page &page);

/// Reads the command line into the variables of the App's options. If it returns a value, the
/// program must exit with it: help was printed (0), or the usage is wrong and reported on standard
/// error (misunderstood).
std::optional<int> parse(CLI::App &app, const Page &page, int argc, const char *const *argv);

/// The page of section 1, as troff with the man macros.
std::string man_page(const CLI::App &app, const Page &page);

/// `shell`: "bash", "zsh" or "fish"; else std::invalid_argument.
std::string completion(const CLI::App &app, const Page &page, const std::string &shell);

} // namespace pi::command_line
