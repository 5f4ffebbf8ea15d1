// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Workarounds for particular drivers, in one table: everything that the plugin does differently for
// one of them depends on a bit of it. Rules that apply to all drivers (never wait in the vendor for
// a command that may not have been flushed, never pass a failed event to the vendor) are part of
// the plugin's design.
#pragma once

#include <cstdint>
#include <string_view>

namespace pi::opencl {

using Quirks = uint32_t;
enum : Quirks {
    /// A command goes to the vendor only when all its dependencies are complete.
    QUIRK_HOLD_DEPENDENTS = 1 << 0,
    /// A device is given one command at a time, from the enqueue until the flush has returned.
    QUIRK_DEVICE_LOCK = 1 << 1,
    /// A sub-buffer may begin at any byte, whatever CL_DEVICE_MEM_BASE_ADDR_ALIGN says.
    QUIRK_ANY_SUB_BUFFER_ORIGIN = 1 << 2,
    /// Buffers begin at multiples of 64 bytes and no more.
    QUIRK_ALIGNMENT_64 = 1 << 3,
    /// Queues have no profiling.
    QUIRK_NO_PROFILING = 1 << 4,
    /// Programs are not created from binaries.
    QUIRK_NO_BINARIES = 1 << 5,
    /// A dimension of a launch ends below 2^32 work-items.
    QUIRK_32_BIT_WORK_SIZES = 1 << 6,
    /// All maps of a buffer go through one queue, so that they end in the order in which they
    /// begin.
    QUIRK_MAPS_IN_ORDER = 1 << 7,
    /// A command whose event is complete when its enqueue returns needs no wait.
    QUIRK_RUNS_IN_CALLS = 1 << 8,
    /// Profiling times are readings of the host's CLOCK_MONOTONIC_RAW.
    QUIRK_CLOCK_MONOTONIC_RAW = 1 << 9,
    /// Sub-devices that the plugin has created stay until the process ends.
    QUIRK_KEEP_SUB_DEVICES = 1 << 10,
    /// Programs to be linked are compiled and linked for all devices of their context.
    QUIRK_LINKS_FOR_ALL = 1 << 11,
    /// Views of buffers as images begin at the buffer's first byte.
    QUIRK_NO_SUB_BUFFER_IMAGES = 1 << 12,
    /// Copies between images of different types go through a buffer.
    QUIRK_NO_UNLIKE_IMAGE_COPIES = 1 << 13,
    /// Images are created from dense pixels only.
    QUIRK_NO_IMAGE_PITCHES = 1 << 14,
    /// Sub-devices have no images.
    QUIRK_NO_SUB_DEVICE_IMAGES = 1 << 15,
    /// Builds, compilations and links may fail by chance, and are repeated.
    QUIRK_BUILD_AGAIN = 1 << 16,
    /// The compiler accepts -g, which OpenCL does not define.
    QUIRK_DEBUG_OPTION = 1 << 17,
    /// Out-of-order queues are released some time after PI's.
    QUIRK_RELEASE_LATER = 1 << 18,
    /// Each build or compilation uses a new vendor program.
    QUIRK_BUILDS_ONCE = 1 << 19,
    /// Sources that name no standard are built as OpenCL C 3.0.
    QUIRK_STANDARD_FOR_NON_UNIFORM = 1 << 20,
    /// Copies within an image of layers go through a buffer.
    QUIRK_NO_COPIES_WITHIN_ARRAYS = 1 << 21,
    /// Blocking commands are enqueued without blocking, flushed and waited for.
    QUIRK_NO_BLOCKING_CALLS = 1 << 22,
};

/// The bits of a device: of all rows whose `platform` is part of the platform's name, whose
/// `device` begins the device's name, and whose `version` is part of the platform's or the driver's
/// version.
Quirks find_quirks(std::string_view platform_name, std::string_view platform_version,
                   std::string_view device_name, std::string_view driver_version);

struct QuirkRow {
    const char *platform; ///< part of the platform's name; "" = any
    const char *version;  ///< part of the platform's or the driver's version; "" = any
    const char *device;   ///< beginning of the device's name, or several separated by '|'; "" = any
    Quirks bits;
    const char *reason;
};
/// The table; the last row has no reason.
extern const QuirkRow quirk_rows[];

} // namespace pi::opencl
