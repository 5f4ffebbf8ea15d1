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

/// The code that a call returns.
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
    std::uint64_t tickets = 0;        ///< number of tasks so far
    std::shared_ptr<SharedFile> file; ///< contains its plain memory
};

/// Memory that another process exported, and how often it was opened here.
struct Opened {
    CUipcMemHandle handle{};
    int count = 0;
};

/// Throws INVALID_VALUE for an unknown attribute.
int attribute_of(const Device &device, CUdevice_attribute attribute);

/// Whether its kernels can use all memory of the process.
inline bool uses_pageable_memory(const Device &device);

/// Bytes of a channel; throws INVALID_VALUE for a format that images lack.
size_t channel_size(CUarray_format format);

struct Array {
    CUarray handle = nullptr;
    std::shared_ptr<Context> context;
    CUDA_ARRAY3D_DESCRIPTOR descriptor{};
    size_t element = 0, row = 0, slice = 0; ///< bytes
    std::shared_ptr<Allocation> memory;
};

/// How kernels read an array or pixels in memory (textures), and load and store an array's
/// (surfaces).
struct Texture {
    CUtexObject handle = 0;
    std::shared_ptr<Context> context;
    std::shared_ptr<Array> array;  ///< null for memory
    CUDA_RESOURCE_DESC resource{}; ///< as it was created
    CUDA_TEXTURE_DESC how{};
};
struct Surface {
    CUsurfObject handle = 0;
    std::shared_ptr<Context> context;
    std::shared_ptr<Array> array;
};

/// A link in progress.
struct LinkState {
    CUlinkState handle = nullptr;
    std::shared_ptr<Context> context;
    std::vector<std::string> images;
    std::string cubin; ///< the result, once the link is complete
    Log log;
};

/// Physical memory of cuMemCreate: a file, so that other processes can import it.
struct Physical {
    CUmemGenericAllocationHandle handle = 0;
    int file = -1;
    size_t size = 0;
    Device *device = nullptr;
    bool charged = false; ///< created here, not imported
    CUmemAllocationProp properties{};
    Physical() = default;
    Physical(const Physical &) = delete;
    ~Physical();
};

/// A range of cuMemAddressReserve, and the range in which the driver maps the same memory for
/// itself.
struct Reservation {
    CUdeviceptr address = 0;
    size_t size = 0;
    MmapRegion view;
};

/// The state of the whole driver, one per process. Never destroyed, since streams' threads use it.
struct Driver {
    std::mutex mutex;
    std::condition_variable changed; ///< a task was enqueued or has ended, or a stream was closed
    bool initialised = false;
    CUresult state = CUDA_SUCCESS; ///< result of the first cuInit
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
    std::vector<std::string> leaked; ///< in contexts that were destroyed

    void wait(std::unique_lock<std::mutex> &lock, const std::vector<Point> &points);
    Device &device(CUdevice ordinal); ///< throws INVALID_DEVICE
};

Driver &driver();

bool uses_pageable_memory(const Device &device) {
    return device.ordinal < driver().config.pageable;
}

/// A thread's state.
struct Thread {
    std::vector<std::shared_ptr<Context>> stack; ///< the last is the current context; null is none
    bool in_callback = false;                    ///< it runs a function of cuLaunchHostFunc
    size_t pushed = 0;                           ///< contexts pushed and not popped
    ~Thread();
};

Thread &this_thread();

using Lock = std::unique_lock<std::mutex>;

/// The current context. Throws INVALID_CONTEXT, CONTEXT_IS_DESTROYED, or the error that destroyed
/// it.
std::shared_ptr<Context> current_context();

/// A call of the driver, under its lock; checks that the driver is initialised, and the caller is
/// not a host function.
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

/// A call that needs a current context.
template <class F>
CUresult call_in_context(F body) {
    return call([&](Lock &lock) { return body(current_context(), lock); });
}

} // namespace pi::cuda::simulated
