// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Images: objects of the driver, whose pixels have no addresses.
#pragma once

#include "place.hpp"

#include <pi/sdk/image_region.hpp>

#include <memory>

namespace pi::level_zero {

/// PI_ERROR_UNSUPPORTED_FEATURE unless the device has images.
void require_images(const Device &device);
/// The device's limits for images of the type.
sdk::ImageLimits image_limits(const Device &device, pi_image_type type);

/// Commands address its pixels as if they lay one after another. Only its own place's commands can
/// use it.
class Image : public sdk::LinearImage {
public:
    /// `flags`: PI_MEM_ access. PI_ERROR_UNSUPPORTED_FEATURE for a format that the device lacks;
    /// PI_ERROR_OUT_OF_DEVICE_MEMORY as for buffers.
    Image(Place &place, const sdk::ImageShape &of, uint64_t flags);
    ~Image();
    Image(const Image &) = delete;

    ze_image_handle_t id() const { return id_; }

private:
    const std::shared_ptr<DriverContext> context_;
    Place &place_;
    ze_image_handle_t id_ = nullptr;
};

} // namespace pi::level_zero
