// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Images: arrays of the driver, whose pixels have no addresses, and views of buffers, whose pixels are the buffers' bytes;
// and the objects by which kernels reach them.
#pragma once

#include "sampler.hpp"

#include <pi/cuda/driver_api.h>
#include <pi/sdk/image_region.hpp>

#include <array>
#include <memory>
#include <mutex>

namespace pi::cuda {

class Device;
class Primary;

/// What images of the type can be: what its textures and its surfaces both can.
sdk::ImageLimits image_limits(const Device &device, pi_image_type type);

/// The same of views of buffers, which kernels read by textures over linear memory. PI_ERROR_UNSUPPORTED_FEATURE for types
/// that those are not of: there are 1-D and 2-D ones.
sdk::ImageLimits view_limits(const Device &device, pi_image_type type);
/// The multiples of bytes, as addresses, at which views begin, and at which the rows of 2-D ones do.
uint64_t view_offset_alignment(const Device &device);
uint64_t view_pitch_alignment(const Device &device);

/// Commands count the pixels of an array as if they lay one after another. The array goes back to the driver, with its
/// objects, on a thread of the instance, since the driver waits for the context's work then.
class Image : public sdk::LinearImage {
public:
    /// PI_ERROR_UNSUPPORTED_FEATURE for a format that arrays do not have, PI_ERROR_OUT_OF_DEVICE_MEMORY as for buffers.
    Image(Primary &primary, const sdk::ImageShape &of);
    /// A view: pixels at `begin`, memory that others keep.
    Image(Primary &primary, const sdk::LinearImage &of, CUdeviceptr begin);
    Image(const Image &) = delete;
    ~Image();

    /// NULL for a view.
    CUarray id() const { return id_; }

    /// What kernels load and store pixels by, as they are. The first call makes it, and the image keeps it, as it does
    /// textures.
    /// PI_ERROR_UNSUPPORTED_FEATURE for a view: there are no surfaces over linear memory.
    CUsurfObject surface();
    /// What kernels read through a sampler: norm types as numbers of 0 or -1 to 1. PI_ERROR_UNSUPPORTED_FEATURE to filter
    /// integers, and to do anything but fetch pixels of a 1-D view.
    CUtexObject texture(const pi_sampler_desc &sampler);

private:
    /// PI_ERROR_UNSUPPORTED_FEATURE unless its textures can be so.
    void check_readable(const pi_sampler_desc &sampler) const;
    CUDA_RESOURCE_DESC resource() const;

    const std::shared_ptr<Primary> primary_;
    CUarray id_ = nullptr;
    const CUdeviceptr begin_ = 0; ///< of a view
    std::mutex mutex_;            ///< guards what follows; 0 is an object that is not made yet
    CUsurfObject surface_ = 0;
    /// By the words of their samplers. So they need not outlive them, and there is a bound to how many there are.
    std::array<CUtexObject, sampler_count> textures_{};
};

/// PI_NATIVE_CUDA_ARRAY_TEXTURE: the texture tells the nearest pixel of coordinates that count pixels.
pi_native_handle image_handle(Image &image);

} // namespace pi::cuda
