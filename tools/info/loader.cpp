// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "loader.hpp"

#include <pi/describe/descriptor.hpp>
#include <pi/runtime/error.hpp>

namespace pi_info {

Loader::Loader(const std::vector<std::string> &plugins) {
    std::vector<const char *> names;
    names.reserve(plugins.size());
    for (const std::string &plugin : plugins) {
        names.push_back(plugin.c_str());
    }
    auto desc = pi::desc<pi_loader_desc>();
    desc.plugins = names.data();
    desc.plugin_count = static_cast<uint32_t>(names.size());
    pi::runtime::check(piLoaderCreate(&desc, &loader_), "piLoaderCreate");
}

Loader::~Loader() {
    piLoaderRelease(loader_);
}

} // namespace pi_info
