// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "selector.hpp"

#include "error.hpp"
#include "functions.hpp"
#include "loader.hpp"
#include "text.hpp"

#include <algorithm>

namespace pi::loader {
namespace {

// More than any machine has: a larger count is an error of the plugin.
constexpr uint32_t max_handles = 1024;

// The "platform" or "device" part of an element: a number or '*'.
bool parse_index(std::string_view text, std::optional<uint32_t> &out) {
    if (text == "*")
        return true;
    out = parse_number(text);
    return out.has_value();
}

// Devices that plugins reported, and why some could not be listed.
struct Listing {
    struct Problem {
        pi_result result;
        std::string plugin;
        std::string text; // "plugin host: piDevicesGet: ..."
    };
    std::vector<NamedDevice> devices;
    std::vector<Problem> problems;
};

// Lists handles of a plugin, with checks of its answers: list(capacity, array, count).
template <typename Handle, typename List>
std::vector<Handle> ask_list(const PluginInstance &instance, StallWatch &watch,
                             const char *function, Listing &listing, List &&list) {
    const ErrorScope scope;
    const auto get = [&](uint32_t capacity, Handle *handles, uint32_t *count) {
        return pi::loader::ask(instance, watch, function,
                               [&] { return list(capacity, handles, count); });
    };
    Log &log = instance.log();
    const auto give_up = [&](pi_result result, pi_log_level level) -> std::vector<Handle> {
        std::string text =
            fmt::format("plugin {}: {}: {}", instance.name(), function, ErrorScope::text(result));
        log.write(level, "{}", text);
        listing.problems.push_back({result, instance.name(), std::move(text)});
        return {};
    };
    uint32_t count = 0;
    if (const pi_result result = get(0, nullptr, &count))
        return give_up(result, result == PI_ERROR_UNAVAILABLE ? PI_LOG_DEBUG : PI_LOG_WARNING);
    if (count > max_handles) {
        log.warn("plugin {}: {} reports {} handles; only the first {} are used", instance.name(),
                 function, count, uint32_t{max_handles});
        count = max_handles;
    }
    if (count == 0)
        return {};
    std::vector<Handle> handles(count, nullptr);
    if (const pi_result result = get(count, handles.data(), nullptr))
        return give_up(result, PI_LOG_WARNING);
    const auto bad = std::remove_if(handles.begin(), handles.end(), [&](Handle handle) {
        return !belongs_to(handle, &instance.table());
    });
    if (bad != handles.end())
        log.warn(
            "plugin {}: {} reports {} handles, of which {} do not belong to it and are ignored",
            instance.name(), function, count, handles.end() - bad);
    handles.erase(bad, handles.end());
    return handles;
}

void list_devices_of(const PluginInstance &instance, StallWatch &watch, Listing &out) {
    const pi_dispatch &table = instance.table();
    const auto platforms = ask_list<pi_platform>(
        instance, watch, "piPlatformsGet", out,
        [&](uint32_t capacity, pi_platform *list, uint32_t *count) {
            return table.piPlatformsGet(instance.handle(), capacity, list, count);
        });
    for (uint32_t p = 0; p < platforms.size(); ++p) {
        const auto devices = ask_list<pi_device>(
            instance, watch, "piDevicesGet", out,
            [&](uint32_t capacity, pi_device *list, uint32_t *count) {
                return table.piDevicesGet(platforms[p], PI_DEVICE_TYPE_ALL, capacity, list, count);
            });
        for (uint32_t d = 0; d < devices.size(); ++d)
            out.devices.push_back({devices[d], instance.name(), p, d});
    }
}

// All root devices of the plugins for which is_asked(instance) is true. A plugin without devices
// adds none; wrong counts and invalid handles are ignored with a warning. A query opens the
// vendor's libraries, so only plugins whose answer matters are queried.
template <typename IsAsked>
Listing list_devices(const pi_loader_s &loader, IsAsked &&is_asked) {
    StallWatch watch(loader.services->log, loader.services->stall_warning_delay);
    Listing listing;
    for (const auto &instance : loader.instances) {
        if (is_asked(*instance))
            list_devices_of(*instance, watch, listing);
    }
    return listing;
}

std::vector<NamedDevice> list_all_devices(const pi_loader_s &loader) {
    return list_devices(loader, [](const PluginInstance &) { return true; }).devices;
}

std::string list_selectors(const std::vector<NamedDevice> &devices) {
    std::string list;
    for (const NamedDevice &device : devices)
        list += (list.empty() ? "" : ", ") + device.selector();
    return list.empty() ? "none" : list;
}

// The device may exist at a plugin that failed to answer, so the text has those failures.
pi_result fail_without_device(const char *function, const pi_loader_s &loader,
                              const SelectorElement &element, const Listing &asked) {
    std::string reasons;
    for (const Listing::Problem &problem : asked.problems) {
        if (element.names(problem.plugin))
            reasons += (reasons.empty() ? " (" : "; ") + problem.text;
    }
    if (!reasons.empty())
        reasons += ')';
    return fail(PI_ERROR_INVALID_NAME, "{}: selector \"{}\" names no device{}; the devices are: {}",
                function, element.text, reasons, list_selectors(list_all_devices(loader)));
}

// `source` says where the selector comes from, for messages.
pi_result select(const char *function, const char *source, const pi_loader_s &loader,
                 std::string_view selector, std::vector<pi_device> &out) {
    std::vector<SelectorElement> elements;
    const std::string problem = parse_selector(selector, elements);
    if (!problem.empty())
        return fail(PI_ERROR_INVALID_VALUE, "{}: {} \"{}\": {}", function, source, selector,
                    problem);
    const Listing asked = list_devices(loader, [&](const PluginInstance &instance) {
        return std::any_of(elements.begin(), elements.end(), [&](const SelectorElement &element) {
            return element.names(instance.name());
        });
    });
    for (const SelectorElement &element : elements) {
        bool any = false;
        for (const NamedDevice &device : asked.devices) {
            if (!device.matches(element))
                continue;
            any = true;
            if (std::find(out.begin(), out.end(), device.device) == out.end())
                out.push_back(device.device);
        }
        if (!any)
            return fail_without_device(function, loader, element, asked);
    }
    return PI_SUCCESS;
}

} // namespace

std::string parse_selector(std::string_view text, std::vector<SelectorElement> &out) {
    for (std::string_view element : split(text, ',')) {
        const std::vector<std::string_view> parts = split(element, ':');
        SelectorElement parsed{std::string(element), std::string(parts[0]), {}, {}};
        if (element.empty())
            return "an element is empty, should be plugin[:platform[:device]]";
        if (parts.size() > 3)
            return fmt::format("\"{}\" has {} parts, should be plugin[:platform[:device]]", element,
                               parts.size());
        if (parsed.plugin != "*" && !is_plugin_name(parsed.plugin))
            return fmt::format(
                "\"{}\" begins with \"{}\", should begin with a plugin's name or '*'", element,
                parsed.plugin);
        if (parts.size() > 1 && !parse_index(parts[1], parsed.platform))
            return fmt::format("\"{}\": the platform is \"{}\", should be a number or '*'", element,
                               parts[1]);
        if (parts.size() > 2 && !parse_index(parts[2], parsed.device))
            return fmt::format("\"{}\": the device is \"{}\", should be a number or '*'", element,
                               parts[2]);
        out.push_back(std::move(parsed));
    }
    return "";
}

std::string NamedDevice::selector() const {
    return fmt::format("{}:{}:{}", plugin, platform_index, device_index);
}

bool NamedDevice::matches(const SelectorElement &element) const {
    return element.names(plugin) && element.platform.value_or(platform_index) == platform_index &&
           element.device.value_or(device_index) == device_index;
}

} // namespace pi::loader

using namespace pi::loader;

pi_result piLoaderSelectDevices(pi_loader loader, const char *selector, uint32_t capacity,
                                pi_device *out_devices, uint32_t *out_count) {
    return guarded("piLoaderSelectDevices", [&] {
        if (const pi_result result = check_loader("piLoaderSelectDevices", loader))
            return result;
        const char *source = "selector";
        if (selector == nullptr) {
            source = "PI_DEVICE_SELECTOR";
            selector = loader->services->configuration.get(source);
        }
        std::vector<pi_device> devices;
        if (selector != nullptr) {
            if (const pi_result result =
                    select("piLoaderSelectDevices", source, *loader, selector, devices))
                return result;
        } else {
            for (const NamedDevice &device : list_all_devices(*loader))
                devices.push_back(device.device);
        }
        return write_list("piLoaderSelectDevices", devices, capacity, out_devices, out_count);
    });
}

pi_result piLoaderGetDeviceSelector(pi_loader loader, pi_device device, uint64_t size, char *value,
                                    uint64_t *out_size) {
    constexpr const char *function = "piLoaderGetDeviceSelector";
    return guarded(function, [&] {
        if (const pi_result result = check_loader(function, loader))
            return result;
        if (device == nullptr)
            return fail(PI_ERROR_INVALID_DEVICE, "{}: device is NULL", function);
        const auto is_of = [&](const PluginInstance &instance) {
            return belongs_to(device, &instance.table());
        };
        const Listing asked = list_devices(*loader, is_of);
        for (const NamedDevice &row : asked.devices) {
            if (row.device == device)
                return write_string(function, row.selector(), size, value, out_size);
        }
        if (!asked.problems.empty())
            return fail(asked.problems[0].result, "{}: {}", function, asked.problems[0].text);
        return fail(PI_ERROR_INVALID_DEVICE, "{}: device {} is not a root device of this loader",
                    function, static_cast<void *>(device));
    });
}
