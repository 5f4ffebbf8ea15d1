// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the Python objects hold. Each holds on to what it needs, in this order: loader, topology, runtime, storage, use. So
// Python may drop them in any order, and the loader goes last.
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

/// From here on only the main thread gets the interpreter's lock.
inline bool interpreter_ends() noexcept {
#if PY_VERSION_HEX >= 0x030d0000
    return Py_IsFinalizing() != 0;
#else
    return _Py_IsFinalizing() != 0;
#endif
}

/// Calls what may wait for the interpreter's lock. Once the interpreter ends, CPython before 3.14 ends each daemon thread
/// that wants the lock by unwinding its stack, which no destructor survives: such a thread stays here instead, to the
/// process's end, as CPython has it from 3.14 on.
template <class Call>
auto wait_for_gil(const Call &call) {
    try {
        return call();
    } catch (...) { // nothing but that unwinding; it must not leave this handler
        for (;;) {
            ::pause();
        }
    }
}

/// Lets other Python threads run; on a thread that does not have the interpreter's lock, or once the interpreter is gone, it
/// does nothing. Destructors use it: they run on any thread.
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
    // As PyGILState_Check() does, which is always true once there is a sub-interpreter.
    static bool has_gil() {
#if PY_VERSION_HEX >= 0x030d0000
        PyThreadState *const current = PyThreadState_GetUnchecked();
#else
        PyThreadState *const current = _PyThreadState_UncheckedGet(); // before 3.12 of any thread
#endif
        return current != nullptr && current == PyGILState_GetThisThreadState();
    }

    PyThreadState *state_;
};

/// None: as long as it takes.
std::chrono::nanoseconds timeout_of(const std::optional<double> &seconds);

struct LoaderHolder {
    ~LoaderHolder();
    pi_loader loader = nullptr;
};

/// What Python calls Loader. Closed, it lets the loader go; what was made of it keeps it.
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
    ~Runtime(); // waits for what is in flight: commands of PI alone, which end

    std::shared_ptr<Topology> topology;
    std::optional<rt::Runtime> runtime;

    /// For reads, writes and fills at a place; made when it is first used.
    pi_queue queue(rt::PlaceIndex place);
    /// The stream in which producers of tensors on this device of DLPack put their last work; empty where
    /// it has none.
    rt::DlpackStream import_stream(const pi_dlpack_device &device,
                                   const std::optional<rt::PlaceIndex> &place);

private:
    using Queues = std::vector<rt::Queue>;
    pi_queue queue(Queues &queues, rt::PlaceIndex place);
    bool in_callback() noexcept;

    std::mutex mutex_;
    Queues queues_;
    Queues import_queues_; ///< apart, so that nothing else waits for producers
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

/// An acquisition, its elements, and who looks at its bytes.
struct Use {
    ~Use();

    std::shared_ptr<Runtime> runtime;
    rt::TensorLayout layout;
    std::mutex mutex; ///< guards use: an acquisition is for one thread at a time
    rt::Acquisition use;
    std::atomic<int> exports{0}; ///< buffers of Python and tensors of DLPack
    /// A consumer works in a default stream: what it has put there by the release comes before that.
    std::atomic<bool> in_default_stream{false};

    /// Throws BufferError (Busy) while somebody looks.
    void release();
};

using DlpackDevice = std::pair<int32_t, int32_t>;

/// The argument `stream` of a function of DLPack's protocol, for memory of this device. Throws BufferError
/// (Busy) where the device has no streams, TypeError and ValueError where the stream is none of it.
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
