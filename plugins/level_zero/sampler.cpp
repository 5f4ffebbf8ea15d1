// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sampler.hpp"
#include "entries.hpp"

namespace pi::level_zero {

using namespace sdk;

namespace {

/// PI_ADDRESSING_NONE promises nothing outside of an image.
ze_sampler_address_mode_t address_mode(pi_addressing_mode mode) {
    switch (mode) {
    case PI_ADDRESSING_CLAMP_TO_EDGE:
        return ZE_SAMPLER_ADDRESS_MODE_CLAMP;
    case PI_ADDRESSING_CLAMP:
        return ZE_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER;
    case PI_ADDRESSING_REPEAT:
        return ZE_SAMPLER_ADDRESS_MODE_REPEAT;
    case PI_ADDRESSING_MIRRORED_REPEAT:
        return ZE_SAMPLER_ADDRESS_MODE_MIRROR;
    default:
        return ZE_SAMPLER_ADDRESS_MODE_NONE;
    }
}

ze_sampler_desc_t describe(const pi_sampler_desc &sampler) {
    auto desc = typed<ze_sampler_desc_t>(ZE_STRUCTURE_TYPE_SAMPLER_DESC);
    desc.addressMode = address_mode(sampler.addressing);
    desc.filterMode = sampler.filter == PI_FILTER_LINEAR ? ZE_SAMPLER_FILTER_MODE_LINEAR
                                                         : ZE_SAMPLER_FILTER_MODE_NEAREST;
    desc.isNormalized = sampler.normalized_coordinates != 0;
    return desc;
}

} // namespace

Sampler::Sampler(Context &context, const pi_sampler_desc &desc)
    : Object(context.host()), context_(context), desc_(desc) {
    const ze_sampler_desc_t described = describe(desc);
    ids_.reserve(context.devices().size());
    std::unique_lock lock(context.instance().handles_mutex());
    try {
        for (Device *device : context.devices()) {
            if (!device->images())
                continue;
            ze_sampler_handle_t id = nullptr;
            context.place(*device).check(
                context.api().zeSamplerCreate(context.driver().id(), device->id(), &described, &id),
                "zeSamplerCreate", "on ", device->name());
            ids_.emplace_back(device, id);
        }
        if (ids_.empty())
            fail(PI_ERROR_UNSUPPORTED_FEATURE,
                 "no device of the context has images "
                 "(zeDeviceGetImageProperties), so none has samplers");
    } catch (...) {
        lock.unlock();
        destroy();
        throw;
    }
}

Sampler::Sampler(Context &context, ze_sampler_handle_t id, std::shared_ptr<const bool> own)
    : Object(context.host()), context_(context),
      own_(std::move(own)), ids_{{context.devices().front(), id}} {}

Sampler::~Sampler() {
    if (!own_ || *own_)
        destroy();
}

void Sampler::destroy() noexcept {
    std::lock_guard lock(context_->instance().handles_mutex());
    for (const auto &[device, id] : ids_)
        context_->place(*device).note(context_->api().zeSamplerDestroy(id));
}

const pi_sampler_desc &Sampler::desc() const {
    if (!desc_)
        fail(PI_ERROR_UNSUPPORTED_FEATURE,
             "sampler was created from a ze_sampler_handle_t, which cannot be queried");
    return *desc_;
}

ze_sampler_handle_t Sampler::id(const Device &device) const {
    for (const auto &[of, id] : ids_)
        if (of->id() == device.id())
            return id;
    fail(PI_ERROR_INVALID_SAMPLER, "sampler: no driver sampler for ", device.name(),
         ", which has no images");
}

namespace entries {

pi_result PI_CALL piSamplerCreate(pi_context context, const pi_sampler_desc *desc,
                                  pi_sampler *out_sampler) {
    return call<Context>(context, [&](Context &self) {
        const pi_sampler_desc known = read_desc(desc, PI_TYPE_SAMPLER_DESC);
        require(out_sampler, "out_sampler");
        check_sampler(known);
        *out_sampler = make<Sampler>(self, known).give();
    });
}

} // namespace entries
} // namespace pi::level_zero
