// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "places.hpp"

#include <pi/runtime/error.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace examples {
namespace {

using pi::runtime::check;

std::string device_text(pi_device device, pi_device_info name) {
    uint64_t size = 0;
    check(piDeviceGetInfo(device, name, 0, nullptr, &size), "piDeviceGetInfo");
    std::string text(size, '\0');
    check(piDeviceGetInfo(device, name, size, text.data(), nullptr), "piDeviceGetInfo");
    text.resize(std::strlen(text.c_str())); // without the terminating 0
    return text;
}

std::string selector_of(pi_loader loader, pi_device device) {
    uint64_t size = 0;
    check(piLoaderGetDeviceSelector(loader, device, 0, nullptr, &size),
          "piLoaderGetDeviceSelector");
    std::string text(size, '\0');
    check(piLoaderGetDeviceSelector(loader, device, size, text.data(), nullptr),
          "piLoaderGetDeviceSelector");
    text.resize(std::strlen(text.c_str())); // without the terminating 0
    return text;
}

/// The first form of the kernels that a device accepts.
KernelForm kernel_form(pi_device device, std::span<const KernelForm> forms) {
    uint32_t formats = 0;
    const pi_result result =
        piDeviceGetInfo(device, PI_DEVICE_INFO_PROGRAM_FORMATS, sizeof formats, &formats, nullptr);
    if (result == PI_ERROR_UNSUPPORTED_FEATURE) {
        return {}; // a plugin without programs
    }
    check(result, "piDeviceGetInfo(PROGRAM_FORMATS)");
    const auto found = std::find_if(forms.begin(), forms.end(), [&](const KernelForm &form) {
        return (formats & (1U << form.format)) != 0;
    });
    return found == forms.end() ? KernelForm{} : *found;
}

DeviceEntry describe(pi_loader loader, pi_device device, std::span<const KernelForm> forms) {
    DeviceEntry entry;
    entry.device = device;
    entry.selector = selector_of(loader, device);
    entry.kernels = kernel_form(device, forms);
    check(piDeviceGetInfo(device, PI_DEVICE_INFO_PLATFORM, sizeof entry.platform, &entry.platform,
                          nullptr),
          "piDeviceGetInfo");
    uint32_t backend = 0;
    check(piPlatformGetInfo(entry.platform, PI_PLATFORM_INFO_BACKEND, sizeof backend, &backend,
                            nullptr),
          "piPlatformGetInfo");
    entry.is_host = backend == PI_BACKEND_HOST;

    char platform[256] = "";
    check(piPlatformGetInfo(entry.platform, PI_PLATFORM_INFO_NAME, sizeof platform, platform,
                            nullptr),
          "piPlatformGetInfo");
    entry.title = device_text(device, PI_DEVICE_INFO_NAME) + " (" + platform + ")";
    return entry;
}

std::string why_left_out(const DeviceEntry &entry) {
    return entry.selector +
           " accepts none of these kernels: OpenCL C, native functions, PTX, SPIR-V";
}

/// In an order of seats: the program itself, at the host.
constexpr size_t application_seat = SIZE_MAX;

/// Collects seats on devices, each seat once.
class Seats {
public:
    /// The index of the seat in the list.
    size_t take(const DeviceEntry &entry, bool own_context) {
        for (size_t i = 0; i < seats_.size(); ++i) {
            if (devices_[i].device == entry.device && seats_[i].own_context == own_context) {
                return i;
            }
        }
        devices_.push_back(entry);
        seats_.push_back({seats_.size(), own_context});
        return seats_.size() - 1;
    }

    /// Creates the topology. `order` holds indices of seats, or application_seat; at least one.
    Work work(const std::vector<size_t> &order) const;

private:
    std::vector<std::vector<size_t>> groups() const;

    std::vector<DeviceEntry> devices_;
    std::vector<Seat> seats_;
};

/// Seats that share a context, in the order of their first.
std::vector<std::vector<size_t>> Seats::groups() const {
    std::vector<std::vector<size_t>> groups;
    std::map<pi_platform, size_t> shared;
    for (size_t i = 0; i < seats_.size(); ++i) {
        const auto known = shared.find(devices_[i].platform);
        if (!seats_[i].own_context && known != shared.end()) {
            groups[known->second].push_back(i);
            continue;
        }
        if (!seats_[i].own_context) {
            shared.emplace(devices_[i].platform, groups.size());
        }
        groups.push_back({i});
    }
    return groups;
}

Work Seats::work(const std::vector<size_t> &order) const {
    Work work;
    std::vector<std::vector<pi_device>> devices;
    std::vector<std::string> names;
    std::vector<pi::runtime::PlaceIndex> place_of(seats_.size());
    for (const std::vector<size_t> &group : groups()) {
        devices.emplace_back();
        for (const size_t seat : group) {
            devices.back().push_back(devices_[seat].device);
            work.devices.push_back(devices_[seat]);
            names.push_back(devices_[seat].selector + (seats_[seat].own_context ? "/own" : ""));
            place_of[seat] = static_cast<pi::runtime::PlaceIndex>(names.size());
        }
    }
    work.topology = pi::runtime::Topology::from_groups(devices, names);
    for (const size_t seat : order) {
        work.order.push_back(seat == application_seat ? pi::runtime::host_place : place_of[seat]);
    }
    return work;
}

} // namespace

std::vector<DeviceEntry> find_devices(pi_loader loader, const char *selector,
                                      std::span<const KernelForm> forms) {
    uint32_t count = 0;
    check(piLoaderSelectDevices(loader, selector, 0, nullptr, &count), "piLoaderSelectDevices");
    std::vector<pi_device> devices(count);
    check(piLoaderSelectDevices(loader, selector, count, devices.data(), &count),
          "piLoaderSelectDevices");
    devices.resize(std::min<size_t>(count, devices.size())); // a plugin may have failed meanwhile
    std::vector<DeviceEntry> entries;
    entries.reserve(devices.size());
    for (pi_device device : devices) {
        entries.push_back(describe(loader, device, forms));
    }
    return entries;
}

std::vector<Seat> default_order(std::span<const DeviceEntry> devices) {
    // The devices of each platform, platforms in order of appearance.
    std::vector<std::vector<size_t>> platforms;
    for (size_t i = 0; i < devices.size(); ++i) {
        const auto same = std::find_if(platforms.begin(), platforms.end(), [&](const auto &known) {
            return devices[known.front()].platform == devices[i].platform;
        });
        if (same == platforms.end()) {
            platforms.push_back({i});
        } else {
            same->push_back(i);
        }
    }
    std::stable_sort(platforms.begin(), platforms.end(), [&](const auto &a, const auto &b) {
        const bool a_is_host = devices[a.front()].is_host;
        const bool b_is_host = devices[b.front()].is_host;
        return std::pair(!a_is_host, a.size()) > std::pair(!b_is_host, b.size());
    });

    std::vector<Seat> first;
    std::vector<Seat> rest;
    for (const std::vector<size_t> &platform : platforms) {
        const size_t early = first.empty() ? 2 : 1;
        for (size_t i = 0; i < platform.size(); ++i) {
            (i < early ? first : rest).push_back({platform[i], false});
        }
        if (early == 2) {
            first.push_back({first.back().device, true});
        }
    }
    first.insert(first.end(), rest.begin(), rest.end());
    return first;
}

std::vector<Element> parse_devices(const std::string &list) {
    constexpr std::string_view suffix = "/own";
    std::vector<Element> elements;
    size_t begin = 0;
    while (begin <= list.size()) {
        const size_t end = std::min(list.find(',', begin), list.size());
        Element element{list.substr(begin, end - begin), false};
        element.own_context = element.selector.ends_with(suffix);
        if (element.own_context) {
            element.selector.resize(element.selector.size() - suffix.size());
        }
        if (element.selector.empty()) {
            throw std::invalid_argument("--devices \"" + list + "\": element " +
                                        std::to_string(elements.size() + 1) +
                                        " names no device: write plugin[:platform[:device]]");
        }
        elements.push_back(std::move(element));
        begin = end + 1;
    }
    return elements;
}

Work choose_places(pi_loader loader, const std::string &list, std::span<const KernelForm> forms,
                   const char *all, bool application) {
    Seats seats;
    std::vector<size_t> order;
    std::vector<std::string> left_out;
    if (list.empty()) {
        std::vector<DeviceEntry> usable;
        for (DeviceEntry &entry : find_devices(loader, all, forms)) {
            if (entry.kernels.format == 0) {
                left_out.push_back(why_left_out(entry));
            } else {
                usable.push_back(std::move(entry));
            }
        }
        for (size_t i = 0; application && i < usable.size(); ++i) {
            order.push_back(seats.take(usable[i], false));
        }
        for (const Seat &seat : application ? std::vector<Seat>{} : default_order(usable)) {
            order.push_back(seats.take(usable[seat.device], seat.own_context));
        }
    }
    for (const Element &element : list.empty() ? std::vector<Element>{} : parse_devices(list)) {
        if (application && element.selector == "application") {
            order.push_back(application_seat);
            continue;
        }
        for (const DeviceEntry &entry : find_devices(loader, element.selector.c_str(), forms)) {
            if (entry.kernels.format == 0) {
                throw std::runtime_error(why_left_out(entry));
            }
            order.push_back(seats.take(entry, element.own_context));
        }
    }
    if (application && list.empty() && !order.empty()) {
        order.push_back(application_seat);
    }
    if (order.empty()) {
        std::string text = "no device can run the kernels; pi-info lists the devices";
        for (const std::string &sentence : left_out) {
            text += "\n  " + sentence;
        }
        throw std::runtime_error(text);
    }
    Work work = seats.work(order);
    work.left_out = std::move(left_out);
    return work;
}

} // namespace examples
