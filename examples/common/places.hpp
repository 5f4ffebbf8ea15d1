// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernel_form.hpp"

#include <pi/pi_loader.h>
#include <pi/runtime/topology.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace examples {

/// A device as the program sees it.
struct DeviceEntry {
    pi_device device = nullptr;
    pi_platform platform = nullptr;
    std::string selector; ///< "opencl:0:1"
    std::string title;    ///< "pthread-... (Portable Computing Language)"
    bool is_host = false; ///< a device of the host plugin
    KernelForm kernels;   ///< those that it gets; format 0: it takes none of the forms
};

/// The devices that a selector means; NULL: all, or those of PI_DEVICE_SELECTOR. Throws
/// pi::runtime::Error; for an unknown device the text lists those that exist.
std::vector<DeviceEntry> find_devices(pi_loader loader, const char *selector,
                                      std::span<const KernelForm> forms);

/// A device with the wish to share its context with the other devices of its platform, or not to.
struct Seat {
    size_t device = 0; ///< index into a list of devices
    bool own_context = false;
    friend bool operator==(const Seat &, const Seat &) = default;
};

/// The order of work when none is asked for, such that every route is taken that the devices allow:
/// first a platform with its first two devices, which share a context, and the second (or only) one
/// again in a context of its own; then a device of each other platform; then all the rest. The host
/// plugin's devices come last, unless there are no others. A pure function.
std::vector<Seat> default_order(std::span<const DeviceEntry> devices);

/// One element of --devices: "opencl:0:1" or, for a context of its own, "opencl:0:1/own".
struct Element {
    std::string selector;
    bool own_context = false;
    friend bool operator==(const Element &, const Element &) = default;
};
/// Splits a list at its commas. An empty element is std::invalid_argument.
std::vector<Element> parse_devices(const std::string &list);

/// Where the work happens: the places, and for each stage in turn the place of it (going round).
struct Work {
    std::shared_ptr<const pi::runtime::Topology> topology;
    std::vector<DeviceEntry> devices; ///< [place - 1]
    std::vector<pi::runtime::PlaceIndex>
        order; ///< at least one; the host where choose_places may take the application
    std::vector<std::string> left_out; ///< sentences on devices that are not used
};

/// The places for --devices, or for its absence when `list` is empty: then of all devices that `all`
/// selects, in default_order. `application`: the word "application" in a list means the program itself, at the bare
/// host, and without a list the order is each device once, then the application. Throws pi::runtime::Error or
/// std::runtime_error when there is no device that can do the work.
Work choose_places(pi_loader loader, const std::string &list, std::span<const KernelForm> forms,
                   const char *all = nullptr, bool application = false);

} // namespace examples
