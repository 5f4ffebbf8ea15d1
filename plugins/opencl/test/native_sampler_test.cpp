// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "image.hpp"
#include "native.hpp"

using namespace opencl_test;

namespace {

struct Mode {
    pi_addressing_mode ours;
    cl_addressing_mode vendor;
};
constexpr Mode modes[] = {
    {PI_ADDRESSING_NONE, CL_ADDRESS_NONE},
    {PI_ADDRESSING_CLAMP_TO_EDGE, CL_ADDRESS_CLAMP_TO_EDGE},
    {PI_ADDRESSING_CLAMP, CL_ADDRESS_CLAMP},
    {PI_ADDRESSING_REPEAT, CL_ADDRESS_REPEAT},
    {PI_ADDRESSING_MIRRORED_REPEAT, CL_ADDRESS_MIRRORED_REPEAT},
};

ClSampler make_cl_sampler(cl_context context, cl_bool normalized, cl_addressing_mode addressing,
                          cl_filter_mode filter) {
    cl_int code = CL_SUCCESS;
    ClSampler sampler(clCreateSampler(context, normalized, addressing, filter, &code));
    cl_ok(code);
    return sampler;
}

} // namespace

TEST_CASE("the driver's sampler has the properties that were asked for") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        for (const Mode &mode : modes)
            for (const bool linear : {false, true}) {
                const Sampler sampler = make_sampler(place.context, 1, mode.ours,
                                                     linear ? PI_FILTER_LINEAR : PI_FILTER_NEAREST);
                const cl_sampler vendor = vendor_of(sampler);
                CHECK(ask<cl_context>(clGetSamplerInfo, vendor, CL_SAMPLER_CONTEXT) ==
                      vendor_of(place.context));
                CHECK(ask<cl_bool>(clGetSamplerInfo, vendor, CL_SAMPLER_NORMALIZED_COORDS) ==
                      CL_TRUE);
                CHECK(ask<cl_addressing_mode>(clGetSamplerInfo, vendor,
                                              CL_SAMPLER_ADDRESSING_MODE) == mode.vendor);
                CHECK(ask<cl_filter_mode>(clGetSamplerInfo, vendor, CL_SAMPLER_FILTER_MODE) ==
                      static_cast<cl_filter_mode>(linear ? CL_FILTER_LINEAR : CL_FILTER_NEAREST));
            }
    }
}

TEST_CASE("a sampler around the application's reports its properties and keeps a reference") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device), other(device);
        for (const Mode &mode : modes) {
            const ClSampler vendor =
                make_cl_sampler(vendor_of(place.context), CL_TRUE, mode.vendor, CL_FILTER_LINEAR);
            const pi_native_desc desc = native_desc(vendor.get());
            Sampler sampler;
            OK(piSamplerCreateWithNativeHandle(place.context, &desc, sampler.out()));
            CHECK(count(vendor) == 2);
            CHECK(info<uint32_t>(piSamplerGetInfo, sampler,
                                 PI_SAMPLER_INFO_NORMALIZED_COORDINATES) == 1);
            CHECK(info<pi_addressing_mode>(piSamplerGetInfo, sampler, PI_SAMPLER_INFO_ADDRESSING) ==
                  mode.ours);
            CHECK(info<pi_filter_mode>(piSamplerGetInfo, sampler, PI_SAMPLER_INFO_FILTER) ==
                  PI_FILTER_LINEAR);
            sampler.reset();
            CHECK(count(vendor) == 1);
        }
        ClSampler vendor = make_cl_sampler(vendor_of(place.context), CL_FALSE, CL_ADDRESS_CLAMP,
                                           CL_FILTER_NEAREST);
        const pi_native_desc desc = native_desc(vendor.get(), PI_NATIVE_OWN);
        Sampler sampler;
        refused(piSamplerCreateWithNativeHandle(other.context, &desc, sampler.out()),
                PI_ERROR_INVALID_NATIVE_HANDLE, {"cl_sampler", "cl_context"});
        CHECK(count(vendor) == 1); // a failed call takes no ownership
        pi_native_desc named = desc;
        named.device = device;
        refused(piSamplerCreateWithNativeHandle(place.context, &named, sampler.out()),
                PI_ERROR_INVALID_VALUE, {"device", "sampler"});
        refuses_malformed(desc, [&](const pi_native_desc *one) {
            Sampler none;
            return piSamplerCreateWithNativeHandle(place.context, one, none.out());
        });
        cl_ok(clRetainSampler(vendor));
        OK(piSamplerCreateWithNativeHandle(place.context, &desc, sampler.out()));
        CHECK(count(vendor) == 2);
        CHECK(info<uint32_t>(piSamplerGetInfo, sampler, PI_SAMPLER_INFO_NORMALIZED_COORDINATES) ==
              0);
        CHECK(vendor_of(sampler) == vendor.get());
        sampler.reset();
        CHECK(count(vendor) == 1);
    }
}

TEST_CASE("the application can read the cl_mem of an image") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        const Size3 size{4, 3, 0};
        const Mem image = make_image(place.context, device, image_desc(PI_IMAGE_2D, size));
        std::vector<uint32_t> pixels(12), seen(12);
        for (uint32_t i = 0; i < 12; ++i)
            pixels[i] = i * 0x01020304;
        write_image(place.queue, image, size, pixels);
        CHECK(ask<cl_mem_object_type>(clGetMemObjectInfo, vendor_of(image), CL_MEM_TYPE) ==
              CL_MEM_OBJECT_IMAGE2D);
        const ClQueue queue = make_cl_queue(vendor_of(place.context), vendor_of(device));
        const size_t origin[3] = {}, extent[3] = {4, 3, 1};
        ClEvent event;
        cl_ok(clEnqueueReadImage(queue, vendor_of(image), CL_FALSE, origin, extent, 0, 0,
                                 seen.data(), 0, nullptr, event.out()));
        cl_ok(clFlush(queue));
        const cl_event id = event;
        cl_ok(clWaitForEvents(1, &id));
        CHECK(seen == pixels);
    }
}
