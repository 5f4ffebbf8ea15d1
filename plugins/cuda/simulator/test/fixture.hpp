// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/cuda/driver_api.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace pi_cuda_test {

using namespace pi::cuda;

/// The simulated driver, opened by its path, with all entry points; cuInit was called.
const pi_cuda_functions &cu();

/// The same before cuInit; entry points that the driver lacks are null.
const pi_cuda_functions &open_driver();

/// The driver's list of leaks, one per line.
std::string leaks();

/// A device's primary context, current until the end of the block, then released.
class Current {
public:
    explicit Current(CUdevice device);
    Current(const Current &) = delete;
    ~Current();
    CUcontext context = nullptr;
    const CUdevice device;
};

/// Holds a stream until it is opened: later work is enqueued and certainly not done, earlier work
/// is done.
class Gate {
public:
    explicit Gate(CUstream stream);
    Gate(const Gate &) = delete;
    ~Gate();
    void open();

private:
    static void wait(void *gate);
    std::mutex mutex_;
    std::condition_variable changed_;
    bool entered_ = false, open_ = false, passed_ = false;
};

/// Memory of the current context's device.
class Memory {
public:
    explicit Memory(size_t size);
    Memory(const Memory &) = delete;
    ~Memory();
    /// Frees it early; an error if it was freed before.
    CUresult free();
    void forget() { address = 0; }
    CUdeviceptr address = 0;
};

class Stream {
public:
    explicit Stream(unsigned flags = CU_STREAM_NON_BLOCKING);
    Stream(const Stream &) = delete;
    ~Stream();
    void finish() const;
    CUstream handle = nullptr;
};

class Event {
public:
    explicit Event(unsigned flags = CU_EVENT_DEFAULT);
    Event(const Event &) = delete;
    ~Event();
    CUevent handle = nullptr;
};

/// The bytes of device memory, after all work of the current context.
std::vector<std::uint8_t> read(CUdeviceptr address, size_t size);

/// An image of the library of kernels.c: "function ..." and "variable ..." lines.
std::string image(const std::string &lines);

/// The image as a module in the current context.
class Module {
public:
    explicit Module(const std::string &lines);
    Module(const Module &) = delete;
    ~Module();
    CUfunction function(const char *name) const;
    CUmodule handle = nullptr;
};

/// A launch of `threads` work-items in each of `blocks` blocks.
CUresult launch(CUfunction function, unsigned blocks, unsigned threads,
                std::vector<void *> parameters, CUstream stream, unsigned shared = 0);

} // namespace pi_cuda_test
