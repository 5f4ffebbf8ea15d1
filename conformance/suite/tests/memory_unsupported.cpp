// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Features that a device does not have: refused as unsupported, with a text and no output written.

#include "checks.hpp"
#include "registry.hpp"

namespace pi::suite {
namespace {

constexpr uint64_t size = 4096;

// Whether no device of the context has it: a device may lack what its plugin has.
bool lacks(Fixture &fixture, uint64_t capability) {
    for (const pi_device device :
         get_info_list<pi_device>(&piContextGetInfo, fixture.context(), PI_CONTEXT_INFO_DEVICES)) {
        if (fixture.can(capability, device))
            return false;
    }
    return true;
}

// If the plugin has the feature for other devices, it may check the arguments before the device.
bool plugin_lacks(Fixture &fixture, uint64_t capability) {
    return (get_info<uint64_t>(&piPluginGetInfo, fixture.plugin(), PI_PLUGIN_INFO_CAPABILITIES) &
            capability) == 0;
}

template <typename Handle, typename Create>
void require_unsupported(const char *what, Create &&create) {
    require_untouched<Handle>(what, {PI_ERROR_UNSUPPORTED_FEATURE}, create);
}

// Arguments that are also wrong on a device that has the feature: refused, with another code if the
// plugin has it.
template <typename Handle, typename Create>
void require_refused(Fixture &fixture, uint64_t capability, const char *what, Create &&create) {
    Handle out = poison<Handle>();
    const pi_result result = create(&out);
    if (result == PI_ERROR_UNSUPPORTED_FEATURE || plugin_lacks(fixture, capability))
        require_error(result, PI_ERROR_UNSUPPORTED_FEATURE, what);
    else
        require(result != PI_SUCCESS, what, ": succeeded on a device that does not have it");
    require(same(out, poison<Handle>()), what, ": failed, but wrote its output");
}

CONFORMANCE_TEST("memory", "memory of kinds that the device does not have is unsupported") {
    const Place place = fixture.place();
    const Mem mem = fixture.make_buffer(size);
    if (lacks(fixture, PI_CAPABILITY_MEM_IMPORT)) {
        Bytes bytes(size);
        auto desc = pi::desc<pi_mem_import_desc>();
        desc.size = size;
        desc.handle.type = PI_EXTERNAL_HOST_POINTER;
        desc.handle.pointer = bytes.data();
        require_unsupported<pi_mem>("piMemImport", [&](pi_mem *out) {
            return piMemImport(place.context, place.device, &desc, out);
        });
    }
    if (lacks(fixture, PI_CAPABILITY_MEM_EXPORT)) {
        auto desc = pi::desc<pi_mem_export_desc>();
        desc.external_type = PI_EXTERNAL_OPAQUE_FD;
        require_refused<pi_external_handle>(
            fixture, PI_CAPABILITY_MEM_EXPORT, "piMemExport",
            [&](pi_external_handle *out) { return piMemExport(mem, &desc, out); });
    }
    if (lacks(fixture, PI_CAPABILITY_IMAGE)) {
        auto desc = pi::desc<pi_mem_image_desc>();
        desc.image_type = PI_IMAGE_2D;
        desc.channel_order = PI_CHANNEL_ORDER_RGBA;
        desc.channel_type = PI_CHANNEL_UNORM8;
        desc.width = desc.height = 4;
        require_unsupported<pi_mem>("piMemImageCreate", [&](pi_mem *out) {
            return piMemImageCreate(place.context, place.device, &desc, out);
        });
        require_unsupported<pi_mem>("piMemImageViewCreate", [&](pi_mem *out) {
            return piMemImageViewCreate(mem, &desc, out);
        });
    }
    if (lacks(fixture, PI_CAPABILITY_MEM_HOST_ACCESS)) {
        require_error(piMemFlush(mem, 0, size), PI_ERROR_UNSUPPORTED_FEATURE, "piMemFlush");
        require_error(piMemInvalidate(mem, 0, size), PI_ERROR_UNSUPPORTED_FEATURE,
                      "piMemInvalidate");
    }
    if (lacks(fixture, PI_CAPABILITY_NATIVE))
        require_unsupported<pi_native_handle>("piMemGetNativeHandle", [&](pi_native_handle *out) {
            return piMemGetNativeHandle(mem, place.device, out);
        });
}

CONFORMANCE_TEST("memory", "USM that the device does not have is unsupported") {
    const Place place = fixture.place();
    Bytes bytes(size);
    if (lacks(fixture, PI_CAPABILITY_USM)) {
        require_refused<uint64_t>(fixture, PI_CAPABILITY_USM, "piUsmFree", [&](uint64_t *) {
            return piUsmFree(place.context, bytes.data());
        });
        require_refused<uint64_t>(fixture, PI_CAPABILITY_USM, "piUsmGetInfo", [&](uint64_t *out) {
            return piUsmGetInfo(place.context, bytes.data(), PI_USM_INFO_SIZE, sizeof *out, out,
                                nullptr);
        });
    }
    if (lacks(fixture, PI_CAPABILITY_USM_POOL)) {
        auto desc = pi::desc<pi_usm_pool_desc>();
        desc.kind = PI_USM_DEVICE;
        require_unsupported<pi_usm_pool>("piUsmPoolCreate", [&](pi_usm_pool *out) {
            return piUsmPoolCreate(place.context, place.device, &desc, out);
        });
    }
    if (lacks(fixture, PI_CAPABILITY_USM_REGISTER)) {
        require_error(piUsmHostRegister(place.context, bytes.data(), size, 0),
                      PI_ERROR_UNSUPPORTED_FEATURE, "piUsmHostRegister");
        require_refused<uint64_t>(
            fixture, PI_CAPABILITY_USM_REGISTER, "piUsmHostUnregister",
            [&](uint64_t *) { return piUsmHostUnregister(place.context, bytes.data()); });
    }
}

template <typename Desc>
void require_command_unsupported(Fixture &fixture, pi_queue queue, uint64_t capability) {
    if (!lacks(fixture, capability))
        return;
    auto desc = pi::desc<Desc>();
    if constexpr (std::is_same_v<Desc, pi_usm_free_desc>)
        desc.pointer = &desc; // that of NULL succeeds
    require_refused<pi_event>(fixture, capability, Description<Desc>::name,
                              [&](pi_event *out) { return try_enqueue(queue, desc, {}, out); });
}

CONFORMANCE_TEST("memory", "commands on memory that the device does not have are unsupported") {
    const Queue queue = fixture.make_queue();
    // Every command names its capability in PI_SUITE_COMMANDS.
#define PI_SUITE_CHECK(desc, function, capability)                                                 \
    if (capability != 0)                                                                           \
        require_command_unsupported<desc>(fixture, queue, capability);
    PI_SUITE_COMMANDS(PI_SUITE_CHECK)
#undef PI_SUITE_CHECK
}

} // namespace
} // namespace pi::suite
