// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "context.hpp"

#include <pi/sdk/sampler.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace pi::level_zero {

/// The driver's samplers are each of one device.
class Sampler : public sdk::Object<Sampler, pi_sampler> {
public:
    /// One for each device of the context that has images; PI_ERROR_UNSUPPORTED_FEATURE if none has.
    Sampler(Context &context, const pi_sampler_desc &desc);
    /// Around the application's, of a context of one device. Destroyed in the end if *own is true by then.
    Sampler(Context &context, ze_sampler_handle_t id, std::shared_ptr<const bool> own);
    ~Sampler();

    Context &context() const { return *context_; }
    /// Its `next` is not to be followed. PI_ERROR_UNSUPPORTED_FEATURE around the application's: the driver does not tell.
    const pi_sampler_desc &desc() const;
    /// PI_ERROR_INVALID_SAMPLER if it has none of the device.
    ze_sampler_handle_t id(const Device &device) const;

private:
    void destroy() noexcept;

    const sdk::Ref<Context> context_;
    const std::optional<pi_sampler_desc> desc_;
    const std::shared_ptr<const bool> own_; ///< NULL for what is ours
    std::vector<std::pair<Device *, ze_sampler_handle_t>> ids_;
};

} // namespace pi::level_zero
