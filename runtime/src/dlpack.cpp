// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/device_query.hpp"
#include "dlpack_stream.hpp"

#include <pi/describe/descriptor.hpp>
#include <pi/runtime/dlpack.hpp>
#include <pi/runtime/error.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace pi::runtime {
namespace {

static_assert(sizeof(void *) != 8 ||
                  (sizeof(pi_dlpack_tensor) == 48 && sizeof(pi_dlpack_managed_tensor) == 64 &&
                   sizeof(pi_dlpack_managed_tensor_versioned) == 80 &&
                   offsetof(pi_dlpack_managed_tensor_versioned, dl_tensor) == 32),
              "DLPack's layout");

/// DLPack's devices whose memory is used in place, with their backends. Memory of a backend is
/// exported as its first one.
struct Kind {
    int32_t type;
    uint32_t backend;
    const char *name;
};
constexpr Kind kinds[] = {
    {PI_DLPACK_CPU, PI_BACKEND_HOST, "kDLCPU"},
    {PI_DLPACK_CUDA, PI_BACKEND_CUDA, "kDLCUDA"},
    {PI_DLPACK_CUDA_HOST, PI_BACKEND_HOST, "kDLCUDAHost"},
    {PI_DLPACK_OPENCL, PI_BACKEND_OPENCL, "kDLOpenCL"},
    {PI_DLPACK_ROCM_HOST, PI_BACKEND_HOST, "kDLROCMHost"},
    {PI_DLPACK_ONE_API, PI_BACKEND_LEVEL_ZERO, "kDLOneAPI"},
};

/// The first whose member is `value`, or NULL.
template <class Value>
const Kind *find_kind(Value Kind::*member, Value value) {
    const auto *const found = std::find_if(std::begin(kinds), std::end(kinds),
                                           [&](const Kind &kind) { return kind.*member == value; });
    return found == std::end(kinds) ? nullptr : found;
}

uint32_t backend_of(pi_device device) {
    uint32_t backend = 0;
    check(piPlatformGetInfo(platform_of(device), PI_PLATFORM_INFO_BACKEND, sizeof backend, &backend,
                            nullptr),
          "piPlatformGetInfo(BACKEND)");
    return backend;
}

/// CUDA's own number; for other backends the position in the platform's list of devices, which
/// sub-devices do not have.
std::optional<int32_t> number_of(pi_device device, uint32_t backend) {
    if (backend == PI_BACKEND_CUDA) {
        pi_native_handle native{};
        check(piDeviceGetNativeHandle(device, &native), "piDeviceGetNativeHandle");
        return static_cast<int32_t>(native.value[0]);
    }
    pi_platform platform = platform_of(device);
    uint32_t count = 0;
    check(piDevicesGet(platform, PI_DEVICE_TYPE_ALL, 0, nullptr, &count), "piDevicesGet");
    std::vector<pi_device> devices(count);
    check(piDevicesGet(platform, PI_DEVICE_TYPE_ALL, count, devices.data(), &count),
          "piDevicesGet");
    const auto found = std::find(devices.begin(), devices.end(), device);
    if (found == devices.end()) {
        return std::nullopt;
    }
    return static_cast<int32_t>(found - devices.begin());
}

} // namespace

pi_dlpack_device dlpack_device(pi_device device) {
    const uint32_t backend = backend_of(device);
    const Kind *const kind = find_kind(&Kind::backend, backend);
    if (!kind) {
        throw Error(PI_ERROR_UNSUPPORTED_FEATURE,
                    "DLPack: device memory of backend " + std::to_string(backend) +
                        " has no address or handle for others; acquire the host's place");
    }
    if (backend == PI_BACKEND_HOST) {
        return {kind->type, 0};
    }
    const std::optional<int32_t> number = number_of(device, backend);
    if (!number) {
        throw Error(PI_ERROR_UNSUPPORTED_FEATURE,
                    "DLPack has no number for a sub-device; acquire a place of its root device, or "
                    "the host's");
    }
    return {kind->type, *number};
}

namespace {

/// "kDLCPU (1), kDLCUDA (2)"
std::string names_of_kinds() {
    std::string text;
    for (const Kind &kind : kinds) {
        text += (text.empty() ? "" : ", ") + std::string(kind.name) + " (" +
                std::to_string(kind.type) + ")";
    }
    return text;
}

std::string name_of(const pi_dlpack_device &device) {
    return "(" + std::to_string(device.device_type) + ", " + std::to_string(device.device_id) + ")";
}

} // namespace

PlaceIndex dlpack_place(const Topology &topology, const pi_dlpack_device &device,
                        const std::optional<PlaceIndex> &wanted) {
    const Kind *const kind = find_kind(&Kind::type, device.device_type);
    if (!kind) {
        throw Error(PI_ERROR_UNSUPPORTED_FEATURE,
                    "DLPack: memory of device " + name_of(device) +
                        " cannot be used in place; these devices' can: " + names_of_kinds());
    }
    if (wanted && *wanted >= topology.size()) {
        throw Error(PI_ERROR_INVALID_VALUE, "DLPack: no place " + std::to_string(*wanted) +
                                                ": the topology has places 0 to " +
                                                std::to_string(topology.size() - 1));
    }
    if (kind->backend == PI_BACKEND_HOST) {
        if (wanted && *wanted != host_place) {
            throw Error(PI_ERROR_INVALID_VALUE,
                        "DLPack: the tensor is in the host's memory, device " + name_of(device) +
                            ", and not at place " + std::to_string(*wanted) + ", " +
                            topology.info(*wanted).name);
        }
        return host_place;
    }
    for (PlaceIndex place = 1; place < topology.size(); ++place) {
        pi_device mine = topology.device(place);
        if ((!wanted || place == *wanted) && backend_of(mine) == kind->backend &&
            (wanted || number_of(mine, kind->backend) == device.device_id)) {
            return place;
        }
    }
    throw Error(PI_ERROR_INVALID_DEVICE,
                wanted ? "DLPack: the tensor's device " + name_of(device) +
                             " is of another backend than place " + std::to_string(*wanted) + ", " +
                             topology.info(*wanted).name
                       : "DLPack: no place of the topology is device " + name_of(device));
}

namespace {

/// Calls the deleter, once the runtime owns the tensor.
template <class Managed>
struct Taken {
    explicit Taken(Managed *managed) : tensor(managed) {}
    ~Taken() {
        if (owned && tensor->deleter != nullptr) {
            tensor->deleter(tensor);
        }
    }
    Taken(const Taken &) = delete;
    Taken &operator=(const Taken &) = delete;

    Managed *tensor;
    bool owned = false;
};

TensorLayout layout_of(const pi_dlpack_tensor &tensor) {
    if (tensor.ndim < 0) {
        throw Error(PI_ERROR_INVALID_VALUE, "DLPack: ndim is " + std::to_string(tensor.ndim));
    }
    if (tensor.ndim > 0 && tensor.shape == nullptr) {
        throw Error(PI_ERROR_INVALID_NULL_POINTER,
                    "DLPack: shape is NULL, and ndim " + std::to_string(tensor.ndim));
    }
    TensorLayout layout = TensorLayout::dense(
        tensor.dtype, std::vector<int64_t>(tensor.shape, tensor.shape + tensor.ndim));
    if (tensor.strides != nullptr) {
        layout.strides.assign(tensor.strides, tensor.strides + tensor.ndim);
    }
    return layout;
}

Mem import_memory(const Topology &topology, PlaceIndex place, const pi_dlpack_tensor &tensor,
                  const TensorLayout::Hull &hull, bool read_only) {
    const uint64_t first = tensor.byte_offset + static_cast<uint64_t>(hull.first);
    auto desc = pi::desc<pi_mem_import_desc>();
    desc.flags = read_only ? PI_MEM_READ_ONLY : 0;
    desc.size = hull.size;
    desc.handle.type = PI_EXTERNAL_NATIVE;
    desc.handle.native.count = 1;
    desc.handle.native.value[0] = reinterpret_cast<uintptr_t>(tensor.data);
    if (tensor.device.device_type == PI_DLPACK_OPENCL) {
        desc.handle.native.type = PI_NATIVE_OPENCL;
        desc.offset = first;
    } else {
        desc.handle.native.type = tensor.device.device_type == PI_DLPACK_CUDA
                                      ? PI_NATIVE_CUDA_POINTER
                                      : PI_NATIVE_LEVEL_ZERO_POINTER;
        desc.handle.native.value[0] += first; // the driver finds the allocation from there, too
    }
    Mem mem;
    check(piMemImport(topology.context(place), topology.device(place), &desc, mem.out()),
          "DLPack: piMemImport");
    return mem;
}

template <class Managed>
ImportedTensor import_tensor(const Runtime &runtime, Managed *managed, uint64_t flags,
                             const DlpackImportOptions &options) {
    const pi_dlpack_tensor &tensor = managed->dl_tensor;
    if (tensor.data == nullptr) {
        throw Error(PI_ERROR_INVALID_NULL_POINTER, "DLPack: the tensor's data is NULL");
    }
    TensorLayout layout = layout_of(tensor);
    const TensorLayout::Hull hull = layout.hull();
    layout.begin = static_cast<uint64_t>(-hull.first);

    const PlaceIndex place = dlpack_place(runtime.topology(), tensor.device, options.place);
    check_dlpack_stream(tensor.device, options.stream);
    const auto taken = std::make_shared<Taken<Managed>>(managed);
    StorageDescriptor description = options.storage;
    description.size = hull.size;
    description.owner = taken;
    description.read_only = (flags & PI_DLPACK_READ_ONLY) != 0;
    description.device_place = place;
    description.host_memory_valid = true;
    description.host_memory = nullptr;
    description.device_memory = {};
    description.ready = {};
    if (place == host_place) {
        description.host_memory =
            static_cast<std::byte *>(tensor.data) + tensor.byte_offset + hull.first;
    } else {
        const Topology &topology = runtime.topology();
        description.device_memory =
            import_memory(topology, place, tensor, hull, description.read_only);
        description.ready = end_of_stream(topology.context(place), topology.device(place),
                                          tensor.device, options.stream);
    }
    const bool read_only = description.read_only;
    Storage storage(runtime, std::move(description));
    Buffer buffer = storage.buffer();
    taken->owned = true; // nothing can fail any more
    return {std::move(storage), std::move(buffer),
            std::move(layout),  place,
            read_only,          (flags & PI_DLPACK_IS_COPIED) != 0};
}

template <class Managed>
struct Exported {
    Managed managed{};
    TensorLayout layout;
    std::shared_ptr<const void> owner;
};

/// The tensor, except for the members that only one form has.
template <class Managed>
Managed &make_exported(const Acquisition &use, const TensorLayout &layout,
                       std::shared_ptr<const void> &&owner, const DlpackStream &stream) {
    const TensorLayout::Hull hull = layout.hull();
    const uint64_t size = use.range().size();
    // A tensor that begins before the range wraps around, past any end.
    const uint64_t first = layout.begin + static_cast<uint64_t>(hull.first);
    if (first > size || hull.size > size - first) {
        throw Error(PI_ERROR_INVALID_SIZE, "DLPack: the tensor's bytes begin at " +
                                               std::to_string(static_cast<int64_t>(first)) +
                                               " of the acquired range, and are " +
                                               std::to_string(hull.size) + "; the range has " +
                                               std::to_string(size));
    }
    auto exported = std::make_unique<Exported<Managed>>();
    pi_dlpack_tensor &tensor = exported->managed.dl_tensor;
    if (use.place() == host_place) {
        tensor.device = {PI_DLPACK_CPU, 0};
        check_dlpack_stream(tensor.device, stream);
        tensor.data = use.pointer() + layout.begin;
    } else {
        pi_device device = nullptr;
        check(piMemGetInfo(use.mem(), PI_MEM_INFO_DEVICE, sizeof device, &device, nullptr),
              "piMemGetInfo(DEVICE)");
        tensor.device = dlpack_device(device);
        check_dlpack_stream(tensor.device, stream);
        order_before_stream(use, stream);
        const uint64_t begin = use.offset() + layout.begin;
        uint64_t value = 0;
        if (tensor.device.device_type == PI_DLPACK_CPU) {
            void *pointer = nullptr;
            check(piMemGetHostPointer(use.mem(), &pointer), "DLPack: piMemGetHostPointer");
            value = reinterpret_cast<uintptr_t>(pointer) + begin;
        } else {
            pi_native_handle native{};
            check(piMemGetNativeHandle(use.mem(), device, &native), "DLPack: piMemGetNativeHandle");
            value = native.value[0];
            if (tensor.device.device_type == PI_DLPACK_OPENCL) {
                tensor.byte_offset = begin;
            } else {
                value += begin;
            }
        }
        tensor.data = reinterpret_cast<void *>(static_cast<uintptr_t>(value));
    }
    exported->layout = layout;
    exported->owner = std::move(owner);
    tensor.dtype = layout.dtype;
    tensor.ndim = static_cast<int32_t>(layout.shape.size());
    tensor.shape = exported->layout.shape.data();
    tensor.strides = exported->layout.strides.data();
    exported->managed.manager_ctx = exported.get();
    exported->managed.deleter = [](Managed *self) {
        delete static_cast<Exported<Managed> *>(self->manager_ctx);
    };
    return exported.release()->managed;
}

/// Releases the acquisition when it is destroyed.
std::shared_ptr<Acquisition> own(Acquisition use, const DlpackStream &stream) {
    return {new Acquisition(std::move(use)), [stream](Acquisition *held) {
                try {
                    if (held->held()) {
                        release_dlpack(*held, stream);
                    }
                } catch (const Error &) {
                    held->abandon();
                }
                delete held;
            }};
}

} // namespace

TensorLayout TensorLayout::dense(pi_dlpack_data_type dtype, std::vector<int64_t> shape) {
    TensorLayout layout{dtype, std::move(shape), {}, 0};
    layout.strides.resize(layout.shape.size());
    uint64_t stride = 1;
    for (size_t axis = layout.shape.size(); axis-- > 0;) {
        if (layout.shape[axis] < 0) {
            throw Error(PI_ERROR_INVALID_VALUE, "DLPack: shape[" + std::to_string(axis) + "] is " +
                                                    std::to_string(layout.shape[axis]));
        }
        layout.strides[axis] = static_cast<int64_t>(stride);
        if (__builtin_mul_overflow(stride, static_cast<uint64_t>(layout.shape[axis]), &stride)) {
            throw Error(PI_ERROR_INVALID_SIZE, "DLPack: the shape overflows");
        }
    }
    return layout;
}

uint64_t TensorLayout::element_size() const {
    const uint64_t bits = uint64_t{dtype.bits} * dtype.lanes;
    if (bits == 0 || bits % 8 != 0) {
        throw Error(PI_ERROR_UNSUPPORTED_FEATURE,
                    "DLPack: elements of " + std::to_string(dtype.bits) + " bits times " +
                        std::to_string(dtype.lanes) + " lanes; whole bytes are needed");
    }
    return bits / 8;
}

TensorLayout::Hull TensorLayout::hull() const {
    if (strides.size() != shape.size()) {
        throw Error(PI_ERROR_INVALID_VALUE, "DLPack: " + std::to_string(shape.size()) +
                                                " axes, and strides of " +
                                                std::to_string(strides.size()));
    }
    // In elements, from element 0 to the first and to the last.
    int64_t low = 0;
    int64_t high = 0;
    bool overflows = false;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
        if (shape[axis] < 0) {
            throw Error(PI_ERROR_INVALID_VALUE, "DLPack: shape[" + std::to_string(axis) + "] is " +
                                                    std::to_string(shape[axis]));
        }
        if (shape[axis] == 0) {
            throw Error(PI_ERROR_INVALID_SIZE,
                        "DLPack: shape[" + std::to_string(axis) +
                            "] is 0: a tensor without elements has no bytes");
        }
        int64_t span = 0;
        int64_t &end = strides[axis] < 0 ? low : high;
        overflows |= __builtin_mul_overflow(strides[axis], shape[axis] - 1, &span) ||
                     __builtin_add_overflow(end, span, &end);
    }
    const auto element = static_cast<int64_t>(element_size());
    Hull hull;
    int64_t count = 0;
    int64_t bytes = 0;
    overflows |= __builtin_sub_overflow(high, low, &count) ||
                 __builtin_add_overflow(count, int64_t{1}, &count) ||
                 __builtin_mul_overflow(count, element, &bytes) ||
                 __builtin_mul_overflow(low, element, &hull.first);
    if (overflows) {
        throw Error(PI_ERROR_INVALID_SIZE, "DLPack: shape and strides overflow");
    }
    hull.size = static_cast<uint64_t>(bytes);
    return hull;
}

ImportedTensor import_dlpack(const Runtime &runtime, ::DLManagedTensor *tensor,
                             const DlpackImportOptions &options) {
    if (tensor == nullptr) {
        throw Error(PI_ERROR_INVALID_NULL_POINTER, "DLPack: the tensor is NULL");
    }
    return import_tensor(runtime, reinterpret_cast<pi_dlpack_managed_tensor *>(tensor), 0, options);
}

ImportedTensor import_dlpack(const Runtime &runtime, ::DLManagedTensorVersioned *tensor,
                             const DlpackImportOptions &options) {
    if (tensor == nullptr) {
        throw Error(PI_ERROR_INVALID_NULL_POINTER, "DLPack: the tensor is NULL");
    }
    auto *managed = reinterpret_cast<pi_dlpack_managed_tensor_versioned *>(tensor);
    if (managed->version.major != PI_DLPACK_MAJOR_VERSION) {
        throw Error(PI_ERROR_UNSUPPORTED_FEATURE,
                    "DLPack: the tensor is of version " + std::to_string(managed->version.major) +
                        "." + std::to_string(managed->version.minor) + "; 1.x is supported");
    }
    return import_tensor(runtime, managed, managed->flags, options);
}

pi_dlpack_device dlpack_device(const Topology &topology, PlaceIndex place) {
    if (place >= topology.size()) {
        throw Error(PI_ERROR_INVALID_VALUE, "DLPack: no place " + std::to_string(place) +
                                                ": the topology has places 0 to " +
                                                std::to_string(topology.size() - 1));
    }
    return place == host_place ? pi_dlpack_device{PI_DLPACK_CPU, 0}
                               : dlpack_device(topology.device(place));
}

::DLManagedTensorVersioned *export_dlpack(const Acquisition &use, const TensorLayout &layout,
                                          std::shared_ptr<const void> owner, bool copied,
                                          const DlpackStream &stream) {
    auto &managed =
        make_exported<pi_dlpack_managed_tensor_versioned>(use, layout, std::move(owner), stream);
    managed.version = {PI_DLPACK_MAJOR_VERSION, PI_DLPACK_MINOR_VERSION};
    managed.flags = (use.writes() ? 0 : PI_DLPACK_READ_ONLY) | (copied ? PI_DLPACK_IS_COPIED : 0);
    return reinterpret_cast<::DLManagedTensorVersioned *>(&managed);
}

::DLManagedTensor *export_dlpack_unversioned(const Acquisition &use, const TensorLayout &layout,
                                             std::shared_ptr<const void> owner,
                                             const DlpackStream &stream) {
    if (!use.writes()) {
        throw Error(PI_ERROR_UNSUPPORTED_FEATURE,
                    "DLPack: DLManagedTensor cannot say that a tensor is read-only; acquire for "
                    "read_write, or export a DLManagedTensorVersioned");
    }
    return reinterpret_cast<::DLManagedTensor *>(
        &make_exported<pi_dlpack_managed_tensor>(use, layout, std::move(owner), stream));
}

::DLManagedTensorVersioned *export_dlpack(Acquisition use, const TensorLayout &layout, bool copied,
                                          const DlpackStream &stream) {
    const auto owner = own(std::move(use), stream);
    try {
        return export_dlpack(*owner, layout, owner, copied, stream);
    } catch (...) {
        owner->abandon(); // not written yet
        throw;
    }
}

::DLManagedTensor *export_dlpack_unversioned(Acquisition use, const TensorLayout &layout,
                                             const DlpackStream &stream) {
    const auto owner = own(std::move(use), stream);
    try {
        return export_dlpack_unversioned(*owner, layout, owner, stream);
    } catch (...) {
        owner->abandon();
        throw;
    }
}

} // namespace pi::runtime
