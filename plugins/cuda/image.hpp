// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Images: arrays of the driver, whose pixels have no addresses, and the objects by which kernels reach them.
#pragma once

#include "sampler.hpp"

#include <pi/cuda/driver_api.h>
#include <pi/sdk/image.hpp>

#include <array>
#include <memory>
#include <mutex>

namespace pi::cuda {

class Device;
class Primary;

/// What images of the type can be: what its textures and its surfaces both can.
sdk::ImageLimits image_limits(const Device &device, pi_image_type type);

/// The array goes back to the driver, with its objects, on a thread of the instance, since the driver waits for the
/// context's work then.
class Image {
public:
    /// PI_ERROR_UNSUPPORTED_FEATURE for a format that arrays do not have, PI_ERROR_OUT_OF_DEVICE_MEMORY as for buffers.
    Image(Primary &primary, const sdk::ImageShape &shape);
    Image(const Image &) = delete;
    ~Image();

    const sdk::ImageShape &shape() const { return shape_; }
    CUarray id() const { return id_; }
    /// Copies speak of its pixels as if they lay one after another; this is where such bytes are.
    struct Position {
        uint64_t x, y, z; ///< x in bytes
    };
    Position position(uint64_t offset) const;

    /// What kernels load and store pixels by, as they are. The first call makes it, and the image keeps it, as it does
    /// textures.
    CUsurfObject surface();
    /// What kernels read through a sampler: norm types as numbers of 0 or -1 to 1. PI_ERROR_UNSUPPORTED_FEATURE to filter
    /// integers.
    CUtexObject texture(const pi_sampler_desc &sampler);

private:
    const std::shared_ptr<Primary> primary_;
    const sdk::ImageShape shape_;
    CUarray id_ = nullptr;
    std::mutex mutex_; ///< guards what follows; 0 is an object that is not made yet
    CUsurfObject surface_ = 0;
    /// By the words of their samplers. So they need not outlive them, and there is a bound to how many there are.
    std::array<CUtexObject, sampler_words> textures_{};
};

/// PI_NATIVE_CUDA_ARRAY_TEXTURE: the texture tells the nearest pixel of coordinates that count pixels.
pi_native_handle image_handle(Image &image);

} // namespace pi::cuda
