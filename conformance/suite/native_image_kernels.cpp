// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "native_image_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace pi::suite {
namespace {

// ----- Sampling -----

using Color = std::array<float, 4>;

Color texel(const Texture &texture, int64_t x, int64_t y) {
    Color color{};
    const auto width = static_cast<int64_t>(texture.width);
    const auto height = static_cast<int64_t>(texture.height);
    if (x < 0 || y < 0 || x >= width || y >= height)
        return color; // the border
    const std::byte *pixel = texture.pixels + static_cast<uint64_t>(y) * texture.row_pitch +
                             static_cast<uint64_t>(x) * 4;
    for (std::size_t i = 0; i < 4; ++i)
        color[i] = static_cast<float>(std::to_integer<int>(pixel[i])) / 255.0f;
    return color;
}

// A coordinate in pixels.
float in_pixels(float at, uint64_t length, const pi_sampler_desc &sampler) {
    if (sampler.normalized_coordinates == 0)
        return at;
    if (sampler.addressing == PI_ADDRESSING_REPEAT)
        at -= std::floor(at);
    if (sampler.addressing == PI_ADDRESSING_MIRRORED_REPEAT)
        at = std::fabs(at - 2 * std::nearbyint(at / 2));
    return at * static_cast<float>(length);
}

int64_t addressed(int64_t i, uint64_t length, pi_addressing_mode mode) {
    const auto n = static_cast<int64_t>(length);
    switch (mode) {
    case PI_ADDRESSING_REPEAT:
        return i < 0 ? i + n : i >= n ? i - n : i;
    case PI_ADDRESSING_CLAMP_TO_EDGE:
    case PI_ADDRESSING_MIRRORED_REPEAT:
        return std::clamp<int64_t>(i, 0, n - 1);
    default:
        return i;
    }
}

} // namespace

std::array<float, 4> sample(const Texture &texture, const pi_sampler_desc &sampler, float x,
                            float y) {
    const float u = in_pixels(x, texture.width, sampler);
    const float v = in_pixels(y, texture.height, sampler);
    const auto at = [&](float column, float row) {
        return texel(texture,
                     addressed(static_cast<int64_t>(column), texture.width, sampler.addressing),
                     addressed(static_cast<int64_t>(row), texture.height, sampler.addressing));
    };
    if (sampler.filter == PI_FILTER_NEAREST)
        return at(std::floor(u), std::floor(v));
    const float column = std::floor(u - 0.5f), row = std::floor(v - 0.5f);
    const float a = u - 0.5f - column, b = v - 0.5f - row;
    const Color corners[] = {at(column, row), at(column + 1, row), at(column, row + 1),
                             at(column + 1, row + 1)};
    const float weights[] = {(1 - a) * (1 - b), a * (1 - b), (1 - a) * b, a * b};
    Color color{};
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t channel = 0; channel < 4; ++channel)
            color[channel] += weights[i] * corners[i][channel];
    return color;
}

namespace {

// ----- Native functions -----

const std::byte *pixel_of(const pi_native_image &image, uint64_t x, uint64_t y, uint64_t z) {
    return static_cast<const std::byte *>(image.data) + z * image.slice_pitch +
           y * image.row_pitch + x * image.pixel_size;
}

void PI_CALL native_transpose(const pi_native_group *group, void *const *arguments) {
    const auto &src = *static_cast<const pi_native_image *>(arguments[0]);
    const auto &dst = *static_cast<const pi_native_image *>(arguments[1]);
    for (uint64_t y = group->begin[1]; y < group->end[1]; ++y)
        for (uint64_t x = group->begin[0]; x < group->end[0]; ++x)
            std::memcpy(const_cast<std::byte *>(pixel_of(dst, y, x, 0)), pixel_of(src, x, y, 0),
                        src.pixel_size);
}

void PI_CALL native_flatten(const pi_native_group *group, void *const *arguments) {
    const auto &src = *static_cast<const pi_native_image *>(arguments[0]);
    auto *out = static_cast<uint32_t *>(arguments[1]);
    const std::size_t bytes = src.pixel_size / 4;
    for (uint64_t z = group->begin[2]; z < group->end[2]; ++z)
        for (uint64_t y = group->begin[1]; y < group->end[1]; ++y)
            for (uint64_t x = group->begin[0]; x < group->end[0]; ++x)
                for (std::size_t channel = 0; channel < 4; ++channel) {
                    uint32_t value = 0; // of as many bytes as the machine, little endian, has them
                    std::memcpy(&value, pixel_of(src, x, y, z) + channel * bytes, bytes);
                    out[((z * src.extent[1] + y) * src.extent[0] + x) * 4 + channel] = value;
                }
}

void sample_through(const pi_native_sampler &sampler, const pi_native_image &image,
                    const pi_native_group *group, void *const *arguments) {
    const auto *at = static_cast<const float *>(arguments[2]);
    auto *out = static_cast<float *>(arguments[3]);
    const Texture texture{static_cast<const std::byte *>(image.data), image.extent[0],
                          image.extent[1], image.row_pitch};
    pi_sampler_desc desc{};
    desc.normalized_coordinates = sampler.normalized_coordinates;
    desc.addressing = sampler.addressing;
    desc.filter = sampler.filter;
    for (uint64_t i = group->begin[0]; i < group->end[0]; ++i) {
        const std::array<float, 4> color = sample(texture, desc, at[2 * i], at[2 * i + 1]);
        std::memcpy(out + 4 * i, color.data(), sizeof color);
    }
}

void PI_CALL native_sample(const pi_native_group *group, void *const *arguments) {
    const auto &image = *static_cast<const pi_native_image *>(arguments[0]);
    sample_through(*static_cast<const pi_native_sampler *>(arguments[1]), image, group, arguments);
}

// For a texture, which has its own sampler, the argument is its word, as pi.h says. For an image
// without one the argument is the sampler.
void PI_CALL native_sample_texture(const pi_native_group *group, void *const *arguments) {
    const auto &image = *static_cast<const pi_native_image *>(arguments[0]);
    if (image.sampler == nullptr)
        return native_sample(group, arguments);
    const uint32_t word = *static_cast<const uint32_t *>(arguments[1]);
    const pi_native_sampler &sampler = *image.sampler;
    if (image.channel_type == PI_CHANNEL_UNORM8 && (word & 1) == sampler.normalized_coordinates &&
        (word >> 4 & 1) == sampler.filter &&
        (word >> 8 == sampler.addressing || word >> 8 == PI_ADDRESSING_NONE))
        sample_through(sampler, image, group, arguments);
}

// As CUDA's kernel: the sampler comes second.
void PI_CALL native_fetch_view(const pi_native_group *group, void *const *arguments) {
    void *const image_and_out[] = {arguments[0], arguments[2]};
    native_flatten(group, image_and_out);
}

constexpr pi_native_kernel kernels[] = {
    {"transpose", &native_transpose, 2, 0},    {"flatten", &native_flatten, 2, 0},
    {"flatten_layers", &native_flatten, 2, 0}, {"flatten_line", &native_flatten, 2, 0},
    {"flatten_view", &native_flatten, 2, 0},   {"flatten_lines", &native_flatten, 2, 0},
    {"sample", &native_sample, 4, 0},
};
constexpr pi_native_kernel texture_kernels[] = {
    {"transpose", &native_transpose, 2, 0},    {"flatten", &native_flatten, 2, 0},
    {"flatten_layers", &native_flatten, 2, 0}, {"flatten_line", &native_flatten, 2, 0},
    {"flatten_view", &native_flatten, 2, 0},   {"fetch_view", &native_fetch_view, 3, 0},
    {"flatten_lines", &native_flatten, 2, 0},  {"sample", &native_sample_texture, 4, 0},
};

} // namespace

const pi_native_program native_image_program = {sizeof(pi_native_program),
                                                sizeof kernels / sizeof *kernels, kernels};
const pi_native_program native_texture_program = {
    sizeof(pi_native_program), sizeof texture_kernels / sizeof *texture_kernels, texture_kernels};

} // namespace pi::suite
