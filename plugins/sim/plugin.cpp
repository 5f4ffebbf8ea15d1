// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The exported symbol, the table of the plugin's functions, and the faults before each of them.
#include "plugin.hpp"

#include "entries.hpp"
#include "memory.hpp"
#include "native.hpp"
#include "queue.hpp"

#include <algorithm>
#include <thread>

namespace pi::sim {

namespace {

using sdk::release_entry;
using sdk::retain_entry;

using Plugin = sdk::plugin_entries<Instance, this_plugin>;

constexpr pi_dispatch make_functions() {
    pi_dispatch table = {
        .struct_size = sizeof(pi_dispatch),
        .version_major = PI_VERSION_MAJOR,
        .version_minor = PI_VERSION_MINOR,
        .piPluginGetInfo = Plugin::get_info,
        .piPluginGetExtension = entries::piPluginGetExtension,
        .piPlatformsGet = entries::piPlatformsGet,
        .piPlatformGetInfo = entries::piPlatformGetInfo,
        .piDevicesGet = entries::piDevicesGet,
        .piDeviceGetInfo = entries::piDeviceGetInfo,
        .piDeviceRetain = entries::piDeviceRetain,
        .piDeviceRelease = entries::piDeviceRelease,
        .piDeviceGetGlobalTimestamps = entries::piDeviceGetGlobalTimestamps,
        .piDeviceGetMemoryScopes = entries::piDeviceGetMemoryScopes,
        .piContextCreate = sdk::context_create<Context, Platform>,
        .piGetMemoryConnection = entries::piGetMemoryConnection,
        .piGetMemoryConnectionInfo = entries::piGetMemoryConnectionInfo,
        .piQueueCreate = entries::piQueueCreate,
        .piMemBufferCreate = entries::piMemBufferCreate,
        .piMemBufferPartition = entries::piMemBufferPartition,
        .piMemImport = entries::piMemImport,
        .piMemExport = entries::piMemExport,
        .piMemGetInfo = entries::piMemGetInfo,
        .piMemGetHostPointer = entries::piMemGetHostPointer,
        .piMemFlush = entries::piMemFlush,
        .piMemInvalidate = entries::piMemInvalidate,
        .piMemRetain = retain_entry<Mem>,
        .piMemRelease = release_entry<Mem>,
        .piEnqueueMemBufferRead = entries::piEnqueueMemBufferRead,
        .piEnqueueMemBufferWrite = entries::piEnqueueMemBufferWrite,
        .piEnqueueMemBufferCopy = entries::piEnqueueMemBufferCopy,
        .piEnqueueMemBufferFill = entries::piEnqueueMemBufferFill,
        .piEnqueueMemBufferMap = entries::piEnqueueMemBufferMap,
        .piEnqueueMemUnmap = entries::piEnqueueMemUnmap,
    };
    sdk::context_entries<Context>::fill(table);
    sdk::queue_entries<Queue>::fill(table);
    sdk::event_entries::fill<Context>(table);
    table.piEventWait = entries::piEventWait;
    table.piEventGetInfo = entries::piEventGetInfo;
    table.piEventSetCallback = entries::piEventSetCallback;
    table.piEventCreateHost = entries::piEventCreateHost;
    table.piEventSignalHost = entries::piEventSignalHost;
    sdk::native_entries<Native>::fill(table);
    sdk::native_launch_entries<Native>::fill(table);
    return table;
}

constexpr pi_dispatch functions = make_functions();

// ----- faults ------------------------------------------------------------------------------------

enum FunctionIndex : size_t {
#define PI_FUNCTION(name, group, needs, since) index_##name,
#include <pi/pi_functions.def>
};

template <class Handle>
const pi_host *host_of(Handle handle) {
    return reinterpret_cast<const sdk::ObjectBase *>(handle)->host;
}
/// For an object of any kind: the handle may be of a wrong one.
template <class Handle>
Instance &instance_behind(Handle handle) {
    if (reinterpret_cast<const pi_object_header *>(handle)->kind == PI_KIND_PLUGIN)
        return Instance::from(reinterpret_cast<pi_plugin>(handle));
    return instance_of(host_of(handle));
}

/// A function that applies the machine's faults first.
template <size_t Index, auto Slot>
struct Faulty;
template <size_t Index, class First, class... Rest,
          pi_result (PI_CALL *pi_dispatch::*Slot)(First, Rest...)>
struct Faulty<Index, Slot> {
    static pi_result PI_CALL call(First first, Rest... rest) {
        const FaultSpec *fault = instance_behind(first).faults().next(Index);
        if (!fault)
            return (functions.*Slot)(first, rest...);
        if (fault->result != PI_SUCCESS && !fault->part) {
            const pi_host *host = host_of(first);
            return sdk::guard(host, [&] { sdk::fail(fault->result, describe(*fault)); });
        }
        const FaultSpec *before = std::exchange(Faults::of_this_call(), fault);
        const pi_result result = (functions.*Slot)(first, rest...);
        Faults::of_this_call() = before;
        return result;
    }
};

pi_dispatch make_faulty_functions() {
    pi_dispatch faulty = functions;
#define PI_FUNCTION(name, group, needs, since)                                                     \
    if (functions.name)                                                                            \
        faulty.name = Faulty<index_##name, &pi_dispatch::name>::call;
#include <pi/pi_functions.def>
    return faulty;
}

/// Not a constant: with sanitizers gcc cannot compare a function with NULL at compile time.
const pi_dispatch &faulty_functions() {
    static const pi_dispatch faulty = make_faulty_functions();
    return faulty;
}

/// The machine that the option names; after an error an empty one, and the error in `problem`.
Machine find_machine(const pi_host *host, std::optional<sdk::Error> &problem) {
    try {
        const Config config = read_config(host);
        const Document document(config.machine);
        return read_machine(document, config.machine);
    } catch (const sdk::Error &error) {
        problem = error;
        return {};
    }
}

} // namespace

Instance::Instance(const pi_host *loader)
    : Object(loader), machine_(find_machine(loader, problem_)), host_(*loader, *this),
      links_(machine_), faults_(machine_), platform_(&host_, *this, machine_),
      // At least four on any machine: a host function may wait for the work of another thread.
      workers_(std::max(4u, std::thread::hardware_concurrency())) {}

} // namespace pi::sim

pi_result PI_CALL piPluginMain(const pi_host *host, pi_plugin_desc *out_desc) {
    return pi::sim::Plugin::main(host, out_desc, pi::sim::faulty_functions());
}
