// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "options.hpp"

#include <pi/pi.h>

#include <cstdio>
#include <cstring>
#include <sstream>
#include <stdexcept>

namespace pi::command_line {
namespace {

constexpr size_t columns = 100;

/// Words in lines that begin after `indent` blanks; the first line has `begin` there.
std::string wrapped(const std::string &text, size_t indent, const std::string &begin) {
    std::string out = begin + std::string(indent > begin.size() ? indent - begin.size() : 0, ' ');
    if (begin.size() >= indent && indent != 0) {
        out += "\n" + std::string(indent, ' ');
    }
    size_t used = indent;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        if (used > indent && used + 1 + word.size() > columns) {
            out += "\n" + std::string(indent, ' ');
            used = indent;
        }
        out += (used > indent ? " " : "") + word;
        used += (used > indent ? 1 : 0) + word.size();
    }
    return out + "\n";
}

std::string terms(const std::vector<Term> &terms) {
    size_t widest = 0;
    for (const Term &term : terms) {
        widest = std::max(widest, term.word.size());
    }
    std::string text;
    for (const Term &term : terms) {
        text += wrapped(term.meaning, std::min<size_t>(widest, 20) + 4, "  " + term.word);
    }
    return text;
}

std::string footer(const Page &page) {
    std::string text;
    for (const Section &section : page.sections) {
        text += "\n" + section.title + ":\n";
        text += section.text.empty() ? "" : wrapped(section.text, 2, "");
        text += terms(section.terms);
    }
    if (!page.examples.empty()) {
        text += "\nExamples:\n";
        for (const Term &example : page.examples) {
            text += "  " + example.word + "\n" + wrapped(example.meaning, 6, "");
        }
    }
    text += "\nExit codes:\n";
    size_t digits = 1;
    for (const ExitCode &code : page.exit_codes) {
        digits = std::max(digits, std::to_string(code.code).size());
    }
    for (const ExitCode &code : page.exit_codes) {
        text += wrapped(code.when, digits + 4, "  " + std::to_string(code.code));
    }
    return text;
}

} // namespace

void describe(CLI::App &app, const Page &page) {
    app.name(page.name);
    app.description(sentence(page.summary));
    app.footer(footer(page));
    app.set_version_flag("--version", page.name + " " PI_PROJECT_VERSION ", ABI " +
                                          std::to_string(PI_VERSION_MAJOR) + "." +
                                          std::to_string(PI_VERSION_MINOR) +
                                          (PI_VERSION_DRAFT != 0 ? "-dev" : ""));
}

std::optional<int> parse(CLI::App &app, const Page &page, int argc, const char *const *argv) {
    // Not options of the App: these would be in the help, or need a valid command line.
    if (argc == 2 && std::strcmp(argv[1], "--help-man") == 0) {
        std::fputs(man_page(app, page).c_str(), stdout);
        return 0;
    }
    if (argc == 3 && std::strcmp(argv[1], "--help-completion") == 0) {
        try {
            std::fputs(completion(app, page, argv[2]).c_str(), stdout);
            return 0;
        } catch (const std::invalid_argument &error) {
            std::fprintf(stderr, "%s: %s\n", page.name.c_str(), error.what());
            return misunderstood;
        }
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError &error) {
        return app.exit(error) == 0 ? 0 : misunderstood;
    }
    return std::nullopt;
}

} // namespace pi::command_line
