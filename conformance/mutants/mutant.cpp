// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An interface mutant: the plugin in the same folder with one function replaced. The file's name
// says which: .../<plugin>/<function>.<kind>.so wraps .../<plugin>/original.so. no.mutant.so
// replaces nothing: failures of the suite there are the wrapper's own. Test equipment, never
// installed.

#include "interface_mutants.hpp"

#include <dlfcn.h>

#include <string>

namespace {

constexpr const char *unchanged = "no.mutant.so";

pi_result fail(const pi_host *host, const std::string &text) {
    host->set_error(host, PI_ERROR_INTERNAL, text.c_str());
    return PI_ERROR_INTERNAL;
}

const pi::mutants::Mutant *find(const std::string &file,
                                const std::vector<pi::mutants::Mutant> &all) {
    for (const auto &mutant : all)
        if (file == std::string(mutant.function) + "." + std::string(mutant.kind) + ".so")
            return &mutant;
    return nullptr;
}

} // namespace

pi_result PI_CALL piPluginMain(const pi_host *host, pi_plugin_desc *out_desc) {
    // One for the process, as the plugin's own table is: every loader injects the same mutant.
    static pi_dispatch mutated;

    Dl_info self{};
    dladdr(reinterpret_cast<void *>(&piPluginMain), &self);
    const std::string path = self.dli_fname;
    const std::string folder = path.substr(0, path.rfind('/') + 1);
    const auto all = pi::mutants::all();
    const std::string file = path.substr(folder.size());
    const auto *mutant = find(file, all);
    if (!mutant && file != unchanged)
        return fail(host, path + " does not name an interface mutant");

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
    mutated = *out_desc->functions;
    if (mutant)
        mutant->inject(mutated);
    out_desc->functions = &mutated;
    return PI_SUCCESS;
}
