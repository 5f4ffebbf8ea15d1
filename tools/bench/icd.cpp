// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exported calls compared with those of the OpenCL ICD loader, which does the same: its handles
// also begin with a pointer to a function table.
#include "call_loop.hpp"
#include "equipment.hpp"
#include "opencl.hpp"
#include "session.hpp"

#include <pi/pi_plugin.h>

#include <CL/cl_icd.h>

#include <stdexcept>

namespace pi_bench {
namespace {

/// A device as the ICD loader expects it, of a driver that returns immediately.
struct IdleDevice {
    const cl_icd_dispatch *dispatch;
};

cl_int CL_API_CALL idle_retain(cl_device_id) {
    return CL_SUCCESS;
}

void beside_idle_driver(Session &session, const OpenCl &cl, pi_device ours) {
    cl_icd_dispatch table{};
    table.clRetainDevice = idle_retain;
    IdleDevice idle{&table};
    const auto device = reinterpret_cast<cl_device_id>(&idle);
    session.compare(
        "exported call, against the ICD loader's",
        "clRetainDevice through the OpenCL ICD loader, with a driver that returns immediately",
        Unit::nanoseconds, [&](uint64_t count) { call_often(count, piDeviceRetain, ours); },
        [&](uint64_t count) { call_often(count, cl.clRetainDevice, device); });
}

void overhead(Session &session, const OpenCl &cl, pi_device ours) {
    const std::string name = "overhead of an exported call, against the ICD loader's";
    if (!session.wants(name)) {
        return;
    }
    const std::vector<ClDevice> devices = all_devices(cl);
    if (devices.empty()) {
        throw std::runtime_error("no OpenCL platform has a device");
    }
    const cl_device_id device = devices.front().id;
    const auto *dispatch = *reinterpret_cast<const cl_icd_dispatch *const *>(device);
    const auto bare = reinterpret_cast<const pi_object_header *>(ours)->dispatch->piDeviceRetain;
    cl_uint units = 0;
    const auto ask = [&](decltype(cl.clGetDeviceInfo) function) {
        return [&, function](uint64_t count) {
            call_often(count, function, device, cl_device_info{CL_DEVICE_MAX_COMPUTE_UNITS},
                       sizeof units, static_cast<void *>(&units), static_cast<size_t *>(nullptr));
        };
    };
    const Times theirs =
        interleave(ask(cl.clGetDeviceInfo), ask(dispatch->clGetDeviceInfo), session.effort());
    const Times mine =
        interleave([&](uint64_t count) { call_often(count, piDeviceRetain, ours); },
                   [&](uint64_t count) { call_often(count, bare, ours); }, session.effort());
    const double limit = median(differences(theirs.ours, theirs.limit));
    const double added = median(differences(mine.ours, mine.limit));
    if (limit <= 0 || added <= 0) {
        session.skip(name, "lost in the noise: the ICD loader added " + std::to_string(limit) +
                               " ns, ours " + std::to_string(added) + " ns");
        return;
    }
    session.add(
        {name, added, limit,
         "the overhead of the ICD loader in clGetDeviceInfo over a call through the driver's "
         "own table; both are differences of two calls, the ratio is that of their medians",
         added / limit, "ns"});
}

} // namespace

void bench_calls_beside_icd(Session &session) {
    session.attempt("calls against the OpenCL ICD loader's", [&] {
        const pi::Loader loader = load_only({equipment("libpi_plugin_bench_first.so")});
        const pi_device ours = loader.select_devices("*").at(0).get();
        const std::string library = variable(pi::Loader::create(), "PI_OPENCL_LIBRARY");
        const OpenCl cl(library.empty() ? "libOpenCL.so.1" : library);
        beside_idle_driver(session, cl, ours);
        session.attempt("overhead of an exported call, against the ICD loader's",
                        [&] { overhead(session, cl, ours); });
    });
}

} // namespace pi_bench
