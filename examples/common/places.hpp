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

/// A device and its properties.
struct DeviceEntry {
    pi_device device = nullptr;
    pi_platform platform = nullptr;
    std::string selector; ///< "opencl:0:1"
    std::string title;    ///< "pthread-... (Portable Computing Language)"
    bool is_host = false; ///< a device of the host plugin
    KernelForm kernels;   ///< its form; format 0: the device accepts none of the forms
};

/// The devices of a selector; NULL: those of PI_DEVICE_SELECTOR, or all. Throws pi::runtime::Error;
/// for an unknown device the text lists the existing ones.
std::vector<DeviceEntry> find_devices(pi_loader loader, const char *selector,
                                      std::span<const KernelForm> forms);

/// A device that shares its context with the other devices of its platform, or does not.
struct Seat {
    size_t device = 0; ///< index into a list of devices
    bool own_context = false;
    friend bool operator==(const Seat &, const Seat &) = default;
};

/// The default order of work, in which every route is taken that the devices allow: first a
/// platform's first two devices, which share a context, and the second (or only) one again in its
/// own context; then one device of each other platform; then all others. The host plugin's devices
/// come last, unless there are no others. A pure function.
std::vector<Seat> default_order(std::span<const DeviceEntry> devices);

/// One element of --devices: "opencl:0:1" or, for its own context, "opencl:0:1/own".
struct Element {
    std::string selector;
    bool own_context = false;
    friend bool operator==(const Element &, const Element &) = default;
};
/// Splits a list at its commas. An empty element is std::invalid_argument.
std::vector<Element> parse_devices(const std::string &list);

/// The places, and the stages' places in turn (repeated).
struct Work {
    std::shared_ptr<const pi::runtime::Topology> topology;
    std::vector<DeviceEntry> devices; ///< [place - 1]
    std::vector<pi::runtime::PlaceIndex>
        order; ///< at least one; the host if choose_places allows the application
    std::vector<std::string> left_out; ///< sentences on devices that are not used
};

/// The places for --devices; if `list` is empty, all devices that `all` selects, in default_order.
/// `application`: the word "application" in a list means the program itself, at the host, and
/// without a list the order is each device once, then the application. Throws pi::runtime::Error,
/// or std::runtime_error if no device can do the work.
Work choose_places(pi_loader loader, const std::string &list, std::span<const KernelForm> forms,
                   const char *all = nullptr, bool application = false);

} // namespace examples
