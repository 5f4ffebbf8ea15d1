// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "second_loader.hpp"

#include <string>

namespace pi::suite {

Owner<pi_loader> make_loader(Fixture &fixture, const std::vector<pi_loader_option> &options) {
    pi_plugin_report report{};
    require_success(piLoaderGetReports(fixture.loader(), 1, &report, nullptr),
                    "piLoaderGetReports");
    const std::string path = report.path;
    const char *plugin = path.c_str();
    auto desc = pi::desc<pi_loader_desc>();
    desc.flags = PI_LOADER_NO_DEFAULT_SEARCH;
    desc.plugins = &plugin;
    desc.plugin_count = 1;
    desc.options = options.data();
    desc.option_count = static_cast<uint32_t>(options.size());
    Owner<pi_loader> loader;
    require_success(piLoaderCreate(&desc, loader.out()), "a second piLoaderCreate");
    return loader;
}

SecondLoader::SecondLoader(Fixture &fixture) : loader_(make_loader(fixture)) {
    require_success(piLoaderSelectDevices(loader_, "*", 1, &place_.device, nullptr),
                    "selecting a device of the second loader");
    context_ = fixture.make_context({place_.device});
    place_.context = context_;
}

pi_result SecondLoader::release() {
    context_.reset();
    return piLoaderRelease(loader_.take());
}

} // namespace pi::suite
