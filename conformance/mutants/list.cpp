// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints the interface mutants that a plugin can have, one "<function>.<kind>" per line.

#include "interface_mutants.hpp"

#include <dlfcn.h>

#include <cstdio>

int main(int argc, char **argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s plugin.so\n", argv[0]);
        return 2;
    }
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        std::fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    const auto plugin_main = reinterpret_cast<pi_plugin_main>(dlsym(library, "piPluginMain"));
    static const pi_dispatch dispatch{};
    pi_host host{};
    host.struct_size = sizeof host;
    host.version_major = PI_VERSION_MAJOR;
    host.version_minor = PI_VERSION_MINOR;
    host.dispatch = &dispatch;
    host.set_error = [](const pi_host *, pi_result, const char *text) {
        std::fprintf(stderr, "%s\n", text);
    };
    host.log = [](const pi_host *, pi_log_level, const char *) {};
    host.object_count = [](const pi_host *, int64_t) {};
    host.get_option = [](const pi_host *, const char *) -> const char * { return nullptr; };
    host.callback_depth = [](const pi_host *, int32_t) -> int32_t { return 0; };
    pi_plugin_desc desc{};
    desc.struct_size = sizeof desc;
    if (!plugin_main || plugin_main(&host, &desc) != PI_SUCCESS) {
        std::fprintf(stderr, "%s: piPluginMain fails\n", argv[1]);
        return 1;
    }
    for (const auto &mutant : pi::mutants::all())
        if (mutant.applies(*desc.functions))
            std::printf("%.*s.%.*s\n", static_cast<int>(mutant.function.size()),
                        mutant.function.data(), static_cast<int>(mutant.kind.size()),
                        mutant.kind.data());
    desc.teardown(desc.instance);
    return 0;
}
