// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "context.hpp"

#include <pi/sdk/sampler.hpp>

namespace pi::opencl {

class Sampler : public sdk::Object<Sampler, pi_sampler> {
public:
    Sampler(Context &context, SamplerOwner vendor, const pi_sampler_desc &desc);

    Context &context() const { return *context_; }
    cl_sampler id() const { return vendor_.get(); }
    /// A number that no other object of the instance ever has.
    uint64_t serial() const { return serial_; }
    /// The sampler in pi.h's terms; its `next` must not be followed.
    const pi_sampler_desc &desc() const { return desc_; }

private:
    const sdk::Ref<Context> context_;
    const SamplerOwner vendor_;
    const uint64_t serial_ = context_->instance().next_serial();
    const pi_sampler_desc desc_;
};

/// A sampler around the application's, to which it has its own reference.
/// PI_ERROR_INVALID_NATIVE_HANDLE unless it is of the context.
sdk::Ref<Sampler> sampler_around(Context &context, cl_sampler vendor);

} // namespace pi::opencl
