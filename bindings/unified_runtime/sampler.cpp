// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "functions.hpp"
#include "info.hpp"
#include "memory.hpp"
#include "native.hpp"

#include <pi/describe/descriptor.hpp>

#include <array>

namespace pi::unified_runtime {

using runtime::check;

namespace {

constexpr std::array<std::pair<ur_sampler_addressing_mode_t, pi_addressing_mode>, 5> addressings{{
    {UR_SAMPLER_ADDRESSING_MODE_NONE, PI_ADDRESSING_NONE},
    {UR_SAMPLER_ADDRESSING_MODE_CLAMP_TO_EDGE, PI_ADDRESSING_CLAMP_TO_EDGE},
    {UR_SAMPLER_ADDRESSING_MODE_CLAMP, PI_ADDRESSING_CLAMP},
    {UR_SAMPLER_ADDRESSING_MODE_REPEAT, PI_ADDRESSING_REPEAT},
    {UR_SAMPLER_ADDRESSING_MODE_MIRRORED_REPEAT, PI_ADDRESSING_MIRRORED_REPEAT},
}};

pi_sampler_desc pi_desc_of(const ur_sampler_desc_t &ur) {
    auto desc = pi::desc<pi_sampler_desc>();
    desc.normalized_coordinates = ur.normalizedCoords ? 1 : 0;
    desc.addressing = translate(addressings, ur.addressingMode, UINT32_MAX);
    desc.filter =
        ur.filterMode == UR_SAMPLER_FILTER_MODE_LINEAR ? PI_FILTER_LINEAR : PI_FILTER_NEAREST;
    if (desc.addressing == UINT32_MAX || ur.filterMode > UR_SAMPLER_FILTER_MODE_LINEAR) {
        throw Refusal(UR_RESULT_ERROR_INVALID_ENUMERATION,
                      "urSamplerCreate: unknown addressing or filter mode");
    }
    // UR allows to create such a sampler; what kernels read through it is undefined.
    if (!ur.normalizedCoords && desc.addressing >= PI_ADDRESSING_REPEAT) {
        desc.addressing = PI_ADDRESSING_CLAMP_TO_EDGE;
    }
    return desc;
}

/// The members that the backend can query.
ur_sampler_desc_t desc_of(pi_sampler sampler) {
    const auto info = [sampler](pi_sampler_info name) {
        return pi_info<uint32_t, piSamplerGetInfo>(sampler, name).value_or(0);
    };
    ur_sampler_desc_t desc{};
    desc.stype = UR_STRUCTURE_TYPE_SAMPLER_DESC;
    desc.normalizedCoords = info(PI_SAMPLER_INFO_NORMALIZED_COORDINATES) != 0;
    for (const auto &[ur, pi] : addressings) {
        if (pi == info(PI_SAMPLER_INFO_ADDRESSING)) {
            desc.addressingMode = ur;
        }
    }
    desc.filterMode = info(PI_SAMPLER_INFO_FILTER) == PI_FILTER_LINEAR
                          ? UR_SAMPLER_FILTER_MODE_LINEAR
                          : UR_SAMPLER_FILTER_MODE_NEAREST;
    return desc;
}

/// The context's only part.
const facade::Part &only_part(const ur_context_handle_t_ &context) {
    if (context.core->parts().size() != 1) {
        throw Refusal(UR_RESULT_ERROR_UNSUPPORTED_FEATURE,
                      "native handles of a sampler: the context has devices of several drivers");
    }
    return context.core->parts().front();
}

} // namespace

ur_result_t UR_APICALL urSamplerCreate(ur_context_handle_t context, const ur_sampler_desc_t *desc,
                                       ur_sampler_handle_t *out_sampler) {
    return boundary([&] {
        const auto parts = deref(context).core->parts();
        needed(out_sampler);
        const pi_sampler_desc pi = pi_desc_of(*needed(desc));
        auto sampler = std::make_unique<ur_sampler_handle_t_>(context, *desc);
        sampler->samplers.make_each([&](size_t part) {
            ur_sampler_handle_t_::Core made;
            check(piSamplerCreate(parts[part].context.get(), &pi, made.out()), "piSamplerCreate");
            return made;
        });
        *out_sampler = sampler.release();
    });
}

ur_result_t UR_APICALL urSamplerGetInfo(ur_sampler_handle_t sampler, ur_sampler_info_t name,
                                        size_t size, void *value, size_t *out_size) {
    return boundary([&] {
        deref(sampler);
        const InfoAnswer answer(size, value, out_size);
        switch (name) {
        case UR_SAMPLER_INFO_REFERENCE_COUNT:
            return answer(sampler->references.load());
        case UR_SAMPLER_INFO_CONTEXT:
            return answer(sampler->context.get());
        case UR_SAMPLER_INFO_NORMALIZED_COORDS:
            return answer(ur_bool_t{sampler->desc.normalizedCoords});
        case UR_SAMPLER_INFO_ADDRESSING_MODE:
            return answer(sampler->desc.addressingMode);
        case UR_SAMPLER_INFO_FILTER_MODE:
            return answer(sampler->desc.filterMode);
        default:
            throw Refusal(UR_RESULT_ERROR_INVALID_ENUMERATION, "urSamplerGetInfo: unknown name");
        }
    });
}

ur_result_t UR_APICALL urSamplerGetNativeHandle(ur_sampler_handle_t sampler,
                                                ur_native_handle_t *out_native) {
    return boundary([&] {
        only_part(*deref(sampler).context);
        needed(out_native);
        pi_native_handle handle{};
        check(piSamplerGetNativeHandle(sampler->samplers.at(0).get(), &handle),
              "piSamplerGetNativeHandle");
        *out_native = word_of(sampler->context->devices.front()->platform, handle);
    });
}

ur_result_t UR_APICALL urSamplerCreateWithNativeHandle(
    ur_native_handle_t native, ur_context_handle_t context,
    const ur_sampler_native_properties_t *properties, ur_sampler_handle_t *out_sampler) {
    return boundary([&] {
        const facade::Part &part = only_part(deref(context));
        needed(out_sampler);
        auto desc = pi::desc<pi_native_desc>();
        desc.flags = properties != nullptr && properties->isNativeHandleOwned ? PI_NATIVE_OWN : 0;
        desc.handle = native_of_type(context->devices.front()->platform, PI_KIND_SAMPLER, native);
        ur_sampler_handle_t_::Core core;
        check(piSamplerCreateWithNativeHandle(part.context.get(), &desc, core.out()),
              "piSamplerCreateWithNativeHandle");
        auto sampler = std::make_unique<ur_sampler_handle_t_>(context, desc_of(core.get()));
        sampler->samplers.make_each([&](size_t) { return std::move(core); });
        *out_sampler = sampler.release();
    });
}

} // namespace pi::unified_runtime
