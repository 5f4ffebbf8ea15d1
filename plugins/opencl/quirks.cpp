// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "quirks.hpp"

namespace pi::opencl {

// Each row has its own test in test/quirks_*_test.cpp; the rows of Oclgrind are covered by the
// conformance suite's run on it.
namespace {

// Names of PoCL's CPU drivers: before version 4, and from then on.
constexpr const char *basic_driver = "basic|cpu-minimal", *thread_driver = "pthread|cpu";

} // namespace

const QuirkRow quirk_rows[] = {
    {"Portable Computing Language", "", "", QUIRK_MAPS_IN_ORDER,
     "an unmap takes the oldest map with its address, whose command may not have run: memory that "
     "the map still needs is then freed"},
    {"Portable Computing Language", "", basic_driver, QUIRK_HOLD_DEPENDENTS,
     "waits for events of a device of another kind (pthread) can last for ever"},
    {"Portable Computing Language", "", basic_driver, QUIRK_DEVICE_LOCK,
     "commands run inside the calls; one that another thread enqueues behind one that just ends is "
     "run within its notification and locks the same event again"},
    {"Portable Computing Language", "", basic_driver, QUIRK_RUNS_IN_CALLS,
     "commands run in the thread that enqueues them; a wait only costs"},
    {"Portable Computing Language", "", basic_driver, QUIRK_CLOCK_MONOTONIC_RAW,
     "profiling times are readings of CLOCK_MONOTONIC_RAW; there is no clGetDeviceAndHostTimer"},
    {"Portable Computing Language", "", thread_driver, QUIRK_CLOCK_MONOTONIC_RAW,
     "profiling times are readings of CLOCK_MONOTONIC_RAW; there is no clGetDeviceAndHostTimer"},
    {"Portable Computing Language", "", thread_driver, QUIRK_KEEP_SUB_DEVICES,
     "the driver's threads still use the device of a command that has ended and been released"},
    {"Portable Computing Language", "", "", QUIRK_BUILD_AGAIN,
     "processes that write the same entry of the cache of programs at once can fail to build it"},
    {"Portable Computing Language", "", "", QUIRK_NO_SUB_DEVICE_IMAGES,
     "commands on images end the process when their queue is of a sub-device"},
    {"Portable Computing Language", "", "", QUIRK_NO_SUB_BUFFER_IMAGES,
     "images of sub-buffers are refused"},
    {"Portable Computing Language", "", "", QUIRK_DEBUG_OPTION,
     "-g asks for what debuggers need; other compilers fail a build with it"},
    {"Intel(R) OpenCL", "", "", QUIRK_DEBUG_OPTION,
     "-g asks for what debuggers need (Intel's Developer Guide, Enabling Debugging)"},
    {"Intel(R) OpenCL", "", "", QUIRK_RELEASE_LATER,
     "an out-of-order queue that is released while its last command leaves the driver, though it "
     "is "
     "complete, waits for itself for ever"},
    {"Intel(R) OpenCL", "", "", QUIRK_BUILDS_ONCE,
     "a build or compilation after one that failed fails as well, one after a compilation keeps "
     "its options, and a second compilation with equal options fails"},
    {"Intel(R) OpenCL", "", "", QUIRK_STANDARD_FOR_NON_UNIFORM,
     "a program built without -cl-std is of OpenCL C 1.2, whose launches have uniform groups only"},
    {"Intel(R) OpenCL", "", "", QUIRK_NO_COPIES_WITHIN_ARRAYS,
     "copies between layers of one image are refused as overlapping where their ends are disjoint"},
    {"Portable Computing Language", "", "", QUIRK_NO_BLOCKING_CALLS,
     "a blocking call waits for all commands of its queue, also those of other threads"},
    {"rusticl", "", "", QUIRK_NO_BLOCKING_CALLS,
     "a blocking call returns early when another thread flushes its queue"},
    {"Oclgrind", "", "", QUIRK_DEVICE_LOCK,
     "commands run inside the flush, and two kernels at once end the process"},
    {"Oclgrind", "", "", QUIRK_NO_IMAGE_PITCHES, "the pitches of an image's host_ptr are ignored"},
    {"Oclgrind", "", "", QUIRK_RUNS_IN_CALLS,
     "a callback that is set on a complete event is never called"},
    {"Portable Computing Language", "", "", QUIRK_LINKS_FOR_ALL,
     "a link for other devices than the first ones that each program was compiled for, or in "
     "another order, ends the process"},
    {"rusticl", "", "llvmpipe", QUIRK_ANY_SUB_BUFFER_ORIGIN,
     "sub-buffers work at any byte, although an alignment of 512 bytes is announced"},
    {"rusticl", "", "llvmpipe", QUIRK_ALIGNMENT_64,
     "buffers are aligned to 64 bytes, although OpenCL has types of 128"},
    {"rusticl", "", "", QUIRK_NO_PROFILING, "all profiling times are 0"},
    {"rusticl", "", "", QUIRK_NO_BINARIES, "bytes that are no binary end the process"},
    {"rusticl", "", "", QUIRK_32_BIT_WORK_SIZES,
     "a count of work-groups that does not fit 32 bits ends the process"},
    {"rusticl", "", "", QUIRK_NO_SUB_BUFFER_IMAGES, "images of sub-buffers show other bytes"},
    {"rusticl", "", "", QUIRK_NO_UNLIKE_IMAGE_COPIES,
     "copies between 1-D arrays and other images move other pixels"},
    {},
};

namespace {

/// Whether the name begins with one of the alternatives.
bool begins_with(std::string_view name, std::string_view alternatives) {
    for (size_t end = 0; end != std::string_view::npos;) {
        end = alternatives.find('|');
        const std::string_view one = alternatives.substr(0, end);
        if (name.substr(0, one.size()) == one)
            return true;
        alternatives.remove_prefix(one.size() + (end != std::string_view::npos));
    }
    return false;
}

} // namespace

Quirks find_quirks(std::string_view platform_name, std::string_view platform_version,
                   std::string_view device_name, std::string_view driver_version) {
    Quirks bits = 0;
    for (const QuirkRow *row = quirk_rows; row->reason; ++row) {
        const bool version = platform_version.find(row->version) != std::string_view::npos ||
                             driver_version.find(row->version) != std::string_view::npos;
        if (platform_name.find(row->platform) != std::string_view::npos && version &&
            begins_with(device_name, row->device))
            bits |= row->bits;
    }
    return bits;
}

} // namespace pi::opencl
