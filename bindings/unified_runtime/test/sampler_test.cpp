// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "adapter.hpp"
#include "skip.hpp"

using namespace ur_test;

namespace {

ur_sampler_desc_t desc_of(bool normalized, ur_sampler_addressing_mode_t addressing,
                          ur_sampler_filter_mode_t filter) {
    return {UR_STRUCTURE_TYPE_SAMPLER_DESC, nullptr, normalized, addressing, filter};
}

ur_result_t create(const Machine &machine, const ur_sampler_desc_t &desc,
                   Owned<ur_sampler_handle_t> &out) {
    return ur().Sampler.pfnCreate(machine.context, &desc, out.out());
}

bool has_images(const Machine &machine) {
    if (info<ur_bool_t>(ur().Device.pfnGetInfo, machine.devices[0], UR_DEVICE_INFO_IMAGE_SUPPORT)) {
        return true;
    }
    pi_test::skip("needs a device with images");
    return false;
}

} // namespace

TEST_CASE("samplers of all modes have the infos that they were created with") {
    const Machine machine(GENERATE(from_range(device_counts())));
    if (!has_images(machine)) {
        return;
    }
    const auto get = ur().Sampler.pfnGetInfo;
    for (uint32_t mode = 0; mode < 20; ++mode) {
        const auto desc =
            desc_of(mode % 2 != 0, static_cast<ur_sampler_addressing_mode_t>(mode / 4),
                    static_cast<ur_sampler_filter_mode_t>(mode / 2 % 2));
        CAPTURE(mode);
        Owned<ur_sampler_handle_t> sampler;
        OK(create(machine, desc, sampler));
        CHECK((info<ur_bool_t>(get, sampler.get(), UR_SAMPLER_INFO_NORMALIZED_COORDS) != 0) ==
              desc.normalizedCoords);
        CHECK(info<ur_sampler_addressing_mode_t>(
                  get, sampler.get(), UR_SAMPLER_INFO_ADDRESSING_MODE) == desc.addressingMode);
        CHECK(info<ur_sampler_filter_mode_t>(get, sampler.get(), UR_SAMPLER_INFO_FILTER_MODE) ==
              desc.filterMode);
        CHECK(info<ur_context_handle_t>(get, sampler.get(), UR_SAMPLER_INFO_CONTEXT) ==
              machine.context.get());
        CHECK(info<uint32_t>(get, sampler.get(), UR_SAMPLER_INFO_REFERENCE_COUNT) == 1);
    }
}

TEST_CASE("wrong samplers are refused with UR's codes") {
    const Machine machine;
    if (!has_images(machine)) {
        return;
    }
    Owned<ur_sampler_handle_t> sampler;
    const auto good =
        desc_of(true, UR_SAMPLER_ADDRESSING_MODE_CLAMP, UR_SAMPLER_FILTER_MODE_LINEAR);
    FAILS(INVALID_ENUMERATION, create(machine,
                                      desc_of(true, UR_SAMPLER_ADDRESSING_MODE_FORCE_UINT32,
                                              UR_SAMPLER_FILTER_MODE_LINEAR),
                                      sampler));
    FAILS(INVALID_ENUMERATION, create(machine,
                                      desc_of(true, UR_SAMPLER_ADDRESSING_MODE_CLAMP,
                                              UR_SAMPLER_FILTER_MODE_FORCE_UINT32),
                                      sampler));
    FAILS(INVALID_NULL_HANDLE, ur().Sampler.pfnCreate(nullptr, &good, sampler.out()));
    FAILS(INVALID_NULL_POINTER, ur().Sampler.pfnCreate(machine.context, nullptr, sampler.out()));
    FAILS(INVALID_NULL_POINTER, ur().Sampler.pfnCreate(machine.context, &good, nullptr));
    OK(create(machine, good, sampler));
    uint32_t value = 0;
    FAILS(INVALID_ENUMERATION, ur().Sampler.pfnGetInfo(sampler, UR_SAMPLER_INFO_FORCE_UINT32,
                                                       sizeof value, &value, nullptr));
    FAILS(INVALID_NULL_HANDLE, ur().Sampler.pfnRetain(nullptr));
    FAILS(INVALID_NULL_POINTER, ur().Sampler.pfnGetNativeHandle(sampler, nullptr));
}

TEST_CASE("a sampler around a native handle has its modes, where there are such handles") {
    const Machine machine;
    if (!has_images(machine)) {
        return;
    }
    Owned<ur_sampler_handle_t> sampler;
    OK(create(machine,
              desc_of(true, UR_SAMPLER_ADDRESSING_MODE_REPEAT, UR_SAMPLER_FILTER_MODE_LINEAR),
              sampler));
    ur_native_handle_t native = 0;
    if (ur().Sampler.pfnGetNativeHandle(sampler, &native) == UR_RESULT_ERROR_UNSUPPORTED_FEATURE) {
        Owned<ur_sampler_handle_t> none;
        FAILS(UNSUPPORTED_FEATURE,
              ur().Sampler.pfnCreateWithNativeHandle(native, machine.context, nullptr, none.out()));
        return pi_test::skip("needs native handles of samplers");
    }
    Owned<ur_sampler_handle_t> around;
    OK(ur().Sampler.pfnCreateWithNativeHandle(native, machine.context, nullptr, around.out()));
    CHECK(info<ur_sampler_addressing_mode_t>(ur().Sampler.pfnGetInfo, around.get(),
                                             UR_SAMPLER_INFO_ADDRESSING_MODE) ==
          UR_SAMPLER_ADDRESSING_MODE_REPEAT);
}
