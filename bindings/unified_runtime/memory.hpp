// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buffers, images and samplers.
#pragma once

#include "enqueue.hpp"

#include <memory>
#include <optional>
#include <vector>

struct ur_mem_handle_t_ : pi::unified_runtime::Handle {
    struct Image {
        ur_image_format_t format{};
        ur_image_desc_t desc{};
        size_t pixel_size = 0; // bytes
    };
    ur_mem_handle_t_(ur_context_handle_t in, std::shared_ptr<facade::Memory> of_pi,
                     ur_mem_flags_t ur_flags, std::optional<Image> of_image = std::nullopt)
        : context(in), core(std::move(of_pi)), flags(ur_flags), image(of_image) {}

    const pi::unified_runtime::Ref<ur_context_handle_t_> context;
    const std::shared_ptr<facade::Memory> core;
    const ur_mem_flags_t flags;
    const std::optional<Image> image; ///< empty for a buffer
};

struct ur_sampler_handle_t_ : pi::unified_runtime::Handle {
    using Core = pi::runtime::Handle<pi_sampler, &piSamplerRetain, &piSamplerRelease>;

    ur_sampler_handle_t_(ur_context_handle_t in, const ur_sampler_desc_t &of_ur)
        : context(in), desc(of_ur), samplers(in->core->parts().size()) {}

    /// Throws the error with which the device's part refused the sampler.
    pi_sampler at(pi_device device) const {
        return samplers.at(context->core->part_index(device)).get();
    }

    const pi::unified_runtime::Ref<ur_context_handle_t_> context;
    const ur_sampler_desc_t desc;
    facade::PerPart<Core> samplers;
};

namespace pi::unified_runtime {

/// How a command that names these access flags uses a buffer. WRITE_ONLY is a write: bytes that the
/// kernel does not write survive.
constexpr runtime::Access access_of(ur_mem_flags_t flags) {
    if ((flags & UR_MEM_FLAG_READ_ONLY) != 0) {
        return runtime::Access::read;
    }
    return (flags & UR_MEM_FLAG_WRITE_ONLY) != 0 ? runtime::Access::write
                                                 : runtime::Access::read_write;
}

/// PI's flags of a buffer or image that is to be created. Refuses unknown flags, flags that exclude
/// each other, and a host pointer without its flag or the other way round.
uint64_t pi_mem_flags(ur_mem_flags_t flags, const void *host_ptr);

/// The argument; UR_RESULT_ERROR_INVALID_MEM_OBJECT if it is an image.
ur_mem_handle_t_ &buffer_of(ur_mem_handle_t mem);

/// The image; UR_RESULT_ERROR_INVALID_MEM_OBJECT if it is a buffer.
const ur_mem_handle_t_::Image &image_of(ur_mem_handle_t mem);

/// Calls the function. A size that PI refuses is reported with this code.
template <class Function>
auto with_size_code(ur_result_t code, Function &&function) {
    try {
        return function();
    } catch (const runtime::Error &error) {
        if (error.code() == PI_ERROR_INVALID_SIZE) {
            throw Refusal(code, error.what());
        }
        throw;
    }
}

} // namespace pi::unified_runtime
