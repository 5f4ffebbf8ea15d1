// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints which options a loader reads from the environment, and whether the process runs in secure
// mode. For a test that runs it set-uid.

#include <pi/describe/descriptor.hpp>
#include <pi/pi_loader.h>

#include <cstdint>
#include <cstdio>
#include <vector>

#include <sys/auxv.h>
#include <unistd.h>

int main(int argc, char **argv) {
    // The program's own choice, independent of the environment.
    const char *const plugin = argc > 1 ? argv[1] : nullptr;
    auto desc = pi::desc<pi_loader_desc>();
    desc.plugins = &plugin;
    desc.plugin_count = plugin != nullptr ? 1 : 0;
    pi_loader loader = nullptr;
    if (piLoaderCreate(&desc, &loader) != PI_SUCCESS)
        return 1;
    uint32_t plugins = 0;
    uint32_t count = 0;
    if (piPluginsGet(loader, 0, nullptr, &plugins) != PI_SUCCESS ||
        piLoaderGetEnvironment(loader, 0, nullptr, &count) != PI_SUCCESS)
        return 1;
    std::vector<pi_environment_variable> rows(count);
    if (piLoaderGetEnvironment(loader, count, rows.data(), &count) != PI_SUCCESS)
        return 1;
    std::printf("secure %lu\nplugins %u\n", ::getauxval(AT_SECURE), plugins);
    for (const pi_environment_variable &row : rows)
        std::printf("%s %s\n", row.name, row.value != nullptr ? row.value : "not set");
    pi_plugin first = nullptr;
    const void *value = nullptr;
    if (plugin != nullptr && piPluginsGet(loader, 1, &first, nullptr) == PI_SUCCESS)
        std::printf("PI_SMALL_NEWER_MODE %s\n",
                    piPluginGetExtension(first, "PI_SMALL_NEWER_MODE", 0, &value) == PI_SUCCESS
                        ? static_cast<const char *>(value)
                        : "not set");
    piLoaderRelease(loader);
    // The leak sanitizer would run now; it cannot inspect a set-uid process, and fails.
    std::fflush(stdout);
    ::_exit(0);
}
