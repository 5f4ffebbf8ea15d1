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
    size_t index = 0;       ///< of the machine's devices; a tile has that of its device
    Device *root = nullptr; ///< of a tile: the device
    uint32_t tile = 0;      ///< its number
    std::vector<ze_device_handle_t> tiles;
    DeviceModel model; ///< of a tile: its share
    size_t used = 0;   ///< also what its tiles use
    bool lost =
        false; ///< its work did what no device may do: from then on every call on it answers this
    Arena memory;

    /// Throws OUT_OF_DEVICE_MEMORY where so much is not free. What a tile has its device has not.
    void need_room(size_t size) const;
    void take(size_t size);
    void give(size_t size);
};

/// All that there is: one of them for each file of the driver that the loader opens. It is never destroyed, since threads use
/// it as long as the process lives.
struct Driver {
    Driver();

    std::mutex mutex;
    std::condition_variable
        changed; ///< a command was submitted or is done, an event signalled, a line closed
    bool initialised = false;
    ze_result_t state = ZE_RESULT_SUCCESS; ///< of the first zeInit
    std::string number;                    ///< "_2" of the second file
    Config config;
    Machine machine;

    std::uint64_t handles; ///< where those of this driver begin
    ze_driver_handle_t handle;
    Registry<Device, ze_device_handle_t> devices{1, handles}; ///< tiles behind all devices
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

    Allocations allocations;                         ///< that live
    std::map<std::uint64_t, std::uint64_t> reserved; ///< ends of all ranges that memory ever had
    Arena host_memory;
    std::uint64_t next_id = 1;
    std::map<std::string, unsigned> calls; ///< of each function, where faults are planned

    Device &device(ze_device_handle_t handle);
    std::shared_ptr<Context> context(ze_context_handle_t handle);
    /// Whether a device may use the other's memory in place.
    bool reaches(const Device &user, const Device &owner) const;
};

Driver &driver();

/// The object of a handle, or throws: INVALID_NULL_HANDLE, or INVALID_ARGUMENT for one that is destroyed or none of this kind.
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

/// Waits until it is so, or the device is lost, or the time is over: then throws NOT_READY.
template <class Condition>
void wait(Lock &lock, std::uint64_t nanoseconds, const Condition &condition) {
    std::condition_variable &changed = driver().changed;
    // What does not fit into a clock is for ever.
    if (nanoseconds >= std::uint64_t(1) << 60)
        changed.wait(lock, condition);
    else if (!condition())
        need(nanoseconds > 0 &&
                 changed.wait_for(lock, std::chrono::nanoseconds(nanoseconds), condition),
             ZE_RESULT_NOT_READY);
}

/// How counts are asked for: 0 asks how many there are, else at most so many are wanted.
template <class Give>
void give(std::uint32_t *count, size_t available, const void *out, const Give &each) {
    need_pointers(count);
    if (*count == 0 || *count > available)
        *count = static_cast<std::uint32_t>(available);
    for (size_t i = 0; out && i < *count; ++i)
        each(i);
}

/// The text with a 0 behind it, and its size.
void give_text(const std::string &text, size_t *size, char *out);

} // namespace pi::level_zero::simulated
