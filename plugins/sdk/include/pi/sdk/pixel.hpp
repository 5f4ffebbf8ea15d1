// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts a fill's colour to the bytes of a pixel, for backends without fills of images.
#pragma once

#include <pi/sdk/image.hpp>

#include <cmath>
#include <cstring>
#include <limits>

namespace pi::sdk {

/// The nearest half of a float, ties to even. Overflow is infinity; a NaN stays one.
inline uint16_t half_of(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    const uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7FFFFFFF;
    if (magnitude > 0x7F800000)
        return static_cast<uint16_t>(sign | 0x7E00);
    if (magnitude >= 0x477FF000) // 65520: rounds to more than the largest half
        return static_cast<uint16_t>(sign | 0x7C00);
    if (magnitude < 0x38800000) { // subnormal: units of 2^-24
        const float units = std::ldexp(std::fabs(value), 24);
        return static_cast<uint16_t>(sign | static_cast<uint32_t>(std::nearbyint(units)));
    }
    const uint32_t rebased = magnitude - 0x38000000;
    return static_cast<uint16_t>(sign | ((rebased + 0xFFF + (rebased >> 13 & 1)) >> 13));
}

namespace detail {
/// Clamps to [low, 1], scales and rounds; a NaN is 0.
template <class T>
T norm_of(float value) {
    constexpr float low = std::numeric_limits<T>::is_signed ? -1.0f : 0.0f;
    if (std::isnan(value))
        return 0;
    const double scaled =
        static_cast<double>(std::clamp(value, low, 1.0f)) * std::numeric_limits<T>::max();
    return static_cast<T>(std::nearbyint(scaled));
}
template <class T, class Given>
T saturated(Given value) {
    return static_cast<T>(
        std::clamp<Given>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

/// Reads a channel of the colour as From and writes convert(it).
template <class From, auto convert>
void put(const std::byte *color, std::byte *pixel) {
    From value;
    std::memcpy(&value, color, sizeof value);
    const auto channel = convert(value);
    std::memcpy(pixel, &channel, sizeof channel);
}
inline float same_float(float value) {
    return value;
}

struct ChannelPacker {
    pi_channel_type type;
    void (*put)(const std::byte *color, std::byte *pixel);
};
inline constexpr ChannelPacker channel_packers[] = {
    {PI_CHANNEL_UNORM8, put<float, norm_of<uint8_t>>},
    {PI_CHANNEL_UNORM16, put<float, norm_of<uint16_t>>},
    {PI_CHANNEL_SNORM8, put<float, norm_of<int8_t>>},
    {PI_CHANNEL_SNORM16, put<float, norm_of<int16_t>>},
    {PI_CHANNEL_UINT8, put<uint32_t, saturated<uint8_t, uint32_t>>},
    {PI_CHANNEL_UINT16, put<uint32_t, saturated<uint16_t, uint32_t>>},
    {PI_CHANNEL_UINT32, put<uint32_t, saturated<uint32_t, uint32_t>>},
    {PI_CHANNEL_SINT8, put<int32_t, saturated<int8_t, int32_t>>},
    {PI_CHANNEL_SINT16, put<int32_t, saturated<int16_t, int32_t>>},
    {PI_CHANNEL_SINT32, put<int32_t, saturated<int32_t, int32_t>>},
    {PI_CHANNEL_HALF, put<float, half_of>},
    {PI_CHANNEL_FLOAT, put<float, same_float>},
};
} // namespace detail

/// The pixel for `color`, the 16 bytes {r, g, b, a} of a pi_image_fill_desc. Values are rounded to
/// the nearest and clamped to the channel's range.
inline std::vector<std::byte> pack_color(const PixelFormat &format, const void *color) {
    static constexpr size_t in_order[] = {0, 1, 2, 3}, swapped[] = {2, 1, 0, 3};
    const size_t *source = format.order() == PI_CHANNEL_ORDER_BGRA ? swapped : in_order;
    std::vector<std::byte> pixel(format.bytes());
    for (const detail::ChannelPacker &packer : detail::channel_packers)
        for (size_t i = 0; i < format.channels() && packer.type == format.type(); ++i)
            packer.put(static_cast<const std::byte *>(color) + 4 * source[i],
                       pixel.data() + i * format.channel_bytes());
    return pixel;
}

} // namespace pi::sdk
