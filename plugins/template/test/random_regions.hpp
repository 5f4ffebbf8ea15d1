// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random regions, and their definition, byte by byte.
#pragma once

#include <pi/pi.h>

#include <algorithm>
#include <random>
#include <vector>

namespace template_test {

class RandomRegions {
public:
    explicit RandomRegions(uint64_t seed) : engine_(seed) {}

    uint64_t between(uint64_t least, uint64_t most) {
        return std::uniform_int_distribution<uint64_t>(least, most)(engine_);
    }

    /// The regions of one command from `src_size` to `dst_size` bytes. Each has its own part of
    /// dst, so that they do not overlap there.
    std::vector<pi_region> make(uint64_t src_size, uint64_t dst_size) {
        const uint64_t count = between(1, 4), part = dst_size / count;
        std::vector<pi_region> regions;
        for (uint64_t i = 0; i < count; ++i) {
            pi_region region{};
            region.extent[0] = between(1, std::min<uint64_t>({24, part, src_size}));
            region.extent[1] = between(0, 4);
            region.extent[2] = between(0, 3);
            const uint64_t src_room = pitches(region, region.src_pitch, src_size);
            const uint64_t dst_room = pitches(region, region.dst_pitch, part);
            region.src_offset = between(0, src_room);
            region.dst_offset = i * part + between(0, dst_room);
            regions.push_back(region);
        }
        return regions;
    }

    /// Begins of all rows at one end.
    static std::vector<uint64_t> rows(const pi_region &region, uint64_t offset,
                                      const uint64_t *pitch) {
        const uint64_t rows = std::max<uint64_t>(region.extent[1], 1);
        const uint64_t row_pitch = pitch[0] ? pitch[0] : region.extent[0];
        const uint64_t slice_pitch = pitch[1] ? pitch[1] : row_pitch * rows;
        std::vector<uint64_t> begins;
        for (uint64_t slice = 0; slice < std::max<uint64_t>(region.extent[2], 1); ++slice)
            for (uint64_t row = 0; row < rows; ++row)
                begins.push_back(offset + slice * slice_pitch + row * row_pitch);
        return begins;
    }

    /// What a copy of the regions does.
    static void apply(const std::vector<pi_region> &regions, const std::vector<unsigned char> &src,
                      std::vector<unsigned char> &dst) {
        for (const pi_region &region : regions) {
            const auto from = rows(region, region.src_offset, region.src_pitch);
            const auto to = rows(region, region.dst_offset, region.dst_pitch);
            for (size_t row = 0; row < from.size(); ++row)
                for (uint64_t byte = 0; byte < region.extent[0]; ++byte)
                    dst.at(to[row] + byte) = src.at(from[row] + byte);
        }
    }

    std::vector<unsigned char> bytes(uint64_t size) {
        std::vector<unsigned char> made(size);
        for (unsigned char &byte : made)
            byte = static_cast<unsigned char>(between(0, 255));
        return made;
    }

private:
    /// Random pitches with which the region fits into `room` bytes; makes the region smaller if
    /// there are none. Returns the largest possible offset.
    uint64_t pitches(pi_region &region, uint64_t (&pitch)[2], uint64_t room) {
        const auto end = [&] { return rows(region, 0, pitch).back() + region.extent[0]; };
        const uint64_t row_count = std::max<uint64_t>(region.extent[1], 1);
        if (between(0, 1))
            pitch[0] = region.extent[0] + between(0, 5);
        if (between(0, 1))
            pitch[1] = (pitch[0] ? pitch[0] : region.extent[0]) * row_count + between(0, 9);
        // Fewer slices and rows also fit at the other end.
        while (end() > room && region.extent[2] > 1)
            --region.extent[2];
        while (end() > room && region.extent[1] > 1)
            --region.extent[1];
        if (end() > room)
            region.extent[1] = region.extent[2] = 1;
        return room - end();
    }
    std::mt19937_64 engine_;
};

} // namespace template_test
