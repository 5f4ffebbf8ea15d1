// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// pi-info lists the plugins and devices of this machine, and which memory each device can use.
#include "config.hpp"
#include "inventory.hpp"
#include "output.hpp"
#include "terminal.hpp"

#include <pi/command_line/command_line.hpp>
#include <pi/describe/printable.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <unistd.h>

namespace pi_info {
namespace {

using pi::printable;

struct Options {
    bool plugins = false;
    bool environment = false;
    bool json = false;
    std::string device;
    std::vector<std::string> plugin_files;
    std::string machine;
    std::string costs;
    bool topology = false;
    std::string svg;
    bool measure = false;
    bool verify = false;
    std::string contexts = "shared";
    std::string colour = "auto";

    Contexts contexts_wanted() const {
        return contexts == "own" ? Contexts::own : Contexts::shared;
    }
    bool colour_wanted() const {
        return colour == "always" ||
               (colour == "auto" && isatty(STDOUT_FILENO) != 0 && !no_colour_wanted());
    }
    /// A problem that the options' own checks cannot find; NULL if there is none.
    const char *conflict() const {
        const bool figures = topology || !svg.empty() || json;
        if (!costs.empty() && !figures && machine.empty()) {
            return "--costs needs one of --topology, --svg, --json and --save-machine";
        }
        if (measure && !figures) {
            return "--measure needs one of --topology, --svg and --json";
        }
        return nullptr;
    }
};

pi::command_line::Page page() {
    return {
        "pi-info",
        "lists plugins and devices, and which memory each device can use",
        {{"Selectors",
          "A selector is a comma-separated list of plugin[:platform[:device]], numbers counted "
          "from 0, '*' for any. Without --device, the devices of PI_DEVICE_SELECTOR are shown, "
          "else all.",
          {}},
         {"Figures of links",
          "--topology, --svg and --json show the bandwidth of large transfers and the latency of "
          "small ones, for each direction, with their source:",
          {{"measured", "by --measure, or by pi-bench calibrate --costs FILE"},
           {"machine file",
            "claimed by the machine file of the plugin sim; never measured, because a simulated "
            "machine has its own clock"},
           {"plugin", "claimed by the plugin"},
           {"unknown", "not available"}}}},
        {{0, "at least one device was found, and the output is complete"},
         {1, "no device was found, a plugin given by --plugin was refused, the selector names no "
             "device, a connection failed --verify, or a file cannot be read or written; the "
             "message says which"},
         {2, "invalid command line"}},
        {{"pi-info --verify --device cuda", "Test whether bytes arrive between these devices."},
         {"pi-info --device opencl:0:1,host", "Show these two devices and their connections."},
         {"pi-info --topology --measure",
          "Show places, connection matrix and links, and measure the links now."},
         {"pi-info --svg machine.svg --costs costs.json",
          "Draw the same, with the figures that pi-bench calibrate --costs costs.json measured."}},
        {"pi-bench", "pi-conformance", "pi-run"}};
}

void declare(CLI::App &app, Options &options) {
    auto *plugins = app.add_flag("--plugins", options.plugins,
                                 "Show every plugin that was found, with its status");
    app.add_flag("--env", options.environment,
                 "Show every environment variable that PI reads, with its value")
        ->excludes(plugins);
    app.add_flag("--json", options.json, "Print JSON, for other programs");
    app.add_option("--device", options.device, "Show only these devices; see below")
        ->type_name("SELECTOR");
    app.add_option("--plugin", options.plugin_files,
                   "File or name of a plugin to load before those that are found (repeatable)")
        ->type_name("PATH")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    app.add_option("--contexts", options.contexts,
                   "For the connections: one context per platform (shared, the default) or per "
                   "device (own)")
        ->type_name("shared|own")
        ->check(CLI::IsMember({"shared", "own"}).description(""));
    app.add_flag("--topology", options.topology,
                 "Show where the places are, the connection matrix, and the figures of each link")
        ->excludes(plugins);
    app.add_option("--svg", options.svg, "Draw the matrix and the links as an SVG picture")
        ->type_name("FILE")
        ->excludes(plugins);
    app.add_option("--save-machine", options.machine,
                   "Write these devices as a machine file for the plugin sim")
        ->type_name("FILE")
        ->excludes(plugins);
    auto *costs =
        app.add_option(
               "--costs", options.costs,
               "For --topology, --svg, --json and --save-machine: read the link speeds that "
               "pi-bench calibrate --costs FILE measured")
            ->type_name("FILE")
            ->excludes(plugins);
    app.add_flag(
           "--measure", options.measure,
           "For --topology, --svg and --json: measure the links now; takes seconds to minutes")
        ->excludes(costs)
        ->excludes(plugins);
    app.add_flag(
           "--verify", options.verify,
           "Verify the connections: move bytes between each two places and compare them; takes "
           "seconds per pair")
        ->excludes(plugins);
    app.add_option("--color", options.colour,
                   "Use colours: auto (on a terminal, unless NO_COLOR is set), always, never")
        ->type_name("auto|always|never")
        ->check(CLI::IsMember({"auto", "always", "never"}).description(""));
}

void print(const std::string &text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
}

void write_file(const std::string &path, const std::string &content) {
    std::ofstream file(path, std::ios::binary);
    file << content << std::flush;
    if (!file) {
        throw std::runtime_error("cannot write " + path);
    }
}

/// Plugins from the command line come first in the reports, in its order.
bool any_given_refused(const std::vector<Plugin> &plugins, const Options &options) {
    const size_t given = std::min(plugins.size(), options.plugin_files.size());
    for (size_t i = 0; i < given; ++i) {
        if (plugins[i].status == PI_PLUGIN_REFUSED) {
            std::fprintf(stderr, "pi-info: plugin %s was refused: %s\n",
                         options.plugin_files[i].c_str(), printable(plugins[i].reason).c_str());
            return true;
        }
    }
    return false;
}

bool any_usable(const std::vector<Plugin> &plugins) {
    return std::any_of(plugins.begin(), plugins.end(),
                       [](const Plugin &plugin) { return plugin.status == PI_PLUGIN_LOADED; });
}

/// The selection by PI_DEVICE_SELECTOR, which the user may have forgotten.
std::string selector_in_force(pi::LoaderRef loader, const Options &options) {
    if (options.device.empty()) {
        for (const Variable &variable : find_variables(loader)) {
            if (variable.name == "PI_DEVICE_SELECTOR" && variable.value) {
                return "Only the devices of PI_DEVICE_SELECTOR are shown: " +
                       pi::printable_line(*variable.value) + "\n\n";
            }
        }
    }
    return {};
}

int show_devices(pi::LoaderRef loader, const Options &options, const Text &text,
                 const std::vector<Plugin> &plugins) {
    std::vector<Device> devices =
        find_devices(loader, options.device.empty() ? nullptr : options.device.c_str());
    if (!options.machine.empty() && !devices.empty()) {
        save_machine(devices, options.machine, options.costs);
        return 0;
    }
    Connections connections = find_connections(devices, options.contexts_wanted());
    if (options.verify) {
        verify(connections);
    }
    std::vector<Link> links;
    if (options.topology || options.json || !options.svg.empty()) {
        links = find_links(devices, connections, {options.costs, options.measure},
                           connections.problems);
    }
    if (!options.json) {
        make_printable(devices);
        make_printable(connections);
    }
    if (!options.svg.empty() && !devices.empty()) {
        write_file(options.svg, to_svg(devices, connections, links));
    }
    if (options.json) {
        print(to_json(plugins, devices, connections, links));
    } else if (options.topology) {
        print(selector_in_force(loader, options) + text.tree(devices, connections) + "\n" +
              text.connections(connections, options.contexts_wanted()) + "\n" +
              text.links(connections, links));
    } else if (options.svg.empty()) {
        const std::string not_used = text.plugins_not_used(plugins);
        print(selector_in_force(loader, options) + text.devices(devices) + "\n" +
              text.connections(connections, options.contexts_wanted()) +
              (not_used.empty() ? "" : "\n" + not_used));
    }
    if (options.json || (!options.svg.empty() && !options.topology)) {
        for (const std::string &problem : connections.problems) {
            std::fprintf(stderr, "pi-info: %s\n", printable(problem).c_str());
        }
    }
    if (devices.empty()) {
        std::fprintf(stderr, "pi-info: no device found; pi-info --plugins says why\n");
        return 1;
    }
    return std::any_of(connections.seen.begin(), connections.seen.end(),
                       [](const auto &row) { return row.second.verified == PI_VERIFIED_FAILED; })
               ? 1
               : 0;
}

int show(const Options &options) {
    std::vector<const char *> plugin_files;
    for (const std::string &file : options.plugin_files) {
        plugin_files.push_back(file.c_str());
    }
    auto desc = pi::desc<pi_loader_desc>();
    desc.plugins = plugin_files.data();
    desc.plugin_count = static_cast<uint32_t>(plugin_files.size());
    const pi::Loader loader = pi::Loader::create(&desc);
    const Text text(options.colour_wanted(), terminal_columns(), terminal_has_utf8());
    if (options.environment) {
        std::vector<Variable> variables = find_variables(loader);
        if (!options.json) {
            make_printable(variables);
        }
        print(options.json ? to_json(variables) : text.variables(variables));
        return 0;
    }
    std::vector<Plugin> plugins = find_plugins(loader);
    if (!options.json) {
        make_printable(plugins);
    }
    const bool refused = any_given_refused(plugins, options);
    if (options.plugins) {
        print(options.json ? to_json(plugins) : text.plugins(plugins));
        return refused || !any_usable(plugins) ? 1 : 0;
    }
    const int result = show_devices(loader, options, text, plugins);
    return refused ? 1 : result;
}

int run(int argc, char **argv) {
    Options options;
    CLI::App app;
    const pi::command_line::Page all = page();
    pi::command_line::describe(app, all);
    declare(app, options);
    if (const std::optional<int> exit_code = pi::command_line::parse(app, all, argc, argv)) {
        return *exit_code;
    }
    if (const char *const wrong = options.conflict()) {
        std::fprintf(stderr, "pi-info: %s\nRun with --help for more information.\n", wrong);
        return pi::command_line::misunderstood;
    }
    return show(options);
}

} // namespace
} // namespace pi_info

int main(int argc, char **argv) {
    try {
        return pi_info::run(argc, argv);
    } catch (const std::exception &error) {
        std::fflush(stdout);
        std::fprintf(stderr, "pi-info: %s\n", pi::printable(error.what()).c_str());
        return 1;
    }
}
