// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An interface mutant: the plugin in the same folder with one function changed. The file's name
// says how: .../<plugin>/<function>.<kind>.so wraps .../<plugin>/original.so. no.mutant.so changes
// nothing: failures of the suite there are the wrapper's own. Test equipment, never installed.

#include "derived_mutants.hpp"

#include <dlfcn.h>

#include <string>

namespace {

constexpr std::string_view unchanged = "no.mutant", suffix = ".so";

pi_result fail(const pi_host *host, const std::string &text) {
    host->set_error(host, PI_ERROR_INTERNAL, text.c_str());
    return PI_ERROR_INTERNAL;
}

bool inject(std::string_view name, pi_dispatch &table) {
    for (const auto &mutant : pi::mutants::all()) {
        if (name == std::string(mutant.function) + "." + std::string(mutant.kind)) {
            if (mutant.applies(table))
                mutant.inject(table);
            return true;
        }
    }
    return pi::mutants::inject_derived(name, table);
}

} // namespace

pi_result PI_CALL piPluginMain(const pi_host *host, pi_plugin_desc *out_desc) {
    // One for the process, as the plugin's own table is: every loader injects the same mutant.
    static pi_dispatch mutated;

    Dl_info self{};
    dladdr(reinterpret_cast<void *>(&piPluginMain), &self);
    const std::string path = self.dli_fname;
    const std::string folder = path.substr(0, path.rfind('/') + 1);
    const std::string name =
        path.substr(folder.size(), path.size() - folder.size() - suffix.size());

    void *library = dlopen((folder + "original.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return fail(host, dlerror());
    const auto real = reinterpret_cast<pi_plugin_main>(dlsym(library, "piPluginMain"));
    if (!real)
        return fail(host, folder + "original.so is not a plugin");
    const pi_result result = real(host, out_desc);
    if (result != PI_SUCCESS)
        return result;
    pi::mutants::original = out_desc->functions;
    pi::mutants::host = host;
    mutated = *out_desc->functions;
    if (name != unchanged && !inject(name, mutated)) {
        out_desc->teardown(out_desc->instance);
        return fail(host, name + " does not name an interface mutant");
    }
    out_desc->functions = &mutated;
    return PI_SUCCESS;
}
