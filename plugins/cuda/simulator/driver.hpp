// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "config.hpp"
#include "event.hpp"
#include "memory.hpp"
#include "module.hpp"
#include "simulator/machine.hpp"
#include "simulator/registry.hpp"

#include <condition_variable>
#include <mutex>
#include <new>

namespace pi::cuda::simulated {

using drivers::DeviceModel, drivers::Machine, drivers::Registry;

/// The code that a call answers.
struct Failure {
    CUresult code;
};

inline void need(bool condition, CUresult code) {
    if (!condition)
        throw Failure{code};
}

struct Device {
    int ordinal = 0;
    DeviceModel model;
    size_t used = 0;
    std::shared_ptr<Context> primary;
    int primary_count = 0;
    unsigned primary_flags = 0;
    std::shared_ptr<Pool> default_pool, current_pool;
    std::uint64_t tickets = 0;        ///< of tasks
    std::shared_ptr<SharedFile> file; ///< that its plain memory is in
};

/// What another process exported, and how often it was opened here.
struct Opened {
    CUipcMemHandle handle{};
    int count = 0;
};

/// Throws INVALID_VALUE for one that the driver does not know.
int attribute_of(const Device &device, CUdevice_attribute attribute);

/// Whether its kernels use all memory of the process as it is.
inline bool uses_pageable_memory(const Device &device);

/// Bytes of a channel; throws INVALID_VALUE for a format that images do not have.
size_t channel_size(CUarray_format format);

struct Array {
    CUarray handle = nullptr;
    std::shared_ptr<Context> context;
    CUDA_ARRAY3D_DESCRIPTOR description{};
    size_t element = 0, row = 0, slice = 0; ///< bytes
    std::shared_ptr<Allocation> memory;
};

/// How kernels read an array or pixels in memory, and how they load and store an array's.
struct Texture {
    CUtexObject handle = 0;
    std::shared_ptr<Context> context;
    std::shared_ptr<Array> array;  ///< null for memory
    CUDA_RESOURCE_DESC resource{}; ///< what it was made of
    CUDA_TEXTURE_DESC how{};
};
struct Surface {
    CUsurfObject handle = 0;
    std::shared_ptr<Context> context;
    std::shared_ptr<Array> array;
};

/// A link that is under way.
struct LinkState {
    CUlinkState handle = nullptr;
    std::shared_ptr<Context> context;
    std::vector<std::string> images;
    std::string cubin; ///< of all of them, once it is complete
    Log log;
};

/// Physical memory of cuMemCreate: a file, so that other processes can have it.
struct Physical {
    CUmemGenericAllocationHandle handle = 0;
    int file = -1;
    size_t size = 0;
    Device *device = nullptr;
    bool charged = false; ///< made here, not imported
    CUmemAllocationProp properties{};
    Physical() = default;
    Physical(const Physical &) = delete;
    ~Physical();
};

/// Addresses of cuMemAddressReserve, and the range beside it in which the driver maps the same.
struct Reservation {
    CUdeviceptr address = 0;
    size_t size = 0;
    MmapRegion view;
};

/// All that there is: one of them a process, as of a driver. It is never destroyed, since streams' threads use it.
struct Driver {
    std::mutex mutex;
    std::condition_variable changed; ///< a task was enqueued or has ended, or a stream was closed
    bool initialised = false;
    CUresult state = CUDA_SUCCESS; ///< of the first cuInit
    Config config;
    Machine machine;
    std::vector<std::unique_ptr<Device>> devices;

    Registry<Context, CUcontext> contexts{1};
    Registry<Stream, CUstream> streams{2};
    Registry<Event, CUevent> events{3};
    Registry<Module, CUmodule> modules{4};
    Registry<Function, CUfunction> functions{5};
    Registry<Array, CUarray> arrays{6};
    Registry<Pool, CUmemoryPool> pools{7};
    Registry<Physical, CUmemGenericAllocationHandle> physical{8};
    Registry<LinkState, CUlinkState> links{9};
    Registry<Texture, CUtexObject> textures{10};
    Registry<Surface, CUsurfObject> surfaces{11};
    std::map<CUdeviceptr, std::shared_ptr<Allocation>> allocations;
    std::map<CUdeviceptr, Reservation> reservations;
    std::map<CUdeviceptr, Opened> opened;
    unsigned long long next_id = 1;
    std::vector<std::string> leaked; ///< with contexts that are gone

    void wait(std::unique_lock<std::mutex> &lock, const std::vector<Point> &points);
    Device &device(CUdevice ordinal); ///< or throws INVALID_DEVICE
};

Driver &driver();

bool uses_pageable_memory(const Device &device) {
    return device.ordinal < driver().config.pageable;
}

/// What a thread has.
struct Thread {
    std::vector<std::shared_ptr<Context>> stack; ///< the current context is the last; null is none
    bool in_callback = false;                    ///< runs a function of cuLaunchHostFunc
    size_t pushed = 0;                           ///< contexts that were pushed and not popped
    ~Thread();
};

Thread &this_thread();

using Lock = std::unique_lock<std::mutex>;

/// The current context, or throws: INVALID_CONTEXT, CONTEXT_IS_DESTROYED, or what has spoilt it.
std::shared_ptr<Context> current_context();

/// A call of the driver: initialised, not from a host function, under the lock.
template <class F>
CUresult call(F body) {
    if (this_thread().in_callback)
        return CUDA_ERROR_NOT_PERMITTED;
    try {
        Driver &all = driver();
        Lock lock(all.mutex);
        need(all.initialised, CUDA_ERROR_NOT_INITIALIZED);
        need(all.state == CUDA_SUCCESS, all.state);
        return body(lock);
    } catch (const Failure &failure) {
        return failure.code;
    } catch (const std::bad_alloc &) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
}

/// A call that needs a context.
template <class F>
CUresult call_in_context(F body) {
    return call([&](Lock &lock) { return body(current_context(), lock); });
}

} // namespace pi::cuda::simulated
