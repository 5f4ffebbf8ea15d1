// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "platform.hpp"

#include <algorithm>
#include <cstdio>

namespace pi::opencl {

using namespace sdk;

namespace {

pi_device_type device_type(cl_device_type type) {
    if (type & CL_DEVICE_TYPE_GPU)
        return PI_DEVICE_TYPE_GPU;
    if (type & CL_DEVICE_TYPE_CPU)
        return PI_DEVICE_TYPE_CPU;
    if (type & CL_DEVICE_TYPE_ACCELERATOR)
        return PI_DEVICE_TYPE_ACCELERATOR;
    return PI_DEVICE_TYPE_OTHER;
}

} // namespace

Device::Device(Platform &platform, cl_device_id id, sdk::Ref<Device> parent, DeviceOwner vendor,
               pi_partition_kind partition)
    : Object(platform.host(), static_cast<bool>(parent)), platform_(platform),
      parent_(std::move(parent)), vendor_(std::move(vendor)), id_(id), partition_kind_(partition) {
    name_ = get_text(CL_DEVICE_NAME);
    extensions_ = get_text(CL_DEVICE_EXTENSIONS);
    quirks_ = find_quirks(platform.name(), platform.version(), name_, get_text(CL_DRIVER_VERSION));
    type_ = device_type(get<cl_device_type>(CL_DEVICE_TYPE));
    integrated_ = get<cl_bool>(CL_DEVICE_HOST_UNIFIED_MEMORY);
    has_compiler_ = get<cl_bool>(CL_DEVICE_COMPILER_AVAILABLE);
    images_ =
        get<cl_bool>(CL_DEVICE_IMAGE_SUPPORT) && !(parent_ && quirk(QUIRK_NO_SUB_DEVICE_IMAGES));
    unsigned major = 1, minor = 0;
    std::sscanf(get_text(CL_DEVICE_VERSION).c_str(), "OpenCL %u.%u", &major, &minor);
    version_ = std::min(100 * major + minor, platform.api_version());
    // Before 3.0 it depends on the program's compile options.
    if (major >= 3)
        non_uniform_groups_ = get<cl_bool>(CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT);
    // CL_DEVICE_QUEUE_PROPERTIES of 1.2 has the same value and meaning.
    out_of_order_ = get<cl_command_queue_properties>(CL_DEVICE_QUEUE_ON_HOST_PROPERTIES) &
                    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    has_globals_ = platform.globals() && get<size_t>(CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE);
    if (platform.usm())
        usm_ = platform.usm()->access(*this);
    for (const pi_usm_kind usm_kind : {PI_USM_HOST, PI_USM_DEVICE, PI_USM_SHARED})
        usm_kinds_ |= usm_.own[usm_kind] ? 1u << usm_kind : 0u;
    partition_kinds_ = find_partition_kinds(*this);
    clock_ = find_clock(*this);
    il_ = find_il(*this);
    max_allocation_ = get<cl_ulong>(CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    const uint64_t base = std::max<uint64_t>(1, get<cl_uint>(CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8);
    offset_alignment_ = quirk(QUIRK_ANY_SUB_BUFFER_ORIGIN) ? 1 : base;
    // OpenCL promises only that a buffer is aligned for every built-in type.
    min_alignment_ = std::min<uint64_t>(base, quirk(QUIRK_ALIGNMENT_64) ? 64 : sizeof(cl_long16));
}

bool lists_extension(const std::string &extensions, const char *extension) {
    return text(' ', extensions, ' ').find(text(' ', extension, ' ')) != std::string::npos;
}

std::vector<cl_device_id> ids_of(const std::vector<Device *> &devices) {
    std::vector<cl_device_id> ids;
    ids.reserve(devices.size());
    for (const Device *device : devices)
        ids.push_back(device->id());
    return ids;
}

std::optional<size_t> Device::position_in(const std::vector<cl_device_id> &ids) const {
    for (const Device *one = this; one; one = one->parent())
        if (const auto found = std::find(ids.begin(), ids.end(), one->id()); found != ids.end())
            return static_cast<size_t>(found - ids.begin());
    return {};
}

bool Device::has_extension(const char *extension) const {
    return lists_extension(extensions_, extension);
}

QueueOwner create_vendor_queue(const Device &device, cl_context context,
                               cl_command_queue_properties properties) {
    const Api &api = device.api();
    cl_int code = CL_SUCCESS;
    cl_command_queue queue = nullptr;
    // On platforms before 2.0 the newer function may crash or hang, even if the ICD loader has it.
    if (device.platform().api_version() >= 200 && api.clCreateCommandQueueWithProperties) {
        const cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, properties, 0};
        queue = api.clCreateCommandQueueWithProperties(context, device.id(),
                                                       properties ? list : nullptr, &code);
        check(code, "clCreateCommandQueueWithProperties", "on ", device.name());
    } else {
        queue = api.clCreateCommandQueue(context, device.id(), properties, &code);
        check(code, "clCreateCommandQueue", "on ", device.name());
    }
    return {api, queue};
}

} // namespace pi::opencl
