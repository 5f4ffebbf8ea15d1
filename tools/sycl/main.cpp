// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// pi-sycl runs a program whose SYCL runtime, DPC++'s, finds PI's devices.
#include "devices.hpp"

#include <pi/command_line/command_line.hpp>
#include <pi/describe/printable.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <unistd.h>
#include <vector>

namespace pi_sycl {
namespace {

constexpr const char *adapter_name = "libur_adapter_pi.so";

/// As of env(1), nohup(1) and the shells.
enum ExitCode {
    success = 0,
    no_devices = 1,
    misunderstood = pi::command_line::misunderstood,
    no_adapter = 125,
    not_executable = 126,
    not_found = 127
};

struct Options {
    bool devices = false;
    std::string ur_loader;
    std::string command;
};

pi::command_line::Page page() {
    return {
        "pi-sycl",
        "runs a program with DPC++'s SYCL runtime on PI's devices",
        {{"Commands",
          "COMMAND is any program that uses DPC++'s SYCL runtime, version 9 (Unified Runtime 0.12; "
          "intel-sycl-rt 2026.2): a compiled one, or Python with dpctl. It runs with "
          "UR_ADAPTERS_FORCE_LOAD, by which that runtime opens PI's adapter instead of its own "
          "ones. The exit code is then COMMAND's.",
          {}},
         {"Devices",
          "PI_DEVICE_SELECTOR selects PI's devices, in programs and in --devices. "
          "ONEAPI_DEVICE_SELECTOR selects among these in programs; --devices lists all, with their "
          "names for it (opencl:0). Unified Runtime's loader is that of --ur-loader, else of an "
          "activated Python environment (VIRTUAL_ENV, CONDA_PREFIX), else of the library search.",
          {}}},
        {{success, "--devices listed at least one device"},
         {no_devices, "--devices found no device or no Unified Runtime 0.12 loader, or a Unified "
                      "Runtime call failed; the message says which"},
         {misunderstood, "invalid command line"},
         {no_adapter,
          "libur_adapter_pi.so is not in PI's library folder, or its path contains a comma"},
         {not_executable, "COMMAND cannot be executed"},
         {not_found, "COMMAND was not found"}},
        {{"pi-sycl --devices", "List the devices that SYCL programs will see."},
         {"pi-sycl python -m dpctl --full-list", "Let dpctl list them."},
         {"PI_DEVICE_SELECTOR=opencl:1 pi-sycl ./program argument",
          "Run a program on the second OpenCL platform."}},
        {"pi-info", "pi-run"}};
}

/// The number of the command's first word in argv: the first one that is neither an option of ours
/// nor the value of one. argc if there is none.
int find_command(int argc, char **argv) {
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--") == 0) {
            return i + 1;
        }
        if (std::strcmp(argv[i], "--ur-loader") == 0 ||
            std::strcmp(argv[i], "--help-completion") == 0) {
            ++i;
        } else if (argv[i][0] != '-') {
            return i;
        }
    }
    return argc;
}

/// The words for the options' parser: without the command's arguments, which have options, too.
std::vector<const char *> own_words(int argc, char **argv, int command) {
    std::vector<const char *> words(argv, argv + std::min(command, argc));
    if (command < argc) {
        if (std::strcmp(words.back(), "--") != 0) {
            words.push_back("--");
        }
        words.push_back(argv[command]);
    }
    return words;
}

/// The adapter's file; std::nullopt, with a message, if there is none.
std::optional<std::string> find_adapter() {
    const std::filesystem::path folder =
        std::filesystem::read_symlink("/proc/self/exe").parent_path();
    // Of an installation, and of the build tree.
    for (const char *const libraries : {PI_SYCL_LIBRARIES, "../lib"}) {
        std::error_code error;
        const std::filesystem::path file =
            std::filesystem::canonical(folder / libraries / adapter_name, error);
        if (!error) {
            return file.string();
        }
    }
    const std::string searched = (folder / PI_SYCL_LIBRARIES).lexically_normal().string();
    std::fprintf(stderr,
                 "pi-sycl: there is no %s in %s; it is built where the headers of Unified Runtime "
                 "are (docs/sycl.md)\n",
                 adapter_name, pi::printable(searched).c_str());
    return std::nullopt;
}

/// Makes programs, and this one, use the adapter. Unified Runtime reads a list with commas, whose
/// elements are quoted if they have colons; otherwise it ignores the variable.
bool force_load(const std::string &adapter) {
    if (adapter.find(',') != std::string::npos) {
        std::fprintf(stderr,
                     "pi-sycl: %s: Unified Runtime loads no file with a comma in its path\n",
                     pi::printable(adapter).c_str());
        return false;
    }
    const bool quoted = adapter.find_first_of(":;") != std::string::npos;
    const std::string value = quoted ? '"' + adapter + '"' : adapter;
    return setenv("UR_ADAPTERS_FORCE_LOAD", value.c_str(), 1) == 0;
}

int execute(char **command) {
    std::fflush(nullptr);
    execvp(command[0], command);
    const int error = errno;
    std::fprintf(stderr, "pi-sycl: %s: %s\n", pi::printable(command[0]).c_str(),
                 std::strerror(error));
    return error == ENOENT ? not_found : not_executable;
}

int list_devices(const std::string &ur_loader, const std::string &adapter) {
    const UrLoader loader(ur_loader);
    const std::vector<Platform> platforms = find_platforms(loader);
    std::printf("Unified Runtime 0.12: %s\nadapter: %s\n\n%s", pi::printable(loader.path()).c_str(),
                pi::printable(adapter).c_str(), to_text(platforms).c_str());
    if (count_devices(platforms) != 0) {
        return success;
    }
    std::fflush(stdout);
    std::fprintf(
        stderr,
        "pi-sycl: PI has no device for SYCL, which accepts SPIR-V or PTX; pi-info shows all\n");
    return no_devices;
}

int run(int argc, char **argv) {
    Options options;
    CLI::App app;
    const pi::command_line::Page all = page();
    pi::command_line::describe(app, all);
    auto *command =
        app.add_option("COMMAND", options.command, "Program to run")->type_name("[ARGUMENT...]");
    auto *devices =
        app.add_flag("--devices", options.devices, "List the devices that SYCL programs will see")
            ->excludes(command);
    app.add_option("--ur-loader", options.ur_loader,
                   "With --devices: the file of Unified Runtime's loader, libur_loader.so.0")
        ->type_name("FILE")
        ->needs(devices);
    // The command's own words are not ours to understand.
    const int first = find_command(argc, argv);
    const std::vector<const char *> words = own_words(argc, argv, first);
    if (const std::optional<int> exit_code =
            pi::command_line::parse(app, all, static_cast<int>(words.size()), words.data())) {
        return *exit_code;
    }
    if (!options.devices && first >= argc) {
        std::fprintf(stderr, "pi-sycl: COMMAND or --devices is missing\nRun with --help for more "
                             "information.\n");
        return misunderstood;
    }
    const std::optional<std::string> adapter = find_adapter();
    if (!adapter || !force_load(*adapter)) {
        return no_adapter;
    }
    return options.devices ? list_devices(options.ur_loader, *adapter) : execute(argv + first);
}

} // namespace
} // namespace pi_sycl

int main(int argc, char **argv) {
    try {
        return pi_sycl::run(argc, argv);
    } catch (const std::exception &error) {
        std::fflush(stdout);
        std::fprintf(stderr, "pi-sycl: %s\n", pi::printable(error.what()).c_str());
        return pi_sycl::no_devices;
    }
}
