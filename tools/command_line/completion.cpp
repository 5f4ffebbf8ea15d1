// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "options.hpp"

#include <stdexcept>

namespace pi::command_line {
namespace {

std::string joined(const std::vector<std::string> &words, const char *separator) {
    std::string text;
    for (const std::string &word : words) {
        text += (text.empty() ? "" : separator) + word;
    }
    return text;
}

/// For bash and zsh: within single quotes nothing but their end is special.
std::string in_quotes(const std::string &text) {
    std::string out = "'";
    for (const char letter : text) {
        out += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    }
    return out + "'";
}

/// For fish, where a backslash is special within single quotes, too.
std::string fish_quoted(const std::string &text) {
    std::string out = "'";
    for (const char letter : text) {
        out += letter == '\'' || letter == '\\' ? std::string("\\") : std::string();
        out += letter;
    }
    return out + "'";
}

// --- bash ----------------------------------------------------------------------------------------

/// What stands for the value of an option.
std::string bash_values(const CLI::Option &option) {
    const std::vector<std::string> values = values_of(option);
    if (!values.empty()) {
        return "mapfile -t COMPREPLY < <(compgen -W " + in_quotes(joined(values, " ")) +
               " -- \"$current\")";
    }
    if (takes_file(option)) {
        return "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$current\")";
    }
    return ":";
}

std::string bash(const CLI::App &app, const Page &page) {
    std::string function = "_" + page.name;
    std::replace(function.begin(), function.end(), '-', '_');
    std::vector<std::string> all;
    std::string with_value;
    std::string positional = ":";
    for (const CLI::Option *option : shown_options(app)) {
        const std::vector<std::string> names = names_of(*option);
        all.insert(all.end(), names.begin(), names.end());
        if (option->get_positional()) {
            positional = bash_values(*option);
        } else if (takes_value(*option)) {
            with_value += "    " + joined(names, " | ") + ")\n        " + bash_values(*option) +
                          "\n        return\n        ;;\n";
        }
    }
    // Bash takes '=' for a word of its own.
    return "# Completion of " + page.name + " for bash, made by " + page.name +
           " --help-completion bash.\n" + function + R"(() {
    local current=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]}
    COMPREPLY=()
    if [[ $current == '=' ]]; then
        current=
    elif [[ $option == '=' ]] && ((COMP_CWORD > 1)); then
        option=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    case $option in
)" + with_value +
           R"(    esac
    if [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W ')" +
           joined(all, " ") + R"(' -- "$current")
    else
        )" +
           positional +
           R"(
    fi
}
complete -F )" +
           function + " " + page.name + "\n";
}

// --- zsh -----------------------------------------------------------------------------------------

/// In _arguments, where brackets end a description and colons a field.
std::string zsh_escaped(const std::string &text) {
    std::string out;
    for (const char letter : text) {
        out += letter == '[' || letter == ']' || letter == ':' || letter == '\\' ? "\\" : "";
        out += letter;
    }
    return out;
}

std::string zsh_values(const CLI::Option &option) {
    const std::vector<std::string> values = values_of(option);
    const std::string name =
        zsh_escaped(option.get_positional() ? option.get_name(true) : metavariable(option));
    return ":" + name + ":" +
           (!values.empty()      ? "(" + joined(values, " ") + ")"
            : takes_file(option) ? "_files"
                                 : " ");
}

std::string zsh(const CLI::App &app, const Page &page) {
    std::string text = "#compdef " + page.name + "\n# Completion of " + page.name +
                       " for zsh, made by " + page.name +
                       " --help-completion zsh.\n_arguments -s -S";
    for (const CLI::Option *option : shown_options(app)) {
        if (option->get_positional()) {
            text += " \\\n    " + in_quotes("1" + zsh_values(*option));
            continue;
        }
        std::vector<std::string> others;
        for (const CLI::Option *other : option->get_excludes()) {
            const std::vector<std::string> names = names_of(*other);
            others.insert(others.end(), names.begin(), names.end());
        }
        for (const std::string &name : names_of(*option)) {
            std::string spec = is_repeatable(*option) && takes_value(*option) ? "*" : "";
            spec += others.empty() ? "" : "(" + joined(others, " ") + ")";
            spec += name + (takes_value(*option) && name.rfind("--", 0) == 0 ? "=" : "");
            spec += "[" + zsh_escaped(option->get_description()) + "]";
            spec += takes_value(*option) ? zsh_values(*option) : "";
            text += " \\\n    " + in_quotes(spec);
        }
    }
    return text + "\n";
}

// --- fish ----------------------------------------------------------------------------------------

std::string fish(const CLI::App &app, const Page &page) {
    const std::string begin = "complete -c " + page.name;
    std::string text = "# Completion of " + page.name + " for fish, made by " + page.name +
                       " --help-completion fish.\n" + begin + " -f\n";
    for (const CLI::Option *option : shown_options(app)) {
        std::string entry = begin;
        for (const std::string &name : option->get_snames()) {
            entry += " -s " + name;
        }
        for (const std::string &name : option->get_lnames()) {
            entry += " -l " + name;
        }
        const std::vector<std::string> values = values_of(*option);
        if (!values.empty()) {
            entry += option->get_positional() ? " -f" : " -x";
            entry += " -a " + fish_quoted(joined(values, " "));
        } else if (takes_file(*option)) {
            entry += option->get_positional() ? " -F" : " -r -F";
        } else if (takes_value(*option) && !option->get_positional()) {
            entry += " -x";
        }
        text += entry + " -d " + fish_quoted(option->get_description()) + "\n";
    }
    return text;
}

} // namespace

std::string completion(const CLI::App &app, const Page &page, const std::string &shell) {
    if (shell == "bash") {
        return bash(app, page);
    }
    if (shell == "zsh") {
        return zsh(app, page);
    }
    if (shell == "fish") {
        return fish(app, page);
    }
    throw std::invalid_argument("there is no completion for the shell \"" + shell +
                                "\"; there is one for bash, zsh and fish");
}

} // namespace pi::command_line
