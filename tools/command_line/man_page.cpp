// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "options.hpp"

#include <cctype>

namespace pi::command_line {
namespace {

/// What troff would take for its own: backslashes, and a hyphen, which it would print as a dash or break a line at.
std::string escaped(const std::string &text) {
    std::string out;
    for (const char letter : text) {
        if (letter == '\\') {
            out += "\\e";
        } else if (letter == '-') {
            out += "\\-";
        } else if (letter == '\n') {
            out += ' ';
        } else {
            out += letter;
        }
    }
    return out;
}

/// A line of text: one that began with a dot or a quote would be a request.
std::string line(const std::string &text) {
    const bool request = !text.empty() && (text[0] == '.' || text[0] == '\'');
    return (request ? "\\&" : "") + escaped(text) + "\n";
}

std::string bold(const std::string &text) {
    return "\\fB" + escaped(text) + "\\fR";
}
std::string italic(const std::string &text) {
    return "\\fI" + escaped(text) + "\\fR";
}

std::string upper(std::string text) {
    for (char &letter : text) {
        letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    }
    return text;
}

std::string heading(const std::string &title) {
    return ".SH " + escaped(upper(title)) + "\n";
}

std::string synopsis(const CLI::App &app, const Page &page) {
    std::string text =
        ".SH SYNOPSIS\n.nh\n.ad l\n" + bold(page.name) + " [" + italic("option") + "]...";
    for (const CLI::Option *option : shown_options(app)) {
        if (option->get_positional()) {
            const std::string name = italic(upper(option->get_name(true)));
            text += option->get_required() ? " " + name : " [" + name + "]";
        }
    }
    return text + "\n.ad b\n.hy\n";
}

std::string option_entry(const CLI::Option &option) {
    std::string text = ".TP\n";
    std::string names;
    for (const std::string &name : names_of(option)) {
        names += (names.empty() ? "" : ", ") + bold(name);
    }
    if (option.get_positional()) {
        names = italic(upper(option.get_name(true)));
    } else if (takes_value(option)) {
        names += " " + italic(metavariable(option));
    }
    text += names + "\n";
    std::string meaning = option.get_description();
    if (meaning.empty() || meaning.back() != '.') {
        meaning += ".";
    }
    text += line(meaning);
    const std::vector<std::string> values = values_of(option);
    if (!values.empty()) {
        std::string list;
        for (const std::string &value : values) {
            list += (list.empty() ? "" : ", ") + bold(value);
        }
        text += "One of " + list + ".\n";
    }
    if (!option.get_default_str().empty()) {
        text += "Without it: " + bold(option.get_default_str()) + ".\n";
    }
    std::string others;
    for (const CLI::Option *other : option.get_excludes()) {
        others += (others.empty() ? "" : ", ") + bold(names_of(*other).back());
    }
    if (!others.empty()) {
        text += "Not together with " + others + ".\n";
    }
    return text;
}

} // namespace

std::string man_page(const CLI::App &app, const Page &page) {
    std::string text = ".\\\" Made by " + page.name + " --help-man.\n";
    text += ".TH " + escaped(upper(page.name)) +
            " 1 \"\" \"PI " PI_PROJECT_VERSION "\" \"User Commands\"\n";
    text += ".SH NAME\n" + escaped(page.name) + " \\- " + escaped(page.summary) + "\n";
    text += synopsis(app, page);
    text += ".SH DESCRIPTION\n" + line(sentence(page.summary));
    for (const Section &section : page.sections) {
        text += ".SS " + escaped(section.title) + "\n";
        text += section.text.empty() ? "" : line(section.text);
        for (const Term &term : section.terms) {
            text += ".TP\n" + bold(term.word) + "\n" + line(term.meaning);
        }
    }
    text += ".SH OPTIONS\n";
    for (const CLI::Option *option : shown_options(app)) {
        text += option_entry(*option);
    }
    text += heading("Exit status");
    for (const ExitCode &code : page.exit_codes) {
        text += ".TP\n" + bold(std::to_string(code.code)) + "\n" + line(sentence(code.when));
    }
    if (!page.examples.empty()) {
        text += heading("Examples");
        for (const Term &example : page.examples) {
            text += ".TP\n" + bold(example.word) + "\n" + line(sentence(example.meaning));
        }
    }
    if (!page.see_also.empty()) {
        text += heading("See also");
        for (size_t i = 0; i < page.see_also.size(); ++i) {
            text += ".BR " + escaped(page.see_also[i]) + " (1)" +
                    (i + 1 < page.see_also.size() ? " ,\n" : "\n");
        }
    }
    return text;
}

} // namespace pi::command_line
