// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "config.hpp"
#include "event.hpp"
#include "image.hpp"
#include "list.hpp"
#include "memory.hpp"
#include "module.hpp"
#include "simulator/machine.hpp"
#include "simulator/registry.hpp"

#include <condition_variable>
#include <mutex>
#include <new>
#include <string>

namespace pi::level_zero::simulated {

using drivers::DeviceModel, drivers::Machine, drivers::Registry;
using Lock = std::unique_lock<std::mutex>;

struct Device {
    ze_device_handle_t handle = nullptr;
    size_t index = 0;       ///< index in the machine's devices; a tile has its device's
    Device *root = nullptr; ///< a tile's device
    uint32_t tile = 0;      ///< a tile's number
    std::vector<ze_device_handle_t> tiles;
    DeviceModel model; ///< a tile has its share
    size_t used = 0;   ///< including its tiles' use
    bool lost = false; ///< its work did something forbidden: later calls on it return DEVICE_LOST
    Arena memory;

    /// Throws OUT_OF_DEVICE_MEMORY if less is free. A tile's memory counts as its device's.
    void need_room(size_t size) const;
    void take(size_t size);
    void give(size_t size);
};

/// The state of the whole driver, one for each driver file that the loader opens. Never destroyed,
/// since threads use it as long as the process lives.
struct Driver {
    Driver();

    std::mutex mutex;
    std::condition_variable
        changed; ///< a command was submitted or is done, an event signalled, a line closed
    bool initialised = false;
    ze_result_t state = ZE_RESULT_SUCCESS; ///< result of the first zeInit
    std::string number;                    ///< "_2" for the second file
    Config config;
    Machine machine;

    std::uint64_t handles; ///< beginning of this driver's range
    ze_driver_handle_t handle;
    Registry<Device, ze_device_handle_t> devices{1, handles}; ///< tiles come after all devices
    Registry<Context, ze_context_handle_t> contexts{2, handles};
    Registry<Queue, ze_command_queue_handle_t> queues{3, handles};
    Registry<List, ze_command_list_handle_t> lists{4, handles};
    Registry<Fence, ze_fence_handle_t> fences{5, handles};
    Registry<EventPool, ze_event_pool_handle_t> pools{6, handles};
    Registry<Event, ze_event_handle_t> events{7, handles};
    Registry<Module, ze_module_handle_t> modules{8, handles};
    Registry<BuildLog, ze_module_build_log_handle_t> logs{9, handles};
    Registry<Kernel, ze_kernel_handle_t> kernels{10, handles};
    Registry<Image, ze_image_handle_t> images{11, handles};
    Registry<Sampler, ze_sampler_handle_t> samplers{12, handles};

    Allocations allocations;                         ///< live ones
    std::map<std::uint64_t, std::uint64_t> reserved; ///< end of each range that memory ever had
    Arena host_memory;
    std::uint64_t next_id = 1;
    std::map<std::string, unsigned> calls; ///< per function, if faults are configured

    Device &device(ze_device_handle_t handle);
    std::shared_ptr<Context> context(ze_context_handle_t handle);
    /// Whether a device may use the other's memory in place.
    bool reaches(const Device &user, const Device &owner) const;
};

Driver &driver();

/// The object of a handle. Throws INVALID_NULL_HANDLE, or INVALID_ARGUMENT for a destroyed object
/// or one of another kind.
template <class Object, class Handle>
std::shared_ptr<Object> find(const Registry<Object, Handle> &registry, Handle handle) {
    need(handle != nullptr, ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
    std::shared_ptr<Object> object = registry.find(handle);
    need(object != nullptr, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    return object;
}

template <class... Pointers>
void need_pointers(const Pointers *...pointers) {
    need((... && (pointers != nullptr)), ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}

/// A call of the driver, under its lock.
template <class F>
ze_result_t call(F body) {
    try {
        Driver &all = driver();
        Lock lock(all.mutex);
        need(all.initialised, ZE_RESULT_ERROR_UNINITIALIZED);
        need(all.state == ZE_RESULT_SUCCESS, all.state);
        body(lock);
        return ZE_RESULT_SUCCESS;
    } catch (const Failure &failure) {
        return failure.code;
    } catch (const std::bad_alloc &) {
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
}

/// A call on the driver itself.
template <class F>
ze_result_t call_of(ze_driver_handle_t handle, F body) {
    return call([&](Lock &) {
        need(handle != nullptr, ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
        need(handle == driver().handle, ZE_RESULT_ERROR_INVALID_ARGUMENT);
        body();
    });
}

/// Waits until the condition holds or the device is lost. Throws NOT_READY at the timeout.
template <class Condition>
void wait(Lock &lock, std::uint64_t nanoseconds, const Condition &condition) {
    std::condition_variable &changed = driver().changed;
    // Timeouts beyond the clock's range never expire.
    if (nanoseconds >= std::uint64_t(1) << 60)
        changed.wait(lock, condition);
    else if (!condition())
        need(nanoseconds > 0 &&
                 changed.wait_for(lock, std::chrono::nanoseconds(nanoseconds), condition),
             ZE_RESULT_NOT_READY);
}

/// A query of a list: a *count of 0 returns the number of elements, else at most *count are
/// returned.
template <class Give>
void give(std::uint32_t *count, size_t available, const void *out, const Give &each) {
    need_pointers(count);
    if (*count == 0 || *count > available)
        *count = static_cast<std::uint32_t>(available);
    for (size_t i = 0; out && i < *count; ++i)
        each(i);
}

/// Returns the text with a final 0, and its size.
void give_text(const std::string &text, size_t *size, char *out);

} // namespace pi::level_zero::simulated
