// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "context.hpp"

namespace pi::opencl {

class Sampler : public sdk::Object<Sampler, pi_sampler> {
public:
    /// How an image is read, in pi.h's terms.
    struct Properties {
        uint32_t normalized;
        pi_addressing_mode addressing;
        pi_filter_mode filter;
    };
    Sampler(Context &context, SamplerOwner vendor, const Properties &properties);

    Context &context() const { return *context_; }
    cl_sampler id() const { return vendor_.get(); }
    /// As a Mem's.
    uint64_t serial() const { return serial_; }
    const Properties &properties() const { return properties_; }

private:
    const sdk::Ref<Context> context_;
    const SamplerOwner vendor_;
    const uint64_t serial_ = context_->instance().next_serial();
    const Properties properties_;
};

/// A sampler around the application's, of which it takes a reference of its own. PI_ERROR_INVALID_NATIVE_HANDLE unless
/// it is of the context.
sdk::Ref<Sampler> sampler_around(Context &context, cl_sampler vendor);

/// A launch's argument: PI_ERROR_INVALID_SAMPLER naming both contexts unless it is of this one.
Sampler &checked_sampler(const Context &context, pi_sampler sampler, const sdk::ArgumentName &name);

} // namespace pi::opencl
