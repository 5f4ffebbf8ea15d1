// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Samplers: the parts that all backends share, and samplers of backends without sampler objects,
// which keep the descriptor for launches.
#pragma once

#include <pi/sdk/image.hpp>
#include <pi/sdk/object.hpp>

namespace pi::sdk {

/// piSamplerGetInfo for samplers that have `context()` and `desc()`, a pi_sampler_desc.
template <class Sampler>
pi_result PI_CALL sampler_get_info(pi_sampler sampler, pi_sampler_info name, uint64_t size,
                                   void *value, uint64_t *out_size) {
    static constexpr InfoRow<Sampler> rows[] = {
        {PI_SAMPLER_INFO_CONTEXT,
         [](Sampler &s, const InfoWriter &write) { write(s.context().handle()); }},
        {PI_SAMPLER_INFO_NORMALIZED_COORDINATES,
         [](Sampler &s, const InfoWriter &write) { write(s.desc().normalized_coordinates); }},
        {PI_SAMPLER_INFO_ADDRESSING,
         [](Sampler &s, const InfoWriter &write) { write(s.desc().addressing); }},
        {PI_SAMPLER_INFO_FILTER,
         [](Sampler &s, const InfoWriter &write) { write(s.desc().filter); }},
        {PI_SAMPLER_INFO_REFERENCE_COUNT,
         [](Sampler &s, const InfoWriter &write) { write(s.reference_count()); }},
    };
    return call<Sampler>(
        sampler, [&](Sampler &self) { answer_info(self, rows, name, size, value, out_size); });
}

/// The sampler of an argument; PI_ERROR_INVALID_SAMPLER unless it is of this context, the queue's.
template <class Sampler, class Context>
Sampler &checked_sampler_of(const Context &context, pi_sampler sampler, const ArgumentName &name) {
    Sampler &found = checked<Sampler>(context.host(), sampler, name);
    if (&found.context() != &context)
        fail(PI_ERROR_INVALID_SAMPLER, name, " is of another context than the queue");
    return found;
}

/// A sampler without a backend object. `Context` is the plugin's.
template <class Context>
class DescribedSampler : public Object<DescribedSampler<Context>, pi_sampler> {
public:
    DescribedSampler(Context &context, const pi_sampler_desc &desc)
        : Object<DescribedSampler, pi_sampler>(context.host()), context_(context), desc_(desc) {}

    Context &context() const { return *context_; }
    /// Do not follow its `next`.
    const pi_sampler_desc &desc() const { return desc_; }

private:
    const Ref<Context> context_;
    const pi_sampler_desc desc_;
};

/// As checked_sampler_of, for DescribedSampler.
template <class Context>
DescribedSampler<Context> &checked_sampler(const Context &context, pi_sampler sampler,
                                           const ArgumentName &name) {
    return checked_sampler_of<DescribedSampler<Context>>(context, sampler, name);
}

template <class Context>
struct sampler_entries {
    using Sampler = DescribedSampler<Context>;

    static pi_result PI_CALL create(pi_context context, const pi_sampler_desc *desc,
                                    pi_sampler *out_sampler) {
        return call<Context>(context, [&](Context &self) {
            const pi_sampler_desc known = read_desc(desc, PI_TYPE_SAMPLER_DESC);
            require(out_sampler, "out_sampler");
            check_sampler(known);
            *out_sampler = make<Sampler>(self, known).give();
        });
    }

    /// Fills the slots of a plugin's table. There are no native handles.
    static constexpr void fill(pi_dispatch &table) {
        table.piSamplerCreate = create;
        table.piSamplerRetain = retain_entry<Sampler>;
        table.piSamplerRelease = release_entry<Sampler>;
        table.piSamplerGetInfo = sampler_get_info<Sampler>;
    }
};

} // namespace pi::sdk
