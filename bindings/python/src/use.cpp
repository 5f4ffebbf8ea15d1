// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Acquired bytes for Python's buffer protocol and for DLPack.
#include "core.hpp"

#include <pi/describe/descriptor.hpp>
#include <pi/runtime/error.hpp>

#include <pybind11/stl.h>

#include <cstring>
#include <functional>
#include <numeric>

namespace pi_python {

using rt::check;

Use::~Use() {
    const WithoutGil released;
    use = {};
    runtime.reset();
}

void Use::release() {
    const std::lock_guard lock(mutex);
    if (use.held() && exports != 0) {
        throw Busy(
            "release: " + std::to_string(exports) +
            " views of the acquired bytes exist (arrays, memoryviews, tensors): delete them first");
    }
    if (in_default_stream) {
        rt::release_dlpack(use, {});
    } else {
        use.release();
    }
}

rt::DlpackStream stream_of(const char *function, const DlpackDevice &device,
                           const py::object &stream) {
    if (stream.is_none()) {
        return {};
    }
    const std::string text =
        std::string(function) + ": stream is " + std::string(py::repr(stream)) + ": ";
    if (device.first != PI_DLPACK_CUDA) {
        throw Busy(text + "memory of device (" + std::to_string(device.first) + ", " +
                   std::to_string(device.second) + ") has no streams: stream must be None");
    }
    if (PyIndex_Check(stream.ptr()) == 0) {
        throw py::type_error(text + "an int, a stream's handle (of PyTorch cuda_stream, of CuPy "
                                    "ptr), or None");
    }
    const auto number = py::reinterpret_steal<py::int_>(PyNumber_Index(stream.ptr()));
    int overflow = 0;
    const int64_t value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    if (overflow != 0) {
        throw py::value_error(text + "a handle has 64 bits");
    }
    try {
        rt::check_dlpack_stream({device.first, device.second}, value);
    } catch (const rt::Error &error) {
        throw py::value_error(error.what());
    }
    return value;
}

namespace {

void check_held(const Use &self, const char *what) {
    if (!self.use.held()) {
        throw rt::Error(PI_ERROR_INVALID_OPERATION,
                        std::string(what) + ": the acquisition was already released or abandoned");
    }
}

/// The buffer protocol's name, "<f4"; it has none for some types.
std::string format_of(const pi_dlpack_data_type &dtype) {
    const uint32_t key = dtype.lanes == 1 ? 256U * dtype.code + dtype.bits : 0;
    switch (key) {
    case 256 * PI_DLPACK_INT + 8:
        return "b";
    case 256 * PI_DLPACK_INT + 16:
        return "h";
    case 256 * PI_DLPACK_INT + 32:
        return "i";
    case 256 * PI_DLPACK_INT + 64:
        return "q";
    case 256 * PI_DLPACK_UINT + 8:
        return "B";
    case 256 * PI_DLPACK_UINT + 16:
        return "H";
    case 256 * PI_DLPACK_UINT + 32:
        return "I";
    case 256 * PI_DLPACK_UINT + 64:
        return "Q";
    case 256 * PI_DLPACK_FLOAT + 16:
        return "e";
    case 256 * PI_DLPACK_FLOAT + 32:
        return "f";
    case 256 * PI_DLPACK_FLOAT + 64:
        return "d";
    case 256 * PI_DLPACK_COMPLEX + 64:
        return "Zf";
    case 256 * PI_DLPACK_COMPLEX + 128:
        return "Zd";
    case 256 * PI_DLPACK_BOOL + 8:
        return "?";
    default:
        throw Busy("the buffer protocol has no format for elements of DLPack's code " +
                   std::to_string(dtype.code) + ", " + std::to_string(dtype.bits) + " bits and " +
                   std::to_string(dtype.lanes) + " lanes; take them by DLPack");
    }
}

/// The memory that a Py_buffer points to.
struct View {
    std::shared_ptr<Use> use;
    std::string format;
    std::vector<Py_ssize_t> shape;
    std::vector<Py_ssize_t> strides; // in bytes
};

/// From the innermost axis on.
template <class Axis>
bool is_dense(Axis extent, Axis end, Axis stride, Py_ssize_t size) {
    for (; extent != end; size *= *extent++, ++stride) {
        if (*extent != 1 && *stride != size) {
            return false;
        }
    }
    return true;
}

void fill_view(const std::shared_ptr<Use> &self, Py_buffer *buffer, int flags) {
    auto view = std::make_unique<View>();
    view->use = self;
    const rt::TensorLayout &layout = self->layout;
    const auto element = static_cast<Py_ssize_t>(layout.element_size());
    view->format = format_of(layout.dtype);
    for (size_t axis = 0; axis < layout.shape.size(); ++axis) {
        view->shape.push_back(layout.shape[axis]);
        view->strides.push_back(layout.strides[axis] * element);
    }
    // Whether the elements are dense, with the last axis innermost (as in C) or the first (as in
    // Fortran).
    const bool dense =
        is_dense(view->shape.rbegin(), view->shape.rend(), view->strides.rbegin(), element);
    const bool dense_fortran =
        is_dense(view->shape.begin(), view->shape.end(), view->strides.begin(), element);
    const bool read_only = !self->use.writes();
    if ((flags & PyBUF_WRITABLE) != 0 && read_only) {
        throw Busy("the bytes were acquired for reading: acquire them for read_write to write");
    }
    if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES && !dense) {
        throw Busy("the elements lie apart, and the buffer was asked for without strides");
    }
    const auto demands = [flags](int contiguous) { return (flags & contiguous) == contiguous; };
    if ((demands(PyBUF_C_CONTIGUOUS) && !dense) ||
        (demands(PyBUF_F_CONTIGUOUS) && !dense_fortran) ||
        (demands(PyBUF_ANY_CONTIGUOUS) && !dense && !dense_fortran)) {
        throw Busy("the elements lie apart or in another order, and the buffer was asked for as "
                   "contiguous");
    }
    std::byte *pointer = nullptr;
    {
        const WithoutGil released;
        self->use.wait();
        const std::lock_guard lock(self->mutex);
        check_held(*self, "buffer");
        pointer = self->use.pointer();
        ++self->exports;
    }
    buffer->buf = pointer + layout.begin;
    buffer->len =
        std::accumulate(view->shape.begin(), view->shape.end(), element, std::multiplies<>());
    buffer->itemsize = element;
    buffer->readonly = read_only ? 1 : 0;
    buffer->ndim = static_cast<int>(view->shape.size());
    buffer->format = (flags & PyBUF_FORMAT) != 0 ? view->format.data() : nullptr;
    buffer->shape = (flags & PyBUF_ND) != 0 ? view->shape.data() : nullptr;
    buffer->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? view->strides.data() : nullptr;
    buffer->suboffsets = nullptr;
    buffer->internal = view.release();
}

int get_buffer(PyObject *object, Py_buffer *buffer, int flags) {
    buffer->obj = nullptr;
    try {
        fill_view(py::cast<std::shared_ptr<Use>>(py::handle(object)), buffer, flags);
        Py_INCREF(object);
        buffer->obj = object;
        return 0;
    } catch (const std::exception &error) {
        // The only kind of error of this protocol.
        PyErr_SetString(PyExc_BufferError, error.what());
        return -1;
    }
}

void release_buffer(PyObject *, Py_buffer *buffer) {
    auto *view = static_cast<View *>(buffer->internal);
    --view->use->exports;
    delete view;
}

/// Held by an exported tensor. If nothing else ends the acquisition, the last one does.
struct Given {
    ~Given() {
        const WithoutGil released;
        --use->exports;
        if (ends_use) {
            try {
                use->release();
            } catch (const std::exception &) {
                use->use.abandon();
            }
        }
        use.reset();
    }
    std::shared_ptr<Use> use;
    bool ends_use = false;
};

template <class Managed>
void drop_unused(PyObject *capsule, const char *name) {
    if (PyCapsule_IsValid(capsule, name) != 0) {
        auto *managed = static_cast<Managed *>(PyCapsule_GetPointer(capsule, name));
        if (managed->deleter != nullptr) {
            managed->deleter(managed);
        }
    }
}

py::object give(const std::shared_ptr<Use> &self, const rt::DlpackStream &stream, bool versioned,
                bool copied, bool ends_use) {
    void *raw = nullptr;
    {
        const WithoutGil released;
        if (!stream) {
            self->use.wait(); // outside the lock
        }
        const std::lock_guard lock(self->mutex);
        check_held(*self, "DLPack");
        ++self->exports;
        auto given = std::make_shared<Given>();
        given->use = self;
        raw = versioned ? static_cast<void *>(
                              rt::export_dlpack(self->use, self->layout, given, copied, stream))
                        : static_cast<void *>(rt::export_dlpack_unversioned(self->use, self->layout,
                                                                            given, stream));
        if (rt::is_default_stream(stream)) {
            self->in_default_stream = true;
        }
        given->ends_use = ends_use; // nothing below fails
    }
    PyObject *capsule = versioned
                            ? PyCapsule_New(raw, "dltensor_versioned",
                                            [](PyObject *object) {
                                                drop_unused<pi_dlpack_managed_tensor_versioned>(
                                                    object, "dltensor_versioned");
                                            })
                            : PyCapsule_New(raw, "dltensor", [](PyObject *object) {
                                  drop_unused<pi_dlpack_managed_tensor>(object, "dltensor");
                              });
    if (capsule == nullptr) {
        throw py::error_already_set();
    }
    return py::reinterpret_steal<py::object>(capsule);
}

DlpackDevice device_of(const Use &self) {
    const pi_dlpack_device device =
        rt::dlpack_device(*self.runtime->topology->topology, self.use.place());
    return {device.device_type, device.device_id};
}

/// An acquired copy of the elements' bytes in new host memory.
std::shared_ptr<Use> copy_of(const std::shared_ptr<Use> &self) {
    const WithoutGil released;
    self->use.wait();
    const std::lock_guard lock(self->mutex);
    check_held(*self, "DLPack");
    const rt::Range range = self->use.range();
    const rt::Storage storage(*self->runtime->runtime, {.size = range.size(), .name = "copy"});
    auto copy = std::make_shared<Use>();
    copy->runtime = self->runtime;
    copy->layout = self->layout;
    copy->use = storage.buffer().acquire(rt::host_place, rt::Access::discard_write);
    std::memcpy(copy->use.pointer(), self->use.pointer(), range.size());
    return copy;
}

using Pair = std::optional<DlpackDevice>;

py::object dlpack(const std::shared_ptr<Use> &self, const py::object &stream,
                  const Pair &max_version, const Pair &dl_device, const std::optional<bool> &copy,
                  bool ends_use) {
    const auto device = device_of(*self);
    const rt::DlpackStream order = stream_of("__dlpack__", device, stream);
    if (dl_device && *dl_device != device) {
        throw Busy("__dlpack__: dl_device is (" + std::to_string(dl_device->first) + ", " +
                   std::to_string(dl_device->second) + "), and the bytes are acquired at (" +
                   std::to_string(device.first) + ", " + std::to_string(device.second) +
                   "): acquire them at a place of that device");
    }
    const bool versioned = max_version && max_version->first >= PI_DLPACK_MAJOR_VERSION;
    if (!versioned && !self->use.writes() && copy != true) {
        throw Busy(
            "__dlpack__: the bytes were acquired for reading, which a tensor of DLPack before 1.0 "
            "cannot say: ask with max_version=(1, 0), acquire them for read_write, or take the "
            "buffer protocol (memoryview, numpy.asarray)");
    }
    if (copy != true) {
        return give(self, order, versioned, false, ends_use);
    }
    if (self->use.place() != rt::host_place) {
        throw Busy("__dlpack__: copies are made of bytes that are acquired at the host");
    }
    py::object capsule = give(copy_of(self), {}, versioned, true, true);
    if (ends_use) {
        self->release();
    }
    return capsule;
}

pi_region region_of(const Use &self, uint64_t size, bool write) {
    pi_region region{};
    (write ? region.dst_offset : region.src_offset) = self.use.offset();
    region.extent[0] = size;
    return region;
}

/// The acquisition's events as a wait list for a command on the queue.
struct Waits {
    Waits(const Use &self, pi_queue queue)
        : count(static_cast<uint32_t>(self.use.events(queue).size())),
          list(count == 0 ? nullptr : self.use.events(queue).data()) {}
    uint32_t count;
    const pi_event *list;
};

void write_bytes(Use &self, const py::object &source) {
    Py_buffer view{};
    if (PyObject_GetBuffer(source.ptr(), &view, PyBUF_SIMPLE) != 0) {
        throw py::error_already_set();
    }
    const auto drop = [](Py_buffer *held) { PyBuffer_Release(held); };
    const std::unique_ptr<Py_buffer, decltype(drop)> holder(&view, drop);
    const WithoutGil released;
    const std::lock_guard lock(self.mutex);
    check_held(self, "write");
    if (!self.use.writes()) {
        throw rt::Error(PI_ERROR_INVALID_OPERATION, "write: the bytes were acquired for reading");
    }
    const uint64_t size = self.use.range().size();
    if (static_cast<uint64_t>(view.len) != size) {
        throw rt::Error(PI_ERROR_INVALID_SIZE, "write: " + std::to_string(view.len) +
                                                   " bytes are given; the acquired range has " +
                                                   std::to_string(size));
    }
    if (self.use.place() == rt::host_place) {
        std::memcpy(self.use.pointer(), view.buf, size);
        return;
    }
    const pi_region region = region_of(self, size, true);
    auto desc = pi::desc<pi_buffer_write_desc>();
    desc.flags = PI_COMMAND_BLOCKING;
    desc.mem = self.use.mem();
    desc.host_ptr = view.buf;
    desc.region_count = 1;
    desc.regions = &region;
    const pi_queue queue = self.runtime->queue(self.use.place());
    const Waits waits(self, queue);
    check(piEnqueueMemBufferWrite(queue, &desc, waits.count, waits.list, nullptr),
          "piEnqueueMemBufferWrite");
}

py::bytes read_bytes(Use &self) {
    const uint64_t size = self.use.range().size();
    auto result = py::reinterpret_steal<py::bytes>(
        PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
    if (!result) {
        throw py::error_already_set();
    }
    char *bytes = PyBytes_AS_STRING(result.ptr());
    const WithoutGil released;
    const std::lock_guard lock(self.mutex);
    check_held(self, "read");
    if (self.use.place() == rt::host_place) {
        std::memcpy(bytes, self.use.pointer(), size);
        return result;
    }
    const pi_region region = region_of(self, size, false);
    auto desc = pi::desc<pi_buffer_read_desc>();
    desc.flags = PI_COMMAND_BLOCKING;
    desc.mem = self.use.mem();
    desc.host_ptr = bytes;
    desc.region_count = 1;
    desc.regions = &region;
    const pi_queue queue = self.runtime->queue(self.use.place());
    const Waits waits(self, queue);
    check(piEnqueueMemBufferRead(queue, &desc, waits.count, waits.list, nullptr),
          "piEnqueueMemBufferRead");
    return result;
}

void fill_bytes(Use &self, int value) {
    if (value < 0 || value > 255) {
        throw rt::Error(PI_ERROR_INVALID_VALUE,
                        "fill: value is " + std::to_string(value) + "; a byte, 0 to 255");
    }
    const WithoutGil released;
    const std::lock_guard lock(self.mutex);
    check_held(self, "fill");
    if (!self.use.writes()) {
        throw rt::Error(PI_ERROR_INVALID_OPERATION, "fill: the bytes were acquired for reading");
    }
    const uint64_t size = self.use.range().size();
    if (self.use.place() == rt::host_place) {
        std::memset(self.use.pointer(), value, size);
        return;
    }
    const auto pattern = static_cast<uint8_t>(value);
    auto desc = pi::desc<pi_buffer_fill_desc>();
    desc.flags = PI_COMMAND_BLOCKING;
    desc.mem = self.use.mem();
    desc.pattern = &pattern;
    desc.pattern_size = 1;
    desc.offset = self.use.offset();
    desc.size = size;
    const pi_queue queue = self.runtime->queue(self.use.place());
    const Waits waits(self, queue);
    check(piEnqueueMemBufferFill(queue, &desc, waits.count, waits.list, nullptr),
          "piEnqueueMemBufferFill");
}

using NoGil = py::call_guard<WithoutGil>;
using UseClass = py::class_<Use, std::shared_ptr<Use>>;

void bind_properties(UseClass &use) {
    use.def_property_readonly(
           "place", [](const Use &self) { return self.use.place(); },
           "The number of the place; 0 is the host.")
        .def_property_readonly(
            "range",
            [](const Use &self) {
                const rt::Range range = self.use.range();
                return std::pair(range.begin, range.end);
            },
            "(begin, end) in bytes of the storage.")
        .def_property_readonly(
            "writes", [](const Use &self) { return self.use.writes(); },
            "Whether it was acquired for more than reading.")
        .def_property_readonly(
            "held", [](const Use &self) { return self.use.held(); },
            "False after release() or abandon().")
        .def_property_readonly(
            "views", [](const Use &self) { return self.exports.load(); },
            "The number of arrays, memoryviews and tensors that now use the bytes.")
        .def_property_readonly(
            "shape", [](const Use &self) { return py::tuple(py::cast(self.layout.shape)); },
            "Elements along each axis.");
}

void bind_life(UseClass &use) {
    use.def(
           "wait",
           [](const Use &self, const std::optional<double> &timeout) {
               const auto limit = timeout_of(timeout);
               const WithoutGil released;
               self.use.wait(limit);
           },
           py::arg("timeout") = py::none(),
           "Waits until the bytes are ready. timeout: seconds; None: no limit. Timeout if that "
           "time passes first.")
        .def("release", &Use::release, NoGil(),
             "Ends the use: after a write only this place's bytes are valid. BufferError while "
             "views of them exist.")
        .def(
            "abandon",
            [](Use &self) {
                const std::lock_guard lock(self.mutex);
                self.use.abandon();
            },
            NoGil(),
            "Cancels the use: its writes do not count. Views that still exist show bytes that "
            "others may change.")
        .def("__enter__", [](const std::shared_ptr<Use> &self) { return self; })
        .def("__exit__",
             [](Use &self, const py::object &type, const py::object &, const py::object &) {
                 const WithoutGil released;
                 if (!self.use.held()) {
                     return;
                 }
                 if (type.is_none()) {
                     self.release();
                 } else {
                     const std::lock_guard lock(self.mutex);
                     self.use.abandon();
                 }
             });
}

void bind_bytes(UseClass &use) {
    use.def_property_readonly(
           "address",
           [](Use &self) {
               const WithoutGil released;
               self.use.wait();
               const std::lock_guard lock(self.mutex);
               return reinterpret_cast<uintptr_t>(self.use.pointer() + self.layout.begin);
           },
           "The host's address of the first element; waits until the bytes are ready. At a "
           "device: "
           "Error.")
        .def("read", &read_bytes,
             "A copy of all bytes of the range, read at their place; waits for them.")
        .def("write", &write_bytes, py::arg("source"),
             "Writes all bytes of the range at their place, and waits. source: an object with as "
             "many bytes (bytes, bytearray, a contiguous array).")
        .def("fill", &fill_bytes, py::arg("value"),
             "Sets each byte of the range to value (0 to 255) at their place, and waits.");
}

void bind_dlpack(UseClass &use) {
    use.def(
           "__dlpack__",
           [](const std::shared_ptr<Use> &self, const py::object &stream, const Pair &max_version,
              const Pair &dl_device, const std::optional<bool> &copy) {
               return dlpack(self, stream, max_version, dl_device, copy, false);
           },
           py::kw_only(), py::arg("stream") = py::none(), py::arg("max_version") = py::none(),
           py::arg("dl_device") = py::none(), py::arg("copy") = py::none(),
           "A DLPack capsule of the elements, in place (copy=True: of a copy, at the host). "
           "stream: for CUDA memory, the consumer's stream, which waits for the bytes: 1 (the "
           "legacy default stream), 2 (the thread's), a handle above 2, or -1 (no "
           "synchronisation); None "
           "waits until the bytes are ready. Versioned, with the read-only and copied flags, if "
           "max_version is (1, 0) or later; the older form refuses bytes that were acquired for "
           "reading (BufferError).")
        .def("__dlpack_device__", &device_of, "(device type, device number) as DLPack has them.")
        .def(
            "_give_away",
            [](const std::shared_ptr<Use> &self, const py::object &stream, const Pair &max_version,
               const Pair &dl_device, const std::optional<bool> &copy) {
                return dlpack(self, stream, max_version, dl_device, copy, true);
            },
            py::arg("stream"), py::arg("max_version"), py::arg("dl_device"), py::arg("copy"),
            "As __dlpack__; the tensor's owner ends the acquisition.");
}

} // namespace

void bind_use(py::module_ &module) {
    UseClass use(
        module, "Acquisition", py::buffer_protocol(),
        "The right to use a range of bytes at a place, from acquire to release; a context manager, "
        "which releases it (and abandons a write when the block raises).\n\n"
        "At the host it has the buffer protocol: memoryview(use) and numpy.asarray(use) are the "
        "bytes themselves, with the elements' type and shape (plain bytes of a Buffer), and "
        "read-only if "
        "they were acquired for "
        "reading. While such views live, release() raises BufferError.");
    use.attr("__module__") = "pi_runtime";
    bind_properties(use);
    bind_life(use);
    bind_bytes(use);
    bind_dlpack(use);
    module.def(
        "check_stream",
        [](const char *function, const DlpackDevice &device, const py::object &stream) {
            stream_of(function, device, stream);
        },
        py::arg("function"), py::arg("device"), py::arg("stream"),
        "Refuses a stream that memory of this DLPack device does not have: BufferError if it has "
        "no streams, else TypeError or ValueError.");
    // Not pybind11's own buffer protocol: views must be counted.
    PyBufferProcs &buffer = reinterpret_cast<PyHeapTypeObject *>(use.ptr())->as_buffer;
    buffer.bf_getbuffer = &get_buffer;
    buffer.bf_releasebuffer = &release_buffer;
}

} // namespace pi_python
