// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core.hpp"

#include <pi/runtime/error.hpp>

#include <exception>
#include <utility>

namespace pi_python {
namespace {

/// Python's exceptions, which live as long as the interpreter.
PyObject *error_type = nullptr;
PyObject *timeout_type = nullptr;

void raise(const rt::Error &error) {
    PyObject *type = error.code() == PI_ERROR_TIMEOUT ? timeout_type : error_type;
    const py::object exception = py::reinterpret_borrow<py::object>(type)(error.what());
    exception.attr("code") = static_cast<int>(error.code());
    exception.attr("name") = rt::result_name(error.code());
    PyErr_SetObject(type, exception.ptr());
}

} // namespace

std::chrono::nanoseconds timeout_of(const std::optional<double> &seconds) {
    if (!seconds) {
        return std::chrono::nanoseconds::max();
    }
    if (!(*seconds >= 0)) {
        throw rt::Error(PI_ERROR_INVALID_VALUE,
                        "timeout is " + std::to_string(*seconds) +
                            ": must be 0 or more seconds, or None for no limit");
    }
    return *seconds > 9e9 ? std::chrono::nanoseconds::max()
                          : std::chrono::nanoseconds(static_cast<int64_t>(*seconds * 1e9));
}

} // namespace pi_python

PYBIND11_MODULE(_core, module) {
    using namespace pi_python;
    module.doc() = "The C++ part of pi_runtime. Programs import pi_runtime.";
    error_type = PyErr_NewExceptionWithDoc(
        "pi_runtime.Error", "An error of PI: a text, its code (int) and the code's name (str).",
        PyExc_RuntimeError, nullptr);
    const py::tuple bases = py::make_tuple(py::handle(error_type), py::handle(PyExc_TimeoutError));
    timeout_type = PyErr_NewExceptionWithDoc("pi_runtime.Timeout", "The timeout passed first.",
                                             bases.ptr(), nullptr);
    module.attr("Error") = py::handle(error_type);
    module.attr("Timeout") = py::handle(timeout_type);
    py::register_exception_translator([](std::exception_ptr pointer) {
        try {
            if (pointer) {
                std::rethrow_exception(std::move(pointer));
            }
        } catch (const rt::Error &error) {
            raise(error);
        } catch (const Busy &busy) {
            PyErr_SetString(PyExc_BufferError, busy.what());
        }
    });
    bind_loader(module);
    bind_runtime(module);
    bind_use(module);
}
