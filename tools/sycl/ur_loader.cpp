// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ur_loader.hpp"

#include "config.hpp"

#include <dlfcn.h>
#include <filesystem>
#include <stdexcept>

namespace pi_sycl {
namespace {

constexpr const char *file_name = "libur_loader.so.0";
// A loader of another version calls other tables: its symbols have another version.
constexpr const char *symbol_version = "LIBUR_LOADER_0.12";

/// The file of an activated environment; the name, for the system's search, if there is none.
std::string default_path() {
    for (const std::filesystem::path &folder : environment_libraries()) {
        std::error_code ignored;
        if (std::filesystem::exists(folder / file_name, ignored)) {
            return (folder / file_name).string();
        }
    }
    return file_name;
}

void *open(const std::string &path) {
    void *const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        throw std::runtime_error(std::string("no loader of Unified Runtime: ") + dlerror() +
                                 "; activate a Python environment with intel-sycl-rt, or name the "
                                 "loader by --ur-loader");
    }
    return library;
}

std::string real_path(const std::string &path) {
    std::error_code error;
    const std::filesystem::path real = std::filesystem::canonical(path, error);
    return error ? path : real.string();
}

} // namespace

void UrLoader::Close::operator()(void *library) const {
    dlclose(library);
}

UrLoader::UrLoader(const std::string &path) : library_(open(path.empty() ? default_path() : path)) {
    const auto find = [&](auto &function, const char *name) {
        void *const symbol = dlvsym(library_.get(), name, symbol_version);
        if (symbol == nullptr) {
            void *const other = dlsym(library_.get(), name);
            Dl_info info{};
            const bool known = other != nullptr && dladdr(other, &info) != 0;
            throw std::runtime_error((known ? real_path(info.dli_fname) : path) + " has no " +
                                     name + "@" + symbol_version +
                                     ": it is not Unified Runtime 0.12, the version of PI's "
                                     "adapter (intel-sycl-rt 2026.2)");
        }
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(symbol);
    };
#define PI_SYCL_ROW(name) find(name, "ur" #name);
    PI_SYCL_UR_FUNCTIONS(PI_SYCL_ROW)
#undef PI_SYCL_ROW
}

std::string UrLoader::path() const {
    Dl_info info{};
    return dladdr(reinterpret_cast<void *>(LoaderInit), &info) != 0 ? real_path(info.dli_fname)
                                                                    : file_name;
}

} // namespace pi_sycl
