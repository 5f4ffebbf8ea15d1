// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core.hpp"

#include <pi/runtime/calibrate.hpp>
#include <pi/runtime/error.hpp>
#include <pi/thread.hpp>

#include <pybind11/stl.h>

#include <array>
#include <system_error>

namespace pi_python {

bool Runtime::in_callback() noexcept {
    try {
        for (rt::PlaceIndex place = 1; place < topology->topology->size(); ++place) {
            if (piQueueFinish(queue(place)) == PI_ERROR_WOULD_BLOCK) {
                return true;
            }
        }
    } catch (const std::exception &) {
        return false; // no queue: for example, the device is lost
    }
    return false;
}

Runtime::~Runtime() {
    const WithoutGil released;
    struct Rest {
        ~Rest() {
            try {
                if (runtime) {
                    // At the interpreter's end a thread that never runs again may hold an
                    // acquisition.
                    runtime->finish(interpreter_ends() ? std::chrono::milliseconds(500)
                                                       : std::chrono::seconds(60));
                }
            } catch (const rt::Error &) { // a forked process has nothing to wait for
            }
        }
        std::shared_ptr<Topology> topology;
        std::optional<rt::Runtime> runtime;
        Queues queues, import_queues;
    };
    // The runtime's last owner may be a tensor of its own that was imported again, and is released
    // in a callback, which must not wait.
    const bool elsewhere = runtime && !interpreter_ends() && in_callback();
    auto rest = std::make_unique<Rest>();
    rest->topology = std::move(topology);
    rest->runtime = std::move(runtime);
    rest->queues = std::move(queues_);
    rest->import_queues = std::move(import_queues_);
    if (elsewhere) {
        try {
            pi::thread_without_signals([last = rest.get()] { delete last; }).detach();
        } catch (const std::system_error &) { // without a thread it is leaked
        }
        (void)rest.release();
    }
}

pi_queue Runtime::queue(Queues &queues, rt::PlaceIndex place) {
    const std::lock_guard lock(mutex_);
    queues.resize(topology->topology->size());
    rt::Queue &queue = queues.at(place);
    if (!queue) {
        rt::check(piQueueCreate(topology->topology->context(place),
                                topology->topology->device(place), nullptr, queue.out()),
                  "piQueueCreate");
    }
    return queue.get();
}

pi_queue Runtime::queue(rt::PlaceIndex place) {
    return queue(queues_, place);
}

rt::DlpackStream Runtime::import_stream(const pi_dlpack_device &device,
                                        const std::optional<rt::PlaceIndex> &place) {
    if (device.device_type != PI_DLPACK_CUDA) {
        return {};
    }
    const rt::PlaceIndex at = rt::dlpack_place(*topology->topology, device, place);
    pi_native_handle stream{};
    rt::check(piQueueGetNativeHandle(queue(import_queues_, at), &stream),
              "from_dlpack: piQueueGetNativeHandle");
    return static_cast<int64_t>(stream.value[0]);
}

Storage::~Storage() {
    const WithoutGil released;
    storage.reset();
    runtime.reset();
}

Buffer::~Buffer() {
    const WithoutGil released;
    buffer = {};
    runtime.reset();
}

namespace {

std::shared_ptr<Runtime> make_runtime(std::shared_ptr<Topology> topology,
                                      const std::optional<std::string> &costs,
                                      uint64_t staging_limit, uint64_t bounce_limit,
                                      uint64_t pool_limit, bool copy_after_repeated_use,
                                      uint64_t log_capacity, bool log_up_to_date) {
    const WithoutGil released;
    auto result = std::make_shared<Runtime>();
    result->topology = std::move(topology);
    rt::RuntimeOptions options;
    if (costs) {
        rt::LoadedCosts loaded = rt::load_costs(*costs, result->topology->topology->description());
        if (!loaded.costs) {
            throw rt::Error(PI_ERROR_INVALID_VALUE, "costs: " + loaded.message);
        }
        options.costs = std::move(loaded.costs);
    }
    options.staging_limit = staging_limit;
    options.bounce_limit = bounce_limit;
    options.pool_limit = pool_limit;
    options.copy_after_repeated_use = copy_after_repeated_use;
    options.log_capacity = log_capacity;
    options.log_up_to_date = log_up_to_date;
    result->runtime.emplace(result->topology->topology, std::move(options));
    return result;
}

py::list ranges_of(const rt::RangeSet &set) {
    py::list result;
    for (const rt::Range &range : set.ranges()) {
        result.append(py::make_tuple(range.begin, range.end));
    }
    return result;
}

py::dict dict_of(const rt::Counters &counters) {
    py::dict links;
    for (const auto &[link, bytes] : counters.link_bytes) {
        links[py::make_tuple(link.first, link.second)] = bytes;
    }
    py::dict transfers;
    py::dict bytes;
    for (uint32_t kind = 0; kind < rt::route_kind_count; ++kind) {
        const char *name = rt::to_string(static_cast<rt::RouteKind>(kind));
        transfers[name] = counters.transfers[kind];
        bytes[name] = counters.bytes[kind];
    }
    py::dict result;
    result["bytes_required"] = counters.bytes_required;
    result["bytes_delivered"] = counters.bytes_delivered;
    result["bytes_copy_in_copy_out"] = counters.bytes_copy_in_copy_out;
    result["link_bytes"] = links;
    result["transfers"] = transfers;
    result["bytes_by_route"] = bytes;
    result["coherence_syncs"] = counters.coherence_syncs;
    result["failed_attempts"] = counters.failed_attempts;
    result["evictions"] = counters.evictions;
    result["bytes_written_back"] = counters.bytes_written_back;
    return result;
}

py::list hops_of(const std::vector<rt::Hop> &hops) {
    py::list result;
    for (const rt::Hop &hop : hops) {
        result.append(py::make_tuple(hop.from, hop.to));
    }
    return result;
}

py::dict dict_of(const rt::TransferRecord &record) {
    py::dict result;
    result["acquisition"] = record.acquisition;
    result["storage"] = record.storage;
    result["source"] = record.source;
    result["destination"] = record.destination;
    result["ranges"] = ranges_of(record.ranges);
    result["route"] = rt::to_string(record.kind);
    result["style"] = rt::to_string(record.style);
    result["reason"] = record.reason;
    result["error"] = record.result == PI_SUCCESS ? "" : rt::result_name(record.result);
    result["bytes"] = record.bytes;
    result["hops"] = hops_of(record.hops);
    result["predicted"] = record.predicted;
    result["predicted_delay"] = record.predicted_delay;
    result["begin"] = static_cast<double>(record.begin) * 1e-9;
    result["end"] = static_cast<double>(record.end) * 1e-9;
    return result;
}

py::list log_of(const Runtime &self) {
    py::list result;
    for (const rt::TransferRecord &record : self.runtime->log()) {
        result.append(dict_of(record));
    }
    return result;
}

py::dict dict_of(const rt::Explanation &explanation) {
    py::list parts;
    for (const rt::ExplainedPart &part : explanation.parts) {
        py::list candidates;
        for (const rt::Candidate &candidate : part.candidates) {
            py::dict each;
            each["route"] = rt::to_string(candidate.route.kind);
            each["style"] = rt::to_string(candidate.route.style);
            each["source"] = candidate.route.source;
            each["hops"] = hops_of(candidate.route.hops);
            each["possible"] = candidate.possible;
            each["seconds"] = candidate.seconds;
            each["delay"] = candidate.delay;
            each["reason"] = candidate.reason;
            candidates.append(each);
        }
        parts.append(py::make_tuple(ranges_of(part.ranges), candidates));
    }
    py::dict result;
    result["place"] = explanation.place;
    result["range"] = py::make_tuple(explanation.range.begin, explanation.range.end);
    result["bytes_stale"] = explanation.bytes_stale;
    result["bytes_never_written"] = explanation.bytes_never_written;
    result["parts"] = parts;
    result["text"] = explanation.text;
    return result;
}

/// Memory of a Python object, which does not move while the view exists.
struct PythonMemory {
    ~PythonMemory() {
        // After the interpreter's end nothing owns the memory.
        if (view.obj != nullptr && Py_IsInitialized() && !interpreter_ends()) {
            const PyGILState_STATE state = wait_for_gil(PyGILState_Ensure);
            PyBuffer_Release(&view);
            PyGILState_Release(state);
        }
    }
    Py_buffer view{};
};

std::shared_ptr<Storage> make_storage(std::shared_ptr<Runtime> runtime, uint64_t size,
                                      const std::string &name, uint64_t alignment,
                                      const std::string &scope) {
    const WithoutGil released;
    auto result = std::make_shared<Storage>();
    result->runtime = std::move(runtime);
    result->storage.emplace(
        *result->runtime->runtime,
        rt::StorageDescriptor{.size = size, .alignment = alignment, .scope = scope, .name = name});
    return result;
}

std::shared_ptr<Storage> adopt(std::shared_ptr<Runtime> runtime, const py::object &object,
                               const std::string &name) {
    const auto owner = std::make_shared<PythonMemory>();
    if (PyObject_GetBuffer(object.ptr(), &owner->view, PyBUF_SIMPLE | PyBUF_WRITABLE) != 0) {
        PyErr_Clear();
        if (PyObject_GetBuffer(object.ptr(), &owner->view, PyBUF_SIMPLE) != 0) {
            throw py::error_already_set();
        }
    }
    const bool read_only = owner->view.readonly != 0;
    const WithoutGil released;
    auto result = std::make_shared<Storage>();
    result->runtime = std::move(runtime);
    result->storage.emplace(*result->runtime->runtime,
                            rt::StorageDescriptor{.size = static_cast<uint64_t>(owner->view.len),
                                                  .host_memory = owner->view.buf,
                                                  .owner = owner,
                                                  .read_only = read_only,
                                                  .name = name});
    return result;
}

std::shared_ptr<Buffer> make_buffer(std::shared_ptr<Runtime> runtime, rt::Buffer buffer) {
    auto result = std::make_shared<Buffer>();
    result->runtime = std::move(runtime);
    result->buffer = std::move(buffer);
    return result;
}

rt::Access access_of(const std::string &name) {
    constexpr std::array names{"read", "write", "read_write", "discard_write"};
    for (size_t access = 0; access < names.size(); ++access) {
        if (name == names[access]) {
            return static_cast<rt::Access>(access);
        }
    }
    throw rt::Error(PI_ERROR_INVALID_VALUE,
                    "access is '" + name + "'; read, write, read_write or discard_write");
}

std::shared_ptr<Use> acquire(const Buffer &self, rt::PlaceIndex place, const std::string &access,
                             uint64_t offset, uint64_t size, rt::TensorLayout layout) {
    const rt::Access wanted = access_of(access);
    const WithoutGil released;
    auto result = std::make_shared<Use>();
    result->runtime = self.runtime;
    result->layout = std::move(layout);
    result->use = self.buffer.acquire(place, wanted, offset, size);
    return result;
}

py::tuple import_capsule(const std::shared_ptr<Runtime> &runtime, const py::capsule &capsule,
                         const std::optional<rt::PlaceIndex> &place, const py::object &stream,
                         const std::string &name) {
    const bool versioned = PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned") != 0;
    if (!versioned && PyCapsule_IsValid(capsule.ptr(), "dltensor") == 0) {
        const char *found = PyCapsule_GetName(capsule.ptr());
        PyErr_Clear();
        throw rt::Error(PI_ERROR_INVALID_VALUE,
                        std::string("DLPack: the capsule's name is '") +
                            (found == nullptr ? "" : found) +
                            "'; an unused one is 'dltensor' or 'dltensor_versioned'");
    }
    const char *const old_name = versioned ? "dltensor_versioned" : "dltensor";
    void *const raw = PyCapsule_GetPointer(capsule.ptr(), old_name);
    const pi_dlpack_device device =
        versioned ? static_cast<const pi_dlpack_managed_tensor_versioned *>(raw)->dl_tensor.device
                  : static_cast<const pi_dlpack_managed_tensor *>(raw)->dl_tensor.device;
    rt::DlpackImportOptions options;
    options.place = place;
    options.stream = stream_of("from_dlpack", {device.device_type, device.device_id}, stream);
    options.storage.name = name;
    std::optional<rt::ImportedTensor> tensor;
    // From here on it is consumed.
    PyCapsule_SetName(capsule.ptr(), versioned ? "used_dltensor_versioned" : "used_dltensor");
    try {
        const WithoutGil released;
        if (versioned) {
            tensor = rt::import_dlpack(*runtime->runtime,
                                       static_cast<::DLManagedTensorVersioned *>(raw), options);
        } else {
            tensor = rt::import_dlpack(*runtime->runtime, static_cast<::DLManagedTensor *>(raw),
                                       options);
        }
    } catch (...) {
        PyCapsule_SetName(capsule.ptr(), old_name); // the producer still owns it
        throw;
    }
    auto storage = std::make_shared<Storage>();
    storage->runtime = runtime;
    storage->storage = std::move(tensor->storage);
    return py::make_tuple(storage, make_buffer(runtime, std::move(tensor->buffer)), tensor->layout,
                          tensor->place, tensor->read_only, tensor->copied);
}

using NoGil = py::call_guard<WithoutGil>;

void bind_layout(py::module_ &module) {
    py::class_<rt::TensorLayout>(module, "Layout")
        .def(py::init([](uint8_t code, uint8_t bits, uint16_t lanes, std::vector<int64_t> shape,
                         const std::optional<std::vector<int64_t>> &strides, uint64_t begin) {
                 rt::TensorLayout layout =
                     rt::TensorLayout::dense({code, bits, lanes}, std::move(shape));
                 if (strides) {
                     layout.strides = *strides;
                 }
                 layout.begin = begin;
                 return layout;
             }),
             py::arg("code"), py::arg("bits"), py::arg("lanes"), py::arg("shape"),
             py::arg("strides"), py::arg("begin"))
        .def_property_readonly("dtype",
                               [](const rt::TensorLayout &self) {
                                   return py::make_tuple(self.dtype.code, self.dtype.bits,
                                                         self.dtype.lanes);
                               })
        .def_property_readonly(
            "shape", [](const rt::TensorLayout &self) { return py::tuple(py::cast(self.shape)); })
        .def_property_readonly(
            "strides",
            [](const rt::TensorLayout &self) { return py::tuple(py::cast(self.strides)); })
        .def_readonly("begin", &rt::TensorLayout::begin)
        .def_property_readonly("element_size", &rt::TensorLayout::element_size)
        .def("hull", [](const rt::TensorLayout &self) {
            const rt::TensorLayout::Hull hull = self.hull();
            return std::pair(hull.first, hull.size);
        });
}

void bind_runtimes(py::module_ &module) {
    py::class_<Runtime, std::shared_ptr<Runtime>>(module, "Runtime")
        .def(py::init(&make_runtime), py::arg("topology"), py::arg("costs"),
             py::arg("staging_limit"), py::arg("bounce_limit"), py::arg("pool_limit"),
             py::arg("copy_after_repeated_use"), py::arg("log_capacity"), py::arg("log_up_to_date"))
        .def(
            "import_stream",
            [](Runtime &self, const DlpackDevice &device,
               const std::optional<rt::PlaceIndex> &place) {
                return self.import_stream({device.first, device.second}, place);
            },
            py::arg("device"), py::arg("place"), NoGil())
        .def("counters", [](const Runtime &self) { return dict_of(self.runtime->counters()); })
        .def("log", &log_of)
        .def("log_text",
             [](const Runtime &self) {
                 return rt::to_string(self.runtime->log(), self.topology->topology->description());
             })
        .def("clear_log", [](Runtime &self) { self.runtime->clear_log(); })
        .def("finish",
             [](const Runtime &self, const std::optional<double> &timeout) {
                 const auto limit = timeout_of(timeout);
                 const WithoutGil released;
                 return self.runtime->finish(limit);
             })
        .def(
            "trim", [](const Runtime &self, uint64_t bytes) { self.runtime->trim(bytes); }, NoGil())
        .def("pool", [](const Runtime &self, rt::PlaceIndex place) {
            const rt::PoolStatistics pool = self.runtime->pool_statistics(place);
            py::dict result;
            result["bytes_kept"] = pool.bytes_kept;
            result["bytes_in_use"] = pool.bytes_in_use;
            result["hits"] = pool.hits;
            result["misses"] = pool.misses;
            return result;
        });
}

void bind_storages(py::module_ &module) {
    py::class_<Storage, std::shared_ptr<Storage>>(module, "Storage")
        .def(py::init(&make_storage), py::arg("runtime"), py::arg("size"), py::arg("name"),
             py::arg("alignment"), py::arg("scope"))
        .def_static("adopt", &adopt, py::arg("runtime"), py::arg("object"), py::arg("name"))
        .def_property_readonly("size", [](const Storage &self) { return self.storage->size(); })
        .def("buffer",
             [](const Storage &self, uint64_t offset, uint64_t size) {
                 return make_buffer(self.runtime, self.storage->buffer(offset, size));
             })
        .def("counters", [](const Storage &self) { return dict_of(self.storage->counters()); })
        .def("valid", [](const Storage &self,
                         rt::PlaceIndex place) { return ranges_of(self.storage->valid(place)); })
        .def("memory_of", [](const Storage &self,
                             rt::PlaceIndex place) { return self.storage->memory_of(place); })
        .def("finish", [](const Storage &self, const std::optional<double> &timeout) {
            const auto limit = timeout_of(timeout);
            const WithoutGil released;
            return self.storage->finish(limit);
        });
}

void bind_buffers(py::module_ &module) {
    py::class_<Buffer, std::shared_ptr<Buffer>>(module, "Buffer")
        .def_property_readonly("size", [](const Buffer &self) { return self.buffer.size(); })
        .def_property_readonly("offset", [](const Buffer &self) { return self.buffer.offset(); })
        .def("acquire", &acquire, py::arg("place"), py::arg("access"), py::arg("offset"),
             py::arg("size"), py::arg("layout"))
        .def(
            "prefetch",
            [](const Buffer &self, rt::PlaceIndex place, uint64_t offset, uint64_t size) {
                self.buffer.prefetch(place, offset, size);
            },
            NoGil())
        .def(
            "broadcast",
            [](const Buffer &self, const std::vector<rt::PlaceIndex> &places) {
                self.buffer.broadcast(places);
            },
            NoGil())
        .def("explain",
             [](const Buffer &self, rt::PlaceIndex place, uint64_t offset, uint64_t size) {
                 return dict_of([&] {
                     const WithoutGil released;
                     return self.buffer.explain(place, offset, size);
                 }());
             })
        .def("counters", [](const Buffer &self) { return dict_of(self.buffer.counters()); });
}

} // namespace

void bind_runtime(py::module_ &module) {
    bind_layout(module);
    bind_runtimes(module);
    bind_storages(module);
    bind_buffers(module);
    module.def("import_capsule", &import_capsule, py::arg("runtime"), py::arg("capsule"),
               py::arg("place"), py::arg("stream"), py::arg("name"));
}

} // namespace pi_python
