// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rectangles of bytes for the tests: random ones, what a command must make of them (the model that
// every plugin is compared with), and the descriptors of the commands that take them.
#pragma once

#include "fixture.hpp"

#include <vector>

namespace pi::suite {

using Regions = std::vector<pi_region>;

/// The bytes that an end of a region may lie in.
struct Room {
    uint64_t begin;
    uint64_t size;
};

/// One to three extents, dense or with pitches, with both ends inside these rooms.
pi_region random_region(Fixture &fixture, Room src, Room dst);

/// Regions whose destinations share no byte: each has a part of dst's bytes of its own. Their order
/// is random, too.
Regions random_regions(Fixture &fixture, uint64_t count, uint64_t src_size, uint64_t dst_size);

/// Calls visit(src_offset, dst_offset, size) for each row.
template <typename Visit>
void for_each_row(const pi_region &region, Visit &&visit) {
    const auto at_least_one = [](uint64_t extent) { return extent == 0 ? 1 : extent; };
    const uint64_t rows = at_least_one(region.extent[1]);
    const auto row_pitch = [&](const uint64_t *pitch) {
        return pitch[0] == 0 ? region.extent[0] : pitch[0];
    };
    const auto slice_pitch = [&](const uint64_t *pitch) {
        return pitch[1] == 0 ? row_pitch(pitch) * rows : pitch[1];
    };
    for (uint64_t slice = 0; slice < at_least_one(region.extent[2]); ++slice) {
        for (uint64_t row = 0; row < rows; ++row)
            visit(region.src_offset + slice * slice_pitch(region.src_pitch) +
                      row * row_pitch(region.src_pitch),
                  region.dst_offset + slice * slice_pitch(region.dst_pitch) +
                      row * row_pitch(region.dst_pitch),
                  region.extent[0]);
    }
}

/// Applies a command with these regions to dst.
void apply(const Regions &regions, const Bytes &src, Bytes &dst);

/// Whether a source and its destination share a byte if both are of one storage.
bool overlaps(const pi_region &region);

/// "region {src 3, dst 5, extent {7, 2, 0}, ...}", for messages.
std::string text_of(const pi_region &region);

// ----- The commands with regions; the regions are borrowed -----

pi_buffer_read_desc read_desc(pi_mem mem, Bytes &into, const Regions &regions);
pi_buffer_write_desc write_desc(pi_mem mem, const Bytes &from, const Regions &regions);
pi_buffer_copy_desc copy_desc(pi_mem src, pi_mem dst, const Regions &regions);

enum class Transfer { read, write, copy };
constexpr Transfer all_transfers[] = {Transfer::read, Transfer::write, Transfer::copy};
const char *name_of(Transfer transfer);

/// A command of this kind from one array of bytes to another, one end or both of them on the
/// device.
class Transferred {
public:
    Transferred(Fixture &fixture, const Place &place, Transfer transfer, const Bytes &src,
                const Bytes &dst);

    pi_result enqueue(pi_queue queue, const Regions &regions, const Waits &waits, pi_event *event);

    /// Both ends hold these bytes.
    void require_contents(pi_queue queue, const Bytes &src, const Bytes &dst,
                          const std::string &what);

private:
    Fixture &fixture_;
    Transfer transfer_;
    Bytes host_src_;
    Bytes host_dst_;
    Mem src_;
    Mem dst_;
};

} // namespace pi::suite
