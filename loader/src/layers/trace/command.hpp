// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Facts from a command's descriptor: its bytes, their route, a kernel's name.
#pragma once

#include "layers/trace/tracer.hpp"

#include <algorithm>

namespace pi::loader::trace {

template <typename Region>
uint64_t volume(const Region &region) noexcept {
    return region.extent[0] * std::max<uint64_t>(region.extent[1], 1) *
           std::max<uint64_t>(region.extent[2], 1);
}

template <typename Desc>
uint64_t sum_of_regions(const Desc &desc) noexcept {
    uint64_t sum = 0;
    for (uint32_t i = 0; desc.regions != nullptr && i < desc.region_count; ++i)
        sum += volume(desc.regions[i]);
    return sum;
}

/// Descriptors without an overload below move nothing.
template <typename Desc>
void read_command(Tracer &, const Desc &, Command &) {}

inline void read_command(Tracer &, const pi_buffer_read_desc &desc, Command &out) {
    out.bytes = sum_of_regions(desc);
    out.route = "device to host";
}
inline void read_command(Tracer &, const pi_buffer_write_desc &desc, Command &out) {
    out.bytes = sum_of_regions(desc);
    out.route = "host to device";
}
inline void read_command(Tracer &tracer, const pi_buffer_copy_desc &desc, Command &out) {
    out.bytes = sum_of_regions(desc);
    out.route = tracer.route(desc.src, desc.dst);
}
inline void read_command(Tracer &, const pi_buffer_fill_desc &desc, Command &out) {
    out.bytes = desc.size;
    out.route = "fill";
}
inline void read_command(Tracer &, const pi_buffer_map_desc &desc, Command &out) {
    out.bytes = desc.size;
    out.route = "map";
}
inline void read_command(Tracer &tracer, const pi_image_read_desc &desc, Command &out) {
    out.bytes = sum_of_regions(desc) * tracer.pixel_size(desc.image);
    out.route = "device to host";
}
inline void read_command(Tracer &tracer, const pi_image_write_desc &desc, Command &out) {
    out.bytes = sum_of_regions(desc) * tracer.pixel_size(desc.image);
    out.route = "host to device";
}
inline void read_command(Tracer &tracer, const pi_image_copy_desc &desc, Command &out) {
    const uint64_t pixel = tracer.pixel_size(desc.src); // of the end that is an image
    out.bytes = sum_of_regions(desc) * (pixel != 0 ? pixel : tracer.pixel_size(desc.dst));
    out.route = tracer.route(desc.src, desc.dst);
}
inline void read_command(Tracer &tracer, const pi_image_fill_desc &desc, Command &out) {
    out.bytes = volume(desc) * tracer.pixel_size(desc.image);
    out.route = "fill";
}
inline void read_command(Tracer &, const pi_usm_copy_desc &desc, Command &out) {
    out.bytes = sum_of_regions(desc);
    out.route = "by address";
}
inline void read_command(Tracer &, const pi_usm_fill_desc &desc, Command &out) {
    out.bytes = desc.size;
    out.route = "fill";
}
inline void read_command(Tracer &, const pi_usm_prefetch_desc &desc, Command &out) {
    out.bytes = desc.size;
    out.route =
        (desc.flags & PI_USM_PREFETCH_TO_HOST) != 0 ? "prefetch to host" : "prefetch to device";
}
inline void read_command(Tracer &, const pi_device_global_read_desc &desc, Command &out) {
    out.bytes = desc.size;
    out.route = "device to host";
}
inline void read_command(Tracer &, const pi_device_global_write_desc &desc, Command &out) {
    out.bytes = desc.size;
    out.route = "host to device";
}
inline void read_command(Tracer &tracer, const pi_kernel_launch_desc &desc, Command &out) {
    out.kernel = tracer.kernel_name(desc.kernel);
}

} // namespace pi::loader::trace
