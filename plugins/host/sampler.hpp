// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "context.hpp"

#include <pi/sdk/object.hpp>

namespace pi::host {

/// A sampler is its description: native kernels read it and sample themselves.
class Sampler : public sdk::Object<Sampler, pi_sampler> {
public:
    Sampler(Context &context, const pi_sampler_desc &desc)
        : Object(context.host()), context_(context), desc_(desc) {}

    Context &context() const { return *context_; }
    /// Its `next` is not to be followed.
    const pi_sampler_desc &desc() const { return desc_; }

private:
    const sdk::Ref<Context> context_;
    const pi_sampler_desc desc_;
};

/// The sampler behind an argument, which must be of this context, else PI_ERROR_INVALID_SAMPLER.
Sampler &checked_sampler(const Context &context, pi_sampler sampler, const sdk::ArgumentName &name);

} // namespace pi::host
