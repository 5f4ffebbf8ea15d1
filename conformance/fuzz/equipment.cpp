// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "equipment.hpp"

#include <iterator>

namespace pi::fuzz {
namespace {

Place make_place(pi_loader loader, const char *selector) {
    Place place;
    uint32_t count = 0;
    must(piLoaderSelectDevices(loader, selector, 1, &place.device, &count), selector);
    must(piDeviceGetInfo(place.device, PI_DEVICE_INFO_PLATFORM, sizeof place.platform,
                         &place.platform, nullptr),
         "PI_DEVICE_INFO_PLATFORM");
    must(piDeviceGetInfo(place.device, PI_DEVICE_INFO_CAPABILITIES, sizeof place.capabilities,
                         &place.capabilities, nullptr),
         "PI_DEVICE_INFO_CAPABILITIES");
    must(piPlatformGetInfo(place.platform, PI_PLATFORM_INFO_PLUGIN, sizeof place.plugin,
                           &place.plugin, nullptr),
         "PI_PLATFORM_INFO_PLUGIN");
    auto desc = pi::desc<pi_context_desc>();
    desc.device_count = 1;
    desc.devices = &place.device;
    must(piContextCreate(place.platform, &desc, &place.context), "piContextCreate");
    return place;
}

} // namespace

const char *last_error() {
    const char *text = "";
    piGetLastError(nullptr, &text);
    return text;
}

void must(pi_result result, const char *what) {
    if (result != PI_SUCCESS) {
        finding(what, " fails: ", result, ": ", last_error());
    }
}

void must_not(pi_result result, const char *what) {
    if (result == PI_SUCCESS) {
        finding(what, " succeeds");
    }
}

Equipment::Equipment(bool validate) {
    const char *const plugins[] = {PI_FUZZ_HOST, PI_FUZZ_SIM};
    const char *const layers[] = {"validate"};
    const pi_loader_option options[] = {{"PI_SIM_MACHINE", PI_FUZZ_MACHINE}};
    auto desc = pi::desc<pi_loader_desc>();
    desc.flags = PI_LOADER_IGNORE_ENVIRONMENT | PI_LOADER_NO_DEFAULT_SEARCH;
    desc.plugins = plugins;
    desc.plugin_count = static_cast<uint32_t>(std::size(plugins));
    desc.layers = layers;
    desc.layer_count = validate ? 1 : 0;
    desc.options = options;
    desc.option_count = static_cast<uint32_t>(std::size(options));
    // Ignores the layer's log messages about misuse, which are frequent here.
    desc.log = [](uint32_t, const char *message, void *self) {
        if (static_cast<Equipment *>(self)->closing_) {
            finding("at the end: ", message);
        }
    };
    desc.log_user_data = this;
    must(piLoaderCreate(&desc, &loader_), "piLoaderCreate");
    for (const char *selector : {"host:0:0", "sim:0:0"}) {
        places_.push_back(make_place(loader_, selector));
    }
}

Equipment::~Equipment() {
    closing_ = true;
    for (const Place &place : places_) {
        piContextRelease(place.context);
    }
    piLoaderRelease(loader_);
}

} // namespace pi::fuzz
