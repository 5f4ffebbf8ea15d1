// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "platform.hpp"
#include "entries.hpp"
#include "nvml.hpp"
#include "nvrtc.hpp"
#include "primary.hpp"
#include "virtual_memory.hpp"

#include <pi/sdk/descriptor.hpp>

#include <algorithm>
#include <future>
#include <string_view>
#include <unistd.h>

namespace pi::cuda {

using namespace sdk;

// ----- Instance ----------------------------------------------------------------------------------

Instance::Instance(const pi_host *host) : Object(host) {}

Instance::~Instance() = default;

Platform &Instance::platform() {
    std::lock_guard lock(mutex_);
    if (!api_) {
        const char *path = host()->get_option(host(), "PI_CUDA_LIBRARY");
        api_ = std::make_unique<Api>(path && *path ? path : "libcuda.so.1");
    }
    if (platforms_.empty())
        platforms_.push_back(make<Platform>(*this, *api_));
    return *platforms_.front();
}

const Nvrtc &Instance::nvrtc() {
    std::lock_guard lock(nvrtc_mutex_);
    if (!nvrtc_) {
        const char *path = host()->get_option(host(), "PI_NVRTC_LIBRARY");
        try {
            nvrtc_ = std::make_unique<Nvrtc>(path ? path : "", api_->version());
        } catch (const Error &error) {
            fail(PI_ERROR_UNSUPPORTED_FEATURE, "CUDA C++ needs the compiler NVRTC: ", error.text(),
                 "; PI_NVRTC_LIBRARY may name it");
        }
    }
    return *nvrtc_;
}

Nvml *Instance::nvml() {
    std::call_once(nvml_sought_, [this] {
        const char *path = host()->get_option(host(), "PI_NVML_LIBRARY");
        try {
            nvml_ = std::make_unique<Nvml>(path && *path ? path : "libnvidia-ml.so.1");
        } catch (const Error &error) {
            log(PI_LOG_INFO, "what links are between devices is unknown: " + error.text());
        }
    });
    return nvml_.get();
}

void Instance::drain() {
    auto done = std::make_shared<std::promise<void>>();
    std::future<void> reached = done->get_future();
    reaper_.post([done] { done->set_value(); });
    reached.wait();
}

// ----- Platform ----------------------------------------------------------------------------------

Platform::Platform(Instance &instance, const Api &api)
    : Object(instance.host()), instance_(instance), api_(api) {
    int count = 0;
    check(api_, api_.cuDeviceGetCount(&count), "cuDeviceGetCount");
    std::string left_out;
    for (int i = 0; i < count; ++i) {
        try {
            CUdevice id = 0;
            check(api_, api_.cuDeviceGet(&id, i), "cuDeviceGet", "number ", i);
            devices_.push_back(make<Device>(*this, id));
        } catch (...) {
            rethrow_no_memory();
            const std::string reason = current_error().text();
            instance_.log(PI_LOG_WARNING, text("device ", i, " of CUDA is left out: ", reason));
            left_out += text(left_out.empty() ? ": " : "; ", reason);
        }
    }
    if (devices_.empty())
        fail(PI_ERROR_UNAVAILABLE, api_.path(), " has ", count, " devices, none of which is usable",
             left_out);
}

Platform::~Platform() = default;

// ----- Device ------------------------------------------------------------------------------------

Device::Device(Platform &platform, CUdevice id)
    : Object(platform.host(), false), platform_(platform), id_(id) {
    char name[256] = {};
    check(api(), api().cuDeviceGetName(name, sizeof name, id_), "cuDeviceGetName");
    name_ = name;
    size_t bytes = 0;
    check(api(), api().cuDeviceTotalMem_v2(&bytes, id_), "cuDeviceTotalMem_v2", name_);
    memory_size_ = bytes;
    if (!attribute(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING))
        fail(PI_ERROR_UNSUPPORTED_FEATURE, name_,
             " shares no addresses with the host and other devices "
             "(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING is 0)");
    const auto size = [&](CUdevice_attribute which) {
        return static_cast<uint64_t>(std::max(attribute(which), 0));
    };
    max_group_ = size(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    max_items_ = {size(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X),
                  size(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
                  size(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)};
    max_groups_ = {size(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X),
                   size(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y),
                   size(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)};
    local_memory_ = std::max(size(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
                             size(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
    max_pitch_ = size(CU_DEVICE_ATTRIBUTE_MAX_PITCH);
    warp_ = std::max(static_cast<uint32_t>(size(CU_DEVICE_ATTRIBUTE_WARP_SIZE)), uint32_t{1});
    // CUDA before 11.1 lacks the attribute; such drivers always support registration.
    int answer = 1;
    registers_host_memory_ =
        api().cuDeviceGetAttribute(&answer, CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, id_) !=
            CUDA_SUCCESS ||
        answer;
    reads_pageable_ = attribute(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS) != 0;
    cooperative_ = attribute(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH) &&
                   api().cuLaunchCooperativeKernel &&
                   api().cuOccupancyMaxActiveBlocksPerMultiprocessor;
    has_pools_ = attribute(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED) && api().cuMemPoolCreate &&
                 api().cuMemPoolDestroy && api().cuMemPoolSetAccess &&
                 api().cuMemPoolSetAttribute && api().cuMemPoolTrimTo &&
                 api().cuMemAllocFromPoolAsync && api().cuMemFreeAsync;
    exports_ = has_virtual_memory(*this);
    exports_dma_buf_ =
        attribute(CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED) && api().cuMemGetHandleForAddressRange;
    // No attribute reports it: CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED is about events. Integrated
    // devices lack it.
    has_ipc_ = !attribute(CU_DEVICE_ATTRIBUTE_INTEGRATED) && api().cuIpcGetMemHandle &&
               api().cuIpcOpenMemHandle_v2 && api().cuIpcCloseMemHandle;
    if (attribute(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY) &&
        attribute(CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS))
        usm_kinds_ |= 1u << PI_USM_SHARED;
    compute_capability_ = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
                          attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
}

int Device::attribute(CUdevice_attribute which) const {
    int value = 0;
    return api().cuDeviceGetAttribute(&value, which, id_) == CUDA_SUCCESS ? value : 0;
}

bool Device::imports_pageable() const {
    const auto &all = platform_.devices();
    return reads_pageable_ && (!registers_host_memory_ ||
                               std::all_of(all.begin(), all.end(), [](const Ref<Device> &device) {
                                   return device->reads_pageable();
                               }));
}

uint64_t Device::host_pointer_alignment() const {
    return registers_host_memory_ ? host_page() : 1;
}

uint64_t host_page() {
    return static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

PciAddress Device::pci_address() const {
    const auto number = [&](CUdevice_attribute which) {
        return static_cast<unsigned>(attribute(which));
    };
    return {number(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID), number(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID),
            number(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)};
}

std::shared_ptr<Primary> Device::primary() {
    std::lock_guard lock(mutex_);
    {
        std::shared_ptr<Primary> found = primary_.lock();
        if (found && !found->lost())
            return found;
    }
    // Parts of a lost context may still be awaiting release; they would be found again.
    instance().drain();
    std::shared_ptr<Primary> primary = primary_.lock();
    if (!primary) {
        primary = std::make_shared<Primary>(*this);
        primary_ = primary;
    }
    primary->require_alive();
    return primary;
}

// ----- entry points ------------------------------------------------------------------------------

namespace entries {

pi_result PI_CALL piPlatformsGet(pi_plugin plugin, uint32_t capacity, pi_platform *out_platforms,
                                 uint32_t *out_count) {
    return call<Instance>(plugin, [&](Instance &self) {
        const pi_platform platform = self.platform().handle();
        write_list<pi_platform>({&platform, 1}, capacity, out_platforms, out_count);
    });
}

pi_result PI_CALL piPlatformGetInfo(pi_platform platform, pi_platform_info name, uint64_t size,
                                    void *value, uint64_t *out_size) {
    static constexpr InfoRow<Platform> rows[] = {
        {PI_PLATFORM_INFO_NAME, [](Platform &, const InfoWriter &write) { write("CUDA"); }},
        {PI_PLATFORM_INFO_VENDOR,
         [](Platform &, const InfoWriter &write) { write("NVIDIA Corporation"); }},
        {PI_PLATFORM_INFO_VERSION,
         [](Platform &p, const InfoWriter &write) {
             write("CUDA " + version_text(p.api().version()));
         }},
        {PI_PLATFORM_INFO_PLUGIN,
         [](Platform &p, const InfoWriter &write) { write(p.instance().handle()); }},
        {PI_PLATFORM_INFO_BACKEND,
         [](Platform &, const InfoWriter &write) { write(uint32_t{PI_BACKEND_CUDA}); }},
    };
    return call<Platform>(
        platform, [&](Platform &self) { answer_info(self, rows, name, size, value, out_size); });
}

pi_result PI_CALL piPlatformGetBackendOption(pi_platform platform, const char *frontend_option,
                                             uint64_t size, char *value, uint64_t *out_size) {
    // The options that piProgramBuild understands (jit.cpp).
    static constexpr std::string_view known[] = {"-O0", "-O1", "-O2", "-O3", "-g"};
    return call<Platform>(platform, [&](Platform &) {
        require(frontend_option, "frontend_option");
        const bool found =
            std::find(std::begin(known), std::end(known), frontend_option) != std::end(known);
        InfoWriter(size, value, out_size)(found ? frontend_option : "");
    });
}

pi_result PI_CALL piDevicesGet(pi_platform platform, pi_device_type types, uint32_t capacity,
                               pi_device *out_devices, uint32_t *out_count) {
    return call<Platform>(platform, [&](Platform &self) {
        std::vector<pi_device> devices;
        for (const Ref<Device> &device : self.devices())
            if (pi_sdk_asks_for(types, PI_DEVICE_TYPE_GPU))
                devices.push_back(device->handle());
        write_list<pi_device>(devices, capacity, out_devices, out_count);
    });
}

} // namespace entries
} // namespace pi::cuda
