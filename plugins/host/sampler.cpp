// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "sampler.hpp"

#include "entries.hpp"

#include <pi/sdk/image.hpp>

namespace pi::host {

using sdk::InfoWriter;

Sampler &checked_sampler(const Context &context, pi_sampler sampler,
                         const sdk::ArgumentName &name) {
    Sampler &found = sdk::checked<Sampler>(context.host(), sampler, name);
    if (&found.context() != &context)
        sdk::fail(PI_ERROR_INVALID_SAMPLER, name, " is of another context than the queue");
    return found;
}

namespace entries {

pi_result PI_CALL sampler_create(pi_context context, const pi_sampler_desc *desc,
                                 pi_sampler *out_sampler) {
    return sdk::call<Context>(context, [&](Context &self) {
        const pi_sampler_desc known = sdk::read_desc(desc, PI_TYPE_SAMPLER_DESC);
        sdk::require(out_sampler, "out_sampler");
        sdk::check_sampler(known);
        *out_sampler = sdk::make<Sampler>(self, known).give();
    });
}

pi_result PI_CALL sampler_get_info(pi_sampler sampler, pi_sampler_info name, uint64_t size,
                                   void *value, uint64_t *out_size) {
    static constexpr sdk::InfoRow<Sampler> rows[] = {
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
    return sdk::call<Sampler>(
        sampler, [&](Sampler &self) { sdk::answer_info(self, rows, name, size, value, out_size); });
}

} // namespace entries

} // namespace pi::host
