// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sampler.hpp"
#include "entries.hpp"
#include "native.hpp"

#include <algorithm>
#include <span>

namespace pi::opencl {

using namespace sdk;

namespace {

/// A PI enumerator and its vendor counterpart.
struct ModeRow {
    uint32_t ours;
    cl_uint vendor;
};
constexpr ModeRow addressing_modes[] = {
    {PI_ADDRESSING_NONE, CL_ADDRESS_NONE},
    {PI_ADDRESSING_CLAMP_TO_EDGE, CL_ADDRESS_CLAMP_TO_EDGE},
    {PI_ADDRESSING_CLAMP, CL_ADDRESS_CLAMP},
    {PI_ADDRESSING_REPEAT, CL_ADDRESS_REPEAT},
    {PI_ADDRESSING_MIRRORED_REPEAT, CL_ADDRESS_MIRRORED_REPEAT},
};
constexpr ModeRow filter_modes[] = {
    {PI_FILTER_NEAREST, CL_FILTER_NEAREST},
    {PI_FILTER_LINEAR, CL_FILTER_LINEAR},
};

/// `ours` has been checked.
cl_uint to_vendor(std::span<const ModeRow> modes, uint32_t ours) {
    return std::find_if(modes.begin(), modes.end(),
                        [=](const ModeRow &row) { return row.ours == ours; })
        ->vendor;
}

uint32_t from_vendor(std::span<const ModeRow> modes, cl_uint vendor, const char *what) {
    for (const ModeRow &row : modes)
        if (row.vendor == vendor)
            return row.ours;
    fail(PI_ERROR_UNSUPPORTED_FEATURE, "the ", what, " of the cl_sampler, 0x", std::hex, vendor,
         ", has no counterpart in pi.h");
}

void check_images(const Context &context) {
    const auto &devices = context.devices();
    if (std::none_of(devices.begin(), devices.end(), [](Device *one) { return one->images(); }))
        fail(PI_ERROR_UNSUPPORTED_FEATURE,
             "no device of the context has images (CL_DEVICE_IMAGE_SUPPORT), so none has "
             "samplers: ",
             context.description());
}

Ref<Sampler> create_sampler(Context &context, const pi_sampler_desc &desc) {
    check_sampler(desc);
    check_images(context);
    const cl_addressing_mode addressing = to_vendor(addressing_modes, desc.addressing);
    const cl_filter_mode filter = to_vendor(filter_modes, desc.filter);
    const Api &api = context.api();
    const cl_bool normalized = desc.normalized_coordinates;
    cl_int code = CL_SUCCESS;
    cl_sampler vendor = nullptr;
    // As for queues: the newer function is for platforms of its version only.
    if (context.platform().api_version() >= 200 && api.clCreateSamplerWithProperties) {
        const cl_sampler_properties list[] = {CL_SAMPLER_NORMALIZED_COORDS,
                                              normalized,
                                              CL_SAMPLER_ADDRESSING_MODE,
                                              addressing,
                                              CL_SAMPLER_FILTER_MODE,
                                              filter,
                                              0};
        vendor = api.clCreateSamplerWithProperties(context.id(), list, &code);
        check(code, "clCreateSamplerWithProperties", "in ", context.description());
    } else {
        vendor = api.clCreateSampler(context.id(), normalized, addressing, filter, &code);
        check(code, "clCreateSampler", "in ", context.description());
    }
    return make<Sampler>(context, SamplerOwner(api, vendor), desc);
}

} // namespace

Sampler::Sampler(Context &context, SamplerOwner vendor, const pi_sampler_desc &desc)
    : Object(context.host()), context_(context), vendor_(std::move(vendor)), desc_(desc) {}

Ref<Sampler> sampler_around(Context &context, cl_sampler vendor) {
    const Api &api = context.api();
    const auto ask = [&]<class T>(T, cl_sampler_info name) {
        return ask_native<T>(api.clGetSamplerInfo, "clGetSamplerInfo", vendor, name);
    };
    check_native_context(context, ask(cl_context{}, CL_SAMPLER_CONTEXT), "cl_sampler");
    pi_sampler_desc desc{};
    desc.normalized_coordinates = ask(cl_bool{}, CL_SAMPLER_NORMALIZED_COORDS) ? 1 : 0;
    desc.addressing = from_vendor(
        addressing_modes, ask(cl_addressing_mode{}, CL_SAMPLER_ADDRESSING_MODE), "addressing mode");
    desc.filter =
        from_vendor(filter_modes, ask(cl_filter_mode{}, CL_SAMPLER_FILTER_MODE), "filter mode");
    return make<Sampler>(context, SamplerOwner::retained(api, vendor), desc);
}

namespace entries {

pi_result PI_CALL piSamplerCreate(pi_context context, const pi_sampler_desc *desc,
                                  pi_sampler *out_sampler) {
    return call<Context>(context, [&](Context &self) {
        const auto known = read_desc(desc, PI_TYPE_SAMPLER_DESC);
        require(out_sampler, "out_sampler");
        *out_sampler = create_sampler(self, known).give();
    });
}

pi_result PI_CALL piSamplerGetNativeHandle(pi_sampler sampler, pi_native_handle *out_handle) {
    return call<Sampler>(sampler, [&](Sampler &self) {
        require(out_handle, "out_handle");
        *out_handle = to_native(self.id());
    });
}

pi_result PI_CALL piSamplerCreateWithNativeHandle(pi_context context, const pi_native_desc *desc,
                                                  pi_sampler *out_sampler) {
    return call<Context>(context, [&](Context &self) {
        const auto known = read_native(desc);
        require(out_sampler, "out_sampler");
        check_no_device(known, "sampler");
        create_around<SamplerOwner, cl_sampler>(
            self.api(), from_native(known.handle), known.flags & PI_NATIVE_OWN, out_sampler,
            [&](cl_sampler vendor) { return sampler_around(self, vendor); });
    });
}

} // namespace entries
} // namespace pi::opencl
