// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of the Python objects. Each holds the objects that it needs, in this order: loader,
// topology, runtime, storage, use. So Python may delete them in any order, and the loader ends
// last.
#pragma once

#include <pybind11/pybind11.h>

#include <pi/pi_loader.h>
#include <pi/runtime/dlpack.hpp>
#include <pi/runtime/storage.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <unistd.h>

namespace pi_python {

namespace py = pybind11;
namespace rt = pi::runtime;

/// From now on only the main thread gets the interpreter's lock.
inline bool interpreter_ends() noexcept {
#if PY_VERSION_HEX >= 0x030d0000
    return Py_IsFinalizing() != 0;
#else
    return _Py_IsFinalizing() != 0;
#endif
}

/// Calls a function that may wait for the interpreter's lock. At the interpreter's end, CPython
/// before 3.14 unwinds the stack of each daemon thread that wants the lock, which aborts in
/// destructors. Such a thread stays here until the process ends, as in CPython 3.14 and later.
template <class Call>
auto wait_for_gil(const Call &call) {
    try {
        return call();
    } catch (...) { // only that unwinding; it must not leave this handler
        for (;;) {
            ::pause();
        }
    }
}

/// Releases the interpreter's lock. Does nothing on a thread without the lock, or after the
/// interpreter's end. For destructors, which run on any thread.
class WithoutGil {
public:
    WithoutGil() : state_(Py_IsInitialized() && has_gil() ? PyEval_SaveThread() : nullptr) {}
    ~WithoutGil() {
        if (state_ != nullptr) {
            wait_for_gil([this] { PyEval_RestoreThread(state_); });
        }
    }
    WithoutGil(const WithoutGil &) = delete;
    WithoutGil &operator=(const WithoutGil &) = delete;

private:
    // PyGILState_Check() is always true once there is a sub-interpreter.
    static bool has_gil() {
#if PY_VERSION_HEX >= 0x030d0000
        PyThreadState *const current = PyThreadState_GetUnchecked();
#else
        PyThreadState *const current = _PyThreadState_UncheckedGet(); // before 3.12: of any thread
#endif
        return current != nullptr && current == PyGILState_GetThisThreadState();
    }

    PyThreadState *state_;
};

/// None: no limit.
std::chrono::nanoseconds timeout_of(const std::optional<double> &seconds);

struct LoaderHolder {
    ~LoaderHolder();
    pi_loader loader = nullptr;
};

/// Python's Loader. close() releases the loader; objects created from it still hold it.
class Loader {
public:
    explicit Loader(std::shared_ptr<LoaderHolder> holder) : holder_(std::move(holder)) {}
    /// PI_ERROR_INVALID_OPERATION when it is closed.
    const std::shared_ptr<LoaderHolder> &holder() const;
    bool closed() const { return holder_ == nullptr; }
    void close();

private:
    std::shared_ptr<LoaderHolder> holder_;
};

struct Device {
    std::shared_ptr<LoaderHolder> loader;
    rt::Device device;
};

struct Topology {
    ~Topology();
    std::vector<std::shared_ptr<LoaderHolder>> loaders;
    std::shared_ptr<const rt::Topology> topology;
};

struct Runtime {
    ~Runtime(); // waits for work in flight: only PI's commands, which end

    std::shared_ptr<Topology> topology;
    std::optional<rt::Runtime> runtime;

    /// For reads, writes and fills at a place; created at the first use.
    pi_queue queue(rt::PlaceIndex place);
    /// The stream in which producers of tensors on this DLPack device put their last work; empty if
    /// the device has no streams.
    rt::DlpackStream import_stream(const pi_dlpack_device &device,
                                   const std::optional<rt::PlaceIndex> &place);

private:
    using Queues = std::vector<rt::Queue>;
    pi_queue queue(Queues &queues, rt::PlaceIndex place);
    bool in_callback() noexcept;

    std::mutex mutex_;
    Queues queues_;
    Queues import_queues_; ///< separate, so that nothing else waits for producers
};

struct Storage {
    ~Storage();
    std::shared_ptr<Runtime> runtime;
    std::optional<rt::Storage> storage;
};

struct Buffer {
    ~Buffer();
    std::shared_ptr<Runtime> runtime;
    rt::Buffer buffer;
};

/// An acquisition, its elements, and the number of views of its bytes.
struct Use {
    ~Use();

    std::shared_ptr<Runtime> runtime;
    rt::TensorLayout layout;
    std::mutex mutex; ///< guards use: an acquisition is for one thread at a time
    rt::Acquisition use;
    std::atomic<int> exports{0}; ///< buffers of Python and tensors of DLPack
    /// A consumer works in a default stream: its work there comes before the release.
    std::atomic<bool> in_default_stream{false};

    /// Throws BufferError (Busy) while views exist.
    void release();
};

using DlpackDevice = std::pair<int32_t, int32_t>;

/// The argument `stream` of a function of DLPack's protocol, for memory of this device. Throws
/// BufferError (Busy) if the device has no streams, TypeError and ValueError if the stream is not
/// one of the device.
rt::DlpackStream stream_of(const char *function, const DlpackDevice &device,
                           const py::object &stream);

/// Becomes Python's BufferError.
struct Busy : std::runtime_error {
    using std::runtime_error::runtime_error;
};

void bind_loader(py::module_ &module);
void bind_runtime(py::module_ &module);
void bind_use(py::module_ &module);

} // namespace pi_python
