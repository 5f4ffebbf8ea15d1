// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of a program of PI, declared once: a CLI::App with its options, and a Page with the rest. --help,
// the man page and the completion of shells are all made of these two, so none of them can say anything else.
//
// What an option's value may be is in its help, and there the completion finds it: `a|b|c` as the type's name, or
// CLI::IsMember. A type whose name has FILE or PATH in it is completed by files.
//
// Two options are for the build alone, and in no help: `--help-man` prints the man page, and `--help-completion SHELL`
// the completion of bash, zsh or fish.
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
    std::string title; ///< "Selectors"
    std::string
        text; ///< sentences without line breaks; "" = none. They are broken where they are shown
    std::vector<Term> terms; ///< a list under the text
};

struct ExitCode {
    int code;
    std::string when; ///< "the command line was not understood"
};

/// The exit code of every program of PI whose command line is wrong; why stands on standard error.
inline constexpr int misunderstood = 2;

struct Page {
    std::string name;    ///< of the program
    std::string summary; ///< "tells which plugins there are": a clause, without a full stop
    std::vector<Section> sections;
    std::vector<ExitCode> exit_codes;  ///< all that there are
    std::vector<Term> examples;        ///< a command, and what it does
    std::vector<std::string> see_also; ///< names of programs that have a page of their own
};

/// An App for the page: with its help and, as all have it, --version.
void describe(CLI::App &app, const Page &page);

/// Reads the command line into what the App's options are bound to. With a value the program ends with that exit
/// code: help was asked for and is printed (0), or the usage is wrong and told on standard error (misunderstood).
std::optional<int> parse(CLI::App &app, const Page &page, int argc, const char *const *argv);

/// The page of section 1, as troff with the macros of man.
std::string man_page(const CLI::App &app, const Page &page);

/// `shell`: "bash", "zsh" or "fish"; else std::invalid_argument.
std::string completion(const CLI::App &app, const Page &page, const std::string &shell);

} // namespace pi::command_line
