// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "run_suite.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace {

// The character or entity at `at`, which it steps over; false when it is neither.
bool step_over_text(const std::string &text, std::size_t &at) {
    const auto code = static_cast<unsigned char>(text[at]);
    if (code < 0x20 && code != '\n' && code != '\t' && code != '\r')
        return false;
    if (text[at] != '&') {
        ++at;
        return true;
    }
    for (const char *entity :
         {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;", "&#10;", "&#9;", "&#13;"}) {
        if (text.compare(at, std::string(entity).size(), entity) == 0) {
            at += std::string(entity).size();
            return true;
        }
    }
    return false;
}

// A tag from after its '<' to its '>', both excluded; "" when it does not end or its quotes do not.
std::string read_tag(const std::string &text, std::size_t &at) {
    const std::size_t begin = at;
    bool in_quotes = false;
    while (at < text.size() && (in_quotes || text[at] != '>')) {
        if (text[at] == '<')
            return "";
        if (text[at] == '"') {
            in_quotes = !in_quotes;
            ++at;
        } else if (!step_over_text(text, at)) {
            return "";
        }
    }
    if (at == text.size())
        return "";
    return text.substr(begin, at++ - begin);
}

} // namespace

Run run_suite(const std::vector<std::string> &arguments, const std::vector<std::string> &before) {
    std::vector<std::string> command = before;
    command.emplace_back(PI_CONFORMANCE);
    command.insert(command.end(), arguments.begin(), arguments.end());
    Run run{pi_test::run(command, {}, pi_test::Streams::together, 3600), {}};
    std::istringstream lines(run.output);
    for (std::string line; std::getline(lines, line);)
        run.last_line = line;
    return run;
}

std::string toy_file(const std::string &toy) {
    return std::string(PI_TOYS) + "/libpi_plugin_toy_" + toy + ".so";
}

Run run_toy(const std::string &toy, std::vector<std::string> arguments) {
    for (const char *argument : {"--area", "context"})
        arguments.emplace_back(argument);
    arguments.push_back("--plugin=" + toy_file(toy));
    return run_suite(arguments);
}

nlohmann::json report_of_toy(const std::string &toy, std::vector<std::string> arguments, Run &run) {
    const TemporaryFile file(".json");
    arguments.push_back("--json=" + file.path());
    run = run_toy(toy, arguments);
    const nlohmann::json report = nlohmann::json::parse(file.text(), nullptr, false);
    return report.is_discarded() ? nlohmann::json() : report;
}

nlohmann::json test_of(const nlohmann::json &report, const std::string &name) {
    for (const nlohmann::json &test : report.value("tests", nlohmann::json::array())) {
        if (test.at("name") == name)
            return test;
    }
    return {};
}

std::string without_variables(const std::string &command) {
    const std::size_t program = command.find("pi-conformance --");
    return program == std::string::npos ? "" : command.substr(program);
}

unsigned processes_with(const std::string &text) {
    unsigned count = 0;
    for (const auto &entry : std::filesystem::directory_iterator("/proc")) {
        std::ifstream file(entry.path() / "cmdline", std::ios::binary);
        const std::string line{std::istreambuf_iterator<char>(file), {}};
        count += line.find(text) != std::string::npos ? 1 : 0;
    }
    return count;
}

std::string xml_problem(const std::string &text) {
    std::vector<std::string> open;
    std::size_t at = text.find("?>");
    if (text.rfind("<?xml", 0) != 0 || at == std::string::npos)
        return "no XML declaration";
    at += 2;
    bool any = false;
    while (at < text.size()) {
        if (text[at] != '<') {
            if (!step_over_text(text, at))
                return "a character that is not allowed at " + std::to_string(at);
            continue;
        }
        const std::size_t where = ++at;
        const std::string tag = read_tag(text, at);
        if (tag.empty())
            return "a bad tag at " + std::to_string(where);
        const std::string name = tag.substr(0, tag.find_first_of(" /", 1));
        if (tag[0] == '/') {
            if (open.empty() || "/" + open.back() != tag)
                return "a wrong end tag at " + std::to_string(where);
            open.pop_back();
        } else if (tag.back() != '/') {
            if (open.empty() && any)
                return "a second root at " + std::to_string(where);
            open.push_back(name);
        }
        any = true;
    }
    return open.empty() && any ? "" : "a tag is not closed";
}
