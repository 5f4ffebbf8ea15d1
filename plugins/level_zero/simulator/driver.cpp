// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver.hpp"
#include "external.hpp"

#include <cctype>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <stdexcept>
#include <sys/mman.h>

namespace pi::level_zero::simulated {

namespace {

/// Reserves addresses for handles: two drivers never have the same handle, which loaders rely on,
/// and a program that dereferences one crashes.
std::uint64_t reserve_handles() {
    void *const range = mmap(nullptr, size_t(64) << 30, PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED)
        throw std::bad_alloc();
    return reinterpret_cast<std::uint64_t>(range);
}

/// "_2" if the driver's file is named "..._2.so".
std::string number_of_file() {
    Dl_info info{};
    dladdr(reinterpret_cast<void *>(&number_of_file), &info);
    std::string name = info.dli_fname ? info.dli_fname : "";
    name = name.substr(0, name.rfind(".so"));
    const size_t line = name.rfind('_');
    if (line == std::string::npos || line + 1 == name.size())
        return "";
    for (size_t i = line + 1; i < name.size(); ++i)
        if (!std::isdigit(static_cast<unsigned char>(name[i])))
            return "";
    return name.substr(line);
}

void add_tiles(Driver &all, Device &root) {
    const auto count = static_cast<uint32_t>(root.model.tiles);
    for (uint32_t i = 0; i < count; ++i) {
        auto tile = std::make_shared<Device>();
        tile->index = root.index;
        tile->root = &root;
        tile->tile = i;
        tile->model = root.model;
        tile->model.tiles = 0;
        tile->model.capacity /= count;
        tile->model.compute_units /= root.model.tiles;
        root.tiles.push_back(all.devices.add(tile));
    }
}

ze_result_t start(Driver &all) {
    all.number = number_of_file();
    all.config = read_config(all.number);
    try {
        all.machine = drivers::read_machine(all.config.machine);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "simulated Level Zero: %s\n", error.what());
        return ZE_RESULT_ERROR_UNINITIALIZED;
    }
    std::vector<std::shared_ptr<Device>> roots;
    for (const DeviceModel &model : all.machine.devices) {
        roots.push_back(std::make_shared<Device>());
        roots.back()->index = roots.size() - 1;
        roots.back()->model = model;
        all.devices.add(roots.back());
    }
    for (const auto &root : roots)
        add_tiles(all, *root);
    return ZE_RESULT_SUCCESS;
}

} // namespace

Driver::Driver()
    : handles(reserve_handles()), handle(reinterpret_cast<ze_driver_handle_t>(handles)) {}

Driver &driver() {
    static Driver *const all = new Driver;
    return *all;
}

Device &Driver::device(ze_device_handle_t device) {
    return *find(devices, device);
}

std::shared_ptr<Context> Driver::context(ze_context_handle_t context) {
    return find(contexts, context);
}

void Device::need_room(size_t size) const {
    need(used + size <= model.capacity, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    if (root)
        root->need_room(size);
}

void Device::take(size_t size) {
    used += size;
    if (root)
        root->take(size);
}

void Device::give(size_t size) {
    used -= size;
    if (root)
        root->give(size);
}

bool Driver::reaches(const Device &user, const Device &owner) const {
    return user.index == owner.index ||
           (machine.access[user.index][owner.index] && !config.peers_disagree);
}

void give_text(const std::string &text, size_t *size, char *out) {
    need_pointers(size);
    if (out && *size > 0) {
        const size_t length = std::min(*size, text.size() + 1);
        std::memcpy(out, text.c_str(), length);
    }
    *size = text.size() + 1;
}

namespace {

struct Extension {
    std::string_view name;
    std::uint32_t version;
};
constexpr std::string_view image_copy = ZE_IMAGE_COPY_EXT_NAME;
constexpr Extension extensions[] = {
    {ZE_GLOBAL_OFFSET_EXP_NAME, ZE_GLOBAL_OFFSET_EXP_VERSION_CURRENT},
    {ZE_PCI_PROPERTIES_EXT_NAME, ZE_PCI_PROPERTIES_EXT_VERSION_CURRENT},
    {ZE_DEVICE_LUID_EXT_NAME, ZE_DEVICE_LUID_EXT_VERSION_CURRENT},
    {image_copy, ZE_IMAGE_COPY_EXT_VERSION_CURRENT},
    {ZE_MODULE_PROGRAM_EXP_NAME, ZE_MODULE_PROGRAM_EXP_VERSION_CURRENT},
    {ZE_LINKAGE_INSPECTION_EXT_NAME, ZE_LINKAGE_INSPECTION_EXT_VERSION_CURRENT},
    {ZE_MEMORY_FREE_POLICIES_EXT_NAME, ZE_MEMORY_FREE_POLICIES_EXT_VERSION_CURRENT},
};

} // namespace

} // namespace pi::level_zero::simulated

using namespace pi::level_zero::simulated;

// Loaders call it more than once.
ze_result_t ZE_APICALL zeInit(ze_init_flags_t flags) {
    if (flags & ~std::uint32_t(ZE_INIT_FLAG_GPU_ONLY | ZE_INIT_FLAG_VPU_ONLY))
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    Driver &all = driver();
    const Lock lock(all.mutex);
    if (!all.initialised) {
        all.state = start(all);
        all.initialised = true;
    }
    return all.state;
}

ze_result_t ZE_APICALL zeDriverGet(uint32_t *count, ze_driver_handle_t *drivers) {
    return call([&](Lock &) {
        give(count, driver().machine.devices.empty() ? 0 : 1, drivers,
             [&](size_t i) { drivers[i] = driver().handle; });
    });
}

ze_result_t ZE_APICALL zeDriverGetApiVersion(ze_driver_handle_t handle, ze_api_version_t *version) {
    return call_of(handle, [&] {
        need_pointers(version);
        *version = ZE_API_VERSION_1_4;
    });
}

ze_result_t ZE_APICALL zeDriverGetProperties(ze_driver_handle_t handle,
                                             ze_driver_properties_t *properties) {
    return call_of(handle, [&] {
        need_pointers(properties);
        const std::string name = "pi simulated" + driver().number;
        std::memset(&properties->uuid, 0, sizeof properties->uuid);
        std::memcpy(properties->uuid.id, name.data(),
                    std::min(name.size(), sizeof properties->uuid.id));
        properties->driverVersion = 1;
    });
}

ze_result_t ZE_APICALL zeDriverGetIpcProperties(ze_driver_handle_t handle,
                                                ze_driver_ipc_properties_t *properties) {
    return call_of(handle, [&] {
        need_pointers(properties);
        properties->flags = ZE_IPC_PROPERTY_FLAG_MEMORY;
    });
}

ze_result_t ZE_APICALL zeDriverGetExtensionProperties(ze_driver_handle_t handle, uint32_t *count,
                                                      ze_driver_extension_properties_t *out) {
    return call_of(handle, [&] {
        std::vector<Extension> has(std::begin(extensions), std::end(extensions));
        if (!driver().config.image_pitches)
            std::erase_if(has, [](const Extension &one) { return one.name == image_copy; });
        give(count, has.size(), out, [&](size_t i) {
            std::snprintf(out[i].name, sizeof out[i].name, "%s", has[i].name.data());
            out[i].version = has[i].version;
        });
    });
}

ze_result_t ZE_APICALL zeDriverGetExtensionFunctionAddress(ze_driver_handle_t handle,
                                                           const char *name, void **address) {
    return call_of(handle, [&] {
        need_pointers(name, address);
        *address = extension_function(name);
        need(*address != nullptr, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    });
}
