// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Images: arrays of the driver, whose pixels have no addresses, and views of buffers, whose pixels
// are the buffer's bytes; and the texture and surface objects through which kernels access them.
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

/// Limits that both textures and surfaces of the type satisfy.
sdk::ImageLimits image_limits(const Device &device, pi_image_type type);

/// Limits of views of buffers, which kernels read by textures over linear memory.
/// PI_ERROR_UNSUPPORTED_FEATURE for types other than 1-D and 2-D.
sdk::ImageLimits view_limits(const Device &device, pi_image_type type);
/// Required alignments, in bytes: of the address of a view, and of the row pitch of a 2-D view.
uint64_t view_offset_alignment(const Device &device);
uint64_t view_pitch_alignment(const Device &device);

/// Commands address an array's pixels as if they lay one after another. The array and its objects
/// are destroyed on a thread of the instance, since the driver then waits for all work of the
/// context.
class Image : public sdk::LinearImage {
public:
    /// PI_ERROR_UNSUPPORTED_FEATURE for a format that arrays lack; PI_ERROR_OUT_OF_DEVICE_MEMORY as
    /// for buffers.
    Image(Primary &primary, const sdk::ImageShape &of);
    /// A view of pixels at `begin`; others own the memory.
    Image(Primary &primary, const sdk::LinearImage &of, CUdeviceptr begin);
    Image(const Image &) = delete;
    ~Image();

    /// NULL for a view.
    CUarray id() const { return id_; }

    /// The object through which kernels load and store raw pixels. The first call creates it; the
    /// image owns it, and its textures. PI_ERROR_UNSUPPORTED_FEATURE for a view: CUDA has no
    /// surfaces over linear memory.
    CUsurfObject surface();
    /// The object through which kernels read with a sampler; normalised types are read as numbers
    /// from 0 or
    /// -1 to 1. PI_ERROR_UNSUPPORTED_FEATURE for filtering of integers, and for a 1-D view with
    /// anything but fetches of pixels.
    CUtexObject texture(const pi_sampler_desc &sampler);

private:
    /// PI_ERROR_UNSUPPORTED_FEATURE if a texture cannot read with this sampler.
    void check_readable(const pi_sampler_desc &sampler) const;
    CUDA_RESOURCE_DESC resource() const;

    const std::shared_ptr<Primary> primary_;
    CUarray id_ = nullptr;
    const CUdeviceptr begin_ = 0; ///< of a view
    std::mutex mutex_;            ///< guards what follows; 0 is an object not created yet
    CUsurfObject surface_ = 0;
    /// Indexed by sampler_index(): textures do not depend on the lifetime of samplers, and their
    /// number is bounded.
    std::array<CUtexObject, sampler_count> textures_{};
};

/// PI_NATIVE_CUDA_ARRAY_TEXTURE: nearest pixel, unnormalised coordinates.
pi_native_handle image_handle(Image &image);

} // namespace pi::cuda
