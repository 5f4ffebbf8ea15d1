// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "context.hpp"

#include <pi/sdk/sampler.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace pi::level_zero {

/// Driver samplers belong to one device each.
class Sampler : public sdk::Object<Sampler, pi_sampler> {
public:
    /// One driver sampler for each device of the context that has images;
    /// PI_ERROR_UNSUPPORTED_FEATURE if none has.
    Sampler(Context &context, const pi_sampler_desc &desc);
    /// Around the application's, in a context of one device. Destroyed at the end if *own is true
    /// by then.
    Sampler(Context &context, ze_sampler_handle_t id, std::shared_ptr<const bool> own);
    ~Sampler();

    Context &context() const { return *context_; }
    /// Its `next` must not be followed. PI_ERROR_UNSUPPORTED_FEATURE for the application's sampler:
    /// the driver cannot be asked.
    const pi_sampler_desc &desc() const;
    /// PI_ERROR_INVALID_SAMPLER if it has none for the device.
    ze_sampler_handle_t id(const Device &device) const;

private:
    void destroy() noexcept;

    const sdk::Ref<Context> context_;
    const std::optional<pi_sampler_desc> desc_;
    const std::shared_ptr<const bool> own_; ///< NULL for the plugin's own
    std::vector<std::pair<Device *, ze_sampler_handle_t>> ids_;
};

} // namespace pi::level_zero
